#include "base/util.h"
#include "checks.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

char check_name[64];

void check_eq(uint64_t got, uint64_t want, const char *file, int line, const char *format, ...)
{
    char text[400];
    va_list args;
    if (got == want)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    cr_assert_fail("%s:%d: %s\n  is %" PRIu64 ", must be %" PRIu64, file, line, text, got, want);
}

const char *check_span_text(const struct true_span *x)
{
    static char text[4][120];
    static int turn;
    char *out = text[turn++ % 4];
    snprintf(out, sizeof text[0], "%s %" PRIu64 "-%" PRIu64 " of thread %u, lock %u, wake %d",
             wait_state_name(x->state), x->start - BUILDER_START, x->end - BUILDER_START, x->thread,
             x->lock, (int)x->wake.by);
    return out;
}

bool check_unseen(const struct oracle *o, const struct analysis *a, uint32_t thread)
{
    const struct true_thread *t = &o->s->threads[thread];
    const struct line *l = &a->timeline.lines[thread];
    uint32_t waits = l->spans.n;
    for (uint32_t i = 0; i < l->spans.n; i++)
        waits -= span_is_unknown(&a->timeline, line_span(l, i));
    bool seen = t->has_started || t->called || waits || l->acts.n || l->holds.n;
    return t->jvm || (t->is_virtual && !seen);
}

/* --- lives ------------------------------------------------------------------------------------ */

static void check_lives(const struct oracle *o, const struct analysis *a)
{
    const struct sim *s = o->s;
    CHECK_EQ(a->threads.n, s->n_ids + 1, "threads");
    CHECK_EQ(a->window.from, s->begin, "window");
    CHECK_EQ(a->window.to, s->end, "window");
    for (uint32_t i = 1; i <= s->n_ids; i++) {
        const struct thread_stats *got = &a->threads.v[i];
        const struct life want = oracle_life(s, i);
        CHECK_EQ(got->from, want.from, "thread %u", i);
        CHECK_EQ(got->to, want.to, "thread %u", i);
        CHECK_EQ(got->has_ended, s->threads[i].has_ended, "thread %u", i);
        CHECK_EQ(got->incomplete, false, "thread %u", i);
        CHECK_EQ(a->timeline.lines[i].starter,
                 s->threads[i].has_started ? s->threads[i].starter : 0, "thread %u", i);
    }
}

/* --- spans, acts, holds ----------------------------------------------------------------------- */

static void check_span(const struct analysis *a, const struct span *got,
                       const struct true_span *want)
{
    const struct context *x = timeline_context(&a->timeline, got->context);
    const char *text = check_span_text(want);
    CHECK_EQ(got->start, want->start, "%s", text);
    CHECK_EQ(span_end(&a->timeline, got), want->end, "%s", text);
    CHECK_EQ(x->what, want->state, "%s", text);
    CHECK_EQ(x->lock.v, want->lock, "%s", text);
    CHECK_EQ(x->other, want->other, "%s", text);
    CHECK_EQ(x->stack.v, want->stack, "%s", text);
    CHECK_EQ(x->owner_stack.v, want->owner_stack, "%s", text);
    CHECK_EQ(x->flags, want->flags, "%s", text);
}

static void check_spans(const struct oracle *o, const struct analysis *a)
{
    uint32_t n[SIM_THREADS + 2] = {0};
    for (size_t i = 0; i < sim_n_spans(o->s); i++) {
        const struct true_span *x = sim_span(o->s, i);
        const struct line *l = &a->timeline.lines[x->thread];
        CHECK(n[x->thread] < l->spans.n, "%s is missing", check_span_text(x));
        check_span(a, line_span(l, n[x->thread]++), x);
    }
    for (uint32_t i = 1; i <= o->s->n_ids; i++)
        n[i] += check_unseen(o, a, i) && a->threads.v[i].from < a->threads.v[i].to;
    for (uint32_t i = 0; i <= o->s->n_ids; i++)
        CHECK_EQ(a->timeline.lines[i].spans.n, n[i], "thread %u", i);
    CHECK_EQ(a->timeline.n_spans - a->timeline.n_unknown, sim_n_spans(o->s), "spans");
}

static bool is_act(uint32_t kind)
{
    switch (kind) {
    case EV_thread_start:
    case EV_thread_end:
    case EV_thread_start_called:
    case EV_notify:
    case EV_notify_all:
    case EV_unpark:
    case EV_interrupt:
    case EV_interrupted:
    case EV_semaphore_acquire_enter:
    case EV_semaphore_acquire_exit:
    case EV_semaphore_release:
    case EV_call_enter:
    case EV_call_exit:
    case EV_call:
        return true;
    default:
        return false;
    }
}

