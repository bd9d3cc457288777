/* perfetto.c - a trace for Perfetto's viewer and its SQL: PREFIX.perfetto-trace
 * (docs/reference/export-formats.md).
 *
 *     process
 *       threads     a track each: its waits as slices, its acts and awakenings as moments
 *       Locks       a track for each lock that threads queued for, and how many they were
 *       GC pauses
 *
 * Everything is written in one sweep over the recording (analyze/sweep.h).  An arrow goes from the
 * act that ended a wait to a moment of its own at the wait's end: a viewer draws arrows to where a
 * slice begins, and that of the wait itself is before the act. */
#include "analyze/sweep.h"
#include "base/util.h"
#include "export/perfetto_parts.h"
#include "export/perfetto_turns.h"
#include "export/wait_sums.h"

#include <stdlib.h>
#include <string.h>

enum { NO_STATE = 0xff };

static void put_lock_args(struct perfetto *f, lock_id lock)
{
    if (!lock.v)
        return;
    packets_arg_text(&f->p, ARG_lock_class, TEXT_CLASS, lock_set_group(&f->a->locks, lock));
    packets_arg_number(&f->p, ARG_lock, lock.v);
}

/* --- locks ------------------------------------------------------------------------------------ */

/* The queue that a wait stands in; NULL: in none. */
static struct lock_queue *queue_of(const struct perfetto *f, const struct wait *w)
{
    lock_id lock = w->context->lock;
    return wait_is_held_up(&f->waits, w) && lock.v && lock.v < f->a->trace->n_locks
               ? &f->queue[lock.v]
               : NULL;
}

static void put_length(struct perfetto *f, lock_id lock, uint64_t time)
{
    packets_event(&f->p, EVENT_COUNTER, packets_track_id(&f->p, TRACK_QUEUE, lock.v), time);
    packets_counter(&f->p, f->queue[lock.v].now);
    packets_end(&f->p);
}

static void join_queue(struct perfetto *f, const struct wait *w)
{
    struct lock_queue *q = queue_of(f, w);
    lock_id lock = w->context->lock;
    if (!q)
        return;
    if (!q->has_track)
        perfetto_put_lock(f, lock);
    q->has_track = true;
    if (q->now == 0) {
        q->longest = q->waits = 0;
        packets_event(&f->p, EVENT_BEGIN, packets_track_id(&f->p, TRACK_LOCK, lock.v), w->start);
        packets_category(&f->p, CATEGORY_LOCK);
        packets_name(&f->p, TEXT_WORD, WORD_CONTENDED);
        put_lock_args(f, lock);
        packets_end(&f->p);
    }
    q->now++;
    q->waits++;
    q->longest = (uint32_t)max_u64(q->longest, q->now);
    put_length(f, lock, w->start);
}

static void leave_queue(struct perfetto *f, const struct wait *w)
{
    struct lock_queue *q = queue_of(f, w);
    lock_id lock = w->context->lock;
    if (!q)
        return;
    INVARIANT(q->now > 0);
    q->now--;
    put_length(f, lock, w->end);
    if (q->now)
        return;
    packets_event(&f->p, EVENT_END, packets_track_id(&f->p, TRACK_LOCK, lock.v), w->end);
    packets_arg_number(&f->p, ARG_waits, q->waits);
    packets_arg_number(&f->p, ARG_longest_queue, q->longest);
    packets_end(&f->p);
}

/* --- waits ------------------------------------------------------------------------------------ */

static uint64_t thread_track(const struct perfetto *f, uint32_t thread)
{
    return packets_track_id(&f->p, TRACK_THREAD, thread);
}

/* The thread that ended a wait, or owned the monitor last as far as was seen: which is never a
 * `waker`. */
static void put_waker(struct perfetto *f, uint32_t waker, enum interaction kind)
{
    enum packet_arg arg = kind == INTERACTION_LAST_OWNER ? ARG_last_owner_seen : ARG_waker;
    packets_arg_text(&f->p, arg, TEXT_THREAD, waker);
}

static void put_cause(struct perfetto *f, uint32_t thread, const struct wait *w)
{
    enum interaction kind = span_interaction(&f->a->timeline, thread, w->span);
    if (!w->span->waker || w->second)
        return;
    put_waker(f, w->span->waker, kind);
    packets_arg_text(&f->p, ARG_ended_by, TEXT_INTERACTION, kind);
}

