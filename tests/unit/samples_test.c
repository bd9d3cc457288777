/* Samples on their way from signal handlers to the collector; the table of sampled threads; records
 * of perf events. */
#include "../patience.h"
#include "base/clock.h"
#include "hotspot/sampled.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* No walker is needed for threads that are none of Java's: their stacks are an error code. */
static const struct samples_setup setup = {.depth = 16};

/* --- bags ------------------------------------------------------------------------------------- */

enum { TAKERS = 4, TAKES = 30000 };

static _Atomic bool stop;

static void *take(void *arg)
{
    uint32_t id = (uint32_t)(uintptr_t)arg;
    struct sample_subject who = {.os_tid = id, .id = id};
    for (uint64_t i = 0; i < TAKES; i++) {
        struct sample_moment m = {.group = SAMPLE_CPU, .weight = i};
        samples_take(&who, &m, NULL);
    }
    return NULL;
}

struct seen {
    uint64_t n, bad;
};

static void visit(void *ctx, const struct sample *s)
{
    struct seen *seen = ctx;
    uint32_t id = s->subject.id;
    seen->n++;
    if (id < 1 || id > TAKERS || s->subject.os_tid != id || s->n != WALK_THREAD_NOT_JAVA ||
        s->size != sizeof *s || s->n_met != 0 || s->still || s->weight >= TAKES)
        seen->bad++;
}

static void *collect(void *arg)
{
    while (!atomic_load(&stop))
        samples_collect(visit, arg);
    return NULL;
}

Test(samples, every_one_comes_or_is_counted)
{
    static struct seen seen;
    pthread_t takers[TAKERS], collector;
    cr_assert_eq(samples_open(&setup), 0);
    uint64_t lost = samples_lost();
    atomic_store(&stop, false);
    pthread_create(&collector, NULL, collect, &seen);
    for (uintptr_t i = 0; i < TAKERS; i++)
        pthread_create(&takers[i], NULL, take, (void *)(i + 1));
    for (int i = 0; i < TAKERS; i++)
        pthread_join(takers[i], NULL);
    atomic_store(&stop, true);
    pthread_join(collector, NULL);
    samples_collect(visit, &seen);
    samples_collect(visit, &seen);
    cr_assert_eq(seen.bad, 0);
    cr_assert_eq(seen.n + samples_lost() - lost, (uint64_t)TAKERS * TAKES);
    cr_assert_gt(seen.n, 0);
}

static void count(void *ctx, const struct sample *s)
{
    (void)s;
    ++*(uint64_t *)ctx;
}

Test(samples, none_of_an_earlier_session)
{
    struct sample_subject who = {.os_tid = 1, .id = 1};
    struct sample_moment m = {.group = SAMPLE_WALL, .weight = 1};
    uint64_t n = 0;
    cr_assert_eq(samples_open(&setup), 0);
    cr_assert(samples_take(&who, &m, NULL));
    samples_close();
    cr_assert_not(samples_take(&who, &m, NULL));
    cr_assert_eq(samples_open(&setup), 0);
    samples_collect(count, &n);
    samples_collect(count, &n);
    cr_assert_eq(n, 0);
    cr_assert(samples_take(&who, &m, NULL));
    samples_collect(count, &n);
    cr_assert_eq(n, 1);
    samples_close();
}

static bool opened_anew(const struct sample_subject *who, void *ctx, bool *ready)
{
    (void)who, (void)ctx, (void)ready;
    samples_close();
    return samples_open(&setup) == 0;
}

/* Its handler was stopped in the middle, for longer than closing waits. */
Test(samples, none_that_was_begun_in_an_earlier_session)
{
    struct sample_subject who = {.os_tid = 1, .id = 1};
    struct sample_moment m = {.group = SAMPLE_WALL, .weight = 1, .stands_still = opened_anew};
    uint64_t n = 0;
    cr_assert_eq(samples_open(&setup), 0);
    cr_assert(samples_take(&who, &m, NULL));
    samples_collect(count, &n);
    samples_collect(count, &n);
    cr_assert_eq(n, 0);
    samples_close();
}

/* Nobody collects: what finds no room is counted, and what was there stays as it was. */
Test(samples, full)
{
    struct sample_subject who = {.os_tid = 1, .id = 1};
    uint64_t lost = samples_lost(), taken = 0, n = 0;
    cr_assert_eq(samples_open(&setup), 0);
    while (samples_lost() == lost) {
        struct sample_moment m = {.group = SAMPLE_CPU, .weight = taken};
        taken += samples_take(&who, &m, NULL);
    }
    samples_collect(count, &n);
    cr_assert_eq(n, taken);
    samples_close();
}

static bool runs(const struct sample_subject *who, void *ctx, bool *ready)
{
    (void)who, (void)ctx, (void)ready;
    return false;
}

