#include "analyze/decode.h"

#include "analyze/roaming.h"
#include "analyze/track.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

struct decoder {
    struct trace *t;
    struct thread_set *threads;
    struct decoded *out;
    struct intervals iv;
    struct decode_window window;

    struct arena arena; /* of the tracks */
    struct buf tracks;  /* struct track *[], by thread index; NULL: none yet, or it roams */
    struct roaming roaming;
    struct buf still_open;  /* struct still_open [] */
    struct stream *streams; /* [t->n_streams] */
    size_t damaged;         /* t->n_damaged when the latest event was read */
    size_t problems;        /* t->problems whose chunks are in the streams' gaps */
};

/* What is known of a stream while it is decoded. */
struct stream {
    struct gaps gaps;
    struct buf seen; /* struct track *[]: platform threads met in it, a new entry at each switch */
    uint64_t last;   /* time of its latest event */
    uint64_t gc_since; /* 0: no collection under way */
    bool roams;        /* it carries threads that roam */
};

/* What a wait_open event said, for after the last stream: it may stand in any stream. */
struct still_open {
    struct op op; /* time: `since`, but not before the window */
    uint64_t since;
};

void decoded_fini(struct decoded *d)
{
    buf_fini(&d->pauses);
    buf_fini(&d->open);
}

/* --- events into ops -------------------------------------------------------------------------- */

/* The state that a kind opens; STATE_LIMIT: none. */
static unsigned state_of(uint32_t kind)
{
    switch (kind) {
    case EV_monitor_contended_enter:
        return STATE_BLOCKED;
    case EV_wait_enter:
        return STATE_WAITING;
    case EV_join_enter:
        return STATE_JOINING;
    case EV_sleep_enter:
        return STATE_SLEEPING;
    case EV_park_enter:
        return STATE_PARKED;
    default:
        return STATE_LIMIT;
    }
}

/* The op of an event that is about the thread's waits; false for the others.  op->time and thread
 * are the caller's. */
static inline bool make_op(struct decoder *d, const struct event *e, struct op *op)
{
    switch (e->kind) {
    case EV_monitor_contended_enter:
        *op = (struct op){.object = e->monitor_contended_enter.lock.v,
                          .other = thread_set_index(d->threads, e->monitor_contended_enter.owner),
                          .stack = e->monitor_contended_enter.stack.v,
                          .action = OP_OPEN,
                          .state = STATE_BLOCKED};
        d->out->owner_gone += e->monitor_contended_enter.owner_gone != 0;
        return true;
    case EV_monitor_contended_entered:
        *op = (struct op){.object = e->monitor_contended_entered.lock.v,
                          .action = OP_CLOSE,
                          .state = STATE_BLOCKED};
        return true;
    case EV_wait_enter:
        *op = (struct op){.object = e->wait_enter.lock.v,
                          .stack = e->wait_enter.stack.v,
                          .action = OP_OPEN,
                          .state = STATE_WAITING};
        return true;
    case EV_wait_exit:
        *op = (struct op){.object = e->wait_exit.lock.v,
                          .action = OP_CLOSE,
                          .state = STATE_WAITING,
                          .flags = e->wait_exit.timed_out ? INTERVAL_TIMED_OUT : 0};
        return true;
    case EV_join_enter:
        *op = (struct op){.other = thread_set_index(d->threads, e->join_enter.target),
                          .stack = e->join_enter.stack.v,
                          .action = OP_OPEN,
                          .state = STATE_JOINING};
        return true;
    case EV_join_exit:
        *op = (struct op){.action = OP_CLOSE, .state = STATE_JOINING};
        return true;
    case EV_park_enter:
        *op = (struct op){.object = e->park_enter.lock.v,
                          .other = thread_set_index(d->threads, e->park_enter.owner),
                          .stack = e->park_enter.stack.v,
                          .action = OP_OPEN,
                          .state = STATE_PARKED};
        return true;
    case EV_park_exit:
        *op = (struct op){.object = e->park_exit.lock.v, .action = OP_CLOSE, .state = STATE_PARKED};
        return true;
    case EV_sleep_enter:
        *op = (struct op){
            .stack = e->sleep_enter.stack.v, .action = OP_OPEN, .state = STATE_SLEEPING};
        return true;
    case EV_sleep_exit:
        *op = (struct op){.action = OP_CLOSE, .state = STATE_SLEEPING};
        return true;
    case EV_thread_end:
        *op = (struct op){.action = OP_END};
        return true;
    case EV_lost:
        *op = (struct op){.action = OP_BREAK};
        return true;
    case EV_wait_open:
        *op = (struct op){.action = OP_NONE};
        return true;
    default:
        return false;
    }
}

