#include "heap/xml_dump.h"

#include "base/fdio.h"
#include "base/util.h"
#include "heap/xml_parts.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TAPE_BUF = 1 << 20 };

static bool has_any(const uint8_t *p, size_t n, const char *const *words)
{
    for (; *words; words++)
        if (memmem(p, n, *words, strlen(*words)))
            return true;
    return false;
}

/* A trace also defines the objects of its events: these alone make a dump only in a file without
 * events. */
bool xml_dump_is(const uint8_t *p, size_t n)
{
    static const char *const dump[] = {"<heapDumpDef", "<gcRoot", "<objReference",
                                       "<objectReference", NULL};
    static const char *const object[] = {"<objDef", NULL};
    static const char *const trace[] = {
        "<mon", "<call", "<methodEntry", "<objAlloc", "<threadEnd", "<objFree", NULL};
    size_t at = n >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (at < n && (p[at] == ' ' || (p[at] >= '\t' && p[at] <= '\r')))
        at++;
    if (at == n || p[at] != '<')
        return false;
    return has_any(p, n, dump) || (has_any(p, n, object) && !has_any(p, n, trace));
}

/* --- temporary files -------------------------------------------------------------------------- */

static int temporary(struct err *err)
{
    char path[4096];
    const char *dir = getenv("TMPDIR");
    dir = dir && *dir ? dir : "/tmp";
    int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0)
        return fd;
    snprintf(path, sizeof path, "%s/orca-heap-XXXXXX", dir);
    fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0)
        return err_set(err, -errno,
                       "%s: cannot create a temporary file: %s; set TMPDIR to another folder", dir,
                       strerror(errno));
    unlink(path);
    return fd;
}

int xml_tape_open(struct xml_tape *t, struct err *err)
{
    *t = (struct xml_tape){.fd = temporary(err), .map = MAP_FAILED};
    return t->fd < 0 ? t->fd : 0;
}

static void flush(struct xml_tape *t)
{
    if (t->buf.oom)
        t->rc = -ENOMEM;
    if (t->rc == 0 && t->buf.len)
        t->rc = fdio_write_all(t->fd, t->buf.p, t->buf.len);
    buf_clear(&t->buf);
}

void xml_tape_put(struct xml_tape *t, const void *p, size_t n)
{
    buf_put(&t->buf, p, n);
    t->len += n;
    if (t->buf.len >= TAPE_BUF)
        flush(t);
}

/* The room is there before it is written to: a full disk is an error, not a signal. */
int xml_tape_map(struct xml_tape *t)
{
    flush(t);
    buf_fini(&t->buf);
    TRY(t->rc);
    if (t->len == 0)
        return 0;
    int rc = -posix_fallocate(t->fd, 0, (off_t)t->len);
    TRY(rc);
    t->map = mmap(NULL, t->len, PROT_READ | PROT_WRITE, MAP_SHARED, t->fd, 0);
    return t->map == MAP_FAILED ? -errno : 0;
}

void xml_tape_close(struct xml_tape *t)
{
    buf_fini(&t->buf);
    if (t->len && t->map && t->map != MAP_FAILED)
        munmap(t->map, t->len);
    if (t->fd > 0)
        close(t->fd);
    *t = (struct xml_tape){.fd = -1};
}

/* --- the links of each object beside each other ----------------------------------------------- */

struct xml_link *xml_links(const struct xml_facts *f, uint64_t id, size_t *n)
{
    uint32_t number = ids_find(&f->ids, id);
    *n = 0;
    if (number == IDS_NONE || f->links.len == 0)
        return NULL;
    *n = f->begins[number + 1] - f->begins[number];
    return (struct xml_link *)f->links.map + f->begins[number];
}