static void check_hold(const struct analysis *a, const struct span *got, const struct event *want)
{
    CHECK_EQ(got->start, want->hold.since, "hold");
    CHECK_EQ(span_end(&a->timeline, got), want->time, "hold");
    CHECK_EQ(timeline_context(&a->timeline, got->context)->lock.v, want->hold.lock.v, "hold");
}

static void check_events(const struct oracle *o, const struct analysis *a)
{
    uint32_t acts[SIM_THREADS + 2] = {0}, holds[SIM_THREADS + 2] = {0};
    for (size_t i = 0; i < sim_n_events(o->s); i++) {
        const struct event *e = sim_event(o->s, i);
        uint32_t t = e->thread.v;
        const struct line *l = &a->timeline.lines[t];
        if (e->kind == EV_hold) {
            CHECK(holds[t] < l->holds.n, "a hold of thread %u is missing", t);
            check_hold(a, line_hold(l, holds[t]++), e);
        } else if (is_act(e->kind)) {
            CHECK(acts[t] < l->acts.n, "an act of thread %u is missing", t);
            const struct act *act = line_act(l, acts[t]++);
            CHECK_EQ(act->time, e->time, "act of thread %u", t);
            CHECK_EQ(timeline_context(&a->timeline, act->context)->what, e->kind, "act");
        }
    }
    for (uint32_t i = 0; i <= o->s->n_ids; i++) {
        CHECK_EQ(a->timeline.lines[i].acts.n, acts[i], "thread %u", i);
        CHECK_EQ(a->timeline.lines[i].holds.n, holds[i], "thread %u", i);
    }
}

/* --- the sweep -------------------------------------------------------------------------------- */

struct order {
    const struct analysis *a;
    uint64_t time;  /* of the latest item */
    struct buf all; /* struct sweep_item [] */
    struct {
        uint32_t span, act, hold;
        bool born, died, inside;
    } at[SIM_THREADS + 2];
};

static uint64_t time_of(const struct order *w, const struct sweep_item *i)
{
    const struct line *l = &w->a->timeline.lines[i->thread];
    uint32_t index = sweep_index(i);
    switch (sweep_type(i)) {
    case SWEEP_ACT:
        return line_act(l, index)->time;
    case SWEEP_HOLD:
        return span_end(&w->a->timeline, line_hold(l, index));
    case SWEEP_BEGIN:
        return line_span(l, index)->start;
    case SWEEP_END:
        return span_end(&w->a->timeline, line_span(l, index));
    case SWEEP_BORN:
        return w->a->threads.v[i->thread].from;
    default:
        return w->a->threads.v[i->thread].to;
    }
}

/* Each thing once, in its thread's order; a span that others of the same thread lie in is over
 * before they come. */
static void take_item(struct order *w, const struct sweep_item *i)
{
    uint32_t t = i->thread, index = sweep_index(i);
    CHECK(i->time >= w->time, "the sweep goes back");
    w->time = i->time;
    CHECK(!w->at[t].died && w->at[t].born == (sweep_type(i) != SWEEP_BORN), "thread %u", t);
    switch (sweep_type(i)) {
    case SWEEP_BORN:
        w->at[t].born = true;
        break;
    case SWEEP_ACT:
        CHECK_EQ(index, w->at[t].act++, "thread %u", t);
        break;
    case SWEEP_HOLD:
        CHECK_EQ(index, w->at[t].hold++, "thread %u", t);
        break;
    case SWEEP_BEGIN:
        CHECK_EQ(w->at[t].inside, false, "thread %u", t);
        CHECK_EQ(index, w->at[t].span, "thread %u", t);
        w->at[t].inside = true;
        break;
    case SWEEP_END:
        CHECK_EQ(index, w->at[t].span++, "thread %u", t);
        CHECK_EQ(w->at[t].inside, true, "thread %u", t);
        w->at[t].inside = false;
        break;
    default:
        w->at[t].died = true;
        break;
    }
    const struct line *l = &w->a->timeline.lines[t];
    bool lone = (sweep_type(i) == SWEEP_BEGIN || sweep_type(i) == SWEEP_END) &&
                timeline_context(&w->a->timeline, line_span(l, index)->context)->flags &
                    INTERVAL_REACQUIRED;
    CHECK(lone || i->time == time_of(w, i), "item of type %d of thread %u at another time",
          sweep_type(i), t);
}