static bool is_roaming(const struct decoder *d, uint32_t thread)
{
    const struct thread_stats *s = &d->threads->v[thread];
    return s->is_virtual || !s->defined;
}

static const bool is_pure_wait[EV_LIMIT] = {
    [EV_monitor_contended_enter] = true,
    [EV_monitor_contended_entered] = true,
    [EV_wait_enter] = true,
    [EV_wait_exit] = true,
};

static void note_lost(struct decoder *d, struct stream *s, uint32_t thread, const struct event *e)
{
    uint32_t cause = e->lost.cause < LOSS_LIMIT ? e->lost.cause : LOSS_none;
    d->out->lost[cause] += e->lost.count;
    d->threads->v[thread].lost += e->lost.count;
    d->threads->v[thread].incomplete = true;
    /* What a carrier's ring lost may be of any thread that it carried. */
    if (s->roams || is_roaming(d, thread))
        gaps_add(&d->roaming.gaps, s->last ? s->last : e->time, e->time);
}

static void note_wait_open(struct decoder *d, uint32_t thread, const struct event *e)
{
    unsigned state = state_of(e->wait_open.kind);
    if (state == STATE_LIMIT)
        return;
    bool has_lock = state == STATE_BLOCKED || state == STATE_WAITING || state == STATE_PARKED;
    struct still_open s = {.since = e->wait_open.since,
                           .op = {.time = max_u64(e->wait_open.since, d->window.from),
                                  .thread = thread,
                                  .object = has_lock ? e->wait_open.lock.v : 0,
                                  .action = OP_OPEN,
                                  .state = (uint8_t)state}};
    buf_put(&d->still_open, &s, sizeof s);
}

static void end_pause(struct decoder *d, struct stream *s, uint64_t end)
{
    if (s->gc_since)
        buf_put(&d->out->pauses, &(struct pause){s->gc_since, max_u64(end, s->gc_since)},
                sizeof(struct pause));
    s->gc_since = 0;
}

/* What an event says besides the waits. */
static void note_event(struct decoder *d, struct stream *s, uint32_t thread, const struct event *e)
{
    struct thread_stats *st = &d->threads->v[thread];
    switch (e->kind) {
    case EV_thread_start:
        st->has_started = true;
        st->started = e->time;
        break;
    case EV_thread_end:
        st->has_ended = true;
        st->ended = e->time;
        break;
    case EV_lost:
        note_lost(d, s, thread, e);
        break;
    case EV_wait_open:
        note_wait_open(d, thread, e);
        break;
    case EV_gc_start:
        s->gc_since = e->time;
        break;
    case EV_gc_finish:
        end_pause(d, s, e->time);
        break;
    default:
        break;
    }
}

/* --- streams ---------------------------------------------------------------------------------- */

static struct track **track_slots(struct decoder *d)
{
    return (void *)d->tracks.p;
}

/* The track of a thread that does not roam; made when it is new.  NULL when memory is out. */
static struct track *track_of(struct decoder *d, uint32_t thread)
{
    size_t have = d->tracks.len / sizeof(struct track *);
    if (thread >= have) {
        size_t more = (d->threads->n - have) * sizeof(struct track *);
        uint8_t *p = buf_reserve(&d->tracks, more);
        if (!p)
            return NULL;
        memset(p, 0, more);
        d->tracks.len += more;
    }
    struct track **slot = &track_slots(d)[thread];
    if (!*slot) {
        *slot = arena_alloc(&d->arena, sizeof **slot);
        if (*slot)
            track_init(*slot, thread, false);
    }
    return *slot;
}

/* The track that a stream's events of a thread go to, or NULL: collect them. */
static struct track *switch_thread(struct decoder *d, struct stream *s, uint32_t thread)
{
    if (is_roaming(d, thread)) {
        s->roams = true;
        return NULL;
    }
    struct track *tr = track_of(d, thread);
    struct track *const *seen = (void *)s->seen.p;
    size_t n = s->seen.len / sizeof tr;
    if (!tr)
        d->iv.rc = -ENOMEM;
    else if (n == 0 || seen[n - 1] != tr)
        buf_put(&s->seen, &tr, sizeof tr);
    return tr;
}

