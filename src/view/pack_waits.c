/* The waits of a pack, and what belongs to them. */
#include "base/util.h"
#include "format/codec.h"
#include "view/arrows.h"
#include "view/pack_parts.h"

#include <string.h>

/* --- lists ------------------------------------------------------------------------------------ */

/* Entries by thread. */
struct entry {
    uint64_t from, to;
    uint32_t thread, number, other; /* what these are, the section says */
    uint8_t kind;
};

static const struct entry *entries(const struct buf *b)
{
    return (const void *)b->p;
}

static uint32_t count(const struct buf *b)
{
    return (uint32_t)(b->len / sizeof(struct entry));
}

static int finish(struct buf *b, struct buf *out)
{
    int rc = b->oom || out->oom ? -ENOMEM : 0;
    buf_fini(b);
    return rc;
}

/* --- waits ------------------------------------------------------------------------------------ */

/* A wait, and what stands before it in its thread. */
struct packed_wait {
    const struct timeline *t;
    uint32_t thread;
    const struct span *s;
    uint64_t before; /* the end of the wait before; of the first: the beginning of its life */
};

typedef uint64_t number_of(const struct packed_wait *p);

static uint64_t gap_of(const struct packed_wait *p)
{
    return zigzag((int64_t)(p->s->start - p->before));
}

static uint64_t length_of(const struct packed_wait *p)
{
    return span_len(p->t, p->s);
}

static uint64_t context_of(const struct packed_wait *p)
{
    return p->s->context;
}

static uint64_t waker_of(const struct packed_wait *p)
{
    return p->s->waker;
}

static uint64_t how_of(const struct packed_wait *p)
{
    return ((uint64_t)span_interaction(p->t, p->thread, p->s) + 1) % 16;
}

static uint64_t wake_of(const struct packed_wait *p)
{
    return zigzag((int64_t)(span_end(p->t, p->s) - span_wake_time(p->t, p->s)));
}

static const struct {
    number_of *get;
    bool woken; /* only of waits that a thread ended */
} columns[] = {
    {gap_of, false},   {length_of, false}, {context_of, false},
    {waker_of, false}, {how_of, true},     {wake_of, true},
};

/* The threads that have an entry in meta and may have waits. */
static uint32_t line_count(const struct view *v)
{
    return (uint32_t)min_u64(v->a->threads.n, v->a->timeline.n_lines);
}

static void list(const struct view *v, number_of *get, bool woken, struct buf *out)
{
    struct packed_wait p = {.t = &v->a->timeline};
    for (p.thread = 0; p.thread < line_count(v); p.thread++) {
        const struct line *l = &p.t->lines[p.thread];
        p.before = v->a->threads.v[p.thread].from;
        for (uint32_t i = 0; i < l->spans.n && !out->oom; i++) {
            p.s = line_span(l, i);
            if (!woken || p.s->waker)
                buf_put(out, &(uint64_t){get(&p)}, sizeof(uint64_t));
            p.before = span_end(p.t, p.s);
        }
    }
}

/* The waits of each thread of meta; their sum. */
static uint32_t put_counts(const struct view *v, size_t begin, struct buf *out)
{
    uint32_t n = 0, lines = line_count(v);
    pack_head(0, out);
    PUT_COLUMN(out, begin, uint32_t, v->a->threads.n,
               k < lines ? v->a->timeline.lines[k].spans.n : 0);
    for (uint32_t i = 0; i < lines; i++)
        n += v->a->timeline.lines[i].spans.n;
    return n;
}

int pack_waits(const struct packer *p, struct buf *out)
{
    size_t begin = out->len;
    struct buf numbers = {0};
    uint32_t n = put_counts(p->v, begin, out);
    int rc = 0;
    if (!out->oom)
        memcpy(out->p + begin, &n, sizeof n);
    for (size_t i = 0; i < ARRAY_LEN(columns) && rc == 0; i++) {
        list(p->v, columns[i].get, columns[i].woken, &numbers);
        rc = pack_numbers(&numbers, begin, out);
    }
    buf_fini(&numbers);
    return rc;
}

/* --- wakes ------------------------------------------------------------------------------------ */

static uint32_t wake_stack(const struct packer *p, const struct span *s)
{
    uint32_t stack = s->waker ? span_wake_stack(&p->v->a->timeline, s).v : 0;
    return stack < p->v->a->trace->n_stacks ? stack : 0;
}

/* The waits whose waker's stack is known: each one's place among all, less the one before, and the
 * stack. */
static void list_wakes(const struct packer *p, struct buf *places, struct buf *stacks)
{
    const struct timeline *t = &p->v->a->timeline;
    uint64_t before = 0, at = 0;
    for (uint32_t i = 0; i < line_count(p->v); i++)
        for (uint32_t k = 0; k < t->lines[i].spans.n; k++, at++) {
            uint64_t stack = wake_stack(p, line_span(&t->lines[i], k));
            if (!stack)
                continue;
            buf_put(places, &(uint64_t){at - before}, sizeof(uint64_t));
            buf_put(stacks, &stack, sizeof stack);
            before = at;
        }
}

int pack_wakes(const struct packer *p, struct buf *out)
{
    size_t begin = out->len;
    struct buf places = {0}, stacks = {0};
    list_wakes(p, &places, &stacks);
    pack_head((uint32_t)(places.len / sizeof(uint64_t)), out);
    int rc = pack_numbers(&places, begin, out);
    rc = rc < 0 ? rc : pack_numbers(&stacks, begin, out);
    buf_fini(&places);
    buf_fini(&stacks);
    return rc;
}

