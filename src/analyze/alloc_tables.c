#include "analyze/alloc_tables.h"

#include "base/hash.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

/* A value of some objects of a sum: an age, a lifetime. */
struct entry {
    uint64_t value, thousandths;
    uint32_t sum;
};

/* What sites_name says of a stack: it reads line tables, and a stack is in many sums. */
struct named {
    bool known;
    struct place top, app;
};

struct maker {
    const struct analysis *a;
    const struct alloc_query *q;
    struct alloc_sums sums;
    struct buf ages, lives; /* struct entry [] */
    class_id *same_name;    /* [n_classes]: the first class of that name */
    struct named *stacks;   /* [n_stacks] */
    struct alloc_points points;
    struct buf changes;  /* int64_t [points.n], by sum */
    struct arena *arena; /* of the lists */
};

/* --- rows ------------------------------------------------------------------------------------- */

/* What makes a row; whatever the table does not tell apart is 0. */
struct row_key {
    uint32_t thread;
    class_id class_;
    struct place top, app;
};

/* Classes of one name, of several loaders, are one. */
static int name_classes(struct maker *m)
{
    const struct trace *t = m->a->trace;
    struct map by_name;
    int rc = 0;
    m->same_name = calloc(t->n_classes + 1, sizeof *m->same_name);
    m->stacks = calloc(t->n_stacks + 1, sizeof *m->stacks);
    if (!m->same_name || !m->stacks)
        return -ENOMEM;
    map_init(&by_name);
    for (uint32_t i = 1; i < t->n_classes && rc == 0; i++) {
        const char *name = t->classes[i].signature;
        for (uint64_t hash = hash_bytes(name, strlen(name), 0);; hash++) {
            uint64_t *place = map_put(&by_name, hash);
            rc = place ? 0 : -ENOMEM;
            if (place && !*place)
                *place = i;
            if (!place || strcmp(t->classes[*place].signature, name) == 0) {
                m->same_name[i].v = place ? (uint32_t)*place : 0;
                break;
            }
        }
    }
    map_fini(&by_name);
    return rc;
}

static struct row_key key_of(const struct maker *m, enum alloc_table table,
                             const struct alloc_sum_key *sum)
{
    struct row_key k = {.top.line = -1, .app.line = -1};
    if (table == ALLOC_BY_THREAD)
        k.thread = sum->thread;
    else
        k.class_ = m->same_name[sum->class_.v];
    if (table != ALLOC_BY_PLACE)
        return k;
    struct named *n = &m->stacks[sum->stack.v];
    if (!n->known)
        sites_name(m->a->trace, sum->stack, &n->top, &n->app);
    n->known = true;
    k.top = n->top;
    k.app = n->app;
    return k;
}

/* The row of a sum, appended when it is new: its index, or -ENOMEM. */
static int64_t row_of(struct buf *rows, struct map *places, const struct row_key *k,
                      const struct alloc_sum_key *sum)
{
    for (uint64_t hash = hash_bytes(k, sizeof *k, 0);; hash++) {
        uint64_t *place = map_put(places, hash);
        if (!place)
            return -ENOMEM;
        if (!*place) {
            const struct alloc_row row = {.thread = k->thread,
                                          .class_ = k->class_,
                                          .stack = sum->stack,
                                          .top = k->top,
                                          .app = k->app};
            buf_put(rows, &row, sizeof row);
            *place = rows->len / sizeof row;
        }
        if (rows->oom)
            return -ENOMEM;
        const struct alloc_row *r = &((const struct alloc_row *)(const void *)rows->p)[*place - 1];
        const struct row_key there = {r->thread, r->class_, r->top, r->app};
        if (memcmp(&there, k, sizeof there) == 0)
            return (int64_t)*place - 1;
    }
}

