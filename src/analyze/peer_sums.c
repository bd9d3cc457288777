#include "analyze/peer_sums.h"

#include "analyze/io_calls.h"
#include "analyze/labels.h"
#include "base/err.h"
#include "base/keyed.h"
#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void peer_name(const struct trace *t, lock_id peer, char *out, size_t n)
{
    if (peer.v)
        label_class(trace_class(t, trace_lock(t, peer)->class_)->signature, out, n);
    else
        snprintf(out, n, "unknown");
}

static int add(struct keyed *sums, const struct analysis *a, uint32_t thread,
               const struct still *call)
{
    const struct peer_sum key = {.peer = call->peer.v, .what = call->what};
    uint64_t from = call->from, to = call->to;
    if (!selection_clip(&a->stats.selection, &from, &to))
        return 0;
    struct peer_sum *s = keyed_put(sums, &key);
    if (!s)
        return -ENOMEM;
    s->calls++;
    s->ns += to - from;
    s->max = max_u64(s->max, to - from);
    s->threads += s->last != thread;
    s->last = thread;
    return 0;
}

/* The park of a virtual thread shows its peer; its stack shows what it is for. */
static int add_parks(struct keyed *sums, const struct analysis *a, uint32_t thread)
{
    const struct line *l = &a->timeline.lines[thread];
    for (uint32_t i = 0; i < l->spans.n; i++) {
        const struct span *s = line_span(l, i);
        const struct context *x = timeline_context(&a->timeline, s->context);
        if (x->what != STATE_PARKED ||
            !trace_is_peer(trace_class(a->trace, trace_lock(a->trace, x->lock)->class_)->signature))
            continue;
        bool out = io_of_call(a->trace, x->stack) == IO_OUTPUT;
        const struct still call = {.from = s->start,
                                   .to = span_end(&a->timeline, s),
                                   .peer = x->lock,
                                   .what = out ? IO_KIND_output : IO_KIND_input};
        TRY(add(sums, a, thread, &call));
    }
    return 0;
}

/* Whether a park can be for one. */
static bool has_peers(const struct trace *t)
{
    for (uint32_t i = 1; i < t->n_classes; i++)
        if (trace_is_peer(trace_class(t, (class_id){i})->signature))
            return true;
    return false;
}

static int add_all(struct keyed *sums, const struct analysis *a)
{
    bool parks = has_peers(a->trace);
    for (uint32_t i = 1; i < a->timeline.n_lines && i < a->threads.n; i++) {
        const struct still_line *l = stills_of(&a->stills, i);
        if (!selection_has(&a->stats.selection, i))
            continue;
        for (uint32_t k = 0; k < l->n; k++)
            if (!l->v[k].looks)
                TRY(add(sums, a, i, &l->v[k]));
        if (parks)
            TRY(add_parks(sums, a, i));
    }
    return 0;
}

static int most_time(const void *x, const void *y)
{
    const struct peer_sum *a = x, *b = y;
    if (a->ns != b->ns)
        return a->ns < b->ns ? 1 : -1;
    return (a->peer > b->peer) - (a->peer < b->peer);
}

int peer_sums_make(struct peer_sums *out, const struct analysis *a, struct arena *arena)
{
    struct keyed sums;
    keyed_init(&sums, offsetof(struct peer_sum, calls), sizeof(struct peer_sum));
    int rc = add_all(&sums, a);
    out->n = rc == 0 ? sums.n : 0;
    out->v = arena_alloc(arena, (out->n + 1) * sizeof *out->v);
    if (!out->v)
        rc = -ENOMEM;
    else if (out->n)
        memcpy(out->v, sums.v, out->n * sizeof *out->v);
    if (rc == 0 && out->n)
        qsort(out->v, out->n, sizeof *out->v, most_time);
    keyed_fini(&sums);
    return rc;
}
