/* json_marks.c - the answers `marks` and `mark`: calls of tracked methods, notifies that woke no
 * thread. */
#include "analyze/labels.h"
#include "base/util.h"
#include "view/json_parts.h"
#include "view/marks.h"

#include <inttypes.h>

static const struct json_flag call_flags[] = {{CALLED_FAILED, "failed"},
                                              {CALLED_OPEN, "open"},
                                              {CALLED_UNKNOWN, "unknown"},
                                              {CALLED_MOMENT, "moment"}};

static json_t *brief(const struct view *v, const struct thread_mark *m)
{
    const struct context *x = mark_context(v->a, m);
    json_t *j = json_object();
    json_set_count(j, "thread", m->thread);
    json_set_count(j, "index", m->act);
    json_set_text(j, "what", mark_names[m->what]);
    json_set_moment(j, "from", v, m->from);
    json_set_moment(j, "to", v, m->to);
    json_object_set_new(j, "flags", json_flags(call_flags, ARRAY_LEN(call_flags), m->flags));
    json_object_set_new(j, "call", json_null());
    if (m->what == MARK_CALL)
        json_set_text(j, "call", trace_call(v->a->trace, x->call)->name);
    return j;
}

/* --- marks ------------------------------------------------------------------------------------ */

static int keep(void *self, const struct thread_mark *m)
{
    buf_put(self, m, sizeof *m);
    return 0;
}

int answer_marks(struct ask *a, struct json_out *o, struct err *err)
{
    const struct selection s = ask_selection(a);
    const struct marks *all = marks_get(a->v);
    struct buf found = {0};
    if (all)
        marks_visit(all, &s, keep, &found);
    size_t n = found.len / sizeof(struct thread_mark);
    const struct thread_mark *v = (const void *)found.p;
    json_out(o, "{");
    json_key(o, "n");
    put_number(o, (int64_t)n);
    json_begin_list(o, "marks");
    for (size_t i = n <= VIEW_MARKS_MAX ? n : 0; i-- > 0;)
        json_entry(o, brief(a->v, &v[i]));
    json_end_list(o);
    json_out(o, "\n}\n");
    bool oom = !all || found.oom;
    buf_fini(&found);
    return oom ? err_set(err, -ENOMEM, "out of memory") : 0;
}

/* --- one -------------------------------------------------------------------------------------- */

/* ns; < 0: memory is out. */
static int64_t waited_in(struct view *v, const struct thread_mark *m)
{
    uint64_t ns[STATE_LIMIT], sum = 0;
    TRY(occupancy_between(&v->occupancy, m->thread, m->from, m->to, ns));
    for (unsigned i = 0; i < WAIT_STATES; i++)
        sum += ns[i];
    return (int64_t)sum;
}

static json_t *call(const struct view *v, const struct thread_mark *m)
{
    if (m->what != MARK_CALL)
        return json_null();
    const struct trace_call *c = trace_call(v->a->trace, mark_context(v->a, m)->call);
    char class[LABEL_MAX];
    json_t *j = json_object();
    label_class(c->class_signature, class, sizeof class);
    json_set_text(j, "class", class);
    json_set_text(j, "method", c->method);
    return j;
}

int answer_mark(struct ask *a, struct json_out *o, struct err *err)
{
    struct thread_mark m;
    if (a->index > UINT32_MAX || !mark_of(a->v, (uint32_t)a->thread, (uint32_t)a->index, &m))
        return err_set(err, -ENOENT,
                       "index=%" PRIu64 ": thread %" PRIu64
                       " has no such mark; the answer `marks` names those that there are",
                       a->index, a->thread);
    int64_t waited = waited_in(a->v, &m);
    if (waited < 0)
        return err_set(err, (int)waited, "out of memory");
    const struct context *x = mark_context(a->v->a, &m);
    json_t *j = brief(a->v, &m);
    json_object_set_new(j, "call", call(a->v, &m));
    json_object_set_new(j, "lock", json_lock(o, a->v, x->lock));
    json_set_signed(j, "in_waits_ns", waited);
    json_object_set_new(j, "stack", json_stack(o->r, x->stack));
    json_out_value(o, j);
    json_out(o, "\n");
    return 0;
}
