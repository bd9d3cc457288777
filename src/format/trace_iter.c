/* trace_iter.c - decode the events of one stream, or of all streams merged by time.
 *
 * Each stream that takes part has one block's bytes in memory and one event decoded ahead; a heap
 * keeps the streams by the time of that event.  A stream whose next block was not touched yet sits
 * in the heap with the block's first time, so that a chunk is read only when the merge has come to
 * it.  The last few payloads are cached, because blocks of one chunk are needed at about the same
 * time. */
#include "base/util.h"
#include "format/trace_parts.h"

#include <stdlib.h>
#include <string.h>

enum { CACHE_SLOTS = 16 };

struct source {
    uint64_t time; /* of `ahead`, or of the next block's first event */
    uint32_t stream;
    uint32_t block, block_end; /* index into t->blocks: next block to load */
    bool loaded;               /* `ahead` is valid */
    uint8_t *bytes;
    size_t cap;
    const uint8_t *p, *end;
    uint32_t left; /* events of this block not decoded yet */
    struct codec codec;
    struct event ahead;
};

struct payload {
    size_t chunk; /* index + 1; 0: empty */
    uint64_t used;
    uint8_t *raw;
};

struct trace_iter {
    struct trace *t;
    struct source *sources;
    uint32_t *heap; /* indices into sources */
    size_t n_sources, n_heap;
    struct payload cache[CACHE_SLOTS];
    uint64_t clock;
    uint8_t *bad_chunk; /* per chunk: 1 when it was reported as damaged */
};

/* --- payloads -----------------------------------------------------------------------------------
 */

static void note_bad(struct trace_iter *it, size_t chunk, const char *why)
{
    const struct trace_chunk *c = &it->t->chunks[chunk];
    if (it->bad_chunk[chunk])
        return;
    it->bad_chunk[chunk] = 1;
    for (size_t i = 0; i < it->t->n_problems; i++)
        if (it->t->problems[i].offset == c->offset)
            return; /* an earlier iterator said so */
    trace_note_chunk(it->t, chunk, why);
}

/* The raw payload of a chunk, cached; NULL when it cannot be read (noted). */
static const uint8_t *payload(struct trace_iter *it, size_t chunk)
{
    struct payload *oldest = &it->cache[0];
    for (size_t i = 0; i < CACHE_SLOTS; i++) {
        struct payload *s = &it->cache[i];
        if (s->chunk == chunk + 1) {
            s->used = ++it->clock;
            return s->raw;
        }
        if (s->used < oldest->used)
            oldest = s;
    }
    struct err why;
    oldest->chunk = 0;
    uint32_t len = it->t->chunks[chunk].h.raw_len;
    uint8_t *raw = realloc(oldest->raw, len ? len : 1);
    if (!raw) {
        note_bad(it, chunk, "out of memory");
        return NULL;
    }
    oldest->raw = raw;
    if (it->bad_chunk[chunk])
        return NULL;
    if (trace_read_payload(it->t, chunk, raw, &why) < 0) {
        note_bad(it, chunk, why.msg);
        return NULL;
    }
    oldest->chunk = chunk + 1;
    oldest->used = ++it->clock;
    return raw;
}

/* --- one source ---------------------------------------------------------------------------------
 */

static bool load_block(struct trace_iter *it, struct source *s)
{
    const struct trace_block *b = &it->t->blocks[s->block++];
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
    s->p = s->bytes;
    s->end = s->bytes + b->b.len;
    s->left = b->b.events;
    s->codec = (struct codec){.time = b->b.first, .thread = b->b.thread};
    return true;
}

/* Decode the next event into `ahead`; false at the end of the stream. */
static bool advance(struct trace_iter *it, struct source *s)
{
    for (;;) {
        if (s->left) {
            s->left--;
            s->p = codec_get_event(&s->codec, &it->t->header.schema, s->p, s->end, &s->ahead);
            if (s->p) {
                s->time = s->ahead.time;
                s->loaded = true;
                return true;
            }
            note_bad(it, it->t->blocks[s->block - 1].chunk, "events cannot be decoded");
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

/* --- the heap -----------------------------------------------------------------------------------
 */

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

static int open_iter(struct trace_iter **out, struct trace *t, size_t first, size_t n,
                     struct err *err)
{
    struct trace_iter *it = calloc(1, sizeof *it);
    *out = it;
    if (it) {
        it->t = t;
        it->sources = calloc(n ? n : 1, sizeof *it->sources);
        it->heap = calloc(n ? n : 1, sizeof *it->heap);
        it->bad_chunk = calloc(t->n_chunks + 1, 1);
    }
    if (!it || !it->sources || !it->heap || !it->bad_chunk) {
        trace_iter_close(it);
        *out = NULL;
        return err_set(err, -ENOMEM, "%s: out of memory", t->path);
    }
    it->n_sources = it->n_heap = n;
    for (size_t i = 0; i < n; i++) {
        begin_source(it, &it->sources[i], first + i);
        it->heap[i] = (uint32_t)i;
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

int trace_iter_next(struct trace_iter *it, struct event *e, size_t *stream, struct err *err)
{
    UNUSED(err);
    while (it->n_heap) {
        struct source *s = &it->sources[it->heap[0]];
        bool have = s->loaded;
        if (have) {
            *e = s->ahead;
            if (stream)
                *stream = s->stream;
        }
        s->loaded = false;
        if (!advance(it, s)) {
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
    for (size_t i = 0; i < CACHE_SLOTS; i++)
        free(it->cache[i].raw);
    free(it->sources);
    free(it->heap);
    free(it->bad_chunk);
    free(it);
}
