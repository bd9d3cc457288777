#include "view/arrows.h"

#include "base/hash.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

enum {
    SLOTS = 64, /* of a tile */
    SLOT_BUCKETS = VIEW_BUCKETS / SLOTS,
};

/* --- all of them ------------------------------------------------------------------------------ */

static struct arrow arrow_of_wait(const struct timeline *t, uint32_t thread, uint32_t index,
                                  bool sums)
{
    const struct span *s = line_span(&t->lines[thread], index);
    uint64_t end = span_end(t, s);
    return (struct arrow){.from_time = sums ? end : min_u64(span_wake_time(t, s), end),
                          .to_time = end,
                          .wait_ns = end - s->start,
                          .from = s->waker,
                          .to = thread,
                          .index = index,
                          .how = (uint8_t)span_interaction(t, thread, s)};
}

/* The waits of a thread that may end in a stretch: those that touch it, and one that ends where it
 * begins. */
static struct touching may_end(const struct timeline *t, const struct line *l, uint64_t from,
                               uint64_t to)
{
    return spans_touching(t, l, from ? from - 1 : 0, to);
}

/* A stretch, and the receiver of its arrows. */
struct visit {
    uint64_t from, to;
    bool sums; /* the times of the acts are not needed, and finding them takes time */
    arrow_visitor *take;
    void *self;
};

/* Visit those of a thread that end in a stretch; *next: a wait before which none does, moved on to
 * one before which none ends behind the stretch. */
static int visit_line(const struct view *v, uint32_t thread, uint32_t *next,
                      const struct visit *visit)
{
    const struct timeline *t = &v->a->timeline;
    const struct line *l = &t->lines[thread];
    for (; *next < l->spans.n; ++*next) {
        const struct span *s = line_span(l, *next);
        if (s->start >= visit->to)
            return 0;
        if (!s->waker || s->waker == thread)
            continue;
        uint64_t end = span_end(t, s);
        if (end >= visit->to)
            return 0;
        if (end < visit->from)
            continue;
        const struct arrow arrow = arrow_of_wait(t, thread, *next, visit->sums);
        TRY(visit->take(visit->self, &arrow));
    }
    return 0;
}

static int visit_starts(const struct view *v, uint64_t from, uint64_t to, arrow_visitor *visit,
                        void *self)
{
    const struct timeline *t = &v->a->timeline;
    for (uint32_t i = 1; i < t->n_lines && i < v->a->threads.n; i++) {
        const struct line *l = &t->lines[i];
        uint64_t started = v->a->threads.v[i].started;
        if (!l->starter || started < from || started >= to)
            continue;
        uint64_t called = timeline_start(t, i)->time;
        const struct arrow arrow = {.from_time = min_u64(called, started),
                                    .to_time = started,
                                    .wait_ns = started - min_u64(called, started),
                                    .from = l->starter,
                                    .to = i,
                                    .index = NO_WAIT,
                                    .how = INTERACTION_STARTS_THREAD};
        TRY(visit(self, &arrow));
    }
    return 0;
}

static int visit_tasks(const struct view *v, uint64_t from, uint64_t to, arrow_visitor *visit,
                       void *self)
{
    const struct handover *h = (const void *)v->a->bindings.handovers.p;
    size_t n = v->a->bindings.handovers.len / sizeof *h, low = 0;
    BISECT(low, n, h[low].to_time < from);
    for (; low < n && h[low].to_time < to; low++) {
        uint64_t called = min_u64(h[low].from_time, h[low].to_time);
        const struct arrow arrow = {.from_time = called,
                                    .to_time = h[low].to_time,
                                    .wait_ns = h[low].to_time - called,
                                    .from = h[low].from,
                                    .to = h[low].to,
                                    .index = NO_WAIT,
                                    .how = INTERACTION_SUBMIT};
        TRY(visit(self, &arrow));
    }
    return 0;
}

/* Of every thread the first wait that may end at `from` or behind it. */
static void find_first(const struct view *v, uint64_t from, uint32_t *next)
{
    const struct timeline *t = &v->a->timeline;
    for (uint32_t i = 1; i < t->n_lines; i++) {
        struct touching x = may_end(t, &t->lines[i], from, from + 1);
        next[i] = x.over ? x.over - 1 : x.first;
    }
}

/* arrows_visit of a stretch that goes on where the one before it ended, for sums. */
static int visit_on(const struct view *v, uint32_t *next, uint64_t from, uint64_t to,
                    arrow_visitor *visit, void *self)
{
    const struct visit stretch = {from, to, true, visit, self};
    for (uint32_t i = 1; i < v->a->timeline.n_lines; i++)
        TRY(visit_line(v, i, &next[i], &stretch));
    TRY(visit_starts(v, from, to, visit, self));
    return visit_tasks(v, from, to, visit, self);
}

