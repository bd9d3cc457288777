#include "analyze/alloc_tables.h"

#include "analyze/alloc_pairs.h"
#include "analyze/time_sort.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/keyed.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

/* A value of some objects: an age, a lifetime. */
struct entry {
    uint64_t value, thousandths;
    uint32_t thread, pair;
};

/* What sites_name says of a stack. */
struct stack_name {
    struct place top, app;
};

/* A table on its way. */
struct part {
    struct buf rows;    /* struct alloc_row [] */
    struct buf changes; /* int64_t [points.n], by row */
    uint32_t *row;      /* by thread, class or pair, as the table is: 1 + index; 0: none yet */
};

struct maker {
    const struct analysis *a;
    struct selection selection;
    struct arena *arena; /* of the lists */
    struct alloc_tables *out;
    struct alloc_pairs pairs;
    struct part of[ALLOC_TABLES];
    struct buf ages, lives; /* struct entry [] */
    struct buf changes;     /* int64_t [points.n]: of all */
    class_id *same_name;    /* [n_classes]: the first class of that name */
    uint32_t *named;        /* [n_stacks]: 1 + index into names; 0: not yet */
    struct keyed names;     /* struct stack_name */
    struct map places;      /* class and name of a stack -> 1 + row */
};

/* --- rows ------------------------------------------------------------------------------------- */

