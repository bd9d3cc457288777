/* Switches as the kernel tells of them, and what becomes of them: turns. */
#include "../patience.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/tasks.h"
#include "base/util.h"
#include "record/turns.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void keep(void *ctx, const struct turn *t)
{
    buf_put(ctx, t, sizeof *t);
}

/* --- records to turns ------------------------------------------------------------------------- */

struct given {
    struct switch_record r;
    uint64_t lost;
};

struct wanted {
    uint64_t since, until;
    enum turn_end end;
    bool gap, fault;
};

static void check(const struct given *g, size_t n, uint64_t cut, const struct wanted *w, size_t m)
{
    struct turns t;
    struct buf got;
    buf_init(&got);
    turns_init(&t, 100, keep, &got);
    for (size_t i = 0; i < n; i++)
        turns_take(&t, &g[i].r, g[i].lost);
    if (cut)
        turns_cut(&t, cut, 0);
    cr_assert_eq(got.len / sizeof(struct turn), m, "%zu turns", got.len / sizeof(struct turn));
    for (size_t i = 0; i < m; i++) {
        const struct turn *x = (const struct turn *)(const void *)got.p + i;
        cr_expect_eq(x->since, w[i].since, "%zu since %lu", i, (unsigned long)x->since);
        cr_expect_eq(x->until, w[i].until, "%zu until %lu", i, (unsigned long)x->until);
        cr_expect_eq(x->end, w[i].end, "%zu end %d", i, x->end);
        cr_expect_eq(x->gap, w[i].gap, "%zu gap %d", i, x->gap);
        cr_expect_eq(x->fault, w[i].fault, "%zu fault %d", i, x->fault);
    }
    turns_fini(&t);
    buf_fini(&got);
}

#define R(time, tid, what, lost)                                                                   \
    {                                                                                              \
        {time, tid, what}, lost                                                                    \
    }
#define CHECK(cut, given, ...)                                                                     \
    do {                                                                                           \
        const struct wanted w_[] = {__VA_ARGS__};                                                  \
        check(given, ARRAY_LEN(given), cut, w_, ARRAY_LEN(w_));                                    \
    } while (0)

Test(turns, one_thread_waits_and_is_preempted)
{
    static const struct given g[] = {R(110, 7, SWITCH_IN, 0), R(150, 7, SWITCH_OUT, 0),
                                     R(200, 7, SWITCH_IN, 0), R(210, 7, SWITCH_PREEMPTED, 0),
                                     R(220, 7, SWITCH_IN, 0), R(230, 7, SWITCH_DIED, 0)};
    CHECK(0, g, {110, 150, TURN_WAITS, false, false}, {200, 210, TURN_PREEMPTED, false, false},
          {220, 230, TURN_DIES, false, false});
}

Test(turns, who_is_met_leaving_ran_from_the_beginning)
{
    static const struct given g[] = {R(150, 7, SWITCH_PREEMPTED, 0)};
    CHECK(0, g, {100, 150, TURN_PREEMPTED, false, false});
}

/* Two events cover a thread that started while threads were listed. */
Test(turns, what_is_said_twice_counts_once)
{
    static const struct given g[] = {R(110, 7, SWITCH_BORN, 0),      R(111, 7, SWITCH_BORN, 0),
                                     R(120, 7, SWITCH_IN, 0),        R(121, 7, SWITCH_IN, 0),
                                     R(150, 7, SWITCH_PREEMPTED, 0), R(151, 7, SWITCH_PREEMPTED, 0),
                                     R(160, 7, SWITCH_IN, 0),        R(161, 7, SWITCH_IN, 0)};
    CHECK(200, g, {120, 150, TURN_PREEMPTED, false, false}, {160, 200, TURN_STAYS, false, false});
}

/* The kernel counts it when the thread is back; a fault long behind a switch is another one. */
Test(turns, a_page_fault_is_before_the_turn_that_it_begins)
{
    static const struct given g[] = {
        R(110, 7, SWITCH_IN, 0),        R(150, 7, SWITCH_OUT, 0),      R(900, 7, SWITCH_IN, 0),
        R(905, 7, SWITCH_FAULT, 0),     R(950, 7, SWITCH_OUT, 0),      R(980, 7, SWITCH_IN, 0),
        R(1000000, 7, SWITCH_FAULT, 0), R(1000010, 7, SWITCH_DIED, 0), R(1000020, 8, SWITCH_IN, 0)};
    CHECK(1000100, g, {110, 150, TURN_WAITS, false, false}, {900, 950, TURN_WAITS, false, true},
          {980, 1000010, TURN_DIES, false, false}, {1000020, 1000100, TURN_STAYS, false, false});
}

/* What was lost may have been the end of the turn that went on, and the beginning of the next. */
Test(turns, behind_lost_records_nothing_is_taken_for_known)
{
    static const struct given g[] = {R(110, 7, SWITCH_IN, 0),   R(120, 8, SWITCH_IN, 0),
                                     R(150, 7, SWITCH_OUT, 3),  R(160, 7, SWITCH_IN, 3),
                                     R(170, 7, SWITCH_OUT, 3),  R(180, 8, SWITCH_IN, 3),
                                     R(190, 9, SWITCH_BORN, 3), R(195, 9, SWITCH_IN, 3)};
    CHECK(200, g, {160, 170, TURN_WAITS, true, false}, {180, 200, TURN_STAYS, true, false},
          {195, 200, TURN_STAYS, false, false});
}

