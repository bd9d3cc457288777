#include "analyze/path.h"

#include "analyze/bottle.h"
#include "analyze/purpose.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

static const char *const limits[] = {
    "Where short waits were summed, their order is unknown: the path stays with the thread that "
    "waits and does not follow the thread that ended the wait.",
    "There can be other paths: where several causes could have ended a wait, the last waker "
    "counts.",
    "Running means outside of recorded waits, input and output; spinning for a monitor counts as "
    "running, and so does waiting for a processor, unless --time recorded it.",
    "Release times of monitors are inferred from the next owner. A thread that took the monitor in "
    "between without waiting is not seen: the path then goes to the last owner seen (-e holds "
    "makes both exact).",
    "A lock's share of the path is not what its removal would save: another chain takes over.",
    NULL};

const char *const *path_limits(bool summed)
{
    return summed ? limits : limits + 1;
}

const char *path_kind_name(enum path_kind k)
{
    static const char *const names[PATH_KINDS] = {"run",     "handoff", "timed", "wait",    "gc",
                                                  "unknown", "io",      "ready", "stopped", "off"};
    return names[k];
}

struct walker {
    const struct path_source *src;
    const struct timeline *tl;
    struct buf out;  /* struct path_segment [], backwards */
    uint32_t thread; /* where the path is */
    uint64_t time;   /* up to where it is not reported yet */
    uint64_t floor;  /* where it ends at the latest */
    uint32_t still;  /* steps since the time went back */
    bool seen;       /* it came to the thread as to the last owner seen */
    uint32_t handoffs, handoffs_seen;
    bool ended;         /* at a start whose caller is unknown */
    stack_id stack;     /* where the thread is at `time`; 0: unknown */
    lock_id held;       /* what it holds until `time`, 0: nothing that matters, */
    uint64_t held_from; /* since then at least */
};

static const struct line no_line;

static const struct line *line_at(const struct walker *w, uint32_t thread)
{
    return thread < w->tl->n_lines ? &w->tl->lines[thread] : &no_line;
}

static void put(struct walker *w, uint64_t from, struct path_segment s)
{
    if (from >= w->time)
        return;
    s.from = from;
    s.to = w->time;
    s.thread = w->thread;
    s.seen = w->seen;
    buf_put(&w->out, &s, sizeof s);
    w->time = from;
    w->still = 0;
}

static void put_run(struct walker *w, uint64_t from)
{
    struct path_segment s = {.kind = PATH_RUN, .state = STATE_LIMIT, .stack = w->stack};
    if (w->held.v && w->held_from < w->time) {
        s.lock = w->held;
        put(w, max_u64(w->held_from, from), s);
        s.lock = (lock_id){0};
        s.stack = (stack_id){0};
    }
    put(w, from, s);
}

static void put_wait(struct walker *w, uint64_t from, enum path_kind kind, const struct context *x,
                     uint8_t state)
{
    put(w, max_u64(from, w->floor),
        (struct path_segment){
            .kind = (uint8_t)kind, .state = state, .lock = x->lock, .stack = x->stack});
}

/* Go on in another thread at the present time. */
static void jump(struct walker *w, uint32_t thread, stack_id stack)
{
    w->thread = thread;
    w->stack = stack;
    w->held = (lock_id){0};
    w->seen = false;
    w->still++;
}

/* 1 + the index of the last one of a line's first n spans that has a length; 0: none. */
static uint32_t last_span(const struct timeline *t, const struct line *l, uint32_t n)
{
    while (n && span_len(t, line_span(l, n - 1)) == 0)
        n--;
    return n;
}

/* Since when a thread had the lock or permit that it released at `time` by this cause: when it last
 * got it; `time` if unknown. */
static uint64_t owned_since(const struct walker *w, uint32_t thread, uint32_t cause, lock_id lock,
                            uint64_t time)
{
    enum { LOOK_BACK = 16 };
    const struct line *l = line_at(w, thread);
    uint32_t n = line_spans_until(l, time);
    bool held = cause_type(cause) == CAUSE_HOLD;
    uint64_t taken = held ? line_hold(l, cause_index(cause))->start : 0;
    for (uint32_t i = n; i && i + LOOK_BACK > n; i--) {
        const struct span *s = line_span(l, i - 1);
        const struct context *x = timeline_context(w->tl, s->context);
        uint64_t end = span_end(w->tl, s);
        if (x->lock.v == lock.v && end <= time &&
            (x->what == STATE_WAITING || purposes_held_up(w->src->purposes, s->context, x->what)))
            return max_u64(end, taken);
    }
    return held ? taken : time;
}

