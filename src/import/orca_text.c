#include "import/orca_text.h"

#include "base/fdio.h"
#include "base/util.h"
#include "import/orca_defs.h"
#include "import/orca_record.h"
#include "import/source.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct importer {
    struct intake in;
    struct orca_defs defs;
    enum orca_version version;
    struct call_table calls;
    struct orca_record record;
    struct map class_told; /* locks whose class is known from an event */
    struct buf packed;
    struct digest stack_texts; /* stacks come again and again: each text is read once */
    stack_id *stack_of_text;   /* [cap_texts], by number */
    size_t cap_texts;
    const struct import_watch *watch;
    uint64_t size; /* of the log */
    uint64_t lines;
};

/* --- events ----------------------------------------------------------------------------------- */

static int out_of_memory(const struct importer *im, struct err *err)
{
    return err_set(err, -ENOMEM, "%s: out of memory", im->in.name);
}

/* What a line says can be in order and still not fit into a trace: then the line is to blame. */
static int blame(const struct scan *s, int rc)
{
    if (rc != -EINVAL)
        return rc;
    return err_prefix(s->err, rc, "%s: line %llu", s->name, (unsigned long long)s->line.number);
}

static int read_stack(struct importer *im, struct scan *s, stack_id *id)
{
    const struct orca_record *r = &im->record;
    TRY(orca_record_read_stack(s, &im->version, &im->record));
    buf_clear(&im->packed);
    for (uint32_t i = 0; i < r->n_frames; i++) {
        method_id m;
        TRY(orca_defs_method(&im->defs, r->frames[i].method, &m, s->err));
        packed_put_frame(&im->packed, m, r->frames[i].bci);
    }
    if (im->packed.oom)
        return out_of_memory(im, s->err);
    struct packed frames = {im->packed.p, im->packed.len, r->n_frames};
    return blame(s, intake_stack(&im->in, &frames, 0, id, s->err));
}

static int make_stack(struct importer *im, struct scan *s, stack_id *id)
{
    bool fresh;
    const struct text *text = &im->record.stack;
    uint32_t number = digest_get(&im->stack_texts, text->p, text->len, &fresh);
    if (number == 0)
        return out_of_memory(im, s->err);
    if (number >= im->cap_texts) {
        size_t cap = im->cap_texts ? 2 * im->cap_texts : 256;
        stack_id *ids = realloc(im->stack_of_text, cap * sizeof *ids);
        if (!ids)
            return out_of_memory(im, s->err);
        im->stack_of_text = ids;
        im->cap_texts = cap;
    }
    if (fresh)
        TRY(read_stack(im, s, &im->stack_of_text[number]));
    *id = im->stack_of_text[number];
    return 0;
}

static int make_field(struct importer *im, struct scan *s, size_t i, struct event *e)
{
    struct orca_field f = im->record.line->fields[i];
    thread_id thread;
    lock_id lock;
    stack_id stack = {0};
    switch (f.type) {
    case ORCA_THREAD:
        TRY(intake_thread(&im->in, im->record.hash[i], &thread, s->err));
        orca_field_set(f, e, thread.v);
        return 0;
    case ORCA_LOCK:
        TRY(intake_lock(&im->in, im->record.hash[i], &lock, s->err));
        orca_field_set(f, e, lock.v);
        return 0;
    case ORCA_STACK: /* where our event has none, that of the call's beginning serves */
        TRY(make_stack(im, s, &stack));
        orca_field_set(f, e, stack.v);
        return 0;
    case ORCA_NAME:
        return intake_name_thread(&im->in, e->thread, im->record.name, s->err);
    }
    return 0;
}

/* The class of what an event is about, where the event says it: Semaphore; that of a method table's
 * row about `this`. */
static const char *class_of_object(const struct event *e, const struct call_row *row)
{
    switch (e->kind) {
    case EV_semaphore_acquire_enter:
    case EV_semaphore_acquire_exit:
    case EV_semaphore_release:
        return "java/util/concurrent/Semaphore";
    default:
        return row && row->object == CALL_THIS ? row->class : NULL;
    }
}

static int tell_class(struct importer *im, const struct event *e, struct err *err)
{
    const struct orca_record *r = &im->record;
    const char *name = class_of_object(e, r->call);
    lock_id lock = {orca_field_get(orca_line_field(r->line, ORCA_LOCK), e)};
    if (!name || lock.v == 0 || map_find(&im->class_told, lock.v))
        return 0;
    struct def d = {.kind = DEF_lock, .lock = {.id = lock, .hash = r->hash[0]}};
    TRY(orca_defs_class(&im->defs, name, &d.lock.class_, err));
    TRY(intake_def(&im->in, &d, err));
    return map_put(&im->class_told, lock.v) ? 0 : out_of_memory(im, err);
}

