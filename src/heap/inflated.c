#include "heap/inflated.h"

#include "base/fdio.h"
#include "base/util.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
    WINDOW = 32768,           /* what deflate may refer back to */
    INPUT = 256 << 10,        /* read at once */
    SKIPPED = 256 << 10,      /* inflated at once on the way to an offset */
    PLACE_EVERY = 128 << 10,  /* bytes of output between two places with a window, at first */
    WINDOWS_MOST = 1024,      /* then each second one goes */
    MEMBER_EVERY = 128 << 10, /* between two that are beginnings of members */
    AGAIN_EACH = 64,          /* bytes of output, for each one of the dump, that a cursor */
    AGAIN_FREE = 256 << 20,   /* inflates only to get where it goes; and those of a small dump */
    GZIP_FORM = 31,           /* inflateInit2: 32 kB window, gzip header and trailer */
    RAW_FORM = -15,
    GZIP_TRAILER = 8,
};

struct place {
    uint64_t in, out; /* offsets; `in` is of the first whole byte */
    int bits;         /* of the byte before that still belong to the rest; -1: a member begins */
    uint8_t *window;
};

struct inflated {
    int fd;
    uint64_t disk_size;
    pthread_mutex_t lock;
    struct place *places;
    size_t n, cap, n_windows;
    uint64_t every;        /* bytes between two with a window */
    _Atomic uint64_t size; /* release: after `damage`, which readers of the size read */
    char damage[160];
};

struct inflated_cursor {
    struct inflated *z;
    z_stream s;
    bool begun, raw; /* raw: in the middle of a member, whose header was not read here */
    bool ended;      /* nothing comes after `out` */
    bool fresh;      /* at the beginning of a member */
    uint64_t in;     /* offset of the first byte that is not in `input` yet */
    uint64_t out;
    uint64_t again; /* bytes that were inflated and are not what was asked for */
    uint8_t input[INPUT], skipped[SKIPPED];
};

struct inflated *inflated_new(int fd, uint64_t disk_size)
{
    struct inflated *z = calloc(1, sizeof *z);
    if (!z)
        return NULL;
    z->places = calloc(16, sizeof *z->places);
    if (!z->places) {
        free(z);
        return NULL;
    }
    z->cap = 16;
    z->n = 1;
    z->places[0].bits = -1;
    z->every = PLACE_EVERY;
    z->fd = fd;
    z->disk_size = disk_size;
    atomic_init(&z->size, UINT64_MAX);
    pthread_mutex_init(&z->lock, NULL);
    return z;
}

void inflated_free(struct inflated *z)
{
    if (!z)
        return;
    for (size_t i = 0; i < z->n; i++)
        free(z->places[i].window);
    free(z->places);
    pthread_mutex_destroy(&z->lock);
    free(z);
}

uint64_t inflated_size(const struct inflated *z)
{
    return atomic_load_explicit(&z->size, memory_order_acquire);
}

const char *inflated_damage(const struct inflated *z)
{
    return inflated_size(z) == UINT64_MAX ? "" : z->damage;
}

struct inflated_cursor *inflated_cursor_new(struct inflated *z)
{
    struct inflated_cursor *c = calloc(1, sizeof *c);
    if (c)
        c->z = z;
    return c;
}

void inflated_cursor_free(struct inflated_cursor *c)
{
    if (!c)
        return;
    if (c->begun)
        inflateEnd(&c->s);
    free(c);
}

/* The output ends at c->out; why is "" at the proper end of the file. */
static void ends(struct inflated_cursor *c, const char *why)
{
    struct inflated *z = c->z;
    c->ended = true;
    pthread_mutex_lock(&z->lock);
    if (atomic_load_explicit(&z->size, memory_order_relaxed) == UINT64_MAX) {
        if (*why)
            snprintf(z->damage, sizeof z->damage, "%s at offset 0x%llx of the compressed file", why,
                     (unsigned long long)(c->in - c->s.avail_in));
        atomic_store_explicit(&z->size, c->out, memory_order_release);
    }
    pthread_mutex_unlock(&z->lock);
}

static int fill(struct inflated_cursor *c)
{
    if (c->s.avail_in)
        return 0;
    ssize_t n = fdio_pread_some(c->z->fd, c->input, INPUT, c->in);
    if (n < 0)
        return (int)n;
    c->in += (uint64_t)n;
    c->s.next_in = c->input;
    c->s.avail_in = (uInt)n;
    return 0;
}

/* With the lock: half as many windows, twice as far apart.  Who uses one has copied it. */
static void thin(struct inflated *z)
{
    size_t to = 0, windows = 0;
    for (size_t i = 0; i < z->n; i++) {
        if (z->places[i].window && windows++ % 2) {
            free(z->places[i].window);
            z->n_windows--;
        } else {
            z->places[to++] = z->places[i];
        }
    }
    z->n = to;
    z->every *= 2;
}

/* Note where we are; the cursor stands at a member's beginning or at the end of a block. */
static void note(struct inflated_cursor *c)
{
    struct inflated *z = c->z;
    struct place p = {.in = c->in - c->s.avail_in, .out = c->out, .bits = -1};
    if (!c->fresh) {
        uInt have = WINDOW;
        p.bits = c->s.data_type & 7;
        p.window = calloc(1, WINDOW);
        if (!p.window)
            return; /* one place fewer */
        uint8_t last[WINDOW];
        inflateGetDictionary(&c->s, last, &have);
        memcpy(p.window + WINDOW - have, last, have);
    }
    pthread_mutex_lock(&z->lock);
    bool wanted = p.out > z->places[z->n - 1].out;
    if (wanted && z->n == z->cap) {
        struct place *more = realloc(z->places, 2 * z->cap * sizeof *more);
        wanted = more != NULL;
        if (more) {
            z->places = more;
            z->cap *= 2;
        }
    }
    if (wanted) {
        z->places[z->n++] = p;
        z->n_windows += p.window != NULL;
    } else {
        free(p.window);
    }
    if (z->n_windows > WINDOWS_MOST)
        thin(z);
    pthread_mutex_unlock(&z->lock);
}

