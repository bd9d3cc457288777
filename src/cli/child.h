/* child.h - runs a command as a shell would: same terminal, same process group, signals passed on.
 *
 * A signal that the terminal sends reaches the whole foreground group, the command included, and is
 * not sent a second time; one that a process sends to us alone is passed on.  (One sent by a
 * process to the whole group cannot be distinguished from that and arrives twice.)
 *
 * One child at a time; between start and wait, the calling thread holds the signals blocked. */
#ifndef ORCA_CLI_CHILD_H
#define ORCA_CLI_CHILD_H

#include "base/err.h"

#include <signal.h>
#include <sys/types.h>

enum { CHILD_NOT_EXECUTABLE = 126, CHILD_NOT_FOUND = 127 };

struct child {
    pid_t pid;
    sigset_t caught; /* what child_wait takes */
    sigset_t before; /* the mask to restore */
};

/* Start argv[0] with `env`.  0, or the negative errno of fork or of execvp, with err naming
 * argv[0]. */
int child_start(struct child *c, char **argv, char **env, struct err *err);

/* Pass signals on until the child has ended.  Returns its wait status, or a negative errno.
 * The signals are as before child_start afterwards. */
int child_wait(struct child *c, struct err *err);

/* The exit status a shell would give: the child's own, or 128 + signal. */
int child_exit_code(int wait_status);

/* When the child was killed by a signal, die of the same one, without a core file of our own, so
 * that our parent sees it.  Returns otherwise. */
void child_mirror_death(int wait_status);

#endif
