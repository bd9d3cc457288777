#include "cli/view_browser.h"

#include "base/fdio.h"
#include "base/log.h"
#include "base/util.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

/* Twice, so that no process has to wait for the browser as its child. */
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

/* --- the page's file -------------------------------------------------------------------------- */

/* No other user may replace our file. */
static bool is_own_folder(const char *path)
{
    struct stat st;
    return path && *path == '/' && stat(path, &st) == 0 && S_ISDIR(st.st_mode) &&
           st.st_uid == geteuid() && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

static bool write_in(const char *folder, const struct buf *page, struct view_browser *b)
{
    if (!is_own_folder(folder) ||
        (size_t)snprintf(b->path, sizeof b->path, "%s/orca-view-XXXXXX.html", folder) >=
            sizeof b->path)
        return false;
    int fd = mkostemps(b->path, 5, O_CLOEXEC); /* mode 0600 */
    if (fd < 0)
        return false;
    bool ok = fdio_write_all(fd, page->p, page->len) == 0;
    ok &= close(fd) == 0;
    if (!ok)
        unlink(b->path);
    return ok;
}

/* A browser in a snap may read what lies openly in the home folder, but nothing in a folder whose
 * name begins with a dot, nor the user's /run, nor /tmp; for one in a flatpak the starter lets the
 * one file in.  So the home folder goes first, for the second that it takes. */
static bool write_page(const struct buf *page, struct view_browser *b)
{
    static const char *const folders[] = {"HOME", "XDG_RUNTIME_DIR"};
    bool ok = false;
    for (size_t i = 0; i < ARRAY_LEN(folders) && !ok && !page->oom; i++)
        ok = write_in(getenv(folders[i]), page, b);
    if (!ok)
        b->path[0] = 0;
    return ok;
}

/* "file:///home/..." */
static void put_address(const char *path, struct buf *out)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
    buf_puts(out, "file://");
    for (; *path; path++)
        if (strchr(plain, *path))
            buf_putc(out, *path);
        else
            buf_printf(out, "%%%02X", (unsigned char)*path);
}

/* ---------------------------------------------------------------------------------------------- */

static bool start_on(const char *command, const char *path)
{
    struct buf address;
    buf_init(&address);
    put_address(path, &address);
    bool ok = !address.oom && start(command, buf_str(&address));
    buf_fini(&address);
    return ok;
}

void view_browser_open(struct view_browser *b, const struct buf *page)
{
    char command[PATH_MAX];
    if (geteuid() == 0)
        log_line("a browser is not started as root: open the link in a browser on this machine");
    else if (!is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY"))
        log_line("no display: open the link in a browser; from another machine with ssh -L "
                 "PORT:127.0.0.1:PORT first, PORT as in the link");
    else if (!find_command(OPENER, command, sizeof command))
        log_line("there is no " OPENER " here: open the link in a browser");
    else if (!write_page(page, b))
        log_line("neither the home folder nor XDG_RUNTIME_DIR can hold a private file: open the "
                 "link in a browser");
    else if (!start_on(command, b->path)) {
        view_browser_close(b);
        log_line(OPENER " cannot be run: open the link in a browser");
    }
}

void view_browser_close(struct view_browser *b)
{
    if (b->path[0])
        unlink(b->path);
    b->path[0] = 0;
}
