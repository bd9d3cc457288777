/* live.c - the threads of live.h: their states, and their time in buckets. */
#include "analyze/live.h"

#include "analyze/live_parts.h"
#include "analyze/op.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

const char *const live_state_names[LIVE_STATES] = {
    [LIVE_BLOCKED] = "blocked", [LIVE_LOCKED] = "lock",     [LIVE_WAITING] = "waiting",
    [LIVE_PARKED] = "parked",   [LIVE_JOINING] = "joining", [LIVE_SLEEPING] = "sleeping",
    [LIVE_RUNNING] = "running", [LIVE_UNKNOWN] = "unknown"};

/* --- the table of threads -----------------------------------------------------------------------
 */

void live_index(struct map *ids, void *const *all, size_t n, uint32_t (*id)(const void *),
                bool *oom)
{
    map_fini(ids); /* a map forgets nothing one by one */
    map_init(ids);
    for (size_t i = 0; i < n; i++) {
        uint64_t *slot = map_put(ids, id(all[i]));
        if (slot)
            *slot = (uintptr_t)all[i];
        else
            *oom = true;
    }
}

static uint32_t thread_key(const void *p)
{
    return ((const struct live_thread *)p)->id.v;
}

struct live_thread *live_find_thread(const struct live *l, thread_id id)
{
    const uint64_t *at = map_find(&l->thread_ids, id.v);
    return at ? (struct live_thread *)(uintptr_t)*at : NULL;
}

static bool has_room(struct live *l)
{
    if (l->n_threads < l->cap_threads)
        return true;
    size_t cap = l->cap_threads ? l->cap_threads * 2 : 64;
    struct live_thread **all = realloc(l->threads, cap * sizeof(*all));
    if (!all)
        return false;
    l->threads = all;
    l->cap_threads = cap;
    return true;
}

static struct live_thread *add_thread(struct live *l, thread_id id, uint64_t time, bool is_virtual)
{
    struct live_thread *t = has_room(l) ? calloc(1, sizeof *t) : NULL;
    uint64_t *slot = t ? map_put(&l->thread_ids, id.v) : NULL;
    if (!slot) {
        free(t);
        l->oom = true;
        return NULL;
    }
    t->id = id;
    t->is_virtual = is_virtual;
    t->state = LIVE_RUNNING;
    t->since = t->accounted = time;
    track_init(&t->track, 0, is_virtual);
    l->threads[l->n_threads++] = t;
    l->n_virtual += is_virtual;
    *slot = (uintptr_t)t;
    return t;
}

/* NULL: a thread of the JVM itself, a virtual one for which there is no room, or nobody. */
static struct live_thread *thread_of(struct live *l, const struct event *e)
{
    struct live_thread *t = live_find_thread(l, e->thread);
    if (t || !e->thread.v)
        return t;
    const struct trace_thread *def = trace_thread(l->trace, e->thread);
    bool is_virtual = !def->id.v || def->flags & THREAD_VIRTUAL;
    if (def->flags & THREAD_NATIVE)
        return NULL;
    if (is_virtual && l->n_virtual >= LIVE_VIRTUAL_MAX) {
        l->not_followed++;
        return NULL;
    }
    t = add_thread(l, e->thread, e->time, is_virtual);
    if (t)
        t->is_system = !is_virtual && strcmp(def->group, "system") == 0;
    return t;
}

static void leave_lock(struct live_thread *t)
{
    if (t->on)
        live_lock_leave(t->on, t->state);
    t->on = NULL;
}

/* --- intervals ----------------------------------------------------------------------------------
 */

static enum live_state live_state_of(const struct live *l, unsigned state, lock_id lock,
                                     uint32_t owner)
{
    static const enum live_state states[STATE_LIMIT] = {[STATE_BLOCKED] = LIVE_BLOCKED,
                                                        [STATE_WAITING] = LIVE_WAITING,
                                                        [STATE_PARKED] = LIVE_PARKED,
                                                        [STATE_JOINING] = LIVE_JOINING,
                                                        [STATE_SLEEPING] = LIVE_SLEEPING};
    if (state == STATE_PARKED) {
        const struct live_lock *k = live_find_lock(l, lock);
        return owner || (k && k->is_lock) ? LIVE_LOCKED : LIVE_PARKED;
    }
    return states[state];
}

