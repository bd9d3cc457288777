/* analyze_allocs_test.c - allocations: small facts by hand, and random programs against plain loops
 * over their objects. */
#include "analyze/alloc_sums.h"
#include "analyze/alloc_tables.h"
#include "analyzed.h"
#include "base/hash.h"
#include "cases.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(allocs, .init = analyzed_begin, .fini = analyzed_end);

static class_id text;

#define ALLOC(who, time, number, bytes)                                                            \
    ADD(&b, (who).v, who, time, object_alloc, .object = (number), .class_ = text, .size = (bytes), \
        .stack = stack)
#define FREE(time, number, bytes, when, who)                                                       \
    ADD(&b, 99, (thread_id){0}, time, object_free, .object = (number), .class_ = text,             \
        .size = (bytes), .stack = stack, .since = at(when), .allocated_by = who)

static void pause_at(uint64_t from, uint64_t to)
{
    ADD0(&b, 98, (thread_id){0}, from, gc_start);
    ADD0(&b, 98, (thread_id){0}, to, gc_finish);
}

static struct alloc_tables tables_of(uint64_t from, uint64_t to)
{
    struct alloc_tables x;
    struct selection s = selection_all();
    s.from = from ? at(from) : 0;
    s.to = to ? at(to) : UINT64_MAX;
    cr_assert_eq(alloc_tables_make(&x, a, &s, false, &a->arena), 0);
    return x;
}

Test(allocs, ages_and_lifetimes)
{
    text = builder_class(&b, "Ljava/lang/String;");
    ALLOC(ann, 10, 1, 24);
    pause_at(20, 30);
    ALLOC(ann, 40, 2, 24);
    ALLOC(bob, 50, 3, 1000);
    pause_at(60, 70);
    FREE(75, 3, 1000, 50, bob);
    analyzed_run(100);
    struct alloc_tables x = tables_of(0, 0);
    cr_assert_eq(x.of[ALLOC_BY_CLASS].n, 1);
    const struct alloc_row *r = &x.of[ALLOC_BY_CLASS].v[0];
    cr_assert_eq(r->of[ALLOC_ALLOCATED].bytes, 1048);
    cr_assert_eq(alloc_objects(&r->of[ALLOC_ALLOCATED]), 3);
    cr_assert_eq(r->of[ALLOC_FREED].bytes, 1000);
    cr_assert_eq(r->of[ALLOC_KEPT].bytes, 48);
    cr_assert_eq(r->ages.p50, 1);
    cr_assert_eq(r->ages.max, 2);
    cr_assert_eq(r->ages.log2_from, 1);
    cr_assert_eq(r->ages.log2_n, 2);
    cr_assert_eq(r->ages.log2[0], 1000);
    cr_assert_eq(r->ages.log2[1], 1000);
    cr_assert_eq(r->lives.p50, 25);
    cr_assert_eq(r->lives.p99, 25);
    cr_assert_eq(r->lives.log2_from, 5);
    cr_assert_eq(r->lives.log2_n, 1);
    cr_assert_eq(r->lives.log2[0], 1000);
    cr_assert_eq(x.pauses, 2);
    cr_assert_eq(x.points.n, 2);
    cr_assert_eq(x.all.survivors[0], 24);
    cr_assert_eq(x.all.survivors[1], 48);
    cr_assert_eq(x.of[ALLOC_BY_THREAD].n, 2);
    cr_assert_eq(x.of[ALLOC_BY_THREAD].v[0].thread, bob.v);
    cr_assert_eq(x.of[ALLOC_BY_PLACE].v[0].app.line, 88);
}

/* What was alive before the range, and what is, are known apart from what the range allocated. */
Test(allocs, growth_between_moments)
{
    text = builder_class(&b, "[B");
    ALLOC(ann, 10, 1, 100);
    ALLOC(ann, 20, 2, 200);
    ALLOC(ann, 40, 3, 400);
    FREE(50, 2, 200, 20, ann);
    FREE(90, 1, 100, 10, ann);
    analyzed_run(100);
    struct alloc_tables x = tables_of(30, 60);
    const struct alloc_amount *of = x.all.of;
    cr_assert_eq(of[ALLOC_ALLOCATED].bytes, 400);
    cr_assert_eq(of[ALLOC_FREED].bytes, 200);
    cr_assert_eq(of[ALLOC_KEPT].bytes, 400);
    cr_assert_eq(of[ALLOC_BEFORE].bytes, 300);
    cr_assert_eq(of[ALLOC_OLD].bytes, 100);
    cr_assert_eq(alloc_grown(of), 200);
}