/* What unreadable chunks held is missing in every stream that had a block in them. */
static void add_problems(struct decoder *d)
{
    const struct trace *t = d->t;
    for (; d->problems < t->n_problems; d->problems++)
        for (size_t i = 0; i < t->n_streams; i++)
            gaps_add_chunk(&d->streams[i].gaps, t, i, t->problems[d->problems].offset);
    d->damaged = t->n_damaged;
}

static int begin_streams(struct decoder *d, struct err *err)
{
    d->streams = arena_alloc(&d->arena, d->t->n_streams * sizeof *d->streams);
    if (!d->streams)
        return err_set(err, -ENOMEM, "out of memory");
    for (size_t i = 0; i < d->t->n_streams; i++)
        gaps_find(&d->streams[i].gaps, d->t, i);
    add_problems(d);
    return 0;
}

/* With a gap, what is open in the stream's threads may have ended in it. */
static void end_stream(struct decoder *d, struct stream *s)
{
    const struct gap *g = (const void *)s->gaps.v.p;
    struct track *const *seen = (void *)s->seen.p;
    const struct track_env env = {&d->iv, &s->gaps};
    end_pause(d, s, d->window.to);
    for (size_t i = 0; i < gaps_count(&s->gaps); i++) {
        for (size_t k = 0; k < s->seen.len / sizeof *seen; k++)
            track_gap(seen[k], g[i].from, &env);
        if (s->roams)
            gaps_add(&d->roaming.gaps, g[i].from, g[i].to);
    }
    if (s->seen.oom || s->gaps.v.oom)
        d->iv.rc = -ENOMEM;
    buf_fini(&s->seen);
    gaps_fini(&s->gaps);
}

static void take_op(struct decoder *d, const struct op *op, struct track *tr,
                    const struct track_env *env)
{
    if (tr)
        track_apply(tr, op, env);
    else if (op->thread)
        roaming_add(&d->roaming, op);
    else
        d->out->nameless++;
}

/* The loop that a large trace's time is spent in. */
static int decode_events(struct decoder *d, struct trace_iter *it, struct err *err)
{
    struct track_env env = {&d->iv, NULL};
    struct stream *s = d->streams;
    struct track *tr = NULL;
    uint32_t id = 0, thread = 0; /* of `tr` */
    size_t from = SIZE_MAX, stream;
    struct event e;
    struct op op;
    int rc;
    while ((rc = trace_iter_next(it, &e, &stream, err)) > 0) {
        d->out->kinds[e.kind]++;
        if (e.thread.v != id || stream != from) {
            from = stream;
            s = &d->streams[stream];
            env.gaps = &s->gaps;
            id = e.thread.v;
            thread = thread_set_index(d->threads, e.thread);
            tr = thread ? switch_thread(d, s, thread) : NULL;
        }
        if (d->damaged != d->t->n_damaged) { /* met on the way to this event */
            gaps_add(&s->gaps, s->last, s->last);
            add_problems(d);
        }
        if (make_op(d, &e, &op)) {
            op.time = e.time;
            op.thread = thread;
            take_op(d, &op, tr, &env);
        }
        if (!is_pure_wait[e.kind])
            note_event(d, s, thread, &e);
        s->last = e.time;
        if (d->iv.rc)
            return err_set(err, d->iv.rc, "out of memory");
    }
    add_problems(d);
    return rc;
}

static int decode_blocks(struct decoder *d, struct err *err)
{
    struct trace_iter *it;
    TRY(trace_iter_open_blocks(&it, d->t, err));
    int rc = decode_events(d, it, err);
    trace_iter_close(it);
    return rc;
}

/* --- after the last stream -------------------------------------------------------------------- */

static int by_thread_and_time(const void *a, const void *b)
{
    const struct still_open *x = a, *y = b;
    if (x->op.thread != y->op.thread)
        return x->op.thread < y->op.thread ? -1 : 1;
    return (x->since > y->since) - (x->since < y->since);
}

/* The waits that the recorder says were open, from the first one of `thread`: *n of them. */
static const struct still_open *still_open_of(const struct decoder *d, uint32_t thread, size_t *n)
{
    const struct still_open *v = (const void *)d->still_open.p;
    size_t low = 0, high = d->still_open.len / sizeof *v, all = high;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (v[mid].op.thread < thread)
            low = mid + 1;
        else
            high = mid;
    }
    for (high = low; high < all && v[high].op.thread == thread; high++)
        ;
    *n = high - low;
    return *n ? v + low : NULL;
}