static void take_items(void *self, const struct sweep_item *v, size_t n)
{
    struct order *w = self;
    for (size_t i = 0; i < n; i++)
        take_item(w, &v[i]);
    buf_put(&w->all, v, n * sizeof *v);
}

static void take_back(void *self, const struct sweep_item *v, size_t n)
{
    buf_put(self, v, n * sizeof *v);
}

/* The items of a thread in one order, and in the other. */
static void check_back(const struct analysis *a, const struct buf *there, const struct buf *back)
{
    const struct sweep_item *v = (const void *)there->p, *w = (const void *)back->p;
    size_t n = there->len / sizeof *v;
    CHECK_EQ(back->len, there->len, "items of the sweep back");
    for (size_t i = 1; i < n; i++)
        CHECK(w[i].time <= w[i - 1].time, "the sweep back goes on");
    for (uint32_t t = 1; t < a->threads.n; t++) {
        size_t k = n;
        for (size_t i = 0; i < n; i++) {
            if (v[i].thread != t)
                continue;
            while (k && w[k - 1].thread != t)
                k--;
            CHECK(k > 0 && w[k - 1].what == v[i].what, "item %zu of thread %u", i, t);
            k--;
        }
    }
}

static void check_sweep(const struct analysis *a)
{
    struct order w = {.a = a};
    struct buf back = {0};
    const struct sweep_sink there_sink = {take_items, &w, 0}, back_sink = {take_back, &back, 0};
    struct err err;
    cr_assert_eq(sweep(&a->timeline, &a->threads, &there_sink, 1, &err), 0);
    for (uint32_t i = 1; i < a->threads.n; i++)
        CHECK(w.at[i].died, "thread %u", i);
    CHECK_EQ(w.all.len / sizeof(struct sweep_item),
             2 * (a->threads.n - 1) + 2 * a->timeline.n_spans + a->timeline.n_acts +
                 a->timeline.n_holds,
             "items");
    cr_assert_eq(sweep_back(&a->timeline, &a->threads, &back_sink, 1, &err), 0);
    check_back(a, &w.all, &back);
    buf_fini(&w.all);
    buf_fini(&back);
}

void check_model(const struct oracle *o, const struct analysis *a)
{
    check_lives(o, a);
    check_spans(o, a);
    check_events(o, a);
    check_sweep(a);
}

/* --- time-out against notify ------------------------------------------------------------------ */

struct check_races check_races;

enum { LOCK_LIMIT = SIM_MONITORS + 64 * SIM_THREADS };
static bool raced[LOCK_LIMIT]; /* a wait on it that is reported as timed out saw a notify of it */

static size_t first_event_after(const struct sim *s, uint64_t time)
{
    size_t i = 0, n = sim_n_events(s);
    while (i < n) {
        size_t k = i + (n - i) / 2;
        if (sim_event(s, k)->time > time)
            n = k;
        else
            i = k + 1;
    }
    return i;
}

static void find_races(const struct sim *s)
{
    memset(raced, 0, sizeof raced);
    for (size_t i = 0; i < sim_n_spans(s); i++) {
        const struct true_span *x = sim_span(s, i);
        if (x->state != STATE_WAITING || !(x->flags & INTERVAL_TIMED_OUT))
            continue;
        cr_assert_lt(x->lock, LOCK_LIMIT);
        for (size_t k = first_event_after(s, x->start); k < sim_n_events(s); k++) {
            const struct event *e = sim_event(s, k);
            if (e->time >= x->end)
                break;
            raced[x->lock] |=
                (e->kind == EV_notify || e->kind == EV_notify_all) && e->notify.lock.v == x->lock;
        }
    }
}

/* Of waits on such a lock it may be unknown what ended them; who is named is right. */
void check_forgive(struct oracle *o, struct sim *s, const struct analysis *a)
{
    const struct wake none = {.kind = INTERACTION_NONE};
    uint32_t n[SIM_THREADS + 2] = {0};
    find_races(s);
    for (size_t i = 0; i < sim_n_spans(s); i++) {
        struct true_span *x = sim_span(s, i);
        const struct line *l = &a->timeline.lines[x->thread];
        uint32_t index = n[x->thread]++;
        if (x->state != STATE_WAITING || !raced[x->lock] || index >= l->spans.n)
            continue;
        const struct span *got = line_span(l, index);
        bool times_up = timeline_context(&a->timeline, got->context)->flags & INTERVAL_TIMED_OUT;
        if (times_up)
            CHECK_EQ(x->wake.by, BY_TIME, "%s: certain, and wrong", check_span_text(x));
        check_races.certain += times_up || got->waker;
        check_races.unknown += !times_up && !got->waker;
        if (!times_up)
            x->flags &= ~(unsigned)INTERVAL_TIMED_OUT;
        if (!got->waker)
            o->wakes[i] = o->regains[i] = none;
    }
}

