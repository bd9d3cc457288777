#include "record/stage.h"

#include "base/testpoint.h"
#include "base/util.h"
#include "format/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- rings to stage --------------------------------------------------------------------------- */

int stager_init(struct stager *s, struct region_header *h)
{
    memset(s, 0, sizeof *s);
    s->h = h;
    uint32_t n = atomic_load_explicit(&h->stage.n_blocks, memory_order_acquire);
    uint64_t raw = 0;
    if (n > REGION_STAGE_BLOCKS)
        return -EINVAL;
    for (uint32_t i = 0; i < n; i++) {
        raw += h->stage.blocks[i].len;
        s->events += h->stage.blocks[i].events;
    }
    if (raw > REGION_STAGE_RAW)
        return -EINVAL;
    s->raw_len = (uint32_t)raw;
    return 0;
}

void stager_fini(struct stager *s)
{
    buf_fini(&s->defs);
    buf_fini(&s->ended);
}

/* A thread whose bit finds no memory counts as one that goes on. */
static void note_end(struct stager *s, thread_id thread)
{
    size_t byte = thread.v / 8;
    if (byte >= s->ended.len) {
        size_t more = byte + 1 - s->ended.len;
        uint8_t *p = buf_reserve(&s->ended, more);
        if (!p)
            return;
        memset(p, 0, more);
        s->ended.len += more;
    }
    s->ended.p[byte] |= (uint8_t)(1u << (thread.v % 8));
}

bool stage_has_ended(const struct stager *s, thread_id thread)
{
    size_t byte = thread.v / 8;
    return byte < s->ended.len && s->ended.p[byte] >> (thread.v % 8) & 1;
}

/* A record of a ring, or NULL when it makes no sense.  `left`: bytes before head. */
static const struct event *record_at(const struct stager *s, const struct ring_ctl *c, uint64_t pos,
                                     uint64_t left)
{
    uint64_t at = (pos - c->base) & (c->size - 1);
    const struct event *e = (const void *)((const char *)s->h + c->data + at);
    uint64_t room = c->size - at;
    if (e->size < 8 || e->size % 8 || e->size > left || e->size > room)
        return NULL;
    if (e->kind != 0 && (e->kind >= EV_LIMIT || event_kinds[e->kind].size != e->size))
        return NULL;
    return e;
}

/* Encode records from pos up to head as one block; returns the position behind the last one
 * taken. */
static uint64_t encode_block(struct stager *s, const struct ring_ctl *c, uint64_t pos,
                             uint64_t head, struct block *b, bool *damaged)
{
    uint8_t *p = s->h->stage.raw + s->raw_len, *const from = p;
    uint8_t *const limit = s->h->stage.raw + REGION_STAGE_RAW - EVENT_ENCODED_MAX;
    struct codec codec = {0};
    *b = (struct block){.stream = c->stream, .pos = pos};
    while (pos < head && p <= limit) {
        const struct event *e = record_at(s, c, pos, head - pos);
        if (!e) {
            *damaged = true;
            break;
        }
        pos += e->size;
        if (e->kind == 0)
            continue;
        if (b->events == 0) {
            b->thread = e->thread.v;
            b->first = e->time;
            codec = (struct codec){.time = b->first, .thread = b->thread};
        }
        if (e->kind == EV_thread_end && s->notes_ends)
            note_end(s, e->thread);
        p = codec_put_event(&codec, p, e);
        b->last = codec.time;
        b->events++;
    }
    b->pos_end = pos;
    b->len = (uint32_t)(p - from);
    return pos;
}

static bool ring_is_sane(const struct stager *s, const struct ring_ctl *c, uint64_t tail,
                         uint64_t head)
{
    return c->size >= RING_SIZE_MIN && (c->size & (c->size - 1)) == 0 &&
           c->data >= s->h->data_offset && c->data <= s->h->size &&
           c->size <= s->h->size - c->data && c->data % 8 == 0 && tail >= c->base && head >= tail &&
           head - tail <= c->size && tail % 8 == 0 && c->base % 8 == 0 && c->stream != 0;
}

