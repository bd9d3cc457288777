/* top_asked.h - who waits for whom by the JVM's own words, where a flight recorder has overwritten
 * the events that said so: asked once (orca query PID locks: one safepoint). */
#ifndef ORCA_CLI_TOP_ASKED_H
#define ORCA_CLI_TOP_ASKED_H

#include "analyze/carry.h"
#include "attach/jvm.h"
#include "format/trace.h"

/* Add the waits for locks to what a part of the recording that began at out->at has to begin with;
 * without an answer nothing. */
void top_ask(const struct jvm *jvm, const struct trace *t, struct carry *out);

#endif