static bool is_of_race(const struct event *e)
{
    return (e->kind == EV_notify || e->kind == EV_notify_all) && e->notify.lock.v < LOCK_LIMIT &&
           raced[e->notify.lock.v];
}

/* --- bindings --------------------------------------------------------------------------------- */

struct check_handoffs check_handoffs;

static void check_wake(const struct analysis *a, uint32_t index, const struct true_span *x,
                       const struct wake *want)
{
    const struct span *got = line_span(&a->timeline.lines[x->thread], index);
    const char *text = check_span_text(x);
    enum interaction kind = span_interaction(&a->timeline, x->thread, got);
    CHECK_EQ(got->waker, want->thread, "%s", text);
    if (want->kind == INTERACTION_HANDOFF_LOCK && kind == INTERACTION_LAST_OWNER)
        CHECK(span_waker_is_seen(got), "%s", text);
    else
        CHECK_EQ(kind, want->kind, "%s", text);
    if (kind == INTERACTION_LAST_OWNER)
        check_handoffs.wrong += got->waker != x->owner_before;
    if (kind ==
        INTERACTION_HANDOFF_LOCK) /* it knows of those that took it without having to wait */
        CHECK_EQ(got->waker, x->owner_before, "%s: certain, and wrong", text);
    if (!want->thread)
        return;
    if (want->exact) {
        CHECK_EQ(span_wake_time(&a->timeline, got), want->time, "%s", text);
        CHECK_EQ(span_wake_stack(&a->timeline, got).v, want->stack.v, "%s", text);
    }
    CHECK_EQ(cause_type(got->cause) != CAUSE_NONE, want->exact, "%s", text);
}

static void check_regain(const struct oracle *o, const struct analysis *a, size_t i, uint32_t index)
{
    const struct true_span *x = sim_span(o->s, i);
    const struct wake *want = &o->regains[i];
    const struct regain *got = line_regain(&a->timeline.lines[x->thread], index);
    CHECK_EQ(got ? got->owner : 0, want->thread, "%s", check_span_text(x));
    if (got && !(got->cause & CAUSE_SEEN))
        CHECK_EQ(got->owner, x->owner_before, "%s: certain, and wrong", check_span_text(x));
    CHECK_EQ(span_waited_until(&a->timeline, line_span(&a->timeline.lines[x->thread], index)),
             oracle_waited_until(o, i), "%s", check_span_text(x));
}

/* With holds, what the evidence says is what was. */
static void check_truth(const struct oracle *o, size_t i)
{
    const struct true_span *x = sim_span(o->s, i);
    const struct wake *w = x->state == STATE_WAITING ? &o->regains[i] : &o->wakes[i];
    if (!o->s->shape.holds || !x->owner_before || !w->thread)
        return;
    CHECK_EQ(w->thread, x->owner_before, "evidence, %s", check_span_text(x));
    CHECK_EQ(w->time, x->released, "evidence, %s", check_span_text(x));
}

struct bound {
    struct interaction_sum sums[INTERACTION_LIMIT];
    uint64_t unbound[STATE_LIMIT], timed_out[STATE_LIMIT];
};

static void count_span(struct bound *b, const struct true_span *x, const struct wake *w,
                       const struct span *got)
{
    enum interaction kind = span_waker_is_seen(got) ? INTERACTION_LAST_OWNER : w->kind;
    if (w->thread) {
        bool other = w->thread != x->thread; /* an interaction takes two */
        b->sums[kind].count += other;
        b->sums[kind].ns += other ? x->end - x->start : 0;
        return;
    }
    if (x->flags & (INTERVAL_OPEN | INTERVAL_REACQUIRED) || x->instant)
        return;
    bool may = x->state == STATE_PARKED || x->state == STATE_JOINING || x->state == STATE_SLEEPING;
    if (x->flags & INTERVAL_TIMED_OUT || (may && x->flags & INTERVAL_TIMED))
        b->timed_out[x->state]++;
    else
        b->unbound[x->state]++;
}

