/* analyze_fuzz.c - any order of any events, analysed and reported.
 *
 * A well-formed file can hold what no JVM does: ends without beginnings, ids that nobody defined,
 * streams that contradict each other.  Input: records of 8 bytes - kind, thread, stream and flags,
 * time step, lock, owner, stack, size of a gap. */
#include "any_events.h"

#include "cli/page.h"
#include "conclude/resource.h"
#include "export/report_json.h"

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
                                    EV_gc_finish,
                                    EV_thread_start_called,
                                    EV_notify,
                                    EV_notify_all,
                                    EV_park_enter,
                                    EV_park_exit,
                                    EV_unpark,
                                    EV_interrupt,
                                    EV_interrupted,
                                    EV_semaphore_acquire_enter,
                                    EV_semaphore_acquire_exit,
                                    EV_semaphore_release,
                                    EV_call_enter,
                                    EV_call_exit,
                                    EV_call,
                                    EV_hold,
                                    EV_owner_stack,
                                    EV_wait_found,
                                    EV_gc_cycle,
                                    EV_turn,
                                    EV_turns_known,
                                    EV_processor_share,
                                    EV_quota,
                                    EV_io,
                                    EV_park_io,
                                    EV_io_read};
    uint32_t stream = r[2] % 4;
    struct event e = {.kind = kinds[r[0] % sizeof kinds], .thread = {any_id(r[1])}};
    now[stream] += r[3];
    e.time = BUILDER_START + now[stream];
    any_fill(&e, r);
    if (r[7] > 250)
        builder_gap(b, stream + 1, r[7]);
    builder_event(b, stream + 1, &e);
}

/* The tables agree with each other. */
static void check_stats(const struct analysis *a)
{
    uint64_t by_class[STATE_LIMIT] = {0}, by_site[STATE_LIMIT] = {0};
    for (size_t i = 0; i < a->threads.n; i++) {
        const struct thread_sums *t = &a->stats.threads[i];
        uint64_t sum = 0;
        for (int k = 0; k < STATE_LIMIT; k++)
            sum += t->state[k].ns;
        require(sum <= t->life, "a thread's states exceed its life");
    }
    for (int k = 0; k < STATE_LIMIT; k++) {
        for (size_t i = 0; i < a->locks.n_groups; i++)
            by_class[k] += a->stats.classes[i].state[k].ns;
        for (size_t i = 0; i < a->sites.n; i++)
            by_site[k] += a->stats.sites[i].state[k].ns;
        require(by_class[k] == a->stats.total[k].ns, "classes and threads differ");
        require(by_site[k] == a->stats.total[k].ns, "places and threads differ");
    }
}

static void check_bottles(const struct bottles *g)
{
    unsigned __int128 sum = 0, all = (unsigned __int128)g->elapsed << 32;
    uint64_t levels = 0;
    for (size_t i = 0; i < g->n; i++)
        sum += g->v[i].charged;
    for (int i = 0; i < BOTTLE_LEVELS; i++)
        levels += g->level[i];
    sum += (unsigned __int128)g->idle << 32;
    require(levels == g->elapsed, "the levels are not the elapsed time");
    require(sum <= all && all - sum <= (unsigned __int128)1 << 40, "heights are not the time");
}

/* The segments tile the time of the path. */
static void check_path(const struct path *p)
{
    uint64_t at = p->from, kinds = 0;
    for (size_t i = 0; i < p->n; i++) {
        require(p->v[i].from == at && p->v[i].to > at, "a path has a gap");
        at = p->v[i].to;
    }
    for (int i = 0; i < PATH_KINDS; i++)
        kinds += p->kind_ns[i];
    require(at == p->to && kinds == p->to - p->from, "a path does not end at its end");
}

static void check(struct analysis *a, uint64_t part)
{
    check_stats(a);
    check_bottles(&a->bottles);
    check_path(&a->path);
    for (uint32_t i = 1; i < a->threads.n && i < 8; i++) {
        uint64_t length = a->window.to - a->window.from;
        uint64_t to = i % 2 ? a->threads.v[i].to : a->window.from + part % (length + 1);
        require(analysis_follow(a, i, to, a->window.from) == 0, "path");
        check_path(&a->path);
        require(analysis_slack(a) == 0, "slack");
    }
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
    struct report r = {
        .trace = builder_open(&b, 5000), .path = "fuzz", .sections = REPORT_ALL | REPORT_SCREEN};
    require(conclude_run(&r.a, r.trace, &err) == 0, "analysis");
    check(r.a, size ? data[size - 1] * 20u : 0);
    const struct report_part part = {.from = size > 1 ? data[1] : 0,
                                     .to = size > 2 && data[2] > 100 ? 255u + data[2] : UINT64_MAX,
                                     .lock = size > 3 && data[3] < 6 ? data[3] : 0};
    if (report_select(&r, &part, &err) < 0) {
        analysis_free(r.a);
        trace_close(r.trace);
        return 0;
    }
    check_stats(r.a);
    require(report_init(&r, NULL, &err) == 0, "report_init");
    report_text(&r, 0, &err); /* the first screen, */
    r.sections = REPORT_ALL;
    for (unsigned i = 0; i + report_unnumbered(&r) <= r.n_findings;
         i++) /* each section, each finding */
        report_text(&r, i, &err);
    report_json(&r, stdout);
    analysis_free(r.a);
    trace_close(r.trace);
    return 0;
}