static bool is_split(const struct perfetto *f, const struct span *s)
{
    return span_waited_until(&f->a->timeline, s) < span_end(&f->a->timeline, s);
}

static void put_flags(struct perfetto *f, const struct wait *w)
{
    unsigned flags = w->context->flags;
    if (w->state == STATE_PARKED && wait_is_held_up(&f->waits, w))
        packets_arg_true(&f->p, ARG_held_up);
    if (flags & INTERVAL_OPEN && (w->second || !is_split(f, w->span)))
        packets_arg_true(&f->p, ARG_open);
    if (span_is_summed(&f->a->timeline, w->span)) /* 0: a further part of the one before */
        packets_arg_number(&f->p, ARG_waits, span_count(&f->a->timeline, w->span));
    if (wait_timed_out(&f->a->timeline, w))
        packets_arg_true(&f->p, ARG_timed_out);
    if (flags & INTERVAL_INTERRUPTED)
        packets_arg_true(&f->p, ARG_interrupted);
    if (flags & INTERVAL_UNKNOWN)
        packets_arg_true(&f->p, ARG_unknown);
}

static void put_stack(struct perfetto *f, enum packet_arg arg, stack_id stack)
{
    const struct trace_stack *s = trace_stack(f->a->trace, stack);
    if (s->n_frames)
        packets_arg_text(&f->p, arg, TEXT_STACK, s->id.v);
}

static void put_args(struct perfetto *f, uint32_t thread, const struct wait *w)
{
    const struct context *x = w->context;
    put_lock_args(f, x->lock);
    if (w->owner)
        packets_arg_text(&f->p, w->state == STATE_JOINING ? ARG_joins : ARG_owner, TEXT_THREAD,
                         w->owner);
    put_stack(f, ARG_stack, x->stack);
    put_stack(f, ARG_owner_stack, wait_owner_stack(&f->a->timeline, w));
    put_cause(f, thread, w);
    put_flags(f, w);
}

static void begin_wait(struct perfetto *f, uint32_t thread, const struct wait *w)
{
    bool unknown = wait_is_unknown(w);
    packets_event(&f->p, unknown ? EVENT_INSTANT : EVENT_BEGIN, thread_track(f, thread), w->start);
    packets_category(&f->p, w->state);
    packets_name(&f->p, TEXT_WAIT,
                 lock_set_group(&f->a->locks, w->context->lock) * STATE_LIMIT + w->state);
    put_args(f, thread, w);
    packets_end(&f->p);
    f->x->written++;
    if (unknown)
        return;
    f->state[thread] = w->state;
    f->n_open++;
    join_queue(f, w);
}

static void end_wait(struct perfetto *f, uint32_t thread, const struct wait *w)
{
    if (f->state[thread] != w->state)
        return;
    f->state[thread] = NO_STATE;
    f->n_open--;
    packets_event(&f->p, EVENT_END, thread_track(f, thread), w->end);
    packets_end(&f->p);
    leave_queue(f, w);
}

/* --- moments ---------------------------------------------------------------------------------- */

static bool is_shown(const struct perfetto *f, uint32_t thread, uint64_t time)
{
    const struct selection *s = &f->x->options.selection;
    return selection_has(s, thread) && time >= s->from && time < s->to;
}

/* What is worth a moment: whatever may end a wait, and lives; of the calls of java.util.concurrent
 * those that did. */
static bool is_shown_act(const struct act *a, const struct context *x)
{
    switch (x->what) {
    case EV_semaphore_acquire_enter:
    case EV_semaphore_acquire_exit:
    case EV_call_exit:
        return false;
    case EV_call:
    case EV_call_enter:
        return a->woken > 0;
    default:
        return true;
    }
}

static void put_act(struct perfetto *f, uint32_t thread, uint32_t index)
{
    const struct act *a = line_act(&f->a->timeline.lines[thread], index);
    const struct context *x = timeline_context(&f->a->timeline, a->context);
    if (!is_shown(f, thread, a->time) || !is_shown_act(a, x))
        return;
    packets_event(&f->p, EVENT_INSTANT, thread_track(f, thread), a->time);
    packets_category(&f->p, CATEGORY_ACT);
    packets_name(&f->p, TEXT_KIND, x->what);
    if (x->other)
        packets_arg_text(&f->p, ARG_target, TEXT_THREAD, x->other);
    put_lock_args(f, x->lock);
    put_stack(f, ARG_stack, x->stack);
    if (a->woken)
        packets_arg_number(&f->p, ARG_woken, a->woken);
    if (a->woken == 1)
        packets_flow(&f->p, packets_flow_of_act(&f->p, thread, index));
    packets_end(&f->p);
}

