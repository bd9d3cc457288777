#include "analyze/decode.h"

#include "analyze/holes.h"
#include "analyze/io_calls.h"
#include "analyze/op.h"
#include "analyze/roaming.h"
#include "analyze/track.h"
#include "base/map.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

enum { WATCH_EVERY = 1 << 18 }; /* events */
enum { ENDS_FIRST_SINCE = 27 }; /* JDK */

struct decoder {
    struct trace *t;
    struct thread_set *threads;
    struct timeline *timeline;
    struct samples *samples;
    struct processors *processors;
    struct allocs *allocs;
    struct decoded *out;
    const struct analysis_watch *watch;
    struct intervals iv;
    struct decode_window window;

    struct arena arena; /* of the tracks */
    struct buf tracks;  /* struct track *[], by thread index; NULL: none yet, or it roams */
    struct roaming roaming;
    struct buf still_open; /* struct still_open [] */
    struct buf found;      /* struct op [], by thread and time: waits under way at the beginning */
    const struct carry *carry;
    uint64_t *woken; /* [threads->n], when some were found: the first unpark or interrupt of each
                      * that was found parked, UINT64_MAX: none; 0: it was not */
    struct stream *streams; /* [t->n_streams] */
    bool attached;
    bool ends_first;   /* struct track_env */
    bool missing;      /* events of some thread, before the trace's end */
    bool out_of_order; /* a thread's events may be in several streams, whatever it is */
    size_t damaged;    /* t->n_damaged when the latest event was read */
    size_t problems;   /* t->problems whose chunks are in the streams' gaps */
    struct holes holes;
    struct map open_calls; /* a thread -> 1 + index into out->io of what it was in last */
};

/* The state of a stream while it is decoded. */
struct stream {
    struct gaps gaps;
    struct buf seen; /* struct track *[]: platform threads met in it, a new entry at each switch */
    uint64_t last;   /* time of its latest event */
    uint64_t gc_since; /* 0: no collection under way */
    uint64_t gc_used;  /* bytes of the heap in use then */
    stack_id parked;   /* of its last park */
    bool roams;        /* it carries threads that roam */
};

/* A wait_open event, kept until after the last stream: it may be in any stream. */
struct still_open {
    struct op op; /* time: `since`, but not before the window */
    uint64_t since, at;
};

void decoded_fini(struct decoded *d)
{
    buf_fini(&d->pauses);
    buf_fini(&d->cycles);
    buf_fini(&d->safepoints);
    buf_fini(&d->open);
    buf_fini(&d->asked);
    buf_fini(&d->io);
    buf_fini(&d->reads);
    pins_fini(&d->pins);
    buf_fini(&d->unwritten);
    buf_fini(&d->carried);
    unknowns_fini(&d->unknown);
    summed_fini(&d->summed);
}

/* --- what events say -------------------------------------------------------------------------- */

static bool is_roaming(const struct decoder *d, uint32_t thread)
{
    const struct thread_stats *s = &d->threads->v[thread];
    return s->is_virtual || !s->defined || d->out_of_order;
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
    /* Events that a carrier's ring lost may belong to any thread that the carrier ran. */
    if (s->roams || is_roaming(d, thread))
        gaps_add(&d->roaming.gaps, s->last ? s->last : e->time, e->time);
}

static void note_wait_open(struct decoder *d, uint32_t thread, const struct event *e)
{
    unsigned state = op_state(e->wait_open.kind);
    if (state == STATE_LIMIT)
        return;
    bool has_lock = state == STATE_BLOCKED || state == STATE_WAITING || state == STATE_PARKED;
    struct still_open s = {.since = e->wait_open.since,
                           .at = e->time,
                           .op = {.time = max_u64(e->wait_open.since, d->window.from),
                                  .thread = thread,
                                  .object = has_lock ? e->wait_open.lock.v : 0,
                                  .other = thread_set_index(d->threads, e->wait_open.owner),
                                  .stack = e->wait_open.stack.v,
                                  .action = OP_OPEN,
                                  .state = (uint8_t)state,
                                  .flags = op_limit_flags(state, e->wait_open.limit)}};
    buf_put(&d->still_open, &s, sizeof s);
}