int arrows_visit(const struct view *v, uint64_t from, uint64_t to, arrow_visitor *visit, void *self)
{
    const struct timeline *t = &v->a->timeline;
    const struct visit stretch = {from, to, false, visit, self};
    for (uint32_t i = 1; i < t->n_lines; i++) {
        struct touching x = may_end(t, &t->lines[i], from, to);
        uint32_t next = x.over ? x.over - 1 : x.first;
        TRY(visit_line(v, i, &next, &stretch));
    }
    TRY(visit_starts(v, from, to, visit, self));
    return visit_tasks(v, from, to, visit, self);
}

/* --- one by one ------------------------------------------------------------------------------- */

struct few {
    struct arrow v[VIEW_ARROWS_MAX];
    uint32_t n;
};

enum { TOO_MANY = -E2BIG };

static int keep(void *self, const struct arrow *x)
{
    struct few *f = self;
    if (f->n == VIEW_ARROWS_MAX)
        return TOO_MANY;
    f->v[f->n++] = *x;
    return 0;
}

static int by_effect(const void *a, const void *b)
{
    const struct arrow *x = a, *y = b;
    if (x->to_time != y->to_time)
        return x->to_time < y->to_time ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static void put_head(uint32_t kind, uint32_t n, uint64_t left_out, struct buf *out)
{
    const uint32_t head[] = {ARROWS_MAGIC, kind, n, (uint32_t)min_u64(left_out, UINT32_MAX)};
    buf_put(out, head, sizeof head);
}

static void put_few(const struct view *v, struct few *f, struct buf *out)
{
    size_t begin = out->len;
    qsort(f->v, f->n, sizeof *f->v, by_effect);
    put_head(0, f->n, 0, out);
    PUT_COLUMN(out, begin, double, f->n, view_time(v, f->v[k].from_time));
    PUT_COLUMN(out, begin, double, f->n, view_time(v, f->v[k].to_time));
    PUT_COLUMN(out, begin, uint32_t, f->n, f->v[k].from);
    PUT_COLUMN(out, begin, uint32_t, f->n, f->v[k].to);
    PUT_COLUMN(out, begin, uint32_t, f->n, f->v[k].index);
    PUT_COLUMN(out, begin, uint8_t, f->n, f->v[k].how);
}

/* --- bundles ---------------------------------------------------------------------------------- */

struct bundle {
    uint64_t wait_ns;
    uint32_t from, to, count; /* count 0: an empty place */
    uint8_t slot, how;
};

/* Those of one slot: open addressing, linear probing, at most half full. */
struct bundles {
    struct bundle *v;
    size_t n, cap;
    uint8_t slot;
};

static uint64_t bundle_hash(const struct bundle *b)
{
    return hash_u64(((uint64_t)b->from << 32 | b->to) + b->how * UINT64_C(0x9e3779b97f4a7c15));
}

static struct bundle *bundle_place(const struct bundles *s, const struct bundle *b)
{
    for (size_t at = bundle_hash(b) & (s->cap - 1);; at = (at + 1) & (s->cap - 1)) {
        struct bundle *p = &s->v[at];
        if (!p->count || (p->from == b->from && p->to == b->to && p->how == b->how))
            return p;
    }
}

static int bundles_grow(struct bundles *s)
{
    struct bundles more = *s;
    more.cap = s->cap ? s->cap * 2 : 256;
    more.v = calloc(more.cap, sizeof *more.v);
    if (!more.v)
        return -ENOMEM;
    for (size_t i = 0; i < s->cap; i++)
        if (s->v[i].count)
            *bundle_place(&more, &s->v[i]) = s->v[i];
    free(s->v);
    *s = more;
    return 0;
}

static int bundle_add(struct bundles *s, const struct bundle *b)
{
    if (s->n * 2 >= s->cap)
        TRY(bundles_grow(s));
    struct bundle *p = bundle_place(s, b);
    s->n += p->count == 0;
    uint64_t ns = p->wait_ns + b->wait_ns;
    uint32_t count = p->count + b->count;
    *p = *b;
    p->wait_ns = ns;
    p->count = count;
    return 0;
}

static int bundle_arrow(void *self, const struct arrow *x)
{
    struct bundles *s = self;
    const struct bundle b = {.wait_ns = x->wait_ns,
                             .from = x->from,
                             .to = x->to,
                             .count = 1,
                             .slot = s->slot,
                             .how = x->how};
    return bundle_add(s, &b);
}

static void bundles_clear(struct bundles *s)
{
    if (s->n)
        memset(s->v, 0, s->cap * sizeof *s->v);
    s->n = 0;
}

/* Heaviest first. */
static int by_weight(const void *a, const void *b)
{
    const struct bundle *x = a, *y = b;
    if (x->wait_ns != y->wait_ns)
        return x->wait_ns > y->wait_ns ? -1 : 1;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    if (x->slot != y->slot)
        return x->slot < y->slot ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->how > y->how) - (x->how < y->how);
}

