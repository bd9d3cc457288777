/* report_json_calls.c - the calls of tracked methods in `orca report --json`. */
#include "export/report_json_parts.h"

#include "analyze/labels.h"
#include "format/call_table.h"

#include <stdlib.h>
#include <string.h>

/* "blocks", "tries" or "calls"; NULL: an older trace does not say. */
static const char *kind_of(const char *row)
{
    struct call_table t;
    struct err err = {0};
    const char *name = NULL;
    if (call_table_read(&t, "", row, strlen(row), &err) == 0 && t.n == 1)
        name = call_kind_names[t.rows[0].kind];
    call_table_fini(&t);
    return name;
}

static json_t *entry(const struct json_out *o, struct call_sum *s)
{
    const struct trace_call *c = trace_call(o->r->trace, s->call);
    const char *kind = kind_of(c->row);
    char class[LABEL_MAX];
    json_t *j = json_object();
    label_class(c->class_signature, class, sizeof class);
    json_set_text(j, "class", class);
    json_set_text(j, "method", c->method);
    json_object_set_new(j, "kind", kind ? json_string(kind) : json_null());
    json_set_bool(j, "jdk", s->jdk);
    json_set_wait_stats(j, "called", &s->times);
    json_set_count(j, "failed_count", s->failed);
    json_set_count(j, "in_waits_ns", s->waited);
    return j;
}

void json_put_calls(struct json_out *o)
{
    const struct call_tables *t = &o->r->calls;
    json_begin_list(o, "calls");
    for (size_t i = 0; i < report_rows(o->r, t->n_methods); i++)
        json_entry(o, entry(o, &t->methods[i]));
    json_end_list(o);
    json_begin_list(o, "call_sites");
    for (size_t i = 0; i < report_rows(o->r, t->n_callers); i++) {
        json_t *j = entry(o, &t->callers[i]);
        json_object_set_new(j, "at", json_place(o->r, t->callers[i].app));
        json_object_set_new(j, "innermost", json_place(o->r, t->callers[i].top));
        json_set_count(j, "stack", t->callers[i].stack.v);
        json_entry(o, j);
    }
    json_end_list(o);
}
