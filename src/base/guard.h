/* guard.h - which threads are using a thing at this moment, so that it can be removed while threads
 * run: the agent's recording in a running JVM.
 *
 * Code that touches it is between guard_enter and guard_leave.  guard_close lets no thread in from
 * then on and waits until all are out; then the protected thing may be freed.
 *
 *     thread:   inside++ ; if open: use ; inside--         closer:   open = false ; barrier ;
 *                                                                    wait for inside == 0
 * Between the first two steps a thread needs the ordering that a fence gives, which costs as much
 * as an event.  The closer buys it for all of them with membarrier(2), so a thread pays a compiler
 * barrier; where the kernel refuses, each thread uses a fence. */
#ifndef ORCA_BASE_GUARD_H
#define ORCA_BASE_GUARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Of one OS thread, from its first event to its end. */
struct guard {
    _Atomic uint32_t inside; /* nested entries; written by its thread only */
    struct guard *next, *prev;
};

extern _Atomic bool guard_is_open;
extern bool guard_fences; /* the kernel has no membarrier; set before the first opening */
extern __thread struct guard *guard_self __attribute__((tls_model("initial-exec")));

/* Slow half of guard_enter: the thread's first.  NULL when memory is out. */
struct guard *guard_new(void);

static inline void guard_leave(void)
{
    uint32_t n = atomic_load_explicit(&guard_self->inside, memory_order_relaxed);
    /* release: pairs with guard_close; what was done inside is done */
    atomic_store_explicit(&guard_self->inside, n - 1, memory_order_release);
}

/* False: closed, and there is nothing to leave.  Any thread; keeps errno. */
static inline bool guard_enter(void)
{
    struct guard *g = guard_self;
    if (__builtin_expect(!g, 0) && !(g = guard_new()))
        return false;
    uint32_t n = atomic_load_explicit(&g->inside, memory_order_relaxed);
    atomic_store_explicit(&g->inside, n + 1, memory_order_relaxed);
    if (__builtin_expect(guard_fences, 0))
        atomic_thread_fence(memory_order_seq_cst);
    else
        atomic_signal_fence(memory_order_seq_cst); /* the other half: membarrier in guard_close */
    /* acquire: pairs with guard_open; what it opened is complete */
    if (__builtin_expect(atomic_load_explicit(&guard_is_open, memory_order_acquire), 1))
        return true;
    guard_leave();
    return false;
}

void guard_open(void);

/* Returns whether all others were out within `timeout`; else nothing may be freed.  The caller may
 * be inside itself. */
bool guard_close(uint64_t timeout);

/* The same where nothing will be freed, at the end of the process: without the barrier, which costs
 * 10 to 20 ms the first time. */
void guard_shut(uint64_t timeout);

#endif
