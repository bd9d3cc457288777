/* verbs.h - what can be asked of the agent over its control socket. */
#ifndef ORCA_AGENT_VERBS_H
#define ORCA_AGENT_VERBS_H

#include "base/buf.h"
#include "base/err.h"

#include <jni.h>
#include <stdbool.h>

/* Before the control thread is begun, on a Java thread of a JVM that runs. */
void verbs_init(JavaVM *vm);

/* Execute one request, "VERB [ARGUMENT]"; its answer's text goes to `reply`.
 * Threads: the control thread. */
int verb_run(JavaVM *vm, char *line, struct buf *reply, struct err *err);

/* Now and then, as often as verb_pause_ms says: a recording whose time is over is taken away. */
void verb_tick(JavaVM *vm);
int verb_pause_ms(void);

/* The control socket was just asked for, so a client is about to say what to record. */
void verb_expect_attach(void);

/* Whether nothing is recorded, nor about to be. */
bool verb_wants_end(void);

#endif
