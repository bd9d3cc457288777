#include "cli/child.h"

#include "base/fdio.h"
#include "base/util.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Signals for the command; one that we were started with ignored (nohup) stays ignored. */
static const int passed_on[] = {SIGHUP,  SIGINT,   SIGQUIT, SIGTERM, SIGUSR1,
                                SIGUSR2, SIGWINCH, SIGTSTP, SIGCONT};

static void block_signals(struct child *c)
{
    sigemptyset(&c->caught);
    sigaddset(&c->caught, SIGCHLD);
    for (size_t i = 0; i < ARRAY_LEN(passed_on); i++) {
        struct sigaction now;
        if (sigaction(passed_on[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(&c->caught, passed_on[i]);
    }
    signal(SIGCHLD, SIG_DFL); /* were it ignored, the kernel would reap the child */
    sigprocmask(SIG_BLOCK, &c->caught, &c->before);
}

/* In the child: never returns.  A signal that comes before execvp stays pending until the mask is
 * restored, and then has its default effect. */
static _Noreturn void run(const struct child *c, char **argv, char **env, int report_fd)
{
    sigprocmask(SIG_SETMASK, &c->before, NULL);
    execvpe(argv[0], argv, env);
    int code = errno;
    fdio_write_all(report_fd, &code, sizeof code);
    _exit(CHILD_NOT_FOUND);
}

int child_start(struct child *c, char **argv, char **env, struct err *err)
{
    int report[2]; /* closed by a successful exec, else carries its errno */
    if (pipe2(report, O_CLOEXEC) < 0)
        return err_set(err, -errno, "cannot make a pipe: %s", strerror(errno));
    block_signals(c);
    c->pid = fork();
    if (c->pid == 0)
        run(c, argv, env, report[1]);
    int code = c->pid < 0 ? errno : 0;
    close(report[1]);
    if (c->pid > 0 && fdio_read_some(report[0], &code, sizeof code) == (ssize_t)sizeof code)
        waitpid(c->pid, NULL, 0);
    close(report[0]);
    if (code == 0)
        return 0;
    sigprocmask(SIG_SETMASK, &c->before, NULL);
    if (c->pid < 0)
        return err_set(err, -code, "cannot start '%s': %s", argv[0], strerror(code));
    return err_set(err, -code, "%s: %s", argv[0],
                   code == ENOENT && !strchr(argv[0], '/') ? "command not found" : strerror(code));
}

static void pass_on(const struct child *c, const siginfo_t *info)
{
    bool from_terminal = info->si_code == SI_KERNEL;
    if (!from_terminal)
        kill(c->pid, info->si_signo);
    if (info->si_signo == SIGTSTP)
        raise(SIGSTOP); /* our shell sees the job stopped, as it should */
}

int child_wait(struct child *c, struct err *err)
{
    int status = 0;
    for (;;) {
        siginfo_t info;
        int sig = sigwaitinfo(&c->caught, &info);
        if (sig > 0 && sig != SIGCHLD)
            pass_on(c, &info);
        if (sig != SIGCHLD)
            continue;
        pid_t got = waitpid(c->pid, &status, WNOHANG);
        if (got == c->pid)
            break;
        if (got < 0) {
            status = err_set(err, -errno, "cannot wait for the command: %s", strerror(errno));
            break;
        }
    }
    sigprocmask(SIG_SETMASK, &c->before, NULL);
    return status;
}

int child_exit_code(int wait_status)
{
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

void child_mirror_death(int wait_status)
{
    if (!WIFSIGNALED(wait_status))
        return;
    int sig = WTERMSIG(wait_status);
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    signal(sig, SIG_DFL);
    sigset_t just;
    sigemptyset(&just);
    sigaddset(&just, sig);
    sigprocmask(SIG_UNBLOCK, &just, NULL);
    raise(sig);
}