enum stage_status stage_ring(struct stager *s, struct ring_ctl *c, uint64_t *events)
{
    struct stage *st = &s->h->stage;
    uint64_t tail = atomic_load_explicit(&c->tail, memory_order_relaxed); /* only we store it */
    /* acquire: pairs with ring_commit; the records below head are whole */
    uint64_t head = atomic_load_explicit(&c->head, memory_order_acquire);
    bool damaged = !ring_is_sane(s, c, tail, head);
    while (tail < head && !damaged) {
        uint32_t n = atomic_load_explicit(&st->n_blocks, memory_order_relaxed);
        if (n == REGION_STAGE_BLOCKS || s->raw_len + EVENT_ENCODED_MAX > REGION_STAGE_RAW)
            return STAGE_FULL;
        struct block b;
        tail = encode_block(s, c, tail, head, &b, &damaged);
        TEST_POINT("stage:encoded");
        if (b.events) {
            st->blocks[n] = b;
            s->raw_len += b.len;
            s->events += b.events;
            *events += b.events;
            /* release: a recovery that sees the count sees the block */
            atomic_store_explicit(&st->n_blocks, n + 1, memory_order_release);
        }
        TEST_POINT("stage:committed");
        /* release: pairs with the owner's acquire; we are done reading these bytes */
        atomic_store_explicit(&c->tail, tail, memory_order_release);
        TEST_POINT("stage:freed");
    }
    if (!damaged)
        return STAGE_EMPTIED;
    stage_give_up(s, c, head);
    return STAGE_DAMAGED;
}

void stage_give_up(struct stager *s, struct ring_ctl *c, uint64_t head)
{
    atomic_fetch_add_explicit(&s->h->loss[LOSS_damaged], 1, memory_order_relaxed);
    /* release: pairs with the owner's acquire; we are done with these bytes */
    atomic_store_explicit(&c->tail, head, memory_order_release);
}

/* --- definitions ------------------------------------------------------------------------------ */

/* Collect definitions from *pos up to head, a chunk's worth; false when the ring makes no sense. */
static bool collect_defs(struct stager *s, uint64_t *pos, uint64_t head, uint32_t *count)
{
    const struct defs_ring *d = &s->h->defs;
    buf_clear(&s->defs);
    *count = 0;
    while (*pos < head) {
        uint64_t at = *pos % REGION_DEFS_SIZE, room = REGION_DEFS_SIZE - at;
        uint32_t len;
        memcpy(&len, d->data + at, sizeof len);
        if (len == UINT32_MAX) {
            *pos += room;
            continue;
        }
        uint64_t size = 8 + ALIGN_UP((uint64_t)len, (uint64_t)8);
        if (size > room || size > head - *pos || len > WRITER_DEF_MAX)
            return false;
        if (*count && s->defs.len + len > WRITER_CHUNK_RAW)
            break;
        buf_put(&s->defs, d->data + at + 8, len);
        ++*count;
        *pos += size;
    }
    return true;
}

/* The next of them that go into a chunk; *sane: nothing of them is damaged. */
static int write_defs(struct stager *s, struct writer *w, uint64_t *tail, uint64_t head, bool *sane,
                      struct err *err)
{
    uint64_t from = *tail;
    uint32_t count;
    *sane = collect_defs(s, tail, head, &count);
    if (s->defs.oom)
        return err_set(err, -ENOMEM, "out of memory");
    if (!count)
        return 0;
    return writer_put_defs(w, s->defs.p, s->defs.len, count, (struct defs_span){from, *tail}, err);
}

int stage_flush_defs(struct stager *s, struct writer *w, struct err *err)
{
    struct defs_ring *d = &s->h->defs;
    uint64_t tail = atomic_load_explicit(&d->tail, memory_order_relaxed); /* only we store it */
    /* acquire: pairs with recorder_define */
    uint64_t head = atomic_load_explicit(&d->head, memory_order_acquire);
    if (head < tail || head - tail > REGION_DEFS_SIZE || tail % 8)
        return err_set(err, -EINVAL, "the definition ring is damaged");
    while (tail < head) {
        bool sane;
        TRY(write_defs(s, w, &tail, head, &sane, err));
        TEST_POINT("defs:written");
        if (!sane) {
            atomic_fetch_add_explicit(&s->h->loss[LOSS_damaged], 1, memory_order_relaxed);
            tail = head;
        }
        /* release: pairs with recorder_define's acquire */
        atomic_store_explicit(&d->tail, tail, memory_order_release);
    }
    return 0;
}

/* As stage_flush, into a copy: nothing is given free, all of it waits on. */
int stage_copy(struct stager *s, struct writer *w, struct err *err)
{
    const struct defs_ring *d = &s->h->defs;
    const struct stage *st = &s->h->stage;
    uint64_t tail = atomic_load_explicit(&d->tail, memory_order_relaxed); /* only we store it */
    /* acquire: pairs with recorder_define */
    uint64_t head = atomic_load_explicit(&d->head, memory_order_acquire);
    uint32_t n = atomic_load_explicit(&st->n_blocks, memory_order_relaxed);
    for (bool sane = true; sane && tail < head;)
        TRY(write_defs(s, w, &tail, head, &sane, err));
    return n ? writer_put_events(w, st->blocks, n, st->raw, s->raw_len, err) : 0;
}

