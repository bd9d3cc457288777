/* stop.h - whether the program was ended from outside: then no thread in it decided its end.
 *
 * A signal that ends the JVM is handled by a thread of the JDK with that name ("SIGTERM handler",
 * of the group system), with which the recording ends.  A signal that the program handles itself
 * without ending the JVM stops nothing. */
#ifndef ORCA_ANALYZE_STOP_H
#define ORCA_ANALYZE_STOP_H

#include "analyze/thread_set.h"

struct stop {
    uint32_t thread; /* that took the signal; 0: nobody is known to have stopped the program */
    uint64_t at;     /* ns of CLOCK_MONOTONIC */
    char signal[16]; /* "SIGTERM" */
};

/* From when on what threads do only is the stop. */
static inline uint64_t stop_time(const struct stop *s)
{
    return s->thread ? s->at : UINT64_MAX;
}

struct stop stop_find(const struct trace *t, const struct thread_set *threads);

#endif