/* When the wait or recorded halt began in which a span's waker was at a time; the time itself: the
 * waker ran. */
static uint64_t stood_since(const struct timeline *t, const struct stills *halts,
                            const struct span *by, uint64_t time)
{
    const struct line *l = by->waker < t->n_lines ? &t->lines[by->waker] : &no_line;
    const struct still_line *h = stills_of(halts, by->waker);
    uint32_t near = time ? line_spans_near(l, time - 1, cause_index(by->cause)) : 0;
    uint32_t n = last_span(t, l, near), i = still_first(h, time);
    const struct span *s = n ? line_span(l, n - 1) : NULL;
    if (s && span_end(t, s) > time && !span_is_unknown(t, s))
        return s->start;
    return i < h->n && !h->v[i].looks ? min_u64(h->v[i].from, time) : time;
}

uint64_t path_released_at(const struct timeline *t, const struct thread_set *threads,
                          const struct stills *halts, const struct span *by, uint64_t since,
                          uint64_t time)
{
    time = stood_since(t, halts, by, min_u64(time, threads->v[by->waker].to));
    return time > since ? time : 0;
}

/* Continue in the thread that ended the wait, or will end it, by its act at `at`.  False: the
 * thread had not started yet. */
static bool go_on_in(struct walker *w, const struct span *by, uint64_t at, uint8_t state)
{
    const struct context *x = timeline_context(w->tl, by->context);
    bool done = at <= w->time;
    if (w->src->threads->v[by->waker].from > min_u64(at, w->time))
        return false;
    if (done)
        put_wait(w, at, PATH_HANDOFF, x, state);
    jump(w, by->waker,
         done && cause_type(by->cause) != CAUSE_NONE ? span_wake_stack(w->tl, by) : (stack_id){0});
    return true;
}

/* The thread that the path has come to held what the wait s is for since `since`, or got it later,
 * and gives it back at `at`. */
static void hold_since(struct walker *w, const struct span *s, const struct regain *owner,
                       uint64_t since, uint64_t at)
{
    const struct context *x = timeline_context(w->tl, s->context);
    w->held = x->lock;
    w->held_from = since; /* it was seen to own it then */
    if (x->other != owner->owner)
        w->held_from = max_u64(since, owned_since(w, owner->owner, owner->cause, x->lock, at));
}

/* The wait s, in which the thread waited for the monitor from `since` on, ends because the owner
 * releases it.  False: this is impossible. */
static bool follow_owner(struct walker *w, const struct span *s, const struct regain *owner,
                         uint64_t since, uint8_t state)
{
    struct span by = *s;
    by.waker = owner->owner;
    by.cause = owner->cause;
    bool exact = cause_type(by.cause) != CAUSE_NONE;
    uint64_t end = span_end(w->tl, s);
    uint64_t at = exact ? span_wake_time(w->tl, &by)
                        : path_released_at(w->tl, w->src->threads, w->src->halts, &by, since, end);
    if (at <= since || at > end || !go_on_in(w, &by, at, state))
        return false;
    w->seen = span_waker_is_seen(&by);
    w->handoffs++;
    w->handoffs_seen += w->seen;
    hold_since(w, s, owner, since, min_u64(at, w->time));
    return true;
}

/* Whether the resource of a span has a holder that gives it back. */
static bool has_holder(const struct walker *w, const struct span *s)
{
    enum purpose p = w->src->purposes->of_context[s->context];
    bool notified =
        timeline_context(w->tl, s->context)->what == STATE_WAITING; /* not the monitor */
    return !notified && (p == PURPOSE_LOCK || p == PURPOSE_PERMIT);
}

/* The thread was in this wait, which another thread ended or will end, up to the current time.
 * False: this is impossible. */
