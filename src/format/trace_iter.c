/* trace_iter.c - decode the events of one stream, of all streams merged by time, or block by block.
 *
 * Each stream that is merged has one block's bytes in memory and one event decoded ahead; a heap
 * keeps the streams by the time of that event.  A stream whose next block was not touched yet sits
 * in the heap with the block's first time, so that a chunk is read only when the merge has come to
 * it.  Its payload stays until the last of its blocks has been taken, because those are needed at
 * about the same time, and so that no chunk is decompressed twice, however its blocks lie. */
#include "base/util.h"
#include "format/trace_parts.h"

#include <stdlib.h>
#include <string.h>

struct source {
    uint64_t time; /* of `ahead`, or of the next block's first event */
    uint32_t stream;
    uint32_t block, block_end; /* next block to load: index into t->blocks, or into order */
    uint32_t loaded_block;     /* index into t->blocks: whose events are decoded */
    bool loaded;               /* `ahead` is valid */
    uint8_t *bytes;
    size_t cap;
    const uint8_t *p, *end;
    uint32_t left; /* events of this block not decoded yet */
    struct codec codec;
    struct event ahead;
};

/* A block and its stream, where blocks are not taken stream by stream. */
struct turn {
    uint32_t block, stream;
    uint32_t chunk; /* the last one that holds an earlier part of the stream, or its own */
};

struct payload {
    uint8_t *raw;
    uint32_t left; /* blocks that are still to be taken from it */
    bool bad;      /* it was reported as damaged */
};

struct trace_iter {
    struct trace *t;
    struct turn *order; /* [t->n_blocks]; NULL: sources take their stream's blocks */
    struct source *sources;
    uint32_t *heap; /* indices into sources */
    size_t n_sources, n_heap;
    struct payload *payloads; /* [t->n_chunks] */
};

/* --- payloads --------------------------------------------------------------------------------- */

static void note_bad(struct trace_iter *it, size_t chunk, const char *why)
{
    const struct trace_chunk *c = &it->t->chunks[chunk];
    if (it->payloads[chunk].bad)
        return;
    it->payloads[chunk].bad = true;
    for (size_t i = 0; i < it->t->n_problems; i++)
        if (it->t->problems[i].offset == c->offset)
            return; /* an earlier iterator said so */
    trace_note_chunk(it->t, chunk, why);
}

/* The raw payload of a chunk; NULL when it cannot be read (noted). */
static const uint8_t *payload(struct trace_iter *it, size_t chunk)
{
    struct payload *p = &it->payloads[chunk];
    const struct trace_chunk *c = &it->t->chunks[chunk];
    struct err why;
    if (p->raw || p->bad)
        return p->raw;
    p->raw = malloc(c->h.raw_len ? c->h.raw_len : 1);
    if (!p->raw) {
        note_bad(it, chunk, "out of memory");
    } else if (trace_read_payload(it->t, c, p->raw, &why) < 0) {
        note_bad(it, chunk, why.msg);
        free(p->raw);
        p->raw = NULL;
    }
    return p->raw;
}

/* One of its blocks was taken. */
static void let_go(struct payload *p)
{
    if (--p->left)
        return;
    free(p->raw);
    p->raw = NULL;
}

/* --- one source ------------------------------------------------------------------------------- */

/* Have a block's bytes in the source.  False when they cannot be had. */
static bool copy_block(struct trace_iter *it, struct source *s, const struct trace_block *b)
{
    const uint8_t *raw = payload(it, b->chunk);
    if (!raw)
        return false;
    if (!s->bytes || s->cap < b->b.len) {
        uint8_t *p = realloc(s->bytes, (size_t)b->b.len + 1);
        if (!p)
            return false;
        s->bytes = p;
        s->cap = b->b.len;
    }
    if (b->b.len)
        memcpy(s->bytes, raw + b->raw_from, b->b.len);
    return true;
}

static void load_block(struct trace_iter *it, struct source *s)
{
    uint32_t next = s->block++;
    if (it->order) {
        s->stream = it->order[next].stream;
        next = it->order[next].block;
    }
    const struct trace_block *b = &it->t->blocks[next];
    bool there = copy_block(it, s, b);
    let_go(&it->payloads[b->chunk]);
    if (!there)
        return;
    s->loaded_block = next;
    s->p = s->bytes;
    s->end = s->bytes + b->b.len;
    s->left = b->b.events;
    s->codec = (struct codec){.time = b->b.first, .thread = b->b.thread};
}

/* Decode the source's next event; false at its end. */
static bool advance(struct trace_iter *it, struct source *s, struct event *e)
{
    for (;;) {
        if (s->left) {
            s->left--;
            s->p = codec_get_event(&s->codec, &it->t->header.schema, s->p, s->end, e);
            if (s->p && e->time < it->t->since)
                continue;
            if (s->p && (!it->t->until || e->time < it->t->until))
                return true;
            if (s->p) { /* and those behind it are later */
                s->left = 0;
                continue;
            }
            note_bad(it, it->t->blocks[s->loaded_block].chunk, "events cannot be decoded");
            s->left = 0;
        }
        if (s->block == s->block_end)
            return false;
        load_block(it, s);
    }
}

static void begin_source(struct trace_iter *it, struct source *s, size_t stream)
{
    const struct trace_stream *st = &it->t->streams[stream];
    *s = (struct source){.stream = (uint32_t)stream,
                         .block = st->first,
                         .block_end = st->first + st->count,
                         .time = it->t->blocks[st->first].b.first};
}