/* A file of a rotation: the object was allocated in an earlier one. */
Test(allocs, of_an_earlier_file)
{
    text = builder_class(&b, "[B");
    ALLOC(ann, 10, 1, 100);
    ADD(&b, 99, (thread_id){0}, 50, object_free, .object = 7, .class_ = text, .size = 64,
        .stack = stack, .since = BUILDER_START - 1000, .allocated_by = ann);
    FREE(60, 8, 32, 5, ann);
    analyzed_run(100);
    struct alloc_tables x = tables_of(0, 0);
    cr_assert_eq(x.all.of[ALLOC_EARLIER].bytes, 64);
    cr_assert_eq(x.all.of[ALLOC_FREED].bytes, 32);
    cr_assert_eq(x.all.of[ALLOC_KEPT].bytes, 100);
    cr_assert_eq(x.unmatched, 1, "its allocation was lost");
}

/* A batch is spread evenly, and its parts add up. */
Test(allocs, batches)
{
    uint64_t buckets[4] = {0};
    text = builder_class(&b, "[B");
    ADD(&b, 1, ann, 110, object_allocs, .class_ = text, .stack = stack, .count = 10, .bytes = 1001,
        .since = at(10));
    ADD(&b, 1, ann, 120, object_allocs, .class_ = text, .stack = stack, .count = 1, .bytes = 16,
        .since = at(120));
    analyzed_run(200);
    struct alloc_tables x = tables_of(0, 60), y = tables_of(60, 0);
    cr_assert_eq(x.all.of[ALLOC_ALLOCATED].bytes, 500);
    cr_assert_eq(alloc_objects(&x.all.of[ALLOC_ALLOCATED]), 5);
    cr_assert_eq(y.all.of[ALLOC_ALLOCATED].bytes, 501 + 16);
    x = tables_of(0, 120);
    y = tables_of(120, 0);
    cr_assert_eq(x.all.of[ALLOC_ALLOCATED].bytes, 1001, "a batch of no length is at its moment");
    cr_assert_eq(y.all.of[ALLOC_ALLOCATED].bytes, 16);
    cr_assert_not(allocs_have_ends(&a->allocs));
    allocs_rate(&a->allocs, ann.v, at(0), at(200), buckets, 4);
    cr_assert_eq(buckets[0], 400);
    cr_assert_eq(buckets[1], 500);
    cr_assert_eq(buckets[2], 101 + 16);
    cr_assert_eq(buckets[3], 0);
}

/* Sums of samples are what they stand for. */
Test(allocs, samples)
{
    text = builder_class(&b, "[B");
    ADD(&b, 1, ann, 10, object_sample, .object = 1, .class_ = text, .stack = stack, .size = 24,
        .weight = 1000);
    ADD(&b, 1, ann, 20, object_sample, .object = 2, .class_ = text, .stack = stack, .size = 2000,
        .weight = 2500);
    ADD(&b, 9, bob, 30, object_free, .object = 1, .class_ = text, .stack = stack, .size = 24,
        .weight = 1000, .since = at(10), .allocated_by = ann);
    analyzed_run(200);
    struct alloc_tables x = tables_of(0, 0);
    cr_assert_eq(allocs_source(&a->allocs), ALLOC_SAMPLED);
    cr_assert_eq(x.all.of[ALLOC_ALLOCATED].bytes, 3500);
    cr_assert_eq(x.all.of[ALLOC_ALLOCATED].thousandths, 41666 + 1250);
    cr_assert_eq(x.all.of[ALLOC_ALLOCATED].records, 2);
    cr_assert_eq(x.all.of[ALLOC_KEPT].bytes, 2500);
    cr_assert_eq(x.all.of[ALLOC_FREED].bytes, 1000);
    cr_assert_eq(x.of[ALLOC_BY_THREAD].n, 1, "whoever finds an object freed is not who had it");
}