/* A moment from which an arrow starts where the act has none to give: no act is recorded (an owner
 * gave a lock back), or it woke several threads. */
static void put_origin(struct perfetto *f, uint32_t thread, const struct span *s, uint64_t time,
                       uint64_t flow)
{
    const struct timeline *t = &f->a->timeline;
    lock_id lock = timeline_context(t, s->context)->lock;
    packets_event(&f->p, EVENT_INSTANT, thread_track(f, s->waker), time);
    packets_category(&f->p, CATEGORY_ACT);
    packets_name(&f->p, TEXT_INTERACTION, span_interaction(t, thread, s));
    packets_arg_text(&f->p, ARG_target, TEXT_THREAD, thread);
    put_lock_args(f, lock);
    put_stack(f, ARG_stack, span_wake_stack(t, s));
    packets_flow(&f->p, flow);
    packets_end(&f->p);
}

/* A thread goes on because of `waker`; flow 0: the cause is not in the picture. */
static void put_wake(struct perfetto *f, uint32_t thread, uint64_t time, uint32_t waker,
                     enum interaction kind, uint64_t flow)
{
    packets_event(&f->p, EVENT_INSTANT, thread_track(f, thread), time);
    packets_category(&f->p, CATEGORY_WAKE);
    packets_name(&f->p, TEXT_INTERACTION, kind);
    put_waker(f, waker, kind);
    if (flow)
        packets_flow_end(&f->p, flow);
    packets_end(&f->p);
}

/* The arrow that starts at an act: if that is in the file, before the arrow's end, and has no other
 * one.  Else 0. */
static uint64_t flow_from_act(const struct perfetto *f, uint32_t thread, uint32_t index,
                              uint64_t end)
{
    const struct act *a = line_act(&f->a->timeline.lines[thread], index);
    if (!is_shown(f, thread, a->time) || a->time >= end || a->woken != 1)
        return 0;
    return packets_flow_of_act(&f->p, thread, index);
}

/* The end of a span that a thread ended, and the arrow to it. */
static void put_end(struct perfetto *f, uint32_t thread, uint32_t index)
{
    const struct timeline *t = &f->a->timeline;
    const struct span *s = line_span(&t->lines[thread], index);
    uint64_t end = span_end(t, s), flow = 0;
    if (!s->waker || !is_shown(f, thread, end))
        return;
    if (cause_type(s->cause) == CAUSE_ACT)
        flow = flow_from_act(f, s->waker, cause_index(s->cause), end);
    uint64_t time = min_u64(span_wake_time(t, s), end);
    if (!flow && is_shown(f, s->waker, time)) {
        flow = packets_flow_of_span(&f->p, thread, index);
        put_origin(f, thread, s, time, flow);
    }
    put_wake(f, thread, end, s->waker, span_interaction(t, thread, s), flow);
}

/* Beginnings that another thread caused: of a thread, of a task. */
static void put_beginning(struct perfetto *f, uint32_t thread, uint32_t index)
{
    const struct line *l = &f->a->timeline.lines[thread];
    const struct act *a = line_act(l, index);
    const struct handover *h = (const void *)f->a->bindings.handovers.p;
    size_t n = f->a->bindings.handovers.len / sizeof *h;
    bool shown = is_shown(f, thread, a->time);
    if (shown && l->starter &&
        timeline_context(&f->a->timeline, a->context)->what == EV_thread_start)
        put_wake(f, thread, a->time, l->starter, INTERACTION_STARTS_THREAD,
                 flow_from_act(f, l->starter, l->starter_act, a->time));
    if (f->next_handover == n || h[f->next_handover].to != thread ||
        h[f->next_handover].to_act != index)
        return;
    h += f->next_handover++;
    if (shown)
        put_wake(f, thread, a->time, h->from, INTERACTION_SUBMIT,
                 flow_from_act(f, h->from, h->from_act, a->time));
}

/* --- waits that turn into others -------------------------------------------------------------- */

static const struct span *span_at(const struct perfetto *f, uint32_t thread, uint32_t index)
{
    return line_span(&f->a->timeline.lines[thread], index);
}

