/* export_fuzz.c - any order of any events, analysed and written in every format of the model; what
 * they add up must be what the report does. */
#include "any_events.h"
#include "conclude/resource.h"

#include "export/model_export.h"
#include "export/wait_sums.h"

#include <fcntl.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The exports go to the standard output, which goes nowhere here. */
static void quiet(void)
{
    static bool done;
    int fd = done ? -1 : open("/dev/null", O_WRONLY);
    if (fd >= 0)
        dup2(fd, STDOUT_FILENO);
    done = true;
}

static void check_sums(const struct model_export *x, const struct stats *stats)
{
    struct state_stats total[STATE_LIMIT] = {{0, 0}};
    struct model_export copy = *x;
    struct wait_sums sums;
    require(wait_sums_make(&sums, &copy, SUMS_BY_WAITER) == 0, "out of memory");
    for (size_t i = 0; i < sums.n; i++) {
        if (sums.v[i].key.state >= STATE_LIMIT)
            continue; /* no wait: input and output, turns on processors */
        total[sums.v[i].key.state].count += sums.v[i].count;
        total[sums.v[i].key.state].ns += sums.v[i].ns;
    }
    wait_sums_fini(&sums);
    for (int i = 0; i < STATE_LIMIT; i++)
        require(total[i].count == stats->total[i].count && total[i].ns == stats->total[i].ns,
                "the sums are not those of the report");
}

static void export_all(struct analysis *a, const struct model_options *o)
{
    struct err err;
    struct stats stats;
    require(analysis_stats(a, &o->selection, &stats) == 0, "out of memory");
    check_sums(&(struct model_export){.a = a, .options = *o}, &stats);
    for (size_t i = 0; model_exporters[i]; i++) {
        struct model_job job = {.a = a, .options = *o};
        require(model_export_run(model_exporters[i], &job, &err) == 0, "an export failed");
    }
    stats_fini(&stats);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err;
    struct analysis *a;
    struct trace *t = any_trace(data, size);
    quiet();
    require(conclude_run(&a, t, &err) == 0, "analysis");
    struct model_options o = {.selection = selection_all(), .states = WAITS_ALL, .threads = true};
    o.by = size > 1 ? data[1] % 3 : 0;
    export_all(a, &o);
    if (size > 4) {
        bool *chosen = calloc(a->threads.n, sizeof *chosen);
        for (size_t i = 0; chosen && i < a->threads.n; i++)
            chosen[i] = data[2] >> i % 8 & 1;
        uint64_t from = BUILDER_START + data[3] * UINT64_C(4);
        o.selection = (struct selection){.from = from,
                                         .to = from + data[4] * UINT64_C(8),
                                         .threads = chosen,
                                         .n_threads = a->threads.n};
        export_all(a, &o);
        free(chosen);
    }
    analysis_free(a);
    trace_close(t);
    return 0;
}