/* How many waits, starts and tasks an act led to. */
static uint32_t led_to(const struct oracle *o, const struct event *e)
{
    const struct true_handover *h = (const void *)o->s->handovers.p;
    uint32_t n = 0;
    for (size_t i = 0; i < sim_n_spans(o->s); i++)
        n += o->wakes[i].exact && o->wakes[i].thread == e->thread.v &&
             o->wakes[i].time == e->time && o->wakes[i].kind != INTERACTION_HANDOFF_LOCK;
    for (uint32_t i = 1; i <= o->s->n_ids; i++) {
        const struct true_thread *t = &o->s->threads[i];
        n += t->has_started && t->starter == e->thread.v && t->called == e->time;
    }
    for (size_t i = 0; i < o->s->handovers.len / sizeof *h; i++)
        n += h[i].from == e->thread.v && h[i].from_time == e->time;
    return n;
}

static enum interaction kind_of_act(const struct sim *s, const struct event *e)
{
    switch (e->kind) {
    case EV_notify:
        return INTERACTION_NOTIFY;
    case EV_notify_all:
        return INTERACTION_NOTIFY_ALL;
    case EV_unpark:
        return INTERACTION_UNPARK;
    case EV_interrupt:
        return INTERACTION_INTERRUPT;
    case EV_thread_start_called:
        return INTERACTION_STARTS_THREAD;
    case EV_call:
        return e->call.call.v == s->submit.v ? INTERACTION_SUBMIT : INTERACTION_NONE;
    default:
        return INTERACTION_NONE;
    }
}

static void count_acts(const struct oracle *o, const struct analysis *a, struct bound *b)
{
    uint32_t n[SIM_THREADS + 2] = {0};
    for (size_t i = 0; i < sim_n_events(o->s); i++) {
        const struct event *e = sim_event(o->s, i);
        if (!is_act(e->kind))
            continue;
        const struct act *got = line_act(&a->timeline.lines[e->thread.v], n[e->thread.v]++);
        uint32_t woken = led_to(o, e);
        enum interaction kind = kind_of_act(o->s, e);
        if (is_of_race(e) && got->woken > woken)
            woken = got->woken;
        CHECK_EQ(got->woken, woken, "act %s of thread %u at %" PRIu64, event_kinds[e->kind].name,
                 e->thread.v, e->time - BUILDER_START);
        if (kind != INTERACTION_NONE)
            b->sums[kind].alone += woken == 0;
    }
}

static void check_sums(const struct oracle *o, const struct analysis *a, struct bound *want)
{
    const struct bindings *got = &a->bindings;
    count_acts(o, a, want);
    for (uint32_t i = 1; i <= o->s->n_ids; i++)
        want->sums[INTERACTION_STARTS_THREAD].count +=
            o->s->threads[i].has_started && o->s->threads[i].starter;
    const struct true_handover *h = (const void *)o->s->handovers.p;
    for (size_t i = 0; i < o->s->handovers.len / sizeof *h; i++) {
        const struct handover *g = (const struct handover *)(const void *)got->handovers.p + i;
        CHECK(i < got->handovers.len / sizeof *g && g->from == h[i].from && g->to == h[i].to &&
                  g->from_time == h[i].from_time && g->to_time == h[i].to_time,
              "task %zu", i);
        want->sums[INTERACTION_SUBMIT].count++;
        want->sums[INTERACTION_SUBMIT].ns += h[i].to_time - h[i].from_time;
    }
    for (int i = 0; i < INTERACTION_LIMIT; i++) {
        CHECK_EQ(got->sums[i].count, want->sums[i].count, "%s", interaction_name(i));
        CHECK_EQ(got->sums[i].ns, want->sums[i].ns, "%s", interaction_name(i));
        CHECK_EQ(got->sums[i].alone, want->sums[i].alone, "%s", interaction_name(i));
    }
    for (unsigned i = 0; i < STATE_LIMIT; i++) {
        CHECK_EQ(got->unbound[i], want->unbound[i], "%s", wait_state_name(i));
        CHECK_EQ(got->timed_out[i], want->timed_out[i], "%s", wait_state_name(i));
    }
}

void check_bindings(const struct oracle *o, const struct analysis *a)
{
    struct bound want = {0};
    uint32_t n[SIM_THREADS + 2] = {0};
    for (size_t i = 0; i < sim_n_spans(o->s); i++) {
        const struct true_span *x = sim_span(o->s, i);
        uint32_t index = n[x->thread]++;
        check_wake(a, index, x, &o->wakes[i]);
        check_regain(o, a, i, index);
        check_truth(o, i);
        check_handoffs.certain[o->s->shape.holds] +=
            o->wakes[i].kind == INTERACTION_HANDOFF_LOCK &&
            !span_waker_is_seen(line_span(&a->timeline.lines[x->thread], index));
        count_span(&want, x, &o->wakes[i], line_span(&a->timeline.lines[x->thread], index));
    }
    check_sums(o, a, &want);
}