/* What a collection of the whole heap has looked at, and what was made since. */
Test(allocs, found_live)
{
    text = builder_class(&b, "[B");
    gc_name_id full = builder_gc_name(&b, "Parallel full collection");
    gc_name_id young = builder_gc_name(&b, "Parallel young collection");
    ALLOC(ann, 10, 1, 100);
    ALLOC(ann, 20, 2, 200);
    ADD0(&b, 98, (thread_id){0}, 30, gc_start);
    ADD(&b, 98, (thread_id){0}, 40, gc_finish, .collector = full);
    FREE(45, 1, 100, 10, ann);
    ALLOC(bob, 50, 3, 400);
    ADD0(&b, 98, (thread_id){0}, 60, gc_start);
    ADD(&b, 98, (thread_id){0}, 70, gc_finish, .collector = young);
    analyzed_run(3 * WHOLE_GC_TOLD_NS);
    struct alloc_tables x = tables_of(0, 0);
    cr_assert_eq(x.whole, at(30));
    cr_assert_eq(x.all.of[ALLOC_KEPT].bytes, 600);
    cr_assert_eq(x.all.of[ALLOC_LIVE].bytes, 200);
    x = tables_of(0, WHOLE_GC_TOLD_NS);
    cr_assert_eq(x.whole, 0, "its ends may not all be told yet");
    cr_assert_eq(x.all.of[ALLOC_LIVE].bytes, 0);
    x = tables_of(45, 0);
    cr_assert_eq(x.all.of[ALLOC_KEPT].bytes, 400);
    cr_assert_eq(x.all.of[ALLOC_LIVE].bytes, 0, "nobody has looked at what was made since");
}

static uint64_t whole_until(uint64_t to)
{
    return tables_of(0, to).whole;
}

/* The JVM's thread that tells the ends may get its processor late. */
Test(allocs, what_is_live_is_known_when_all_ends_are_told)
{
    text = builder_class(&b, "[B");
    gc_name_id full = builder_gc_name(&b, "Parallel full collection");
    uint64_t late = 5 * WHOLE_GC_TOLD_NS;
    ALLOC(ann, 10, 1, 100);
    ALLOC(ann, 20, 2, 200);
    ADD0(&b, 98, (thread_id){0}, 30, gc_start);
    ADD(&b, 98, (thread_id){0}, 40, gc_finish, .collector = full);
    FREE(late, 1, 100, 10, ann);
    analyzed_run(3 * WHOLE_GC_SILENT_NS);
    cr_assert_eq(whole_until(late - 1), 0);
    cr_assert_eq(whole_until(late + WHOLE_GC_TOLD_NS - 1), 0);
    cr_assert_eq(whole_until(late + WHOLE_GC_TOLD_NS), at(30));
}

Test(allocs, where_no_end_is_told_silence_says_that_all_live)
{
    text = builder_class(&b, "[B");
    gc_name_id full = builder_gc_name(&b, "Parallel full collection");
    ALLOC(ann, 10, 1, 100);
    ADD0(&b, 98, (thread_id){0}, 30, gc_start);
    ADD(&b, 98, (thread_id){0}, 40, gc_finish, .collector = full);
    analyzed_run(2 * WHOLE_GC_SILENT_NS);
    cr_assert_eq(whole_until(40 + WHOLE_GC_SILENT_NS - 1), 0);
    cr_assert_eq(whole_until(40 + WHOLE_GC_SILENT_NS), at(30));
}

/* The two pauses of G1's marking are not distinguished: it began after the last but one of them. */
Test(allocs, found_live_by_marking)
{
    gc_name_id g1 = builder_gc_name(&b, "G1 concurrent cycle");
    gc_name_id minor = builder_gc_name(&b, "ZGC Minor Cycles");
    text = builder_class(&b, "[B");
    for (uint64_t i = 0; i < 4; i++) {
        ALLOC(ann, 100 * i + 5, i + 1, 100);
        ADD0(&b, 98, (thread_id){0}, 100 * i + 10, gc_start);
        ADD(&b, 98, (thread_id){0}, 100 * i + 20, gc_finish, .collector = g1);
    }
    ADD(&b, 97, (thread_id){0}, 500, gc_cycle, .collector = minor, .since = at(400),
        .until = at(450));
    analyzed_run(2 * WHOLE_GC_SILENT_NS); /* no end is reported */
    struct alloc_tables x = tables_of(0, 0);
    cr_assert_eq(x.whole, at(120));
    cr_assert_eq(x.all.of[ALLOC_LIVE].bytes, 200);
}

