#include "serve/compress.h"

#include "base/util.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

bool compress_accepted(const char *value)
{
    for (const char *p = value; *p;) {
        p += strspn(p, ", \t");
        size_t n = strcspn(p, ",");
        if (n >= 4 && strncasecmp(p, "gzip", 4) == 0 && (n == 4 || strchr("; \t", p[4]))) {
            const char *q = memchr(p, '=', n);
            return !q || strtod(q + 1, NULL) > 0;
        }
        p += n;
    }
    return false;
}

int compress_gzip(const void *p, size_t n, struct buf *out)
{
    enum { LEVEL = 3, GZIP = 16 + MAX_WBITS };
    z_stream z = {.next_in = (Bytef *)(uintptr_t)p, .avail_in = (uInt)n};
    if (n > UINT_MAX / 2 ||
        deflateInit2(&z, LEVEL, Z_DEFLATED, GZIP, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return -ENOMEM;
    size_t bound = deflateBound(&z, (uLong)n);
    z.next_out = buf_reserve(out, bound);
    z.avail_out = (uInt)bound;
    bool done = z.next_out && deflate(&z, Z_FINISH) == Z_STREAM_END;
    if (done)
        out->len += z.total_out;
    deflateEnd(&z);
    return done ? 0 : -ENOMEM;
}