/* Sink: a wait that has ended, for the thread's last ones. */
static int take(void *self, const struct interval *v, size_t n)
{
    struct live *l = self;
    struct live_thread *t = l->taking;
    for (size_t i = 0; i < n; i++) {
        if (v[i].flags & (INTERVAL_UNKNOWN | INTERVAL_REACQUIRED))
            continue;
        struct live_wait w = {.since = v[i].start,
                              .ns = v[i].ns,
                              .state = live_state_of(l, v[i].state, v[i].lock, v[i].other),
                              .lock = v[i].lock,
                              .other = {v[i].other},
                              .stack = v[i].stack};
        t->last[t->n_last++ % LIVE_LAST_WAITS] = w;
        if (live_is_held_up(w.state))
            t->held = w;
    }
    return 0;
}

const struct live_wait *live_last(const struct live_thread *t, uint32_t i)
{
    return i < LIVE_LAST_WAITS && i < t->n_last ? &t->last[(t->n_last - 1 - i) % LIVE_LAST_WAITS]
                                                : NULL;
}

void live_init(struct live *l, const struct trace *t, uint64_t from)
{
    memset(l, 0, sizeof *l);
    l->trace = t;
    l->open = l->horizon = l->now = from;
    l->sink = (struct interval_sink){take, l};
    intervals_init(&l->intervals, (struct interval_sinks){&l->sink, 1});
    map_init(&l->thread_ids);
    map_init(&l->lock_ids);
}

void live_fini(struct live *l)
{
    for (size_t i = 0; i < l->n_threads; i++)
        free(l->threads[i]);
    for (size_t i = 0; i < l->n_locks; i++)
        free(l->locks[i]);
    free(l->threads);
    free(l->locks);
    map_fini(&l->thread_ids);
    map_fini(&l->lock_ids);
    memset(l, 0, sizeof *l);
}

/* --- time ---------------------------------------------------------------------------------------
 */

/* Add a thread's time up to `to` to what it is in. */
static void account(struct live *l, struct live_thread *t, uint64_t to)
{
    uint64_t from = max_u64(t->accounted, l->horizon);
    if (to <= from)
        return;
    t->accounted = to;
    if (t->state >= LIVE_SUMS)
        return;
    t->cur[t->state] += to - from;
    if (t->on && live_is_held_up(t->state)) {
        t->on->cur_blocked += to - from;
        t->on->cur_worst = max_u64(t->on->cur_worst, to - t->since);
    }
}

static bool is_done(const struct live *l, const struct live_thread *t)
{
    if (t->track.ended)
        return true;
    if (!t->is_virtual || t->state < LIVE_SUMS)
        return false;
    /* A virtual thread that runs comes again with its next wait; with many of them, at once. */
    bool crowded = l->n_virtual > LIVE_VIRTUAL_MAX / 2;
    uint64_t any = 0;
    for (size_t i = 0; i < LIVE_BUCKETS && !crowded && !any; i++)
        for (size_t s = 0; s < LIVE_SUMS; s++)
            any |= t->us[i][s];
    return !any;
}

/* Take out who is not needed any more; none of them is in a wait. */
static void sweep(struct live *l)
{
    size_t kept = 0;
    for (size_t i = 0; i < l->n_threads; i++) {
        struct live_thread *t = l->threads[i];
        if (!is_done(l, t)) {
            l->threads[kept++] = t;
            continue;
        }
        l->n_virtual -= t->is_virtual;
        free(t);
    }
    l->n_ended = 0;
    if (kept == l->n_threads)
        return;
    l->n_threads = kept;
    live_index(&l->thread_ids, (void *const *)l->threads, kept, thread_key, &l->oom);
}

static void close_bucket(struct live *l, uint64_t now)
{
    size_t bucket = l->n_closed % LIVE_BUCKETS;
    for (size_t i = 0; i < l->n_threads; i++) {
        struct live_thread *t = l->threads[i];
        account(l, t, now);
        for (size_t s = 0; s < LIVE_SUMS; s++) {
            t->us[bucket][s] = (uint32_t)((t->cur[s] + 500) / 1000);
            t->cur[s] = 0;
        }
        t->counts[bucket] = t->cur_count;
        t->cur_count = 0;
    }
    l->gc_us[bucket] = (uint32_t)(l->cur_gc / 1000);
    l->event_counts[bucket] = l->cur_events;
    l->cur_gc = l->cur_events = 0;
    l->edges[bucket] = l->open;
    l->open = now;
    l->n_closed++;
    live_locks_close(l, bucket);
    sweep(l);
}