static int make_event(struct importer *im, struct scan *s)
{
    const struct orca_record *r = &im->record;
    struct event e = {.time = r->time, .kind = r->line->kind};
    memset(&e.recording_start, 0, sizeof e - EVENT_HEAD);
    TRY(intake_thread(&im->in, r->thread, &e.thread, s->err));
    if (r->call) /* all three kinds begin with it */
        e.call.call.v = (uint32_t)(r->call - im->calls.rows) + 1;
    for (size_t i = 0; i < ORCA_FIELDS_MAX && r->line->fields[i].type != ORCA_END; i++)
        TRY(make_field(im, s, i, &e));
    TRY(tell_class(im, &e, s->err));
    return blame(s, intake_event(&im->in, &e, s->err));
}

static int event_line(void *ctx, struct scan *s)
{
    enum { PROGRESS_EVERY = 65536 };
    struct importer *im = ctx;
    TRY(orca_record_read(s, &im->version, &im->record));
    if (im->watch && im->watch->progress && ++im->lines % PROGRESS_EVERY == 0)
        im->watch->progress(im->watch->ctx, s->line.offset, im->size);
    return make_event(im, s);
}

/* --- which version, which companions
 * -------------------------------------------------------------- */

/* Until the first line that only one version has.  Errors are left to the real reading. */
static int version_line(void *ctx, struct scan *s)
{
    struct importer *im = ctx;
    int rc = orca_record_read(s, &im->version, &im->record);
    if (rc == 0)
        rc = orca_record_read_stack(s, &im->version, &im->record);
    return im->version || rc < 0 ? 1 : 0;
}

static int find_version(struct importer *im, const struct text_source *log, struct err *err)
{
    struct scan_cut ignored;
    TRY(scan_lines(log, version_line, im, &ignored, err));
    return 0;
}

static void note_absent(struct importer *im, const char *suffix, const char *what)
{
    intake_note(&im->in, 0, false, "the %s file beside it is missing: %s have no names", suffix,
                what);
}

static int read_companions(struct importer *im, const struct orca_sources *s, struct err *err)
{
    static const struct text_source none = {NULL, -1, NULL, 0};
    orca_defs_init(&im->defs, &im->in, im->version);
    if (im->version == 0) /* no stack, so no method that would need a name */
        return 0;
    if (im->version == ORCA_1_1) {
        if (!s->meta.name)
            note_absent(im, ".meta", "methods and classes");
        return orca_defs_read(&im->defs, &s->meta, &none, err);
    }
    if (!s->methods.name)
        note_absent(im, ".methods", "methods");
    else if (!s->classtable.name)
        note_absent(im, ".classtable", "classes");
    return orca_defs_read(&im->defs, &s->methods, &s->classtable, err);
}

static int put_info(struct importer *im, const char *key, const char *value, struct err *err)
{
    struct def d = {.kind = DEF_info, .info = {{key, strlen(key)}, {value, strlen(value)}}};
    return intake_def(&im->in, &d, err);
}

/* --- the method table ------------------------------------------------------------------------- */

static int define_call(struct importer *im, uint32_t id, struct err *err)
{
    struct call_texts texts;
    struct def d;
    int rc = call_define(&im->calls.rows[id - 1], (call_id){id}, &texts, &d);
    rc = rc < 0 ? out_of_memory(im, err) : intake_def(&im->in, &d, err);
    call_texts_fini(&texts);
    return rc;
}

static int read_calls(struct importer *im, const struct text_source *s, struct err *err)
{
    if (!s->name)
        return 0;
    TRY(s->fd >= 0 ? call_table_read_fd(&im->calls, s->name, s->fd, err)
                   : call_table_read(&im->calls, s->name, s->p, s->len, err));
    for (size_t i = 0; i < im->calls.n; i++)
        TRY(define_call(im, (uint32_t)i + 1, err));
    return 0;
}

/* --- all of it
 * -------------------------------------------------------------------------------------- */

