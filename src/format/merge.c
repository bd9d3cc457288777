#include "format/merge.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

struct pending {
    struct pending *next;
    struct block b;
    uint8_t bytes[];
};

struct merge_stream {
    uint32_t id;
    size_t heap_at; /* index + 1; 0: not in the heap, the queue is empty */
    uint64_t key;   /* time of `ahead`, or of the first block's first event */
    bool begun;     /* something was handed out: pos_end is known */
    uint64_t pos_end;
    struct pending *queue; /* by position; the first one is being decoded when `loaded` */
    struct pending *last;
    bool loaded;
    struct event ahead;
    struct codec codec;
    const uint8_t *p;
    uint32_t left; /* events of the first block behind `ahead` */
};

void merge_init(struct merge *m, const struct codec_schema *schema)
{
    memset(m, 0, sizeof *m);
    m->schema = *schema;
    map_init(&m->ids);
}

static void drop_first(struct merge_stream *s)
{
    struct pending *first = s->queue;
    s->queue = first->next;
    s->last = s->queue ? s->last : NULL;
    s->loaded = false;
    free(first);
}

void merge_fini(struct merge *m)
{
    for (size_t i = 0; i < m->n_streams; i++) {
        while (m->streams[i]->queue)
            drop_first(m->streams[i]);
        free(m->streams[i]);
    }
    free(m->streams);
    free(m->heap);
    map_fini(&m->ids);
    memset(m, 0, sizeof *m);
}

/* --- the heap -----------------------------------------------------------------------------------
 */

static bool before(const struct merge_stream *a, const struct merge_stream *b)
{
    return a->key != b->key ? a->key < b->key : a->id < b->id;
}

static void heap_set(struct merge *m, size_t i, struct merge_stream *s)
{
    m->heap[i] = s;
    s->heap_at = i + 1;
}

static void sift_up(struct merge *m, size_t i)
{
    struct merge_stream *moving = m->heap[i];
    for (; i && before(moving, m->heap[(i - 1) / 2]); i = (i - 1) / 2)
        heap_set(m, i, m->heap[(i - 1) / 2]);
    heap_set(m, i, moving);
}

static void sift_down(struct merge *m, size_t i)
{
    struct merge_stream *moving = m->heap[i];
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= m->n_heap)
            break;
        if (child + 1 < m->n_heap && before(m->heap[child + 1], m->heap[child]))
            child++;
        if (!before(m->heap[child], moving))
            break;
        heap_set(m, i, m->heap[child]);
        i = child;
    }
    heap_set(m, i, moving);
}

/* The first one's key has grown, or it has nothing more. */
static void settle_first(struct merge *m, struct merge_stream *s)
{
    if (!s->queue) {
        s->heap_at = 0;
        m->heap[0] = m->heap[--m->n_heap];
    }
    if (m->n_heap)
        sift_down(m, 0);
}

/* --- blocks -------------------------------------------------------------------------------------
 */

static struct merge_stream *add_stream(struct merge *m, uint32_t id)
{
    if (m->n_streams == m->cap_streams) {
        size_t cap = m->cap_streams ? m->cap_streams * 2 : 64;
        struct merge_stream **all = realloc(m->streams, cap * sizeof(*all));
        m->streams = all ? all : m->streams;
        struct merge_stream **heap = realloc(m->heap, cap * sizeof(*heap));
        m->heap = heap ? heap : m->heap;
        if (!all || !heap)
            return NULL;
        m->cap_streams = cap;
    }
    struct merge_stream *s = calloc(1, sizeof *s);
    uint64_t *slot = s ? map_put(&m->ids, id) : NULL;
    if (!slot) {
        free(s);
        return NULL;
    }
    s->id = id;
    m->streams[m->n_streams++] = s;
    *slot = m->n_streams;
    return s;
}

static struct merge_stream *stream_of(struct merge *m, uint32_t id)
{
    const uint64_t *at = map_find(&m->ids, id);
    return at ? m->streams[*at - 1] : add_stream(m, id);
}

/* By position, but not before a block of which something was handed out. */
static void enqueue(struct merge_stream *s, struct pending *p)
{
    struct pending **at = &s->queue;
    if (s->last && s->last->b.pos <= p->b.pos)
        at = &s->last->next; /* as it nearly always is */
    else if (s->loaded)
        at = &s->queue->next;
    while (*at && (*at)->b.pos <= p->b.pos)
        at = &(*at)->next;
    p->next = *at;
    *at = p;
    if (!p->next)
        s->last = p;
    if (!s->loaded)
        s->key = s->queue->b.first;
}

int merge_put(struct merge *m, const struct block *b, const uint8_t *bytes)
{
    struct merge_stream *s = stream_of(m, b->stream);
    struct pending *p = s ? malloc(sizeof *p + b->len) : NULL;
    if (!p)
        return -ENOMEM;
    p->b = *b;
    if (b->len)
        memcpy(p->bytes, bytes, b->len);
    enqueue(s, p);
    if (!s->heap_at)
        heap_set(m, m->n_heap++, s);
    sift_up(m, s->heap_at - 1);
    return 0;
}

/* --- events -------------------------------------------------------------------------------------
 */

/* Decode the first block's next event into `ahead`; at its end the block goes. */
static void advance(struct merge *m, struct merge_stream *s)
{
    if (s->left) {
        const uint8_t *end = s->queue->bytes + s->queue->b.len;
        s->left--;
        s->p = codec_get_event(&s->codec, &m->schema, s->p, end, &s->ahead);
        if (s->p) {
            s->key = s->ahead.time;
            return;
        }
        m->undecodable++;
    }
    drop_first(s);
    if (s->queue)
        s->key = s->queue->b.first;
}

/* Begin the first block.  True when events are missing before it. */
static bool load(struct merge *m, struct merge_stream *s)
{
    const struct pending *p = s->queue;
    bool repeated = s->begun && p->b.pos < s->pos_end;
    bool gap = s->begun && p->b.pos > s->pos_end;
    if (repeated) { /* a recovery wrote it twice */
        drop_first(s);
        if (s->queue)
            s->key = s->queue->b.first;
        return false;
    }
    s->begun = true;
    s->pos_end = p->b.pos_end > p->b.pos ? p->b.pos_end : p->b.pos;
    s->codec = (struct codec){.time = p->b.first, .thread = p->b.thread};
    s->p = p->bytes;
    s->left = p->b.events;
    s->loaded = true;
    advance(m, s);
    return gap;
}

enum merge_what merge_next(struct merge *m, uint64_t until, struct event *e, uint32_t *stream)
{
    while (m->n_heap && m->heap[0]->key <= until) {
        struct merge_stream *s = m->heap[0];
        *stream = s->id;
        if (s->loaded) {
            *e = s->ahead;
            advance(m, s);
            settle_first(m, s);
            return MERGE_EVENT;
        }
        struct event gap = {.time = s->queue->b.first, .thread = {s->queue->b.thread}};
        bool missing = load(m, s);
        settle_first(m, s);
        if (missing) {
            *e = gap;
            return MERGE_GAP;
        }
    }
    return MERGE_NONE;
}
