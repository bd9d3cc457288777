#include "import/unzip.h"

#include "base/fdio.h"
#include "base/util.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* PKWARE's APPNOTE, 4.3 and 4.4.  Numbers are little-endian. */
enum {
    LOCAL_LEN = 30,   /* of a header in front of an entry, without its name */
    CENTRAL_LEN = 46, /* of one in the directory */
    END_LEN = 22,     /* of the record at the end of the file, without its comment */
    COMMENT_MAX = 65535,
    FLAG_ENCRYPTED = 1,
    STORED = 0,
    DEFLATED = 8,
    INPUT = 64 << 10, /* read at once */
};

static const char LOCAL[] = "PK\3\4", CENTRAL[] = "PK\1\2", END[] = "PK\5\6";

#define AGAIN "export it again, or save what can be saved with zip -FF"

struct unzip {
    int fd;
    char *path;
    uint64_t size; /* of the file */
    uint8_t *directory;
    uint64_t directory_at;
    struct unzip_entry *v;
    size_t n;
    char *names; /* all of them, with their NULs */
    /* The entry that is read. */
    const struct unzip_entry *entry;
    z_stream s;
    bool inflating, ended;
    uint64_t in, in_end; /* offsets of what was not read of it yet */
    uint64_t out;        /* bytes of it so far */
    uint32_t crc;
    uint8_t input[INPUT];
};

static uint16_t u16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static uint32_t u32(const uint8_t *p)
{
    return u16(p) | (uint32_t)u16(p + 2) << 16;
}

bool unzip_is(const char *head, size_t n)
{
    return n >= 4 && (memcmp(head, LOCAL, 4) == 0 || memcmp(head, END, 4) == 0);
}

static int out_of_memory(const char *path, struct err *err)
{
    return err_set(err, -ENOMEM, "%s: out of memory", path);
}

static int read_failed(const struct unzip *z, int rc, struct err *err)
{
    return err_set(err, rc, "%s: cannot read: %s", z->path, strerror(-rc));
}

/* All of n bytes that the directory says are there. */
static int read_all(const struct unzip *z, void *p, size_t n, uint64_t at, const char *what,
                    struct err *err)
{
    ssize_t got = fdio_pread_some(z->fd, p, n, at);
    if (got < 0)
        return read_failed(z, (int)got, err);
    if ((size_t)got == n)
        return 0;
    return err_set(err, -EINVAL, "%s: offset 0x%" PRIx64 ": the ZIP ends inside %s: " AGAIN,
                   z->path, at + (uint64_t)got, what);
}

/* --- the directory ---------------------------------------------------------------------------- */

/* The last bytes of the file in which the end record can be, and where it is in them; NULL. */
static const uint8_t *find_end(const uint8_t *p, size_t n)
{
    for (size_t i = n >= END_LEN ? n - END_LEN + 1 : 0; i-- > 0;)
        if (memcmp(p + i, END, 4) == 0 && i + END_LEN + u16(p + i + 20) <= n)
            return p + i;
    return NULL;
}

static int take_end(struct unzip *z, const uint8_t *end, uint64_t end_at, uint32_t *len,
                    struct err *err)
{
    uint16_t disk = u16(end + 4), entries = u16(end + 10);
    uint32_t at = u32(end + 16);
    *len = u32(end + 12);
    z->directory_at = at;
    z->n = entries;
    if (entries == UINT16_MAX || at == UINT32_MAX || *len == UINT32_MAX)
        return err_set(err, -EINVAL, "%s: a ZIP64 is not read here: unpack it first", z->path);
    if (disk || u16(end + 6) || u16(end + 8) != entries)
        return err_set(err, -EINVAL, "%s: a ZIP of several parts is not read here: unpack it first",
                       z->path);
    if (*len > UNZIP_DIRECTORY_MAX || (uint64_t)at + *len > end_at)
        return err_set(err, -EINVAL,
                       "%s: offset 0x%" PRIx64 ": the ZIP's directory of %" PRIu32
                       " bytes at 0x%" PRIx32 " does not fit in front of its end: " AGAIN,
                       z->path, end_at, *len, at);
    return 0;
}

static int read_end(struct unzip *z, uint32_t *len, struct err *err)
{
    size_t n = (size_t)min_u64(z->size, END_LEN + COMMENT_MAX);
    uint64_t from = z->size - n;
    uint8_t *tail = malloc(n ? n : 1);
    if (!tail)
        return out_of_memory(z->path, err);
    int rc = read_all(z, tail, n, from, "its end", err);
    const uint8_t *end = rc == 0 ? find_end(tail, n) : NULL;
    if (end)
        rc = take_end(z, end, from + (uint64_t)(end - tail), len, err);
    else if (rc == 0)
        rc = err_set(err, -EINVAL,
                     "%s: offset 0x%" PRIx64
                     ": the ZIP has no directory at its end: it was truncated, "
                     "or is still being written: " AGAIN,
                     z->path, z->size);
    free(tail);
    return rc;
}

