#include "export/orca_log.h"

#include "base/util.h"

#include <stdlib.h>
#include <string.h>

/* --- definitions that were named -------------------------------------------------------------- */

static int named_init(struct orca_named *d, size_t n)
{
    d->n = n;
    d->time = calloc(n + 1, sizeof *d->time);
    d->order = calloc(n + 1, sizeof *d->order);
    d->seen = calloc(n + 1, 1);
    return d->time && d->order && d->seen ? 0 : -ENOMEM;
}

static void named_fini(struct orca_named *d)
{
    free(d->time);
    free(d->order);
    free(d->seen);
}

/* Returns true for the first time. */
static bool named_add(struct orca_named *d, uint32_t id, uint64_t time)
{
    if (id >= d->n || d->seen[id])
        return false;
    d->seen[id] = 1;
    d->time[id] = time;
    d->order[d->count++] = id;
    return true;
}

static void name_frame(struct export *x, struct trace_frame f, uint64_t time)
{
    struct orca_log *log = x->state;
    const struct trace_method *m = trace_method(x->trace, f.method);
    if (!m->id.v || !named_add(&log->methods, m->id.v, time))
        return;
    const struct trace_class *c = trace_class(x->trace, m->class_);
    if (c->id.v)
        named_add(&log->named_classes, c->id.v, time);
}

/* The formats have no words for other frames. */
static bool is_java(const struct export *x, struct trace_frame f)
{
    return trace_method_is_java(trace_method(x->trace, f.method));
}

static void name_stack(struct export *x, const struct trace_stack *s, uint64_t time)
{
    struct orca_log *log = x->state;
    if (!s->id.v || log->stack_seen[s->id.v])
        return;
    log->stack_seen[s->id.v] = 1;
    for (uint32_t i = 0; i < s->n_frames; i++)
        if (is_java(x, s->frames[i]))
            name_frame(x, s->frames[i], time);
}

/* Rows that share their names are seen together: the text does not tell them apart. */
static const struct call_row *first_of_name(const struct orca_log *log, const struct call_row *row)
{
    bool ended;
    return call_table_find(&log->call_rows, row->event, strlen(row->event), &ended);
}

static void see_call(struct orca_log *log, const struct call_row *row)
{
    log->call_seen[first_of_name(log, row) - log->call_rows.rows] = 1;
}

bool orca_log_has_seen(const struct orca_log *log, const struct call_row *row)
{
    return log->call_seen[first_of_name(log, row) - log->call_rows.rows];
}

/* --- begin and end
 * -------------------------------------------------------------------------------- */

static bool thread_hash(const void *table, size_t i, uint32_t *hash)
{
    const struct trace_thread *t = (const struct trace_thread *)table + i;
    *hash = t->hash;
    return t->id.v != 0;
}

static bool lock_hash(const void *table, size_t i, uint32_t *hash)
{
    const struct trace_lock *l = (const struct trace_lock *)table + i;
    *hash = l->hash;
    return l->id.v != 0;
}

/* Only classes that have a line need a number: others take none from them. */
static bool class_hash(const void *table, size_t i, uint32_t *hash)
{
    const struct export *x = table;
    const struct orca_log *log = x->state;
    *hash = x->trace->classes[i].hash;
    return i < log->named_classes.n && log->named_classes.seen[i];
}

int orca_log_number_classes(struct export *x, struct err *err)
{
    struct orca_log *log = x->state;
    int rc = orca_ids_init(&log->classes, x->trace->n_classes, class_hash, x);
    return rc < 0 ? err_set(err, rc, "%s: out of memory", x->trace->path) : 0;
}

/* The rows of the trace's calls.  A trace of an older Orca has none, a damaged one may have
 * anything: calls without a row have no form in the text. */
