/* lacks.h - what a recording cannot have on this JVM: each reported once, on stderr, in the trace
 * (info "orca.lacks", a line each), and to `orca doctor PID`. */
#ifndef ORCA_AGENT_LACKS_H
#define ORCA_AGENT_LACKS_H

#include "record/recorder.h"

/* A recording begins: nothing is lacking yet. */
void lacks_begin(void);

/* "Owners of monitors cannot be read on this JVM".  Any thread; the trace may not be there yet. */
__attribute__((format(printf, 1, 2))) void lacks_note(const char *format, ...);

/* The trace is there; NULL: it is about to be closed. */
void lacks_trace(struct recorder *rec);

/* A line each, with that word in front. */
void lacks_put(struct buf *b, const char *word);

#endif