static int by_name(const void *a, const void *b)
{
    const struct xml_link *x = a, *y = b;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    if (x->index != y->index)
        return x->index < y->index ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

void xml_links_by_name(struct xml_link *v, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (by_name(&v[i - 1], &v[i]) > 0) {
            qsort(v, n, sizeof *v, by_name);
            return;
        }
}

/* Both ends must be there: what keeps what is not known else. */
static bool is_whole(const struct xml_facts *f, const struct xml_ref *r)
{
    return ids_find(&f->ids, r->from) != IDS_NONE && ids_find(&f->ids, r->to) != IDS_NONE;
}

static int sort_links(struct xml_facts *f, struct err *err)
{
    const struct xml_ref *r = f->refs.map;
    uint64_t n = f->refs.len / sizeof *r, whole = 0;
    f->begins = calloc((size_t)f->ids.n + 3, sizeof *f->begins);
    if (!f->begins)
        return -ENOMEM;
    for (uint64_t i = 0; i < n; i++)
        if (is_whole(f, &r[i])) {
            f->begins[ids_find(&f->ids, r[i].from) + 2]++;
            whole++;
        }
    if (whole < n)
        xml_problem_at(f, 0, 0,
                       "%" PRIu64 " references from or to objects that no objDef defines are left "
                       "out",
                       n - whole);
    for (uint64_t i = 0; i <= f->ids.n; i++)
        f->begins[i + 2] += f->begins[i + 1];
    TRY(xml_tape_open(&f->links, err));
    f->links.len = whole * sizeof(struct xml_link);
    TRY(xml_tape_map(&f->links));
    struct xml_link *out = f->links.map;
    for (uint64_t i = 0; i < n; i++)
        if (is_whole(f, &r[i]))
            out[f->begins[ids_find(&f->ids, r[i].from) + 1]++] =
                (struct xml_link){r[i].to, r[i].name, r[i].index, r[i].kind};
    xml_tape_close(&f->refs);
    return 0;
}

/* --- all of it -------------------------------------------------------------------------------- */

static void facts_fini(struct xml_facts *f)
{
    xml_tape_close(&f->objects);
    xml_tape_close(&f->refs);
    xml_tape_close(&f->links);
    struct buf *bufs[] = {&f->names, &f->classes, &f->roots, &f->threads, &f->fields};
    struct map *maps[] = {&f->name_of, &f->class_by_id, &f->class_by_object, &f->owned, &f->places};
    for (size_t i = 0; i < ARRAY_LEN(bufs); i++)
        buf_fini(bufs[i]);
    for (size_t i = 0; i < ARRAY_LEN(maps); i++)
        map_fini(maps[i]);
    free(f->begins);
    ids_fini(&f->ids);
    arena_fini(&f->arena);
}

static int add_unknown_class(struct xml_facts *f)
{
    const struct xml_class none = {.name = xml_name(f, "(unknown class)"), .super = DUMP_NONE};
    buf_put(&f->classes, &none, sizeof none);
    return f->classes.oom ? -ENOMEM : 0;
}

static int make(struct xml_facts *f, struct err *err)
{
    TRY(add_unknown_class(f));
    TRY(ids_seal(&f->ids));
    TRY(xml_tape_map(&f->objects));
    TRY(xml_tape_map(&f->refs));
    TRY(sort_links(f, err));
    TRY(xml_fields_find(f));
    f->out->fd = temporary(err);
    TRY(f->out->fd);
    return xml_write(f);
}

static int convert(struct xml_facts *f, int fd, const char *path, xml_progress_fn progress,
                   void *ctx, struct err *err)
{
    TRY(xml_tape_open(&f->objects, err));
    TRY(xml_tape_open(&f->refs, err));
    TRY(xml_parse(f, fd, path, progress, ctx, err));
    struct err why = {""};
    int rc = make(f, &why);
    if (rc == -EFBIG)
        return err_set(err, rc,
                       "%s: more fields or longer arrays than a heap of this size can have", path);
    if (rc < 0)
        return err_set(err, rc, "%s: %s", path,
                       why.msg[0]      ? why.msg
                       : rc == -ENOMEM ? "out of memory"
                       : rc == -ENOSPC
                           ? "no space in the folder for temporary files; set TMPDIR to "
                             "another one"
                           : strerror(-rc));
    return 0;
}

int xml_dump_convert(struct xml_dump *out, int fd, const char *path, xml_progress_fn progress,
                     void *ctx, struct err *err)
{
    struct xml_facts *f = calloc(1, sizeof *f);
    *out = (struct xml_dump){.fd = -1};
    if (!f)
        return err_set(err, -ENOMEM, "%s: out of memory", path);
    f->out = out;
    f->objects.fd = f->refs.fd = f->links.fd = -1;
    int64_t size = fdio_size(fd);
    f->file_size = size > 0 ? (uint64_t)size : 0;
    arena_init(&f->arena, 0);
    ids_init(&f->ids, 0);
    struct map *maps[] = {&f->name_of, &f->class_by_id, &f->class_by_object, &f->owned, &f->places};
    for (size_t i = 0; i < ARRAY_LEN(maps); i++)
        map_init(maps[i]);
    int rc = convert(f, fd, path, progress, ctx, err);
    facts_fini(f);
    free(f);
    if (rc < 0 && out->fd >= 0) {
        close(out->fd);
        out->fd = -1;
    }
    return rc;
}
