#include "analyze/pins.h"

#include "base/err.h"
#include "base/util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int by_thread(const void *a, const void *b)
{
    const struct pin *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->time > y->time) - (x->time < y->time);
}

void pins_sort(struct pins *p)
{
    if (p->v.len)
        qsort(p->v.p, p->v.len / sizeof(struct pin), sizeof(struct pin), by_thread);
}

void pins_fini(struct pins *p)
{
    buf_fini(&p->v);
    buf_fini(&p->kept);
}

int pins_finish(struct pins *p, const struct timeline *tl)
{
    struct pin *v = (void *)p->v.p;
    size_t n = p->v.len / sizeof *v, len = n ? tl->n_lines * sizeof(uint64_t) : 0;
    uint64_t *kept = (void *)buf_reserve(&p->kept, len);
    if (!kept)
        return len ? -ENOMEM : 0;
    memset(kept, 0, len);
    p->kept.len = len;
    for (size_t i = 0; i < n; i++) {
        const struct line *l = &tl->lines[v[i].thread < tl->n_lines ? v[i].thread : 0];
        uint32_t k = line_spans_until(l, v[i].time);
        uint64_t until = k ? span_end(tl, line_span(l, k - 1)) : 0;
        if (i + 1 < n && v[i + 1].thread == v[i].thread)
            until = min_u64(until, v[i + 1].time); /* the next park in the same wait */
        kept[v[i].carrier < tl->n_lines ? v[i].carrier : 0] += until - min_u64(until, v[i].time);
    }
    return 0;
}

uint64_t pins_of_carrier(const struct pins *p, uint32_t carrier)
{
    const uint64_t *kept = (const void *)p->kept.p;
    return carrier < p->kept.len / sizeof *kept ? kept[carrier] : 0;
}

const struct pin *pins_find(const struct pins *p, uint32_t thread, uint64_t from, uint64_t to)
{
    const struct pin *v = (const void *)p->v.p;
    size_t n = p->v.len / sizeof *v, i = 0;
    BISECT(i, n, v[i].thread < thread || (v[i].thread == thread && v[i].time < from));
    return i < n && v[i].thread == thread && v[i].time <= to ? &v[i] : NULL;
}

uint64_t pins_ready_since(const struct pins *p, const struct timeline *tl,
                          const struct thread_set *threads, uint32_t thread, const struct span *s)
{
    uint64_t end = span_end(tl, s);
    if (!threads->v[thread].is_virtual || !s->waker || span_is_summed(tl, s) ||
        timeline_context(tl, s->context)->what != STATE_PARKED ||
        pins_find(p, thread, s->start, end))
        return end;
    return min_u64(max_u64(span_wake_time(tl, s), s->start), end);
}

uint64_t pins_ready_ns(const struct pins *p, const struct timeline *tl,
                       const struct thread_set *threads, uint32_t thread, uint64_t from,
                       uint64_t to)
{
    uint64_t ns = 0;
    if (thread >= tl->n_lines || !threads->v[thread].is_virtual)
        return 0;
    const struct run *r = &tl->lines[thread].spans;
    for (uint32_t i = 0, n; i < r->n; i += n) {
        const struct span *s = run_stretch(r, sizeof *s, i, &n);
        for (uint32_t k = 0; k < n; k++) {
            uint64_t since = max_u64(pins_ready_since(p, tl, threads, thread, &s[k]), from);
            uint64_t until = min_u64(span_end(tl, &s[k]), to);
            ns += until > since ? until - since : 0;
        }
    }
    return ns;
}
