/* effects.c - what a thread did to others in a stretch of time: waits that it ended, threads that
 * it started, tasks that it submitted.
 *
 * The woken threads are not kept with the act, so every thread is searched: its waits around the
 * stretch, and later ones only as long as an act's `woken` shows that one is missing. */
#include "base/util.h"
#include "view/json_parts.h"

#include <stdlib.h>

enum { EFFECTS_MAX = 50 };

struct effect {
    uint64_t time; /* of the act */
    uint32_t thread, index;
    bool has_index;
    uint8_t how;
};

struct search {
    const struct view *v;
    uint32_t thread;
    uint64_t from, to;
    uint64_t missing; /* what its acts ended, as far as it was not met */
    struct buf found; /* struct effect [] */
};

static uint64_t woken(const struct search *s)
{
    const struct line *l = &s->v->a->timeline.lines[s->thread];
    uint64_t n = 0;
    for (uint32_t i = line_acts_until(l, s->to); i-- > 0;) {
        const struct act *a = line_act(l, i);
        if (a->time < s->from)
            break;
        n += a->woken;
    }
    return n;
}

static void add(struct search *s, const struct effect *e)
{
    if (e->time >= s->from && e->time <= s->to)
        buf_put(&s->found, e, sizeof *e);
}

/* Whether an act ended it, and counted it. */
static bool by_act(const struct span *x)
{
    return cause_type(x->cause) == CAUSE_ACT;
}

static void add_wait(struct search *s, uint32_t other, uint32_t i)
{
    const struct timeline *t = &s->v->a->timeline;
    const struct span *x = line_span(&t->lines[other], i);
    if (x->waker != s->thread)
        return;
    uint64_t time = span_wake_time(t, x), end = span_end(t, x);
    if (by_act(x) && time >= s->from && time <= s->to)
        s->missing -= s->missing > 0;
    if (other != s->thread)
        add(s, &(struct effect){.time = min_u64(time, end),
                                .thread = other,
                                .index = i,
                                .has_index = true,
                                .how = (uint8_t)span_interaction(t, other, x)});
}

/* Those that had begun when the stretch ended, and were not over when it began. */
static void add_waits(struct search *s, uint32_t other)
{
    const struct line *l = &s->v->a->timeline.lines[other];
    uint32_t i = line_spans_until(l, s->from), end = line_spans_until(l, s->to);
    for (i -= i > 0; i < end; i++)
        add_wait(s, other, i);
}

/* Those that began later and ended at once, for a permit or an interrupt that was there. */
static void add_later_waits(struct search *s, uint32_t other)
{
    const struct line *l = &s->v->a->timeline.lines[other];
    for (uint32_t i = line_spans_until(l, s->to); i < l->spans.n && s->missing > 0; i++)
        add_wait(s, other, i);
}

static void add_start(struct search *s, uint32_t other)
{
    const struct timeline *t = &s->v->a->timeline;
    const struct line *l = &t->lines[other];
    if (l->starter != s->thread)
        return;
    uint64_t called = timeline_start(t, other)->time;
    if (called >= s->from && called <= s->to)
        s->missing -= s->missing > 0;
    add(s, &(struct effect){.time = min_u64(called, s->v->a->threads.v[other].started),
                            .thread = other,
                            .how = INTERACTION_STARTS_THREAD});
}

static void add_tasks(struct search *s)
{
    const struct handover *h = (const void *)s->v->a->bindings.handovers.p;
    size_t n = s->v->a->bindings.handovers.len / sizeof *h;
    for (size_t i = 0; i < n; i++) {
        if (h[i].from != s->thread)
            continue;
        if (h[i].from_time >= s->from && h[i].from_time <= s->to)
            s->missing -= s->missing > 0;
        add(s, &(struct effect){.time = min_u64(h[i].from_time, h[i].to_time),
                                .thread = h[i].to,
                                .how = INTERACTION_SUBMIT});
    }
}

static void search(struct search *s)
{
    uint32_t n = (uint32_t)s->v->a->timeline.n_lines;
    s->missing = woken(s);
    for (uint32_t i = 1; i < n; i++) {
        add_waits(s, i);
        add_start(s, i);
    }
    add_tasks(s);
    for (uint32_t i = 1; i < n && s->missing > 0; i++)
        add_later_waits(s, i);
}

static int by_time(const void *a, const void *b)
{
    const struct effect *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static json_t *entry(const struct view *v, const struct effect *e)
{
    json_t *j = json_object();
    json_set_count(j, "thread", e->thread);
    json_object_set_new(j, "index", e->has_index ? json_integer(e->index) : json_null());
    json_set_moment(j, "time", v, e->time);
    json_set_text(j, "how", interaction_name(e->how));
    return j;
}

void json_set_effects(json_t *j, const struct view *v, uint32_t thread, uint64_t from, uint64_t to)
{
    struct search s = {.v = v, .thread = thread, .from = from, .to = to};
    json_t *list = json_array();
    if (from <= to)
        search(&s);
    const struct effect *e = (const void *)s.found.p;
    size_t n = s.found.len / sizeof *e;
    if (n)
        qsort(s.found.p, n, sizeof *e, by_time);
    for (size_t i = 0; i < n && i < EFFECTS_MAX; i++)
        json_array_append_new(list, entry(v, &e[i]));
    json_object_set_new(j, "effects", list);
    json_set_count(j, "n_effects", n);
    buf_fini(&s.found);
}