static int read_all(struct importer *im, const struct orca_sources *s, struct err *err)
{
    struct scan_cut cut;
    im->record.calls = &im->calls;
    im->in.daemons_unsaid = true;
    TRY(read_calls(im, &s->calltable, err));
    TRY(find_version(im, &s->log, err));
    TRY(put_info(im, "import.file", s->log.name, err));
    TRY(put_info(im, "import.format", im->version == ORCA_1_1 ? "orca-1.1" : "orca", err));
    TRY(put_info(im, TRACE_ORDER_INFO, TRACE_ORDER_BARE, err));
    TRY(read_companions(im, s, err));
    TRY(scan_lines(&s->log, event_line, im, &cut, err));
    if (cut.cut)
        intake_note(&im->in, cut.offset, false, "%s", cut.text);
    return 0;
}

int import_orca_from(struct trace **out, const struct orca_sources *sources,
                     const struct import_watch *watch, struct err *err)
{
    *out = NULL;
    struct importer *im = calloc(1, sizeof *im);
    if (!im)
        return err_set(err, -ENOMEM, "%s: out of memory", sources->log.name);
    im->watch = watch;
    int64_t size = sources->log.fd >= 0 ? fdio_size(sources->log.fd) : (int64_t)sources->log.len;
    im->size = size > 0 ? (uint64_t)size : 0;
    int rc = intake_init(&im->in, sources->log.name, err);
    if (rc == 0) {
        rc = read_all(im, sources, err);
        if (rc == 0)
            rc = intake_open(&im->in, out, err);
        orca_defs_fini(&im->defs);
        intake_fini(&im->in);
    }
    orca_record_fini(&im->record);
    call_table_fini(&im->calls);
    map_fini(&im->class_told);
    buf_fini(&im->packed);
    digest_fini(&im->stack_texts);
    free(im->stack_of_text);
    free(im);
    return rc;
}

/* --- files
 * ------------------------------------------------------------------------------------------ */

/* A user who names a companion means the log, but which of the files is meant is better not
 * guessed. */
static int refuse_companion(const char *path, struct err *err)
{
    static const char *const companions[] = {".methods", ".classtable", ".meta", ".calltable"};
    for (size_t i = 0; i < ARRAY_LEN(companions); i++)
        if (source_ends_with(path, companions[i]))
            return err_set(err, -EINVAL, "%s: name the .orca file; %s files are read with it", path,
                           companions[i]);
    return 0;
}

/* The file of another suffix beside the log, or an absent source. */
static int open_companion(struct text_source *s, struct buf *path, const char *log,
                          const char *suffix, struct err *err)
{
    size_t stem = strlen(log) - (source_ends_with(log, ".orca") ? strlen(".orca") : 0);
    buf_put(path, log, stem);
    buf_puts(path, suffix);
    int rc = path->oom ? -ENOMEM : source_open(s, buf_str(path), err);
    if (rc == -ENOMEM)
        return err_set(err, rc, "%s: out of memory", log);
    return rc == -ENOENT ? 0 : rc;
}

static int open_all(struct orca_sources *s, struct buf paths[4], const char *path, struct err *err)
{
    TRY(refuse_companion(path, err));
    TRY(source_open(&s->log, path, err));
    TRY(source_refuse_foreign(&s->log, "a text event log", err));
    TRY(open_companion(&s->methods, &paths[0], path, ".methods", err));
    TRY(open_companion(&s->classtable, &paths[1], path, ".classtable", err));
    TRY(open_companion(&s->calltable, &paths[3], path, ".calltable", err));
    return open_companion(&s->meta, &paths[2], path, ".meta", err);
}

int import_orca_watched(struct trace **out, const char *path, const struct import_watch *watch,
                        struct err *err)
{
    static const struct text_source none = {NULL, -1, NULL, 0};
    struct orca_sources s = {none, none, none, none, none};
    struct buf paths[4] = {{0}, {0}, {0}, {0}};
    *out = NULL;
    int rc = open_all(&s, paths, path, err);
    if (rc == 0)
        rc = import_orca_from(out, &s, watch, err);
    source_close(&s.log);
    source_close(&s.methods);
    source_close(&s.classtable);
    source_close(&s.meta);
    source_close(&s.calltable);
    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        buf_fini(&paths[i]);
    return rc;
}

int import_orca(struct trace **out, const char *path, struct err *err)
{
    return import_orca_watched(out, path, NULL, err);
}

bool import_orca_wants(const char *path)
{
    char head[sizeof FILE_MAGIC];
    source_head(path, head, sizeof head);
    if (strcmp(head, FILE_MAGIC) == 0)
        return false;
    return source_ends_with(path, ".orca") || isdigit((unsigned char)head[0]);
}
