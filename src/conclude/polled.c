/* The other end of what threads poll: the threads that end the loops with an unpark; without any,
 * the threads that were seen in other code of the same library. */
#include "base/err.h"
#include "base/util.h"
#include "conclude/resource_parts.h"

#include <stdlib.h>
#include <string.h>

enum {
    LIBRARY_NAMES = 3, /* of their packages that a library's classes share: "com/lmax/disruptor" */
    WORKS_LEAST = 3,   /* samples that say so */
    WAKES_LEAST = 3,   /* loops that threads ended, and half of all, say who is at the other end */
};

int polled_add_loop(void *self, struct resource *r, const struct resource_wait *w)
{
    struct polled_loops *l = self;
    const struct timeline *t = &l->a->timeline;
    uint32_t waker = w->span->waker;
    UNUSED(r);
    if (w->open || span_is_summed(t, w->span) || resource_waits_again(l->a, w))
        return 0;
    l->n++;
    if (!waker || waker >= t->n_lines || waker == w->thread)
        return 0;
    l->woken++;
    l->wakers[waker] = true;
    return 0;
}

bool polled_are_woken(const struct polled_loops *l)
{
    return l->woken >= WAKES_LEAST && 2 * l->woken >= l->n;
}

/* How much of a signature two classes of one library share; of the program's own code the whole
 * class, with its inner ones. */
static size_t shared_length(const char *signature, bool program)
{
    size_t n = 0;
    unsigned names = 0;
    if (program)
        return strcspn(signature, "$;");
    for (size_t i = 0; signature[i] && names < LIBRARY_NAMES; i++)
        if (signature[i] == '/') {
            n = i + 1;
            names++;
        }
    return n;
}

enum { NEAR_UNKNOWN, NEAR_NOT, NEAR, NEAR_WORKS };

/* Whether a stack is in code of the library, and in the program's code that this calls. */
static char nearness(const struct program *p, stack_id stack, const char *signature, size_t n)
{
    const struct trace_stack *s = trace_stack(p->trace, stack);
    bool works = false;
    for (uint32_t i = 0; i < s->n_frames; i++) {
        const struct trace_method *m = trace_method(p->trace, s->frames[i].method);
        const char *own = trace_class(p->trace, m->class_)->signature;
        if (strncmp(own, signature, n) == 0 && (own[n - 1] == '/' || strchr("$;", own[n])))
            return works ? NEAR_WORKS : NEAR;
        works |= program_code(p, s->frames[i].method) > CODE_LIBRARY;
    }
    return NEAR_NOT;
}

/* Threads that mostly run the program's code for the library are what others wait for; those that are in
 * the library itself may wait there, too. */
static void leave_waiters_out(const struct analysis *a, const uint32_t *seen, const uint32_t *works,
                              bool *others)
{
    bool any = false;
    for (uint32_t i = 1; i < a->timeline.n_lines; i++)
        any |= works[i] >= WORKS_LEAST && 2 * works[i] >= seen[i];
    for (uint32_t i = 1; i < a->timeline.n_lines && any; i++)
        others[i] &= 2 * works[i] >= seen[i];
}

int polled_find_others(const struct resource *r, const struct resources *all,
                       const struct analysis *a, bool *others)
{
    const struct trace *t = a->trace;
    const char *signature = trace_method_class(t, r->take);
    size_t n = shared_length(signature, program_code(&all->program, r->take) == CODE_PROGRAM);
    char *near = n ? calloc(t->n_stacks + 1, 1) : NULL;
    uint32_t *seen = near ? calloc(2 * a->timeline.n_lines + 1, sizeof *seen) : NULL;
    if (!seen) {
        free(near);
        return n ? -ENOMEM : 0;
    }
    uint32_t *works = seen + a->timeline.n_lines;
    for (uint32_t thread = 1; thread < a->timeline.n_lines; thread++)
        for (unsigned kind = 0; kind < SAMPLE_LISTS; kind++) {
            const struct run *v = samples_of(&a->samples, kind, thread);
            for (uint32_t i = 0; i < v->n; i++) {
                const struct sample *s = sample_at(v, i);
                stack_id stack = s->stack;
                if (s->time < r->first || s->time > r->last)
                    continue;
                char *is = &near[stack.v < t->n_stacks ? stack.v : 0];
                if (!*is)
                    *is = nearness(&all->program, stack, signature, n);
                others[thread] |= *is >= NEAR;
                seen[thread] += *is >= NEAR;
                works[thread] += *is == NEAR_WORKS;
            }
        }
    leave_waiters_out(a, seen, works, others);
    free(near);
    free(seen);
    return 0;
}