static void turn(struct perfetto *f, struct turn at)
{
    struct wait w[2];
    unsigned n = waits_of(&f->waits, span_at(f, at.thread, at.span), w);
    for (unsigned i = 0; i < n; i++)
        if (w[i].second)
            begin_wait(f, at.thread, &w[i]);
        else
            end_wait(f, at.thread, &w[i]);
}

static void turn_until(struct perfetto *f, uint64_t time)
{
    struct turn at;
    while (turns_pop(&f->turns, time, &at))
        turn(f, at);
}

/* --- the sweep -------------------------------------------------------------------------------- */

static void begin_span(struct perfetto *f, uint32_t thread, uint32_t index)
{
    const struct timeline *t = &f->a->timeline;
    const struct span *s = span_at(f, thread, index);
    struct wait w[2];
    unsigned n = waits_of(&f->waits, s, w);
    for (unsigned i = 0; i < n; i++)
        if (w[i].second)
            turns_push(&f->turns, (struct turn){span_waited_until(t, s), thread, index});
        else
            begin_wait(f, thread, &w[i]);
    /* Where only the first of two parts is shown, it ends before the span does. */
    if (n == 1 && !w[0].second && is_split(f, s))
        turns_push(&f->turns, (struct turn){span_waited_until(t, s), thread, index});
}

static void end_span(struct perfetto *f, uint32_t thread, uint32_t index)
{
    struct wait w[2];
    unsigned n = waits_of(&f->waits, span_at(f, thread, index), w);
    if (!n)
        return;
    end_wait(f, thread, &w[n - 1]);
    put_end(f, thread, index);
}

static void take_item(struct perfetto *f, const struct sweep_item *i)
{
    bool selected = selection_has(&f->x->options.selection, i->thread);
    turn_until(f, i->time);
    switch (sweep_type(i)) {
    case SWEEP_BEGIN:
        if (selected)
            begin_span(f, i->thread, sweep_index(i));
        break;
    case SWEEP_END:
        if (selected)
            end_span(f, i->thread, sweep_index(i));
        break;
    case SWEEP_ACT:
        put_beginning(f, i->thread, sweep_index(i));
        put_act(f, i->thread, sweep_index(i));
        break;
    default:
        break;
    }
}

static void take(void *self, const struct sweep_item *v, size_t n)
{
    struct perfetto *f = self;
    f->done += n;
    if (!model_export_goes_on(f->x, f->done, f->total))
        return;
    for (size_t i = 0; i < n; i++)
        take_item(f, &v[i]);
}

/* --- the trace -------------------------------------------------------------------------------- */

static int prepare(struct perfetto *f)
{
    const struct timeline *t = &f->a->timeline;
    waits_init(&f->waits, f->a, &f->x->options.selection, f->x->options.states);
    TRY(packets_begin(&f->p, f->x));
    f->state = malloc(f->a->threads.n + 1);
    f->queue = calloc(f->a->trace->n_locks + 1, sizeof *f->queue);
    if (!f->state || !f->queue)
        return -ENOMEM;
    memset(f->state, NO_STATE, f->a->threads.n + 1);
    f->total = 2 * t->n_spans + t->n_acts + t->n_holds + 2 * f->a->threads.n;
    return 0;
}

static int put_all(struct perfetto *f, struct err *err)
{
    const struct sweep_sink sink = {take, f, 0};
    TRY(perfetto_put_tracks(f));
    TRY(sweep(&f->a->timeline, &f->a->threads, &sink, 1, err));
    TRY(packets_end_all(&f->p));
    INVARIANT((f->n_open == 0 && f->turns.len == 0) || f->x->out.rc < 0);
    return f->turns.oom ? -ENOMEM : 0;
}

static int write_trace(struct model_export *x, struct err *err)
{
    struct perfetto f = {.x = x, .a = x->a};
    int rc = prepare(&f);
    if (rc == 0)
        rc = put_all(&f, err);
    if (rc == -ENOMEM)
        err_set(err, rc, "%s: out of memory", x->a->trace->path);
    packets_fini(&f.p);
    free(f.state);
    free(f.queue);
    buf_fini(&f.turns);
    return rc;
}

const struct model_exporter model_exporter_perfetto = {
    .name = "perfetto",
    .suffix = ".perfetto-trace",
    .things = "wait",
    .takes = MODEL_TAKES_STATES,
    .states = WAITS_ALL,
    .write = write_trace,
};
