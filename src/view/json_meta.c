/* json_meta.c - the answers `meta`, what the viewer starts from, and `overview`, its minimap. */
#include "analyze/labels.h"
#include "analyze/peer_sums.h"
#include "base/util.h"
#include "view/json_parts.h"
#include "view/overview.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { GC_MAX = 20000, PEERS_MAX = 1000 };

/* --- threads ---------------------------------------------------------------------------------- */

/* Flags of a thread in the protocol. */
enum {
    META_DAEMON = 1,
    META_VIRTUAL = 2,
    META_OF_JVM = 4,
    META_OF_PROGRAM = 8,
    META_STARTED = 16,
    META_ENDED = 32,
    META_INCOMPLETE = 64,
    META_GONE = 128,
};

static int64_t id_of(const void *of, uint32_t i)
{
    const struct view *v = of;
    return v->a->threads.v[i].id.v;
}

static int64_t group_of(const void *of, uint32_t i)
{
    const struct view *v = of;
    return v->groups.of[i];
}

static int64_t pool_of(const void *of, uint32_t i)
{
    const struct view *v = of;
    return v->pools.of[i];
}

static const struct trace_thread *definition(const struct view *v, uint32_t i)
{
    return trace_thread(v->a->trace, v->a->threads.v[i].id);
}

static int64_t java_tid_of(const void *of, uint32_t i)
{
    return (int64_t)definition(of, i)->java_tid;
}

static int64_t hash_of(const void *of, uint32_t i)
{
    return definition(of, i)->hash;
}

static int64_t flags_of(const void *of, uint32_t i)
{
    const struct view *v = of;
    const struct thread_stats *s = &v->a->threads.v[i];
    uint32_t defined = definition(v, i)->flags;
    return (defined & THREAD_DAEMON ? META_DAEMON : 0) |
           (defined & THREAD_VIRTUAL ? META_VIRTUAL : 0) |
           (defined & THREAD_NATIVE ? META_OF_JVM : 0) |
           (i && bottle_counts(v->a->trace, s) ? META_OF_PROGRAM : 0) |
           (s->has_started ? META_STARTED : 0) | (s->has_ended ? META_ENDED : 0) |
           (s->incomplete ? META_INCOMPLETE : 0) | (s->gone ? META_GONE : 0);
}

static int64_t from_of(const void *of, uint32_t i)
{
    const struct view *v = of;
    return json_time(v, v->a->threads.v[i].from);
}

static int64_t to_of(const void *of, uint32_t i)
{
    const struct view *v = of;
    return json_time(v, v->a->threads.v[i].to);
}

static int64_t starter_of(const void *of, uint32_t i)
{
    const struct view *v = of;
    return i < v->a->timeline.n_lines ? v->a->timeline.lines[i].starter : 0;
}

static int64_t waits_of_thread(const void *of, uint32_t i)
{
    const struct analysis *a = ((const struct view *)of)->a;
    uint64_t unknown = a->stats.threads[i].state[STATE_UNKNOWN].count;
    return i < a->timeline.n_lines ? (int64_t)(a->timeline.lines[i].spans.n - unknown) : 0;
}

#define NS_OF(name, state_)                                                                        \
    static int64_t name##_of(const void *of, uint32_t i)                                           \
    {                                                                                              \
        const struct view *v = of;                                                                 \
        return (int64_t)v->a->stats.threads[i].state[state_].ns;                                   \
    }
NS_OF(blocked, STATE_BLOCKED)
NS_OF(waited, STATE_WAITING)
NS_OF(parked, STATE_PARKED)
NS_OF(joined, STATE_JOINING)
NS_OF(slept, STATE_SLEEPING)
NS_OF(reacquired, STATE_REACQUIRING)
NS_OF(unknown, STATE_UNKNOWN)
#undef NS_OF

static int64_t running_of(const void *of, uint32_t i)
{
    const struct view *v = of;
    return (int64_t)thread_sums_running(&v->a->stats.threads[i]);
}

static const struct {
    const char *name;
    int64_t (*get)(const void *of, uint32_t i);
} columns[] = {
    {"id", id_of},
    {"group", group_of},
    {"pool", pool_of},
    {"java_tid", java_tid_of},
    {"hash", hash_of},
    {"flags", flags_of},
    {"from", from_of},
    {"to", to_of},
    {"starter", starter_of},
    {"waits", waits_of_thread},
    {"blocked_ns", blocked_of},
    {"waited_ns", waited_of},
    {"parked_ns", parked_of},
    {"joined_ns", joined_of},
    {"slept_ns", slept_of},
    {"reacquired_ns", reacquired_of},
    {"unknown_ns", unknown_of},
    {"running_ns", running_of},
};

