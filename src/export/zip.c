#include "export/zip.h"

#include "base/err.h"
#include "base/util.h"

#include <string.h>

/* Bytes handed to zlib at once, whose counters are 32 bits wide; and of room for what it makes. */
enum { PIECE = 1 << 20, ROOM = 64 * 1024 };

int zip_open(struct zip *z, enum zip_format format, int level)
{
    /* zlib.h: 16 added to the window's bits asks for gzip. */
    const int window = format == ZIP_GZIP ? MAX_WBITS + 16 : MAX_WBITS, memory = 8;
    memset(z, 0, sizeof *z);
    return deflateInit2(&z->z, level, Z_DEFLATED, window, memory, Z_DEFAULT_STRATEGY) == Z_OK
               ? 0
               : -ENOMEM;
}

void zip_close(struct zip *z)
{
    deflateEnd(&z->z);
    memset(z, 0, sizeof *z);
}

/* Compress all of the input, or end the stream. */
static void run(struct zip *z, struct out *o, int flush)
{
    int rc;
    do {
        uint8_t *room = out_room(o, ROOM);
        z->z.next_out = room;
        z->z.avail_out = ROOM;
        rc = deflate(&z->z, flush);
        o->len += ROOM - z->z.avail_out;
    } while (z->z.avail_out == 0 || (flush == Z_FINISH && rc == Z_OK));
}

void zip_write(struct zip *z, struct out *o, const void *p, size_t n)
{
    const uint8_t *at = p;
    while (n > 0) {
        size_t piece = n < PIECE ? n : PIECE;
        z->z.next_in = (uint8_t *)(uintptr_t)at; /* zlib only reads it */
        z->z.avail_in = (uInt)piece;
        run(z, o, Z_NO_FLUSH);
        at += piece;
        n -= piece;
    }
}

void zip_finish(struct zip *z, struct out *o)
{
    z->z.next_in = NULL;
    z->z.avail_in = 0;
    run(z, o, Z_FINISH);
}

void zip_block(struct zip *z, const void *p, size_t n, struct buf *to)
{
    size_t bound = deflateBound(&z->z, n);
    buf_clear(to);
    uint8_t *room = buf_reserve(to, bound);
    if (!room || n > UINT32_MAX || bound > UINT32_MAX) {
        to->oom = true;
        return;
    }
    deflateReset(&z->z);
    z->z.next_in = (uint8_t *)(uintptr_t)p;
    z->z.avail_in = (uInt)n;
    z->z.next_out = room;
    z->z.avail_out = (uInt)bound;
    deflate(&z->z, Z_FINISH);
    to->len = bound - z->z.avail_out;
}
