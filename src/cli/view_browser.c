#include "cli/view_browser.h"

#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The freedesktop.org way to whatever the user has chosen. */
#define OPENER "xdg-open"

static bool is_set(const char *name)
{
    const char *v = getenv(name);
    return v && *v;
}

/* Where a command is, by PATH. */
static bool find_command(const char *name, char *out, size_t room)
{
    const char *p = getenv("PATH");
    while (p && *p) {
        size_t n = strcspn(p, ":");
        if (n > 0 && *p == '/' && (size_t)snprintf(out, room, "%.*s/%s", (int)n, p, name) < room &&
            access(out, X_OK) == 0)
            return true;
        p += n + (p[n] == ':');
    }
    return false;
}

/* In the child of a process with threads: no allocation, no lock. */
static void become(const char *command, const char *url)
{
    char *const argv[] = {(char *)command, (char *)url, NULL};
    sigset_t none;
    int null = open("/dev/null", O_RDWR);
    setsid(); /* ^C ends us, not the browser */
    for (int fd = 0; fd < 3 && null >= 0; fd++)
        dup2(null, fd);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    execv(command, argv);
    _exit(127);
}

/* Twice, so that the browser is nobody's child who would have to wait for it. */
static bool start(const char *command, const char *url)
{
    pid_t pid = fork();
    if (pid == 0) {
        pid = fork();
        if (pid == 0)
            become(command, url);
        _exit(pid < 0);
    }
    int status = 1;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return pid > 0 && status == 0;
}

void view_browser_open(const char *url)
{
    char command[PATH_MAX];
    if (geteuid() == 0)
        log_line("no browser is run as root: open the link yourself, in one of this machine");
    else if (!is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY"))
        log_line("there is no display here: open the link in a browser; from another machine with "
                 "ssh -L PORT:127.0.0.1:PORT first, PORT as in the link");
    else if (!find_command(OPENER, command, sizeof command))
        log_line("there is no " OPENER " here: open the link in a browser");
    else if (!start(command, url))
        log_line(OPENER " cannot be run: open the link in a browser");
}