Test(turns, a_number_that_is_given_again_is_another_thread)
{
    static const struct given g[] = {R(110, 7, SWITCH_IN, 0), R(120, 7, SWITCH_DIED, 0),
                                     R(121, 7, SWITCH_OUT, 0), R(130, 7, SWITCH_BORN, 0),
                                     R(140, 7, SWITCH_IN, 0)};
    CHECK(0, g, {110, 120, TURN_DIES, false, false}, {100, 121, TURN_WAITS, false, false});
}

/* --- the kernel ------------------------------------------------------------------------------- */

enum { THREADS = 4, ROUNDS = 60, LATE = 2, SWITCH_NS = 20000 };

static struct worker {
    pthread_t thread;
    sem_t begin, end;
    _Atomic(sem_t *) at; /* the one that it waits for */
    uint32_t tid;
    struct task_times before, after;
    uint64_t began, ended, ran; /* by our turns */
} workers[THREADS];

static void compute(void)
{
    volatile uint64_t x = 0;
    for (int k = 0; k < 5000000; k++)
        x += (uint64_t)k;
}

static void gate(struct worker *w, sem_t *opens)
{
    atomic_store(&w->at, opens);
    while (sem_wait(opens) < 0) {
    }
}

static void *work(void *arg)
{
    struct worker *w = arg;
    w->tid = (uint32_t)syscall(SYS_gettid);
    gate(w, &w->begin);
    for (int i = 0; i < ROUNDS; i++) {
        compute();
        clock_sleep_ns(100000);
    }
    gate(w, &w->end);
    return NULL;
}

static void start(struct worker *w)
{
    sem_init(&w->begin, 0, 0);
    sem_init(&w->end, 0, 0);
    pthread_create(&w->thread, NULL, work, w);
}

static bool sleeps_at(struct worker *w, sem_t *gate)
{
    return atomic_load(&w->at) == gate && !task_is_ready(w->tid);
}

/* At a gate, while it sleeps: of a thread that runs the kernel has only what was at its last tick or
 * switch.  When that was. */
static uint64_t what_the_kernel_counts(struct worker *w, sem_t *gate, struct task_times *out)
{
    cr_assert_happens(sleeps_at(w, gate));
    cr_assert(task_times(w->tid, out));
    return clock_mono_ns();
}

static void add(void *ctx, const struct turn *t)
{
    UNUSED(ctx);
    for (size_t i = 0; i < THREADS; i++) {
        struct worker *w = &workers[i];
        uint64_t from = max_u64(t->since, w->began), to = min_u64(t->until, w->ended);
        if (t->os_tid == w->tid && from < to)
            w->ran += to - from;
    }
}

struct reading {
    struct switches *s;
    struct turns t;
};

static void take(void *ctx, const struct switch_record *r)
{
    struct reading *x = ctx;
    turns_take(&x->t, r, switches_lost(x->s));
}

/* What a hypervisor gave to others, of all processors: the kernel takes it out of what threads ran,
 * which have kept their processors in that time. It is counted in ticks: where any is, one more may
 * be under way. */
static uint64_t stolen_ticks(void)
{
    FILE *f = fopen("/proc/stat", "r");
    unsigned long v[8] = {0};
    int n = f ? fscanf(f, "cpu %lu %lu %lu %lu %lu %lu %lu %lu", &v[0], &v[1], &v[2], &v[3], &v[4],
                       &v[5], &v[6], &v[7])
              : 0;
    if (f)
        fclose(f);
    return n == 8 ? v[7] : 0;
}

/* Threads that were there when it was opened, and some that started afterwards: each of them ran as
 * long as the kernel counts.  A switch itself, which either side may have, takes a microsecond, but 12
 * of them where caches are cold; a turn here takes a hundred times as long. */
Test(turns, the_kernel_counts_the_same)
{
    struct err err;
    struct reading x;
    uint64_t now = clock_mono_ns(), before = stolen_ticks();
    for (size_t i = 0; i < THREADS - LATE; i++)
        start(&workers[i]);
    if (switches_open(&x.s, &err) < 0)
        cr_skip_test("no perf events here: %s", err.msg);
    turns_init(&x.t, now, add, NULL);
    for (size_t i = THREADS - LATE; i < THREADS; i++)
        start(&workers[i]);
    for (size_t i = 0; i < THREADS; i++)
        workers[i].began =
            what_the_kernel_counts(&workers[i], &workers[i].begin, &workers[i].before);
    for (size_t i = 0; i < THREADS; i++)
        sem_post(&workers[i].begin);
    for (size_t i = 0; i < THREADS; i++) {
        struct worker *w = &workers[i];
        w->ended = what_the_kernel_counts(w, &w->end, &w->after);
        sem_post(&w->end);
        pthread_join(w->thread, NULL);
    }
    switches_wake(x.s);
    switches_wait(x.s, 1000);
    now = clock_mono_ns();
    switches_read(x.s, now, take, &x);
    turns_cut(&x.t, now, 0);
    cr_expect_eq(switches_lost(x.s), 0);
    uint64_t ticks = stolen_ticks(), tick = UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK);
    uint64_t stolen = ticks ? (ticks - before + 1) * tick : 0;
    for (size_t i = 0; i < THREADS; i++) {
        const struct worker *w = &workers[i];
        uint64_t ran = w->after.ran - w->before.ran, turns = w->after.turns - w->before.turns;
        uint64_t allowed = ran / 100 + turns * SWITCH_NS;
        cr_expect(w->ran + allowed >= ran && w->ran <= ran + allowed + stolen,
                  "thread %zu: %lu by the kernel, %lu", i, (unsigned long)ran,
                  (unsigned long)w->ran);
        cr_expect(turns >= ROUNDS, "it switched %lu times", (unsigned long)turns);
    }
    turns_fini(&x.t);
    switches_close(x.s);
}