Test(samples, of_a_thread_that_ran_meanwhile_is_none)
{
    struct sample_subject who = {.os_tid = 1, .id = 1};
    struct sample_moment m = {.group = SAMPLE_WALL, .weight = 1, .stands_still = runs};
    uint64_t n = 0;
    cr_assert_eq(samples_open(&setup), 0);
    cr_assert_not(samples_take(&who, &m, NULL));
    samples_collect(count, &n);
    cr_assert_eq(n, 0);
    samples_close();
}

/* --- sampled threads -------------------------------------------------------------------------- */

struct burner {
    pthread_t thread;
    uint32_t id;
    uint64_t cpu, life;
    _Atomic bool enough;
};

enum { BURNERS = 3 };
static const uint64_t burnt = 100000000; /* ns, each */

static void *burn(void *arg)
{
    struct burner *b = arg;
    struct sample_subject who = {.os_tid = (uint32_t)syscall(SYS_gettid), .id = b->id};
    uint64_t began = clock_mono_ns();
    sampled_add(&who);
    while (!atomic_load(&b->enough) || clock_ns_(CLOCK_THREAD_CPUTIME_ID) < burnt)
        ;
    sampled_remove(who.os_tid);
    b->cpu = clock_ns_(CLOCK_THREAD_CPUTIME_ID);
    b->life = clock_mono_ns() - began;
    return NULL;
}

struct weights {
    uint64_t of[BURNERS + 1], bad;
};

static void weigh(void *ctx, const struct sample *s)
{
    struct weights *w = ctx;
    if (s->group != SAMPLE_CPU || s->subject.id < 1 || s->subject.id > BURNERS)
        w->bad++;
    else
        w->of[s->subject.id] += s->weight;
}

/* A timer is looked at when a tick hits its thread, which may be long after the last one where many
 * threads share a processor: what is sampled makes up for it at the next one. */
static bool all_weigh(struct burner *b, struct weights *w)
{
    bool all = true;
    samples_collect(weigh, w);
    for (int i = 0; i < BURNERS; i++) {
        clockid_t clock;
        if (atomic_load(&b[i].enough))
            continue;
        uint64_t cpu = pthread_getcpuclockid(b[i].thread, &clock) == 0 ? clock_ns_(clock) : 0;
        bool enough = cpu >= burnt && w->of[i + 1] >= cpu / 2;
        atomic_store(&b[i].enough, enough);
        all = all && enough;
    }
    return all;
}

/* With intervals far below the kernel's tick, too: then one sample stands for many. */
static void weights_add_up(uint64_t interval, enum sampled_clock clock)
{
    struct burner b[BURNERS];
    struct weights w = {.bad = 0};
    struct err err;
    cr_assert_eq(sampled_open(&err), 0, "%s", err.msg);
    cr_assert_eq(samples_open(&setup), 0);
    sampled_cpu(interval, clock);
    for (uint32_t i = 0; i < BURNERS; i++) {
        b[i].id = i + 1;
        atomic_init(&b[i].enough, false);
        pthread_create(&b[i].thread, NULL, burn, &b[i]);
    }
    cr_assert_happens(all_weigh(b, &w));
    for (int i = 0; i < BURNERS; i++)
        pthread_join(b[i].thread, NULL);
    sampled_cpu(0, clock);
    samples_close();
    samples_collect(weigh, &w);
    cr_assert_eq(w.bad, 0);
    for (uint32_t i = 0; i < BURNERS; i++) {
        /* perf events count what the hypervisor takes away, too; the thread's clock does not. */
        uint64_t most = clock == SAMPLED_PERF ? b[i].life : b[i].cpu;
        cr_assert_leq(w.of[i + 1], most + interval, "%" PRIu64 " of %" PRIu64, w.of[i + 1], most);
    }
    sampled_remove_all();
}

Test(sampled, timers)
{
    weights_add_up(5000000, SAMPLED_TIMER);
}

Test(sampled, timers_below_the_tick)
{
    weights_add_up(100000, SAMPLED_TIMER);
}

Test(sampled, perf_events)
{
    struct perf_clock c;
    int rc = perf_clock_open(&c, (uint32_t)syscall(SYS_gettid), 1000000, SIGURG);
    if (rc < 0)
        cr_skip_test("the kernel allows no perf events: %s", strerror(-rc));
    perf_clock_close(&c);
    weights_add_up(1000000, SAMPLED_PERF);
}

static void add_weight(void *ctx, const struct sample *s)
{
    *(uint64_t *)ctx += s->weight;
}

/* A signal to oneself has come when the call returns. */
static void *ask_oneself(void *arg)
{
    struct sampled *place = arg;
    uint64_t cpu;
    place->who.os_tid = (uint32_t)syscall(SYS_gettid);
    cr_assert_eq(sampled_ask(place, 1000), 0);
    sampled_add(&place->who);
    cr_assert(sampled_has(place->who.os_tid));
    cr_assert(sampled_cpu_ns(place->who.os_tid, &cpu));
    cr_assert_eq(sampled_ask(place, 2000), 0);
    sampled_remove(place->who.os_tid);
    cr_assert_not(sampled_has(place->who.os_tid));
    cr_assert_eq(sampled_ask(place, 1000), 0);
    return NULL;
}

