#include "format/trace.h"

#include "base/fdio.h"
#include "base/util.h"
#include "format/trace_parts.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How often a circle is read again because the recording was faster. */
enum { OPEN_TRIES = 5 };

void trace_note(struct trace *t, uint64_t offset, bool damage, const char *fmt, ...)
{
    t->n_damaged += damage;
    if (t->n_problems == TRACE_PROBLEMS_MAX)
        return;
    struct trace_problem *p = &t->problems[t->n_problems++];
    p->offset = offset;
    p->damage = damage;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(p->text, sizeof p->text, fmt, ap);
    va_end(ap);
}

static bool overwritten(const struct trace *t, const struct trace_chunk *c)
{
    uint8_t bytes[CHUNK_HEADER_SIZE];
    struct chunk_header now;
    if (!t->header.capacity || t->complete)
        return false;
    return fdio_pread_some(t->fd, bytes, sizeof bytes, c->offset) < (ssize_t)sizeof bytes ||
           chunk_header_unpack(&now, t->header.id, c->offset, bytes) < 0 || now.seq != c->h.seq;
}

void trace_note_chunk(struct trace *t, size_t chunk, const char *why)
{
    const struct trace_chunk *c = &t->chunks[chunk];
    bool gone = overwritten(t, c);
    t->overtaken |= gone;
    trace_note(t, c->offset, !gone, "chunk %llu at 0x%llx: %s, up to %u %s lost",
               (unsigned long long)c->h.seq, (unsigned long long)c->offset,
               gone ? "overwritten by the recording while it was read" : why, c->h.events,
               c->h.type == CHUNK_DEFS ? "definitions" : "events");
}

static int load(struct trace *t, struct err *err)
{
    uint8_t page[FILE_HEADER_SIZE];
    t->problems = arena_alloc(&t->arena, TRACE_PROBLEMS_MAX * sizeof *t->problems);
    if (!t->problems)
        return err_set(err, -ENOMEM, "out of memory");
    ssize_t n = fdio_pread_some(t->fd, page, sizeof page, 0);
    if (n < 0)
        return err_set(err, (int)n, "cannot read: %s", strerror((int)-n));
    if (n == 0)
        return err_set(err, -EINVAL, "the file is empty: nothing was recorded");
    TRY(file_header_unpack(&t->header, page, (size_t)n, err));
    t->complete = t->header.state != TRACE_RECORDING && t->header.state != TRACE_TURNING;
    TRY(trace_scan(t, err));
    TRY(trace_load_defs(t, err));
    t->loss[LOSS_write] += t->header.unwritten_events;
    return 0;
}

/* Everything but the descriptor. */
static void forget(struct trace *t)
{
    int fd = t->fd;
    free(t->chunks);
    free(t->blocks);
    arena_fini(&t->arena);
    memset(t, 0, sizeof *t);
    t->fd = fd;
}

int trace_open_fd(struct trace **out, int fd, const char *name, struct err *err)
{
    *out = NULL;
    struct trace *t = calloc(1, sizeof *t);
    if (!t) {
        close(fd);
        return err_set(err, -ENOMEM, "%s: out of memory", name);
    }
    t->fd = fd;
    int rc = 0;
    for (int i = 0; i < OPEN_TRIES && rc == 0 && (i == 0 || t->overtaken); i++) {
        forget(t);
        arena_init(&t->arena, 0);
        t->path = arena_strndup(&t->arena, name, strlen(name));
        rc = t->path ? load(t, err) : err_set(err, -ENOMEM, "out of memory");
    }
    if (rc < 0) {
        trace_close(t);
        return err_prefix(err, rc, "%s", name);
    }
    *out = t;
    return 0;
}

int trace_open(struct trace **out, const char *path, struct err *err)
{
    *out = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return err_set(err, -errno, "%s: %s", path, strerror(errno));
    return trace_open_fd(out, fd, path, err);
}

void trace_close(struct trace *t)
{
    if (!t)
        return;
    forget(t);
    if (t->fd >= 0)
        close(t->fd);
    free(t);
}

#define LOOKUP(what, type, table, n, unknown)                                                      \
    const struct trace_##what *trace_##what(const struct trace *t, type id)                        \
    {                                                                                              \
        static const struct trace_##what none = unknown;                                           \
        return id.v < t->n && t->table[id.v].id.v ? &t->table[id.v] : &none;                       \
    }