/* --- random programs -------------------------------------------------------------------------- */

enum { OBJECTS = 300, BATCHES = 40, PAUSES = 12, LENGTH = 10000, THREADS = 4, PROGRAMS = 300 };

struct object {
    uint64_t time, freed; /* 0: alive */
    uint64_t size, weight;
    uint32_t class_, stack, thread;
    bool earlier;
};

struct program {
    uint64_t seed;
    enum alloc_source source;
    struct object v[OBJECTS];
    struct ev_object_allocs batches[BATCHES];
    uint64_t batch_time[BATCHES];
    uint32_t batch_thread[BATCHES];
    int n_batches;
    uint64_t pauses[PAUSES]; /* ends */
    int n_pauses;
    struct event events[2 * OBJECTS + BATCHES];
    int n_events;
};

static uint64_t below(struct program *p, uint64_t n)
{
    p->seed = p->seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (p->seed >> 33) % n;
}

static void put(struct program *p, const struct event *e)
{
    p->events[p->n_events++] = *e;
}

static void make_object(struct program *p, int i)
{
    struct object *o = &p->v[i];
    o->earlier = below(p, 20) == 0;
    o->time = at(0) + below(p, LENGTH) - (o->earlier ? LENGTH : 0);
    o->size = 8 * (1 + below(p, 4));
    o->weight = p->source == ALLOC_SAMPLED ? o->size * (1 + below(p, 3)) + below(p, 2) : 0;
    o->class_ = (uint32_t)below(p, 4);
    o->stack = (uint32_t)below(p, 3);
    o->thread = (uint32_t)below(p, THREADS + 1);
    o->freed = o->earlier || below(p, 3) ? max_u64(o->time, at(0)) + below(p, 3000) : 0;
    struct event e = {
        .time = o->time, .thread = {o->thread}, .kind = EV_object_alloc, .size = EVENT_HEAD};
    if (p->source == ALLOC_SAMPLED) {
        e.kind = EV_object_sample;
        e.object_sample = (struct ev_object_sample){.object = (uint64_t)i + 1,
                                                    .class_ = {o->class_},
                                                    .size = o->size,
                                                    .stack = {o->stack},
                                                    .weight = o->weight};
    } else {
        e.object_alloc = (struct ev_object_alloc){
            .object = (uint64_t)i + 1, .class_ = {o->class_}, .size = o->size, .stack = {o->stack}};
    }
    if (!o->earlier)
        put(p, &e);
    struct event f = {.time = o->freed, .thread = {1}, .kind = EV_object_free, .size = EVENT_HEAD};
    f.object_free = (struct ev_object_free){.object = (uint64_t)i + 1,
                                            .class_ = {o->class_},
                                            .size = o->size,
                                            .stack = {o->stack},
                                            .since = o->time,
                                            .allocated_by = {o->thread},
                                            .weight = o->weight};
    if (o->freed)
        put(p, &f);
}

static void make_batch(struct program *p)
{
    int i = p->n_batches++;
    p->batch_time[i] = at(0) + below(p, LENGTH);
    p->batch_thread[i] = (uint32_t)below(p, THREADS + 1);
    p->batches[i] =
        (struct ev_object_allocs){.class_ = {(uint32_t)below(p, 4)},
                                  .stack = {(uint32_t)below(p, 3)},
                                  .count = below(p, 100),
                                  .bytes = below(p, 10000),
                                  .since = p->batch_time[i] - below(p, 3) * below(p, 900)};
    struct event e = {.time = p->batch_time[i],
                      .thread = {p->batch_thread[i]},
                      .kind = EV_object_allocs,
                      .size = EVENT_HEAD,
                      .object_allocs = p->batches[i]};
    put(p, &e);
}

