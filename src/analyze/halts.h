/* halts.h - why a thread did not run though it was in no recorded wait: input and output (still.h),
 * and where turns on processors or stops by the JVM were recorded (processors.h): ready and waiting
 * for a processor, stopped by the JVM, off the processor in a page fault, or for a
 * cause that is not recorded.
 *
 *     a thread's life = its waits + what is not known + its halts + running
 *
 * Where turns were recorded running is on a processor; a call of input or output is in it whole,
 * also the part of it on a processor. */
#ifndef ORCA_ANALYZE_HALTS_H
#define ORCA_ANALYZE_HALTS_H

#include "analyze/processors.h"
#include "analyze/still.h"

/* still.what, beyond enum io_kind. */
enum { HALT_READY = IO_KINDS, HALT_STOPPED, HALT_OFF, HALT_LIMIT };

/* The kinds that tables and pictures tell apart: all input and output is one. */
enum halt { HALTED_IO, HALTED_READY, HALTED_STOPPED, HALTED_OFF, HALTED_KINDS };

static inline enum halt halt_of(const struct still *s)
{
    return s->what < IO_KINDS ? HALTED_IO : (enum halt)(s->what - HALT_READY + HALTED_READY);
}

/* "io", "ready", "stopped", "off" */
extern const char *const halted_names[HALTED_KINDS];

/* Of a still.what: the name of its kind of input or output, or "ready", "stopped", "off". */
const char *halt_name(unsigned what);

/* Those of all threads, once the processors are explained; what is input and output is as in the
 * stills.  -ENOMEM. */
int halts_make(struct stills *out, const struct processors *p, const struct timeline *tl,
               struct arena *a);

/* ns of each kind of a thread's in a stretch of time. */
void halts_between(const struct stills *s, uint32_t thread, uint64_t from, uint64_t to,
                   uint64_t ns[HALTED_KINDS]);

#endif
