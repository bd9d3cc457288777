#include "analyze/thread_set.h"

#include "base/util.h"

#include <stdlib.h>
#include <string.h>

/* Undefined threads beyond this many count as the unknown one: their number comes from the file. */
enum { EXTRA_MAX = 65536 };

static struct thread_stats fresh(thread_id id)
{
    return (struct thread_stats){.id = id, .from = UINT64_MAX};
}

int thread_set_init(struct thread_set *ts, const struct trace *t, struct err *err)
{
    memset(ts, 0, sizeof *ts);
    ts->n = ts->n_defined = ts->cap = t->n_threads ? t->n_threads : 1;
    ts->v = calloc(ts->cap, sizeof *ts->v);
    if (!ts->v)
        return err_set(err, -ENOMEM, "out of memory");
    ts->cut = t->until != 0;
    for (uint32_t i = 0; i < ts->n; i++) {
        const struct trace_thread *def = trace_thread(t, (thread_id){i});
        ts->v[i] = fresh((thread_id){i});
        ts->v[i].defined = def->id.v != 0;
        ts->v[i].is_virtual = def->flags & THREAD_VIRTUAL;
        ts->v[i].gone = def->flags & THREAD_ENDED;
    }
    return 0;
}

void thread_set_fini(struct thread_set *ts)
{
    free(ts->v);
    map_fini(&ts->extra);
    memset(ts, 0, sizeof *ts);
}

uint32_t thread_set_add(struct thread_set *ts, thread_id id)
{
    uint64_t *known = map_find(&ts->extra, id.v);
    if (known)
        return (uint32_t)*known;
    if (ts->n - ts->n_defined == EXTRA_MAX)
        return 0;
    if (ts->n == ts->cap) {
        size_t cap = ts->cap + ts->cap / 2 + 64;
        struct thread_stats *v = realloc(ts->v, cap * sizeof *v);
        if (!v)
            return 0;
        ts->v = v;
        ts->cap = cap;
    }
    uint64_t *place = map_put(&ts->extra, id.v);
    if (!place)
        return 0;
    *place = ts->n;
    ts->v[ts->n] = fresh(id);
    return (uint32_t)ts->n++;
}

void thread_set_finish(struct thread_set *ts, uint64_t window_from, uint64_t window_to)
{
    for (size_t i = 0; i < ts->n; i++) {
        struct thread_stats *s = &ts->v[i];
        if (s->gone && s->to == 0) { /* and no event contradicts */
            s->from = s->to = window_from;
            continue;
        }
        if (ts->cut && !s->named && !s->called && !s->seen) {
            s->from = s->to = window_to;
            continue;
        }
        if (!s->defined && !s->named && !s->called && !s->seen && !s->has_started) {
            s->from = s->to = window_to; /* an unused number */
            continue;
        }
        /* The intervals decide where they contradict: a thread that blocks is alive. */
        uint64_t unseen = s->called ? s->called : window_from;
        s->from = min_u64(s->from, s->has_started ? s->started : unseen);
        s->to = max_u64(s->to, s->has_ended ? s->ended : window_to);
        s->to = max_u64(s->to, s->from);
    }
}

uint64_t thread_life(const struct thread_stats *s)
{
    return s->to - s->from;
}

bool thread_is_main(const struct trace *t, const struct thread_stats *s)
{
    return strcmp(trace_thread(t, s->id)->name, "main") == 0;
}

bool thread_is_carrier(const struct trace *t, const struct thread_stats *s)
{
    return strcmp(trace_thread(t, s->id)->group, "CarrierThreads") == 0;
}