static int bad_entry(const struct unzip *z, uint64_t at, const char *what, struct err *err)
{
    return err_set(err, -EINVAL,
                   "%s: offset 0x%" PRIx64 ": the ZIP's directory is damaged: %s: " AGAIN, z->path,
                   at, what);
}

/* Names go into messages. */
static bool is_name(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] < 0x20 || p[i] == 0x7f)
            return false;
    return n > 0 && n <= UNZIP_NAME_MAX;
}

/* The entry at p, whose name goes to *name; returns its length in the directory. */
static int take_entry(struct unzip *z, struct unzip_entry *e, const uint8_t *p, size_t room,
                      char **name, struct err *err)
{
    uint64_t at = z->directory_at + (uint64_t)(p - z->directory);
    if (room < CENTRAL_LEN || memcmp(p, CENTRAL, 4) != 0)
        return bad_entry(z, at, "an entry is missing", err);
    size_t name_len = u16(p + 28), len = CENTRAL_LEN + name_len + u16(p + 30) + u16(p + 32);
    if (len > room)
        return bad_entry(z, at, "an entry is longer than the directory", err);
    if (!is_name(p + CENTRAL_LEN, name_len))
        return bad_entry(z, at, "an entry's name is invalid", err);
    *e = (struct unzip_entry){.name = *name,
                              .flags = u16(p + 8),
                              .method = u16(p + 10),
                              .crc = u32(p + 16),
                              .packed = u32(p + 20),
                              .size = u32(p + 24),
                              .at = u32(p + 42)};
    memcpy(*name, p + CENTRAL_LEN, name_len);
    (*name)[name_len] = 0;
    *name += name_len + 1;
    if (e->at + LOCAL_LEN + e->packed > z->directory_at)
        return bad_entry(z, at, "an entry lies outside of the file", err);
    return (int)len;
}

static int take_entries(struct unzip *z, size_t len, struct err *err)
{
    const uint8_t *p = z->directory, *end = p + len;
    char *name = z->names;
    uint64_t packed = 0;
    for (size_t i = 0; i < z->n; i++) {
        int taken = take_entry(z, &z->v[i], p, (size_t)(end - p), &name, err);
        if (taken < 0)
            return taken;
        p += taken;
        packed += LOCAL_LEN + z->v[i].packed;
    }
    if (packed > z->directory_at)
        return bad_entry(z, z->directory_at, "entries overlap", err);
    return 0;
}

static int read_directory(struct unzip *z, struct err *err)
{
    int64_t size = fdio_size(z->fd);
    uint32_t len = 0;
    if (size < 0)
        return read_failed(z, (int)size, err);
    z->size = (uint64_t)size;
    TRY(read_end(z, &len, err));
    z->directory = malloc(len ? len : 1);
    z->names =
        malloc((size_t)len + z->n + 1); /* each name is in the directory, and ends in a NUL */
    z->v = calloc(z->n + 1, sizeof *z->v);
    if (!z->directory || !z->names || !z->v)
        return out_of_memory(z->path, err);
    TRY(read_all(z, z->directory, len, z->directory_at, "its directory", err));
    return take_entries(z, len, err);
}

int unzip_open(struct unzip **out, int fd, const char *path, struct err *err)
{
    struct unzip *z = *out = calloc(1, sizeof *z);
    if (!z)
        return out_of_memory(path, err);
    z->fd = fd;
    z->path = strdup(path);
    int rc = z->path ? read_directory(z, err) : out_of_memory(path, err);
    if (rc < 0) {
        unzip_close(z);
        *out = NULL;
    }
    return rc;
}

void unzip_close(struct unzip *z)
{
    if (!z)
        return;
    if (z->inflating)
        inflateEnd(&z->s);
    free(z->path);
    free(z->directory);
    free(z->names);
    free(z->v);
    free(z);
}

size_t unzip_count(const struct unzip *z)
{
    return z->n;
}

const struct unzip_entry *unzip_entry(const struct unzip *z, size_t i)
{
    return &z->v[i];
}

/* --- an entry --------------------------------------------------------------------------------- */

