/* analyze_fuzz.c - any order of any events, analysed and reported.
 *
 * A well-formed file can hold what no JVM does: ends without beginnings, ids that nobody defined,
 * streams that contradict each other.  Input: records of 8 bytes - kind, thread, stream and flags,
 * time step, lock, owner, stack, size of a gap. */
#include "../unit/trace_builder.c"

#include "cli/report.h"

#include <fcntl.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RECORD = 8, RECORDS_MAX = 4000 };

static void define(struct trace_builder *b)
{
    for (int i = 0; i < 5; i++)
        builder_thread_flags(b, i % 2 ? "a" : "", i < 2 ? THREAD_VIRTUAL : 0);
    class_id classes[] = {builder_class(b, "La/B;"), builder_class(b, "[I"),
                          builder_class(b, "La/B;")};
    for (int i = 0; i < 6; i++)
        builder_lock(b, classes[i % 3]);
    builder_stack(b, "java.lang.Object.wait0:native a.B.c:3");
    builder_stack(b, "a.B.c:4");
}

/* Small ids are defined, large ones are not. */
static uint32_t id(uint8_t byte)
{
    return byte < 250 ? byte % 9 : byte == 255 ? UINT32_MAX : byte * 1000u;
}

static void fill(struct event *e, const uint8_t *r)
{
    const struct kind_info *k = &event_kinds[e->kind];
    const struct field *f = k->fields();
    for (unsigned i = 0; i < k->n_fields; i++) {
        char *at = (char *)e + EVENT_HEAD + f[i].offset;
        uint32_t v = id(r[4 + i % 3]);
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

static void add_record(struct trace_builder *b, const uint8_t *r, uint64_t now[4])
{
    static const uint8_t kinds[] = {EV_monitor_contended_enter,
                                    EV_monitor_contended_entered,
                                    EV_wait_enter,
                                    EV_wait_exit,
                                    EV_join_enter,
                                    EV_join_exit,
                                    EV_sleep_enter,
                                    EV_sleep_exit,
                                    EV_thread_start,
                                    EV_thread_end,
                                    EV_lost,
                                    EV_wait_open,
                                    EV_gc_start,
                                    EV_gc_finish};
    uint32_t stream = r[2] % 4;
    struct event e = {.kind = kinds[r[0] % sizeof kinds], .thread = {id(r[1])}};
    now[stream] += r[3];
    e.time = BUILDER_START + now[stream];
    fill(&e, r);
    if (r[7] > 250)
        builder_gap(b, stream + 1, r[7]);
    builder_event(b, stream + 1, &e);
}

static void check(const struct analysis *a)
{
    uint64_t blocked = 0, waited = 0;
    for (size_t i = 0; i < a->threads.n; i++) {
        uint64_t sum = 0;
        for (int k = 0; k < STATE_LIMIT; k++)
            sum += a->threads.v[i].state[k].ns;
        require(sum <= thread_life(&a->threads.v[i]), "a thread's states exceed its life");
    }
    for (size_t i = 0; i < a->locks.n_classes; i++) {
        blocked += a->locks.classes[i].blocked.total;
        waited += a->locks.classes[i].waited.total;
    }
    require(blocked == a->total[STATE_BLOCKED].ns, "blocked: classes and threads differ");
    require(waited == a->total[STATE_WAITING].ns, "waited: classes and threads differ");
}

/* The reports print to stdout, which goes nowhere here. */
static void quiet(void)
{
    static bool done;
    int fd = done ? -1 : open("/dev/null", O_WRONLY);
    if (fd >= 0)
        dup2(fd, STDOUT_FILENO);
    done = true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trace_builder b;
    struct err err;
    uint64_t now[4] = {0};
    quiet();
    builder_init(&b);
    b.block_events = 1 + (size ? data[0] % 16 : 0);
    define(&b);
    for (size_t i = 0; i + RECORD <= size && i < RECORD * RECORDS_MAX; i += RECORD)
        add_record(&b, data + i, now);
    struct report r = {.trace = builder_open(&b, 5000), .path = "fuzz", .sections = REPORT_ALL};
    require(analysis_run(&r.a, r.trace, &err) == 0, "analysis");
    check(r.a);
    require(report_init(&r, NULL, &err) == 0, "report_init");
    report_text(&r, &err);
    report_json(&r, &err);
    analysis_free(r.a);
    trace_close(r.trace);
    return 0;
}
