/* report_json_flow.c - `orca report --json`: interactions, critical path, deadlocks, bottle
 * graph. */
#include "export/report_json_parts.h"

#include "base/util.h"

static void set_states(json_t *j, const char *key, const uint64_t v[WAIT_STATES])
{
    json_t *o = json_object();
    for (unsigned i = 0; i < WAIT_STATES; i++)
        json_set_count(o, wait_state_name(i), v[i]);
    json_object_set_new(j, key, o);
}

void json_put_interactions(struct json_out *o)
{
    const struct bindings *b = &o->r->a->bindings;
    json_begin_list(o, "interactions");
    for (int i = 0; i < INTERACTION_LIMIT; i++) {
        json_t *j = json_object();
        json_set_text(j, "kind", interaction_name(i));
        json_set_count(j, "count", b->sums[i].count);
        json_set_count(j, "wait_ns", b->sums[i].ns);
        json_set_count(j, "alone", b->sums[i].alone);
        json_entry(o, j);
    }
    json_end_list(o);
    json_t *j = json_object();
    set_states(j, "unbound", b->unbound);
    set_states(j, "timed_out", b->timed_out);
    json_key(o, "ends");
    json_out_value(o, j);
}

/* --- critical path ---------------------------------------------------------------------------- */

static json_t *path_sum(const struct path_sum *s)
{
    json_t *j = json_object();
    json_set_count(j, "ns", s->ns);
    json_set_count(j, "running_ns", s->run);
    json_set_count(j, "segments", s->count);
    json_set_count(j, "last_owner_seen_ns", s->seen);
    return j;
}

static void set_path_threads(json_t *o, const struct report *r)
{
    const struct path_sums *s = &r->a->path_sums;
    json_t *list = json_array();
    for (size_t i = 0; i < report_rows(r, s->n_threads); i++) {
        json_t *j = path_sum(&s->threads[i]);
        json_set_thread(j, "thread", "name", r, s->threads[i].id);
        json_array_append_new(list, j);
    }
    json_object_set_new(o, "threads", list);
}

static void set_path_locks(json_t *o, const struct report *r)
{
    const struct path_sums *s = &r->a->path_sums;
    json_t *list = json_array();
    for (size_t i = 0; i < report_rows(r, s->n_locks); i++) {
        json_t *j = path_sum(&s->locks[i]);
        json_set_count(j, "lock", s->locks[i].id);
        json_set_class(j, r, lock_set_group(&r->a->locks, (lock_id){s->locks[i].id}));
        json_array_append_new(list, j);
    }
    json_object_set_new(o, "locks", list);
}

static void set_path_places(json_t *o, const struct report *r)
{
    const struct path_sums *s = &r->a->path_sums;
    json_t *list = json_array();
    for (size_t i = 0; i < report_rows(r, s->n_places); i++) {
        json_t *j = path_sum(&s->by_place[i]);
        json_object_set_new(j, "at", json_place(r, s->places[s->by_place[i].id]));
        json_array_append_new(list, j);
    }
    json_object_set_new(o, "places", list);
}

static json_t *path_head(const struct report *r)
{
    const struct path *p = &r->a->path;
    json_t *j = json_object(), *kinds = json_object(), *limits = json_array();
    json_set_thread(j, "thread", "name", r, p->thread);
    json_set_time(j, "from", r, p->from);
    json_set_time(j, "to", r, p->to);
    json_set_count(j, "ns", p->to - p->from);
    for (int i = 0; i < PATH_KINDS; i++)
        json_set_count(kinds, path_kind_name(i), p->kind_ns[i]);
    json_object_set_new(j, "kinds", kinds);
    json_set_count(j, "handoffs", p->handoffs);
    json_set_count(j, "handoffs_last_owner_seen", p->handoffs_seen);
    json_set_count(j, "last_owner_seen_ns", p->seen_ns);
    set_path_threads(j, r);
    set_path_locks(j, r);
    set_path_places(j, r);
    for (const char *const *limit = path_limits(r->a->decoded.summed.waits); *limit; limit++)
        json_array_append_new(limits, json_string(*limit));
    json_object_set_new(j, "limits", limits);
    return j;
}

static json_t *path_segment(const struct report *r, const struct path_segment *s)
{
    json_t *j = json_object();
    json_set_time(j, "from", r, s->from);
    json_set_time(j, "to", r, s->to);
    json_set_count(j, "thread", r->a->threads.v[s->thread].id.v);
    json_set_text(j, "kind", path_kind_name(s->kind));
    json_set_text(j, "state", wait_state_name(s->state));
    json_set_count(j, "lock", s->lock.v);
    json_set_count(j, "stack", s->stack.v);
    json_set_bool(j, "last_owner_seen", s->seen);
    if (s->kind == PATH_IO)
        json_set_peer(j, r, s->peer);
    return j;
}

