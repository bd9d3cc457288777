/* report_json_threads.c - `orca report --json`: threads.
 *
 * A server starts a virtual thread for each request, so a list of them all grows with the length of
 * the recording.  The first LISTED_VIRTUAL of them are listed, in the order of the table (most
 * blocked first); the others are added up by the common part of their names and by the place that
 * started them.  Of these groups there are at most GROUPS_MOST, as names may have nothing in
 * common; the last one has all others. */
#include "base/keyed.h"
#include "base/util.h"
#include "conclude/resource_names.h"
#include "export/report_json_parts.h"

#include <stdio.h>
#include <string.h>

enum { LISTED_VIRTUAL = 1000, GROUPS_MOST = 200 };

/* --- one thread ------------------------------------------------------------------------------- */

static void set_life(json_t *j, const struct report *r, const struct thread_stats *s)
{
    json_object_set_new(j, "started", json_null());
    json_object_set_new(j, "ended", json_null());
    if (s->has_started)
        json_set_time(j, "started", r, s->started);
    if (s->has_ended)
        json_set_time(j, "ended", r, s->ended);
}

/* Whether its turns on processors are known, and the part of its life that is looked at. */
static bool has_processor(const struct analysis *a, uint32_t thread, uint64_t *from, uint64_t *to)
{
    *from = a->threads.v[thread].from;
    *to = a->threads.v[thread].to;
    return processors_any(&a->processors) && selection_clip(&a->stats.selection, from, to);
}

static void add_processor(uint64_t ns[CPU_STATES], const struct analysis *a, uint32_t thread)
{
    uint64_t from, to, own[CPU_STATES];
    if (!has_processor(a, thread, &from, &to))
        return;
    processors_sum(&a->processors, &a->timeline, thread, from, to, own);
    for (unsigned i = 0; i < CPU_STATES; i++)
        ns[i] += own[i];
}

static void set_processor(json_t *j, const uint64_t ns[CPU_STATES])
{
    json_t *v = json_object();
    char key[32];
    for (unsigned i = 0; i < CPU_STATES; i++) {
        snprintf(key, sizeof key, "%s_ns", cpu_state_names[i]);
        json_set_count(v, key, ns[i]);
    }
    json_object_set_new(j, "processor", v);
}

/* What one thread, or a group of threads, did. */
struct doings {
    struct thread_sums sums;
    uint64_t processor[CPU_STATES];
    uint64_t running, no_carrier, open, lost;
};

static void set_doings(json_t *j, const struct doings *d, bool processor, bool is_virtual)
{
    static const char *const states[STATS_COLUMNS][2] = {
        {"blocked_count", "blocked_ns"},     {"waited_count", "waited_ns"},
        {"parked_count", "parked_ns"},       {"joined_count", "joined_ns"},
        {"slept_count", "slept_ns"},         {"reacquired_count", "reacquired_ns"},
        {"unknown_stretches", "unknown_ns"}, [HELD_UP] = {"held_up_count", "held_up_ns"}};
    static const char *const purposes[FOR_LIMIT] = {
        [FOR_IDLE] = "idle_ns", [FOR_ANSWER] = "answer_ns", [FOR_RESOURCE] = "resource_ns"};
    const struct thread_sums *sums = &d->sums;
    json_set_count(j, "life_ns", sums->life);
    for (int i = 0; i < STATS_COLUMNS; i++) {
        json_set_count(j, states[i][0], sums->state[i].count);
        json_set_count(j, states[i][1], sums->state[i].ns);
    }
    for (int i = 0; i < HALTED_KINDS; i++) {
        char key[16];
        snprintf(key, sizeof key, "%s_ns", halted_names[i]);
        json_set_count(j, key, sums->halted[i]);
    }
    json_set_count(j, "io_looks", sums->looks);
    json_set_count(j, "running_ns", d->running);
    if (is_virtual)
        json_set_count(j, "no_carrier_ns", d->no_carrier);
    if (processor)
        set_processor(j, d->processor);
    for (int i = 0; i < FOR_LIMIT; i++)
        json_set_count(j, purposes[i], sums->waited_for[i]);
    json_set_count(j, "open", d->open);
    json_set_count(j, "unknown", sums->unknown);
    json_set_count(j, "reacquired", sums->reacquired);
    json_set_count(j, "lost_events", d->lost);
}

