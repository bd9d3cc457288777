#include "analyze/analysis.h"

#include "analyze/call_waits.h"
#include "analyze/holes.h"
#include "analyze/labels.h"
#include "analyze/path_shutdown.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

/* Whether the oldest events were overwritten.  The header says so only once the trace is closed;
 * before, the number of the first chunk shows it. */
static bool is_windowed(const struct trace *t)
{
    if (!t->header.capacity)
        return false;
    return t->header.evicted_events || (t->n_chunks && t->chunks[0].h.seq > 0);
}

static struct decode_window window_of(const struct trace *t, bool windowed)
{
    uint64_t start = t->header.start_mono, end = t->header.end_mono;
    struct decode_window w = {start, max_u64(start, end)};
    if (t->since)
        return (struct decode_window){t->since, t->until};
    if (t->n_events == 0)
        return w;
    if (windowed || start == 0 || t->first < start)
        w.from = t->first;
    w.to = holes_last_moment(t);
    return w;
}

/* Text files in the format of 2014 have no interrupts, nor do files made from them. */
static bool lacks_interrupts(const struct trace *t)
{
    const char *groups = trace_info(t, "orca.events", "");
    if (strncmp(trace_info(t, "import.format", ""), "orca", 4) == 0 || trace_order_is_bare(t))
        return true;
    return *groups && (!event_groups_list(groups, GROUP_interrupts) ||
                       strstr(trace_info(t, "orca.events.changes", ""), "interrupts") != NULL);
}

static int start(struct analysis *a, struct trace *t, struct err *err)
{
    a->trace = t;
    arena_init(&a->arena, 0);
    a->windowed = is_windowed(t);
    a->window = window_of(t, a->windowed);
    samples_init(&a->samples);
    processors_init(&a->processors);
    allocs_init(&a->allocs);
    TRY(thread_set_init(&a->threads, t, err));
    if (timeline_init(&a->timeline) < 0)
        return err_set(err, -ENOMEM, "out of memory");
    a->timeline.no_interrupts = lacks_interrupts(t);
    return lock_set_init(&a->locks, t, &a->arena, err);
}

/* When a notified Object.wait was notified. */
static uint64_t when_notified(const struct analysis *a, uint32_t thread, const struct span *s)
{
    const struct act *by = span_wake_act(&a->timeline, s);
    return by ? by->time : a->threads.v[thread].notified;
}

/* An Object.wait that was notified, and reacquires its monitor. */
static void split_open(const struct analysis *a, struct open_wait *w)
{
    const struct line *l = w->thread < a->timeline.n_lines ? &a->timeline.lines[w->thread] : NULL;
    uint32_t n = l ? line_spans_until(l, max_u64(w->since, a->window.from)) : 0;
    const struct span *s = n ? line_span(l, n - 1) : NULL;
    struct wait_part v[2];
    if (!s || timeline_context(&a->timeline, s->context)->what != w->state ||
        span_parts(&a->timeline, s, v) == 1)
        return;
    w->state = v[1].state;
    w->other = v[1].owner;
    w->since = when_notified(a, w->thread, s);
}

static void add_totals(struct analysis *a)
{
    struct open_wait *w = (void *)a->decoded.open.p;
    for (size_t i = 0; i < a->decoded.open.len / sizeof *w; i++)
        if (w[i].state == STATE_WAITING)
            split_open(a, &w[i]);
    for (size_t i = 0; i < a->decoded.open.len / sizeof *w; i++)
        a->open[w[i].state]++;
    const struct pause *p = (const void *)a->decoded.pauses.p;
    a->gc_count = a->decoded.pauses.len / sizeof *p;
    for (size_t i = 0; i < a->gc_count; i++) {
        a->gc_ns += p[i].end - p[i].start;
        a->gc_max = max_u64(a->gc_max, p[i].end - p[i].start);
    }
}

/* The recorder counts losses twice, as totals and in the streams; where it was killed in between,
 * the larger figure is the newer one. */
static void add_losses(struct analysis *a)
{
    for (uint32_t i = 0; i < LOSS_LIMIT; i++) {
        uint64_t n = max_u64(a->trace->loss[i], a->decoded.lost[i]);
        if (n)
            a->losses[a->n_losses++] = (struct loss){i, n};
    }
}

