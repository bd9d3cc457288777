/* pack_marks.c - the marks of a pack, and who started each thread. */
#include "base/util.h"
#include "view/marks.h"
#include "view/pack_parts.h"

#include <stdlib.h>

static int keep(void *self, const struct thread_mark *m)
{
    buf_put(self, m, sizeof *m);
    return 0;
}

static int put_marks(const struct packer *p, const struct thread_mark *v, uint32_t n,
                     struct buf *out)
{
    const struct analysis *a = p->v->a;
    const struct trace *t = a->trace;
    size_t begin = out->len;
    pack_head(n, out);
    PUT_COLUMN(out, begin, double, n, view_time(p->v, v[k].from));
    PUT_COLUMN(out, begin, double, n, view_time(p->v, v[k].to));
    PUT_COLUMN(out, begin, uint32_t, n, v[k].thread);
    PUT_COLUMN(out, begin, uint32_t, n, v[k].act);
    PUT_COLUMN(out, begin, uint32_t, n,
               pack_known(mark_context(a, &v[k])->lock.v, a->locks.n_objects));
    PUT_COLUMN(out, begin, uint32_t, n, pack_known(mark_context(a, &v[k])->stack.v, t->n_stacks));
    PUT_COLUMN(out, begin, uint32_t, n,
               v[k].what == MARK_CALL ? pack_known(mark_context(a, &v[k])->call.v, t->n_calls) : 0);
    PUT_COLUMN(out, begin, uint8_t, n, v[k].what);
    PUT_COLUMN(out, begin, uint8_t, n, v[k].flags);
    return 0;
}

int pack_marks(const struct packer *p, struct buf *out)
{
    const struct marks *m = marks_get(p->v);
    const struct selection all = selection_all();
    struct buf found = {0};
    if (!m)
        return -ENOMEM;
    if (m->n <= p->most)
        marks_visit(m, &all, keep, &found);
    int rc = put_marks(p, (const void *)found.p, (uint32_t)(found.len / sizeof(struct thread_mark)),
                       out);
    rc = found.oom ? -ENOMEM : rc;
    buf_fini(&found);
    return rc;
}

static uint32_t start_stack(const struct analysis *a, uint32_t thread)
{
    const struct act *act = timeline_start(&a->timeline, thread);
    return act ? pack_known(timeline_context(&a->timeline, act->context)->stack.v,
                            a->trace->n_stacks)
               : 0;
}

static double start_time(const struct packer *p, uint32_t thread)
{
    const struct act *act = timeline_start(&p->v->a->timeline, thread);
    return act ? view_time(p->v, act->time) : 0;
}

int pack_starts(const struct packer *p, struct buf *out)
{
    const struct analysis *a = p->v->a;
    size_t begin = out->len;
    uint32_t n = (uint32_t)a->threads.n;
    pack_head(n, out);
    PUT_COLUMN(out, begin, double, n, start_time(p, k));
    PUT_COLUMN(out, begin, uint32_t, n, start_stack(a, k));
    return 0;
}

int pack_still(const struct packer *p, struct buf *out)
{
    const struct stills *all = &p->v->a->halts;
    size_t begin = out->len;
    struct buf threads = {0};
    const struct still **v = calloc(all->n + 1, sizeof *v);
    uint32_t n = 0;
    for (uint32_t i = 1; v && i < all->n_lines; i++)
        for (uint32_t k = 0; k < all->lines[i].n && n < p->most; k++, n++) {
            v[n] = &all->lines[i].v[k];
            buf_put(&threads, &i, sizeof i);
        }
    int rc = v && !threads.oom ? 0 : -ENOMEM;
    if (rc == 0) {
        pack_head(n, out);
        PUT_COLUMN(out, begin, double, n, view_time(p->v, v[k]->from));
        PUT_COLUMN(out, begin, double, n, view_time(p->v, v[k]->to));
        PUT_COLUMN(out, begin, uint32_t, n, v[k]->looks);
        PUT_COLUMN(out, begin, uint32_t, n, v[k]->peer.v);
        PUT_COLUMN(out, begin, uint32_t, n, pack_known(v[k]->stack.v, p->v->a->trace->n_stacks));
        PUT_COLUMN(out, begin, uint8_t, n, v[k]->what);
        column_put(out, begin, threads.p, threads.len);
    }
    free(v);
    buf_fini(&threads);
    return rc;
}
