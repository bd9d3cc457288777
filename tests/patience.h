/* patience.h - how tests in C wait: for a condition, never for a time.
 *
 *     cr_assert_happens(done == MANY);
 *
 * A limit exists only to end a hang.  When it is reached, a loop of known length says how busy the
 * machine is, and the wait goes on for that multiple. */
#ifndef ORCA_TESTS_PATIENCE_H
#define ORCA_TESTS_PATIENCE_H

#include <stdbool.h>
#include <time.h>

static inline double patience_now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* How many times slower than a quiet machine this one is now, at least 1.  Signals: safe. */
static inline unsigned patience_slowness(void)
{
    enum { LOOPS = 50000000 };
    const double quiet_s = 0.15; /* on a slow machine */
    double began = patience_now_s();
    unsigned x = 1;
    for (unsigned i = 0; i < LOOPS; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
    }
    return (x == 0) + 1 + (unsigned)((patience_now_s() - began) / quiet_s);
}

/* For a moment: between two looks at something. */
static inline void patience_pause(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
}

struct patience {
    double end_s; /* 0: not begun */
    bool extended;
};

/* Between two looks at the condition: pauses for a moment; false when it is time to give up. */
static inline bool patience_left(struct patience *p)
{
    enum { LIMIT_S = 60 };
    double now = patience_now_s();
    if (p->end_s == 0)
        p->end_s = now + LIMIT_S;
    if (now >= p->end_s) {
        if (p->extended)
            return false;
        p->extended = true;
        p->end_s = now + LIMIT_S * patience_slowness();
    }
    patience_pause();
    return true;
}

#define cr_assert_happens(condition)                                                               \
    do {                                                                                           \
        struct patience patience_ = {0};                                                           \
        while (!(condition))                                                                       \
            cr_assert(patience_left(&patience_), "it never came to this: " #condition);            \
    } while (0)

#endif