static int by_event_time(const void *x, const void *y)
{
    const struct event *e = x, *f = y;
    return (e->time > f->time) - (e->time < f->time);
}

static void make_program(struct program *p, uint64_t seed)
{
    memset(p, 0, sizeof *p);
    p->seed = seed * 7919 + 1;
    p->source = seed % 3 == 1 ? ALLOC_SAMPLED : ALLOC_EXACT;
    analyzed_begin();
    for (int i = 0; i < OBJECTS && seed % 5; i++)
        make_object(p, i);
    while (p->source == ALLOC_EXACT && p->n_batches < BATCHES && seed % 2)
        make_batch(p);
    qsort(p->events, (size_t)p->n_events, sizeof *p->events, by_event_time);
    for (int i = 0; i < p->n_events; i++)
        builder_event(&b, 1 + (uint32_t)below(p, 3), &p->events[i]);
    for (uint64_t time = 0; p->n_pauses < PAUSES; p->n_pauses++) {
        uint64_t from = time + below(p, 2 * LENGTH / PAUSES);
        time = from + 1 + below(p, 50);
        pause_at(from, time);
        p->pauses[p->n_pauses] = at(time);
    }
    analyzed_run(2 * LENGTH);
}

static bool is_alive(const struct object *o, uint64_t time)
{
    return !o->earlier && o->time < time && !(o->freed && o->freed < time);
}

static struct alloc_amount amount_of(const struct program *p, const struct object *o)
{
    if (p->source == ALLOC_SAMPLED)
        return (struct alloc_amount){o->weight, o->weight * 1000 / o->size, 1};
    return (struct alloc_amount){o->size, 1000, 1};
}

static uint64_t part(uint64_t since, uint64_t time, uint64_t amount, uint64_t until)
{
    if (since == time)
        return time < until ? amount : 0;
    if (until <= since)
        return 0;
    return until >= time ? amount : amount * (until - since) / (time - since);
}

/* The amounts of objects for which `is` says so: of a thread, class and stack. */
static void expect(const struct program *p, const struct selection *s,
                   const struct alloc_sum_key *k, struct alloc_amount of[ALLOC_WHATS])
{
    memset(of, 0, ALLOC_WHATS * sizeof *of);
    for (int i = 0; i < OBJECTS; i++) {
        const struct object *o = &p->v[i];
        if (!o->time || o->thread != k->thread || o->class_ != k->class_.v ||
            o->stack != k->stack.v)
            continue;
        bool new = o->time >= s->from && !o->earlier;
        bool freed = o->freed && o->freed >= s->from && o->freed < s->to;
        const bool is[ALLOC_WHATS] = {
            [ALLOC_ALLOCATED] = new && o->time < s->to,   [ALLOC_FREED] = freed && !o->earlier,
            [ALLOC_EARLIER] = freed && o->earlier,        [ALLOC_KEPT] = new &&is_alive(o, s->to),
            [ALLOC_BEFORE] = !new &&is_alive(o, s->from), [ALLOC_OLD] = !new &&is_alive(o, s->to),
        };
        struct alloc_amount x = amount_of(p, o);
        for (int w = 0; w < ALLOC_WHATS; w++)
            if (is[w])
                alloc_amount_add(&of[w], &x);
    }
    for (int i = 0; i < p->n_batches; i++) {
        const struct ev_object_allocs *o = &p->batches[i];
        uint64_t time = p->batch_time[i];
        if (p->batch_thread[i] != k->thread || o->class_.v != k->class_.v ||
            o->stack.v != k->stack.v)
            continue;
        of[ALLOC_ALLOCATED].bytes +=
            part(o->since, time, o->bytes, s->to) - part(o->since, time, o->bytes, s->from);
        of[ALLOC_ALLOCATED].thousandths += part(o->since, time, o->count * 1000, s->to) -
                                           part(o->since, time, o->count * 1000, s->from);
    }
}

static struct selection some_part(struct program *p, bool *threads)
{
    struct selection s = selection_all();
    s.n_threads = THREADS + 1;
    if (below(p, 2)) {
        s.from = at(below(p, LENGTH));
        s.to = s.from + 1 + below(p, LENGTH);
    }
    if (below(p, 2)) {
        for (int i = 0; i <= THREADS; i++)
            threads[i] = below(p, 2);
        s.threads = threads;
    }
    return s;
}