static int add_lives(struct analysis *a)
{
    for (uint32_t i = 0; i < a->timeline.n_lines; i++) {
        const struct run *spans = &a->timeline.lines[i].spans;
        if (spans->n)
            thread_set_lived(
                &a->threads, i, line_span(&a->timeline.lines[i], 0)->start,
                span_end(&a->timeline, line_span(&a->timeline.lines[i], spans->n - 1)));
    }
    thread_set_finish(&a->threads, a->window.from, a->window.to);
    return unknowns_put(&a->decoded.unknown, &a->timeline, a->trace, &a->threads);
}

static int add_calls(struct analysis *a)
{
    TRY(calls_make(&a->calls, a->trace, &a->timeline, &a->threads, &a->arena));
    return call_waits_put(&a->timeline, a->trace, &a->calls, &a->threads, &a->decoded.open);
}

/* The sinks of the sweep in order of time. */
struct makers {
    struct binder *binder;
    struct bottler *bottler;
    struct causer *causer;
};

static int begin_making(struct analysis *a, struct makers *m)
{
    const struct decode_window *w = &a->window;
    TRY(binder_new(&m->binder, a->trace, &a->timeline, &a->threads));
    binder_summed(m->binder, &a->decoded.summed);
    binder_calls(m->binder, (const void *)a->decoded.io.p,
                 a->decoded.io.len / sizeof(struct io_wait));
    TRY(bottler_new(&m->bottler, a->trace, &a->threads, &a->halts, w->from, w->to));
    TRY(purposes_make(&a->purposes, a->trace, &a->locks, &a->timeline.contexts, &a->arena));
    TRY(causer_new(&m->causer, a->trace, &a->timeline, &a->threads, &a->stills, a->locks.n_objects,
                   a->purposes.known));
    binder_asked(m->binder, (const void *)a->decoded.asked.p,
                 a->decoded.asked.len / sizeof(struct asked_owner));
    return 0;
}

/* The thread that ended each wait, and what follows for all waits. */
static int find_causes(struct analysis *a, struct makers *m, struct err *err)
{
    const struct sweep_sink sinks[] = {binder_sink(m->binder), bottler_sink(m->bottler),
                                       causer_sink(m->causer)};
    /* A cause that may be doubted later is settled before others look at it. */
    size_t now = trace_order_is_bare(a->trace) ? 1 : ARRAY_LEN(sinks);
    TRY(sweep(&a->timeline, &a->threads, sinks, now, err));
    if (binder_finish(m->binder, &a->bindings) < 0)
        return err_set(err, -ENOMEM, "out of memory");
    if (now < ARRAY_LEN(sinks))
        TRY(sweep(&a->timeline, &a->threads, sinks + now, ARRAY_LEN(sinks) - now, err));
    bottler_finish(m->bottler, &a->bottles);
    struct causes causes;
    if (causer_finish(m->causer, &causes) < 0)
        return err_set(err, -ENOMEM, "out of memory");
    int rc = purposes_settle(&a->purposes, a->trace, &a->timeline, &causes, &a->arena);
    causes_fini(&causes);
    return rc < 0 ? err_set(err, rc, "out of memory") : 0;
}

/* Finds the queues.  This needs the purposes of waits, because they decide which threads queue.
 * The same sweep finds the owners that were seen. */
static int find_queues(struct analysis *a)
{
    const struct decode_window *w = &a->window;
    struct queuer *q = NULL;
    struct sighter *s = NULL;
    int rc = queuer_new(&q, &a->timeline, &a->locks, &a->purposes, w->from, w->to);
    rc = rc ? rc : sighter_new(&s, &a->timeline);
    if (rc == 0) {
        const struct sweep_sink sinks[] = {queuer_sink(q), sighter_sink(s)};
        rc = sweep(&a->timeline, &a->threads, sinks, ARRAY_LEN(sinks), NULL);
    }
    rc = rc ? rc : queuer_finish(q, &a->queues);
    rc = rc ? rc : sighter_finish(s, &a->sightings);
    queuer_free(q);
    sighter_free(s);
    return rc;
}

static int bind_causes(struct analysis *a, struct err *err)
{
    struct makers m = {NULL, NULL, NULL};
    int rc = begin_making(a, &m) < 0 ? err_set(err, -ENOMEM, "out of memory") : 0;
    rc = rc ? rc : find_causes(a, &m, err);
    binder_free(m.binder);
    bottler_free(m.bottler);
    causer_free(m.causer);
    return rc;
}

