/* orca_round_trip_test.c - trace -> text -> import -> text, on random traces.
 *
 * ORCA_SEED=n in the environment repeats the run that printed it. */
#include "base/util.h"
#include "export/export.h"
#include "orca_files.h"
#include "trace_builder.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 150, MANY = 6 };

/* --- random traces ---------------------------------------------------------------------------- */

struct random_trace {
    uint64_t state; /* of xorshift64* */
    struct trace_builder b;
    uint32_t n_threads, n_locks, n_methods, n_stacks, n_classes, n_calls;
    uint64_t at, tick; /* times are multiples of it */
};

static uint32_t below(struct random_trace *r, uint32_t n)
{
    r->state ^= r->state >> 12;
    r->state ^= r->state << 25;
    r->state ^= r->state >> 27;
    return (uint32_t)((r->state * UINT64_C(2685821657736338717)) >> 33) % n;
}

/* Few different hashes, so that some are equal, and some unknown. */
static uint32_t hash(struct random_trace *r)
{
    static const uint32_t odd[] = {0, 0, 1, 0x80000001, 0x80000002, UINT32_MAX, 0xFFFF38D6};
    return below(r, 4) ? below(r, 1u << 31) : odd[below(r, ARRAY_LEN(odd))];
}

static struct str text(const char *s)
{
    return (struct str){s, strlen(s)};
}

static void add_threads(struct random_trace *r)
{
    static const char *const odd[] = {"", "a,b", "a;b", " x ", "line\nbreak", "\xe2\x82\xac", "?"};
    r->n_threads = 1 + below(r, MANY);
    for (uint32_t i = 1; i <= r->n_threads; i++) {
        char name[40];
        snprintf(name, sizeof name, "thread-%u%s", i, odd[below(r, ARRAY_LEN(odd))]);
        struct def d = {
            .kind = DEF_thread,
            .thread = {.id = {i}, .hash = hash(r), .flags = below(r, 4), .name = text(name)}};
        builder_def(&r->b, &d);
    }
}

static void add_locks(struct random_trace *r)
{
    r->n_locks = 1 + below(r, MANY);
    for (uint32_t i = 1; i <= r->n_locks; i++)
        builder_def(&r->b, &(struct def){.kind = DEF_lock, .lock = {.id = {i}, .hash = hash(r)}});
}

/* Two of the classes have the same name, as those of two loaders do. */
static void add_classes(struct random_trace *r)
{
    static const char *const signatures[] = {"LA;", "Lorg/x/B$1;", "LC,D;", "[[I", "LA;"};
    static const char *const sources[] = {"A.java", "", "x,y.kt"};
    r->n_classes = 1 + below(r, ARRAY_LEN(signatures));
    for (uint32_t i = 1; i <= r->n_classes; i++)
        builder_def(&r->b, &(struct def){.kind = DEF_class,
                                         .class = {.id = {i},
                                                   .hash = hash(r),
                                                   .signature = text(signatures[i - 1]),
                                                   .source = text(sources[below(r, 3)])}});
}

static void add_methods(struct random_trace *r)
{
    static const char *const names[] = {"run", "<init>", "lambda$0", "a, b", "\xc3\xa9"};
    r->n_methods = 1 + below(r, MANY);
    for (uint32_t i = 1; i <= r->n_methods; i++) {
        struct buf lines = {0};
        uint32_t n = below(r, 5), start = 0, line = 0;
        for (uint32_t k = 0; k < n; k++) {
            uint32_t to = k ? start + 1 + below(r, 300) : below(r, 2), at = 1 + below(r, 70000);
            packed_put_line(&lines, to, at, start, line);
            start = to;
            line = at;
        }
        builder_def(&r->b, &(struct def){.kind = DEF_method,
                                         .method = {.id = {i},
                                                    .class_ = {below(r, r->n_classes + 1)},
                                                    .name = text(names[below(r, ARRAY_LEN(names))]),
                                                    .signature = text("(ILA;)V"),
                                                    .lines = {lines.p, lines.len, n}}});
        buf_fini(&lines);
    }
}

