#include "analyze/allocs.h"

#include "analyze/decode.h"
#include "analyze/lines.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(struct alloc) == 16, "a hundred million of them are kept");

/* No heap is larger, and sums of as many cannot overflow. */
#define AMOUNT_MAX (UINT64_C(1) << 46)

void allocs_init(struct allocs *s)
{
    memset(s, 0, sizeof *s);
    arena_init(&s->arena, 0);
    map_init(&s->context_of);
}

void allocs_fini(struct allocs *s)
{
    free(s->lines);
    buf_fini(&s->contexts);
    buf_fini(&s->pause_ends);
    buf_fini(&s->wholes);
    map_fini(&s->context_of);
    arena_fini(&s->arena);
    memset(s, 0, sizeof *s);
}

bool allocs_takes(unsigned kind)
{
    return kind >= EV_object_alloc && kind <= EV_object_allocs;
}

/* --- keeping ---------------------------------------------------------------------------------- */

static struct alloc_line *line_of(struct allocs *s, uint32_t thread)
{
    struct alloc_line *lines = lines_reach(s->lines, &s->n_lines, sizeof *lines, thread);
    if (!lines)
        return NULL;
    s->lines = lines;
    return &lines[thread];
}

static int context_of(struct allocs *s, const struct alloc_context *x, uint32_t *out)
{
    for (uint64_t hash = hash_place(x, sizeof *x, 0);; hash++) {
        uint64_t *place = map_put(&s->context_of, hash);
        size_t n = allocs_contexts(s);
        if (!place || n >= UINT32_MAX)
            return -ENOMEM;
        if (!*place) {
            buf_put(&s->contexts, x, sizeof *x);
            *place = n + 1;
        } else if (memcmp(alloc_context(s, (uint32_t)*place - 1), x, sizeof *x) != 0) {
            continue; /* another one of the same hash */
        }
        *out = (uint32_t)*place - 1;
        return s->contexts.oom ? -ENOMEM : 0;
    }
}

/* The context of one object, counted exactly: its size, and 1. */
static struct alloc_context exact_context(class_id class_, stack_id stack, uint64_t size)
{
    return (struct alloc_context){class_, stack, min_u64(size, AMOUNT_MAX), 1000};
}

/* A size of 0 can only come from damage: then it stands for itself. */
static struct alloc_context sampled_context(class_id class_, stack_id stack, uint64_t size,
                                            uint64_t weight)
{
    unsigned __int128 n = size ? (unsigned __int128)weight * 1000 / size : 1000;
    return (struct alloc_context){class_, stack, min_u64(weight, AMOUNT_MAX),
                                  n < AMOUNT_MAX ? (uint64_t)n : AMOUNT_MAX};
}

static int add_alloc(struct allocs *s, uint32_t thread, enum alloc_source source, uint64_t time,
                     const struct alloc_context *x)
{
    struct alloc_line *l = line_of(s, thread);
    struct alloc *to = l ? run_push(&l->allocs[source], &s->arena, sizeof *to) : NULL;
    if (!to)
        return -ENOMEM;
    to->time = time;
    s->n[source]++;
    return context_of(s, x, &to->context);
}

static int add_free_of(struct allocs *s, uint32_t thread, enum alloc_source source,
                       const struct event *e, const struct alloc_context *x)
{
    struct alloc_line *l = line_of(s, thread);
    struct alloc_free *to = l ? run_push(&l->frees[source], &s->arena, sizeof *to) : NULL;
    if (!to)
        return -ENOMEM;
    to->time = e->time;
    to->since = min_u64(e->object_free.since, e->time);
    to->collections = e->object_free.collections;
    return context_of(s, x, &to->context);
}

/* Recorded objects may include sampled ones; the end of such an object counts for both. */
static int add_free(struct allocs *s, uint32_t thread, const struct event *e)
{
    const struct ev_object_free *f = &e->object_free;
    struct alloc_context x = exact_context(f->class_, f->stack, f->size);
    s->n_frees++;
    TRY(add_free_of(s, thread, ALLOC_EXACT, e, &x));
    if (!f->weight)
        return 0;
    x = sampled_context(f->class_, f->stack, f->size, f->weight);
    return add_free_of(s, thread, ALLOC_SAMPLED, e, &x);
}

