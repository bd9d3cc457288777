/* analyze_hot_test.c - samples of simulated programs against plain loops over all of them. */
#include "analyze/hot.h"
#include "analyze/lock_line.h"
#include "analyze/queues.h"
#include "base/util.h"
#include "cases.h"
#include "checks.h"
#include "conclude/resource.h"

#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 600, SAMPLE_STREAM = 9000, PROGRAMS = 60, OWNED_PROGRAMS = 400 };

/* A simulated program that was sampled at random. */
struct sampled {
    struct sim s;
    struct event v[SAMPLES];
    stack_id recursion;
    struct trace *t;
    struct analysis *a;
};

static struct sampled one;

static struct event some_sample(struct sampled *w, uint64_t time)
{
    struct sim *s = &w->s;
    bool failed = sim_one_in(s, 8);
    stack_id stack = sim_one_in(s, 5) ? w->recursion : s->stacks[sim_below(s, SIM_STACKS)];
    struct ev_cpu_sample x = {.stack = failed ? (stack_id){0} : stack,
                              .weight = 1 + sim_below(s, 1000000),
                              .flags = (uint32_t)sim_below(s, 4),
                              .error = failed ? (uint32_t)sim_below(s, 14) : 0,
                              .taken = time - sim_below(s, 200)};
    struct event e = {.time = time,
                      .thread = {(uint32_t)sim_below(s, s->n_ids + 1)},
                      .kind = EV_cpu_sample,
                      .size = EVENT_HEAD,
                      .cpu_sample = x};
    if (sim_one_in(s, 3)) {
        e.kind = EV_wall_sample;
        e.wall_sample = (struct ev_wall_sample){.stack = x.stack,
                                                .weight = x.weight,
                                                .flags = x.flags,
                                                .error = x.error,
                                                .taken = x.taken};
    }
    return e;
}

static int by_event_time(const void *a, const void *b)
{
    const struct event *x = a, *y = b;
    return (x->time > y->time) - (x->time < y->time);
}

static void sample(struct sampled *w, const struct sim_shape *shape)
{
    sim_run(&w->s, shape);
    w->recursion = builder_stack(&w->s.b, "a.R.f:3 a.R.g:2 a.R.f:1 a.R.main:native");
    for (int i = 0; i < SAMPLES; i++)
        w->v[i] = some_sample(w, w->s.begin + 1000 + sim_below(&w->s, w->s.end - w->s.begin));
    qsort(w->v, SAMPLES, sizeof *w->v, by_event_time);
    for (int i = 0; i < SAMPLES; i++)
        builder_event(&w->s.b, SAMPLE_STREAM, &w->v[i]);
    w->t = sim_trace(&w->s);
    cr_assert_eq(conclude_run(&w->a, w->t, NULL), 0);
}

static void end(struct sampled *w)
{
    analysis_free(w->a);
    trace_close(w->t);
    sim_fini(&w->s);
}

/* Both kinds have the same fields. */
static enum sample_kind kind_of(const struct event *e)
{
    return e->kind == EV_wall_sample ? SAMPLE_WALL : SAMPLE_CPU;
}

static struct selection some_part(struct sim *s, bool *threads)
{
    struct selection sel = selection_all();
    sel.n_threads = s->n_ids + 1;
    if (sim_one_in(s, 2)) {
        sel.from = s->begin + sim_below(s, s->end - s->begin);
        sel.to = sel.from + 1 + sim_below(s, s->end - sel.from + 1000);
    }
    if (sim_one_in(s, 2)) {
        for (uint32_t i = 0; i <= s->n_ids; i++)
            threads[i] = sim_one_in(s, 2);
        sel.threads = threads;
    }
    return sel;
}

static bool is_in(const struct event *e, enum sample_kind kind, const struct selection *sel)
{
    uint64_t time = e->cpu_sample.taken;
    return kind_of(e) == kind && selection_has(sel, e->thread.v) && time >= sel->from &&
           time < sel->to;
}

/* --- sums ------------------------------------------------------------------------------------- */

static void check_keys(const struct sampled *w, enum sample_kind kind, const struct selection *sel)
{
    const struct sample_query q = {.selection = *sel, .kind = kind, .by_thread = true};
    struct sample_sums sums;
    uint64_t count = 0, ns = 0, idle = 0, near = 0;
    cr_assert_eq(sample_sums_make(&sums, w->a, &q), 0);
    for (size_t i = 0; i < sums.n; i++) {
        const struct sample_sum *s = &sums.v[i];
        uint64_t its_count = 0, its_ns = 0;
        for (int k = 0; k < SAMPLES; k++) {
            const struct ev_cpu_sample *x = &w->v[k].cpu_sample;
            bool same = w->v[k].thread.v == s->key.thread && x->stack.v == s->key.stack.v &&
                        (x->stack.v || sample_error_of(x->error) == s->key.error);
            if (!same || !is_in(&w->v[k], kind, sel))
                continue;
            its_count++;
            its_ns += x->weight;
        }
        CHECK_EQ(s->count, its_count, "sum %zu", i);
        CHECK_EQ(s->ns, its_ns, "sum %zu", i);
    }
    for (int k = 0; k < SAMPLES; k++) {
        if (!is_in(&w->v[k], kind, sel))
            continue;
        count++;
        ns += w->v[k].cpu_sample.weight;
        idle += (w->v[k].cpu_sample.flags & SAMPLE_IDLE) != 0;
        near += (w->v[k].cpu_sample.flags & SAMPLE_NEAR) != 0;
    }
    CHECK_EQ(sums.count, count, "count");
    CHECK_EQ(sums.ns, ns, "ns");
    CHECK_EQ(sums.idle, idle, "idle");
    CHECK_EQ(sums.near, near, "near");
    sample_sums_fini(&sums);
}