/* Restore the heap below i: the lightest one is at its top. */
static void sift(struct bundle *heap, uint32_t n, uint32_t i)
{
    for (uint32_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && by_weight(&heap[child + 1], &heap[child]) > 0)
            child++;
        if (by_weight(&heap[child], &heap[i]) <= 0)
            return;
        struct bundle b = heap[i];
        heap[i] = heap[child];
        heap[child] = b;
    }
}

/* A tile of which the slots come one after another: bundles of different slots are different ones,
 * so that only the present slot's are in a table. */
struct slotted {
    struct bundles now;
    struct bundle top[VIEW_ARROWS_MAX]; /* the heaviest so far; a heap once it is full */
    uint32_t n;
    uint64_t arrows;
};

static void offer(struct slotted *t, const struct bundle *b)
{
    t->arrows += b->count;
    if (t->n < VIEW_ARROWS_MAX) {
        t->top[t->n++] = *b;
        for (uint32_t k = t->n / 2; t->n == VIEW_ARROWS_MAX && k-- > 0;)
            sift(t->top, t->n, k);
    } else if (by_weight(b, &t->top[0]) < 0) {
        t->top[0] = *b;
        sift(t->top, t->n, 0);
    }
}

/* The present slot is complete. */
static void close_slot(struct slotted *t)
{
    for (size_t i = 0; i < t->now.cap; i++)
        if (t->now.v[i].count)
            offer(t, &t->now.v[i]);
    bundles_clear(&t->now);
}

static void put_bundles(struct slotted *t, struct buf *out)
{
    const struct bundle *v = t->top;
    size_t begin = out->len;
    uint64_t told = 0;
    qsort(t->top, t->n, sizeof *t->top, by_weight);
    for (uint32_t i = 0; i < t->n; i++)
        told += v[i].count;
    put_head(1, t->n, t->arrows - told, out);
    PUT_COLUMN(out, begin, double, t->n, (double)v[k].wait_ns);
    PUT_COLUMN(out, begin, uint32_t, t->n, v[k].from);
    PUT_COLUMN(out, begin, uint32_t, t->n, v[k].to);
    PUT_COLUMN(out, begin, uint32_t, t->n, v[k].count);
    PUT_COLUMN(out, begin, uint32_t, t->n, v[k].slot);
    PUT_COLUMN(out, begin, uint8_t, t->n, v[k].how);
}

/* Collect a slot of a tile, which follows the one before it; next: [n_lines], as find_first. */
static int visit_slot(const struct view *v, uint32_t *next, const struct tile_edges *e,
                      unsigned slot, struct bundles *to)
{
    to->slot = (uint8_t)slot;
    const uint64_t *at = &e->at[(size_t)slot * SLOT_BUCKETS];
    return visit_on(v, next, at[0], at[SLOT_BUCKETS], bundle_arrow, to);
}

static int visit_slots(const struct view *v, uint32_t *next, const struct tile_edges *edges,
                       struct slotted *t)
{
    find_first(v, tile_from(edges), next);
    for (unsigned slot = 0; slot < SLOTS; slot++) {
        TRY(visit_slot(v, next, edges, slot, &t->now));
        close_slot(t);
    }
    return 0;
}

static int put_many(struct view *v, const struct tile_edges *edges, struct buf *out)
{
    struct slotted *t = calloc(1, sizeof *t);
    uint32_t *next = calloc(v->a->timeline.n_lines + 1, sizeof *next);
    int rc = t && next ? visit_slots(v, next, edges, t) : -ENOMEM;
    if (rc == 0)
        put_bundles(t, out);
    free(t ? t->now.v : NULL);
    free(t);
    free(next);
    return rc;
}

static struct cache_key key_of(unsigned level, int64_t i)
{
    return (struct cache_key){.what = 'a', .i = i, .level = level};
}

/* --- coarse tiles ----------------------------------------------------------------------------- */

enum { LEVELS_ABOVE = 2 }; /* the one at which all is in one tile */

/* Each arrow is looked at once, for the finest of them; the bundles of two slots make those of one
 * slot of the level above. */
struct pyramid {
    struct view *v;
    unsigned finest, coarsest; /* levels */
    int64_t first, last;       /* finest tiles */
    uint32_t *next;            /* of the slot to come: see visit_slot */
    struct slotted open[VIEW_LEVEL_MAX + 1];
};

