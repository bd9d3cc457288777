/* top_own.h - the recording that orca top begins for itself, and takes away again.
 *
 * Its trace is a circle of fixed size in a folder of mode 0700 in the JVM's temporary folder.  A
 * second process waits for the end of this one, however it ends, SIGKILL included: it ends the
 * recording and removes file and folder when we could not.  Should both be killed, the agent ends
 * the recording by itself (duration=). */
#ifndef ORCA_CLI_TOP_OWN_H
#define ORCA_CLI_TOP_OWN_H

#include "attach/jvm.h"
#include "base/err.h"

#include <limits.h>
#include <stdbool.h>

struct top_own {
    const struct jvm *jvm;
    bool active;
    int parent, folder; /* descriptors of the folder and of the one that it is in */
    char folder_name[64];
    char path[PATH_MAX]; /* of the trace, as the JVM knows it */
    pid_t guardian;
    int leash;        /* closed when this process ends, which the guardian sees */
    uint64_t started; /* ns of CLOCK_MONOTONIC */
};

/* Begin to record; the agent is loaded into the JVM.  On failure nothing is left. */
int top_own_begin(struct top_own *o, const struct jvm *jvm, struct err *err);

/* Whether the agent is about to end the recording by itself, so that it is time to begin anew. */
bool top_own_is_old(const struct top_own *o);

/* End the recording and remove what it has left.  Nothing when there is none. */
void top_own_end(struct top_own *o);

#endif