static void put_thread_names(struct json_out *o, const struct view *v)
{
    json_key(o, "name");
    buf_putc(o->to, '[');
    for (uint32_t i = 0; i < v->a->threads.n; i++) {
        if (i)
            buf_putc(o->to, ',');
        put_text(o, i ? definition(v, i)->name : "unknown");
    }
    buf_putc(o->to, ']');
}

static void put_called(struct json_out *o, const struct view *v)
{
    json_key(o, "called");
    buf_putc(o->to, '[');
    for (uint32_t i = 0; i < v->a->threads.n; i++) {
        uint64_t called = v->a->threads.v[i].called;
        buf_puts(o->to, i ? "," : "");
        if (called)
            put_number(o, json_time(v, called));
        else
            buf_puts(o->to, "null");
    }
    buf_putc(o->to, ']');
}

/* An object inside of the answer: its keys are written as those of the answer. */
static void begin_object(struct json_out *o, const char *key)
{
    json_key(o, key);
    buf_putc(o->to, '{');
    o->first_key = true;
}

static void end_object(struct json_out *o)
{
    buf_putc(o->to, '}');
    o->first_key = false;
}

static void put_threads(struct json_out *o, const struct view *v)
{
    begin_object(o, "threads");
    put_thread_names(o, v);
    put_called(o, v);
    for (size_t i = 0; i < ARRAY_LEN(columns); i++)
        put_numbers(o, columns[i].name, v, columns[i].get, (uint32_t)v->a->threads.n);
    end_object(o);
}

static int64_t set_size(const void *of, uint32_t i)
{
    return (int64_t)view_set_size(of, i);
}

static void put_sets(struct json_out *o, const char *key, const struct view_set *s)
{
    begin_object(o, key);
    json_key(o, "name");
    buf_putc(o->to, '[');
    for (uint32_t i = 0; i < s->n; i++) {
        if (i)
            buf_putc(o->to, ',');
        put_text(o, s->names[i]);
    }
    buf_putc(o->to, ']');
    put_numbers(o, "threads", s, set_size, s->n);
    end_object(o);
}

/* --- the collector ---------------------------------------------------------------------------- */

static int longest_first(const void *a, const void *b)
{
    const struct pause *const *x = a, *const *y = b;
    uint64_t m = (*x)->end - (*x)->start, n = (*y)->end - (*y)->start;
    return m != n ? m < n ? 1 : -1 : (*x > *y) - (*x < *y);
}

/* They are in the order of time where they stand. */
static int by_start(const void *a, const void *b)
{
    const struct pause *const *x = a, *const *y = b;
    return (*x > *y) - (*x < *y);
}

static void put_known(struct json_out *o, const char *word)
{
    if (strcmp(word, "?") == 0)
        buf_puts(o->to, "null");
    else
        put_text(o, word);
}

static void put_pause(struct json_out *o, const struct view *v, size_t index)
{
    const struct pause *p = (const struct pause *)(const void *)v->a->decoded.pauses.p + index;
    const struct trace *t = v->a->trace;
    buf_printf(o->to, "[%lld,%lld,", (long long)json_time(v, p->start),
               (long long)json_time(v, p->end));
    put_known(o, trace_gc_name(t, p->gc.collector)->text);
    buf_putc(o->to, ',');
    put_known(o, collections_cause(&v->a->collections, t, index));
    buf_printf(o->to, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", p->gc.before, p->gc.used,
               p->gc.committed);
}

static void put_pauses(struct json_out *o, struct ask *a)
{
    const struct buf *all = &a->v->a->decoded.pauses;
    const struct pause *first = (const void *)all->p;
    size_t n = all->len / sizeof *first;
    const struct pause **p = arena_alloc(&a->arena, (n + 1) * sizeof *p);
    json_key(o, "gc");
    buf_putc(o->to, '[');
    o->ok = o->ok && p;
    for (size_t i = 0; p && i < n; i++)
        p[i] = first + i;
    if (p && n > GC_MAX) {
        qsort(p, n, sizeof *p, longest_first);
        n = GC_MAX;
        qsort(p, n, sizeof *p, by_start);
    }
    for (size_t i = 0; p && i < n; i++) {
        if (i)
            buf_putc(o->to, ',');
        put_pause(o, a->v, (size_t)(p[i] - first));
    }
    buf_putc(o->to, ']');
}