void live_advance(struct live *l, uint64_t now)
{
    l->now = max_u64(l->now, now);
    if (l->now >= l->open + LIVE_BUCKET_NS)
        close_bucket(l, l->now);
    for (size_t i = 0; i < l->n_threads; i++)
        account(l, l->threads[i], l->now);
    if (l->n_ended)
        sweep(l);
}

/* --- events -------------------------------------------------------------------------------------
 */

/* The innermost wait that is one by itself. */
static const struct track_wait *current(const struct track *tr)
{
    for (unsigned i = tr->depth; i-- > 0;)
        if (!tr->wait[i].absorbed)
            return &tr->wait[i];
    return NULL;
}

static bool has_lock(unsigned state)
{
    return state == STATE_BLOCKED || state == STATE_WAITING || state == STATE_PARKED;
}

/* Bring state and lock in line with the track, after an event at `time`. */
static void refresh(struct live *l, struct live_thread *t, uint64_t time)
{
    const struct track_wait *w = current(&t->track);
    leave_lock(t);
    t->began_before = w && w->found;
    if (!w) {
        t->state = LIVE_RUNNING;
        t->since = time;
        return;
    }
    if (w->found && !t->goes_on) {
        t->state = LIVE_UNKNOWN;
        t->since = w->start;
        return;
    }
    lock_id lock = {has_lock(w->state) ? w->object : 0};
    t->on = live_lock_get(l, lock);
    t->state = live_state_of(l, w->state, lock, w->other);
    t->since = w->start;
    t->wait = (struct live_wait){.since = w->start,
                                 .state = t->state,
                                 .lock = lock,
                                 .other = {w->other},
                                 .stack = {w->stack}};
    if (t->on)
        live_lock_join(t->on, t->state);
}

static void count_contention(struct live *l, struct live_thread *t, const struct op *op)
{
    bool is_new = op->action == OP_OPEN && t->since >= op->time && op->time >= l->horizon;
    if (!is_new || !live_is_held_up(t->state))
        return;
    t->cur_count++;
    if (t->on)
        t->on->cur_count++;
}

static void apply(struct live *l, struct live_thread *t, const struct op *op)
{
    static struct gaps none; /* gaps are dealt with as they come: live_gap */
    const struct track_env env = {&l->intervals, &none, NULL};
    account(l, t, op->time);
    l->taking = t;
    track_apply(&t->track, op, &env);
    intervals_flush(&l->intervals);
    refresh(l, t, max_u64(op->time, t->track.last));
    if (op->action == OP_BREAK)
        t->state = LIVE_UNKNOWN;
}

static void end_thread(struct live *l, struct live_thread *t, uint64_t time)
{
    account(l, t, time);
    leave_lock(t);
    live_locks_forget(l, t->id);
    t->state = LIVE_RUNNING;
    t->track.ended = true;
    l->n_ended++;
}

static void note_gc(struct live *l, const struct event *e)
{
    if (e->kind == EV_gc_start) {
        l->gc_since = e->time;
    } else if (e->kind == EV_gc_finish && l->gc_since) {
        uint64_t from = max_u64(l->gc_since, l->horizon);
        l->cur_gc += e->time > from ? e->time - from : 0;
        l->gc_since = 0;
    }
}

/* What a thread does that is in no wait, besides beginning and ending waits. */
static bool is_deed(const struct event *e)
{
    static const bool deeds[EV_LIMIT] = {
        [EV_thread_start] = true,
        [EV_thread_start_called] = true,
        [EV_mount] = true,
        [EV_unmount] = true,
        [EV_hold] = true,
        [EV_notify] = true,
        [EV_notify_all] = true,
        [EV_unpark] = true,
        [EV_interrupt] = true,
        [EV_interrupted] = true,
        [EV_semaphore_acquire_enter] = true,
        [EV_semaphore_acquire_exit] = true,
        [EV_semaphore_release] = true,
        [EV_call_enter] = true,
        [EV_call_exit] = true,
        [EV_call] = true,
        [EV_object_alloc] = true,
        [EV_object_sample] = true,
    };
    return deeds[e->kind] || (e->kind == EV_wall_sample && e->wall_sample.flags & SAMPLE_LOOK);
}

static bool is_found(const struct live_thread *t)
{
    const struct track_wait *w = current(&t->track);
    return w && w->found;
}