static int by_start(const void *a, const void *b)
{
    const struct pause *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

/* Frees a branch's own path.  A shared path is only forgotten. */
static void drop_path(struct analysis *a)
{
    if (!a->whole || a->path.v != a->whole->path.v)
        path_fini(&a->path);
    if (!a->whole || a->slack != a->whole->slack)
        free(a->slack);
    memset(&a->path, 0, sizeof a->path);
    a->slack = NULL;
}

static void drop_stats(struct analysis *a)
{
    if (!a->whole || a->stats.threads != a->whole->stats.threads)
        stats_fini(&a->stats);
    memset(&a->stats, 0, sizeof a->stats);
}

int analysis_follow(struct analysis *a, uint32_t thread, uint64_t to, uint64_t from)
{
    const struct path_source src = {&a->timeline,
                                    &a->threads,
                                    &a->purposes,
                                    &a->halts,
                                    &a->processors,
                                    (const void *)a->decoded.pauses.p,
                                    a->decoded.pauses.len / sizeof(struct pause)};
    drop_path(a);
    TRY(path_walk_over_shutdown(&a->path, &src, a->trace, thread, to, from));
    return path_sum_up(&a->path_sums, &a->path, a->trace, &a->arena);
}

/* The thread that ran most among those alive when the program was stopped; 0: it was not
 * stopped. */
static uint32_t ran_most(const struct analysis *a)
{
    uint32_t most = 0;
    for (uint32_t i = 1; i < a->bottles.n && a->stop.thread; i++)
        if (!a->threads.v[i].has_ended &&
            (!most || a->bottles.v[i].running > a->bottles.v[most].running))
            most = a->bottles.counted[i] ? i : most;
    return most;
}

int analysis_follow_end(struct analysis *a, uint64_t to, uint64_t from)
{
    uint32_t last = path_last_thread(a->trace, &a->threads), most = last ? 0 : ran_most(a);
    if (last)
        return analysis_follow(a, last, min_u64(a->threads.v[last].ended, to), from);
    return most ? analysis_follow(a, most, min_u64(a->stop.at, to), from) : 0;
}

int analysis_blames(struct analysis *a, uint32_t group, unsigned keys, const struct blame **out,
                    size_t *n)
{
    const struct blame_source from = {&a->timeline, &a->locks, &a->purposes, &a->stats.selection,
                                      group};
    return blames_list(&from, keys, &a->arena, out, n);
}

int analysis_wait_graph(struct analysis *a)
{
    if (a->has_pools)
        return 0;
    TRY(wait_graph_make(&a->pools, a->trace, &a->timeline, &a->threads,
                        a->window.to - a->window.from, &a->arena));
    for (uint32_t i = 1; i < a->threads.n; i++) {
        struct pool *p = a->pools.pool_of[i] ? &a->pools.pools[a->pools.pool_of[i] - 1] : NULL;
        uint64_t ns[HALTED_KINDS];
        if (!p)
            continue;
        halts_between(&a->halts, i, a->window.from, a->window.to, ns);
        p->still += ns[HALTED_IO];
        for (int k = 0; k < HALTED_KINDS; k++)
            p->running -= min_u64(p->running, ns[k]);
    }
    a->has_pools = true;
    return 0;
}

int analysis_lock_order(struct analysis *a)
{
    if (a->has_orders)
        return 0;
    TRY(lock_order_find(&a->orders, a, &a->arena));
    a->has_orders = true;
    return 0;
}

int analysis_slack(struct analysis *a)
{
    struct slacker *s;
    if (a->slack || !a->path.n)
        return 0;
    TRY(slacker_new(&s, &a->timeline, a->threads.n, a->locks.n_objects, a->path.thread,
                    a->path.to));
    const struct sweep_sink sink = slacker_sink(s);
    int rc = sweep_back(&a->timeline, &a->threads, &sink, 1, NULL);
    a->slack = rc == 0 ? slacker_take(s) : NULL;
    slacker_free(s);
    return rc;
}

static int find_collections(struct analysis *a)
{
    struct buf *pauses = &a->decoded.pauses;
    if (pauses->len)
        qsort(pauses->p, pauses->len / sizeof(struct pause), sizeof(struct pause), by_start);
    const struct collection_source from = decoded_collections(&a->decoded, a->trace);
    struct buf *b = &a->decoded.safepoints;
    TRY(collections_make(&a->collections, &from, &a->arena));
    return safepoints_make(&a->safepoints, (void *)b->p, b->len / sizeof(struct safepoint), &from,
                           &a->arena);
}

/* Why threads did not run that were in no wait. */
static int find_halts(struct analysis *a)
{
    TRY(find_collections(a));
    processors_explain(&a->processors, a->trace, &a->stills, a->safepoints.stops,
                       a->safepoints.n_stops);
    return halts_make(&a->halts, &a->processors, &a->timeline, &a->arena);
}

/* Answers about the whole recording that need the causes of waits. */
static int follow_causes(struct analysis *a)
{
    a->stop = stop_find(a->trace, &a->threads);
    const struct deadlock_source src = {a->trace,
                                        &a->timeline,
                                        &a->threads,
                                        a->bindings.owners,
                                        &a->stop,
                                        (const void *)a->decoded.open.p,
                                        a->decoded.open.len / sizeof(struct open_wait)};
    TRY(deadlocks_find(&a->deadlocks, &src, a->window.to, &a->arena));
    return signals_find(&a->signals, &a->timeline, a->locks.n_objects, &a->arena);
}

/* Answers about the whole recording that need the purposes of waits. */
static int add_up(struct analysis *a)
{
    const struct selection all = selection_all();
    TRY(find_queues(a));
    TRY(sites_init(&a->sites, a->trace, &a->locks, &a->timeline.contexts, &a->arena));
    if (!a->stop.thread)
        TRY(analysis_follow_end(a, UINT64_MAX, a->window.from));
    TRY(analysis_select(a, &all));
    add_totals(a);
    add_losses(a);
    return 0;
}

static void enter(const struct analysis_watch *watch, const char *phase)
{
    if (watch)
        watch->progress(watch->ctx, phase, 0, 1);
}

static int run(struct analysis *a, struct trace *t, const struct analysis_plan *plan,
               struct err *err)
{
    TRY(start(a, t, err));
    enter(plan->watch, "reading");
    const struct decode_target to = {&a->threads, &a->timeline, &a->samples, &a->processors,
                                     &a->allocs,  plan->carry,  plan->watch};
    TRY(decode_trace(&a->decoded, t, &to, &a->window, err));
    if (label_shared_names(&a->threads, t) < 0)
        return err_set(err, -ENOMEM, "out of memory");
    if (add_lives(a) < 0 || add_calls(a) < 0 || pins_finish(&a->decoded.pins, &a->timeline) < 0 ||
        timeline_index(&a->timeline) < 0 ||
        stills_make(&a->stills,
                    &(struct still_source){t, &a->timeline, &a->threads, &a->samples,
                                           &a->processors, &a->decoded.io},
                    &a->arena) < 0 ||
        find_halts(a) < 0)
        return err_set(err, -ENOMEM, "out of memory");
    reads_make(&a->reads, &a->decoded.reads, &a->decoded.io);
    if (lock_set_name_conditions(&a->locks, t, &a->timeline.contexts) < 0)
        return err_set(err, -ENOMEM, "out of memory");
    enter(plan->watch, "finding causes");
    TRY(bind_causes(a, err));
    enter(plan->watch, "following causes");
    if (follow_causes(a) < 0 || plan->decide(a) < 0)
        return err_set(err, -ENOMEM, "out of memory");
    enter(plan->watch, "adding up");
    return add_up(a) < 0 ? err_set(err, -ENOMEM, "out of memory") : 0;
}

int analysis_run(struct analysis **out, struct trace *t, const struct analysis_plan *plan,
                 struct err *err)
{
    struct analysis *a = *out = calloc(1, sizeof *a);
    if (!a)
        return err_set(err, -ENOMEM, "%s: out of memory", t->path);
    int rc = run(a, t, plan, err);
    if (rc < 0) {
        analysis_free(a);
        *out = NULL;
        return err_prefix(err, rc, "%s", t->path);
    }
    return 0;
}

bool analysis_seen_running(const struct analysis *a, uint32_t thread, uint64_t since)
{
    for (int kind = 0; kind <= SAMPLE_LOOKS; kind++) {
        const struct run *r = samples_of(&a->samples, (enum sample_kind)kind, thread);
        const struct sample *s = r->n ? sample_at(r, r->n - 1) : NULL;
        if (s && s->time > since && !(s->flags & SAMPLE_IDLE))
            return true;
    }
    const struct line *l = thread < a->timeline.n_lines ? &a->timeline.lines[thread] : NULL;
    return l && l->acts.n && line_act(l, l->acts.n - 1)->time > since;
}

/* The Object.wait that a thread is in at the end, if it was notified; else NULL. */
static const struct span *notified_at_end(const struct analysis *a, uint32_t thread)
{
    const struct line *l = thread < a->timeline.n_lines ? &a->timeline.lines[thread] : NULL;
    for (uint32_t i = l ? l->spans.n : 0; i; i--) {
        const struct span *s = line_span(l, i - 1);
        uint8_t what = timeline_context(&a->timeline, s->context)->what;
        if (what == STATE_WAITING)
            return span_notifier(&a->timeline, s) ? s : NULL;
        if (what != STATE_REACQUIRING)
            break;
    }
    return NULL;
}

int analysis_carry(const struct analysis *a, struct carry *out)
{
    const struct carried *w = (const void *)a->decoded.carried.p;
    *out = (struct carry){.at = a->window.to};
    for (size_t i = 0; i < a->decoded.carried.len / sizeof *w; i++) {
        struct carried c = w[i];
        uint32_t thread = c.thread.v < a->threads.n ? c.thread.v : 0;
        uint32_t owner = a->bindings.owners[thread];
        if (c.how == CARRIED_FOUND && analysis_seen_running(a, thread, c.since))
            continue;
        if (c.state != STATE_JOINING && owner)
            c.other = a->threads.v[owner].id; /* as is known by now */
        const struct span *s = c.state == STATE_WAITING ? notified_at_end(a, thread) : NULL;
        if (s) {
            c.notifier = a->threads.v[s->waker].id;
            c.notified = when_notified(a, thread, s);
        }
        buf_put(&out->waits, &c, sizeof c);
    }
    for (uint32_t i = 1; i < a->threads.n; i++) {
        const struct thread_stats *s = &a->threads.v[i];
        bool ended = s->gone || s->has_ended;
        if (ended || s->from < s->to)
            buf_put(ended ? &out->gone : &out->alive, &s->id, sizeof s->id);
    }
    return out->waits.oom || out->alive.oom || out->gone.oom ? -ENOMEM : 0;
}

int analysis_stats(const struct analysis *a, const struct selection *selection, struct stats *out)
{
    const struct stats_source from = {&a->timeline, &a->threads, &a->locks, &a->sites,
                                      &a->purposes, &a->stills,  &a->halts};
    return stats_make(out, &from, selection);
}

int analysis_select(struct analysis *a, const struct selection *selection)
{
    drop_stats(a);
    return analysis_stats(a, selection, &a->stats);
}

void analysis_branch(struct analysis *out, const struct analysis *whole)
{
    *out = *whole;
    out->whole = whole;
    arena_init(&out->arena, 0);
}

void analysis_branch_fini(struct analysis *branch)
{
    drop_path(branch);
    drop_stats(branch);
    arena_fini(&branch->arena);
}

void analysis_free(struct analysis *a)
{
    if (!a)
        return;
    thread_set_fini(&a->threads);
    timeline_fini(&a->timeline);
    samples_fini(&a->samples);
    processors_fini(&a->processors);
    allocs_fini(&a->allocs);
    bindings_fini(&a->bindings);
    bottles_fini(&a->bottles);
    queues_fini(&a->queues);
    sightings_fini(&a->sightings);
    path_fini(&a->path);
    free(a->slack);
    stats_fini(&a->stats);
    decoded_fini(&a->decoded);
    arena_fini(&a->arena);
    free(a);
}

uint64_t analysis_lost_events(const struct analysis *a)
{
    uint64_t n = 0;
    for (size_t i = 0; i < a->n_losses; i++)
        if (loss_causes[a->losses[i].cause].what == LOSS_OF_EVENT)
            n += a->losses[i].count;
    return n;
}
