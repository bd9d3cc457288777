#include "cli/top_batch.h"

#include "base/printable.h"
#include "base/util.h"
#include "cli/top_text.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static size_t at_most(size_t n, size_t rows)
{
    return rows && rows < n ? rows : n;
}

static int flushed(struct err *err)
{
    return fflush(stdout) == 0 && !ferror(stdout) ? 0
                                                  : err_set(err, -EIO, "cannot write to stdout");
}

/* --- text ---------------------------------------------------------------------------------------
 */

/* Names may be of any length; a line should not. */
enum { LONGEST_CELL = 19 };

static void print_table(const struct top_view *v, int which, void *const *rows, size_t n)
{
    const struct top_columns *c = &top_columns[which];
    struct table_column columns[TABLE_COLUMNS] = {{NULL, TABLE_LEFT, false}};
    struct table t;
    char cell[TOP_CELL];
    for (size_t i = 0; i < c->n; i++)
        columns[i] = c->v[i].table;
    table_init(&t, columns, c->n);
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < c->n; i++) {
            c->v[i].cell(v, rows[k], cell);
            if (!columns[i].gives_way)
                printable_cut(cell, LONGEST_CELL);
            table_put(&t, cell);
        }
    table_print(&t, stdout);
    table_fini(&t);
}

int top_batch_text(const struct top_view *v, const struct top_rows *r, size_t rows, struct err *err)
{
    struct top_text head = {0};
    enum top_style style;
    const char *line;
    size_t at = 0;
    top_head(v, &head);
    while ((line = top_text_next(&head, &at, &style)))
        printf("%s\n", line);
    top_text_fini(&head);
    printf("\n");
    print_table(v, 0, (void *const *)r->threads, at_most(r->n_threads, rows));
    printf("\n");
    print_table(v, 1, (void *const *)r->locks, at_most(r->n_locks, rows));
    printf("\n");
    return flushed(err);
}

/* --- JSON ---------------------------------------------------------------------------------------
 */

static void set_text(json_t *o, const char *key, const char *text)
{
    char valid[TOP_CELL];
    printable_utf8(text, valid, sizeof valid);
    json_object_set_new(o, key, json_string(valid));
}

static void set_number(json_t *o, const char *key, uint64_t n)
{
    json_object_set_new(o, key, json_integer((json_int_t)n));
}

static void set_thread_name(const struct top_view *v, json_t *o, const char *key, thread_id id)
{
    char name[TOP_CELL];
    top_name_thread(v, id, name);
    if (id.v)
        set_text(o, key, name);
}

static json_t *lock_ref(const struct top_view *v, lock_id id)
{
    const struct trace *t = trace_follow_trace(v->source->follow);
    char name[TOP_CELL];
    trace_class_name(trace_class(t, trace_lock(t, id)->class_)->signature, name, sizeof name);
    json_t *o = json_object();
    set_number(o, "id", id.v);
    set_text(o, "class", name);
    return o;
}

static json_t *times_json(const struct live_thread *t)
{
    json_t *o = json_object();
    for (int s = 0; s < LIVE_SUMS; s++)
        set_number(o, live_state_names[s], t->sum[s]);
    return o;
}

/* The wait in which a thread was last held up. */
static json_t *held_json(const struct top_view *v, const struct live_wait *w)
{
    char site[TOP_CELL];
    json_t *o = json_object();
    set_number(o, "ago_ns", v->source->live.now - min_u64(w->since, v->source->live.now));
    set_number(o, "took_ns", w->ns);
    if (w->lock.v)
        json_object_set_new(o, "lock", lock_ref(v, w->lock));
    set_thread_name(v, o, "owner", w->other);
    top_name_site(v, w->stack, site);
    set_text(o, "at", site);
    return o;
}