/* --- regains ---------------------------------------------------------------------------------- */

/* Where a wait stands among all, less the one before. */
static uint64_t place_of(const struct packed_wait *p)
{
    return p->before;
}

static uint64_t stack_of(const struct packed_wait *p)
{
    return span_wake_stack(p->t, p->s).v;
}

/* Of Object.waits who gave the monitor back that they took again, as of a wait who ended it. */
static uint32_t list_regains(const struct packer *p, number_of *get, struct buf *out)
{
    struct packed_wait w = {.t = &p->v->a->timeline};
    uint64_t at = 0, before = 0;
    uint32_t n = 0;
    for (; w.thread < line_count(p->v); w.thread++) {
        const struct line *l = &w.t->lines[w.thread];
        for (uint32_t i = 0; i < l->regains.n; i++) {
            const struct regain *r = run_at(&l->regains, sizeof *r, i);
            if (!r->owner)
                continue;
            struct span by = *line_span(l, r->span);
            by.waker = r->owner;
            by.cause = r->cause;
            w.s = &by;
            w.before = at + r->span - before;
            before = at + r->span;
            buf_put(out, &(uint64_t){get(&w)}, sizeof(uint64_t));
            n++;
        }
        at += l->spans.n;
    }
    return n;
}

int pack_regains(const struct packer *p, struct buf *out)
{
    static number_of *const of[] = {place_of, waker_of, how_of, wake_of, stack_of};
    size_t begin = out->len;
    struct buf numbers = {0};
    pack_head(list_regains(p, place_of, &numbers), out);
    numbers.len = 0;
    int rc = 0;
    for (size_t i = 0; i < ARRAY_LEN(of) && rc == 0; i++) {
        list_regains(p, of[i], &numbers);
        rc = pack_numbers(&numbers, begin, out);
    }
    buf_fini(&numbers);
    return rc;
}

/* --- holds ------------------------------------------------------------------------------------ */

/* When each began, less the beginning of the one before, and how long it was. */
static int put_hold_times(const struct view *v, const struct buf *b, size_t begin, struct buf *out)
{
    struct buf numbers = {0};
    uint64_t before = v->base;
    for (uint32_t i = 0; i < count(b); i++) {
        const struct entry *e = &entries(b)[i];
        buf_put(&numbers, &(uint64_t){zigzag((int64_t)(e->from - before))}, sizeof(uint64_t));
        before = e->from;
    }
    int rc = pack_numbers(&numbers, begin, out);
    for (uint32_t i = 0; i < count(b) && rc == 0; i++)
        buf_put(&numbers, &(uint64_t){entries(b)[i].to - entries(b)[i].from}, sizeof(uint64_t));
    rc = rc < 0 ? rc : pack_numbers(&numbers, begin, out);
    buf_fini(&numbers);
    return rc;
}

static int put_holds(const struct view *v, struct buf *b, struct buf *out)
{
    size_t begin = out->len;
    uint32_t n = count(b);
    pack_head(n, out);
    int rc = put_hold_times(v, b, begin, out);
    PUT_COLUMN(out, begin, uint32_t, n, entries(b)[k].thread);
    PUT_COLUMN(out, begin, uint32_t, n, entries(b)[k].number);
    PUT_COLUMN(out, begin, uint8_t, n, entries(b)[k].kind);
    int done = finish(b, out);
    return rc < 0 ? rc : done;
}

int pack_holds(const struct packer *p, struct buf *out)
{
    const struct timeline *t = &p->v->a->timeline;
    struct buf b = {0};
    size_t n_locks = p->v->a->locks.n_objects;
    for (uint32_t i = 1; i < t->n_lines; i++)
        for (uint32_t k = 0; k < t->lines[i].holds.n; k++) {
            const struct span *h = line_hold(&t->lines[i], k);
            const struct context *x = timeline_context(t, h->context);
            const struct entry e = {.from = h->start,
                                    .to = span_end(t, h),
                                    .thread = i,
                                    .number = x->lock.v < n_locks ? x->lock.v : 0,
                                    .kind = x->mode};
            buf_put(&b, &e, sizeof e);
        }
    return put_holds(p->v, &b, out);
}

/* --- acts ------------------------------------------------------------------------------------- */

static int keep_act(void *self, const struct arrow *x)
{
    const struct entry e = {
        .from = x->from_time, .to = x->to_time, .thread = x->from, .other = x->to, .kind = x->how};
    if (x->index == NO_WAIT)
        buf_put(self, &e, sizeof e);
    return 0;
}

int pack_acts(const struct packer *p, struct buf *out)
{
    struct buf b = {0};
    size_t begin = out->len;
    arrows_visit(p->v, 0, UINT64_MAX, keep_act, &b);
    uint32_t n = count(&b);
    pack_head(n, out);
    PUT_COLUMN(out, begin, double, n, view_time(p->v, entries(&b)[k].from));
    PUT_COLUMN(out, begin, double, n, view_time(p->v, entries(&b)[k].to));
    PUT_COLUMN(out, begin, uint32_t, n, entries(&b)[k].thread);
    PUT_COLUMN(out, begin, uint32_t, n, entries(&b)[k].other);
    PUT_COLUMN(out, begin, uint8_t, n, entries(&b)[k].kind);
    return finish(&b, out);
}