static void finish_track(struct decoder *d, struct track *tr, const struct track_env *env)
{
    size_t n;
    const struct still_open *s = still_open_of(d, tr->thread, &n);
    for (size_t i = 0; i < n; i++)
        track_still_open(tr, &s[i].op, env);
    track_finish(tr, d->window.to, env);
    d->threads->v[tr->thread].incomplete |= tr->incomplete;
}

static int finish_tracks(struct decoder *d)
{
    struct gaps none = {0}; /* each stream's were dealt with at its end */
    const struct track_env env = {&d->iv, &none};
    const struct still_open *s = (const void *)d->still_open.p;
    for (size_t i = 0; i < d->still_open.len / sizeof *s; i++)
        if (!is_roaming(d, s[i].op.thread) && !track_of(d, s[i].op.thread))
            return -ENOMEM;
    for (size_t i = 0; i < d->tracks.len / sizeof(struct track *); i++)
        if (track_slots(d)[i])
            finish_track(d, track_slots(d)[i], &env);
    return 0;
}

static int finish_roaming(struct decoder *d, struct err *err)
{
    const struct track_env env = {&d->iv, &d->roaming.gaps};
    TRY(roaming_sort(&d->roaming, d->threads->n, err));
    for (uint32_t i = 1; i < d->threads->n; i++) {
        struct track tr;
        if (roaming_replay(&d->roaming, i, &tr, &env))
            finish_track(d, &tr, &env);
    }
    return 0;
}

/* Sink: what was open at the end, with the true beginning where the recorder told it. */
static int take_open(void *self, const struct interval *v, size_t n)
{
    struct decoder *d = self;
    for (size_t i = 0; i < n; i++) {
        if (!(v[i].flags & INTERVAL_OPEN))
            continue;
        struct open_wait w = {.thread = v[i].thread,
                              .other = v[i].other,
                              .state = v[i].state,
                              .lock = v[i].lock,
                              .stack = v[i].stack,
                              .since = v[i].start};
        size_t told;
        const struct still_open *s = still_open_of(d, w.thread, &told);
        for (size_t k = 0; k < told; k++)
            if (s[k].op.state == w.state && s[k].op.time == w.since)
                w.since = s[k].since;
        buf_put(&d->out->open, &w, sizeof w);
    }
    return 0;
}

static int run(struct decoder *d, struct err *err)
{
    TRY(begin_streams(d, err));
    int rc = decode_blocks(d, err);
    for (size_t i = 0; i < d->t->n_streams; i++)
        end_stream(d, &d->streams[i]);
    TRY(rc);
    if (d->still_open.len)
        qsort(d->still_open.p, d->still_open.len / sizeof(struct still_open),
              sizeof(struct still_open), by_thread_and_time);
    rc = finish_tracks(d);
    if (rc == 0)
        TRY(finish_roaming(d, err));
    intervals_flush(&d->iv);
    for (int i = 0; i < EV_LIMIT; i++)
        d->out->events += d->out->kinds[i];
    if (d->out->pauses.oom || d->out->open.oom || d->still_open.oom || d->roaming.gaps.v.oom)
        rc = -ENOMEM;
    rc = rc ? rc : d->iv.rc;
    return rc ? err_set(err, rc, "out of memory") : 0;
}

int decode_trace(struct decoded *out, struct trace *t, struct thread_set *threads,
                 const struct decode_window *window, struct interval_sinks sinks, struct err *err)
{
    memset(out, 0, sizeof *out);
    struct decoder *d = calloc(1, sizeof *d);
    struct interval_sink *all = calloc(sinks.n + 1, sizeof *all);
    int rc = -ENOMEM;
    if (d && all) {
        memcpy(all, sinks.v, sinks.n * sizeof *all);
        all[sinks.n] = (struct interval_sink){take_open, d};
        *d = (struct decoder){.t = t, .threads = threads, .out = out, .window = *window};
        intervals_init(&d->iv, (struct interval_sinks){all, sinks.n + 1});
        arena_init(&d->arena, 0);
        rc = run(d, err);
        arena_fini(&d->arena);
        buf_fini(&d->tracks);
        buf_fini(&d->still_open);
        roaming_fini(&d->roaming);
    } else {
        err_set(err, rc, "out of memory");
    }
    free(all);
    free(d);
    return rc;
}
