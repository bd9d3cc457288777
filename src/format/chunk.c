#include "format/chunk.h"

#include "base/hash.h"

#include <string.h>

/* A cursor that writes or reads fixed-size little-endian integers: one list of fields serves both
 * directions, so that packing and unpacking cannot drift apart. */
struct fixed {
    uint8_t *out;
    const uint8_t *in;
};

static void fixed_int(struct fixed *f, void *value, size_t size)
{
    uint64_t v = 0;
    if (f->out) {
        memcpy(&v, value, size); /* hosts are little-endian: x86-64, aarch64 */
        for (size_t i = 0; i < size; i++)
            *f->out++ = (uint8_t)(v >> (8 * i));
    } else {
        for (size_t i = 0; i < size; i++)
            v |= (uint64_t)*f->in++ << (8 * i);
        memcpy(value, &v, size);
    }
}

static void fixed_bytes(struct fixed *f, void *value, size_t size)
{
    if (f->out) {
        memcpy(f->out, value, size);
        f->out += size;
    } else {
        memcpy(value, f->in, size);
        f->in += size;
    }
}

#define INT(f, field) fixed_int(f, &(field), sizeof(field))

static void file_header_fields(struct fixed *f, struct file_header *h)
{
    fixed_bytes(f, h->id, sizeof h->id);
    INT(f, h->state);
    INT(f, h->pid);
    INT(f, h->pid_start);
    INT(f, h->start_mono);
    INT(f, h->start_real);
    INT(f, h->end_mono);
    INT(f, h->capacity);
    INT(f, h->index_offset);
    INT(f, h->evicted_events);
    INT(f, h->unwritten_events);
    fixed_bytes(f, h->schema.n_fields, sizeof h->schema.n_fields);
    fixed_bytes(f, h->ring_path, sizeof h->ring_path);
    INT(f, h->unwritten_since); /* 0 in files of earlier versions */
}

/* Without what is rewritten alone, which counts as zero. */
static uint64_t file_header_hash(const uint8_t *page)
{
    uint8_t copy[FILE_HEADER_SIZE];
    memcpy(copy, page, sizeof copy);
    memset(copy + FLUSHED_OFFSET, 0, FLUSHED_SIZE);
    return hash_checksum(copy, FILE_HEADER_SIZE - 8, 0);
}

static void flushed_fields(struct fixed *f, struct file_header *h)
{
    INT(f, h->flushed_mono);
    INT(f, h->flushed_seq);
}

/* Of another trace it is another one. */
static uint64_t flushed_hash(const uint8_t *flushed, const struct file_header *h)
{
    uint64_t seed;
    memcpy(&seed, h->id, sizeof seed);
    return hash_checksum(flushed, FLUSHED_SIZE - 8, seed);
}

void file_header_pack_flushed(const struct file_header *h, uint8_t out[FLUSHED_SIZE])
{
    struct file_header copy = *h;
    struct fixed f = {.out = out};
    flushed_fields(&f, &copy);
    uint64_t sum = flushed_hash(out, h);
    INT(&f, sum);
}

/* It may be read while it is written: then it says nothing. */
static void unpack_flushed(struct file_header *h, const uint8_t *in)
{
    struct fixed f = {.in = in};
    uint64_t sum = 0;
    flushed_fields(&f, h);
    INT(&f, sum);
    if (sum != flushed_hash(in, h))
        h->flushed_mono = h->flushed_seq = 0;
}

void file_header_pack(const struct file_header *h, uint8_t out[FILE_HEADER_SIZE])
{
    memset(out, 0, FILE_HEADER_SIZE);
    memcpy(out, FILE_MAGIC, 8);
    struct fixed f = {.out = out + 8};
    uint32_t version = FORMAT_VERSION, size = FILE_HEADER_SIZE;
    INT(&f, version);
    INT(&f, size);
    struct file_header copy = *h;
    file_header_fields(&f, &copy);
    uint64_t sum = file_header_hash(out);
    f.out = out + FILE_HEADER_SIZE - 8;
    INT(&f, sum);
    if (h->flushed_mono)
        file_header_pack_flushed(h, out + FLUSHED_OFFSET);
}

int file_header_unpack(struct file_header *h, const uint8_t *in, size_t len, struct err *err)
{
    if (len >= 12 && memcmp(in, "JAVA PROFILE", 12) == 0)
        return err_set(err, -EINVAL, "a heap dump, not an Orca trace; orca heap shows it");
    if (len < 8 || memcmp(in, FILE_MAGIC, 8) != 0)
        return err_set(err, -EINVAL, "not an Orca trace (the first bytes are not \"ORCATRC\")");
    if (len < FILE_HEADER_SIZE)
        return err_set(err, -EINVAL,
                       "the file ends inside its header (%zu bytes of %d): nothing was recorded",
                       len, FILE_HEADER_SIZE);
    struct fixed f = {.in = in + 8};
    uint32_t version = 0, size = 0;
    INT(&f, version);
    INT(&f, size);
    if (version != FORMAT_VERSION || size != FILE_HEADER_SIZE)
        return err_set(err, -ENOTSUP,
                       "trace format version %u; this orca reads version %d: use the orca that "
                       "recorded it",
                       version, FORMAT_VERSION);
    memset(h, 0, sizeof *h);
    file_header_fields(&f, h);
    uint64_t sum = 0;
    f.in = in + FILE_HEADER_SIZE - 8;
    INT(&f, sum);
    if (sum != file_header_hash(in))
        return err_set(err, -EINVAL, "header at 0x0: bad checksum");
    h->ring_path[RING_PATH_MAX - 1] = 0;
    unpack_flushed(h, in + FLUSHED_OFFSET);
    return 0;
}