/* Stops for no collection: of too many those of a length or more. */
static void put_stops(struct json_out *o, const struct view *v)
{
    const struct safepoints *all = &v->a->safepoints;
    uint64_t least = 0;
    size_t n;
    do {
        n = 0;
        for (size_t i = 0; i < all->n; i++)
            n += !all->v[i].collects && all->v[i].to - all->v[i].from >= least;
        least = n > GC_MAX ? 2 * least + 1 : least;
    } while (n > GC_MAX);
    json_key(o, "stops");
    buf_putc(o->to, '[');
    for (size_t i = 0; n && i < all->n; i++) {
        const struct safepoint *s = &all->v[i];
        if (s->collects || s->to - s->from < least)
            continue;
        buf_printf(o->to, "[%lld,%lld,", (long long)json_time(v, s->from),
                   (long long)json_time(v, s->to));
        put_text(o, trace_gc_name(v->a->trace, s->operation)->text);
        buf_puts(o->to, --n ? "]," : "]");
    }
    buf_putc(o->to, ']');
}

/* --- the recording ---------------------------------------------------------------------------- */

static void put_path(struct json_out *o, const struct view *v)
{
    const struct path *p = &v->a->path;
    json_key(o, "path");
    if (!p->n) {
        json_out_value(o, json_null());
        return;
    }
    json_t *j = json_object(), *kinds = json_object(), *limits = json_array();
    json_set_count(j, "thread", p->thread);
    json_set_moment(j, "from", v, p->from);
    json_set_moment(j, "to", v, p->to);
    for (int i = 0; i < PATH_KINDS; i++)
        json_set_count(kinds, path_kind_name(i), p->kind_ns[i]);
    for (const char *const *limit = path_limits(v->a->decoded.summed.waits); *limit; limit++)
        json_array_append_new(limits, json_string(*limit));
    json_object_set_new(j, "kinds", kinds);
    json_set_count(j, "handoffs", p->handoffs);
    json_set_count(j, "handoffs_last_owner_seen", p->handoffs_seen);
    json_set_count(j, "last_owner_seen_ns", p->seen_ns);
    json_object_set_new(j, "limits", limits);
    json_out_value(o, j);
}

static void put_partial(struct json_out *o, const struct view *v)
{
    json_key(o, "partial");
    if (v->about.partial_to)
        buf_printf(o->to, "{\"to\":%lld}", (long long)v->about.partial_to);
    else
        buf_puts(o->to, "null");
}

static void put_live(struct json_out *o, const struct view *v)
{
    json_t *j = json_null();
    if (v->about.live_pid) {
        j = json_object();
        json_set_count(j, "pid", v->about.live_pid);
        json_set_count(j, "since_unix_ns", v->a->trace->header.start_real);
    }
    json_key(o, "live");
    json_out_value(o, j);
}

static void put_arrows(struct json_out *o, const struct view *v)
{
    json_t *j = json_object();
    for (int i = 0; i < INTERACTION_LIMIT; i++) {
        json_t *sum = json_object();
        json_set_count(sum, "count", v->a->bindings.sums[i].count);
        json_set_count(sum, "alone", v->a->bindings.sums[i].alone);
        json_object_set_new(j, interaction_name(i), sum);
    }
    json_key(o, "arrows");
    json_out_value(o, j);
}

static void put_count(struct json_out *o, const char *key, int64_t n)
{
    json_key(o, key);
    put_number(o, n);
}

static void put_samples(struct json_out *o, const struct view *v)
{
    begin_object(o, "samples");
    for (unsigned kind = 0; kind < SAMPLE_KINDS; kind++)
        put_count(o, sample_kind_names[kind], (int64_t)v->a->samples.n[kind]);
    end_object(o);
}

static void put_allocations(struct json_out *o, const struct view *v)
{
    const struct allocs *s = &v->a->allocs;
    begin_object(o, "allocations");
    put_count(o, "n", (int64_t)(s->n[ALLOC_EXACT] + s->n[ALLOC_SAMPLED] + s->n_batches));
    json_key(o, "live");
    json_out(o, allocs_have_ends(s) ? "true" : "false");
    json_key(o, "sampled");
    json_out(o, allocs_source(s) == ALLOC_SAMPLED ? "true" : "false");
    end_object(o);
}

static void put_head(struct json_out *o, const struct view *v)
{
    json_key(o, "schema");
    json_out(o, "\"orca-view-1\"");
    put_count(o, "gen", v->about.gen);
    json_key(o, "name");
    put_text(o, v->about.name);
    json_key(o, "phase");
    json_out(o, "null");
    put_live(o, v);
    put_partial(o, v);
    put_count(o, "from", json_time(v, v->a->window.from));
    put_count(o, "to", json_time(v, v->a->window.to));
    json_put_recording(o);
    json_put_losses(o);
    json_put_problems(o);
}

