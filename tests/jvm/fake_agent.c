/* fake_agent.c - a process that commands take for a JVM with an agent, which answers as no agent
 * does.
 *
 *   fake_agent LIBJVM silent        takes no connection
 *   fake_agent LIBJVM endless       an answer without an end
 *   fake_agent LIBJVM idle [FOLDER] says that it records nothing; with a folder it appends a byte
 *                                   to FOLDER/asked before, and waits for a writer of the FIFO
 *                                   FOLDER/go
 *   fake_agent LIBJVM traced        every thread of it is held by a debugger, which is its parent
 *   fake_agent LIBJVM half          likewise its first thread, and another one answers as for idle
 *
 * Prints "ready PID". */
#include "base/control_socket.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void say_ready(pid_t pid)
{
    printf("ready %d\n", (int)pid);
    fflush(stdout);
}

/* The whole request, as an agent reads it. */
static int take_request(int listening)
{
    char c = 0;
    int fd = accept(listening, NULL, NULL);
    while (fd >= 0 && c != '\n' && read(fd, &c, 1) == 1)
        ;
    return fd;
}

static void answer_without_end(int fd)
{
    static char part[1 << 16];
    memset(part, 'x', sizeof part);
    memcpy(part, "ok\n", 3);
    while (send(fd, part, sizeof part, MSG_NOSIGNAL) > 0)
        part[0] = part[1] = part[2] = 'x';
}

static void answer_idle(int fd, int folder)
{
    static const char idle[] = "ok\nversion 0\nstate idle\n";
    int asked = folder < 0 ? -1 : openat(folder, "asked", O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (asked >= 0 && write(asked, "x", 1) == 1)
        close(openat(folder, "go", O_RDONLY));
    close(asked);
    if (send(fd, idle, sizeof idle - 1, MSG_NOSIGNAL) < 0)
        perror("send");
}

static struct control_socket at;
static const char *mode, *in;

static void *serve(void *unused)
{
    int folder = in ? open(in, O_PATH | O_DIRECTORY) : -1;
    while (strcmp(mode, "silent") == 0)
        pause();
    for (;;) {
        int fd = take_request(at.fd);
        if (strcmp(mode, "endless") == 0)
            answer_without_end(fd);
        else
            answer_idle(fd, folder);
        close(fd);
    }
    return unused;
}

static int listen_here(void)
{
    struct err err = {""};
    if (control_socket_open(&at, 5, &err) == 0 && fcntl(at.fd, F_SETFL, 0) == 0) /* it blocks */
        return 0;
    fprintf(stderr, "fake_agent: %s\n", err.msg);
    return -1;
}

/* The child is in the hands of a debugger from its first stop on; it ends with us. */
static int be_traced(void)
{
    pthread_t thread;
    int status;
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (listen_here() < 0 ||
            (strcmp(mode, "half") == 0 && pthread_create(&thread, NULL, serve, NULL) != 0))
            _exit(1);
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGTRAP);
        _exit(1);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
        return 1;
    say_ready(child);
    pause();
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 3 || !dlopen(argv[1], RTLD_LAZY)) {
        fprintf(stderr, "fake_agent: %s\n", dlerror());
        return 1;
    }
    mode = argv[2];
    in = argc > 3 ? argv[3] : NULL;
    if (strcmp(mode, "traced") == 0 || strcmp(mode, "half") == 0)
        return be_traced();
    if (listen_here() < 0)
        return 1;
    say_ready(getpid());
    serve(NULL);
}