static json_t *thread_json(const struct top_view *v, const struct live_thread *t)
{
    char text[TOP_CELL];
    json_t *o = json_object();
    set_number(o, "id", t->id.v);
    set_thread_name(v, o, "name", t->id);
    json_object_set_new(o, "virtual", json_boolean(t->is_virtual));
    json_object_set_new(o, "deadlocked", json_boolean(t->deadlock != 0));
    if (t->deadlock)
        set_number(o, "deadlock", t->deadlock);
    set_text(o, "state", live_state_names[t->state]);
    set_number(o, "since_ns", v->source->live.now - min_u64(t->since, v->source->live.now));
    set_number(o, "held_up_ns", t->held_up);
    set_number(o, "held_up_count", t->count);
    json_object_set_new(o, "window_ns", times_json(t));
    if (top_held_before(v, t))
        json_object_set_new(o, "held_up_before", held_json(v, &t->held));
    if (t->state >= LIVE_SUMS)
        return o;
    if (t->wait.lock.v)
        json_object_set_new(o, "lock", lock_ref(v, t->wait.lock));
    if (t->state == LIVE_JOINING)
        set_thread_name(v, o, "joins", t->wait.other);
    else if (live_is_held_up(t->state))
        set_thread_name(v, o, "owner", live_blocker(t));
    top_name_site(v, t->wait.stack, text);
    set_text(o, "at", text);
    return o;
}

static json_t *lock_json(const struct top_view *v, const struct live_lock *k)
{
    json_t *o = lock_ref(v, k->id);
    set_thread_name(v, o, "owner", k->owner);
    json_object_set_new(o, "owner_likely", json_boolean(k->owner_likely));
    set_number(o, "queue", k->queue);
    set_number(o, "waiters", k->waiters);
    set_number(o, "held_up_count", k->count);
    set_number(o, "held_up_ns", k->blocked_ns);
    set_number(o, "worst_ns", k->worst_ns);
    return o;
}

static json_t *head_json(const struct top_view *v)
{
    static const char *const states[] = {"recording", "unwritten", "silent", "ended", "gone"};
    const struct top_source *s = v->source;
    json_t *o = json_object(), *counts = json_object();
    set_text(o, "schema", "orca-top-1");
    set_number(o, "pid", (uint64_t)s->jvm.pid);
    set_text(o, "program", s->jvm.name);
    set_text(o, "state", states[s->state]);
    set_number(o, "span_ns", s->live.span);
    set_number(o, "events", s->live.recent);
    set_number(o, "held_up_count", s->live.contentions);
    set_number(o, "gc_ns", s->live.gc_ns);
    set_number(o, "lost", s->lost);
    set_number(o, "missed", trace_follow_state(s->follow).missed);
    json_object_set_new(o, "cpu", json_real(s->cpu));
    json_object_set_new(o, "recording_cpu", json_real(s->recording));
    json_object_set_new(o, "writing_cpu", json_real(s->writing));
    for (int i = 0; i < LIVE_STATES; i++)
        set_number(counts, live_state_names[i], s->live.in_state[i]);
    json_object_set_new(o, "states", counts);
    set_number(o, "deadlocked", s->live.n_deadlocked);
    set_number(o, "deadlocks", s->live.n_deadlocks);
    return o;
}

int top_batch_json(const struct top_view *v, const struct top_rows *r, size_t rows, struct err *err)
{
    json_t *o = head_json(v), *threads = json_array(), *locks = json_array();
    for (size_t i = 0; i < at_most(r->n_threads, rows); i++)
        json_array_append_new(threads, thread_json(v, r->threads[i]));
    for (size_t i = 0; i < at_most(r->n_locks, rows); i++)
        json_array_append_new(locks, lock_json(v, r->locks[i]));
    json_object_set_new(o, "threads", threads);
    json_object_set_new(o, "locks", locks);
    json_dumpf(o, stdout, JSON_COMPACT | JSON_REAL_PRECISION(6));
    printf("\n");
    json_decref(o);
    return flushed(err);
}