/* Of a part of the recording nothing is concluded: what is open at its end may end well. */
static bool is_pending(const struct view *v)
{
    /* acquire: released by findings_make. */
    return v->about.partial_to ||
           (v->about.later && !atomic_load_explicit(&v->json.made, memory_order_acquire));
}

static void put_pending(struct json_out *o, bool pending)
{
    json_key(o, "pending");
    json_out(o, pending ? "true" : "false");
    if (pending) {
        json_begin_list(o, "findings");
        json_end_list(o);
    }
}

static void put_stuck(struct json_out *o, const struct view *v)
{
    if (!v->about.partial_to) {
        json_put_deadlocks(o);
        return;
    }
    json_begin_list(o, "deadlocks");
    json_end_list(o);
    json_begin_list(o, "stuck");
    json_end_list(o);
}

static int add_findings(struct json_out *o, struct view *v, struct err *err)
{
    struct report r = *o->r;
    struct json_out with = *o;
    TRY(findings_make(v, err));
    r.findings = v->json.findings;
    r.n_findings = v->json.n_findings;
    with.r = &r;
    json_put_findings(&with);
    o->ok = with.ok;
    return 0;
}

/* [id, name] of the other ends of input and output: at most a number of those with the most
 * time. */
static int put_peers(struct json_out *o, struct ask *a, struct err *err)
{
    struct peer_sums all;
    char name[LABEL_MAX];
    uint32_t n = 0;
    if (peer_sums_make(&all, a->v->a, &a->arena) < 0)
        return err_set(err, -ENOMEM, "out of memory");
    json_key(o, "peers");
    buf_putc(o->to, '[');
    for (size_t i = 0; i < all.n && n < PEERS_MAX; i++) {
        const lock_id peer = {all.v[i].peer};
        if (!peer.v)
            continue;
        peer_name(a->v->a->trace, peer, name, sizeof name);
        buf_printf(o->to, "%s[%" PRIu32 ",", n++ ? "," : "", peer.v);
        put_text(o, name);
        buf_putc(o->to, ']');
    }
    buf_putc(o->to, ']');
    return 0;
}

int answer_meta(struct ask *a, struct json_out *o, struct err *err)
{
    struct view *v = a->v;
    json_out(o, "{");
    put_head(o, v);
    bool pending = is_pending(v);
    put_pending(o, pending);
    if (!pending)
        TRY(add_findings(o, v, err));
    put_stuck(o, v);
    put_path(o, v);
    put_pauses(o, a);
    put_stops(o, a->v);
    put_count(o, "locks", (int64_t)v->a->locks.n_objects);
    put_count(o, "waits", (int64_t)timeline_waits(&v->a->timeline));
    put_count(o, "calls", (int64_t)v->a->calls.n);
    put_samples(o, v);
    put_allocations(o, v);
    put_arrows(o, v);
    put_threads(o, v);
    put_sets(o, "pools", &v->pools);
    put_sets(o, "groups", &v->groups);
    TRY(put_peers(o, a, err));
    json_out(o, "\n}\n");
    return 0;
}

/* --- overview --------------------------------------------------------------------------------- */

/* One number of each part. */
static void put_parts(struct json_out *o, const char *key, const struct overview_part *v,
                      uint64_t n, size_t at)
{
    json_key(o, key);
    buf_putc(o->to, '[');
    for (uint64_t i = 0; i < n; i++) {
        double d = *(const double *)(const void *)((const char *)&v[i] + at);
        buf_printf(o->to, "%s%.4g", i ? "," : "", isfinite(d) ? d : 0.0);
    }
    buf_putc(o->to, ']');
}

int answer_overview(struct ask *a, struct json_out *o, struct err *err)
{
    struct overview_part *v = arena_alloc(&a->arena, a->n * sizeof *v);
    if (!v || view_overview(a->v, (unsigned)a->n, v) < 0)
        return err_set(err, -ENOMEM, "out of memory");
    json_out(o, "{");
    put_count(o, "from", json_time(a->v, a->v->a->window.from));
    put_count(o, "to", json_time(a->v, a->v->a->window.to));
    put_count(o, "n", (int64_t)a->n);
    put_parts(o, "running", v, a->n, offsetof(struct overview_part, running));
    put_parts(o, "held_up", v, a->n, offsetof(struct overview_part, held_up));
    begin_object(o, "path");
    for (unsigned i = 0; i < PATH_KINDS; i++)
        put_parts(o, path_kind_name(i), v, a->n,
                  offsetof(struct overview_part, path) + i * sizeof(double));
    end_object(o);
    json_out(o, "\n}\n");
    return 0;
}
