/* json_locks.c - the answers `locks`, each lock that threads waited for or held, and `contexts`,
 * what waits are about. */
#include "base/util.h"
#include "view/json_parts.h"

#include <inttypes.h>
#include <stdlib.h>

/* --- locks ------------------------------------------------------------------------------------ */

struct ranked {
    uint64_t held_up, other; /* ns */
    uint32_t lock;
};

static int most_held_up(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->held_up != y->held_up)
        return x->held_up < y->held_up ? 1 : -1;
    if (x->other != y->other)
        return x->other < y->other ? 1 : -1;
    return (x->lock > y->lock) - (x->lock < y->lock);
}

static bool is_used(const struct lock_stats *l)
{
    uint64_t count = l->holds;
    for (int i = 0; i < STATE_LIMIT; i++)
        count += l->state[i].count;
    return count > 0;
}

static struct ranked rank(const struct lock_stats *l, uint32_t lock)
{
    struct ranked r = {.lock = lock, .held_up = l->state[HELD_UP].ns};
    for (int i = 0; i < STATE_LIMIT; i++)
        r.other += l->state[i].ns;
    r.other -= r.held_up;
    return r;
}

/* Lock `at` of those that may be listed: of the ids that were given, else of all; 0: none. */
static uint32_t candidate(const struct ask *a, const struct stats *s, size_t at)
{
    if (ask_has(a, ASK_IDS))
        return a->ids[at] < a->v->a->locks.n_objects ? a->ids[at] : 0;
    return at && is_used(&s->locks[at]) ? (uint32_t)at : 0;
}

/* The wanted ones, in their order. */
static int list(const struct ask *a, const struct stats *s, struct ranked **out, size_t *n)
{
    size_t limit = ask_has(a, ASK_IDS) ? a->n_ids : a->v->a->locks.n_objects;
    *n = 0;
    *out = calloc(limit + 1, sizeof **out);
    if (!*out)
        return -ENOMEM;
    for (size_t i = 0; i < limit; i++) {
        uint32_t lock = candidate(a, s, i);
        if (lock)
            (*out)[(*n)++] = rank(&s->locks[lock], lock);
    }
    qsort(*out, *n, sizeof **out, most_held_up);
    return 0;
}

void json_set_hash(json_t *j, const struct view *v, lock_id id)
{
    const struct trace_lock *l = trace_lock(v->a->trace, id);
    json_object_set_new(j, "hash", l->hash ? json_integer(l->hash) : json_null());
}

json_t *json_lock(const struct json_out *o, const struct view *v, lock_id id)
{
    if (!id.v)
        return json_null();
    json_t *j = json_object();
    json_set_count(j, "id", id.v);
    json_set_class(j, o->r, lock_set_group(&v->a->locks, id));
    json_set_hash(j, v, id);
    return j;
}

static json_t *lock_entry(const struct json_out *o, const struct view *v, const struct stats *s,
                          uint32_t lock)
{
    static const char *const states[STATS_COLUMNS][2] = {{"blocked_count", "blocked_ns"},
                                                         {"waited_count", "waited_ns"},
                                                         {"parked_count", "parked_ns"},
                                                         {"joined_count", "joined_ns"},
                                                         {NULL, NULL}, /* no sleep is on a lock */
                                                         {"reacquired_count", "reacquired_ns"},
                                                         {NULL, NULL}, /* no wait */
                                                         {"held_up_count", "held_up_ns"}};
    const struct lock_stats *l = &s->locks[lock];
    const struct queue *q = queues_of(&v->a->queues, (lock_id){lock});
    json_t *j = json_object();
    json_set_count(j, "id", lock);
    json_set_class(j, o->r, lock_set_group(&v->a->locks, (lock_id){lock}));
    json_set_hash(j, v, (lock_id){lock});
    for (int i = 0; i < STATS_COLUMNS; i++)
        if (states[i][0]) {
            json_set_count(j, states[i][0], l->state[i].count);
            json_set_count(j, states[i][1], l->state[i].ns);
        }
    json_set_count(j, "longest_queue", q ? q->max : 0);
    json_set_count(j, "holds", l->holds);
    json_set_count(j, "held_ns", l->held_ns);
    json_set_count(j, "held_max_ns", l->held_max);
    return j;
}

static int write_locks(struct ask *a, struct json_out *o, const struct stats *s, struct err *err)
{
    struct ranked *all;
    size_t n;
    int rc = list(a, s, &all, &n);
    if (rc == 0) {
        size_t first = min_u64(a->offset, n);
        size_t top = ask_has(a, ASK_TOP) ? a->top : ASK_TOP_DEFAULT;
        json_out(o, "{");
        json_key(o, "n");
        put_number(o, (int64_t)n);
        json_begin_list(o, "locks");
        for (size_t i = first; i < n && i - first < top; i++)
            json_entry(o, lock_entry(o, a->v, s, all[i].lock));
        json_end_list(o);
        json_out(o, "\n}\n");
    }
    free(all);
    return rc < 0 ? err_set(err, rc, "out of memory") : 0;
}

int answer_locks(struct ask *a, struct json_out *o, struct err *err)
{
    struct stats own;
    const struct stats *s = ask_stats(a, &own);
    if (!s)
        return err_set(err, -ENOMEM, "out of memory");
    int rc = write_locks(a, o, s, err);
    ask_stats_fini(s, &own);
    return rc;
}

/* --- contexts --------------------------------------------------------------------------------- */

json_t *json_site(const struct json_out *o, const struct view *v, uint32_t context)
{
    uint32_t site = v->a->sites.of_context[context];
    return site == NO_SITE ? json_null() : json_place(o->r, v->a->sites.v[site].app);
}

static json_t *context_entry(const struct json_out *o, const struct view *v, uint32_t id)
{
    const struct context *x = timeline_context(&v->a->timeline, id);
    json_t *j = json_object();
    json_set_count(j, "id", id);
    json_set_text(j, "state", wait_state_name(x->what));
    json_set_count(j, "lock", x->lock.v);
    json_set_class(j, o->r, lock_set_group(&v->a->locks, x->lock));
    json_set_count(j, "other", x->other);
    json_set_count(j, "stack", x->stack.v);
    json_object_set_new(j, "at", json_site(o, v, id));
    json_set_count(j, "owner_stack", x->owner_stack.v);
    return j;
}

int answer_contexts(struct ask *a, struct json_out *o, struct err *err)
{
    const struct view *v = a->v;
    json_out(o, "[");
    o->first_entry = true;
    for (size_t i = 0; i < a->n_ids; i++) {
        uint32_t id = a->ids[i];
        if (id == 0 || id >= v->a->timeline.contexts.n ||
            timeline_context(&v->a->timeline, id)->what >= STATE_LIMIT)
            return err_set(err, -ENOENT,
                           "ids: %" PRIu32 " is not a context of a wait; tiles name the contexts",
                           id);
        json_entry(o, context_entry(o, v, id));
    }
    json_out(o, "\n]\n");
    return 0;
}