/* gc: of the event, NULL when the pause's end is not in the trace. */
static void end_pause(struct decoder *d, struct stream *s, uint64_t end,
                      const struct ev_gc_finish *gc)
{
    struct pause p = {.start = s->gc_since, .end = max_u64(end, s->gc_since)};
    p.gc.before = s->gc_used;
    if (gc) {
        p.gc.collector = gc->collector;
        p.gc.cause = gc->cause;
        p.gc.used = gc->used;
        p.gc.committed = gc->committed;
    }
    if (s->gc_since)
        buf_put(&d->out->pauses, &p, sizeof p);
    s->gc_since = 0;
}

static void note_cycle(struct decoder *d, const struct ev_gc_cycle *gc)
{
    const struct cycle c = {.start = gc->since,
                            .end = max_u64(gc->since, gc->until),
                            .gc = {.collector = gc->collector,
                                   .cause = gc->cause,
                                   .before = gc->before,
                                   .used = gc->used,
                                   .committed = gc->committed}};
    buf_put(&d->out->cycles, &c, sizeof c);
}

static void note_safepoint(struct decoder *d, const struct event *e)
{
    struct safepoint s = {.from = max_u64(e->safepoint.since, d->window.from),
                          .to = e->time,
                          .operation = trace_gc_name(d->t, e->safepoint.operation)->id};
    s.reached = min_u64(max_u64(e->safepoint.reached, s.from), s.to);
    if (s.from <= s.to)
        buf_put(&d->out->safepoints, &s, sizeof s);
}

/* The chunk that has the event of that time of a stream. */
static uint32_t chunk_of(const struct trace *t, size_t stream, uint64_t time)
{
    const struct trace_stream *s = &t->streams[stream];
    uint32_t i = s->first;
    BISECT(i, s->first + s->count, t->blocks[i].b.first <= time);
    return t->blocks[i > s->first ? i - 1 : i].chunk;
}

/* A JVM that was killed in between leaves it twice: the first is right. */
static void note_unwritten(struct decoder *d, const struct stream *s, const struct event *e)
{
    struct buf *b = &d->out->unwritten;
    const struct unwritten *last = b->len ? (const void *)(b->p + b->len - sizeof *last) : NULL;
    const struct unwritten u = {
        .from = min_u64(e->unwritten.since, e->time),
        .to = e->time,
        .lost = e->unwritten.lost,
        .first_lost = e->unwritten.lost ? min_u64(e->unwritten.first_lost, e->time) : e->time,
        .chunk = chunk_of(d->t, (size_t)(s - d->streams), e->time)};
    if (!last || last->from != u.from)
        buf_put(b, &u, sizeof u);
}

static void note_io(struct decoder *d, uint32_t thread, const struct event *e)
{
    const struct io_wait w = {.from = max_u64(e->io.since, d->window.from),
                              .to = e->time,
                              .thread = thread,
                              .what = e->io.what < IO_KINDS ? e->io.what : IO_KIND_none,
                              .peer = e->io.peer,
                              .stack = e->io.stack};
    if (thread && w.from < w.to)
        buf_put(&d->out->io, &w, sizeof w);
}

/* One call may have several io_open events, each up to its own time.  After the return, the event
 * io has the whole call. */
static void note_io_open(struct decoder *d, uint32_t thread, const struct event *e)
{
    const struct io_wait w = {.from = max_u64(e->io_open.since, d->window.from),
                              .to = e->time,
                              .thread = thread,
                              .what = e->io_open.what < IO_KINDS ? e->io_open.what : IO_KIND_none,
                              .open = true,
                              .peer = e->io_open.peer,
                              .stack = e->io_open.stack};
    if (!thread || w.from >= w.to)
        return;
    uint64_t *at = map_put(&d->open_calls, thread);
    struct io_wait *last = at && *at ? (struct io_wait *)(void *)d->out->io.p + (*at - 1) : NULL;
    if (last && last->from == w.from) {
        last->to = w.to;
        return;
    }
    buf_put(&d->out->io, &w, sizeof w);
    if (at)
        *at = d->out->io.len / sizeof w;
}

static void note_read(struct decoder *d, uint32_t thread, const struct event *e)
{
    const struct io_wait r = {.from = e->io_read.since,
                              .to = e->time,
                              .thread = thread,
                              .what = IO_KIND_input,
                              .peer = e->io_read.peer};
    if (thread && r.peer.v)
        buf_put(&d->out->reads, &r, sizeof r);
}

static void note_pin(struct decoder *d, uint32_t thread, const struct event *e)
{
    const struct pin p = {.time = e->time,
                          .thread = thread,
                          .carrier = thread_set_index(d->threads, e->pinned.carrier),
                          .frame = e->pinned.frame,
                          .stack = e->pinned.stack,
                          .lock = e->pinned.lock};
    if (thread)
        buf_put(&d->out->pins.v, &p, sizeof p);
}