static int add_batch(struct allocs *s, uint32_t thread, const struct event *e)
{
    const struct ev_object_allocs *o = &e->object_allocs;
    const struct alloc_context x = {.class_ = o->class_, .stack = o->stack};
    struct alloc_line *l = line_of(s, thread);
    struct alloc_batch *to = l ? run_push(&l->batches, &s->arena, sizeof *to) : NULL;
    if (!to)
        return -ENOMEM;
    s->n_batches++;
    to->time = e->time;
    to->since = min_u64(o->since, e->time);
    to->bytes = min_u64(o->bytes, AMOUNT_MAX);
    to->count = min_u64(o->count, AMOUNT_MAX / 1000);
    l->longest_batch = max_u64(l->longest_batch, to->time - to->since);
    return context_of(s, &x, &to->context);
}

int allocs_add(struct allocs *s, uint32_t thread, const struct event *e)
{
    struct alloc_context x;
    switch (e->kind) {
    case EV_object_alloc:
        x = exact_context(e->object_alloc.class_, e->object_alloc.stack, e->object_alloc.size);
        return add_alloc(s, thread, ALLOC_EXACT, e->time, &x);
    case EV_object_sample:
        x = sampled_context(e->object_sample.class_, e->object_sample.stack, e->object_sample.size,
                            e->object_sample.weight);
        return add_alloc(s, thread, ALLOC_SAMPLED, e->time, &x);
    case EV_object_allocs:
        return add_batch(s, thread, e);
    case EV_object_free:
        return add_free(s, thread, e);
    default:
        return 0;
    }
}

/* --- order ------------------------------------------------------------------------------------ */

/* Each kind of entry begins with its time. */
static uint64_t time_at(const struct run *r, size_t size, uint32_t i)
{
    return *(const uint64_t *)run_at(r, size, i);
}

static int by_time(const void *a, const void *b, void *size)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x != y ? (x > y) - (x < y) : memcmp(a, b, *(const size_t *)size);
}

static int sort(const struct run *r, size_t size)
{
    uint32_t i = 1;
    while (i < r->n && time_at(r, size, i) >= time_at(r, size, i - 1))
        i++;
    if (i >= r->n)
        return 0;
    uint8_t *v = malloc(r->n * size);
    if (!v)
        return -ENOMEM;
    for (i = 0; i < r->n; i++)
        memcpy(v + i * size, run_at(r, size, i), size);
    qsort_r(v, r->n, size, by_time, &size);
    for (i = 0; i < r->n; i++)
        memcpy(run_at(r, size, i), v + i * size, size);
    free(v);
    return 0;
}