static void check_sums(const struct program *p, const struct selection *s)
{
    const struct alloc_query q = {.selection = *s, .by_thread = true};
    struct alloc_amount total[ALLOC_WHATS] = {{0}}, of[ALLOC_WHATS];
    struct alloc_sums sums;
    cr_assert_eq(alloc_sums_make(&sums, a, &q), 0);
    for (uint32_t i = 0; i <= THREADS * 12u + 11; i++) {
        const struct alloc_sum_key k = {i / 12, {i % 12 / 3}, {i % 3}};
        const struct alloc_sum *found = NULL;
        if (!selection_has(s, k.thread))
            continue;
        for (size_t n = 0; n < sums.n; n++)
            if (sums.v[n].key.thread == k.thread && sums.v[n].key.stack.v == k.stack.v &&
                sums.v[n].key.class_.v == k.class_.v)
                found = &sums.v[n];
        expect(p, s, &k, of);
        for (int w = 0; w < ALLOC_WHATS; w++) {
            static const struct alloc_amount none;
            const struct alloc_amount *got = found ? &found->of[w] : &none;
            cr_assert_eq(got->bytes, of[w].bytes, "thread %u, what %d: %zu, not %zu", k.thread, w,
                         (size_t)got->bytes, (size_t)of[w].bytes);
            cr_assert_eq(got->thousandths, of[w].thousandths, "thread %u, what %d", k.thread, w);
            cr_assert_eq(got->records, of[w].records, "thread %u, what %d", k.thread, w);
            alloc_amount_add(&total[w], &of[w]);
        }
    }
    cr_assert_eq(memcmp(total, sums.total, sizeof total), 0);
    cr_assert_eq(sums.unmatched, 0);
    alloc_sums_fini(&sums);
}

static uint64_t pauses_in(const struct program *p, uint64_t from, uint64_t to)
{
    uint64_t n = 0;
    for (int i = 0; i < p->n_pauses; i++)
        n += p->pauses[i] > from && p->pauses[i] < to;
    return n;
}

static int by_number(const void *x, const void *y)
{
    uint64_t e = *(const uint64_t *)x, f = *(const uint64_t *)y;
    return (e > f) - (e < f);
}

/* Nearest rank over objects that count equally. */
static uint64_t rank(const uint64_t *v, int n, uint64_t permille)
{
    return n ? v[(n * permille + 999) / 1000 - 1] : 0;
}

/* Two classes have one name. */
static bool is_of_class(const struct object *o, class_id class_)
{
    const char *name = trace_class(t, class_)->signature;
    return o->time && strcmp(trace_class(t, (class_id){o->class_})->signature, name) == 0;
}

/* Ages and lifetimes by class; of exact objects. */
static void check_class(const struct program *p, const struct selection *s,
                        const struct alloc_row *r)
{
    uint64_t ages[OBJECTS], lives[OBJECTS];
    int n_ages = 0, n_lives = 0;
    for (int i = 0; i < OBJECTS; i++) {
        const struct object *o = &p->v[i];
        if (!is_of_class(o, r->class_) || !selection_has(s, o->thread))
            continue;
        if (o->time >= s->from && is_alive(o, s->to))
            ages[n_ages++] = pauses_in(p, o->time, s->to);
        if (o->freed && o->freed >= s->from && o->freed < s->to)
            lives[n_lives++] = o->freed - o->time;
    }
    qsort(ages, (size_t)n_ages, sizeof *ages, by_number);
    qsort(lives, (size_t)n_lives, sizeof *lives, by_number);
    cr_assert_eq(r->ages.thousandths, (uint64_t)n_ages * 1000);
    cr_assert_eq(r->lives.thousandths, (uint64_t)n_lives * 1000);
    cr_assert_eq(r->ages.p50, rank(ages, n_ages, 500));
    cr_assert_eq(r->ages.max, n_ages ? ages[n_ages - 1] : 0);
    cr_assert_eq(r->lives.p50, rank(lives, n_lives, 500));
    cr_assert_eq(r->lives.p90, rank(lives, n_lives, 900));
    cr_assert_eq(r->lives.p99, rank(lives, n_lives, 990));
}

