#include "analyze/reads.h"

#include "base/util.h"

#include <stdlib.h>

static int by_thread_and_end(const void *a, const void *b)
{
    const struct io_wait *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

static const struct io_wait *sort(struct buf *b, size_t *n)
{
    *n = b->len / sizeof(struct io_wait);
    if (*n)
        qsort(b->p, *n, sizeof(struct io_wait), by_thread_and_end);
    return (const void *)b->p;
}

void reads_make(struct reads *out, struct buf *reads, struct buf *io)
{
    out->v = sort(reads, &out->n);
    out->calls = sort(io, &out->n_calls);
}

/* A thread's last read that had ended by then; NULL: none. */
static const struct io_wait *last_of(const struct io_wait *v, size_t n, uint32_t thread,
                                     uint64_t time)
{
    size_t i = 0;
    BISECT(i, n, v[i].thread < thread || (v[i].thread == thread && v[i].to <= time));
    return i && v[i - 1].thread == thread ? &v[i - 1] : NULL;
}

/* Whether the thread has waited between the two times. */
static bool has_waited(const struct timeline *tl, uint32_t thread, uint64_t from, uint64_t to)
{
    const struct line *l = &tl->lines[thread];
    uint32_t i = line_spans_until(l, to);
    while (i && span_is_unknown(tl, line_span(l, i - 1)))
        i--;
    return i && span_end(tl, line_span(l, i - 1)) > from;
}

const struct io_wait *reads_before(const struct reads *r, const struct timeline *tl,
                                   const struct thread_set *threads, uint32_t thread, uint64_t time)
{
    if (thread >= tl->n_lines)
        return NULL;
    const struct io_wait *last = last_of(r->v, r->n, thread, time);
    if (last && threads->v[thread].from <= last->from && !has_waited(tl, thread, last->from, time))
        return last;
    last = last_of(r->calls, r->n_calls, thread, time);
    bool child = last && last->what == IO_KIND_process && !has_waited(tl, thread, last->to, time);
    return child ? last : NULL;
}

const struct io_wait *reads_blocked(const struct reads *r, const struct io_wait *read)
{
    return last_of(r->calls, r->n_calls, read->thread, read->to);
}