static int by_moment(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* When the ends that each collection of the whole heap found were recorded. */
static int find_wholes(struct allocs *s, const struct collection_source *gc)
{
    TRY(whole_gc_find(&s->wholes, gc));
    for (size_t i = 0; i < s->n_lines && s->wholes.len; i++) {
        const struct run *r = &s->lines[i].frees[ALLOC_EXACT];
        for (uint32_t k = 0; k < r->n; k++)
            whole_gc_hear(&s->wholes, time_at(r, sizeof(struct alloc_free), k));
    }
    return 0;
}

int allocs_finish(struct allocs *s, const struct collection_source *gc)
{
    const struct pause *p = gc->pauses;
    size_t n = gc->n_pauses;
    for (size_t i = 0; i < s->n_lines; i++) {
        for (unsigned k = 0; k < ALLOC_SOURCES; k++) {
            TRY(sort(&s->lines[i].allocs[k], sizeof(struct alloc)));
            TRY(sort(&s->lines[i].frees[k], sizeof(struct alloc_free)));
        }
        TRY(sort(&s->lines[i].batches, sizeof(struct alloc_batch)));
    }
    for (size_t i = 0; i < n; i++)
        buf_put(&s->pause_ends, &p[i].end, sizeof p[i].end);
    if (s->pause_ends.oom)
        return -ENOMEM;
    if (n)
        qsort(s->pause_ends.p, n, sizeof(uint64_t), by_moment);
    return find_wholes(s, gc);
}

/* --- reading ---------------------------------------------------------------------------------- */

static uint32_t entries_before(const struct run *r, size_t size, uint64_t time)
{
    uint32_t low = 0, high = r->n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (time_at(r, size, mid) < time)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

uint32_t allocs_before(const struct run *r, uint64_t time)
{
    return entries_before(r, sizeof(struct alloc), time);
}

/* Batches are sorted by their ends, so all before the result end before the time. */
uint32_t allocs_batch_from(const struct alloc_line *l, uint64_t time)
{
    return entries_before(&l->batches, sizeof(struct alloc_batch), time);
}

uint64_t alloc_batch_share(const struct alloc_batch *b, uint64_t amount, uint64_t time)
{
    if (time > b->time || (time == b->time && b->since < b->time))
        return amount;
    if (time <= b->since)
        return 0;
    return (uint64_t)((unsigned __int128)amount * (time - b->since) / (b->time - b->since));
}

static size_t ends_below(const struct allocs *s, uint64_t time, bool or_at)
{
    const uint64_t *v = (const void *)s->pause_ends.p;
    size_t low = 0, high = s->pause_ends.len / sizeof *v;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (v[mid] < time || (or_at && v[mid] == time))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

size_t allocs_epoch(const struct allocs *s, uint64_t time)
{
    return ends_below(s, time, true);
}

size_t allocs_pauses_before(const struct allocs *s, uint64_t time)
{
    return ends_below(s, time, false);
}

/* --- rate ------------------------------------------------------------------------------------- */

struct rate {
    uint64_t from, to, *buckets;
    size_t n;
};

static size_t bucket_of(const struct rate *r, uint64_t time)
{
    return (size_t)((unsigned __int128)(time - r->from) * r->n / (r->to - r->from));
}

/* The first moment of a bucket: the least that bucket_of puts there. */
static uint64_t bucket_start(const struct rate *r, size_t i)
{
    unsigned __int128 at = (unsigned __int128)(r->to - r->from) * i;
    return r->from + (uint64_t)((at + r->n - 1) / r->n);
}

static void rate_batch(const struct rate *r, const struct alloc_batch *b)
{
    uint64_t from = max_u64(b->since, r->from), to = min_u64(b->time, r->to - 1);
    if (from > to)
        return;
    uint64_t before = alloc_batch_share(b, b->bytes, r->from);
    for (size_t i = bucket_of(r, from), last = bucket_of(r, to); i <= last; i++) {
        uint64_t share = alloc_batch_share(b, b->bytes, min_u64(bucket_start(r, i + 1), r->to));
        r->buckets[i] += share - before;
        before = share;
    }
}

void allocs_rate(const struct allocs *s, uint32_t thread, uint64_t from, uint64_t to,
                 uint64_t *buckets, size_t n)
{
    const struct rate r = {from, to, buckets, n};
    enum alloc_source source = allocs_source(s);
    if (thread >= s->n_lines || from >= to || !n)
        return;
    const struct alloc_line *l = &s->lines[thread];
    const struct run *v = &l->allocs[source];
    for (uint32_t i = allocs_before(v, from); i < v->n && alloc_at(v, i)->time < to; i++)
        buckets[bucket_of(&r, alloc_at(v, i)->time)] +=
            alloc_context(s, alloc_at(v, i)->context)->bytes;
    if (source == ALLOC_SAMPLED)
        return;
    for (uint32_t i = allocs_batch_from(l, from); i < l->batches.n; i++) {
        const struct alloc_batch *b = alloc_batch_at(&l->batches, i);
        if (b->time >= to && b->time - to > l->longest_batch)
            break;
        rate_batch(&r, b);
    }
}