static void chunk_header_fields(struct fixed *f, struct chunk_header *h)
{
    uint16_t reserved = 0;
    INT(f, h->type);
    INT(f, h->flags);
    INT(f, reserved);
    INT(f, h->dir_len);
    INT(f, h->stored_len);
    INT(f, h->raw_len);
    INT(f, h->total_len);
    INT(f, h->events);
    INT(f, h->seq);
    INT(f, h->first);
    INT(f, h->last);
    INT(f, h->dir_hash);
    INT(f, h->payload_hash);
}

static uint32_t fold(uint64_t h)
{
    return (uint32_t)(h ^ (h >> 32));
}

static uint32_t chunk_header_hash(const uint8_t *head, const uint8_t *id, uint64_t offset)
{
    uint64_t seed;
    memcpy(&seed, id, sizeof seed);
    return fold(hash_checksum(head, CHUNK_HEADER_SIZE - 4, seed ^ offset));
}

uint32_t chunk_body_hash(const void *p, size_t n)
{
    return fold(hash_checksum(p, n, 0));
}

void chunk_header_pack(const struct chunk_header *h, const uint8_t id[TRACE_ID_SIZE],
                       uint64_t offset, uint8_t out[CHUNK_HEADER_SIZE])
{
    memset(out, 0, CHUNK_HEADER_SIZE);
    struct fixed f = {.out = out};
    uint32_t magic = CHUNK_MAGIC;
    INT(&f, magic);
    struct chunk_header copy = *h;
    chunk_header_fields(&f, &copy);
    uint32_t sum = chunk_header_hash(out, id, offset);
    f.out = out + CHUNK_HEADER_SIZE - 4;
    INT(&f, sum);
}

int chunk_header_unpack(struct chunk_header *h, const uint8_t id[TRACE_ID_SIZE], uint64_t offset,
                        const uint8_t in[CHUNK_HEADER_SIZE])
{
    struct fixed f = {.in = in};
    uint32_t magic = 0, sum = 0;
    INT(&f, magic);
    if (magic != CHUNK_MAGIC)
        return -EINVAL;
    memset(h, 0, sizeof *h);
    chunk_header_fields(&f, h);
    f.in = in + CHUNK_HEADER_SIZE - 4;
    INT(&f, sum);
    if (sum != chunk_header_hash(in, id, offset))
        return -EINVAL;
    uint64_t need = (uint64_t)CHUNK_HEADER_SIZE + h->dir_len + h->stored_len;
    if (h->total_len < need || h->total_len % 8 != 0)
        return -EINVAL;
    if (h->type != CHUNK_FILL && (h->total_len > CHUNK_TOTAL_MAX || h->raw_len > CHUNK_RAW_MAX ||
                                  h->raw_len > (uint64_t)h->total_len * CHUNK_RATIO_MAX))
        return -EINVAL;
    return 0;
}

void block_put(struct buf *dir, const struct block *b, uint64_t chunk_first)
{
    const uint64_t v[] = {
        b->stream,          b->thread, b->pos, b->pos_end - b->pos, b->first - chunk_first,
        b->last - b->first, b->events, b->len};
    for (size_t i = 0; i < sizeof v / sizeof v[0]; i++)
        varint_append(dir, v[i]);
}

const uint8_t *block_get(const uint8_t *p, const uint8_t *end, struct block *b,
                         uint64_t chunk_first)
{
    uint64_t v[8];
    for (int i = 0; i < 8; i++)
        if (!(p = varint_get(p, end, &v[i])))
            return NULL;
    *b = (struct block){.stream = (uint32_t)v[0],
                        .thread = (uint32_t)v[1],
                        .pos = v[2],
                        .pos_end = v[2] + v[3],
                        .first = chunk_first + v[4],
                        .last = chunk_first + v[4] + v[5],
                        .events = (uint32_t)v[6],
                        .len = (uint32_t)v[7]};
    return v[7] > CHUNK_RAW_MAX || v[6] > CHUNK_RAW_MAX ? NULL : p;
}

void defs_dir_put(struct buf *dir, uint64_t pos, uint64_t pos_end)
{
    varint_append(dir, pos);
    varint_append(dir, pos_end - pos);
}