/* What stood at each point, of all objects of the chosen threads. */
static void check_points(const struct program *p, const struct selection *s,
                         const struct alloc_tables *x)
{
    for (size_t i = 0; i < x->points.n; i++) {
        uint64_t bytes = 0;
        for (int k = 0; k < OBJECTS; k++) {
            const struct object *o = &p->v[k];
            bool old = o->time && !o->earlier && o->time < x->points.end[i];
            if (old && selection_has(s, o->thread) && !(o->freed && o->freed < x->points.until[i]))
                bytes += amount_of(p, o).bytes;
        }
        cr_assert_eq(x->all.survivors[i], bytes, "point %zu", i);
    }
}

static void check_tables(const struct program *p, const struct selection *s)
{
    struct alloc_tables x;
    cr_assert_eq(alloc_tables_make(&x, a, s, true, &a->arena), 0);
    for (unsigned table = 0; table < ALLOC_TABLES; table++) {
        struct alloc_amount sum[ALLOC_WHATS] = {{0}};
        uint64_t thousandths = 0;
        for (size_t i = 0; i < x.of[table].n; i++) {
            for (unsigned w = 0; w < ALLOC_WHATS; w++)
                alloc_amount_add(&sum[w], &x.of[table].v[i].of[w]);
            thousandths += x.of[table].v[i].ages.thousandths;
            cr_assert(i == 0 || x.of[table].v[i - 1].of[ALLOC_KEPT].bytes >=
                                    x.of[table].v[i].of[ALLOC_KEPT].bytes);
        }
        cr_assert_eq(memcmp(sum, x.all.of, sizeof sum), 0, "table %u", table);
        cr_assert_eq(thousandths, x.all.of[ALLOC_KEPT].thousandths, "table %u", table);
    }
    for (size_t i = 0; i < x.of[ALLOC_BY_CLASS].n && p->source == ALLOC_EXACT; i++)
        check_class(p, s, &x.of[ALLOC_BY_CLASS].v[i]);
    check_points(p, s, &x);
}

static void check_rate(struct program *p)
{
    enum { BUCKETS = 37 };
    uint64_t from = at(below(p, LENGTH)), to = from + 1 + below(p, LENGTH);
    for (uint32_t thread = 0; thread <= THREADS; thread++) {
        uint64_t got[BUCKETS] = {0}, want[BUCKETS] = {0};
        allocs_rate(&a->allocs, thread, from, to, got, BUCKETS);
        for (int i = 0; i < OBJECTS; i++)
            if (p->v[i].time && !p->v[i].earlier && p->v[i].thread == thread &&
                p->v[i].time >= from && p->v[i].time < to)
                want[(p->v[i].time - from) * BUCKETS / (to - from)] += amount_of(p, &p->v[i]).bytes;
        for (int i = 0; i < p->n_batches; i++)
            for (uint64_t k = 0; k < BUCKETS && p->batch_thread[i] == thread; k++) {
                const struct ev_object_allocs *o = &p->batches[i];
                uint64_t begin = from + ((to - from) * k + BUCKETS - 1) / BUCKETS;
                uint64_t end = from + ((to - from) * (k + 1) + BUCKETS - 1) / BUCKETS;
                want[k] += part(o->since, p->batch_time[i], o->bytes, end) -
                           part(o->since, p->batch_time[i], o->bytes, begin);
            }
        for (int k = 0; k < BUCKETS; k++)
            cr_assert_eq(got[k], want[k], "bucket %d: %zu, not %zu", k, (size_t)got[k],
                         (size_t)want[k]);
    }
}

Test(random_allocs, sums_ages_points_rates)
{
    static struct program p;
    bool threads[THREADS + 1];
    for (uint64_t seed = 0; seed < (uint64_t)cases(PROGRAMS); seed++) {
        make_program(&p, seed);
        for (int i = 0; i < 4; i++) {
            const struct selection s = some_part(&p, threads);
            check_sums(&p, &s);
            check_tables(&p, &s);
            check_rate(&p);
        }
        analyzed_end();
    }
}