/* The rows of a table, with their amounts; row[]: by sum. */
static int make_rows(const struct maker *m, enum alloc_table table, struct buf *rows, uint32_t *row)
{
    struct map places;
    int64_t at = 0;
    map_init(&places);
    for (size_t i = 0; i < m->sums.n && at >= 0; i++) {
        const struct alloc_sum *s = &m->sums.v[i];
        const struct row_key k = key_of(m, table, &s->key);
        at = row_of(rows, &places, &k, &s->key);
        if (at < 0)
            break;
        struct alloc_row *r = &((struct alloc_row *)(void *)rows->p)[at];
        for (unsigned what = 0; what < ALLOC_WHATS; what++)
            alloc_amount_add(&r->of[what], &s->of[what]);
        row[i] = (uint32_t)at;
    }
    map_fini(&places);
    return at < 0 ? (int)at : 0;
}

/* --- ages and lifetimes ----------------------------------------------------------------------- */

static int put_entry(struct maker *m, struct buf *to, uint32_t thread, uint32_t context,
                     uint64_t value, uint64_t n)
{
    const struct alloc_context *x = alloc_context(&m->a->allocs, context);
    int64_t sum = alloc_sums_index(&m->sums, m->a, m->q, thread, context);
    const struct entry e = {value, n * x->thousandths, (uint32_t)sum};
    buf_put(to, &e, sizeof e);
    return sum < 0 || to->oom ? -ENOMEM : 0;
}

static int gather_lives(struct maker *m, uint32_t thread)
{
    const struct allocs *s = &m->a->allocs;
    const struct run *r = &s->lines[thread].frees[allocs_ends_source(s)];
    for (uint32_t i = 0; i < r->n; i++) {
        const struct alloc_free *f = alloc_free_at(r, i);
        if (f->time >= m->q->selection.from && f->time < m->q->selection.to)
            TRY(put_entry(m, &m->lives, thread, f->context, f->time - f->since, 1));
    }
    return 0;
}

static int gather_ages(struct maker *m, struct alloc_cells *cells, uint32_t thread)
{
    const struct selection *s = &m->q->selection;
    uint64_t pauses = allocs_pauses_before(&m->a->allocs, s->to);
    TRY(alloc_cells_make(cells, m->a, thread, s->from, s->to));
    for (size_t i = 0; i < alloc_cells_count(cells); i++) {
        const struct alloc_cell *c = alloc_cell_at(cells, i);
        uint64_t n = alloc_cell_alive(c);
        if (n && c->in_range)
            TRY(put_entry(m, &m->ages, thread, c->context, pauses - min_u64(c->epoch, pauses), n));
    }
    return 0;
}

/* Of the sum that a context belongs to. */
static int64_t *changes_of(void *self, uint32_t thread, uint32_t context)
{
    struct maker *m = self;
    int64_t sum = alloc_sums_index(&m->sums, m->a, m->q, thread, context);
    size_t need = (size_t)(sum + 1) * m->points.n * sizeof(int64_t);
    if (sum >= 0 && m->changes.len < need) {
        size_t more = need - m->changes.len;
        uint8_t *p = buf_reserve(&m->changes, more);
        if (!p)
            return NULL;
        memset(p, 0, more);
        m->changes.len = need;
    }
    return sum < 0 ? NULL : (int64_t *)(void *)m->changes.p + (size_t)sum * m->points.n;
}

static int by_value(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return (x->value > y->value) - (x->value < y->value);
}

static int gather(struct maker *m)
{
    struct alloc_cells cells;
    int rc = 0;
    alloc_cells_init(&cells);
    for (uint32_t i = 0; i < m->a->allocs.n_lines && rc == 0; i++) {
        if (!selection_has(&m->q->selection, i))
            continue;
        rc = gather_lives(m, i);
        rc = rc ? rc : gather_ages(m, &cells, i);
        if (rc == 0 && m->points.n)
            rc = alloc_survivors_add(m->a, &m->points, i, changes_of, m);
    }
    alloc_cells_fini(&cells);
    if (rc == 0 && m->ages.len)
        qsort(m->ages.p, m->ages.len / sizeof(struct entry), sizeof(struct entry), by_value);
    if (rc == 0 && m->lives.len)
        qsort(m->lives.p, m->lives.len / sizeof(struct entry), sizeof(struct entry), by_value);
    return rc;
}