/* Whatever an event says apart from waits. */
static void note_event(struct decoder *d, struct stream *s, uint32_t thread, const struct event *e)
{
    struct thread_stats *st = &d->threads->v[thread];
    switch (e->kind) {
    case EV_thread_start:
        st->has_started = true;
        st->started = e->time;
        break;
    case EV_thread_alive: /* found in a JVM that was running already, and not looked at before */
    case EV_wait_found:
        if (d->attached)
            unknowns_add(&d->out->unknown, thread, d->window.from, e->time);
        break;
    case EV_thread_end:
        st->has_ended = true;
        st->ended = e->time;
        break;
    case EV_recording_end:
        st->ends_jvm = true;
        break;
    case EV_lost:
        note_lost(d, s, thread, e);
        break;
    case EV_unwritten:
        note_unwritten(d, s, e);
        break;
    case EV_wait_open:
        note_wait_open(d, thread, e);
        break;
    case EV_wait_owner:
        buf_put(&d->out->asked,
                &(struct asked_owner){e->time, e->wait_owner.lock.v,
                                      thread_set_index(d->threads, e->wait_owner.owner)},
                sizeof(struct asked_owner));
        break;
    case EV_io:
        note_io(d, thread, e);
        break;
    case EV_io_open:
        note_io_open(d, thread, e);
        break;
    case EV_io_read:
        note_read(d, thread, e);
        break;
    case EV_pinned:
        note_pin(d, thread, e);
        break;
    case EV_gc_start:
        s->gc_since = e->time;
        s->gc_used = e->gc_start.used;
        break;
    case EV_gc_finish:
        end_pause(d, s, e->time, &e->gc_finish);
        break;
    case EV_gc_cycle:
        note_cycle(d, &e->gc_cycle);
        break;
    case EV_safepoint:
        note_safepoint(d, e);
        break;
    default:
        break;
    }
}

/* The thread that an act is about. */
static thread_id target_of(const struct event *e)
{
    switch (e->kind) {
    case EV_thread_start_called:
        return e->thread_start_called.target;
    case EV_unpark:
        return e->unpark.target;
    case EV_interrupt:
        return e->interrupt.target;
    default:
        return (thread_id){0};
    }
}

static void note_act(struct decoder *d, uint32_t thread, const struct event *e)
{
    thread_id target = target_of(e);
    uint32_t index = target.v ? thread_set_index(d->threads, target) : 0;
    if (index && d->woken && e->kind != EV_thread_start_called)
        d->woken[index] = min_u64(d->woken[index], e->time);
    if (index && e->kind == EV_thread_start_called)
        d->threads->v[index].called = e->time;
    if (thread && timeline_act(d->timeline, thread, e, index) < 0)
        d->iv.rc = -ENOMEM;
}

/* --- streams ---------------------------------------------------------------------------------- */

static struct track **track_slots(struct decoder *d)
{
    return (void *)d->tracks.p;
}

static bool has_track(struct decoder *d, uint32_t thread)
{
    return thread < d->tracks.len / sizeof(struct track *) && track_slots(d)[thread];
}

/* The waits that a thread was in at the beginning, outermost first: *n of them. */
static const struct op *found_of(const struct decoder *d, uint32_t thread, size_t *n)
{
    const struct op *v = (const void *)d->found.p;
    size_t i = 0, all = d->found.len / sizeof *v;
    BISECT(i, all, v[i].thread < thread);
    for (*n = 0; i + *n < all && v[i + *n].thread == thread;)
        ++*n;
    return *n ? v + i : NULL;
}

static struct op in_window(const struct decoder *d, struct op op)
{
    op.time = max_u64(op.time, d->window.from);
    return op;
}

/* When a wait began that began here at `start`, which may be where the window does. */
static uint64_t true_start(const struct decoder *d, uint32_t thread, unsigned state, uint64_t start)
{
    size_t n;
    const struct op *v = found_of(d, thread, &n);
    for (size_t i = 0; i < n; i++)
        if (v[i].state == state && in_window(d, v[i]).time == start)
            return v[i].time;
    return start;
}

