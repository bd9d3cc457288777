/* writer_defs.c - the definitions of one file once more in another: how each file of a recording
 * comes to have all that it needs. */
#include "base/fdio.h"
#include "base/util.h"
#include "format/writer.h"

#include <string.h>
#include <zstd.h>

struct copy {
    struct writer *to;
    writer_take_fn take;
    void *ctx;
    struct buf stored, raw; /* a chunk as it is in the file, and its payload */
    struct buf out, one;    /* definitions for the next chunk, and one of them */
    uint32_t count;         /* in out */
};

static int put_out(struct copy *c, struct err *err)
{
    if (c->out.oom || c->one.oom)
        return err_set(err, -ENOMEM, "out of memory");
    if (c->count)
        TRY(writer_put_defs(c->to, c->out.p, c->out.len, c->count, (struct defs_span){0, 0}, err));
    buf_clear(&c->out);
    c->count = 0;
    return 0;
}

static int copy_defs(struct copy *c, struct err *err)
{
    const uint8_t *p = c->raw.p, *end = p + c->raw.len;
    struct def d;
    while (p < end) {
        if (!(p = codec_get_def(p, end, &d)))
            return err_set(err, -EBADMSG, "definitions cannot be read back");
        if (!c->take(c->ctx, &d))
            continue;
        buf_clear(&c->one);
        codec_put_def(&c->one, &d);
        if (c->out.len + c->one.len > WRITER_CHUNK_RAW)
            TRY(put_out(c, err));
        buf_put(&c->out, c->one.p, c->one.len);
        c->count++;
    }
    return 0;
}

/* The payload of a chunk of definitions into c->raw. */
static int read_chunk(struct copy *c, const struct writer *from, const struct writer_ref *ref)
{
    struct chunk_header h;
    buf_clear(&c->stored);
    buf_clear(&c->raw);
    uint8_t *p = buf_reserve(&c->stored, ref->len);
    if (!p)
        return -ENOMEM;
    if (fdio_pread_some(from->fd, p, ref->len, ref->offset) < (ssize_t)ref->len ||
        chunk_header_unpack(&h, from->header.id, ref->offset, p) < 0 || h.total_len > ref->len)
        return -EBADMSG;
    const uint8_t *payload = p + CHUNK_HEADER_SIZE + h.dir_len;
    uint8_t *raw = buf_reserve(&c->raw, h.raw_len);
    if (!raw)
        return -ENOMEM;
    c->raw.len = h.raw_len;
    if (chunk_body_hash(payload, h.stored_len) != h.payload_hash)
        return -EBADMSG;
    if (h.flags & CHUNK_ZSTD)
        return ZSTD_decompress(raw, h.raw_len, payload, h.stored_len) == h.raw_len ? 0 : -EBADMSG;
    if (h.raw_len != h.stored_len)
        return -EBADMSG;
    memcpy(raw, payload, h.raw_len);
    return 0;
}

static int copy_all(struct copy *c, const struct writer *from, struct err *err)
{
    for (size_t i = from->head; i < from->n_refs; i++) {
        const struct writer_ref *ref = &from->refs[i];
        if (ref->type != CHUNK_DEFS)
            continue;
        int rc = read_chunk(c, from, ref);
        if (rc < 0)
            return err_set(err, rc, "definitions at 0x%llx cannot be read back: %s",
                           (unsigned long long)ref->offset, strerror(-rc));
        TRY(copy_defs(c, err));
    }
    return put_out(c, err);
}

int writer_take_defs(struct writer *to, const struct writer *from, writer_take_fn take, void *ctx,
                     struct err *err)
{
    struct copy c = {.to = to, .take = take, .ctx = ctx};
    int rc = copy_all(&c, from, err);
    buf_fini(&c.stored);
    buf_fini(&c.raw);
    buf_fini(&c.out);
    buf_fini(&c.one);
    return rc;
}
