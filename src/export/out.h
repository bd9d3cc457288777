/* out.h - a file being written: buffered, under a temporary name until it is complete.
 *
 *     out_open, out_...  out_finish, out_publish      the file is there, whole
 *                        out_discard                  nothing is there
 *
 * The first failed write is kept (`rc`) and everything after it is dropped, so that a writer checks
 * once, at the end, or now and then to stop early. */
#ifndef ORCA_EXPORT_OUT_H
#define ORCA_EXPORT_OUT_H

#include "base/err.h"
#include "base/printable.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { OUT_BUFFER = 256 * 1024 };

struct out {
    int fd;            /* -1: closed */
    int rc;            /* of the first write that failed, a negative errno */
    char *path, *temp; /* final and temporary name, in the same directory; temp is NULL of stdout */
    uint8_t *buf;      /* [OUT_BUFFER] */
    size_t len;
    uint64_t lines;
    bool shown; /* on a terminal: what is harmful there is not written as it is */
    struct printable_stream screen;
};

/* Create PREFIX.SUFFIX under a temporary name, mode 0600.  A failed open needs no out_discard. */
int out_open(struct out *o, const char *prefix, const char *suffix, struct err *err);

/* Create exactly this file, mode 0600, which must not be there; out_publish leaves it, out_discard
 * removes it. */
int out_create(struct out *o, const char *path, struct err *err);

/* Write to the standard output instead, which is borrowed; on a terminal made fit for it.
 * out_publish and out_discard only release then. */
int out_open_stdout(struct out *o, struct err *err);

/* Write out what is buffered and close. */
int out_finish(struct out *o, struct err *err);

/* Give the finished file its final name, replacing what had it, and release everything. */
int out_publish(struct out *o, struct err *err);

/* The finished file is not wanted: remove it, and an older one of its final name. */
void out_withdraw(struct out *o);

/* Close and remove the temporary file, if any, and release everything.  A zeroed struct is fine. */
void out_discard(struct out *o);

void out_flush(struct out *o);

/* Room for n <= OUT_BUFFER bytes; the caller adds what it used to o->len. */
static inline uint8_t *out_room(struct out *o, size_t n)
{
    if (OUT_BUFFER - o->len < n)
        out_flush(o);
    return o->buf + o->len;
}

static inline void out_char(struct out *o, char c)
{
    *out_room(o, 1) = (uint8_t)c;
    o->len++;
}

static inline void out_newline(struct out *o)
{
    out_char(o, '\n');
    o->lines++;
}

void out_bytes(struct out *o, const void *bytes, size_t n);
void out_text(struct out *o, const char *s);

/* The text with every byte that occurs in `reserved`, and every line break, as '_'. */
void out_text_without(struct out *o, const char *s, const char *reserved);

/* Eight upper-case hex digits at p. */
static inline void out_hex8_at(uint8_t *p, uint32_t v)
{
    /* All eight at once: one nibble a byte, the most significant last, then what makes it ASCII. */
    uint64_t x = ((uint64_t)v & 0xFFFF0000u) << 16 | (v & 0xFFFFu);
    x = (x << 8 & 0x00FF000000FF0000u) | (x & 0x000000FF000000FFu);
    x = (x << 4 & 0x0F000F000F000F00u) | (x & 0x000F000F000F000Fu);
    uint64_t letters = (x + 0x0606060606060606u) >> 4 & 0x0101010101010101u;
    x = __builtin_bswap64(x + 0x3030303030303030u + letters * ('A' - '9' - 1));
    memcpy(p, &x, sizeof x); /* hosts are little-endian: x86-64, aarch64 */
}

static inline void out_hex8(struct out *o, uint32_t v)
{
    out_hex8_at(out_room(o, 8), v);
    o->len += 8;
}

/* Without leading zeros. */
void out_decimal(struct out *o, uint64_t v);

/* Seconds with nine decimals. */
void out_seconds_9(struct out *o, uint64_t ns);

/* Seconds with ten decimals; exact, so that the last one is 0. */
void out_seconds(struct out *o, uint64_t ns);

#endif