static void add_doings(struct doings *d, const struct analysis *a, uint32_t thread)
{
    const struct thread_sums *s = &a->stats.threads[thread];
    d->sums.life += s->life;
    for (int i = 0; i < STATS_COLUMNS; i++) {
        d->sums.state[i].count += s->state[i].count;
        d->sums.state[i].ns += s->state[i].ns;
    }
    for (int i = 0; i < HALTED_KINDS; i++)
        d->sums.halted[i] += s->halted[i];
    for (int i = 0; i < FOR_LIMIT; i++)
        d->sums.waited_for[i] += s->waited_for[i];
    d->sums.looks += s->looks;
    d->sums.unknown += s->unknown;
    d->sums.reacquired += s->reacquired;
    d->running += thread_sums_running(s);
    d->open += s->open;
    d->lost += a->threads.v[thread].lost;
    d->no_carrier += pins_ready_ns(&a->decoded.pins, &a->timeline, &a->threads, thread,
                                   a->stats.selection.from, a->stats.selection.to);
    add_processor(d->processor, a, thread);
}

static json_t *thread_entry(const struct report *r, uint32_t index)
{
    const struct thread_stats *s = &r->a->threads.v[index];
    struct doings doings = {.running = 0};
    uint64_t from, to;
    const struct trace_thread *def = trace_thread(r->trace, s->id);
    json_t *j = json_object();
    json_set_count(j, "id", s->id.v);
    json_set_text(j, "name", def->name);
    json_set_text(j, "group", def->group);
    json_set_count(j, "java_tid", def->java_tid);
    json_object_set_new(j, "hash", def->hash ? json_integer(def->hash) : json_null());
    json_set_bool(j, "daemon", def->flags & THREAD_DAEMON);
    json_set_bool(j, "virtual", def->flags & THREAD_VIRTUAL);
    json_set_bool(j, "native", def->flags & THREAD_NATIVE);
    set_life(j, r, s);
    add_doings(&doings, r->a, index);
    set_doings(j, &doings, has_processor(r->a, index, &from, &to), def->flags & THREAD_VIRTUAL);
    json_set_bool(j, "incomplete", s->incomplete);
    return j;
}

/* With --class: what the thread did on its monitors. */
static json_t *class_thread_entry(const struct report *r, const struct blame *w)
{
    json_t *j = json_object();
    json_set_thread(j, "id", "name", r, w->waiter);
    json_set_count(j, "held_up_count", w->held_up.count);
    json_set_count(j, "held_up_ns", w->held_up.ns);
    json_set_count(j, "held_up_max_ns", w->held_up.max);
    json_set_count(j, "blocked_count", w->blocked.count);
    json_set_count(j, "blocked_ns", w->blocked.ns);
    json_set_count(j, "blocked_max_ns", w->blocked.max);
    json_set_count(j, "waited_count", w->waited.count);
    json_set_count(j, "waited_ns", w->waited.ns);
    json_set_count(j, "waited_max_ns", w->waited.max);
    return j;
}

/* --- many virtual threads --------------------------------------------------------------------- */

struct group_key {
    char name[LABEL_MAX];
    struct place started_at;
};

struct group {
    struct group_key key; /* the key ends here */
    struct doings doings;
    uint64_t threads, ended, incomplete;
    uint64_t height, running, alone; /* of the bottle graph */
};

static void start_of(const struct report *r, uint32_t thread, struct place *at)
{
    const struct timeline *tl = &r->a->timeline;
    const struct act *act = timeline_start(tl, thread);
    struct place top;
    if (act)
        sites_name(r->trace, timeline_context(tl, act->context)->stack, &top, at);
}

/* NULL: memory is out. */
static struct group *group_of(struct keyed *groups, const struct report *r, uint32_t thread)
{
    struct group_key key, others;
    memset(&key, 0, sizeof key); /* its gaps, too: it is compared as bytes */
    memset(&others, 0, sizeof others);
    resource_thread_pool(r->a, thread, key.name, sizeof key.name);
    memset(key.name + strlen(key.name), 0, sizeof key.name - strlen(key.name));
    start_of(r, thread, &key.started_at);
    struct group *g = keyed_find(groups, &key);
    if (g || groups->n + 1 < GROUPS_MOST)
        return g ? g : keyed_put(groups, &key);
    memset(others.name, 1, sizeof others.name - 1);
    return keyed_put(groups, &others);
}

static bool is_others(const struct group *g)
{
    return g->key.name[0] == 1;
}

static json_t *group_head(const struct report *r, const struct group *g)
{
    json_t *j = json_object();
    if (is_others(g))
        json_object_set_new(j, "name", json_null());
    else
        json_set_text(j, "name", g->key.name);
    json_object_set_new(j, "started_at", json_place(r, g->key.started_at));
    json_set_count(j, "threads", g->threads);
    return j;
}