void json_put_path(struct json_out *o)
{
    const struct path *p = &o->r->a->path;
    json_key(o, "critical_path");
    json_out_value(o, p->n ? path_head(o->r) : json_null());
    json_begin_list(o, "critical_path_segments");
    for (size_t i = 0; i < report_rows(o->r, p->n); i++)
        json_entry(o, path_segment(o->r, &p->v[i]));
    json_end_list(o);
}

/* --- deadlocks -------------------------------------------------------------------------------- */

static json_t *stuck(const struct report *r, const struct stuck_thread *s)
{
    json_t *j = json_object();
    json_set_thread(j, "thread", "name", r, s->thread);
    json_set_text(j, "state", wait_state_name(s->state));
    json_set_count(j, "lock", s->lock.v);
    json_set_class(j, r, lock_set_group(&r->a->locks, s->lock));
    json_set_thread(j, "on", "on_name", r, s->on);
    json_set_time(j, "since", r, s->since);
    json_object_set_new(j, "stack", json_stack(r, s->stack));
    json_object_set_new(j, "owner_stack", json_stack(r, s->owner_stack));
    return j;
}

static void set_stuck(json_t *o, const char *key, const struct report *r,
                      const struct stuck_thread *v, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, stuck(r, &v[i]));
    json_object_set_new(o, key, list);
}

void json_put_deadlocks(struct json_out *o)
{
    const struct report *r = o->r;
    const struct deadlocks *d = &r->a->deadlocks;
    json_begin_list(o, "deadlocks");
    for (size_t i = 0; i < d->n; i++) {
        json_t *j = json_object();
        json_set_time(j, "formed", r, d->v[i].formed);
        json_set_bool(j, "sure", d->v[i].sure);
        set_stuck(j, "members", r, d->v[i].members, d->v[i].n_members);
        set_stuck(j, "behind", r, d->v[i].behind, d->v[i].n_behind);
        json_entry(o, j);
    }
    json_end_list(o);
    json_begin_list(o, "stuck");
    for (size_t i = 0; i < report_rows(r, d->n_stuck); i++)
        json_entry(o, stuck(r, &d->stuck[i]));
    json_end_list(o);
    json_key(o, "owners_unknown");
    json_out_value(o, json_integer((json_int_t)d->n_unknown));
}

/* --- lock orders ------------------------------------------------------------------------------ */

static json_t *order_place(const struct report *r, const struct lock_order_place *at)
{
    static const char *const names[] = {[LOCK_ORDER_UNKNOWN] = "unknown",
                                        [LOCK_ORDER_WANTED] = "wanted",
                                        [LOCK_ORDER_GIVEN_BACK] = "given-back",
                                        [LOCK_ORDER_OWNING] = "owning",
                                        [LOCK_ORDER_EARLIER] = "earlier"};
    json_t *j = json_object();
    json_set_text(j, "what", names[at->what]);
    json_object_set_new(j, "stack", json_stack(r, at->stack));
    return j;
}

static json_t *order_side(const struct report *r, const struct lock_order_side *s)
{
    json_t *j = json_object();
    json_set_thread(j, "thread", "name", r, s->thread);
    json_set_count(j, "held", s->held.v);
    json_set_count(j, "wanted", s->wanted.v);
    json_set_time(j, "from", r, s->from);
    json_set_time(j, "to", r, s->to);
    json_set_time(j, "wanted_at", r, s->wanted_time);
    json_set_bool(j, "seen", s->seen);
    json_set_count(j, "times", s->times);
    json_object_set_new(j, "held_stack", order_place(r, &s->held_at));
    json_object_set_new(j, "wanted_stack", order_place(r, &s->wanted_at));
    return j;
}

void json_put_orders(struct json_out *o)
{
    const struct lock_order *all = &o->r->a->orders;
    if (!o->r->a->has_orders) { /* not looked at */
        json_key(o, "lock_orders");
        json_out_value(o, json_null());
        return;
    }
    json_begin_list(o, "lock_orders");
    for (size_t i = 0; i < report_rows(o->r, all->n); i++) {
        const struct lock_order_finding *f = &all->v[i];
        json_t *j = json_object(), *sides = json_array();
        for (uint32_t k = 0; k < f->n_sides; k++)
            json_array_append_new(sides, order_side(o->r, &f->sides[k]));
        json_object_set_new(j, "sides", sides);
        json_set_count(j, "distance_ns", f->distance);
        json_set_count(j, "cycles", f->cycles);
        json_set_count(j, "count", f->count);
        json_set_bool(j, "partial", f->partial);
        json_set_bool(j, "reorderable", f->reach == LOCK_ORDER_REORDERABLE);
        json_entry(o, j);
    }
    json_end_list(o);
    json_t *s = json_object();
    json_set_count(s, "gate", all->suppressed.gate);
    json_set_count(s, "start_join", all->suppressed.start_join);
    json_set_count(s, "same_thread", all->suppressed.same_thread);
    json_set_count(s, "shared", all->suppressed.shared);
    json_set_count(s, "happened", all->suppressed.happened);
    json_key(o, "lock_orders_suppressed");
    json_out_value(o, s);
}

