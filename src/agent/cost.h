/* cost.h - what recording costs the program's threads, while it is needed (sums.h): the time of one
 * call in 64 into the agent, taken for that of all.  Any thread. */
#ifndef ORCA_AGENT_COST_H
#define ORCA_AGENT_COST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

extern _Atomic bool cost_watched;

uint64_t cost_sample(void);
void cost_add(uint64_t began);

/* 0: this call is not timed. */
static inline uint64_t cost_call_begin(void)
{
    return atomic_load_explicit(&cost_watched, memory_order_relaxed) ? cost_sample() : 0;
}

static inline void cost_call_end(uint64_t began)
{
    if (began)
        cost_add(began);
}

#endif
