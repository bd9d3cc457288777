#include "heap/hprof.h"

#include "base/util.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RECORD_HEAD = 9,
    HEADER_MAX = 64,
    LENGTHS_MOST = 1024, /* times 4 GB */
};

static int problem(struct hprof *h, uint64_t offset, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Stop here.  Returns 0, as hprof_next does then. */
static int problem(struct hprof *h, uint64_t offset, const char *fmt, ...)
{
    char what[200];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    const char *damage = hprof_file_damage(h->file);
    if (*damage && offset + HPROF_WINDOW >= hprof_file_size(h->file))
        snprintf(what, sizeof what, "%s", damage);
    snprintf(h->problem, sizeof h->problem, "offset 0x%llx: %s", (unsigned long long)offset, what);
    h->problem_at = offset;
    h->end = h->base + h->at;
    return 0;
}

uint64_t hprof_position(const struct hprof *h)
{
    return max_u64(h->base + h->at, h->body_end);
}

static void go_to(struct hprof *h, uint64_t offset)
{
    if (offset >= h->base && offset - h->base <= h->len) {
        h->at = (size_t)(offset - h->base);
    } else {
        h->base = offset;
        h->len = h->at = 0;
    }
}

/* Make n bytes at `at` available, n <= HPROF_WINDOW.  Slow path of need(). */
static bool refill(struct hprof *h, size_t n)
{
    memmove(h->window, h->window + h->at, h->len - h->at);
    h->base += h->at;
    h->len -= h->at;
    h->at = 0;
    size_t more = n - h->len > h->ahead ? n - h->len : h->ahead;
    if (more > HPROF_WINDOW - h->len)
        more = HPROF_WINDOW - h->len;
    ssize_t got = hprof_cursor_read(h->cursor, h->base + h->len, h->window + h->len, more);
    if (got < 0) {
        h->system_error = true;
        errno = (int)-got;
        return false;
    }
    h->len += (size_t)got;
    h->cut = h->len < n;
    return !h->cut;
}

static inline bool need(struct hprof *h, size_t n)
{
    return h->len - h->at >= n || refill(h, n);
}

static int ends_early(struct hprof *h, uint64_t offset)
{
    if (h->system_error) {
        int e = errno;
        problem(h, offset, "%s", strerror(e));
        return e ? -e : -EIO;
    }
    h->cut = true;
    return problem(h, offset, "the dump ends in the middle of a record (it is truncated)");
}

/* --- the header ------------------------------------------------------------------------------- */

static int foreign(const struct hprof *h, const uint8_t *p, size_t n, struct err *err)
{
    const char *path = hprof_file_path(h->file);
    if (n == 0)
        return err_set(err, -EINVAL, "%s: offset 0x0: the file is empty%s%s", path,
                       *hprof_file_damage(h->file) ? " or damaged: " : "",
                       hprof_file_damage(h->file));
    if (n >= 8 && memcmp(p, "ORCATRC\n", 8) == 0)
        return err_set(err, -EINVAL, "%s: an Orca trace, not a heap dump; orca report shows it",
                       path);
    if (n >= 4 && memcmp(p, "PK\3\4", 4) == 0)
        return err_set(err, -EINVAL, "%s: offset 0x0: a zip archive; unpack the dump first", path);
    if (n >= 18 && memcmp(p, "JAVA PROFILE 1.0.3", 18) == 0)
        return err_set(err, -EINVAL,
                       "%s: offset 0x0: a heap dump of Android (JAVA PROFILE 1.0.3); convert it "
                       "with Android's hprof-conv first",
                       path);
    if (n >= 12 && memcmp(p, "JAVA PROFILE", 12) == 0)
        return err_set(err, -EINVAL,
                       "%s: offset 0x0: an unknown HPROF version (known: 1.0.1 and 1.0.2); "
                       "make a binary dump with 'orca heap dump PID'",
                       path);
    return err_set(
        err, -EINVAL,
        "%s: offset 0x0: not an HPROF heap dump (it does not begin with \"JAVA PROFILE\"); "
        "make one with 'orca heap dump PID'",
        path);
}

static int read_header(struct hprof *h, struct err *err)
{
    static const char names[2][19] = {"JAVA PROFILE 1.0.1", "JAVA PROFILE 1.0.2"};
    const char *path = hprof_file_path(h->file);
    need(h, sizeof names[0] + 12);
    if (h->system_error)
        return err_set(err, -errno, "%s: %s", path, strerror(errno));
    const uint8_t *p = h->window;
    for (uint32_t i = 0; i < 2; i++)
        if (h->len >= sizeof names[0] && memcmp(p, names[i], sizeof names[0]) == 0)
            h->version = 101 + i;
    if (!h->version)
        return foreign(h, p, h->len, err);
    if (h->len < sizeof names[0] + 12)
        return err_set(err, -EINVAL, "%s: offset 0x%zx: the dump ends in its header; make it again",
                       path, h->len);
    p += sizeof names[0];
    h->id_size = hprof_u4(p);
    h->time_ms = hprof_u8(p + 4);
    h->first = sizeof names[0] + 12;
    if (h->id_size != 4 && h->id_size != 8)
        return err_set(err, -EINVAL,
                       "%s: offset 0x13: ids of %u bytes (4 and 8 are known): the header is "
                       "damaged; make the dump again",
                       path, h->id_size);
    return 0;
}

static int prepare(struct hprof *h, struct hprof_file *file, struct err *err)
{
    h->file = file;
    h->stated = hprof_file_stated(file);
    h->cursor = hprof_cursor_new(file);
    h->window = calloc(1, HPROF_WINDOW);
    h->ahead = HPROF_WINDOW;
    if (h->cursor && h->window)
        return 0;
    hprof_close(h);
    err_set(err, -ENOMEM, "%s: out of memory", hprof_file_path(file));
    return -ENOMEM;
}

int hprof_open(struct hprof *h, struct hprof_file *file, struct err *err)
{
    memset(h, 0, sizeof *h);
    TRY(prepare(h, file, err));
    int rc = read_header(h, err);
    if (rc < 0)
        hprof_close(h);
    else
        hprof_seek(h, h->first, UINT64_MAX);
    return rc;
}

int hprof_clone(struct hprof *h, const struct hprof *of, struct err *err)
{
    *h = (struct hprof){.id_size = of->id_size,
                        .version = of->version,
                        .time_ms = of->time_ms,
                        .first = of->first,
                        .heap_at = of->heap_at,
                        .heap_len = of->heap_len};
    return prepare(h, of->file, err);
}

void hprof_close(struct hprof *h)
{
    hprof_cursor_free(h->cursor);
    free(h->window);
    h->cursor = NULL;
    h->window = NULL;
}

void hprof_seek(struct hprof *h, uint64_t from, uint64_t to)
{
    go_to(h, from);
    h->end = to;
    h->segment_end = 0;
    h->body_end = from;
    h->problem[0] = '\0';
    h->system_error = h->cut = false;
}

void hprof_seek_sub(struct hprof *h, uint64_t from, uint64_t segment_end, uint64_t to)
{
    hprof_seek(h, from, to);
    h->segment_end = segment_end;
}

/* --- records ---------------------------------------------------------------------------------- */

static bool known_tag(uint8_t tag)
{
    return (tag >= HPROF_UTF8 && tag <= HPROF_CONTROL_SETTINGS && tag != 0x08 && tag != 0x09) ||
           tag == HPROF_HEAP_DUMP_SEGMENT || tag == HPROF_HEAP_DUMP_END;
}

/* Whether a chain of records, at most three, could begin at the offset. */
static bool plausible(struct hprof *h, uint64_t offset, uint64_t size)
{
    uint8_t head[RECORD_HEAD];
    for (int i = 0; i < 3 && offset != size; i++) {
        if (offset > size || hprof_cursor_read(h->cursor, offset, head, sizeof head) != RECORD_HEAD)
            return false;
        if (!known_tag(head[0]))
            return false;
        offset += RECORD_HEAD + hprof_u4(head + 5);
    }
    return offset <= size;
}

/* The length of a HEAP_DUMP is four bytes, and older JVMs wrote what was left of it beyond 4 GB (or
 * 0 where they could not go back): the true length is that many times 4 GB more after which the
 * file ends or goes on with records. */
static uint64_t true_length(struct hprof *h, uint64_t body, uint32_t len)
{
    uint64_t left = hprof_file_size(h->file) - body;
    if (left <= len || (len > 0 && plausible(h, body + len, body + left)))
        return len;
    for (uint64_t i = 1; i <= LENGTHS_MOST && len + (i << 32) <= left; i++)
        if (plausible(h, body + len + (i << 32), body + left))
            return len + (i << 32);
    return len ? len : left;
}

/* Such a JVM wrote one of them, so only the first one is looked into, and only once: what a file is
 * taken for must not depend on who reads it.  In a compressed file to look ahead is to unpack. */
static uint64_t heap_dump_length(struct hprof *h, uint64_t body, uint32_t len)
{
    if (hprof_file_compressed(h->file))
        return len;
    if (!h->heap_at) {
        h->heap_len = true_length(h, body, len);
        h->heap_at = body;
    }
    return body == h->heap_at ? h->heap_len : len;
}

/* The record at `at`: 1, 0 at the end of what is to be read or at a problem. */
static int record_head(struct hprof *h, struct hprof_item *it)
{
    uint64_t offset = h->base + h->at;
    if (offset >= h->end)
        return 0;
    if (!need(h, RECORD_HEAD)) {
        if (!h->system_error && h->len == h->at && !*hprof_file_damage(h->file))
            return 0;
        return ends_early(h, offset);
    }
    const uint8_t *p = h->window + h->at;
    uint8_t tag = p[0];
    uint32_t len = hprof_u4(p + 5);
    if (!known_tag(tag))
        return problem(h, offset, "no record has the tag 0x%02x: the dump is damaged from here on",
                       tag);
    h->at += RECORD_HEAD;
    *it = (struct hprof_item){.tag = tag, .offset = offset, .body = offset + RECORD_HEAD};
    it->body_len = tag == HPROF_HEAP_DUMP ? heap_dump_length(h, it->body, len) : len;
    h->body_end = it->body + it->body_len;
    return 1;
}

static bool is_heap(uint8_t tag)
{
    return tag == HPROF_HEAP_DUMP || tag == HPROF_HEAP_DUMP_SEGMENT;
}

int hprof_next_record(struct hprof *h, uint8_t *tag, uint64_t *from, uint64_t *to)
{
    struct hprof_item it;
    go_to(h, hprof_position(h));
    uint64_t size = hprof_file_size(h->file);
    int rc = record_head(h, &it);
    if (rc <= 0)
        return rc;
    *tag = it.tag;
    *from = it.offset;
    *to = min_u64(h->body_end, size);
    h->cut = h->body_end > size;
    h->body_end = *to;
    return 1;
}

/* --- sub-records ------------------------------------------------------------------------------ */

/* What stands before the body: bytes behind the tag, for ids of `id` bytes. */
static size_t head_size(uint8_t sub, size_t id)
{
    switch (sub) {
    case HPROF_ROOT_UNKNOWN:
    case HPROF_ROOT_STICKY_CLASS:
    case HPROF_ROOT_MONITOR_USED:
        return id;
    case HPROF_ROOT_JNI_GLOBAL:
        return 2 * id;
    case HPROF_ROOT_JNI_LOCAL:
    case HPROF_ROOT_JAVA_FRAME:
    case HPROF_ROOT_THREAD_OBJ:
        return id + 8;
    case HPROF_ROOT_NATIVE_STACK:
    case HPROF_ROOT_THREAD_BLOCK:
    case HPROF_CLASS:
        return id + 4;
    case HPROF_INSTANCE:
    case HPROF_OBJECT_ARRAY:
        return 2 * id + 8;
    case HPROF_PRIMITIVE_ARRAY:
        return id + 9;
    default:
        return 0;
    }
}

/* Sub-records that only Android writes (its 1.0.3 says so in the header, 1.0.2 of old ones not). */
static bool is_android(uint8_t sub)
{
    return (sub >= 0x89 && sub <= 0x8e) || sub == 0x90 || sub == 0xc3 || sub == 0xfe;
}

static int unknown_sub(struct hprof *h, uint64_t offset, uint8_t sub)
{
    if (is_android(sub))
        return problem(h, offset,
                       "a sub-record of Android (0x%02x): convert the dump with Android's "
                       "hprof-conv first",
                       sub);
    return problem(h, offset, "no sub-record has the tag 0x%02x: the dump is damaged here", sub);
}

/* Bytes of a class dump behind id and trace, which end with what they announce: super class,
 * loader, signers, protection domain, two reserved ids, instance size; constant pool, statics,
 * fields. */
static bool class_length(struct hprof *h, size_t head, uint64_t *len)
{
    size_t id = h->id_size, at = head + 6 * id + 4;
    if (!need(h, at + 2))
        return false;
    uint32_t n = hprof_u2(h->window + h->at + at);
    at += 2;
    for (int part = 0; part < 2; part++) { /* constant pool: index before, statics: name before */
        for (size_t name = part == 0 ? 2 : id; n > 0; n--) {
            if (at + name + 1 > HPROF_WINDOW - 16 || !need(h, at + name + 1))
                return false;
            uint32_t size = hprof_type_size(h->window[h->at + at + name], h->id_size);
            if (!size)
                return false;
            at += name + 1 + size;
        }
        if (at + 2 > HPROF_WINDOW || !need(h, at + 2))
            return false;
        n = hprof_u2(h->window + h->at + at);
        at += 2;
    }
    *len = at - head + (uint64_t)n * (id + 1);
    return true;
}

/* Thread and frame where the kind of root has them. */
static void root_place(struct hprof_item *it, const uint8_t *p)
{
    switch (it->tag) {
    case HPROF_ROOT_JNI_LOCAL:
    case HPROF_ROOT_JAVA_FRAME:
    case HPROF_ROOT_THREAD_OBJ:
        it->thread = hprof_u4(p);
        it->depth = hprof_u4(p + 4);
        break;
    case HPROF_ROOT_NATIVE_STACK:
    case HPROF_ROOT_THREAD_BLOCK:
        it->thread = hprof_u4(p);
        break;
    default:
        break;
    }
}

/* The fields after the id, of a sub-record that is not a root. Returns false for invalid ones. */
static bool heap_item(struct hprof *h, struct hprof_item *it, const uint8_t *p, size_t head)
{
    uint32_t id = h->id_size;
    it->stated = h->stated ? UINT64_C(8) * hprof_u4(p) : 0;
    switch (it->tag) {
    case HPROF_INSTANCE:
        it->class_id = hprof_id(p + 4, id);
        it->body_len = hprof_u4(p + 4 + id);
        return true;
    case HPROF_OBJECT_ARRAY:
        it->n = hprof_u4(p + 4);
        it->class_id = hprof_id(p + 8, id);
        it->body_len = (uint64_t)it->n * id;
        return true;
    case HPROF_PRIMITIVE_ARRAY:
        it->n = hprof_u4(p + 4);
        it->type = p[8];
        it->body_len = (uint64_t)it->n * hprof_type_size(it->type, id);
        return it->type != HPROF_OBJECT && hprof_type_size(it->type, id) != 0;
    case HPROF_CLASS:
        return class_length(h, head, &it->body_len);
    default:
        return true;
    }
}

static int next_sub(struct hprof *h, struct hprof_item *it)
{
    uint64_t offset = h->base + h->at;
    if (!need(h, 1))
        return ends_early(h, offset);
    uint8_t sub = h->window[h->at];
    size_t head = head_size(sub, h->id_size);
    if (!head)
        return unknown_sub(h, offset, sub);
    if (!need(h, 1 + head))
        return ends_early(h, offset);
    const uint8_t *p = h->window + h->at + 1;
    *it = (struct hprof_item){
        .sub = true, .tag = sub, .offset = offset, .id = hprof_id(p, h->id_size)};
    if (sub < HPROF_CLASS || sub == HPROF_ROOT_UNKNOWN)
        root_place(it, p + h->id_size);
    else if (!heap_item(h, it, p + h->id_size, 1 + head))
        return h->system_error || h->cut ? ends_early(h, offset)
                                         : problem(h, offset, "the sub-record of 0x%llx is damaged",
                                                   (unsigned long long)it->id);
    h->at += 1 + head;
    it->body = offset + 1 + head;
    h->body_end = it->body + it->body_len;
    if (h->body_end > h->segment_end)
        return problem(h, offset, "the sub-record of 0x%llx goes beyond its heap dump record",
                       (unsigned long long)it->id);
    return h->body_end > hprof_file_size(h->file) ? ends_early(h, offset) : 1;
}

bool hprof_is_object(struct hprof *h, uint64_t id)
{
    if (!need(h, 1 + (size_t)h->id_size))
        return false;
    const uint8_t *p = h->window + h->at;
    return p[0] >= HPROF_CLASS && p[0] <= HPROF_PRIMITIVE_ARRAY &&
           hprof_id(p + 1, h->id_size) == id;
}

int hprof_next(struct hprof *h, struct hprof_item *it)
{
    while (!h->problem[0]) {
        if (h->base + h->at != h->body_end)
            go_to(h, h->body_end);
        if (h->segment_end) {
            if (h->body_end < min_u64(h->segment_end, h->end))
                return next_sub(h, it);
            if (h->body_end >= h->end)
                return 0;
            h->segment_end = 0;
        }
        int rc = record_head(h, it);
        if (rc <= 0 || !is_heap(it->tag))
            return rc;
        h->segment_end = h->body_end;
        h->body_end = it->body;
    }
    return 0;
}

size_t hprof_body(struct hprof *h, const uint8_t **p, size_t want, size_t most)
{
    uint64_t offset = h->base + h->at;
    size_t left = (size_t)min_u64(h->body_end - offset, HPROF_WINDOW);
    want = want < left ? want : left;
    if (left == 0)
        return 0;
    if (!need(h, want ? want : 1)) {
        ends_early(h, offset);
        return 0;
    }
    size_t n = h->len - h->at;
    n = n < left ? n : left;
    n = n < most ? n : most;
    if (want && n > want)
        n -= n % want;
    *p = h->window + h->at;
    h->at += n;
    return n;
}
