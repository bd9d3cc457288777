/* stop.h - whether somebody outside told the program to end: then its end was decided by nobody in
 * it.
 *
 * A signal that ends the JVM is taken by a thread of the JDK's, which is called so ("SIGTERM
 * handler", of the group system), and with which the recording ends.  One that the program handles
 * by itself without ending the JVM stops nothing. */
#ifndef ORCA_ANALYZE_STOP_H
#define ORCA_ANALYZE_STOP_H

#include "analyze/thread_set.h"

struct stop {
    uint32_t thread; /* that took the signal; 0: nobody is known to have stopped the program */
    uint64_t at;     /* ns of CLOCK_MONOTONIC */
    char signal[16]; /* "SIGTERM" */
};

struct stop stop_find(const struct trace *t, const struct thread_set *threads);

#endif
