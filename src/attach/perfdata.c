#include "attach/perfdata.h"

#include "attach/proc.h"
#include "base/err.h"

#include <string.h>

/* Both are the file's layout, version 2.0, on a little-endian machine. */
struct prologue {
    uint32_t magic;
    uint8_t little_endian, major, minor, accessible;
    int32_t used, overflow;
    int64_t changed;
    uint32_t first, entries;
};

struct entry {
    uint32_t length, name, vector_length;
    uint8_t type, flags, units, variability;
    uint32_t data;
};

static const uint8_t magic[] = {0xca, 0xfe, 0xc0, 0xc0};

/* A string counter's bytes; its NUL may be missing when the JVM cut it. */
static int take_string(const uint8_t *p, const struct entry *e, char *out, size_t room)
{
    if (e->type != 'B' || e->data > e->length || e->vector_length > e->length - e->data)
        return -EINVAL;
    const char *text = (const char *)p + e->data;
    size_t n = strnlen(text, e->vector_length);
    proc_copy_text(out, room, text, n);
    return (int)strlen(out);
}

static int is_named(const uint8_t *p, const struct entry *e, const char *name)
{
    size_t n = strlen(name) + 1;
    return e->name < e->length && n <= e->length - e->name && memcmp(p + e->name, name, n) == 0;
}

static int take_prologue(const uint8_t *p, size_t n, struct prologue *head)
{
    if (n < sizeof *head || memcmp(p, magic, sizeof magic) != 0)
        return -EINVAL;
    memcpy(head, p, sizeof *head);
    return head->little_endian == 1 && head->major == 2 ? 0 : -EINVAL;
}

int perfdata_accessible(const uint8_t *p, size_t n)
{
    struct prologue head;
    TRY(take_prologue(p, n, &head));
    return head.accessible != 0;
}

int perfdata_find_string(const uint8_t *p, size_t n, const char *name, char *out, size_t room)
{
    struct prologue head;
    TRY(take_prologue(p, n, &head));
    size_t at = head.first;
    for (uint32_t i = 0; i < head.entries; i++) {
        struct entry e;
        if (at > n || n - at < sizeof e)
            return -ENOENT;
        memcpy(&e, p + at, sizeof e);
        if (e.length < sizeof e || e.length > n - at)
            return -ENOENT;
        if (is_named(p + at, &e, name))
            return take_string(p + at, &e, out, room);
        at += e.length;
    }
    return -ENOENT;
}