static unsigned log2_bucket(uint64_t v)
{
    unsigned k = v ? 64 - (unsigned)__builtin_clzll(v) : 0;
    return k < ALLOC_LOG2 ? k : ALLOC_LOG2 - 1;
}

/* One more value of a spread, in their order; `seen`: thousandths up to it. */
static void spread_value(struct alloc_spread *s, uint64_t value, uint64_t before, uint64_t seen)
{
    const struct {
        unsigned permille;
        uint64_t *to;
    } ranks[] = {{500, &s->p50}, {900, &s->p90}, {990, &s->p99}};
    for (size_t i = 0; i < ARRAY_LEN(ranks); i++) {
        unsigned __int128 rank = (unsigned __int128)s->thousandths * ranks[i].permille;
        if ((unsigned __int128)before * 1000 < rank && (unsigned __int128)seen * 1000 >= rank)
            *ranks[i].to = value;
    }
    s->max = value;
}

static struct alloc_spread *spread_of(struct alloc_row *r, bool ages)
{
    return ages ? &r->ages : &r->lives;
}

/* row: by sum; NULL: all are of the one row. */
static int spread(const struct maker *m, struct alloc_row *rows, size_t n_rows, const uint32_t *row,
                  bool ages)
{
    const struct buf *from = ages ? &m->ages : &m->lives;
    const struct entry *e = (const void *)from->p;
    size_t n = from->len / sizeof *e;
    uint64_t *seen = calloc(n_rows + 1, sizeof *seen);
    bool done = n == 0;
    if (!seen)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        spread_of(&rows[row ? row[e[i].sum] : 0], ages)->thousandths += e[i].thousandths;
    for (size_t i = 0; i < n; i++) {
        uint32_t at = row ? row[e[i].sum] : 0;
        struct alloc_spread *s = spread_of(&rows[at], ages);
        uint64_t *log2 = (uint64_t *)s->log2; /* const for readers only */
        if (!log2)
            s->log2 = log2 = arena_alloc(m->arena, ALLOC_LOG2 * sizeof *log2);
        if (!log2)
            break;
        log2[log2_bucket(e[i].value)] += e[i].thousandths;
        spread_value(s, e[i].value, seen[at], seen[at] + e[i].thousandths);
        seen[at] += e[i].thousandths;
        done = i + 1 == n;
    }
    free(seen);
    return done ? 0 : -ENOMEM;
}

/* --- survivors -------------------------------------------------------------------------------- */

/* row: as above. */
static int survive(const struct maker *m, struct alloc_row *rows, size_t n_rows,
                   const uint32_t *row)
{
    size_t points = m->points.n, sums = points ? m->changes.len / sizeof(int64_t) / points : 0;
    int64_t *all = points ? calloc((n_rows + 1) * points, sizeof *all) : NULL;
    uint64_t *out = points ? arena_alloc(m->arena, (n_rows + 1) * points * sizeof *out) : NULL;
    for (size_t i = 0; i < sums && all; i++) {
        const int64_t *of = (const int64_t *)(const void *)m->changes.p + i * points;
        for (size_t k = 0; k < points; k++)
            all[(row ? row[i] : 0) * points + k] += of[k];
    }
    for (size_t i = 0; i < n_rows && all && out; i++) {
        alloc_survivors_sum(&m->points, all + i * points, out + i * points);
        rows[i].survivors = out + i * points;
    }
    bool failed = points && (!all || !out);
    free(all);
    return failed ? -ENOMEM : 0;
}

/* --- order ------------------------------------------------------------------------------------ */

static int compare(uint64_t x, uint64_t y)
{
    return (x < y) - (x > y);
}