static bool follow_waker(struct walker *w, const struct span *s, uint32_t index)
{
    const struct context *x = timeline_context(w->tl, s->context);
    const struct regain by = {.owner = s->waker, .cause = s->cause};
    uint64_t wake = span_wake_time(w->tl, s), until = span_waited_until(w->tl, s);
    if (x->what == STATE_BLOCKED || x->what == STATE_REACQUIRING)
        return follow_owner(w, s, &by, s->start, x->what);
    if (until < w->time) { /* notified: then it waited for the monitor */
        const struct regain *r = line_regain(line_at(w, w->thread), index);
        return (r && follow_owner(w, s, r, until, STATE_REACQUIRING)) ||
               go_on_in(w, s, wake, STATE_REACQUIRING);
    }
    if (wake > s->start) {
        if (!go_on_in(w, s, wake, x->what))
            return false;
        if (has_holder(w, s))
            hold_since(w, s, &by, s->start, min_u64(wake, w->time));
        return true;
    }
    put_wait(w, s->start, PATH_HANDOFF, x, x->what); /* it had no need to wait */
    return true;
}

/* The thread was in this wait up to the present time. */
static void go_through_wait(struct walker *w, const struct span *s, uint32_t index)
{
    const struct context *x = timeline_context(w->tl, s->context);
    bool over = w->time == span_end(w->tl, s) && !(x->flags & INTERVAL_OPEN);
    w->stack = x->stack;
    w->held = (lock_id){0};
    if (x->what == STATE_UNKNOWN) {
        put_wait(w, s->start, PATH_UNKNOWN, x, x->what);
        return;
    }
    /* not in circles, and not by waits that are known only as a sum */
    if (s->waker && !span_is_summed(w->tl, s) && w->still <= w->src->threads->n &&
        follow_waker(w, s, index))
        return;
    bool timed = x->what == STATE_SLEEPING || x->flags & INTERVAL_TIMED_OUT ||
                 (over && timeline_timed_out(w->tl, s));
    put_wait(w, s->start, timed ? PATH_TIMED : PATH_WAIT, x, x->what);
}

/* The thread began to live at the present time. */
static void go_to_starter(struct walker *w)
{
    const struct line *l = line_at(w, w->thread);
    const struct act *a = timeline_start(w->tl, w->thread);
    if (!a || a->time > w->time || w->still > w->src->threads->n) {
        w->ended = true;
        return;
    }
    uint32_t starter = l->starter;
    put(w, max_u64(a->time, w->floor),
        (struct path_segment){.kind = PATH_HANDOFF, .state = STATE_LIMIT});
    jump(w, starter, timeline_context(w->tl, a->context)->stack);
}

static void step(struct walker *w)
{
    const struct line *l = line_at(w, w->thread);
    uint64_t born = w->src->threads->v[w->thread].from;
    uint32_t n = last_span(w->tl, l, w->time ? line_spans_until(l, w->time - 1) : 0);
    const struct span *s = n ? line_span(l, n - 1) : NULL;
    uint64_t end = s ? span_end(w->tl, s) : 0;
    if (s && end >= w->time) {
        go_through_wait(w, s, n - 1);
    } else if (s && end > w->floor) {
        put_run(w, end);
    } else if (born > w->floor && born < w->time) {
        put_run(w, born);
    } else if (born > w->floor) {
        go_to_starter(w);
    } else {
        put_run(w, w->floor);
    }
}

/* --- what runs are made of -------------------------------------------------------------------- */

/* Put the part of a run up to `from`, and the one up to `to` as another kind; the rest is left. */
static void cut(struct buf *out, struct path_segment *run, uint64_t from, uint64_t to,
                enum path_kind kind, struct still at)
{
    struct path_segment part = *run;
    from = max_u64(from, run->from);
    to = min_u64(to, run->to);
    if (from >= to)
        return;
    part.to = from;
    if (part.from < part.to)
        buf_put(out, &part, sizeof part);
    part.from = from;
    part.to = to;
    part.kind = (uint8_t)kind;
    part.stack = at.stack;
    part.peer = at.peer;
    buf_put(out, &part, sizeof part);
    run->from = to;
}