static int read_call_rows(struct orca_log *log, const struct trace *t)
{
    struct buf b;
    buf_init(&b);
    for (size_t id = 1; id < t->n_calls; id++)
        buf_printf(&b, "%s\n", t->calls[id].row ? t->calls[id].row : "");
    int rc = b.oom ? -ENOMEM : call_table_read(&log->call_rows, t->path, (char *)b.p, b.len, NULL);
    buf_fini(&b);
    for (size_t i = 0; rc == 0 && i < log->call_rows.n; i++)
        if (log->call_rows.rows[i].line < t->n_calls)
            log->call_of[log->call_rows.rows[i].line] = &log->call_rows.rows[i];
    return rc == -EINVAL ? 0 : rc;
}

static int allocate(struct orca_log *log, const struct trace *t, enum orca_version version)
{
    TRY(orca_stacks_init(&log->stacks, t, version));
    log->call_of = calloc(t->n_calls + 1, sizeof(struct call_row *));
    if (!log->call_of)
        return -ENOMEM;
    TRY(read_call_rows(log, t));
    log->call_seen = calloc(log->call_rows.n + 1, 1);
    if (!log->call_seen)
        return -ENOMEM;
    log->state = calloc(t->n_threads + 1, sizeof *log->state);
    log->stack_seen = calloc(t->n_stacks + 1, 1);
    if (!log->state || !log->stack_seen)
        return -ENOMEM;
    TRY(orca_ids_init(&log->threads, t->n_threads, thread_hash, t->threads));
    TRY(orca_ids_init(&log->locks, t->n_locks, lock_hash, t->locks));
    TRY(named_init(&log->methods, t->n_methods));
    return named_init(&log->named_classes, t->n_classes);
}

int orca_log_begin(struct export *x, enum orca_version version, struct err *err)
{
    struct orca_log *log = calloc(1, sizeof *log);
    x->state = log;
    if (!log || allocate(log, x->trace, version) < 0)
        return err_set(err, -ENOMEM, "%s: out of memory", x->trace->path);
    if (version == ORCA_2)
        TRY(orca_tries_find(&log->tries, x->trace, err));
    log->version = version;
    for (unsigned kind = 0; kind < EV_LIMIT; kind++) {
        const struct orca_line *line = orca_line_of(kind);
        log->line_of[kind] = line && (line->versions & version) ? line : NULL;
    }
    log->n_damaged = x->trace->n_damaged;
    return 0;
}

void orca_log_fini(struct export *x)
{
    struct orca_log *log = x->state;
    if (!log)
        return;
    for (size_t i = 0; log->state && i < x->trace->n_threads; i++)
        orca_calls_fini(&log->state[i]);
    orca_tries_fini(&log->tries);
    orca_stacks_fini(&log->stacks);
    orca_ids_fini(&log->threads);
    orca_ids_fini(&log->locks);
    orca_ids_fini(&log->classes);
    named_fini(&log->methods);
    named_fini(&log->named_classes);
    call_table_fini(&log->call_rows);
    free(log->call_of);
    free(log->call_seen);
    free(log->state);
    free(log->stack_seen);
    free(log);
    x->state = NULL;
}

/* --- lines
 * ---------------------------------------------------------------------------------------- */

static void put_stack(struct export *x, stack_id id, uint64_t time)
{
    struct orca_log *log = x->state;
    orca_stacks_put(&log->stacks, &x->files[0], id);
    name_stack(x, trace_stack(x->trace, id), time);
}

static void put_thread_name(struct export *x, thread_id id)
{
    const struct trace_thread *t = trace_thread(x->trace, id);
    if (t->id.v)
        out_text_without(&x->files[0], t->name, ",;");
}

/* The number of the thread or lock in a field, 0 for other fields. */
static uint32_t number_of(const struct orca_log *log, struct orca_field f, const struct event *e)
{
    if (f.type == ORCA_THREAD)
        return orca_ids_get(&log->threads, orca_field_get(f, e));
    return f.type == ORCA_LOCK ? orca_ids_get(&log->locks, orca_field_get(f, e)) : 0;
}

