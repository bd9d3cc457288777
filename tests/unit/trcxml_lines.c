#include "trcxml_lines.h"

#include "base/buf.h"
#include "orca_files.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

static struct err err;

static void put_thread(struct buf *b, const struct trace *t, const char *what, thread_id id)
{
    const struct trace_thread *thread = trace_thread(t, id);
    if (id.v == 0)
        return;
    buf_printf(b, " %s", what);
    if (*thread->name)
        buf_printf(b, "%s", thread->id.v ? thread->name : "?");
    else
        buf_printf(b, "#%u", id.v);
}

static void put_stack(struct buf *b, const struct trace *t, stack_id id)
{
    const struct trace_stack *s = trace_stack(t, id);
    for (uint32_t i = 0; i < s->n_frames; i++) {
        const struct trace_method *m = trace_method(t, s->frames[i].method);
        const struct trace_class *c = trace_class(t, m->class_);
        buf_printf(b, " at=%s.%s", c->signature, m->name);
        if (s->frames[i].bci < 0)
            buf_puts(b, "(native)");
        else
            buf_printf(b, "(%s:%d)", c->source, trace_line(t, s->frames[i]));
    }
    if (s->flags & STACK_TRUNCATED)
        buf_puts(b, " truncated");
}

/* One field, unless it is 0. */
static void put_field(struct buf *b, const struct trace *t, const struct field *f, uint64_t v)
{
    char what[40];
    snprintf(what, sizeof what, "%s=", f->name);
    if (f->type == FIELD_thread)
        put_thread(b, t, what, (thread_id){(uint32_t)v});
    else if (f->type == FIELD_stack)
        put_stack(b, t, (stack_id){(uint32_t)v});
    else if (f->type == FIELD_lock && v)
        buf_printf(b, " lock=%u:%s", (unsigned)v,
                   trace_class(t, trace_lock(t, (lock_id){(uint32_t)v})->class_)->signature);
    else if (f->type == FIELD_kind && v)
        buf_printf(b, " %s=%s", f->name, event_kinds[v].name);
    else if (v)
        buf_printf(b, " %s=%lld", f->name, (long long)v);
}

static char *events_of(struct trace *t)
{
    struct buf b = {0};
    struct trace_iter *it;
    struct event e;
    cr_assert_eq(trace_iter_open(&it, t, &err), 0);
    while (trace_iter_next(it, &e, NULL, &err) > 0) {
        const struct kind_info *k = &event_kinds[e.kind];
        const struct field *f = k->fields();
        buf_printf(&b, "%llu %s", (unsigned long long)e.time / 1000000, k->name);
        put_thread(&b, t, "", e.thread);
        for (unsigned i = 0; i < k->n_fields; i++)
            put_field(&b, t, &f[i], field_get(&f[i], (char *)&e + EVENT_HEAD));
        buf_putc(&b, '\n');
    }
    trace_iter_close(it);
    buf_str(&b);
    return (char *)b.p;
}

void has_events(struct trace *t, const char *expected)
{
    char *got = events_of(t);
    cr_assert_str_eq(got, expected, "\ngot\n%sexpected\n%s", got, expected);
    free(got);
}

void has_problems(const struct trace *t, const char *const *expected, size_t n)
{
    for (size_t i = 0; i < t->n_problems || i < n; i++)
        cr_assert_str_eq(i < t->n_problems ? t->problems[i].text : "(none)",
                         i < n ? expected[i] : "(none)");
}

struct trace *xml_import(const char *xml)
{
    struct trace *t = files_import_xml(xml, &err);
    cr_assert_not_null(t, "%s", err.msg);
    return t;
}

void xml_is(const char *xml, const char *events)
{
    struct trace *t = xml_import(xml);
    has_problems(t, NULL, 0);
    has_events(t, events);
    trace_close(t);
}

void xml_is_but(const char *xml, const char *problem, bool damage, const char *events)
{
    struct trace *t = xml_import(xml);
    has_problems(t, &problem, 1);
    cr_assert_eq(t->problems[0].damage, damage);
    has_events(t, events);
    trace_close(t);
}

void xml_is_refused(const char *xml, const char *message)
{
    struct trace *t = files_import_xml(xml, &err);
    cr_assert_null(t, "accepted, but expected: %s", message);
    cr_assert_str_eq(err.msg, message);
}