static bool is_on(const struct trace *t, stack_id stack, method_id m, uint32_t *innermost)
{
    const struct trace_stack *s = trace_stack(t, stack);
    *innermost = s->n_frames ? s->frames[0].method.v : 0;
    for (uint32_t i = 0; i < s->n_frames; i++)
        if (s->frames[i].method.v == m.v)
            return true;
    return false;
}

static void check_methods(const struct sampled *w, enum sample_kind kind,
                          const struct selection *sel)
{
    struct arena arena;
    struct hot h;
    uint64_t self_ns = 0;
    arena_init(&arena, 0);
    cr_assert_eq(hot_make(&h, w->a, kind, sel, EVERY_CLASS, &arena), 0);
    for (size_t i = 0; i < h.n_methods; i++) {
        const struct hot_method *m = &h.methods[i];
        struct hot_sum self = {0, 0}, total = {0, 0};
        for (int k = 0; k < SAMPLES; k++) {
            uint32_t innermost;
            if (!is_in(&w->v[k], kind, sel) ||
                !is_on(w->t, w->v[k].cpu_sample.stack, m->method, &innermost))
                continue;
            total.count++;
            total.ns += w->v[k].cpu_sample.weight;
            self.count += innermost == m->method.v;
            self.ns += innermost == m->method.v ? w->v[k].cpu_sample.weight : 0;
        }
        CHECK_EQ(m->self.count, self.count, "method %zu", i);
        CHECK_EQ(m->self.ns, self.ns, "method %zu", i);
        CHECK_EQ(m->total.count, total.count, "method %zu", i);
        CHECK_EQ(m->total.ns, total.ns, "method %zu", i);
        self_ns += m->self.ns;
    }
    CHECK_EQ(self_ns + hot_failed(&h).ns, h.sum.ns, "all methods and failures");
    uint64_t by_thread = 0;
    for (size_t i = 0; i < h.n_threads; i++)
        by_thread += h.threads[i].sum.ns;
    CHECK_EQ(by_thread, h.sum.ns, "all threads");
    arena_fini(&arena);
}

Test(hot, sums_of_any_part)
{
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        const struct sim_shape shape = sim_shape_of(seed);
        bool threads[SIM_THREADS + 2] = {false};
        sample(&one, &shape);
        for (int i = 0; i < 4; i++) {
            struct selection sel = some_part(&one.s, threads);
            for (unsigned kind = 0; kind < SAMPLE_KINDS; kind++) {
                check_keys(&one, (enum sample_kind)kind, &sel);
                check_methods(&one, (enum sample_kind)kind, &sel);
            }
        }
        end(&one);
    }
}

/* --- owners ----------------------------------------------------------------------------------- */

static bool is_queued(const struct analysis *a, uint32_t context)
{
    unsigned state = timeline_context(&a->timeline, context)->what;
    return state < STATE_UNKNOWN && purposes_held_up(&a->purposes, context, state);
}

/* Whether a selected thread was in the lock's queue. */
static bool is_wanted(const struct analysis *a, const struct selection *sel, lock_id lock,
                      uint64_t time)
{
    for (uint32_t i = 1; i < a->timeline.n_lines; i++)
        for (uint32_t k = 0; selection_has(sel, i) && k < a->timeline.lines[i].spans.n; k++) {
            const struct span *s = line_span(&a->timeline.lines[i], k);
            const struct context *x = timeline_context(&a->timeline, s->context);
            uint64_t from = s->start;
            if (x->what == STATE_WAITING && s->waker)
                from = span_waited_until(&a->timeline, s);
            else if (!is_queued(a, s->context))
                continue;
            if (x->lock.v == lock.v && time >= from && time < span_end(&a->timeline, s))
                return true;
        }
    return false;
}

/* Whether a thread truly had a monitor at a moment, or had given it back and at most one other took
 * it since: until that thread says so, it counts as the owner's. */
static bool was_owner(const struct sim *s, lock_id lock, uint32_t owner, uint64_t time)
{
    const struct true_hold *h = (const void *)s->tenures.p;
    uint64_t latest = 0;
    int since = 0;
    for (size_t i = 0; i < s->tenures.len / sizeof *h; i++)
        if (h[i].lock == lock.v && h[i].thread == owner && h[i].start <= time)
            latest = max_u64(latest, h[i].start);
    for (size_t i = 0; i < s->tenures.len / sizeof *h; i++)
        since += h[i].lock == lock.v && h[i].start > latest && h[i].start <= time;
    return latest && since <= 1;
}