static void begin_track(struct decoder *d, struct track *tr, uint32_t thread)
{
    struct gaps none = {0};
    const struct track_env env = {&d->iv, &none, &d->out->unknown, d->ends_first};
    size_t n;
    const struct op *found = found_of(d, thread, &n);
    track_init(tr, thread, false);
    for (size_t i = 0; i < n; i++) {
        const struct op op = in_window(d, found[i]);
        track_apply(tr, &op, &env);
    }
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
            begin_track(d, *slot, thread);
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

/* The content of unreadable chunks is missing in every stream that had a block in them. */
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

/* Waits that are open before a gap may have ended in it. */
static void end_stream(struct decoder *d, struct stream *s)
{
    const struct gap *g = (const void *)s->gaps.v.p;
    struct track *const *seen = (void *)s->seen.p;
    const struct track_env env = {&d->iv, &s->gaps, &d->out->unknown, d->ends_first};
    uint64_t known = holes_known_until(&d->holes, d->t, (size_t)(s - d->streams));
    end_pause(d, s, d->window.to, NULL);
    d->missing |= gaps_count(&s->gaps) != 0;
    for (size_t k = 0; k < s->seen.len / sizeof *seen; k++)
        seen[k]->known = known ? max_u64(known, s->last) : 0;
    for (size_t i = 0; i < gaps_count(&s->gaps); i++) {
        for (size_t k = 0; k < s->seen.len / sizeof *seen; k++) {
            track_gap(seen[k], g[i].from, &env);
            unknowns_add(&d->out->unknown, seen[k]->thread, g[i].from, g[i].to);
        }
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

/* Samples of all threads are in one stream, so they do not show which thread the stream belongs
 * to. */
static void take_sample(struct decoder *d, const struct event *e)
{
    uint32_t thread = thread_set_index(d->threads, e->thread);
    d->threads->v[thread].named = true;
    if (samples_add(d->samples, thread, e) < 0)
        d->iv.rc = -ENOMEM;
}

/* Waits of any thread, by whoever wrote them down. */
static void take_sum(struct decoder *d, const struct event *e)
{
    uint32_t thread = thread_set_index(d->threads, e->thread);
    if (e->kind == EV_wait_sum) {
        d->threads->v[thread].named = true;
        summed_take(&d->out->summed, e, thread, thread_set_index(d->threads, e->wait_sum.owner),
                    thread_set_index(d->threads, e->wait_sum.waker));
    } else {
        summed_take(&d->out->summed, e, 0, 0, 0);
    }
}

static bool is_sum(const struct event *e)
{
    return e->kind == EV_wait_sum || e->kind == EV_summing;
}

static bool is_sample(const struct event *e)
{
    return e->kind == EV_cpu_sample || e->kind == EV_wall_sample;
}

/* Turns of every thread are in one stream, as samples are. */
static bool is_of_sched(const struct event *e)
{
    return e->kind >= EV_turn && e->kind <= EV_quota;
}

static void take_sched(struct decoder *d, const struct event *e)
{
    if (processors_take(d->processors, thread_set_index(d->threads, e->thread), e) < 0)
        d->iv.rc = -ENOMEM;
}

/* An allocation says nothing of what its thread waits for; its end comes from any thread. */
static void take_alloc(struct decoder *d, const struct event *e)
{
    thread_id id = e->kind == EV_object_free ? e->object_free.allocated_by : e->thread;
    uint32_t thread = thread_set_index(d->threads, id);
    d->threads->v[thread].named = true;
    if (allocs_add(d->allocs, thread, e) < 0)
        d->iv.rc = -ENOMEM;
}

/* The loop that a large trace's time is spent in. */
static int decode_events(struct decoder *d, struct trace_iter *it, struct err *err)
{
    struct track_env env = {&d->iv, NULL, &d->out->unknown, d->ends_first};
    struct stream *s = d->streams;
    struct track *tr = NULL;
    uint32_t id = 0, thread = 0; /* of `tr` */
    size_t from = SIZE_MAX, stream;
    uint64_t n = 0;
    struct event e;
    struct op op;
    int rc;
    while ((rc = trace_iter_next(it, &e, &stream, err)) > 0) {
        d->out->kinds[e.kind]++;
        if (is_sample(&e) || is_sum(&e) || allocs_takes(e.kind) || is_of_sched(&e)) {
            if (is_sample(&e))
                take_sample(d, &e);
            else if (is_of_sched(&e))
                take_sched(d, &e);
            else if (is_sum(&e))
                take_sum(d, &e);
            else
                take_alloc(d, &e);
            s = &d->streams[stream];
            from = SIZE_MAX; /* the next event's thread is looked up */
            thread = 0;
        } else if (e.thread.v != id || stream != from) {
            from = stream;
            s = &d->streams[stream];
            env.gaps = &s->gaps;
            id = e.thread.v;
            thread = thread_set_index(d->threads, e.thread);
            d->threads->v[thread].named = true;
            tr = thread ? switch_thread(d, s, thread) : NULL;
        }
        if (d->damaged != d->t->n_damaged) { /* met on the way to this event */
            gaps_add(&s->gaps, s->last, s->last);
            add_problems(d);
        }
        if (e.kind == EV_park_enter)
            s->parked = e.park_enter.stack;
        /* The agent names the descriptor of an earlier request: the park may be elsewhere. */
        bool elsewhere = e.kind == EV_park_io && !io_in_poller(d->t, s->parked);
        if (!elsewhere && op_make(&e, &op)) {
            op.thread = thread;
            if (op.other)
                op.other = thread_set_index(d->threads, (thread_id){op.other});
            d->out->owner_gone +=
                e.kind == EV_monitor_contended_enter && e.monitor_contended_enter.owner_gone != 0;
            take_op(d, &op, tr, &env);
        }
        if (!is_pure_wait[e.kind]) {
            note_event(d, s, thread, &e);
            note_act(d, thread, &e);
        }
        s->last = e.time;
        if (d->iv.rc)
            return err_set(err, d->iv.rc, "out of memory");
        if (++n % WATCH_EVERY == 0 && d->watch)
            d->watch->progress(d->watch->ctx, "reading", n, d->t->n_events);
    }
    add_problems(d);
    return rc;
}

static int by_thread(const void *a, const void *b)
{
    const struct op *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->time > y->time) - (x->time < y->time);
}

/* The stream of the thread that began the recording: the one with the earliest event; n_streams:
 * none. */
static size_t first_stream(const struct trace *t)
{
    size_t first = t->n_streams;
    uint64_t time = UINT64_MAX;
    for (size_t i = 0; i < t->n_streams; i++) {
        const struct trace_stream *s = &t->streams[i];
        if (s->count && t->blocks[s->first].b.first < time) {
            time = t->blocks[s->first].b.first;
            first = i;
        }
    }
    return first;
}

static bool is_beginning(uint32_t kind)
{
    return kind == EV_recording_start || kind == EV_thread_alive || kind == EV_wait_found;
}

static int note_found(struct decoder *d)
{
    const struct op *v = (const void *)d->found.p;
    size_t n = d->found.len / sizeof *v;
    if (!n)
        return 0;
    d->woken = calloc(d->threads->n, sizeof *d->woken);
    if (!d->woken)
        return -ENOMEM;
    qsort(d->found.p, n, sizeof *v, by_thread);
    for (size_t i = 0; i < n; i++) {
        const struct op op = in_window(d, v[i]);
        if (op.state == STATE_PARKED && op.action == OP_FOUND)
            d->woken[op.thread] = UINT64_MAX;
        d->threads->v[op.thread].found = op.time;
        if (is_roaming(d, op.thread))
            roaming_add(&d->roaming, &op);
    }
    return 0;
}

static void take_carried(struct decoder *d, const struct carried *c)
{
    struct still_open s = {.since = c->since, .at = d->window.from};
    struct op op = {.time = c->since,
                    .thread = thread_set_index(d->threads, c->thread),
                    .object = c->object,
                    .other = thread_set_index(d->threads, c->other),
                    .stack = c->stack.v,
                    .action = c->how == CARRIED_WAIT ? OP_OPEN : OP_FOUND,
                    .state = c->state,
                    .flags = c->flags};
    uint32_t notifier = thread_set_index(d->threads, c->notifier);
    if (notifier) {
        d->threads->v[op.thread].notifier = notifier;
        d->threads->v[op.thread].notified = c->notified;
    }
    if (c->how != CARRIED_TO_END)
        buf_put(&d->found, &op, sizeof op);
    else
        s.at = d->window.to;
    s.op = in_window(d, op);
    s.op.action = OP_OPEN;
    if (c->how == CARRIED_PARK || c->how == CARRIED_TO_END)
        buf_put(&d->still_open, &s, sizeof s);
}

/* Takes over the state before this part of a recording. */
static int take_carry(struct decoder *d)
{
    const struct carry *c = d->carry;
    const struct carried *v = (const void *)c->waits.p;
    const thread_id *alive = (const void *)c->alive.p, *gone = (const void *)c->gone.p;
    for (size_t i = 0; i < c->alive.len / sizeof *alive; i++)
        d->threads->v[thread_set_index(d->threads, alive[i])].named = true;
    for (size_t i = 0; i < c->gone.len / sizeof *gone; i++)
        d->threads->v[thread_set_index(d->threads, gone[i])].gone = true;
    for (size_t i = 0; i < c->waits.len / sizeof *v; i++)
        take_carried(d, &v[i]);
    return note_found(d);
}

/* The waits in which threads were found: they stand at the beginning of one stream, and every
 * thread's own events come behind them. */
static int read_found(struct decoder *d, struct err *err)
{
    size_t stream = first_stream(d->t), from;
    struct trace_iter *it;
    struct event e;
    struct op op;
    int rc;
    if (d->carry)
        return take_carry(d) < 0 ? err_set(err, -ENOMEM, "out of memory") : 0;
    if (stream == d->t->n_streams)
        return 0;
    TRY(trace_iter_open_stream(&it, d->t, stream, err));
    while ((rc = trace_iter_next(it, &e, &from, err)) > 0 && is_beginning(e.kind)) {
        if (e.kind != EV_wait_found || !op_make_found(&e, &op))
            continue;
        op.thread = thread_set_index(d->threads, e.thread);
        op.other = thread_set_index(d->threads, (thread_id){op.other});
        buf_put(&d->found, &op, sizeof op);
    }
    trace_iter_close(it);
    TRY(rc);
    return note_found(d) < 0 ? err_set(err, -ENOMEM, "out of memory") : 0;
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
    if (x->since != y->since)
        return x->since < y->since ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static bool is_of_one_wait(const struct still_open *x, const struct still_open *y)
{
    return x->op.thread == y->op.thread && x->since == y->since && x->op.state == y->op.state;
}

static void tell_as(struct still_open *to, const struct still_open *from)
{
    if (!is_of_one_wait(to, from) || to->op.stack || to->op.object)
        return;
    to->op.object = from->op.object;
    to->op.other = from->op.other;
    to->op.stack = from->op.stack;
}

/* The purpose of a park that was only timed is known to the event that asks the JVM, and then to
 * all events about this park. */
static void share_told(struct still_open *v, size_t n)
{
    for (size_t i = 1; i < n; i++)
        tell_as(&v[i], &v[i - 1]);
    for (size_t i = n; i-- > 1;)
        tell_as(&v[i - 1], &v[i]);
}

/* The waits that the recorder says were open, from the first one of `thread`: *n of them. */
static const struct still_open *still_open_of(const struct decoder *d, uint32_t thread, size_t *n)
{
    const struct still_open *v = (const void *)d->still_open.p;
    size_t first = 0, all = d->still_open.len / sizeof *v;
    BISECT(first, all, v[first].op.thread < thread);
    size_t end = first;
    while (end < all && v[end].op.thread == thread)
        end++;
    *n = end - first;
    return *n ? v + first : NULL;
}

/* No event reports the end of a park that was found: what ends it came after the thread was
 * reported to go on. */
static bool is_over(const struct decoder *d, const struct still_open *s)
{
    uint64_t woken = d->woken ? d->woken[s->op.thread] : 0;
    if (s->op.state != STATE_PARKED || !woken)
        return false;
    return woken != UINT64_MAX && woken > s->at;
}

/* Keeps the thread's state at the end, for an analysis of the part that follows. */
static void carry_on(struct decoder *d, const struct track *tr)
{
    uint64_t woken = d->woken ? d->woken[tr->thread] : 0;
    for (unsigned i = 0; i < tr->depth && !tr->ended; i++) {
        const struct track_wait *w = &tr->wait[i];
        struct carried c = {.thread = d->threads->v[tr->thread].id,
                            .other = d->threads->v[w->other].id,
                            .object = w->object,
                            .stack = {w->stack},
                            .since = true_start(d, tr->thread, w->state, w->start),
                            .state = w->state,
                            .flags = w->flags,
                            .how = w->found ? CARRIED_FOUND : CARRIED_WAIT};
        if (woken && w->state == STATE_PARKED && w->start == d->threads->v[tr->thread].found) {
            if (woken != UINT64_MAX)
                return; /* it has gone on, and nothing tells where to */
            c.how = w->found ? CARRIED_FOUND : CARRIED_PARK;
        }
        buf_put(&d->out->carried, &c, sizeof c);
    }
}

static void finish_track(struct decoder *d, struct track *tr, const struct track_env *env)
{
    size_t n;
    const struct still_open *s = still_open_of(d, tr->thread, &n);
    bool parked = d->woken && d->woken[tr->thread];
    for (size_t i = 0; i < n; i++)
        if (!is_over(d, &s[i]) && summed_last(&d->out->summed, tr->thread) < s[i].at &&
            !(parked && d->missing && i == 0 && n == 1))
            track_still_open(tr, &s[i].op, s[i].at, env);
    carry_on(d, tr);
    track_finish(tr, d->window.to, env);
    d->threads->v[tr->thread].incomplete |= tr->incomplete;
}

/* Begins the tracks of threads that were found in a wait and have no events.  Missing parts of the
 * trace may have been theirs. */
static int begin_found_tracks(struct decoder *d)
{
    const struct op *f = (const void *)d->found.p;
    uint64_t known = 0;
    for (size_t i = 0; i < d->holes.n; i++)
        known = known ? min_u64(known, d->holes.v[i].from) : d->holes.v[i].from;
    for (size_t i = 0; i < d->found.len / sizeof *f; i++) {
        if (is_roaming(d, f[i].thread) || has_track(d, f[i].thread))
            continue;
        struct track *tr = track_of(d, f[i].thread);
        if (!tr)
            return -ENOMEM;
        tr->known = known;
    }
    return 0;
}

static int finish_tracks(struct decoder *d)
{
    struct gaps none = {0}; /* each stream's were dealt with at its end */
    const struct track_env env = {&d->iv, &none, &d->out->unknown, d->ends_first};
    const struct still_open *s = (const void *)d->still_open.p;
    for (size_t i = 0; i < d->still_open.len / sizeof *s; i++)
        if (!is_roaming(d, s[i].op.thread) && !track_of(d, s[i].op.thread))
            return -ENOMEM;
    TRY(begin_found_tracks(d));
    for (size_t i = 0; i < d->tracks.len / sizeof(struct track *); i++)
        if (track_slots(d)[i])
            finish_track(d, track_slots(d)[i], &env);
    return 0;
}

static int finish_roaming(struct decoder *d, struct err *err)
{
    const struct track_env env = {&d->iv, &d->roaming.gaps, &d->out->unknown, d->ends_first};
    TRY(roaming_sort(&d->roaming, d->threads->n, err));
    for (uint32_t i = 1; i < d->threads->n; i++) {
        struct track tr;
        if (!roaming_replay(&d->roaming, i, &tr, &env))
            continue;
        tr.known = d->holes.tail;
        finish_track(d, &tr, &env);
    }
    return 0;
}

/* Finishes threads without an event of a wait.  Missing events of unknown threads may have been
 * theirs. */
static void finish_others(struct decoder *d)
{
    const struct unwritten *u = (const void *)d->out->unwritten.p;
    uint64_t from = UINT64_MAX, to = 0;
    for (size_t i = 0; i < d->out->unwritten.len / sizeof *u; i++)
        if (u[i].lost) {
            from = min_u64(from, u[i].first_lost);
            to = max_u64(to, u[i].to);
        }
    for (uint32_t i = 1; (d->holes.tail || from < to) && i < d->threads->n; i++) {
        if (has_track(d, i))
            continue;
        if (d->holes.tail)
            unknowns_add(&d->out->unknown, i, d->holes.tail, d->window.to);
        if (from < to)
            unknowns_add(&d->out->unknown, i, from, to);
    }
}

/* Sink: what was open at the end, with the true beginning where the recorder reported it. */
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
        w.since = true_start(d, w.thread, w.state, w.since);
        for (size_t k = 0; k < told; k++)
            if (s[k].op.state == w.state && s[k].op.time == v[i].start)
                w.since = s[k].since;
        buf_put(&d->out->open, &w, sizeof w);
    }
    return 0;
}

/* The disk was full until the end, which is_unfinished has a hole for (holes.c). */
static void note_stopped(struct decoder *d)
{
    const struct file_header *h = &d->t->header;
    const struct unwritten u = {.from = h->unwritten_since,
                                .to = max_u64(d->window.to, h->unwritten_since),
                                .lost = h->unwritten_events,
                                .first_lost = h->unwritten_since};
    if (h->state == TRACE_STOPPED && h->unwritten_since)
        buf_put(&d->out->unwritten, &u, sizeof u);
}

static int run(struct decoder *d, struct err *err)
{
    TRY(begin_streams(d, err));
    TRY(read_found(d, err));
    int rc = decode_blocks(d, err);
    bool found = holes_find(&d->holes, d->t, &d->out->unwritten) == 0;
    for (size_t i = 0; i < d->t->n_streams; i++)
        end_stream(d, &d->streams[i]);
    holes_in_all(&d->holes, &d->roaming.gaps);
    TRY(rc);
    note_stopped(d);
    for (size_t i = 0; i < d->holes.n; i++)
        d->missing |= d->holes.v[i].to != UINT64_MAX;
    for (int i = 0; i < LOSS_LIMIT; i++)
        d->missing |= d->out->lost[i] != 0;
    if (d->still_open.len)
        qsort(d->still_open.p, d->still_open.len / sizeof(struct still_open),
              sizeof(struct still_open), by_thread_and_time);
    share_told((void *)d->still_open.p, d->still_open.len / sizeof(struct still_open));
    summed_sort(&d->out->summed);
    rc = found ? finish_tracks(d) : -ENOMEM;
    if (rc == 0)
        TRY(finish_roaming(d, err));
    finish_others(d);
    pins_sort(&d->out->pins);
    intervals_flush(&d->iv);
    rc = rc ? rc : d->iv.rc;
    rc = rc ? rc : summed_put(&d->out->summed, d->timeline, d->window.from, d->window.to);
    for (int i = 0; i < EV_LIMIT; i++)
        d->out->events += d->out->kinds[i];
    if (d->out->pauses.oom || d->out->cycles.oom || d->out->safepoints.oom || d->out->open.oom ||
        d->out->asked.oom || d->out->io.oom || d->out->reads.oom || d->out->pins.v.oom ||
        d->out->unwritten.oom || d->out->carried.oom || d->still_open.oom || d->found.oom ||
        d->roaming.gaps.v.oom || d->out->unknown.v.oom)
        rc = -ENOMEM;
    rc = rc ? rc : d->iv.rc;
    return rc ? err_set(err, rc, "out of memory") : 0;
}

struct collection_source decoded_collections(const struct decoded *d, const struct trace *t)
{
    return (struct collection_source){.trace = t,
                                      .pauses = (const void *)d->pauses.p,
                                      .n_pauses = d->pauses.len / sizeof(struct pause),
                                      .cycles = (const void *)d->cycles.p,
                                      .n_cycles = d->cycles.len / sizeof(struct cycle)};
}

int decode_trace(struct decoded *out, struct trace *t, const struct decode_target *to,
                 const struct decode_window *window, struct err *err)
{
    memset(out, 0, sizeof *out);
    struct decoder *d = calloc(1, sizeof *d);
    if (!d)
        return err_set(err, -ENOMEM, "out of memory");
    const struct interval_sink sinks[] = {{timeline_take, to->timeline}, {take_open, d}};
    *d = (struct decoder){.t = t,
                          .threads = to->threads,
                          .timeline = to->timeline,
                          .samples = to->samples,
                          .processors = to->processors,
                          .allocs = to->allocs,
                          .out = out,
                          .watch = to->watch,
                          .carry = to->carry,
                          .window = *window,
                          .attached = *trace_info(t, "orca.attached", "") != 0,
                          .ends_first =
                              atoi(trace_info(t, "java.vm.version", "")) >= ENDS_FIRST_SINCE,
                          .out_of_order = t->n_streams > 1 && *trace_info(t, "import.format", "")};
    intervals_init(&d->iv, (struct interval_sinks){sinks, ARRAY_LEN(sinks)});
    arena_init(&d->arena, 0);
    map_init(&d->open_calls);
    int rc = run(d, err);
    const struct collection_source gc = decoded_collections(out, t);
    if (rc == 0 &&
        (timeline_finish(to->timeline, to->threads) < 0 || samples_finish(to->samples) < 0 ||
         processors_finish(to->processors, to->threads) < 0 || allocs_finish(to->allocs, &gc) < 0))
        rc = err_set(err, -ENOMEM, "out of memory");
    arena_fini(&d->arena);
    buf_fini(&d->tracks);
    buf_fini(&d->still_open);
    buf_fini(&d->found);
    free(d->woken);
    roaming_fini(&d->roaming);
    holes_fini(&d->holes);
    map_fini(&d->open_calls);
    free(d);
    return rc;
}
