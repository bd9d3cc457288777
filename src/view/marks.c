#include "view/marks.h"

#include "base/util.h"

#include <stdlib.h>

const char *const mark_names[MARK_KINDS] = {"call", "notify", "notify-all"};

/* --- one -------------------------------------------------------------------------------------- */

static struct thread_mark mark_of_call(uint32_t thread, const struct called *c)
{
    return (struct thread_mark){.from = c->start,
                                .to = c->end,
                                .thread = thread,
                                .act = c->act,
                                .what = MARK_CALL,
                                .flags = (uint8_t)c->flags};
}

static bool is_of_program(const struct view *v, const struct called *c)
{
    call_id call = timeline_context(&v->a->timeline, c->context)->call;
    return !sites_is_jdk(trace_call(v->a->trace, call)->class_signature);
}

/* A notify that woke no thread. */
static bool mark_of_notify(const struct view *v, uint32_t thread, uint32_t act,
                           struct thread_mark *out)
{
    const struct act *a = line_act(&v->a->timeline.lines[thread], act);
    unsigned what = timeline_context(&v->a->timeline, a->context)->what;
    if (a->woken || (what != EV_notify && what != EV_notify_all))
        return false;
    *out = (struct thread_mark){.from = a->time,
                                .to = a->time,
                                .thread = thread,
                                .act = act,
                                .what = what == EV_notify ? MARK_NOTIFY : MARK_NOTIFY_ALL};
    return true;
}

bool mark_of(const struct view *v, uint32_t thread, uint32_t act, struct thread_mark *out)
{
    const struct timeline *t = &v->a->timeline;
    if (thread >= t->n_lines || act >= t->lines[thread].acts.n)
        return false;
    const struct call_line *l = &v->a->calls.lines[thread];
    uint32_t i = 0;
    BISECT(i, l->n, l->v[i].act < act);
    if (i == l->n || l->v[i].act != act)
        return mark_of_notify(v, thread, act, out);
    *out = mark_of_call(thread, &l->v[i]);
    return is_of_program(v, &l->v[i]);
}

/* --- all of them ------------------------------------------------------------------------------ */

static void add_line(const struct view *v, uint32_t thread, struct buf *out)
{
    const struct call_line *l = &v->a->calls.lines[thread];
    struct thread_mark m;
    for (uint32_t i = 0; i < l->n; i++) {
        m = mark_of_call(thread, &l->v[i]);
        if (is_of_program(v, &l->v[i]))
            buf_put(out, &m, sizeof m);
    }
    for (uint32_t i = 0; i < v->a->timeline.lines[thread].acts.n; i++)
        if (mark_of_notify(v, thread, i, &m))
            buf_put(out, &m, sizeof m);
}

static int by_beginning(const void *a, const void *b)
{
    const struct thread_mark *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->act > y->act) - (x->act < y->act);
}

static int make(struct view *v, struct marks *m)
{
    for (uint32_t i = 1; i < v->a->calls.n_lines; i++)
        add_line(v, i, &m->all);
    size_t n = m->all.len / sizeof(struct thread_mark);
    m->ends = m->all.oom ? NULL : malloc((n + 1) * sizeof *m->ends);
    if (!m->ends)
        return -ENOMEM;
    struct thread_mark *all = (void *)m->all.p;
    if (n)
        qsort(all, n, sizeof *all, by_beginning);
    for (size_t i = 0; i < n; i++)
        m->ends[i] = max_u64(i ? m->ends[i - 1] : 0, all[i].to);
    m->n = n;
    return 0;
}

void marks_fini(struct marks *m)
{
    buf_fini(&m->all);
    free(m->ends);
    m->ends = NULL;
}

const struct marks *marks_get(struct view *v)
{
    pthread_mutex_lock(&v->json.lock);
    if (!v->marks.ends && make(v, &v->marks) < 0)
        marks_fini(&v->marks);
    const struct marks *m = v->marks.ends ? &v->marks : NULL;
    pthread_mutex_unlock(&v->json.lock);
    return m;
}

int marks_visit(const struct marks *m, const struct selection *s, mark_visitor *visit, void *self)
{
    const struct thread_mark *v = (const void *)m->all.p;
    size_t i = 0;
    BISECT(i, m->n, v[i].from < s->to);
    while (i-- > 0 && m->ends[i] >= s->from)
        if (v[i].to >= s->from && selection_has(s, v[i].thread))
            TRY(visit(self, &v[i]));
    return 0;
}