#define NONE(...)                                                                                  \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
LOOKUP(thread, thread_id, threads, n_threads, NONE(.name = "?", .group = "", .parent_group = ""))
LOOKUP(class, class_id, classes, n_classes, NONE(.signature = "?", .source = ""))
LOOKUP(method, method_id, methods, n_methods, NONE(.name = "?", .signature = ""))
LOOKUP(stack, stack_id, stacks, n_stacks, NONE(.n_frames = 0))
LOOKUP(lock, lock_id, locks, n_locks, NONE(.hash = 0))
LOOKUP(call, call_id, calls, n_calls,
       NONE(.name = "?", .class_signature = "?", .method = "?", .row = ""))
LOOKUP(module, module_id, modules, n_modules, NONE(.path = "", .build_id = ""))
LOOKUP(gc_name, gc_name_id, gc_names, n_gc_names, NONE(.text = "?"))

const char *trace_info(const struct trace *t, const char *key, const char *otherwise)
{
    for (size_t i = 0; i < t->n_infos; i++)
        if (strcmp(t->infos[i].key, key) == 0)
            return t->infos[i].value;
    return otherwise;
}

bool trace_order_is_bare(const struct trace *t)
{
    return *trace_info(t, "import.format", "") &&
           strcmp(trace_info(t, TRACE_ORDER_INFO, ""), TRACE_ORDER_BARE) == 0;
}

bool trace_is_in_order(const struct trace *t)
{
    return !*trace_info(t, "import.format", "") || trace_order_is_bare(t) ||
           strcmp(trace_info(t, TRACE_ORDER_INFO, ""), TRACE_ORDER_RECORDED) == 0;
}

bool trace_method_is_java(const struct trace_method *m)
{
    return !(m->flags & (METHOD_NATIVE_CODE | METHOD_STUB));
}

uint32_t trace_java_frames(const struct trace *t, const struct trace_stack *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_frames; i++)
        n += trace_method_is_java(trace_method(t, s->frames[i].method));
    return n;
}

const char *trace_method_class(const struct trace *t, method_id id)
{
    return trace_class(t, trace_method(t, id)->class_)->signature;
}

const char *trace_method_source(const struct trace *t, method_id id)
{
    const struct trace_method *m = trace_method(t, id);
    return m->source ? m->source : trace_class(t, m->class_)->source;
}

static void native_text(const struct trace *t, const struct trace_method *m, char *out, size_t n)
{
    const struct trace_module *in = trace_module(t, m->module);
    const char *slash = strrchr(in->path, '/'), *file = slash ? slash + 1 : in->path;
    if (*m->name)
        snprintf(out, n, "%s%s%s", file, *file ? "!" : "", m->name);
    else
        snprintf(out, n, "%s%s0x%" PRIx64, file, *file ? "+" : "", m->address);
}

void trace_method_text(const struct trace *t, method_id id, char *out, size_t n)
{
    const struct trace_method *m = trace_method(t, id);
    if (!m->id.v) {
        snprintf(out, n, "unknown");
    } else if (m->flags & METHOD_NATIVE_CODE) {
        native_text(t, m, out, n);
    } else if (m->flags & METHOD_STUB) {
        snprintf(out, n, *m->name == '[' ? "%s" : "[%s]", m->name);
    } else {
        trace_class_name(trace_class(t, m->class_)->signature, out, n);
        size_t len = strlen(out);
        snprintf(out + len, n - len, ".%s", m->name);
    }
}

struct trace_unwritten trace_unwritten(const struct trace *t)
{
    const struct file_header *h = &t->header;
    char *end;
    uint64_t times = strtoull(trace_info(t, TRACE_UNWRITTEN_INFO, ""), &end, 10);
    struct trace_unwritten u = {times, strtoull(end, NULL, 10)};
    if (h->unwritten_since && h->end_mono >= h->unwritten_since) {
        u.times++;
        u.ns += h->end_mono - h->unwritten_since;
    }
    return u;
}

static uint64_t sum_losses(const struct trace *t, enum loss_what what)
{
    uint64_t sum = 0;
    for (int i = 0; i < LOSS_LIMIT; i++)
        sum += loss_causes[i].what == what ? t->loss[i] : 0;
    return sum;
}

uint64_t trace_lost(const struct trace *t)
{
    return sum_losses(t, LOSS_OF_EVENT);
}

uint64_t trace_lost_details(const struct trace *t)
{
    return sum_losses(t, LOSS_OF_DETAIL);
}

/* How many begin at or before a place. */
static uint32_t entries_until(const struct bci_table *t, uint32_t bci)
{
    uint32_t n = 0;
    BISECT(n, t->n, t->v[n].bci <= bci);
    return n;
}

