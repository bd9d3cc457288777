#include "export/waits.h"

#include "base/util.h"

#include <stdlib.h>
#include <string.h>

const char *const waits_names[WAITS_CHOICES + 1] = {WAIT_STATE_NAMES, [WAITS_LOCKED] = "locked"};

int waits_init(struct waits *w, const struct analysis *a, const struct selection *selection,
               uint64_t states)
{
    const struct contexts *all = &a->timeline.contexts;
    *w = (struct waits){.a = a, .selection = *selection, .states = states};
    w->owned = calloc(a->trace->n_locks + 1, 1);
    if (!w->owned)
        return -ENOMEM;
    for (uint32_t i = 1; i < all->n; i++) {
        const struct context *x = &all->v[i];
        if (x->what == STATE_PARKED && x->other && x->lock.v < a->trace->n_locks)
            w->owned[x->lock.v] = x->lock.v != 0;
    }
    return 0;
}

void waits_fini(struct waits *w)
{
    free(w->owned);
    memset(w, 0, sizeof *w);
}

static bool is_wanted(const struct waits *w, const struct context *x, unsigned state)
{
    if (w->states >> state & 1)
        return true;
    return state == STATE_PARKED && w->states >> WAITS_LOCKED & 1 &&
           (x->other || waits_is_owned(w, x->lock));
}

unsigned waits_of(const struct waits *w, const struct span *s, struct wait out[2])
{
    const struct timeline *t = &w->a->timeline;
    const struct context *x = timeline_context(t, s->context);
    uint64_t end = span_end(t, s), until = end;
    unsigned n = 0;
    if (x->flags & INTERVAL_REACQUIRED || s->start > w->selection.to ||
        (w->selection.lock && w->selection.lock != x->lock.v))
        return 0;
    if (x->what == STATE_WAITING && s->waker)
        until = span_waited_until(t, s);
    struct wait first = {s, x, s->start, until, x->what, false};
    struct wait second = {s, x, until, end, STATE_REACQUIRING, true};
    if (is_wanted(w, x, first.state) && selection_clip(&w->selection, &first.start, &first.end))
        out[n++] = first;
    if (until < end && is_wanted(w, x, second.state) &&
        selection_clip(&w->selection, &second.start, &second.end))
        out[n++] = second;
    return n;
}