/* Classes of one name, of several loaders, are one. */
static int name_classes(struct maker *m)
{
    const struct trace *t = m->a->trace;
    struct map by_name;
    int rc = 0;
    m->same_name = calloc(t->n_classes + 1, sizeof *m->same_name);
    if (!m->same_name)
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

/* Line tables are read for that, and a stack is in many pairs.  -ENOMEM. */
static int64_t name_of(struct maker *m, stack_id stack)
{
    uint32_t *known = &m->named[stack.v];
    if (!*known) {
        struct stack_name x;
        sites_name(m->a->trace, stack, &x.top, &x.app);
        const struct stack_name *name = keyed_put(&m->names, &x);
        if (!name)
            return -ENOMEM;
        *known = (uint32_t)(name - (const struct stack_name *)m->names.v) + 1;
    }
    return *known - 1;
}

static struct alloc_row *rows_of(const struct part *t)
{
    return (void *)t->rows.p;
}

static size_t count_rows(const struct part *t)
{
    return t->rows.len / sizeof(struct alloc_row);
}

static int add_row(struct part *t, const struct alloc_row *row, uint32_t *at)
{
    buf_put(&t->rows, row, sizeof *row);
    *at = (uint32_t)count_rows(t);
    return t->rows.oom ? -ENOMEM : 0;
}

/* What is allocated at one place, or in none, may be of several pairs. */
static int add_place(struct maker *m, uint32_t pair, uint32_t *at)
{
    const struct alloc_pair *x = &m->pairs.v[pair];
    class_id class_ = m->same_name[x->class_.v];
    int64_t name = name_of(m, x->stack);
    uint64_t *place =
        name < 0 ? NULL : map_put(&m->places, (uint64_t)class_.v << 32 | (uint64_t)name);
    if (!place)
        return -ENOMEM;
    if (!*place) {
        const struct stack_name *n = &((const struct stack_name *)m->names.v)[name];
        const struct alloc_row row = {
            .class_ = class_, .stack = x->stack, .top = n->top, .app = n->app};
        TRY(add_row(&m->of[ALLOC_BY_PLACE], &row, at));
        *place = *at;
    }
    *at = (uint32_t)*place;
    return 0;
}

/* The row of a pair of a thread, made when it is new: its index, or -ENOMEM. */
static int64_t row_of(struct maker *m, enum alloc_table table, uint32_t thread, uint32_t pair)
{
    struct part *t = &m->of[table];
    struct alloc_row row = {.stack = m->pairs.v[pair].stack, .top.line = -1, .app.line = -1};
    uint32_t *at = &t->row[pair];
    int rc = 0;
    if (table == ALLOC_BY_THREAD) {
        at = &t->row[thread];
        row.thread = thread;
    } else if (table == ALLOC_BY_CLASS) {
        row.class_ = m->same_name[m->pairs.v[pair].class_.v];
        at = &t->row[row.class_.v];
    }
    if (!*at)
        rc = table == ALLOC_BY_PLACE ? add_place(m, pair, at) : add_row(t, &row, at);
    return rc < 0 ? rc : (int64_t)*at - 1;
}

static int put_entry(struct buf *to, const struct alloc_part *p, uint32_t pair)
{
    const struct entry e = {p->value, p->amount.thousandths, p->thread, pair};
    buf_put(to, &e, sizeof e);
    return to->oom ? -ENOMEM : 0;
}

static int add_part(void *self, const struct alloc_part *p)
{
    struct maker *m = self;
    uint32_t pair = m->pairs.of[p->context];
    alloc_amount_add(&m->out->all.of[p->what], &p->amount);
    for (unsigned i = 0; i < ALLOC_TABLES; i++) {
        int64_t row = row_of(m, (enum alloc_table)i, p->thread, pair);
        if (row < 0)
            return (int)row;
        alloc_amount_add(&rows_of(&m->of[i])[row].of[p->what], &p->amount);
    }
    if (p->what == ALLOC_LIVE)
        return put_entry(&m->ages, p, pair);
    return p->what == ALLOC_FREED || p->what == ALLOC_EARLIER ? put_entry(&m->lives, p, pair) : 0;
}

/* --- ages and lifetimes ----------------------------------------------------------------------- */

/* By value. */
static int sort_entries(struct buf *b)
{
    const struct entry *e = (const void *)b->p;
    size_t n = b->len / sizeof *e;
    struct entry *sorted = malloc((n + 1) * sizeof *sorted);
    struct time_sort s;
    if (n > UINT32_MAX || !sorted || time_sort_init(&s, n) < 0) {
        free(sorted);
        return -ENOMEM;
    }
    for (size_t i = 0; i < n; i++)
        s.v[i] = (struct time_key){e[i].value, (uint32_t)i};
    const struct time_key *keys = time_sort(&s, n);
    for (size_t i = 0; i < n; i++)
        sorted[i] = e[keys[i].at];
    time_sort_fini(&s);
    free(b->p);
    b->p = (void *)sorted;
    b->cap = (n + 1) * sizeof *sorted;
    return 0;
}

static uint8_t log2_bucket(uint64_t v)
{
    uint8_t k = v ? (uint8_t)(64 - __builtin_clzll(v)) : 0;
    return k < 64 ? k : 63;
}

/* The first of two rounds over a row's values, in their order: how many, in which buckets. */
static void count_value(struct alloc_spread *s, const struct entry *e)
{
    uint8_t bucket = log2_bucket(e->value);
    s->log2_from = s->log2_n ? s->log2_from : bucket;
    s->log2_n = (uint8_t)(bucket - s->log2_from + 1);
    s->thousandths += e->thousandths;
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

/* The row of an entry: of all there is one. */
static size_t row_of_entry(const struct maker *m, const struct part *t, const struct entry *e)
{
    if (!t)
        return 0;
    if (t == &m->of[ALLOC_BY_THREAD])
        return t->row[e->thread] - 1;
    if (t == &m->of[ALLOC_BY_CLASS])
        return t->row[m->same_name[m->pairs.v[e->pair].class_.v].v] - 1;
    return t->row[e->pair] - 1;
}

static int spread(const struct maker *m, const struct part *t, bool ages)
{
    const struct buf *from = ages ? &m->ages : &m->lives;
    const struct entry *e = (const void *)from->p;
    struct alloc_row *rows = t ? rows_of(t) : &m->out->all;
    size_t n = from->len / sizeof *e;
    uint64_t *seen = calloc((t ? count_rows(t) : 1) + 1, sizeof *seen);
    bool done = n == 0;
    if (!seen)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        count_value(spread_of(&rows[row_of_entry(m, t, &e[i])], ages), &e[i]);
    for (size_t i = 0; i < n; i++) {
        size_t at = row_of_entry(m, t, &e[i]);
        struct alloc_spread *s = spread_of(&rows[at], ages);
        uint64_t *log2 = (uint64_t *)s->log2; /* const for readers only */
        if (!log2)
            s->log2 = log2 = arena_alloc(m->arena, s->log2_n * sizeof *log2);
        if (!log2)
            break;
        log2[log2_bucket(e[i].value) - s->log2_from] += e[i].thousandths;
        spread_value(s, e[i].value, seen[at], seen[at] + e[i].thousandths);
        seen[at] += e[i].thousandths;
        done = i + 1 == n;
    }
    free(seen);
    return done ? 0 : -ENOMEM;
}

/* --- survivors -------------------------------------------------------------------------------- */

static int change(struct maker *m, struct buf *changes, size_t row, size_t point, int64_t bytes)
{
    size_t points = m->out->points.n, need = (row + 1) * points * sizeof(int64_t);
    if (changes->len < need) {
        size_t more = need - changes->len;
        uint8_t *p = buf_reserve(changes, more);
        if (!p)
            return -ENOMEM;
        memset(p, 0, more);
        changes->len = need;
    }
    ((int64_t *)(void *)changes->p)[row * points + point] += bytes;
    return 0;
}

static int add_change(void *self, uint32_t thread, uint32_t context, size_t point, int64_t bytes)
{
    struct maker *m = self;
    uint32_t pair = m->pairs.of[context];
    for (unsigned i = 0; i < ALLOC_TABLES; i++) {
        int64_t row = row_of(m, (enum alloc_table)i, thread, pair);
        TRY((int)(row < 0 ? row : 0));
        TRY(change(m, &m->of[i].changes, (size_t)row, point, bytes));
    }
    return change(m, &m->changes, 0, point, bytes);
}

/* The changes of a row; NULL: nothing of it was there at any point. */
static const int64_t *changes_of(const struct buf *changes, size_t row, size_t points)
{
    const int64_t *v = (const int64_t *)(const void *)changes->p + row * points;
    if (changes->len < (row + 1) * points * sizeof *v)
        return NULL;
    for (size_t i = 0; i < points; i++)
        if (v[i])
            return v;
    return NULL;
}

static int survive(const struct maker *m, const struct buf *changes, struct alloc_row *r,
                   size_t row)
{
    static const uint64_t none[ALLOC_POINTS];
    size_t points = m->out->points.n;
    if (!points)
        return 0;
    const int64_t *v = changes_of(changes, row, points);
    uint64_t *out = v ? arena_alloc(m->arena, points * sizeof *out) : NULL;
    if (v && !out)
        return -ENOMEM;
    if (v)
        alloc_survivors_sum(&m->out->points, v, out);
    r->survivors = v ? out : none;
    return 0;
}

/* --- order ------------------------------------------------------------------------------------ */

/* What decides nearly always stands in the key. */
struct rank {
    uint64_t first, second;
    uint32_t row;
};

static int compare(uint64_t x, uint64_t y)
{
    return (x < y) - (x > y);
}

static int by_bytes(const void *a, const void *b, void *rows)
{
    const struct rank *x = a, *y = b;
    const struct alloc_row *r = (struct alloc_row *)rows + x->row,
                           *s = (struct alloc_row *)rows + y->row;
    int c = compare(x->first, y->first);
    c = c ? c : compare(x->second, y->second);
    c = c ? c : compare(r->of[ALLOC_FREED].bytes, s->of[ALLOC_FREED].bytes);
    c = c ? c : compare(s->thread, r->thread);
    c = c ? c : compare(s->class_.v, r->class_.v);
    return c ? c : compare(s->stack.v, r->stack.v);
}

static bool is_empty(const struct alloc_row *r)
{
    uint64_t any = 0;
    for (unsigned what = 0; what < ALLOC_WHATS; what++)
        any |= r->of[what].bytes | r->of[what].thousandths;
    return !any;
}

/* The rows of which something lies in the range, in their order; ranks: [count_rows]. */
static size_t rank_rows(const struct part *t, bool live, struct rank *ranks)
{
    struct alloc_row *rows = rows_of(t);
    enum alloc_what first = live ? ALLOC_LIVE : ALLOC_ALLOCATED;
    enum alloc_what second = live ? ALLOC_ALLOCATED : ALLOC_LIVE;
    size_t n = 0;
    for (size_t i = 0; i < count_rows(t); i++)
        if (!is_empty(&rows[i]))
            ranks[n++] =
                (struct rank){rows[i].of[first].bytes, rows[i].of[second].bytes, (uint32_t)i};
    if (n)
        qsort_r(ranks, n, sizeof *ranks, by_bytes, rows);
    return n;
}

/* --- all of it -------------------------------------------------------------------------------- */

static int list_rows(const struct maker *m, const struct part *t, const struct rank *ranks,
                     size_t n, struct alloc_list *out)
{
    struct alloc_row *v = arena_alloc(m->arena, (n + 1) * sizeof *v);
    if (!v)
        return -ENOMEM;
    *out = (struct alloc_list){v, n};
    for (size_t i = 0; i < n; i++) {
        v[i] = rows_of(t)[ranks[i].row];
        TRY(survive(m, &t->changes, &v[i], ranks[i].row));
    }
    return 0;
}

static int make_table(const struct maker *m, const struct part *t, bool live,
                      struct alloc_list *out)
{
    struct rank *ranks = malloc((count_rows(t) + 1) * sizeof *ranks);
    if (!ranks)
        return -ENOMEM;
    int rc = spread(m, t, true);
    rc = rc ? rc : spread(m, t, false);
    rc = rc ? rc : list_rows(m, t, ranks, rank_rows(t, live, ranks), out);
    free(ranks);
    return rc;
}

static int start(struct maker *m)
{
    const struct trace *t = m->a->trace;
    TRY(alloc_pairs_init(&m->pairs, m->a));
    TRY(name_classes(m));
    const size_t n[ALLOC_TABLES] = {[ALLOC_BY_CLASS] = t->n_classes,
                                    [ALLOC_BY_PLACE] = m->pairs.n,
                                    [ALLOC_BY_THREAD] = m->a->allocs.n_lines};
    m->named = calloc(t->n_stacks + 1, sizeof *m->named);
    for (unsigned i = 0; i < ALLOC_TABLES; i++) {
        m->of[i].row = calloc(n[i] + 1, sizeof *m->of[i].row);
        if (!m->of[i].row)
            return -ENOMEM;
    }
    return m->named ? 0 : -ENOMEM;
}

static int gather_survivors(struct maker *m)
{
    const struct selection *s = &m->selection;
    alloc_points_choose(&m->out->points, m->a, s->from, min_u64(s->to, m->a->window.to));
    for (uint32_t i = 0; i < m->a->allocs.n_lines && m->out->points.n; i++)
        if (selection_has(s, i))
            TRY(alloc_survivors_add(m->a, &m->out->points, i, add_change, m));
    return 0;
}

static int make(struct maker *m, bool live)
{
    const struct allocs *s = &m->a->allocs;
    const struct selection *sel = &m->selection;
    struct alloc_tables *out = m->out;
    TRY(start(m));
    TRY(alloc_visit(m->a, sel, add_part, m, &out->unmatched));
    if (allocs_have_ends(s))
        TRY(gather_survivors(m));
    TRY(sort_entries(&m->ages));
    TRY(sort_entries(&m->lives));
    out->source = allocs_source(s);
    out->ends = allocs_ends_source(s);
    out->has_ends = allocs_have_ends(s);
    out->pauses = allocs_pauses_before(s, sel->to) - allocs_pauses_before(s, sel->from);
    TRY(spread(m, NULL, true));
    TRY(spread(m, NULL, false));
    TRY(survive(m, &m->changes, &out->all, 0));
    for (unsigned i = 0; i < ALLOC_TABLES; i++)
        TRY(make_table(m, &m->of[i], live, &out->of[i]));
    return 0;
}

int alloc_tables_make(struct alloc_tables *out, const struct analysis *a,
                      const struct selection *selection, bool live, struct arena *arena)
{
    struct maker m = {.a = a, .selection = *selection, .arena = arena, .out = out};
    memset(out, 0, sizeof *out);
    keyed_init(&m.names, sizeof(struct stack_name), sizeof(struct stack_name));
    map_init(&m.places);
    int rc = make(&m, live);
    alloc_pairs_fini(&m.pairs);
    for (unsigned i = 0; i < ALLOC_TABLES; i++) {
        buf_fini(&m.of[i].rows);
        buf_fini(&m.of[i].changes);
        free(m.of[i].row);
    }
    buf_fini(&m.ages);
    buf_fini(&m.lives);
    buf_fini(&m.changes);
    free(m.same_name);
    free(m.named);
    keyed_fini(&m.names);
    map_fini(&m.places);
    return rc;
}

const struct alloc_tables *alloc_tables_whole(struct analysis *a)
{
    const struct selection all = selection_all();
    if (a->alloc_tables || !allocs_any(&a->allocs))
        return a->alloc_tables;
    struct alloc_tables *x = arena_alloc(&a->arena, sizeof *x);
    if (x && alloc_tables_make(x, a, &all, false, &a->arena) == 0)
        a->alloc_tables = x;
    return a->alloc_tables;
}