static int by_bytes(const struct alloc_row *x, const struct alloc_row *y, enum alloc_what first,
                    enum alloc_what second)
{
    int c = compare(x->of[first].bytes, y->of[first].bytes);
    c = c ? c : compare(x->of[second].bytes, y->of[second].bytes);
    c = c ? c : compare(x->of[ALLOC_FREED].bytes, y->of[ALLOC_FREED].bytes);
    c = c ? c : compare(y->thread, x->thread);
    c = c ? c : compare(y->class_.v, x->class_.v);
    return c ? c : compare(y->stack.v, x->stack.v);
}

static int by_allocated(const void *a, const void *b)
{
    return by_bytes(a, b, ALLOC_ALLOCATED, ALLOC_LIVE);
}

static int by_live(const void *a, const void *b)
{
    return by_bytes(a, b, ALLOC_LIVE, ALLOC_ALLOCATED);
}

/* Without those of which nothing lies in the range. */
static size_t drop_empty(struct alloc_row *v, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t any = 0;
        for (unsigned what = 0; what < ALLOC_WHATS; what++)
            any |= v[i].of[what].bytes | v[i].of[what].thousandths;
        if (any)
            v[kept++] = v[i];
    }
    return kept;
}

/* --- all of it -------------------------------------------------------------------------------- */

static int make_table(const struct maker *m, enum alloc_table table, bool live,
                      struct alloc_list *out)
{
    struct buf rows = {0};
    uint32_t *row = calloc(m->sums.n + 1, sizeof *row);
    int rc = row ? make_rows(m, table, &rows, row) : -ENOMEM;
    struct alloc_row *v = (void *)rows.p;
    size_t n = rows.len / sizeof *v;
    rc = rc ? rc : spread(m, v, n, row, true);
    rc = rc ? rc : spread(m, v, n, row, false);
    rc = rc ? rc : survive(m, v, n, row);
    n = rc == 0 ? drop_empty(v, n) : 0;
    struct alloc_row *kept = rc == 0 ? arena_alloc(m->arena, (n + 1) * sizeof *kept) : NULL;
    if (kept && v) {
        qsort(v, n, sizeof *v, live ? by_live : by_allocated);
        memcpy(kept, v, n * sizeof *v);
    }
    *out = (struct alloc_list){kept, n};
    buf_fini(&rows);
    free(row);
    return kept ? 0 : -ENOMEM;
}

static int make(struct maker *m, struct alloc_tables *out, bool live)
{
    const struct allocs *s = &m->a->allocs;
    const struct selection *sel = &m->q->selection;
    TRY(alloc_sums_make(&m->sums, m->a, m->q));
    TRY(name_classes(m));
    if (allocs_have_ends(s)) {
        alloc_points_choose(&m->points, m->a, sel->from, min_u64(sel->to, m->a->window.to));
        TRY(gather(m));
    }
    out->source = allocs_source(s);
    out->ends = allocs_ends_source(s);
    out->has_ends = allocs_have_ends(s);
    out->points = m->points;
    memcpy(out->all.of, m->sums.total, sizeof out->all.of);
    out->unmatched = m->sums.unmatched;
    out->pauses = allocs_pauses_before(s, sel->to) - allocs_pauses_before(s, sel->from);
    TRY(spread(m, &out->all, 1, NULL, true));
    TRY(spread(m, &out->all, 1, NULL, false));
    TRY(survive(m, &out->all, 1, NULL));
    for (unsigned i = 0; i < ALLOC_TABLES; i++)
        TRY(make_table(m, (enum alloc_table)i, live, &out->of[i]));
    return 0;
}

int alloc_tables_make(struct alloc_tables *out, const struct analysis *a,
                      const struct selection *selection, bool live, struct arena *arena)
{
    const struct alloc_query q = {.selection = *selection, .by_thread = true};
    struct maker m = {.a = a, .q = &q, .arena = arena};
    memset(out, 0, sizeof *out);
    int rc = make(&m, out, live);
    alloc_sums_fini(&m.sums);
    buf_fini(&m.ages);
    buf_fini(&m.lives);
    buf_fini(&m.changes);
    free(m.same_name);
    free(m.stacks);
    return rc;
}
