/* The samples of a pack, how their frames were executed, and who owned locks that were wanted. */
#include "analyze/owned.h"
#include "base/util.h"
#include "format/codec.h"
#include "view/json_parts.h"
#include "view/pack_parts.h"

#include <string.h>

static bool has_samples(const struct packer *p)
{
    return p->samples && samples_any(&p->v->a->samples);
}

/* The section of a pack without samples. */
static int pack_none(struct buf *out)
{
    pack_head(0, out);
    return 0;
}

/* --- samples ---------------------------------------------------------------------------------- */

enum sample_column { COLUMN_TIME, COLUMN_WEIGHT, COLUMN_STACK, SAMPLE_COLUMNS };

static void put_list(const struct packer *p, const struct run *r, enum sample_column column,
                     struct buf *numbers)
{
    uint64_t before = p->v->base;
    for (uint32_t i = 0; i < r->n && !numbers->oom; i++) {
        const struct sample *s = sample_at(r, i);
        const uint64_t v[] = {zigzag((int64_t)(s->time - before)), s->weight,
                              trace_stack(p->v->a->trace, s->stack)->id.v};
        buf_put(numbers, &v[column], sizeof *v);
        before = s->time;
    }
}

static int put_column(const struct packer *p, enum sample_column column, size_t begin,
                      struct buf *out)
{
    const struct analysis *a = p->v->a;
    struct buf numbers = {0};
    for (unsigned kind = 0; kind < SAMPLE_KINDS; kind++)
        for (uint32_t i = 0; i < a->threads.n; i++)
            put_list(p, samples_of(&a->samples, (enum sample_kind)kind, i), column, &numbers);
    int rc = pack_numbers(&numbers, begin, out);
    buf_fini(&numbers);
    return rc;
}

static void put_errors(const struct packer *p, size_t begin, struct buf *out)
{
    const struct analysis *a = p->v->a;
    column_pad(out, begin);
    for (unsigned kind = 0; kind < SAMPLE_KINDS; kind++)
        for (uint32_t i = 0; i < a->threads.n; i++) {
            const struct run *r = samples_of(&a->samples, (enum sample_kind)kind, i);
            for (uint32_t k = 0; k < r->n; k++)
                buf_putc(out, (char)sample_at(r, k)->error);
        }
    column_pad(out, begin);
}

int pack_samples(const struct packer *p, struct buf *out)
{
    const struct samples *s = &p->v->a->samples;
    size_t begin = out->len;
    uint32_t n = (uint32_t)p->v->a->threads.n;
    if (!has_samples(p))
        return pack_none(out);
    pack_head((uint32_t)(s->n[SAMPLE_CPU] + s->n[SAMPLE_WALL]), out);
    for (unsigned kind = 0; kind < SAMPLE_KINDS; kind++)
        PUT_COLUMN(out, begin, uint32_t, n, samples_of(s, (enum sample_kind)kind, k)->n);
    for (unsigned column = 0; column < SAMPLE_COLUMNS; column++)
        TRY(put_column(p, (enum sample_column)column, begin, out));
    put_errors(p, begin, out);
    return 0;
}

int pack_executed(const struct packer *p, struct buf *out)
{
    const struct trace *t = p->v->a->trace;
    if (!has_samples(p))
        return pack_none(out);
    size_t at = out->len;
    pack_head(0, out);
    for (uint32_t i = 0; i < t->n_stacks; i++) {
        const struct trace_stack *s = trace_stack(t, (stack_id){i});
        for (uint32_t k = 0; k < s->n_frames; k++)
            buf_putc(out, (char)executed_of(s->kinds ? s->kinds[k] : FRAMEKIND_UNKNOWN));
    }
    uint32_t n = (uint32_t)(out->len - at - 2 * sizeof n);
    if (!out->oom)
        memcpy(out->p + at, &n, sizeof n);
    return 0;
}

/* --- owners ----------------------------------------------------------------------------------- */

struct owned_stretch {
    uint64_t from, to;
    uint32_t lock, owner;
};

static int take_stretch(void *self, lock_id lock, uint32_t owner, uint64_t from, uint64_t to)
{
    struct buf *b = self;
    buf_put(b, &(struct owned_stretch){from, to, lock.v, owner}, sizeof(struct owned_stretch));
    return b->oom ? -ENOMEM : 0;
}

static int end_lock(void *self, const struct owned_lock *l)
{
    UNUSED(self);
    UNUSED(l);
    return 0;
}

static int put_stretches(const struct packer *p, const struct buf *stretches, struct buf *out)
{
    const struct owned_stretch *v = (const void *)stretches->p;
    uint32_t n = (uint32_t)(stretches->len / sizeof *v);
    size_t begin = out->len;
    struct buf from = {0}, length = {0};
    for (uint32_t i = 0; i < n; i++) {
        uint64_t before = i ? v[i - 1].from : p->v->base;
        buf_put(&from, &(uint64_t){zigzag((int64_t)(v[i].from - before))}, sizeof(uint64_t));
        buf_put(&length, &(uint64_t){v[i].to - v[i].from}, sizeof(uint64_t));
    }
    pack_head(n, out);
    int rc = pack_numbers(&from, begin, out);
    rc = rc ? rc : pack_numbers(&length, begin, out);
    PUT_COLUMN(out, begin, uint32_t, n, v[k].lock);
    PUT_COLUMN(out, begin, uint32_t, n, v[k].owner);
    buf_fini(&from);
    buf_fini(&length);
    return rc;
}

int pack_owned(const struct packer *p, struct buf *out)
{
    const struct selection all = selection_all();
    struct buf stretches = {0};
    const struct owned_visitor visitor = {take_stretch, end_lock, &stretches};
    if (!has_samples(p))
        return pack_none(out);
    int rc = owned_visit(p->v->a, &all, &visitor);
    rc = rc ? rc : put_stretches(p, &stretches, out);
    buf_fini(&stretches);
    return rc;
}