/* A thread that is not, or no longer, in the table ignores notes; a thread that has ended gets
 * none. */
Test(sampled, strangers_are_not_sampled)
{
    struct err err;
    pthread_t t;
    struct sampled place = {.who = {.id = 9}};
    uint64_t weight = 0;
    cr_assert_eq(sampled_open(&err), 0);
    cr_assert_eq(samples_open(&setup), 0);
    pthread_create(&t, NULL, ask_oneself, &place);
    pthread_join(t, NULL);
    while (sampled_ask(&place, 1000) == 0) /* the kernel takes a moment longer */
        patience_pause();
    samples_close();
    samples_collect(add_weight, &weight);
    cr_assert_eq(weight, 2000);
}

/* --- records of perf events ------------------------------------------------------------------- */

struct ring {
    char *pages;
    uint64_t bytes; /* of the data */
    uint64_t head;
    struct perf_clock clock;
};

static void ring_begin_at(struct ring *r)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    r->bytes = 2 * page;
    r->pages = calloc(3, page);
    r->head = 0;
    r->clock = (struct perf_clock){.fd = -1, .pages = (uintptr_t)r->pages};
}

/* As the kernel does with write_backward: below the head, around the end of the pages. */
static void put(struct ring *r, uint32_t type, const uint64_t *ips, uint64_t n)
{
    uint64_t record[64];
    struct perf_event_header h = {.type = type, .size = (uint16_t)((2 + n) * sizeof *record)};
    memcpy(record, &h, sizeof h);
    record[1] = n;
    memcpy(record + 2, ips, n * sizeof *ips);
    r->head -= h.size;
    for (uint64_t i = 0; i < 2 + n; i++)
        memcpy(r->pages + r->bytes / 2 + ((r->head + i * 8) & (r->bytes - 1)), &record[i], 8);
    ((struct perf_event_mmap_page *)(void *)r->pages)->data_head = r->head;
}

Test(perf_clock, records)
{
    struct ring r;
    struct perf_moment m;
    ring_begin_at(&r);
    cr_assert_not(perf_clock_read(&r.clock, &m));
    const uint64_t chain[] = {(uint64_t)PERF_CONTEXT_KERNEL, 0xffffffff81000010, 0xffffffff81000020,
                              (uint64_t)PERF_CONTEXT_USER, 0x5555};
    for (int round = 0; round < 1000; round++) {
        put(&r, PERF_RECORD_SAMPLE, chain, 2);
        put(&r, PERF_RECORD_LOST, chain, 1);
        put(&r, PERF_RECORD_SAMPLE, chain, 5);
        cr_assert(perf_clock_read(&r.clock, &m));
        cr_assert_eq(m.periods, 2);
        cr_assert_eq(m.n, 2); /* of the newest one, without what is the user's */
        cr_assert_eq(m.kernel[0], 0xffffffff81000010);
        cr_assert_eq(m.kernel[1], 0xffffffff81000020);
        cr_assert_not(perf_clock_read(&r.clock, &m));
    }
    free(r.pages);
}

/* More than the pages hold: as many as are left, and no more. */
Test(perf_clock, overwritten)
{
    struct ring r;
    struct perf_moment m;
    ring_begin_at(&r);
    const uint64_t chain[] = {(uint64_t)PERF_CONTEXT_KERNEL, 1};
    for (int i = 0; i < 1000; i++)
        put(&r, PERF_RECORD_SAMPLE, chain, 2);
    cr_assert(perf_clock_read(&r.clock, &m));
    cr_assert_eq(m.periods, r.bytes / 32);
    free(r.pages);
}

/* Sizes and counts that cannot be: nothing beyond the pages is read. */
Test(perf_clock, damaged)
{
    struct ring r;
    struct perf_moment m;
    ring_begin_at(&r);
    uint64_t *data = (uint64_t *)(void *)(r.pages + r.bytes / 2);
    for (uint64_t seed = 1; seed < 20000; seed++) {
        uint64_t x = seed * 0x9e3779b97f4a7c15u;
        r.head -= 8 * (x % 40);
        data[(r.head & (r.bytes - 1)) / 8] = x % 3 ? x : PERF_RECORD_SAMPLE | x << 32;
        ((struct perf_event_mmap_page *)(void *)r.pages)->data_head = r.head;
        perf_clock_read(&r.clock, &m);
        cr_assert_leq(m.n, PERF_CLOCK_FRAMES);
        cr_assert_leq(m.periods, r.bytes / 8);
    }
    free(r.pages);
}
