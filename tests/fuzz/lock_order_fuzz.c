/* lock_order_fuzz.c - locks taken, wanted and waited on in any order, by any threads: what is found
 * must be a cycle.
 *
 * A well-formed file can hold what no JVM does: two owners of a lock, holds that overlap in time
 * within one thread, ids that nobody defined.  Input: records of 8 bytes - kind, thread, stream,
 * time step, lock, other thread or lock, stack or mode, how long ago. */
#include "any_events.h"

#include "analyze/analysis.h"
#include "analyze/lock_order.h"
#include "conclude/resource.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RECORD = 8, RECORDS_MAX = 4000, THREADS = 6, LOCKS = 7, STEP = 7000 };

static void define(struct trace_builder *b, uint8_t options)
{
    for (int i = 0; i < THREADS; i++)
        builder_thread_flags(b, "a", i < 2 ? THREAD_VIRTUAL : 0);
    class_id classes[] = {builder_class(b, "La/B;"), builder_class(b, "La/C;")};
    for (int i = 0; i < LOCKS; i++)
        builder_lock(b, classes[i % 2]);
    builder_stack(b, "a.B.b:3");
    builder_stack(b, "java.lang.Object.wait0:native a.B.c:4");
    if (options & 1)
        builder_info(b, "orca.holdsample", "10");
}

static void fill(struct event *e, const uint8_t *r)
{
    const struct kind_info *k = &event_kinds[e->kind];
    const struct field *f = k->fields();
    for (unsigned i = 0; i < k->n_fields; i++) {
        char *at = (char *)e + EVENT_HEAD + f[i].offset;
        uint32_t v = any_id(r[4 + i % 3]);
        uint64_t wide = v, since = e->time - r[7] * (uint64_t)STEP / 2;
        if (f[i].type == FIELD_time)
            memcpy(at, &since, sizeof since);
        else if (f[i].type == FIELD_u64 || f[i].type == FIELD_i64)
            memcpy(at, &wide, sizeof wide);
        else
            memcpy(at, &v, sizeof v);
    }
    if (e->kind == EV_hold)
        e->hold.mode = r[6] % 3;
}

static void add_record(struct trace_builder *b, const uint8_t *r, uint64_t now[4])
{
    static const uint8_t kinds[] = {
        EV_hold,         EV_hold,        EV_hold,        EV_monitor_contended_enter,
        EV_wait_enter,   EV_wait_exit,   EV_notify,      EV_monitor_contended_entered,
        EV_park_enter,   EV_park_exit,   EV_unpark,      EV_thread_start_called,
        EV_thread_start, EV_thread_end,  EV_join_enter,  EV_join_exit,
        EV_interrupt,    EV_interrupted, EV_owner_stack, EV_lost,
    };
    uint32_t stream = r[2] % 4;
    struct event e = {.kind = kinds[r[0] % sizeof kinds], .thread = {any_id(r[1])}};
    now[stream] += r[3] * (uint64_t)STEP;
    e.time = BUILDER_START + now[stream];
    fill(&e, r);
    builder_event(b, stream + 1, &e);
}

static void check_finding(const struct lock_order_finding *f)
{
    require(f->n_sides >= 2 && f->n_sides <= LOCK_ORDER_LONGEST, "a cycle of no such length");
    require(f->count >= 1 && f->cycles >= 1, "a finding of nothing");
    require(!f->partial || !f->checked, "checked with what is not known");
    for (uint32_t i = 0; i < f->n_sides; i++) {
        const struct lock_order_side *s = &f->sides[i];
        require(s->wanted.v == f->sides[(i + 1) % f->n_sides].held.v, "no cycle");
        require(s->wanted.v != s->held.v, "a lock before itself");
        require(s->from <= s->to, "a section ends before it begins");
        for (uint32_t k = 0; k < i; k++)
            require(s->thread != f->sides[k].thread, "one thread at two places");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trace_builder b;
    struct analysis *a;
    struct lock_order found;
    struct arena arena;
    struct err err;
    uint64_t now[4] = {0};
    builder_init(&b);
    define(&b, size ? data[0] : 0);
    for (size_t i = 0; i + RECORD <= size && i < RECORD * RECORDS_MAX; i += RECORD)
        add_record(&b, data + i, now);
    struct trace *t = builder_open(&b, 5000 * (uint64_t)STEP);
    arena_init(&arena, 0);
    require(conclude_run(&a, t, &err) == 0, "analysis");
    require(lock_order_find(&found, a, &arena) == 0, "lock_order_find");
    for (size_t i = 0; i < found.n; i++) {
        check_finding(&found.v[i]);
        require(i == 0 || found.v[i - 1].distance <= found.v[i].distance, "out of rank");
    }
    arena_fini(&arena);
    analysis_free(a);
    trace_close(t);
    return 0;
}