static void keep_tile(struct pyramid *p, unsigned level, int64_t i)
{
    const struct cache_key key = key_of(level, i);
    struct slotted *t = &p->open[level];
    struct buf answer = {0};
    if (t->arrows > VIEW_ARROWS_MAX) { /* others are listed one by one */
        put_bundles(t, &answer);
        if (answer_end(&answer, 0) == 0)
            cache_put(&p->v->answers, &key, answer.p, answer.len);
        buf_fini(&answer);
    }
    t->n = 0;
    t->arrows = 0;
}

/* Add a slot's bundles to those of a slot of the level above. */
static int add_up(const struct bundles *from, struct bundles *to, unsigned slot)
{
    for (size_t k = 0; k < from->cap; k++) {
        struct bundle b = from->v[k];
        b.slot = (uint8_t)slot;
        if (b.count)
            TRY(bundle_add(to, &b));
    }
    return 0;
}

/* A slot of tile i of the finest level is complete, and with it perhaps those above; `end`: it is
 * the last one of all. */
static int complete(struct pyramid *p, int64_t i, unsigned slot, bool end)
{
    for (unsigned level = p->finest;; level++) {
        unsigned above = (slot + ((unsigned)i & 1) * SLOTS) / 2;
        struct slotted *t = &p->open[level];
        if (level < p->coarsest)
            TRY(add_up(&t->now, &p->open[level + 1].now, above));
        close_slot(t);
        if (slot == SLOTS - 1 || end)
            keep_tile(p, level, i);
        if (level == p->coarsest || !(slot & 1 || end))
            return 0;
        slot = above;
        i >>= 1;
    }
}

static int make_pyramid(struct pyramid *p)
{
    for (int64_t i = p->first; i <= p->last; i++) {
        struct tile_edges edges;
        TRY(tile_edges(p->v, p->finest, i, &edges));
        if (i == p->first)
            find_first(p->v, tile_from(&edges), p->next);
        for (unsigned slot = 0; slot < SLOTS; slot++) {
            TRY(visit_slot(p->v, p->next, &edges, slot, &p->open[p->finest].now));
            TRY(complete(p, i, slot, i == p->last && slot == SLOTS - 1));
        }
    }
    return 0;
}

static void choose_levels(struct pyramid *p)
{
    const struct view *v = p->v;
    const struct decode_window *w = &v->a->window;
    int64_t from = (int64_t)(w->from - v->base), to = (int64_t)(w->to - v->base);
    unsigned tile = (unsigned)__builtin_ctz(VIEW_BUCKETS); /* bits of a tile's length */
    while (p->finest < VIEW_LEVEL_MAX &&
           v->a->timeline.n_spans / v->coarse_waits < (uint64_t)(to - from) >> (p->finest + tile))
        p->finest++;
    p->first = from >> (p->finest + tile);
    p->last = to >> (p->finest + tile);
    unsigned level = p->finest;
    for (int64_t a = p->first, b = p->last; a != b && !(a == -1 && b == 0); a >>= 1, b >>= 1)
        level++;
    p->coarsest = (unsigned)min_u64(level + LEVELS_ABOVE, VIEW_LEVEL_MAX);
}

void arrows_prepare(struct view *v)
{
    struct pyramid *p = calloc(1, sizeof *p);
    if (!p)
        return;
    p->v = v;
    choose_levels(p);
    p->next = calloc(v->a->timeline.n_lines + 1, sizeof *p->next);
    if (p->next)
        make_pyramid(p);
    free(p->next);
    for (unsigned i = 0; i <= VIEW_LEVEL_MAX; i++)
        free(p->open[i].now.v);
    free(p);
}

/* --- the answer ------------------------------------------------------------------------------- */

static int put_arrows(struct view *v, unsigned level, int64_t i, struct buf *out)
{
    struct tile_edges edges;
    struct few few;
    few.n = 0;
    TRY(tile_edges(v, level, i, &edges));
    int rc = arrows_visit(v, tile_from(&edges), tile_to(&edges), keep, &few);
    if (rc == 0)
        put_few(v, &few, out);
    return rc == TOO_MANY ? put_many(v, &edges, out) : rc;
}

int view_arrows(struct view *v, unsigned level, int64_t i, struct buf *out)
{
    const struct cache_key key = key_of(level, i);
    size_t begin = out->len;
    if (cache_get(&v->answers, &key, out))
        return answer_end(out, begin);
    int rc = put_arrows(v, level, i, out);
    rc = rc == 0 ? answer_end(out, begin) : rc;
    if (rc < 0)
        out->len = begin;
    else
        cache_put(&v->answers, &key, out->p + begin, out->len - begin);
    return rc;
}
