#include "sim_parts.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

enum { CARRIERS = 3, FIRST_CARRIER = 100, COLLECTOR = 200 };

/* --- small ------------------------------------------------------------------------------------ */

/* splitmix64 (Vigna). */
static uint64_t roll(uint64_t *state, uint64_t n)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (x ^ x >> 31) % n;
}

uint64_t sim_below(struct sim *s, uint64_t n)
{
    return roll(&s->random, n);
}

void sim_tick(struct sim *s)
{
    s->now += 1 + sim_below(s, s->shape.tick);
}

static bool is_deed(uint32_t kind)
{
    return kind == EV_hold || kind == EV_thread_start || kind == EV_thread_end ||
           kind == EV_thread_start_called || kind == EV_notify || kind == EV_notify_all ||
           kind == EV_unpark || kind == EV_interrupt || kind == EV_interrupted ||
           kind == EV_semaphore_acquire_enter || kind == EV_semaphore_acquire_exit ||
           kind == EV_semaphore_release || kind == EV_call || kind == EV_call_enter ||
           kind == EV_call_exit;
}

static uint32_t stream_of(struct sim *s, int t)
{
    if (s->threads[s->ids[t]].is_virtual)
        return FIRST_CARRIER + (uint32_t)sim_below(s, CARRIERS);
    return (uint32_t)t + 1;
}

void sim_emit(struct sim *s, int t, struct event e)
{
    sim_tick(s);
    e.time = s->now;
    e.thread = (thread_id){s->ids[t]};
    e.size = EVENT_HEAD;
    builder_event(&s->b, stream_of(s, t), &e);
    buf_put(&s->log, &e, sizeof e);
    if (is_deed(e.kind)) {
        s->actors[t].acted = true;
        s->actors[t].deed = e.kind == EV_hold ? s->actors[t].deed : e.kind;
    }
}

uint32_t sim_stack(struct sim *s)
{
    uint64_t i = sim_below(s, SIM_STACKS + 1);
    return i ? s->stacks[i - 1].v : 0;
}

struct true_span *sim_begin(struct sim *s, int t, uint32_t state, uint32_t lock, uint32_t other,
                            uint32_t stack)
{
    s->actors[t].span = (int)sim_n_spans(s);
    buf_put(&s->spans,
            &(struct true_span){.start = s->now,
                                .end = s->now,
                                .thread = s->ids[t],
                                .state = state,
                                .lock = lock,
                                .other = other,
                                .stack = stack},
            sizeof(struct true_span));
    return sim_span(s, (size_t)s->actors[t].span);
}

void sim_finish(struct sim *s, int t)
{
    struct actor *a = &s->actors[t];
    sim_span(s, (size_t)a->span)->end = s->now;
    a->last = a->span;
    a->span = NOBODY;
    a->acted = false;
}

void sim_todo(struct sim *s, int t, enum chore what, int arg)
{
    struct chores *c = &s->actors[t].todo;
    c->v[c->n].what = what;
    c->v[c->n++].arg = arg;
}

struct true_wake sim_wake(const struct sim *s, enum true_cause by, int t)
{
    return (struct true_wake){by, s->ids[t], s->now};
}

/* --- steps ------------------------------------------------------------------------------------ */

static bool is_able(struct sim *s, int t)
{
    return s->actors[t].doing == IS_RUNNING || monitor_can_go_on(s, t) || park_can_go_on(s, t) ||
           life_can_go_on(s, t);
}

static void do_chore(struct sim *s, int t)
{
    struct chores *c = &s->actors[t].todo;
    enum chore what = c->v[0].what;
    int arg = c->v[0].arg;
    memmove(&c->v[0], &c->v[1], (size_t)--c->n * sizeof c->v[0]);
    if (!monitor_chore(s, t, what, arg) && !park_chore(s, t, what, arg))
        life_chore(s, t, what, arg);
}

static void go_on(struct sim *s, int t, bool winding)
{
    struct actor *a = &s->actors[t];
    if (a->doing != IS_RUNNING) {
        monitor_go_on(s, t);
        park_go_on(s, t);
        life_go_on(s, t);
    } else if (a->todo.n) {
        do_chore(s, t);
    } else if (winding) {
        play_end(s, t);
    } else {
        play_anything(s, t);
    }
}