uint32_t trace_class_file_bci(const struct trace_method *m, uint32_t bci)
{
    if (!m->moved.v)
        return bci;
    uint32_t n = entries_until(&m->moved, bci);
    const struct bci_entry *e = n ? &m->moved.v[n - 1] : NULL;
    uint32_t from = e ? (e->value >> 1) + (e->value & 1 ? 0 : bci - e->bci) : bci;
    uint32_t until = n < m->moved.n ? m->moved.v[n].value >> 1 : UINT32_MAX;
    return from > until ? until : from;
}

int32_t trace_line(const struct trace *t, struct trace_frame f)
{
    const struct trace_method *m = trace_method(t, f.method);
    if (m->flags & METHOD_NATIVE_CODE)
        return f.bci > 0 ? f.bci : -1;
    if (f.bci < 0 || !m->lines.v)
        return -1;
    uint32_t n = entries_until(&m->lines, (uint32_t)f.bci);
    return n ? (int32_t)m->lines.v[n - 1].value : -1;
}

bool trace_frame_is_native(const struct trace *t, struct trace_frame f)
{
    /* Of an imported text the frame alone may tell. */
    return trace_method(t, f.method)->flags & METHOD_NATIVE ||
           (f.bci < 0 && *trace_info(t, "import.format", ""));
}

static bool is_machinery(const char *signature, const char *method)
{
    static const char *const classes[] = {
        "Ljava/lang/Object;",
        "Ljava/lang/Thread;",
        "Ljava/lang/VirtualThread;",
        "Ljava/lang/System$1;", /* JavaLangAccess, $1 or $2 by release */
        "Ljava/lang/System$2;",
        "Ljava/lang/InterruptedException;",
        "Ljava/lang/OrcaProbe;", /* an owner was just being recorded */
        "Ljava/lang/OrcaHolds;",
        "Ljdk/internal/misc/Unsafe;",
        "Ljdk/internal/misc/VirtualThreads;",
    };
    static const char locks[] = "Ljava/util/concurrent/locks/";
    for (size_t i = 0; i < ARRAY_LEN(classes); i++)
        if (strcmp(signature, classes[i]) == 0)
            return true;
    /* Between a condition and its park: ForkJoinPool.managedBlock, unmanagedBlock. */
    if (strcmp(signature, "Ljava/util/concurrent/ForkJoinPool;") == 0)
        return strcmp(method, "managedBlock") == 0 || strcmp(method, "unmanagedBlock") == 0;
    return strncmp(signature, locks, sizeof locks - 1) == 0;
}

uint32_t trace_site(const struct trace *t, const struct trace_stack *s)
{
    for (uint32_t i = 0; i < s->n_frames; i++) {
        const struct trace_method *m = trace_method(t, s->frames[i].method);
        if (!is_machinery(trace_class(t, m->class_)->signature, m->name))
            return i;
    }
    return 0;
}

void trace_class_name(const char *signature, char *out, size_t n)
{
    static const struct {
        char code;
        const char *name;
    } primitives[] = {{'B', "byte"}, {'C', "char"},  {'D', "double"}, {'F', "float"},  {'I', "int"},
                      {'J', "long"}, {'S', "short"}, {'V', "void"},   {'Z', "boolean"}};
    size_t dims = strspn(signature, "["), len = strlen(signature + dims);
    const char *base = signature + dims;
    if (len > 1 && base[0] == 'L' && base[len - 1] == ';') {
        base++;
        len -= 2;
    } else if (len == 1) {
        for (size_t i = 0; i < ARRAY_LEN(primitives); i++)
            if (primitives[i].code == *base) {
                base = primitives[i].name;
                len = strlen(base);
                break;
            }
    }
    if (n == 0)
        return;
    if (trace_is_peer(signature)) {
        snprintf(out, n, "%s", signature + 1);
        return;
    }
    if (*signature == '@') {
        snprintf(out, n, "object %s", signature + 1);
        return;
    }
    size_t at = 0;
    for (size_t i = 0; i < len && at + 1 < n; i++)
        out[at++] = (char)(base[i] == '/' ? '.' : base[i]);
    for (size_t i = 0; i < dims && at + 2 < n; i++) {
        out[at++] = '[';
        out[at++] = ']';
    }
    out[at] = 0;
}

uint64_t trace_end(const struct trace *t)
{
    const struct file_header *h = &t->header;
    return max_u64(max_u64(h->start_mono, t->last), max_u64(h->end_mono, h->flushed_mono));
}

double trace_seconds(const struct trace *t, uint64_t time)
{
    return (double)(int64_t)(time - t->header.start_mono) / 1e9;
}