/* Frames of methods without a definition, and the unknown one, occur. */
static void add_stacks(struct random_trace *r)
{
    r->n_stacks = 1 + below(r, MANY);
    for (uint32_t i = 1; i <= r->n_stacks; i++) {
        struct buf frames = {0};
        uint32_t n = below(r, 8);
        for (uint32_t k = 0; k < n; k++)
            packed_put_frame(&frames, (method_id){below(r, r->n_methods + 3)},
                             below(r, 3) ? (int32_t)below(r, 70000) : -1);
        builder_def(&r->b,
                    &(struct def){.kind = DEF_stack,
                                  .stack = {.id = {i}, .frames = {frames.p, frames.len, n}}});
        buf_fini(&frames);
    }
}

/* Two share their names, one has no row. */
static void add_calls(struct random_trace *r)
{
    static const char *const rows[] = {"A#get(I) blocks this Get GotIt", "A#put calls arg0 Put", "",
                                       "A#get(J) tries none Get GotIt", "B#x nests In Out"};
    r->n_calls = ARRAY_LEN(rows);
    for (uint32_t i = 1; i <= r->n_calls; i++)
        builder_def(&r->b, &(struct def){.kind = DEF_call,
                                         .call = {.id = {i},
                                                  .name = text("A.get"),
                                                  .class_name = text("LA;"),
                                                  .method = text("get"),
                                                  .row = text(rows[i - 1])}});
}

static void begin(struct random_trace *r, uint64_t seed)
{
    memset(r, 0, sizeof *r);
    r->state = seed * 2 + 1;
    r->tick = 1;
    builder_init(&r->b);
    r->b.block_events = 1 + below(r, 20);
    add_threads(r);
    add_locks(r);
    add_classes(r);
    add_methods(r);
    add_stacks(r);
    add_calls(r);
}

/* Any ids; 0 is unknown, and one beyond the last has no definition. */
static void fill(struct random_trace *r, struct event *e)
{
    const struct kind_info *k = &event_kinds[e->kind];
    const struct field *f = k->fields();
    for (unsigned i = 0; i < k->n_fields; i++) {
        uint32_t v = below(r, 100);
        if (f[i].type == FIELD_thread)
            v = below(r, r->n_threads + 2);
        else if (f[i].type == FIELD_lock)
            v = below(r, r->n_locks + 2);
        else if (f[i].type == FIELD_stack)
            v = below(r, r->n_stacks + 2);
        else if (f[i].type == FIELD_call)
            v = below(r, r->n_calls + 2);
        memcpy((char *)e + EVENT_HEAD + f[i].offset, &v, sizeof v);
    }
}

static void add(struct random_trace *r, uint32_t stream, struct event *e)
{
    uint64_t step = below(r, 3) ? 0 : below(r, 2000000000); /* mostly ties */
    r->at += step / r->tick * r->tick;
    e->time = BUILDER_START + r->at;
    builder_event(&r->b, 1 + stream % 3, e);
}

/* Events in any order, as no JVM would cause them; only losses, which the text does not show, are
 * left out. */
static struct trace *wild(struct random_trace *r)
{
    for (int n = 200; n-- > 0;) {
        struct event e = {.kind = (uint16_t)below(r, EV_LIMIT)};
        if (!event_kinds[e.kind].name || e.kind == EV_lost)
            continue;
        memset(&e.recording_start, 0, sizeof e - EVENT_HEAD);
        e.thread.v = below(r, r->n_threads + 2);
        fill(r, &e);
        add(r, below(r, 3), &e);
    }
    return builder_open(&r->b, r->at);
}

/* --- the property ----------------------------------------------------------------------------- */

/* The same traces each time; ORCA_SEED=N: others. */
static uint64_t first_seed(void)
{
    const char *seed = getenv("ORCA_SEED");
    return seed ? strtoull(seed, NULL, 10) : 1;
}

static void same_files(const struct orca_files *a, const struct orca_files *b, const char *what,
                       uint64_t seed)
{
    for (size_t i = 0; i < EXPORT_FILES_MAX; i++) {
        cr_assert_eq(!a->text[i], !b->text[i]);
        if (!a->text[i] || strcmp(a->text[i], b->text[i]) == 0)
            continue;
        size_t at = 0;
        while (a->text[i][at] == b->text[i][at])
            at++;
        while (at > 0 && a->text[i][at - 1] != '\n')
            at--;
        cr_assert(false, "ORCA_SEED=%llu: %s file %zu differs\nfirst   %.*s\nsecond %.*s",
                  (unsigned long long)seed, what, i, (int)strcspn(a->text[i] + at, "\n"),
                  a->text[i] + at, (int)strcspn(b->text[i] + at, "\n"), b->text[i] + at);
    }
}

