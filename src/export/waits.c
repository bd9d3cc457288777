#include "export/waits.h"

#include "base/util.h"

#include <stdlib.h>
#include <string.h>

const char *const waits_names[WAITS_CHOICES + 1] = {
    WAIT_STATE_NAMES, [WAITS_LOCKED] = "locked", "io", "ready", "stopped", "off"};

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
    struct wait_part v[2];
    unsigned n = 0;
    if (x->what >= WAIT_STATES || x->flags & INTERVAL_REACQUIRED || s->start > w->selection.to ||
        (w->selection.lock && w->selection.lock != x->lock.v))
        return 0;
    for (unsigned i = 0, parts = span_parts(t, s, v); i < parts; i++) {
        struct wait one = {s, x, v[i].from, v[i].to, v[i].owner, v[i].state, v[i].again};
        if (is_wanted(w, &one) && selection_clip(&w->selection, &one.start, &one.end))
            out[n++] = one;
    }
    return n;
}