/* --- bottle graph ----------------------------------------------------------------------------- */

void json_put_bottles(struct json_out *o)
{
    const struct report *r = o->r;
    const struct bottles *g = &r->a->bottles;
    json_t *j = json_object(), *levels = json_array();
    unsigned top = BOTTLE_LEVELS;
    while (top && g->level[top - 1] == 0)
        top--;
    for (unsigned i = 0; i < top; i++)
        json_array_append_new(levels, json_integer((json_int_t)g->level[i]));
    json_set_count(j, "elapsed_ns", g->elapsed);
    json_set_count(j, "idle_ns", g->idle);
    json_object_set_new(j, "running_levels_ns", levels);
    o->ok = json_set_bottles(j, r) && o->ok;
    json_key(o, "bottle_graph");
    json_out_value(o, j);
}

/* --- queues ----------------------------------------------------------------------------------- */

static json_t *convoy(const struct report *r, const struct convoy *c)
{
    json_t *j = json_object();
    json_set_time(j, "from", r, c->from);
    json_set_time(j, "to", r, c->to);
    json_set_count(j, "hold_ns", c->hold);
    json_set_thread(j, "owner", "owner_name", r, c->owner);
    json_set_count(j, "handovers", c->handovers);
    json_set_count(j, "longest_queue", c->longest);
    return j;
}

static void set_slack(json_t *j, const struct report *r, lock_id lock)
{
    uint64_t slack = r->a->slack ? r->a->slack[lock.v] : SLACK_ANY;
    json_object_set_new(j, "slack_ns",
                        slack == SLACK_ANY ? json_null() : json_integer((json_int_t)slack));
}

static json_t *queue(const struct report *r, const struct queue *q)
{
    const struct lock_stats *l = &r->a->stats.locks[q->lock.v];
    json_t *j = json_object(), *over_time = json_array();
    json_set_count(j, "lock", q->lock.v);
    json_set_class(j, r, lock_set_group(&r->a->locks, q->lock));
    json_set_count(j, "queue_ns", q->area);
    json_set_count(j, "busy_ns", q->busy);
    json_set_count(j, "longest_queue", q->max);
    json_set_count(j, "handovers", q->handovers);
    json_set_count(j, "handovers_last_owner_seen", q->seen);
    json_set_count(j, "latency_count", q->latency.count);
    json_set_count(j, "latency_ns", q->latency.ns);
    json_set_count(j, "latency_max_ns", q->latency.max);
    json_set_count(j, "holds", l->holds);
    json_set_count(j, "held_ns", l->held_ns);
    json_set_count(j, "held_max_ns", l->held_max);
    set_slack(j, r, q->lock);
    json_set_count(j, "convoys", q->convoys);
    json_set_count(j, "convoy_ns", q->convoy_ns);
    json_object_set_new(j, "longest_convoy", q->convoys ? convoy(r, &q->convoy) : json_null());
    for (int i = 0; i < QUEUE_BUCKETS; i++)
        json_array_append_new(over_time, json_integer((json_int_t)q->bucket[i]));
    json_object_set_new(j, "queue_over_time_ns", over_time);
    return j;
}

void json_put_queues(struct json_out *o)
{
    const struct report *r = o->r;
    json_begin_list(o, "queues");
    for (size_t i = 0; i < report_rows(r, r->n_queues); i++)
        json_entry(o, queue(r, &r->a->queues.v[r->queues[i]]));
    json_end_list(o);
}

/* --- pools ------------------------------------------------------------------------------------ */

static json_t *pool(const struct pool *v)
{
    json_t *j = json_object();
    json_set_text(j, "pool", v->name);
    json_set_count(j, "threads", v->threads);
    json_set_count(j, "life_ns", v->life);
    json_set_count(j, "running_ns", v->running);
    json_set_count(j, "io_ns", v->still);
    json_set_count(j, "waited_ns", v->waited);
    json_object_set_new(j, "knot", v->knot ? json_integer(v->knot) : json_null());
    return j;
}

void json_put_pools(struct json_out *o)
{
    const struct wait_graph *g = &o->r->a->pools;
    json_begin_list(o, "pools");
    for (size_t i = 0; i < g->n_pools; i++)
        json_entry(o, pool(&g->pools[i]));
    json_end_list(o);
    json_begin_list(o, "pool_waits");
    for (size_t i = 0; i < report_rows(o->r, g->n_edges); i++) {
        json_t *j = json_object();
        json_set_text(j, "from", g->pools[g->edges[i].from].name);
        json_set_text(j, "to", g->pools[g->edges[i].to].name);
        json_set_count(j, "ns", g->edges[i].ns);
        json_set_count(j, "waits", g->edges[i].count);
        json_entry(o, j);
    }
    json_end_list(o);
    json_t *charged = json_object();
    json_set_count(charged, "ns", g->charged);
    json_set_count(charged, "last_owner_seen_ns", g->charged_seen);
    json_key(o, "pool_waits_charged");
    json_out_value(o, charged);
}
