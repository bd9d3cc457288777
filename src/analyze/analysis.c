#include "analyze/analysis.h"

#include "analyze/labels.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

/* Whether the oldest events were overwritten.  The header says so only once the trace is closed;
 * before, the first chunk tells by its number. */
static bool is_windowed(const struct trace *t)
{
    if (!t->header.capacity)
        return false;
    return t->header.evicted_events || (t->n_chunks && t->chunks[0].h.seq > 0);
}

static struct decode_window window_of(const struct trace *t, bool windowed)
{
    uint64_t start = t->header.start_mono, end = t->header.end_mono;
    struct decode_window w = {start, max_u64(start, end)};
    if (t->n_events == 0)
        return w;
    if (windowed || start == 0 || t->first < start)
        w.from = t->first;
    w.to = max_u64(t->last, end);
    return w;
}

static int start(struct analysis *a, struct trace *t, struct err *err)
{
    a->trace = t;
    arena_init(&a->arena, 0);
    a->windowed = is_windowed(t);
    a->window = window_of(t, a->windowed);
    TRY(thread_set_init(&a->threads, t, err));
    TRY(lock_set_init(&a->locks, t, &a->arena, err));
    TRY(sites_init(&a->sites, t, &a->locks, &a->arena, err));
    blames_init(&a->blames, &a->locks, &a->arena);
    return 0;
}

static void add_totals(struct analysis *a)
{
    for (size_t i = 0; i < a->threads.n; i++)
        for (int k = 0; k < STATE_LIMIT; k++) {
            a->total[k].count += a->threads.v[i].state[k].count;
            a->total[k].ns += a->threads.v[i].state[k].ns;
        }
    const struct open_wait *w = (const void *)a->decoded.open.p;
    for (size_t i = 0; i < a->decoded.open.len / sizeof *w; i++)
        a->open[w[i].state]++;
    const struct pause *p = (const void *)a->decoded.pauses.p;
    a->gc_count = a->decoded.pauses.len / sizeof *p;
    for (size_t i = 0; i < a->gc_count; i++) {
        a->gc_ns += p[i].end - p[i].start;
        a->gc_max = max_u64(a->gc_max, p[i].end - p[i].start);
    }
}

/* The recorder counts losses twice, as totals and in the streams; where it was killed in between,
 * the larger figure is the newer one. */
static void add_losses(struct analysis *a)
{
    for (uint32_t i = 0; i < LOSS_LIMIT; i++) {
        uint64_t n = max_u64(a->trace->loss[i], a->decoded.lost[i]);
        if (n)
            a->losses[a->n_losses++] = (struct loss){i, n};
    }
}

int analysis_run(struct analysis **out, struct trace *t, struct err *err)
{
    struct analysis *a = *out = calloc(1, sizeof *a);
    if (!a)
        return err_set(err, -ENOMEM, "%s: out of memory", t->path);
    const struct interval_sink sinks[] = {{thread_set_take, &a->threads},
                                          {lock_set_take, &a->locks},
                                          {sites_take, &a->sites},
                                          {blames_take, &a->blames}};
    int rc = start(a, t, err);
    if (rc == 0)
        rc = decode_trace(&a->decoded, t, &a->threads, &a->window,
                          (struct interval_sinks){sinks, ARRAY_LEN(sinks)}, err);
    if (rc == 0 && label_shared_names(&a->threads, t) < 0)
        rc = err_set(err, -ENOMEM, "out of memory");
    if (rc < 0) {
        analysis_free(a);
        *out = NULL;
        return err_prefix(err, rc, "%s", t->path);
    }
    thread_set_finish(&a->threads, a->window.from, a->window.to);
    add_totals(a);
    add_losses(a);
    return 0;
}

void analysis_free(struct analysis *a)
{
    if (!a)
        return;
    thread_set_fini(&a->threads);
    sites_fini(&a->sites);
    blames_fini(&a->blames);
    decoded_fini(&a->decoded);
    arena_fini(&a->arena);
    free(a);
}

uint64_t analysis_lost_events(const struct analysis *a)
{
    uint64_t n = 0;
    for (size_t i = 0; i < a->n_losses; i++)
        if (loss_causes[a->losses[i].cause].what == LOSS_OF_EVENT)
            n += a->losses[i].count;
    return n;
}