/* A run without pauses. */
static void put_halts(const struct path_source *src, struct path_segment run, struct buf *out)
{
    static const enum path_kind kinds[HALTED_KINDS] = {PATH_IO, PATH_READY, PATH_STOPPED, PATH_OFF};
    const struct still_line *l = stills_of(src->halts, run.thread);
    for (uint32_t i = still_first(l, run.from); i < l->n && l->v[i].from < run.to; i++) {
        enum path_kind kind = kinds[halt_of(&l->v[i])];
        struct still at = l->v[i];
        if (kind != PATH_IO)
            at.stack = run.stack;
        cut(out, &run, at.from, at.to, kind, at);
    }
    if (run.from < run.to)
        buf_put(out, &run, sizeof run);
}

struct handed {
    struct buf *out;
    struct path_segment left;
};

static void put_ready(void *ctx, const struct cpu_tile *t)
{
    struct handed *h = ctx;
    if (t->kind == CPU_READY)
        cut(h->out, &h->left, t->from, t->to, PATH_READY, (struct still){.stack = h->left.stack});
}

/* Between what woke a thread and its going on. */
static void put_handoff(const struct path_source *src, struct path_segment s, struct buf *out)
{
    struct handed h = {out, s};
    if (src->processors && src->processors->n_turns)
        processors_tile(src->processors, src->timeline, s.thread, s.from, s.to, put_ready, &h);
    if (h.left.from < h.left.to)
        buf_put(out, &h.left, sizeof h.left);
}

/* The segments of the walk, earliest first; pauses and input or output are cut out of the runs. */
static int finish(struct walker *w, struct path *out)
{
    const struct path_source *src = w->src;
    const struct path_segment *v = (const void *)w->out.p;
    size_t n = w->out.len / sizeof *v, pause = 0;
    struct buf all = {0};
    for (size_t i = n; i-- > 0;) {
        struct path_segment s = v[i];
        while (pause < src->n_pauses && src->pauses[pause].end <= s.from)
            pause++;
        for (size_t k = pause; s.kind == PATH_RUN && k < src->n_pauses; k++) {
            struct path_segment run = s;
            uint64_t from = max_u64(src->pauses[k].start, s.from);
            if (from >= s.to)
                break;
            run.to = from;
            put_halts(src, run, &all);
            s.from = from;
            cut(&all, &s, from, src->pauses[k].end, PATH_GC, (struct still){.stack = s.stack});
        }
        if (s.kind == PATH_RUN)
            put_halts(src, s, &all);
        else if (s.kind == PATH_HANDOFF)
            put_handoff(src, s, &all);
        else if (s.from < s.to)
            buf_put(&all, &s, sizeof s);
    }
    if (all.oom) {
        buf_fini(&all);
        return -ENOMEM;
    }
    out->v = (void *)all.p;
    out->n = all.len / sizeof *v;
    for (size_t i = 0; i < out->n; i++)
        out->kind_ns[out->v[i].kind] += out->v[i].to - out->v[i].from;
    for (size_t i = 0; i < out->n; i++)
        out->seen_ns += out->v[i].seen ? out->v[i].to - out->v[i].from : 0;
    out->handoffs = w->handoffs;
    out->handoffs_seen = w->handoffs_seen;
    return 0;
}

int path_walk(struct path *out, const struct path_source *src, uint32_t thread, uint64_t to,
              uint64_t from)
{
    struct walker w = {.src = src,
                       .tl = src->timeline,
                       .thread = thread,
                       .time = max_u64(to, from),
                       .floor = from};
    memset(out, 0, sizeof *out);
    out->to = w.time;
    out->thread = thread;
    while (w.time > w.floor && !w.ended && !w.out.oom)
        step(&w);
    out->from = w.time;
    int rc = w.out.oom ? -ENOMEM : finish(&w, out);
    buf_fini(&w.out);
    return rc;
}

void path_fini(struct path *p)
{
    free(p->v);
    memset(p, 0, sizeof *p);
}

uint32_t path_last_thread(const struct trace *t, const struct thread_set *threads)
{
    uint32_t last = 0;
    for (uint32_t i = 1; i < threads->n; i++) {
        const struct thread_stats *s = &threads->v[i];
        if (!bottle_counts(t, s) || !s->defined || s->gone ||
            trace_thread(t, s->id)->flags & (THREAD_DAEMON | THREAD_VIRTUAL))
            continue;
        if (!s->has_ended)
            return 0;
        if (!last || s->ended > threads->v[last].ended)
            last = i;
    }
    return last;
}