Test(orca_round_trip, text_imported_and_exported_is_the_same_text, .timeout = 60)
{
    static const char *const formats[] = {"orca", "orca-1.1"};
    uint64_t seed = first_seed();
    for (int run = 0; run < RUNS; run++, seed++) {
        struct random_trace r;
        begin(&r, seed);
        struct trace *t = wild(&r);
        for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
            const struct exporter *x = exporter_find(formats[i]);
            struct orca_files first = files_export(x, t);
            struct trace *again = files_import_again(&first);
            struct orca_files second = files_export(x, again);
            same_files(&first, &second, formats[i], seed);
            cr_assert_eq(second.job.suppressed, 0, "ORCA_SEED=%llu", (unsigned long long)seed);
            files_free(&first);
            files_free(&second);
            trace_close(again);
        }
        trace_close(t);
    }
}

/* --- the same events -------------------------------------------------------------------------- */

/* What a program does: a call ends before the next begins, every thread is introduced first, and
 * nothing is unknown but the owner. */
static struct trace *tame(struct random_trace *r)
{
    static const uint16_t pairs[][2] = {
        {EV_wait_enter, EV_wait_exit},
        {EV_sleep_enter, EV_sleep_exit},
        {EV_join_enter, EV_join_exit},
        {EV_semaphore_acquire_enter, EV_semaphore_acquire_exit},
        {EV_monitor_contended_enter, EV_monitor_contended_entered},
        {EV_notify, EV_notify_all},
        {EV_thread_start_called, EV_semaphore_release},
        {EV_gc_start, EV_gc_finish},
    };
    struct event open[MANY + 1] = {{.kind = 0}};
    for (uint32_t i = 1; i <= r->n_threads + 1; i++)
        add(r, i,
            &(struct event){.kind = below(r, 2) ? EV_thread_start : EV_thread_alive,
                            .thread = {i}});
    r->at += r->tick; /* streams order ties, and nobody is to act before it is there */
    for (int n = 200; n-- > 0;) {
        struct event *e = &open[1 + below(r, r->n_threads)];
        uint32_t thread = (uint32_t)(e - open), exit = e->kind;
        if (!exit) {
            const uint16_t *pair = pairs[below(r, ARRAY_LEN(pairs))];
            memset(e, 0, sizeof *e);
            e->kind = pair[0];
            e->thread.v = thread;
            fill(r, e);
            add(r, thread, e);
            e->kind = pair[1];
        } else {
            /* The first field of both is the same object; so should be the stack. */
            if (exit == EV_sleep_exit)
                e->sleep_exit.stack = e->sleep_enter.stack;
            add(r, thread, e);
            e->kind = 0;
        }
    }
    return builder_open(&r->b, r->at);
}

/* Hashes and definitions that the text can tell apart. */
static void distinct(struct random_trace *r)
{
    for (uint32_t i = 1; i <= r->n_threads + 1; i++) {
        char name[20];
        snprintf(name, sizeof name, "T%u", i);
        builder_def(&r->b,
                    &(struct def){.kind = DEF_thread,
                                  .thread = {.id = {i}, .hash = 0x100 + i, .name = text(name)}});
    }
    for (uint32_t i = 1; i <= r->n_locks + 1; i++)
        builder_def(&r->b, &(struct def){.kind = DEF_lock, .lock = {.id = {i}, .hash = 0x200 + i}});
}

static void put_frames(struct buf *b, const struct trace *t, stack_id id)
{
    const struct trace_stack *s = trace_stack(t, id);
    for (uint32_t i = 0; i < s->n_frames; i++) {
        const struct trace_method *m = trace_method(t, s->frames[i].method);
        const struct trace_class *c = trace_class(t, m->class_);
        buf_printf(b, " %s.%s%s(%s:%d)@%d", c->signature, m->name, m->signature, c->source,
                   trace_line(t, s->frames[i]), s->frames[i].bci);
    }
}