static bool is_monitor(const struct sim *s, lock_id lock)
{
    for (int i = 0; i < SIM_MONITORS + SIM_THREADS; i++)
        if (s->monitors[i].id == lock.v)
            return true;
    return false;
}

struct stretches {
    struct sampled *w;
    const struct selection *sel;
    uint64_t checked, ns;
};

/* Three moments of each stretch: it was wanted, and the owner truly had it. */
static int check_stretch(void *self, lock_id lock, uint32_t owner, uint64_t from, uint64_t to)
{
    struct stretches *x = self;
    const uint64_t moments[] = {from, from + (to - from) / 2, to - 1};
    cr_assert_lt(from, to);
    cr_assert(from >= x->sel->from && to <= x->sel->to);
    x->ns += to - from;
    for (size_t i = 0; i < ARRAY_LEN(moments); i++) {
        CHECK(is_wanted(x->w->a, x->sel, lock, moments[i]), "lock %u", lock.v);
        if (is_monitor(&x->w->s, lock))
            CHECK(was_owner(&x->w->s, lock, owner, moments[i]), "lock %u", lock.v);
        x->checked++;
    }
    return 0;
}

static int check_end(void *self, const struct owned_lock *l)
{
    struct stretches *x = self;
    CHECK(l->known <= l->waited, "lock %u", l->lock.v);
    CHECK(l->known <= x->ns, "lock %u", l->lock.v);
    x->ns = 0;
    return 0;
}

/* Where threads barge in, nobody can tell who had the lock. */
static struct sim_shape owned_shape(uint64_t seed)
{
    struct sim_shape shape = sim_shape_of(seed);
    shape.owners = true;
    shape.fair = true;
    shape.holds = seed % 2;
    return shape;
}

Test(hot, stretches_of_owners_are_true)
{
    struct stretches x = {.w = &one};
    for (uint64_t seed = 1; seed <= (uint64_t)cases(OWNED_PROGRAMS); seed++) {
        const struct sim_shape shape = owned_shape(seed);
        bool threads[SIM_THREADS + 2] = {false};
        sample(&one, &shape);
        const struct selection sel = some_part(&one.s, threads);
        const struct owned_visitor v = {check_stretch, check_end, &x};
        x.sel = &sel;
        cr_assert_eq(owned_visit(one.a, &sel, &v), 0);
        end(&one);
    }
    cr_assert_gt(x.checked, (unsigned)cases(300));
}

/* Whether a thread is in a hold of the lock's history. */
static bool has(const struct lock_line *l, uint32_t thread, uint64_t time)
{
    for (uint32_t i = 0; i < l->holds.n; i++)
        if (l->holds.v[i].thread == thread && time >= l->holds.v[i].from && time < l->holds.v[i].to)
            return true;
    return false;
}

/* The samples of a lock's owners while it was wanted, one by one. */
static struct hot_sum owners_of(const struct sampled *w, lock_id lock, const struct selection *sel)
{
    struct hot_sum sum = {0, 0};
    struct lock_line *line;
    cr_assert_eq(lock_lines_make(w->a, &lock.v, 1, true, &line), 0);
    for (int k = 0; k < SAMPLES; k++) {
        uint64_t time = w->v[k].cpu_sample.taken;
        if (w->v[k].kind != EV_cpu_sample || time < sel->from || time >= sel->to ||
            !has(line, w->v[k].thread.v, time) || !is_wanted(w->a, sel, lock, time))
            continue;
        sum.count++;
        sum.ns += w->v[k].cpu_sample.weight;
    }
    lock_line_free(line);
    return sum;
}

Test(hot, owners_while_others_waited)
{
    uint64_t in_all = 0;
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        const struct sim_shape shape = owned_shape(seed);
        bool threads[SIM_THREADS + 2] = {false};
        struct sample_sums sums;
        sample(&one, &shape);
        const struct sample_query q = {
            .selection = some_part(&one.s, threads), .owners = true, .by_lock = true};
        cr_assert_eq(sample_sums_make(&sums, one.a, &q), 0);
        for (uint32_t lock = 1; lock < one.a->locks.n_objects; lock++) {
            struct hot_sum want = owners_of(&one, (lock_id){lock}, &q.selection), got = {0, 0};
            for (size_t i = 0; i < sums.n; i++) {
                got.count += sums.v[i].key.lock.v == lock ? sums.v[i].count : 0;
                got.ns += sums.v[i].key.lock.v == lock ? sums.v[i].ns : 0;
            }
            CHECK_EQ(got.count, want.count, "seed %d, lock %u", (int)seed, lock);
            CHECK_EQ(got.ns, want.ns, "seed %d, lock %u", (int)seed, lock);
            in_all += want.count;
        }
        sample_sums_fini(&sums);
        end(&one);
    }
    cr_assert_gt(in_all, 100);
}
