#include "analyze/holes.h"

#include "analyze/decode.h"
#include "base/err.h"
#include "base/map.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

enum {
    QUIET_BYTES =
        512, /* of a block: as long as a ring holds less, only a pass over all empties it */
};

/* Between two such passes, and some more. */
#define PASS_NS UINT64_C(2500000000)

/* --- where they are --------------------------------------------------------------------------- */

/* Whether nothing of the chunk at a problem's offset is readable. */
static bool is_lost(const struct trace *t, const struct trace_problem *p)
{
    if (!p->damage)
        return false;
    for (size_t i = 0; i < t->n_chunks; i++)
        if (t->chunks[i].offset == p->offset)
            return false; /* what it holds is known: see gaps_add_chunk */
    return true;
}

/* Whether the end of the trace is missing.  If only its beginning is wanted, nothing is missing up
 * to there. */
static bool is_unfinished(const struct trace *t)
{
    bool ends = t->complete && t->header.state != TRACE_STOPPED;
    bool recorded = !*trace_info(t, "import.format", "");
    return !ends && !t->until && t->n_chunks && recorded;
}

static bool is_cut(const struct trace *t)
{
    uint64_t last = 0;
    for (size_t i = 0; i < t->n_chunks; i++)
        last = max_u64(last, t->chunks[i].offset);
    for (size_t i = 0; i < t->n_problems; i++)
        if (t->problems[i].offset > last && is_lost(t, &t->problems[i]))
            return true;
    return false;
}

uint64_t holes_last_moment(const struct trace *t)
{
    return is_cut(t) ? t->last : trace_end(t);
}

/* --- their times ------------------------------------------------------------------------------ */

/* The blocks in the order in which they were written. */
static int by_place(const void *a, const void *b)
{
    const struct trace_block *x = *(const struct trace_block *const *)a,
                             *y = *(const struct trace_block *const *)b;
    if (x->chunk != y->chunk)
        return x->chunk < y->chunk ? -1 : 1;
    return (x->raw_from > y->raw_from) - (x->raw_from < y->raw_from);
}

static const struct trace_block **in_order(const struct trace *t)
{
    const struct trace_block **v = malloc((t->n_blocks + 1) * sizeof *v);
    for (size_t i = 0; v && i < t->n_blocks; i++)
        v[i] = &t->blocks[i];
    if (v)
        qsort(v, t->n_blocks, sizeof *v, by_place);
    return v;
}

static uint64_t offset_of(const struct trace *t, const struct trace_block *b)
{
    return t->chunks[b->chunk].offset;
}

/* The place of a chunk in the order of writing.  In a circle the offsets have another order;
 * t->chunks is in order. */
static uint64_t place_of(const struct trace *t, uint32_t chunk)
{
    return t->header.capacity ? chunk : t->chunks[chunk].offset;
}

/* The time of the last pass, among the blocks before the n-th, that was followed by another pass;
 * 0: unknown.  Two quiet blocks of one stream show it. */
static int last_pass(const struct trace_block *const *v, size_t n, uint64_t *out)
{
    struct map seen;
    int rc = 0;
    *out = 0;
    map_init(&seen);
    while (n-- > 0 && !*out && rc == 0) {
        const struct block *b = &v[n]->b;
        if (b->pos_end - b->pos >= QUIET_BYTES)
            continue;
        uint64_t *count = map_put(&seen, b->stream);
        if (count && (*count)++)
            *out = b->last;
        rc = count ? 0 : -ENOMEM;
    }
    map_fini(&seen);
    return rc;
}

static int set_times(struct hole *h, const struct trace *t, const struct trace_block *const *v)
{
    uint64_t last = t->first;
    size_t n = 0;
    BISECT(n, t->n_blocks, offset_of(t, v[n]) < h->place);
    for (size_t i = 0; i < n; i++)
        last = max_u64(last, v[i]->b.last);
    for (size_t i = n; i < t->n_blocks; i++)
        h->to = min_u64(h->to, v[i]->b.first);
    TRY(last_pass(v, n, &h->from));
    h->from = max_u64(h->from, max_u64(t->first, last - min_u64(last, PASS_NS)));
    if (h->place == UINT64_MAX && !is_cut(t))
        h->from = max_u64(h->from, t->header.flushed_mono);
    return 0;
}

static int by_place_and_time(const void *a, const void *b)
{
    const struct hole *x = a, *y = b;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return (x->from > y->from) - (x->from < y->from);
}

/* If the JVM was killed while the disk was full, the rings were read to their ends. */
static void add_unwritten(struct holes *h, const struct trace *t, const struct buf *unwritten)
{
    const struct unwritten *u = (const void *)unwritten->p;
    for (size_t i = 0; i < unwritten->len / sizeof *u; i++)
        if (u[i].lost)
            h->v[h->n++] = (struct hole){place_of(t, u[i].chunk), u[i].first_lost, u[i].to};
}

static int find(struct holes *h, const struct trace *t, const struct trace_block *const *order)
{
    bool circle = t->header.capacity; /* the position of an unreadable chunk is unknown */
    for (size_t i = 0; i < t->n_problems && !circle; i++)
        if (is_lost(t, &t->problems[i]))
            h->v[h->n++] = (struct hole){t->problems[i].offset, 0, UINT64_MAX};
    if (is_unfinished(t))
        h->v[h->n++] = (struct hole){UINT64_MAX, 0, UINT64_MAX};
    for (size_t i = 0; i < h->n; i++) {
        TRY(set_times(&h->v[i], t, order));
        if (h->v[i].to == UINT64_MAX)
            h->tail = h->tail ? min_u64(h->tail, h->v[i].from) : h->v[i].from;
    }
    return 0;
}

int holes_find(struct holes *h, const struct trace *t, const struct buf *unwritten)
{
    size_t most = t->n_problems + unwritten->len / sizeof(struct unwritten) + 1;
    *h = (struct holes){.v = calloc(most, sizeof *h->v)};
    const struct trace_block **order = in_order(t);
    int rc = h->v && order ? find(h, t, order) : -ENOMEM;
    free(order);
    TRY(rc);
    add_unwritten(h, t, unwritten);
    qsort(h->v, h->n, sizeof *h->v, by_place_and_time);
    return 0;
}

void holes_fini(struct holes *h)
{
    free(h->v);
    memset(h, 0, sizeof *h);
}

/* --- what they mean --------------------------------------------------------------------------- */

uint64_t holes_known_until(const struct holes *h, const struct trace *t, size_t stream)
{
    const struct trace_stream *s = &t->streams[stream];
    uint64_t end = 0;
    size_t next = 0;
    for (uint32_t i = 0; i < s->count; i++)
        end = max_u64(end, place_of(t, t->blocks[s->first + i].chunk));
    BISECT(next, h->n, h->v[next].place <= end);
    return next < h->n ? h->v[next].from : 0;
}

void holes_in_all(const struct holes *h, struct gaps *gaps)
{
    for (size_t i = 0; i < h->n; i++)
        gaps_add(gaps, h->v[i].from, h->v[i].to);
}
