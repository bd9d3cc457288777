/* switches.h - when the kernel put a thread of this process onto a processor, and took it off.
 *
 * One perf event (PERF_RECORD_SWITCH) a processor, inherited by every thread that a covered thread
 * starts: threads that are there already get events of their own, which write to the same ring of
 * the processor.  No permission beyond perf_event_paranoid 2 is needed: nothing of the kernel is
 * asked for.  The kernel stamps the records with CLOCK_MONOTONIC.
 * The event itself counts page faults of user code that have to read a file or swap: a record says
 * when one was served.
 *
 * Records stay in the rings until they are SWITCHES_SETTLE_NS old; then earlier records of other
 * processors are there as well, and all are returned in the order of time.  Records that did not
 * fit are counted.  One thread, but for switches_wake. */
#ifndef ORCA_RECORD_SWITCHES_H
#define ORCA_RECORD_SWITCHES_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SWITCHES_SETTLE_NS = 10 * 1000000 };

enum switch_what {
    SWITCH_IN,        /* onto a processor */
    SWITCH_OUT,       /* off it, to wait for something */
    SWITCH_PREEMPTED, /* off it, and it would go on */
    SWITCH_BORN,
    SWITCH_DIED,
    SWITCH_FAULT, /* it goes on behind a page fault that had to read */
};

struct switch_record {
    uint64_t time;
    uint32_t os_tid;
    enum switch_what what;
};

struct switches;

/* Cover every thread of the process, and those that they start.  -EPERM, -EACCES, -ENOSYS: the
 * system does not allow it; -EMFILE: there are too many threads and processors; *out is NULL then,
 * and nothing is left behind. */
int switches_open(struct switches **out, struct err *err);
void switches_close(struct switches *s);

/* Cover processors that came since. */
void switches_cover(struct switches *s);

/* Until a ring is half full, it is woken, or this time has passed. */
void switches_wait(struct switches *s, unsigned ms);
void switches_wake(struct switches *s);

/* Hand out what is older than `until`. */
void switches_read(struct switches *s, uint64_t until,
                   void (*take)(void *ctx, const struct switch_record *r), void *ctx);

/* Records that found no room until now, as far as they were handed out. */
uint64_t switches_lost(const struct switches *s);

#endif