static int flush_events(struct stager *s, struct writer *w, struct err *err)
{
    struct stage *st = &s->h->stage;
    uint32_t n = atomic_load_explicit(&st->n_blocks, memory_order_relaxed);
    if (n == 0)
        return 0;
    TRY(writer_put_events(w, st->blocks, n, st->raw, s->raw_len, err));
    TEST_POINT("flush:written");
    /* release: only after the chunk is in the file */
    atomic_store_explicit(&st->n_blocks, 0, memory_order_release);
    s->raw_len = 0;
    s->events = 0;
    TEST_POINT("flush:emptied");
    return 0;
}

int stage_flush(struct stager *s, struct writer *w, struct err *err)
{
    TRY(stage_flush_defs(s, w, err));
    return flush_events(s, w, err);
}

/* Encode as many as there is room for into the stage, which is empty; returns how many. */
static size_t stage_own(struct stager *s, uint32_t stream, const struct event *events, size_t n)
{
    struct stage *st = &s->h->stage;
    size_t fit = REGION_STAGE_RAW / EVENT_ENCODED_MAX;
    n = n < fit ? n : fit;
    struct codec codec = {.time = events[0].time, .thread = events[0].thread.v};
    struct block b = {stream, codec.thread, .pos = s->note_pos, .first = codec.time};
    uint8_t *p = st->raw;
    for (size_t i = 0; i < n; i++)
        p = codec_put_event(&codec, p, &events[i]);
    b.pos_end = s->note_pos += 8 * n;
    b.last = codec.time;
    b.events = (uint32_t)n;
    b.len = (uint32_t)(p - st->raw);
    st->blocks[0] = b;
    s->raw_len = b.len;
    s->events = n;
    /* release: a recovery that sees the count sees the block */
    atomic_store_explicit(&st->n_blocks, 1, memory_order_release);
    return n;
}

int stage_note(struct stager *s, struct writer *w, uint32_t stream, const struct event *events,
               size_t n, struct err *err)
{
    TRY(flush_events(s, w, err));
    for (size_t done = 0; done < n;) {
        size_t part = stage_own(s, stream, events + done, n - done);
        int rc = flush_events(s, w, err);
        if (rc < 0) { /* nor later: then it would no longer be true */
            atomic_store_explicit(&s->h->stage.n_blocks, 0, memory_order_relaxed);
            s->raw_len = 0;
            s->events = 0;
            s->note_pos -= 8 * part;
            return rc;
        }
        done += part;
    }
    return 0;
}

int stage_write_unwritten(struct writer *w, uint64_t times, uint64_t ns, struct err *err)
{
    static const char key[] = TRACE_UNWRITTEN_INFO;
    char text[48];
    struct buf b;
    buf_init(&b);
    snprintf(text, sizeof text, "%" PRIu64 " %" PRIu64, times, ns);
    const struct def d = {.kind = DEF_info, .info = {{key, sizeof key - 1}, {text, strlen(text)}}};
    codec_put_def(&b, &d);
    int rc = b.oom ? err_set(err, -ENOMEM, "out of memory")
                   : writer_put_defs(w, b.p, b.len, 1, (struct defs_span){0, 0}, err);
    buf_fini(&b);
    return rc;
}

int stage_write_losses(struct stager *s, struct writer *w, struct loss_sums *sums, struct err *err)
{
    buf_clear(&s->defs);
    uint32_t count = 0;
    uint64_t now[LOSS_LIMIT];
    for (int i = 0; i < LOSS_LIMIT; i++) {
        now[i] = atomic_load_explicit(&s->h->loss[i], memory_order_relaxed) - sums->before[i];
        if (now[i] == sums->written[i])
            continue;
        struct def d = {.kind = DEF_loss, .loss = {.cause = (uint32_t)i, .count = now[i]}};
        codec_put_def(&s->defs, &d);
        count++;
    }
    if (!count)
        return 0;
    if (s->defs.oom)
        return err_set(err, -ENOMEM, "out of memory");
    TRY(writer_put_defs(w, s->defs.p, s->defs.len, count, (struct defs_span){0, 0}, err));
    memcpy(sums->written, now, sizeof now);
    return 0;
}