/* False: no thread can do anything. */
static bool step(struct sim *s, bool winding)
{
    int able[SIM_THREADS], n = 0;
    for (int t = 0; t < s->n_threads; t++)
        if (is_able(s, t))
            able[n++] = t;
    if (n)
        go_on(s, able[sim_below(s, (uint64_t)n)], winding);
    return n > 0;
}

static void collect(struct sim *s)
{
    struct true_pause p;
    struct event e = {.kind = EV_gc_start, .size = EVENT_HEAD};
    sim_tick(s);
    e.time = p.start = s->now;
    builder_event(&s->b, COLLECTOR, &e);
    sim_tick(s);
    e.kind = EV_gc_finish;
    e.time = p.end = s->now;
    builder_event(&s->b, COLLECTOR, &e);
    buf_put(&s->pauses, &p, sizeof p);
}

/* --- life ------------------------------------------------------------------------------------- */

static void define(struct sim *s)
{
    static const char *const classes[SIM_CLASSES] = {"Lshop/Order;", "Lshop/Stock;",
                                                     "Ljava/lang/Thread;", "Lshop/Order;"};
    static const char *const stacks[SIM_STACKS] = {
        "shop.Order.submit:88 shop.Main.main:12",
        "java.lang.Object.wait:5 shop.Order.take:31 shop.Main.main:14",
        "java.util.concurrent.Semaphore.acquire:9 shop.Pool.get:71", "shop.Order.submit:88",
        "java.lang.Thread.run:1"};
    static const char *const pool = "Ljava/util/concurrent/ThreadPoolExecutor;";
    struct {
        const char *class_name, *method;
    } calls[] = {
        {pool, "execute"}, {pool, "beforeExecute"}, {"Ljava/util/concurrent/FutureTask;", "run"}};
    for (int i = 0; i < SIM_CLASSES; i++)
        s->classes[i] = builder_class(&s->b, classes[i]);
    for (int i = 0; i < SIM_STACKS; i++)
        s->stacks[i] = builder_stack(&s->b, stacks[i]);
    for (uint32_t i = 0; i < 3; i++)
        builder_def(
            &s->b,
            &(struct def){.kind = DEF_call,
                          .call = {.id = {i + 1},
                                   .name = {"call", 4},
                                   .class_name = {calls[i].class_name, strlen(calls[i].class_name)},
                                   .method = {calls[i].method, strlen(calls[i].method)},
                                   .row = {"row", 3}}});
    s->submit = (call_id){1};
    s->before = (call_id){2};
    s->run = (call_id){3};
}

static uint32_t new_lock(struct sim *s)
{
    return builder_lock(&s->b, s->classes[sim_below(s, SIM_CLASSES)]).v;
}

static void init(struct sim *s, const struct sim_shape *shape)
{
    memset(s, 0, sizeof *s);
    s->shape = *shape;
    s->random = hash_bytes(&shape->seed, sizeof shape->seed, 0);
    s->n_threads = shape->threads;
    builder_init(&s->b);
    builder_info(&s->b, "orca.events",
                 shape->holds
                     ? "interrupts+threads+virtual+monitors+waits+parks+sleeps+joins+locks+holds"
                     : "interrupts+threads+virtual+monitors+waits+parks+sleeps+joins+locks");
    s->b.block_events = 1 + (uint32_t)sim_below(s, 60);
    s->begin = s->now = BUILDER_START;
    define(s);
    for (int i = 0; i < SIM_MONITORS; i++)
        s->monitors[i] = (struct owned){.id = new_lock(s), .owner = NOBODY};
    for (int i = 0; i < SIM_LOCKS; i++)
        s->locks[i] = (struct owned){.id = new_lock(s), .owner = NOBODY};
    for (int i = 0; i < SIM_SEMAPHORES; i++)
        s->semaphores[i] = (struct semaphore){.id = new_lock(s), .permits = i};
    for (int t = 0; t < s->n_threads; t++)
        s->actors[t] = (struct actor){.span = NOBODY,
                                      .wait = NOBODY,
                                      .last = NOBODY,
                                      .wants = NOBODY,
                                      .again = NOBODY,
                                      .permit_of = NOBODY,
                                      .acquires = NOBODY};
}

/* Whether a wait has timed out that did not come to say so: then nothing tells that a notify passed
 * it over. */
static bool is_undecided(const struct sim *s)
{
    for (int t = 0; t < s->n_threads; t++) {
        int wait = s->actors[t].wait;
        if (wait != NOBODY && sim_span(s, (size_t)wait)->wake.by == BY_TIME)
            return true;
    }
    return false;
}

