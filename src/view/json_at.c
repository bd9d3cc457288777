/* json_at.c - the answer `at`: what a thread or a lock was in at a moment. */
#include "base/util.h"
#include "view/json_parts.h"

/* --- a thread --------------------------------------------------------------------------------- */

/* The wait that it is in: one without a length at that very moment, too, and the open one at the
 * recording's end; -1: none. */
static int64_t wait_at(const struct view *v, uint32_t thread, uint64_t time)
{
    const struct timeline *t = &v->a->timeline;
    const struct line *l = &t->lines[thread];
    uint32_t n = line_spans_until(l, time);
    if (n == 0)
        return -1;
    const struct span *s = line_span(l, n - 1);
    uint64_t end = span_end(t, s);
    bool open = timeline_context(t, s->context)->flags & INTERVAL_OPEN;
    return time < end || time == s->start || (open && time == end) ? (int64_t)n - 1 : -1;
}

/* Who called its start, of a run that begins with the thread; null: it was not seen. */
static json_t *started_by(const struct json_out *o, const struct view *v, uint32_t thread,
                          uint64_t start)
{
    const struct timeline *t = &v->a->timeline;
    const struct line *l = &t->lines[thread];
    const struct thread_stats *s = &v->a->threads.v[thread];
    if (!l->starter || !s->has_started || s->started != start)
        return json_null();
    const struct act *act = timeline_start(t, thread);
    json_t *j = json_object();
    json_set_count(j, "thread", l->starter);
    json_set_moment(j, "time", v, act->time);
    json_object_set_new(j, "stack", json_stack(o->r, timeline_context(t, act->context)->stack));
    return j;
}

/* Why it does not run then though it is in no wait; NULL: it runs, as far as it is known. */
static const struct still *halt_at(const struct view *v, uint32_t thread, uint64_t time)
{
    const struct still_line *l = stills_of(&v->a->halts, thread);
    uint32_t i = still_first(l, time);
    return i < l->n && l->v[i].from <= time ? &l->v[i] : NULL;
}

static json_t *halt_json(const struct json_out *o, const struct view *v, const struct still *s)
{
    if (!s)
        return json_null();
    json_t *j = json_object();
    json_set_text(j, "what", halt_name(s->what));
    json_set_moment(j, "start", v, s->from);
    json_set_moment(j, "end", v, s->to);
    json_set_peer(j, o->r, s->peer);
    json_set_bool(j, "recorded", !s->looks);
    json_object_set_new(j, "stack", json_stack(o->r, s->stack));
    return j;
}

/* Between two waits, or before or behind its life. */
static json_t *running_at(const struct json_out *o, const struct view *v, uint32_t thread,
                          uint64_t time)
{
    const struct timeline *t = &v->a->timeline;
    const struct line *l = &t->lines[thread];
    const struct thread_stats *s = &v->a->threads.v[thread];
    uint32_t n = line_spans_until(l, time);
    bool alive = time >= s->from && time <= s->to;
    uint64_t start = s->from, end = s->to;
    if (!alive && time < s->from) {
        start = min_u64(v->a->window.from, time);
        end = s->from;
    } else if (!alive) {
        start = s->to;
        end = max_u64(v->a->window.to, time);
    }
    if (alive && n)
        start = span_end(t, line_span(l, n - 1));
    if (alive && n < l->spans.n)
        end = line_span(l, n)->start;
    json_t *j = json_object();
    json_set_count(j, "thread", thread);
    json_set_text(j, "state", alive ? wait_state_name(STATE_LIMIT) : "not alive");
    json_set_moment(j, "start", v, start);
    json_set_moment(j, "end", v, end);
    json_object_set_new(j, "before", json_wait_name(v, thread, (int64_t)n - 1));
    json_object_set_new(j, "after", json_wait_name(v, thread, n));
    json_object_set_new(j, "started_by", alive ? started_by(o, v, thread, start) : json_null());
    json_object_set_new(j, "io", halt_json(o, v, alive ? halt_at(v, thread, time) : NULL));
    json_set_effects(j, v, thread, alive ? start : 1, alive ? end : 0);
    return j;
}

static json_t *thread_at(const struct json_out *o, struct view *v, uint32_t thread, uint64_t time)
{
    int64_t i = wait_at(v, thread, time);
    return i < 0 ? running_at(o, v, thread, time) : json_wait(o, v, thread, (uint32_t)i);
}

/* --- a lock ----------------------------------------------------------------------------------- */

/* The holder: a recorded hold before a concluded one, of several the one that began last. */
static void set_owner(json_t *j, const struct lock_item *holds, uint32_t n)
{
    const struct lock_item *best = NULL;
    for (uint32_t i = 0; i < n; i++)
        if (!best || holds[i].sure >= best->sure)
            best = &holds[i];
    json_set_count(j, "owner", best ? best->thread : 0);
    json_set_bool(j, "owner_sure", best && best->sure);
}

static void set_waits(json_t *j, const struct lock_item *waits, uint32_t n)
{
    json_t *queue = json_array(), *waiters = json_array();
    for (uint32_t i = 0; i < n; i++)
        json_array_append_new(waits[i].queued ? queue : waiters, json_integer(waits[i].thread));
    json_object_set_new(j, "queue", queue);
    json_object_set_new(j, "waiters", waiters);
}

/* The items at a moment, in the question's memory.  NULL: that is out. */
static struct lock_item *items_at(struct ask *a, const struct lock_items *s, uint64_t time,
                                  uint32_t *n)
{
    uint64_t behind = time + (time < UINT64_MAX);
    *n = lock_items_touching(s, time, behind);
    struct lock_item *v = arena_alloc(&a->arena, (*n + 1) * sizeof *v);
    if (v)
        *n = lock_items_copy(s, time, behind, v, *n);
    return v;
}

static json_t *lock_at(const struct json_out *o, struct ask *a, const struct lock_line *l,
                       uint64_t time)
{
    uint32_t n_waits, n_holds;
    struct lock_item *waits = items_at(a, &l->waits, time, &n_waits);
    struct lock_item *holds = items_at(a, &l->holds, time, &n_holds);
    if (!waits || !holds)
        return NULL;
    json_t *j = json_object();
    json_set_count(j, "lock", l->lock);
    json_set_class(j, o->r, lock_set_group(&a->v->a->locks, (lock_id){l->lock}));
    set_owner(j, holds, n_holds);
    set_waits(j, waits, n_waits);
    return j;
}

static int write_lock(struct ask *a, struct json_out *o, uint64_t time, struct err *err)
{
    struct view *v = a->v;
    struct lock_line *line;
    if (lock_lines_get(&v->locks, v->a, &a->row.number, 1, &line) < 0)
        return err_set(err, -ENOMEM, "out of memory");
    json_t *j = line ? lock_at(o, a, line, time) : NULL;
    lock_lines_release(&v->locks, &line, 1);
    if (!j)
        return err_set(err, -ENOMEM, "out of memory");
    json_out_value(o, j);
    return 0;
}

int answer_at(struct ask *a, struct json_out *o, struct err *err)
{
    uint64_t time = view_moment(a->v, a->time);
    if (a->row.kind == 'l')
        TRY(write_lock(a, o, time, err));
    else
        json_out_value(o, thread_at(o, a->v, a->row.number, time));
    json_out(o, "\n");
    return 0;
}