/* What is wrong with the entry at an offset of the file. */
static int bad_data(const struct unzip *z, uint64_t at, const char *what, struct err *err)
{
    return err_set(err, -EINVAL, "%s: %s: offset 0x%" PRIx64 " of the ZIP: %s: " AGAIN, z->path,
                   z->entry->name, at, what);
}

static int begin_inflating(struct unzip *z, struct err *err)
{
    int rc = z->inflating ? inflateReset(&z->s) : inflateInit2(&z->s, -MAX_WBITS);
    if (rc != Z_OK)
        return out_of_memory(z->path, err);
    z->inflating = true;
    return 0;
}

int unzip_begin(struct unzip *z, size_t i, struct err *err)
{
    const struct unzip_entry *e = z->entry = &z->v[i];
    uint8_t local[LOCAL_LEN];
    bool encrypted = e->flags & FLAG_ENCRYPTED;
    if (encrypted || (e->method != STORED && e->method != DEFLATED))
        return err_set(err, -EINVAL, "%s: %s: %s are not read here: unpack it first", z->path,
                       e->name, encrypted ? "encrypted ZIPs" : "ZIPs of this method");
    TRY(read_all(z, local, LOCAL_LEN, e->at, "an entry", err));
    if (memcmp(local, LOCAL, 4) != 0)
        return bad_data(z, e->at, "there is no entry where the directory has one", err);
    z->in = e->at + LOCAL_LEN + u16(local + 26) + u16(local + 28);
    z->in_end = z->in + e->packed;
    if (z->in_end > z->directory_at)
        return bad_data(z, e->at, "it does not fit in front of the directory", err);
    z->out = 0;
    z->ended = false;
    z->crc = (uint32_t)crc32(0, NULL, 0);
    z->s.avail_in = 0;
    return begin_inflating(z, err);
}

static int fill(struct unzip *z, struct err *err)
{
    if (z->s.avail_in || z->in == z->in_end)
        return 0;
    size_t n = (size_t)min_u64(INPUT, z->in_end - z->in);
    TRY(read_all(z, z->input, n, z->in, "an entry", err));
    z->in += n;
    z->s.next_in = z->input;
    z->s.avail_in = (uInt)n;
    return 0;
}

/* Up to n bytes to p; an entry that is only stored is copied. */
static ssize_t copy(struct unzip *z, uint8_t *p, size_t n)
{
    n = n < z->s.avail_in ? n : z->s.avail_in;
    memcpy(p, z->s.next_in, n);
    z->s.next_in += n;
    z->s.avail_in -= (uInt)n;
    z->ended = z->s.avail_in == 0 && z->in == z->in_end;
    return (ssize_t)n;
}

static ssize_t expand(struct unzip *z, uint8_t *p, size_t n, struct err *err)
{
    z->s.next_out = p;
    z->s.avail_out = (uInt)n;
    int rc = inflate(&z->s, Z_NO_FLUSH);
    uint64_t at = z->in - z->s.avail_in;
    if (rc == Z_MEM_ERROR)
        return out_of_memory(z->path, err);
    if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
        return bad_data(z, at, z->s.msg ? z->s.msg : "the compressed data is damaged", err);
    z->ended = rc == Z_STREAM_END;
    if (!z->ended && z->s.avail_out == n && z->s.avail_in == 0 && z->in == z->in_end)
        return bad_data(z, at, "the compressed data ends in the middle", err);
    return (ssize_t)(n - z->s.avail_out);
}

/* At the end: what the directory says of it holds. */
static int check_end(struct unzip *z, struct err *err)
{
    if (z->out != z->entry->size)
        return bad_data(z, z->entry->at, "it is shorter than the directory says", err);
    if (z->crc != z->entry->crc)
        return bad_data(z, z->entry->at, "its checksum is wrong", err);
    return 0;
}

ssize_t unzip_read(struct unzip *z, void *p, size_t n, struct err *err)
{
    ssize_t got = 0;
    if (n > UINT32_MAX)
        n = UINT32_MAX;
    z->ended |= z->entry->method == STORED && z->entry->packed == 0;
    while (got == 0 && !z->ended) {
        TRY(fill(z, err));
        got = z->entry->method == STORED ? copy(z, p, n) : expand(z, p, n, err);
        if (got < 0)
            return got;
    }
    z->crc = (uint32_t)crc32(z->crc, p, (uInt)got);
    z->out += (uint64_t)got;
    if (z->out > z->entry->size)
        return bad_data(z, z->in - z->s.avail_in, "it is longer than the directory says", err);
    if (z->ended && got == 0)
        TRY(check_end(z, err));
    return got;
}