static void put_field(struct export *x, struct orca_field f, const struct event *e, stack_id stack)
{
    out_char(&x->files[0], ',');
    switch (f.type) {
    case ORCA_THREAD:
    case ORCA_LOCK:
        out_hex8(&x->files[0], number_of(x->state, f, e));
        break;
    case ORCA_STACK:
        put_stack(x, stack, e->time);
        break;
    case ORCA_NAME:
        put_thread_name(x, e->thread);
        break;
    }
}

_Static_assert(offsetof(struct event, call_enter.call) == offsetof(struct event, call.call) &&
                   offsetof(struct event, call_exit.call) == offsetof(struct event, call.call),
               "read as one");

/* The row of a call event's method, NULL when it has no names. */
static const struct call_row *call_row_of(const struct export *x, const struct event *e)
{
    const struct orca_log *log = x->state;
    const struct call_row *row =
        e->call.call.v < x->trace->n_calls ? log->call_of[e->call.call.v] : NULL;
    return row && (row->kind == CALL_CALLS) == (e->kind == EV_call) ? row : NULL;
}

static void put_call_name(struct export *x, const struct event *e)
{
    const struct call_row *row = call_row_of(x, e);
    see_call(x->state, row);
    out_text(&x->files[0], e->kind == EV_call_exit ? row->ended : row->event);
}

static void put_line(struct export *x, const struct orca_line *line, const struct event *e,
                     stack_id stack)
{
    struct orca_log *log = x->state;
    struct out *o = &x->files[0];
    out_seconds(o, e->time);
    out_char(o, ',');
    if (line->name)
        out_text(o, line->name);
    else
        put_call_name(x, e);
    out_char(o, ',');
    out_hex8(o, orca_ids_get(&log->threads, e->thread.v));
    for (size_t i = 0; i < ORCA_FIELDS_MAX && line->fields[i].type != ORCA_END; i++)
        put_field(x, line->fields[i], e, stack);
    out_newline(o);
}

/* --- events
 * --------------------------------------------------------------------------------------- */

static struct orca_thread *state_of(struct export *x, thread_id id)
{
    struct orca_log *log = x->state;
    return trace_thread(x->trace, id)->id.v ? &log->state[id.v] : NULL;
}

/* Names come only with ThreadStarted: a thread that acts without having had one (the recording, or
 * what is left of it, began later) gets one in front of its first line. */
static void introduce(struct export *x, thread_id id, uint64_t time)
{
    struct orca_log *log = x->state;
    struct orca_thread *t = state_of(x, id);
    if (!t || t->started)
        return;
    t->started = true;
    struct event e = {.time = time, .thread = id, .kind = EV_thread_alive};
    put_line(x, log->line_of[EV_thread_alive], &e, (stack_id){0});
}

/* Events of some thread could not be read: who was in a call may no longer be. */
static void note_damage(struct export *x)
{
    struct orca_log *log = x->state;
    if (log->n_damaged == x->trace->n_damaged)
        return;
    log->n_damaged = x->trace->n_damaged;
    for (size_t i = 0; i < x->trace->n_threads; i++)
        orca_calls_forget(&log->state[i]);
}

/* Whether the event is to be written, and with which stack. */
static bool step(struct export *x, struct orca_thread *t, const struct orca_line *line,
                 const struct event *e, stack_id *stack)
{
    const struct call_row *row = line->name ? NULL : call_row_of(x, e);
    if (!line->name && !row)
        return false;
    stack->v = orca_field_get(orca_line_field(line, ORCA_STACK), e);
    struct orca_log *log = x->state;
    if (orca_stacks_frames(&log->stacks, *stack) == 0)
        stack->v = 0;
    if (row && row->nests) /* what happens inside it is written as if it were not there */
        return t->depth == 0;
    struct orca_step at = {line, number_of(x->state, line->fields[0], e), row ? e->call.call.v : 0};
    return orca_calls_step(t, x->trace, &at, stack);
}

/* The formats go by Thread objects; a thread of the JVM itself has none. */
static bool has_no_object(const struct export *x, thread_id id)
{
    const struct trace_thread *t = trace_thread(x->trace, id);
    return (t->flags & THREAD_NATIVE) && t->hash == 0;
}