/* Where the last place is, and how far from it the next one may be. */
static uint64_t last_place(struct inflated *z, uint64_t *every)
{
    pthread_mutex_lock(&z->lock);
    uint64_t out = z->places[z->n - 1].out;
    *every = z->every;
    pthread_mutex_unlock(&z->lock);
    return out;
}

static void note_if_far(struct inflated_cursor *c)
{
    bool block = !c->fresh && (c->s.data_type & 128) && !(c->s.data_type & 64);
    uint64_t every, last = c->fresh || block ? last_place(c->z, &every) : UINT64_MAX;
    if (last != UINT64_MAX && c->out > last + (c->fresh ? MEMBER_EVERY : every))
        note(c);
}

/* Behind the last block of a member: on to the next one, or the end. */
static int next_member(struct inflated_cursor *c)
{
    for (int skip = c->raw ? GZIP_TRAILER : 0; skip > 0;) {
        TRY(fill(c));
        if (!c->s.avail_in)
            break;
        uInt n = c->s.avail_in < (uInt)skip ? c->s.avail_in : (uInt)skip;
        c->s.next_in += n;
        c->s.avail_in -= n;
        skip -= (int)n;
    }
    TRY(fill(c));
    if (!c->s.avail_in) {
        ends(c, "");
        return 0;
    }
    if (inflateReset2(&c->s, GZIP_FORM) != Z_OK)
        return -ENOMEM;
    c->raw = false;
    c->fresh = true;
    note_if_far(c);
    return 0;
}

/* Inflate up to n bytes to p; what came is added to c->out. */
static int step(struct inflated_cursor *c, uint8_t *p, size_t n)
{
    TRY(fill(c));
    if (!c->s.avail_in) {
        ends(c, "the compressed data ends in the middle");
        return 0;
    }
    c->s.next_out = p;
    c->s.avail_out = n > UINT32_MAX ? UINT32_MAX : (uInt)n;
    uInt wanted = c->s.avail_out;
    int rc = inflate(&c->s, Z_BLOCK);
    c->out += wanted - c->s.avail_out;
    c->fresh = false;
    if (rc == Z_STREAM_END)
        return next_member(c);
    if (rc == Z_MEM_ERROR)
        return -ENOMEM;
    if (rc != Z_OK && rc != Z_BUF_ERROR) {
        ends(c, c->s.msg ? c->s.msg : "bad compressed data");
        return 0;
    }
    note_if_far(c);
    return 0;
}

/* The place to go on from; its window, if it has one, is copied. */
static struct place place_before(struct inflated *z, uint64_t offset, uint8_t window[WINDOW])
{
    pthread_mutex_lock(&z->lock);
    size_t lo = 0, hi = z->n;
    while (hi - lo > 1) {
        size_t mid = lo + (hi - lo) / 2;
        if (z->places[mid].out <= offset)
            lo = mid;
        else
            hi = mid;
    }
    struct place p = z->places[lo];
    if (p.window)
        memcpy(window, p.window, WINDOW);
    pthread_mutex_unlock(&z->lock);
    return p;
}

/* Go on from a place. */
static int restart(struct inflated_cursor *c, const struct place *p, const uint8_t window[WINDOW])
{
    int form = p->bits < 0 ? GZIP_FORM : RAW_FORM;
    int rc = c->begun ? inflateReset2(&c->s, form) : inflateInit2(&c->s, form);
    if (rc != Z_OK)
        return -ENOMEM;
    c->begun = true;
    c->ended = false;
    c->raw = p->bits >= 0;
    c->fresh = !c->raw;
    c->out = p->out;
    c->in = p->in - (p->bits > 0 ? 1 : 0);
    c->s.avail_in = 0;
    if (p->bits > 0) {
        TRY(fill(c));
        if (!c->s.avail_in)
            return -EIO;
        int last = *c->s.next_in++;
        c->s.avail_in--;
        inflatePrime(&c->s, p->bits, last >> (8 - p->bits));
    }
    if (c->raw)
        inflateSetDictionary(&c->s, window, WINDOW);
    return 0;
}

/* Random reads must not unpack the whole dump each time: a file may have no places but its
 * beginning. */
static bool may_go(const struct inflated_cursor *c)
{
    uint64_t size = inflated_size(c->z);
    return size == UINT64_MAX || c->again / AGAIN_EACH <= size + AGAIN_FREE / AGAIN_EACH;
}

static int go_to(struct inflated_cursor *c, uint64_t offset)
{
    if (c->begun && offset == c->out)
        return 0;
    uint8_t window[WINDOW];
    struct place p = place_before(c->z, offset, window);
    if (!c->begun || offset < c->out || p.out > c->out)
        TRY(restart(c, &p, window));
    while (c->out < offset && !c->ended) {
        uint64_t from = c->out;
        if (!may_go(c))
            return -ETIME;
        TRY(step(c, c->skipped, min_u64(SKIPPED, offset - c->out)));
        c->again += c->out - from;
    }
    return 0;
}

ssize_t inflated_read(struct inflated_cursor *c, uint64_t offset, void *p, size_t n)
{
    uint8_t *to = p;
    size_t got = 0;
    TRY(go_to(c, offset));
    if (c->out != offset)
        return 0;
    while (got < n && !c->ended) {
        TRY(step(c, to + got, n - got));
        got = (size_t)(c->out - offset);
    }
    return (ssize_t)got;
}
