#include "export/waits.h"

#include "base/util.h"

#include <stdlib.h>
#include <string.h>

const char *const waits_names[WAITS_CHOICES + 1] = {WAIT_STATE_NAMES, [WAITS_LOCKED] = "locked"};

void waits_init(struct waits *w, const struct analysis *a, const struct selection *selection,
                uint64_t states)
{
    *w = (struct waits){.a = a, .selection = *selection, .states = states};
}

static bool is_wanted(const struct waits *w, const struct wait *x)
{
    if (w->states >> x->state & 1)
        return true;
    return x->state == STATE_PARKED && w->states >> WAITS_LOCKED & 1 && wait_is_held_up(w, x);
}

unsigned waits_of(const struct waits *w, const struct span *s, struct wait out[2])
{
    const struct timeline *t = &w->a->timeline;
    const struct context *x = timeline_context(t, s->context);
    uint64_t end = span_end(t, s), until = end;
    unsigned n = 0;
    if (x->what >= WAIT_STATES || x->flags & INTERVAL_REACQUIRED || s->start > w->selection.to ||
        (w->selection.lock && w->selection.lock != x->lock.v))
        return 0;
    if (x->what == STATE_WAITING && s->waker)
        until = span_waited_until(t, s);
    struct wait first = {s, x, s->start, until, x->what, false};
    struct wait second = {s, x, until, end, STATE_REACQUIRING, true};
    if (is_wanted(w, &first) && selection_clip(&w->selection, &first.start, &first.end))
        out[n++] = first;
    if (until < end && is_wanted(w, &second) &&
        selection_clip(&w->selection, &second.start, &second.end))
        out[n++] = second;
    return n;
}