static void write_event(struct export *x, struct orca_thread *t, const struct orca_line *line,
                        const struct event *e, stack_id stack)
{
    if (t && e->kind == EV_thread_start)
        t->started = true;
    else
        introduce(x, e->thread, e->time);
    if (e->kind == EV_monitor_contended_enter)
        introduce(x, e->monitor_contended_enter.owner, e->time);
    if (e->kind != EV_thread_alive || !t) /* else the introduction was it */
        put_line(x, line, e, stack);
}

/* The lines of a try that came to nothing are left out, both; what was nested in it is, too. */
static bool is_silent(struct orca_thread *t, const struct orca_line *line, bool failed)
{
    if (line->role == ORCA_PLAIN || line->role == ORCA_BLOCK || line->role == ORCA_UNBLOCK)
        return false;
    bool silent = failed || (line->role == ORCA_EXIT && t->silent);
    t->silent = failed;
    return silent;
}

bool orca_log_has(enum orca_version version, unsigned kind)
{
    const struct orca_line *line = orca_line_of(kind);
    return kind == EV_lost || kind == EV_wait_found || (line && (line->versions & version));
}

/* The beginning of a wait that began before the recording did: written when it is found. */
static bool begin_of_found(const struct event *e, struct event *begin)
{
    memset(begin, 0, sizeof *begin);
    begin->time = e->time;
    begin->thread = e->thread;
    begin->kind = (uint16_t)e->wait_found.kind;
    const struct orca_line *line = orca_line_of(e->wait_found.kind);
    if (!line || (line->role != ORCA_LEAF && line->role != ORCA_BLOCK))
        return false;
    orca_field_set(orca_line_field(line, ORCA_LOCK), begin, e->wait_found.lock.v);
    orca_field_set(orca_line_field(line, ORCA_THREAD), begin, e->wait_found.owner.v);
    orca_field_set(orca_line_field(line, ORCA_STACK), begin, e->wait_found.stack.v);
    return true;
}

int orca_log_event(struct export *x, const struct event *e, struct err *err)
{
    struct orca_log *log = x->state;
    struct event begin;
    if (e->kind == EV_wait_found) {
        if (begin_of_found(e, &begin))
            return orca_log_event(x, &begin, err);
        x->suppressed++;
        return 0;
    }
    struct orca_thread nobody = {.depth = 0}, *t = state_of(x, e->thread);
    note_damage(x);
    if (e->kind == EV_lost) {
        orca_calls_forget(t ? t : &nobody);
        return 0;
    }
    const struct orca_line *line = log->line_of[e->kind];
    stack_id stack;
    bool failed = e->kind == EV_semaphore_acquire_enter && e->thread.v < x->trace->n_threads &&
                  orca_tries_take(&log->tries);
    if (has_no_object(x, e->thread) || !step(x, t ? t : &nobody, line, e, &stack) ||
        is_silent(t ? t : &nobody, line, failed))
        x->suppressed++;
    else
        write_event(x, t, line, e, stack);
    return 0;
}

/* --- definitions
 * ---------------------------------------------------------------------------------- */

void orca_log_name(struct out *o, const char *name)
{
    out_text_without(o, name, ",");
}

void orca_log_signature(struct out *o, const struct trace_method *m)
{
    orca_log_name(o, *m->signature ? m->signature : "()");
}

void orca_log_lines(struct out *o, const struct trace_method *m, char separator,
                    void (*line)(struct out *o, uint32_t line))
{
    if (m->lines.n == 0) {
        out_text(o, "-1");
        return;
    }
    out_decimal(o, m->lines.n);
    for (uint32_t i = 0; i < m->lines.n; i++) {
        out_char(o, separator);
        out_hex8(o, trace_class_file_bci(m, m->lines.v[i].bci));
        out_char(o, separator);
        line(o, m->lines.v[i].value);
    }
}
