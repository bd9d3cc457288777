/* clock.h - the time bases.  Everything recorded is ns of CLOCK_MONOTONIC; the wall clock is kept
 * once per trace, to print dates. */
#ifndef ORCA_BASE_CLOCK_H
#define ORCA_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns_(clockid_t id)
{
    struct timespec ts;
    clock_gettime(id, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Signals: safe.  vDSO, about 28 ns, on every clock source that `orca doctor` calls fast. */
static inline uint64_t clock_mono_ns(void)
{
    return clock_ns_(CLOCK_MONOTONIC);
}

static inline uint64_t clock_real_ns(void)
{
    return clock_ns_(CLOCK_REALTIME);
}

/* Sleep; returns early on a signal. */
static inline void clock_sleep_ns(uint64_t ns)
{
    struct timespec ts = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    nanosleep(&ts, 0);
}

#endif
