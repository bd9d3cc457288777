/* perf_clock.h - a thread's processor time as a perf event of the kernel: a signal after each
 * interval of it, finer than the kernel's tick, and with it where in the kernel the thread was.
 *
 * The kernel writes a record for each signal into pages that are mapped read-only, newest first
 * (write_backward), so nothing has to be given back to it.  Only with permission to look into the
 * kernel (perf_event_paranoid below 2, or CAP_PERFMON): an event that leaves the kernel out does
 * not count what a thread does there, and a profile would show too little. */
#ifndef ORCA_HOTSPOT_PERF_CLOCK_H
#define ORCA_HOTSPOT_PERF_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

enum { PERF_CLOCK_FRAMES = 64 };

struct perf_clock {
    int fd; /* -1: none */
    uint32_t os_tid;
    uintptr_t pages;
    uint64_t head; /* the newest record when last read; the thread's own handler's */
};

/* Count a thread's time; from perf_clock_start on it gets the signal, with si_fd.  0, or a negative
 * errno: -EACCES, -EPERM: not allowed; -ENOSYS. */
int perf_clock_open(struct perf_clock *c, uint32_t os_tid, uint64_t interval, int signal);
void perf_clock_start(const struct perf_clock *c);

/* No further signal; then the pages may go. perf_clock_close: a thread may still be in
 * perf_clock_read, which uses guarded loads. */
void perf_clock_close(struct perf_clock *c);

struct perf_moment {
    uint64_t periods; /* records since the last read */
    uint32_t n;       /* places in the kernel, innermost first; of the newest record */
    uintptr_t kernel[PERF_CLOCK_FRAMES];
};

/* On the thread itself.  Async-signal-safe.  False: nothing new. */
bool perf_clock_read(struct perf_clock *c, struct perf_moment *m);

#endif