/* What goes on at the end goes on to the end. */
static void end_all(struct sim *s)
{
    s->end = s->now + 1 + sim_below(s, sim_one_in(s, 2) ? 300000000 : 1000);
    for (int t = 0; t < s->n_threads; t++) {
        const struct actor *a = &s->actors[t];
        if (a->span == NOBODY)
            continue;
        struct true_span *x = sim_span(s, (size_t)a->span);
        x->end = s->end;
        x->flags |= INTERVAL_OPEN;
    }
    for (int m = 0; m < SIM_MONITORS + s->n_threads; m++) {
        const struct owned *o = &s->monitors[m];
        struct true_hold h = {o->since, s->end, 0, o->id};
        if (!o->id || o->owner == NOBODY)
            continue;
        h.thread = s->ids[o->owner];
        buf_put(&s->tenures, &h, sizeof h);
    }
}

void sim_run(struct sim *s, const struct sim_shape *shape)
{
    init(s, shape);
    thread_exists(s, 0);
    for (int t = 1; t < s->n_threads && t < 4; t++)
        if (s->shape.monitors_only || sim_one_in(s, 2))
            thread_exists(s, t);
    for (int i = 0; i < shape->steps && step(s, false); i++)
        if (sim_one_in(s, 80))
            collect(s);
    for (int i = 0; !shape->cut && i < 100 * shape->threads && step(s, true); i++)
        ;
    for (int i = 0; is_undecided(s) && i < 1000 && step(s, true); i++)
        ;
    s->undecided = is_undecided(s);
    s->b.n_threads++;
    builder_def(&s->b, &(struct def){.kind = DEF_thread,
                                     .thread = {.id = {s->b.n_threads},
                                                .flags = THREAD_NATIVE,
                                                .name = {"GC Thread", 9}}});
    s->threads[++s->n_ids].jvm = true;
    end_all(s);
}

static int waits_for(const struct sim *s, const struct actor *a)
{
    const struct true_span *x = a->span == NOBODY ? NULL : sim_span(s, (size_t)a->span);
    if (a->doing == IS_BLOCKED || a->doing == IS_REENTERING)
        return s->monitors[a->wants].owner;
    if (a->doing == IS_PARKED && a->todo.n && a->todo.v[0].what == DO_LOCK)
        return s->locks[a->todo.v[0].arg].owner; /* whatever ends the park: it parks again */
    if (!x || a->doing != IS_JOINING || x->flags & INTERVAL_TIMED || x->wake.by != BY_NOBODY)
        return NOBODY;
    return s->actors[a->target].doing == IS_DEAD ? NOBODY : a->target;
}

uint32_t sim_waits_for(const struct sim *s, uint32_t thread)
{
    if (s->threads[thread].jvm)
        return 0;
    int on = waits_for(s, &s->actors[s->actor_of[thread]]);
    return on == NOBODY ? 0 : s->ids[on];
}

struct trace *sim_trace(struct sim *s)
{
    return builder_open(&s->b, s->end - BUILDER_START);
}

void sim_fini(struct sim *s)
{
    buf_fini(&s->spans);
    buf_fini(&s->log);
    buf_fini(&s->handovers);
    buf_fini(&s->tenures);
    buf_fini(&s->pauses);
}

struct sim_shape sim_shape_of(uint64_t seed)
{
    static const uint64_t ticks[] = {1, 50, 3000, 1 << 20, UINT64_C(1) << 31, UINT64_C(1) << 33};
    uint64_t dice = hash_bytes(&seed, sizeof seed, 1);
    struct sim_shape shape = {.seed = seed,
                              .threads = 2 + (int)roll(&dice, 9),
                              .steps = 20 + (int)roll(&dice, 400),
                              .tick = ticks[roll(&dice, 6)]};
    shape.fair = roll(&dice, 2);
    shape.ordered = roll(&dice, 4);
    shape.holds = roll(&dice, 3) == 0;
    shape.owners = roll(&dice, 4);
    shape.inside = roll(&dice, 4) == 0;
    shape.virtual = roll(&dice, 3) == 0;
    shape.monitors_only = roll(&dice, 6) == 0;
    shape.cut = roll(&dice, 2);
    shape.races = roll(&dice, 2);
    return shape;
}