static json_t *group_entry(const struct report *r, const struct group *g)
{
    json_t *j = group_head(r, g);
    json_set_count(j, "ended", g->ended);
    set_doings(j, &g->doings, processors_any(&r->a->processors), true);
    json_set_count(j, "incomplete", g->incomplete);
    return j;
}

static bool is_virtual(const struct report *r, uint32_t thread)
{
    return trace_thread(r->trace, r->a->threads.v[thread].id)->flags & THREAD_VIRTUAL;
}

/* Threads that were asked for by name are listed, however many they are. */
static void put_each_thread(struct json_out *o, struct keyed *groups)
{
    const struct report *r = o->r;
    size_t n_virtual = 0, listed = 0, rows = report_rows(r, r->n_threads);
    bool all = r->a->stats.selection.threads;
    for (size_t i = 0; i < r->n_threads; i++) {
        uint32_t thread = r->threads[i];
        if (all || !is_virtual(r, thread) || n_virtual++ < LISTED_VIRTUAL) {
            if (listed++ < rows)
                json_entry(o, thread_entry(r, thread));
            continue;
        }
        struct group *g = group_of(groups, r, thread);
        o->ok = o->ok && g;
        if (!g)
            return;
        g->threads++;
        g->ended += r->a->threads.v[thread].has_ended;
        g->incomplete += r->a->threads.v[thread].incomplete;
        add_doings(&g->doings, r->a, thread);
    }
}

void json_put_threads(struct json_out *o)
{
    const struct report *r = o->r;
    struct keyed groups;
    keyed_init(&groups, sizeof(struct group_key), sizeof(struct group));
    json_begin_list(o, "threads");
    if (r->group == EVERY_CLASS)
        put_each_thread(o, &groups);
    else
        for (size_t i = 0; i < report_rows(r, r->n_waiters); i++)
            json_entry(o, class_thread_entry(r, &r->waiters[i]));
    json_end_list(o);
    json_begin_list(o, "thread_groups");
    const struct group *g = groups.v;
    for (size_t i = 0; i < report_rows(r, groups.n); i++)
        json_entry(o, group_entry(r, &g[i]));
    json_end_list(o);
    keyed_fini(&groups);
}

/* --- bottle graph ----------------------------------------------------------------------------- */

static json_t *bottle_entry(const struct report *r, uint32_t thread)
{
    const struct bottle *b = &r->a->bottles.v[thread];
    json_t *j = json_object();
    json_set_thread(j, "thread", "name", r, thread);
    json_set_count(j, "height_ns", bottle_height(b));
    json_set_count(j, "running_ns", b->running);
    json_set_count(j, "alone_ns", b->alone);
    return j;
}

static json_t *bottle_group(const struct report *r, const struct group *g)
{
    json_t *j = group_head(r, g);
    json_set_count(j, "height_ns", g->height);
    json_set_count(j, "running_ns", g->running);
    json_set_count(j, "alone_ns", g->alone);
    return j;
}

static bool list_bottles(const struct report *r, json_t *list, struct keyed *groups)
{
    size_t n_virtual = 0, listed = 0, rows = report_rows(r, r->n_bottles);
    for (size_t i = 0; i < r->n_bottles; i++) {
        uint32_t thread = r->bottles[i];
        const struct bottle *b = &r->a->bottles.v[thread];
        if (!is_virtual(r, thread) || n_virtual++ < LISTED_VIRTUAL) {
            if (listed++ < rows)
                json_array_append_new(list, bottle_entry(r, thread));
            continue;
        }
        struct group *g = group_of(groups, r, thread);
        if (!g)
            return false;
        g->threads++;
        g->height += bottle_height(b);
        g->running += b->running;
        g->alone += b->alone;
    }
    return true;
}

bool json_set_bottles(json_t *j, const struct report *r)
{
    json_t *list = json_array(), *of_groups = json_array();
    struct keyed groups;
    keyed_init(&groups, sizeof(struct group_key), sizeof(struct group));
    bool ok = list_bottles(r, list, &groups);
    const struct group *g = groups.v;
    for (size_t i = 0; i < report_rows(r, groups.n); i++)
        json_array_append_new(of_groups, bottle_group(r, &g[i]));
    json_object_set_new(j, "threads", list);
    json_object_set_new(j, "thread_groups", of_groups);
    keyed_fini(&groups);
    return ok;
}