/* --- the heap --------------------------------------------------------------------------------- */

static bool before(const struct trace_iter *it, uint32_t a, uint32_t b)
{
    const struct source *x = &it->sources[a], *y = &it->sources[b];
    return x->time != y->time ? x->time < y->time : a < b;
}

static void sift_down(struct trace_iter *it, size_t i)
{
    uint32_t moving = it->heap[i];
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= it->n_heap)
            break;
        if (child + 1 < it->n_heap && before(it, it->heap[child + 1], it->heap[child]))
            child++;
        if (!before(it, it->heap[child], moving))
            break;
        it->heap[i] = it->heap[child];
        i = child;
    }
    it->heap[i] = moving;
}

static void count_blocks(struct trace_iter *it, const struct trace_stream *s)
{
    for (uint32_t i = s->first; i < s->first + s->count; i++)
        it->payloads[it->t->blocks[i].chunk].left++;
}

static int open_iter(struct trace_iter **out, struct trace *t, size_t first, size_t n,
                     struct err *err)
{
    struct trace_iter *it = calloc(1, sizeof *it);
    *out = it;
    if (it) {
        it->t = t;
        it->sources = calloc(n ? n : 1, sizeof *it->sources);
        it->heap = calloc(n ? n : 1, sizeof *it->heap);
        it->payloads = calloc(t->n_chunks + 1, sizeof *it->payloads);
    }
    if (!it || !it->sources || !it->heap || !it->payloads) {
        trace_iter_close(it);
        *out = NULL;
        return err_set(err, -ENOMEM, "%s: out of memory", t->path);
    }
    it->n_sources = it->n_heap = n;
    for (size_t i = 0; i < n; i++) {
        begin_source(it, &it->sources[i], first + i);
        it->heap[i] = (uint32_t)i;
        count_blocks(it, &t->streams[first + i]);
    }
    for (size_t i = n / 2; i-- > 0;)
        sift_down(it, i);
    return 0;
}

int trace_iter_open(struct trace_iter **out, struct trace *t, struct err *err)
{
    return open_iter(out, t, 0, t->n_streams, err);
}

int trace_iter_open_stream(struct trace_iter **out, struct trace *t, size_t stream, struct err *err)
{
    return open_iter(out, t, stream, 1, err);
}

static int by_turn(const void *a, const void *b)
{
    const struct turn *x = a, *y = b;
    if (x->chunk != y->chunk)
        return x->chunk < y->chunk ? -1 : 1;
    return (x->block > y->block) - (x->block < y->block); /* t->blocks: a stream's are in order */
}

int trace_iter_open_blocks(struct trace_iter **out, struct trace *t, struct err *err)
{
    *out = NULL;
    struct turn *order = malloc((t->n_blocks + 1) * sizeof *order);
    if (!order)
        return err_set(err, -ENOMEM, "%s: out of memory", t->path);
    for (size_t s = 0; s < t->n_streams; s++) {
        const struct trace_stream *st = &t->streams[s];
        uint32_t chunk = 0;
        for (uint32_t i = st->first; i < st->first + st->count; i++) {
            chunk = t->blocks[i].chunk > chunk ? t->blocks[i].chunk : chunk;
            order[i] = (struct turn){i, (uint32_t)s, chunk};
        }
    }
    if (t->n_blocks)
        qsort(order, t->n_blocks, sizeof *order, by_turn);
    int rc = open_iter(out, t, 0, t->n_blocks ? 1 : 0, err);
    struct trace_iter *it = *out;
    if (!it) {
        free(order);
        return rc;
    }
    it->order = order;
    for (size_t s = 1; s < t->n_streams; s++) /* the first one's are counted */
        count_blocks(it, &t->streams[s]);
    if (t->n_blocks) {
        it->sources[0].block = 0;
        it->sources[0].block_end = (uint32_t)t->n_blocks;
    }
    return 0;
}

int trace_iter_next(struct trace_iter *it, struct event *e, size_t *stream, struct err *err)
{
    UNUSED(err);
    if (it->n_sources == 1) { /* nothing to compare with: no event is decoded ahead */
        if (!advance(it, it->sources, e))
            return 0;
        if (stream)
            *stream = it->sources->stream;
        return 1;
    }
    while (it->n_heap) {
        struct source *s = &it->sources[it->heap[0]];
        bool have = s->loaded;
        if (have) {
            *e = s->ahead;
            if (stream)
                *stream = s->stream;
        }
        s->loaded = advance(it, s, &s->ahead);
        s->time = s->ahead.time;
        if (!s->loaded) {
            free(s->bytes);
            s->bytes = NULL;
            it->heap[0] = it->heap[--it->n_heap];
        }
        if (it->n_heap)
            sift_down(it, 0);
        if (have)
            return 1;
    }
    return 0;
}

void trace_iter_close(struct trace_iter *it)
{
    if (!it)
        return;
    for (size_t i = 0; i < it->n_sources; i++)
        free(it->sources[i].bytes);
    for (size_t i = 0; it->payloads && i < it->t->n_chunks; i++)
        free(it->payloads[i].raw);
    free(it->order);
    free(it->sources);
    free(it->heap);
    free(it->payloads);
    free(it);
}
