/* trigger.h - the file .attach_pidN, which makes a SIGQUIT ask a JVM for its attach socket instead
 * of a thread dump.
 *
 * HotSpot looks for it in its current folder and then in /tmp, and believes it when it belongs to
 * the JVM's user or to root.  Here it is made in /tmp: a JVM that is starting stands in the folder
 * of the performance counters for a moment, and would not find the file there afterwards.
 *
 * The process that makes the file sends the signal; others wait for the socket, because a second
 * signal after the first has done its work would print the thread dump. */
#ifndef ORCA_ATTACH_TRIGGER_H
#define ORCA_ATTACH_TRIGGER_H

#include "attach/jvm.h"
#include "base/err.h"

#include <stdbool.h>

struct trigger {
    int dir; /* -1: no file */
    char name[32];
    bool was_there; /* another process is attaching, or was killed while doing so */
};

void trigger_init(struct trigger *t);

/* Make the file, or find the one that is there.  tmp: the folder /tmp of the JVM. */
int trigger_make(struct trigger *t, const struct jvm *jvm, int tmp, struct err *err);

/* Remove it, also one of another process, as the JDK's tools do. */
void trigger_fini(struct trigger *t);

#endif