/* The wait that the thread was found in is over, though no event of it says so. */
static void leave_found(struct live *l, struct live_thread *t, uint64_t time)
{
    const struct op over = {.time = time, .action = OP_BREAK};
    apply(l, t, &over);
    t->state = LIVE_RUNNING;
}

/* A wait_open that stands behind a wait_found: the wait goes on, and what ends it is recorded.  Of
 * a sleep, or of a park with a limit, it says only how it was at that moment. */
static void go_on(struct live *l, struct live_thread *t, const struct event *e)
{
    const struct track_wait *w = current(&t->track);
    bool ends_untold = w && (w->state == STATE_SLEEPING ||
                             (w->state == STATE_PARKED && e->wait_open.limit != WAIT_UNLIMITED));
    if (!is_found(t) || t->goes_on || ends_untold || op_state(e->wait_open.kind) != w->state)
        return;
    const struct event found = {.kind = EV_wait_found,
                                .wait_found = {.lock = {w->object}, .owner = {w->other}}};
    if (has_lock(w->state) && !live_find_lock(l, found.wait_found.lock))
        live_lock_event(l, &found); /* nobody was known to wait for it: it has been taken out */
    t->goes_on = e->time;
    t->accounted = w->start; /* it was so all the while */
    refresh(l, t, e->time);
}

/* What is parked without a limit goes on when it gets a permit or is interrupted. */
static void wake_found(struct live *l, thread_id id, uint64_t time)
{
    struct live_thread *t = live_find_thread(l, id);
    if (t && t->goes_on && time > t->goes_on && is_found(t) &&
        current(&t->track)->state == STATE_PARKED)
        leave_found(l, t, time);
}

static bool is_after(const struct live_thread *t, const struct event *e)
{
    uint64_t at = e->kind == EV_wall_sample ? e->wall_sample.taken : e->time;
    return at > t->track.last;
}

static void take_event(struct live *l, struct live_thread *t, const struct event *e)
{
    struct op op;
    if (t->track.ended)
        return;
    live_lock_event(l, e); /* first: whether a park is for a lock stands on it */
    if (e->kind == EV_wait_found && op_make_found(e, &op)) {
        if (current(&t->track) && current(&t->track)->state == op.state)
            return; /* known already: the recording goes on in another file */
        t->goes_on = 0;
        apply(l, t, &op);
    } else if (e->kind == EV_wait_open) {
        go_on(l, t, e);
    } else if (e->kind == EV_thread_end) {
        end_thread(l, t, e->time);
    } else if (op_make(e, &op) && op.action != OP_NONE) {
        apply(l, t, &op);
        count_contention(l, t, &op);
    } else if (e->kind == EV_thread_alive) {
        t->began_before |= t->since == e->time; /* just met */
    } else if (is_found(t) && is_deed(e) && is_after(t, e)) {
        leave_found(l, t, e->time);
    } else if (t->state == LIVE_UNKNOWN && is_deed(e)) {
        t->state = LIVE_RUNNING;
        t->since = e->time;
    }
}

void live_event(struct live *l, const struct event *e, uint32_t stream)
{
    if (e->time >= l->open + LIVE_BUCKET_NS)
        close_bucket(l, e->time);
    l->now = max_u64(l->now, e->time);
    l->events++;
    l->cur_events += e->time >= l->horizon;
    note_gc(l, e);
    if (e->kind == EV_unpark || e->kind == EV_interrupt)
        wake_found(l, e->kind == EV_unpark ? e->unpark.target : e->interrupt.target, e->time);
    struct live_thread *t = thread_of(l, e);
    if (!t)
        return;
    t->stream = stream;
    take_event(l, t, e);
}

void live_gap(struct live *l, uint32_t stream, uint64_t time)
{
    const struct op broken = {.time = time, .action = OP_BREAK};
    for (size_t i = 0; i < l->n_threads; i++) {
        struct live_thread *t = l->threads[i];
        /* A virtual thread may have gone on in any stream. */
        if (!t->track.ended && (t->stream == stream || (t->is_virtual && t->track.depth)))
            apply(l, t, &broken);
    }
}

thread_id live_blocker(const struct live_thread *t)
{
    if (t->state == LIVE_JOINING || !t->on)
        return t->state < LIVE_SUMS ? t->wait.other : (thread_id){0};
    return t->on->owner;
}
