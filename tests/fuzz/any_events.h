/* any_events.h - a trace of any events in any order, made from bytes, for fuzz targets.
 *
 * A well-formed file can hold what no JVM does: ends without beginnings, ids that nobody defined,
 * streams that contradict each other.  Input: records of 8 bytes - kind, thread, stream and flags,
 * time step, three ids, size of a gap.  A target with rules of its own takes parts. */
#ifndef ORCA_FUZZ_ANY_EVENTS_H
#define ORCA_FUZZ_ANY_EVENTS_H

#include "../unit/trace_builder.c"

enum { ANY_RECORD = 8, ANY_RECORDS_MAX = 4000, ANY_END = 5000 };

static inline void any_define(struct trace_builder *b)
{
    static const char *const calls[][2] = {
        {"Ljava/util/concurrent/ThreadPoolExecutor;", "execute"},
        {"Ljava/util/concurrent/FutureTask;", "run"},
        {"La/B;", "c"},
    };
    for (int i = 0; i < 5; i++)
        builder_thread_flags(b, i % 2 ? "a" : "", i < 2 ? THREAD_VIRTUAL : 0);
    class_id classes[] = {builder_class(b, "La/B;"), builder_class(b, "[I"),
                          builder_class(b, "La/;\xff;")};
    for (int i = 0; i < 6; i++)
        builder_lock(b, classes[i % 3]);
    builder_stack(b, "java.lang.Object.wait0:native a.B.c:3");
    builder_stack(b, "a.B.c:4");
    for (uint32_t i = 0; i < 3; i++)
        builder_def(b, &(struct def){.kind = DEF_call,
                                     .call = {.id = {i + 1},
                                              .name = {"call", 4},
                                              .class_name = {calls[i][0], strlen(calls[i][0])},
                                              .method = {calls[i][1], strlen(calls[i][1])}}});
}

/* Small ids are defined, large ones are not. */
static inline uint32_t any_id(uint8_t byte)
{
    return byte < 250 ? byte % 9 : byte == 255 ? UINT32_MAX : byte * 1000u;
}

static inline void any_fill(struct event *e, const uint8_t *r)
{
    const struct kind_info *k = &event_kinds[e->kind];
    const struct field *f = k->fields();
    for (unsigned i = 0; i < k->n_fields; i++) {
        char *at = (char *)e + EVENT_HEAD + f[i].offset;
        uint32_t v = any_id(r[4 + i % 3]);
        if (f[i].type == FIELD_time) {
            uint64_t since = e->time - r[4] * 10u;
            memcpy(at, &since, sizeof since);
        } else if (f[i].type == FIELD_u64 || f[i].type == FIELD_i64) {
            uint64_t wide = v;
            memcpy(at, &wide, sizeof wide);
        } else {
            memcpy(at, &v, sizeof v);
        }
    }
}

static inline void any_add(struct trace_builder *b, const uint8_t *r, uint64_t now[4])
{
    uint32_t stream = r[2] % 4;
    struct event e = {.kind = r[0] % EV_LIMIT, .thread = {any_id(r[1])}};
    if (!event_kinds[e.kind].name)
        return;
    now[stream] += r[3];
    e.time = BUILDER_START + now[stream];
    any_fill(&e, r);
    if (r[7] > 250)
        builder_gap(b, stream + 1, r[7]);
    builder_event(b, stream + 1, &e);
}

/* Half of the inputs count as imported: causes are bound by other rules then (analyze/bind.h). */
static inline struct trace *any_trace(const uint8_t *data, size_t size)
{
    struct trace_builder b;
    uint64_t now[4] = {0};
    builder_init(&b);
    b.block_events = 1 + (size ? data[0] % 16 : 0);
    if (size && data[0] >= 128)
        builder_info(&b, "import.format", "orca");
    any_define(&b);
    for (size_t i = 0; i + ANY_RECORD <= size && i < (size_t)ANY_RECORD * ANY_RECORDS_MAX;
         i += ANY_RECORD)
        any_add(&b, data + i, now);
    return builder_open(&b, ANY_END);
}

#endif