/* An event as far as the text has it, by names instead of ids. */
static void put_event(struct buf *b, const struct trace *t, const struct event *e)
{
    const struct kind_info *k = &event_kinds[e->kind];
    const struct field *f = k->fields();
    buf_printf(b, "%llu %s %s", (unsigned long long)e->time,
               e->kind == EV_thread_alive ? "thread_start" : k->name,
               trace_thread(t, e->thread)->name);
    for (unsigned i = 0; i < k->n_fields; i++) {
        uint32_t v = (uint32_t)field_get(&f[i], (const char *)e + EVENT_HEAD);
        if (f[i].type == FIELD_thread)
            buf_printf(b, " %s", v ? trace_thread(t, (thread_id){v})->name : "-");
        else if (f[i].type == FIELD_lock)
            buf_printf(b, " %X", trace_lock(t, (lock_id){v})->hash);
        else if (f[i].type == FIELD_stack)
            put_frames(b, t, (stack_id){v});
    }
    buf_putc(b, '\n');
}

static struct buf events_of(struct trace *t)
{
    struct buf b = {0};
    struct trace_iter *it;
    struct event e;
    struct err err;
    cr_assert_eq(trace_iter_open(&it, t, &err), 0);
    while (trace_iter_next(it, &e, NULL, &err) > 0)
        if (event_kinds[e.kind].group != GROUP_gc && event_kinds[e.kind].group != GROUP_parks)
            put_event(&b, t, &e);
    trace_iter_close(it);
    for (size_t i = 0; i < b.len; i++) /* the text has no ',' in names */
        b.p[i] = b.p[i] == ',' ? '_' : b.p[i];
    buf_str(&b);
    return b;
}

Test(orca_round_trip, the_imported_events_are_the_exported_ones, .timeout = 60)
{
    uint64_t seed = first_seed();
    for (int run = 0; run < RUNS; run++, seed++) {
        struct random_trace r;
        begin(&r, seed);
        distinct(&r);
        struct trace *t = tame(&r);
        struct orca_files f = files_export(exporter_find("orca"), t);
        struct trace *again = files_import_again(&f);
        struct buf a = events_of(t), b = events_of(again);
        cr_assert_eq(f.job.suppressed, 0, "ORCA_SEED=%llu", (unsigned long long)seed);
        size_t at = 0;
        while (at < a.len && a.p[at] == b.p[at])
            at++;
        while (at > 0 && at < a.len && a.p[at - 1] != '\n')
            at--;
        cr_assert(strcmp(buf_str(&a), buf_str(&b)) == 0,
                  "ORCA_SEED=%llu\nfirst   %.*s\nsecond %.*s", (unsigned long long)seed,
                  (int)strcspn((char *)a.p + at, "\n"), (char *)a.p + at,
                  (int)strcspn((char *)b.p + at, "\n"), (char *)b.p + at);
        buf_fini(&a);
        buf_fini(&b);
        files_free(&f);
        trace_close(again);
        trace_close(t);
    }
}

/* --- XML -------------------------------------------------------------------------------------- */

Test(orca_round_trip, tptp_imported_and_exported_is_the_same_xml, .timeout = 60)
{
    const struct exporter *x = exporter_find("tptp");
    uint64_t seed = first_seed();
    for (int run = 0; run < RUNS; run++, seed++) {
        struct random_trace r;
        begin(&r, seed);
        distinct(&r);
        r.tick = 1000000; /* time-outs are rounded to it */
        struct trace *t = tame(&r);
        struct orca_files first = files_export(x, t);
        struct trace *again = files_import_xml_again(&first);
        struct orca_files second = files_export(x, again);
        same_files(&first, &second, "tptp", seed);
        files_free(&first);
        files_free(&second);
        trace_close(again);
        trace_close(t);
    }
}

Test(orca_round_trip, whatever_was_exported_can_be_imported, .timeout = 60)
{
    uint64_t seed = first_seed();
    for (int run = 0; run < RUNS; run++, seed++) {
        struct random_trace r;
        begin(&r, seed);
        struct trace *t = wild(&r);
        struct orca_files f = files_export(exporter_find("tptp"), t);
        struct trace *again = files_import_xml_again(&f);
        cr_assert_geq(again->n_events, f.job.lines[0], "ORCA_SEED=%llu", (unsigned long long)seed);
        files_free(&f);
        trace_close(again);
        trace_close(t);
    }
}
