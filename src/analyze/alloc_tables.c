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

/* The names that sites_name gives for a stack. */
struct stack_name {
    struct place top, app;
};

/* The thread and pair whose amount was the first of a row. */
struct first {
    uint32_t thread, pair;
};

enum { AGES, LIVES, SPREADS };

/* A table in the making: lists by row.  Each list is only as long as needed, because there may be
 * millions of rows, and most have amounts of one kind. */
struct part {
    uint32_t *row;     /* by thread, class or pair, as the table is: 1 + index; 0: none yet */
    struct buf firsts; /* struct first [], of all rows */
    struct buf of[ALLOC_WHATS];           /* struct alloc_amount [] */
    struct buf changes;                   /* int64_t [points.n] [] */
    struct alloc_spread *spread[SPREADS]; /* NULL: there are no values */
};

struct maker {
    const struct analysis *a;
    struct selection selection;
    struct arena *arena; /* of the lists */
    struct alloc_tables *out;
    struct alloc_pairs pairs;
    struct part of[ALLOC_TABLES];
    struct buf values[SPREADS]; /* struct entry [] */
    struct buf changes;         /* int64_t [points.n]: of all */
    class_id *same_name;        /* [n_classes]: the first class of that name */
    uint32_t *named;            /* [n_stacks]: 1 + index into names; 0: not yet */
    struct keyed names;         /* struct stack_name */
    struct map places;          /* class and name of a stack -> 1 + row */
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
        for (uint64_t hash = hash_place(name, strlen(name), 0);; hash++) {
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

/* Line tables are read for that, and a stack is in many pairs.  In the order of the stacks, as they
 * lie in memory. */
static int name_stacks(struct maker *m)
{
    m->named = calloc(m->a->trace->n_stacks + 1, sizeof *m->named);
    if (!m->named)
        return -ENOMEM;
    for (size_t i = 0; i < m->pairs.n; i++)
        m->named[m->pairs.v[i].stack.v] = 1; /* wanted */
    for (uint32_t i = 0; i < m->a->trace->n_stacks; i++) {
        struct stack_name x;
        if (!m->named[i])
            continue;
        sites_name(m->a->trace, (stack_id){i}, &x.top, &x.app);
        const struct stack_name *name = keyed_put(&m->names, &x);
        if (!name)
            return -ENOMEM;
        m->named[i] = (uint32_t)(name - (const struct stack_name *)m->names.v);
    }
    return 0;
}

static size_t count_rows(const struct part *t)
{
    return t->firsts.len / sizeof(struct first);
}

static const struct first *first_of(const struct part *t, size_t row)
{
    return &((const struct first *)(const void *)t->firsts.p)[row];
}

/* Entry i of a list, zeroed where it is new; NULL: memory is out. */
static void *reach(struct buf *b, size_t i, size_t size)
{
    size_t need = (i + 1) * size;
    if (b->len < need) {
        size_t more = max_u64(need - b->len, b->len / 2);
        uint8_t *p = buf_reserve(b, more);
        if (!p)
            return NULL;
        memset(p, 0, more);
        b->len += more;
    }
    return b->p + i * size;
}

static struct alloc_amount amount_of(const struct part *t, enum alloc_what what, size_t row)
{
    const struct alloc_amount *v = (const void *)t->of[what].p, none = {0, 0, 0};
    return row < t->of[what].len / sizeof *v ? v[row] : none;
}

static int add_row(struct part *t, uint32_t thread, uint32_t pair, uint32_t *at)
{
    const struct first x = {thread, pair};
    buf_put(&t->firsts, &x, sizeof x);
    *at = (uint32_t)count_rows(t);
    return t->firsts.oom ? -ENOMEM : 0;
}

/* Several pairs may have one call site, or none, so they share a row. */
static int add_place(struct maker *m, uint32_t thread, uint32_t pair, uint32_t *at)
{
    const struct alloc_pair *x = &m->pairs.v[pair];
    uint64_t class_ = m->same_name[x->class_.v].v;
    uint64_t *place = map_put(&m->places, class_ << 32 | m->named[x->stack.v]);
    if (!place)
        return -ENOMEM;
    if (!*place) {
        TRY(add_row(&m->of[ALLOC_BY_PLACE], thread, pair, at));
        *place = *at;
    }
    *at = (uint32_t)*place;
    return 0;
}

/* The cell that holds the row of a pair, or of a thread, in a table. */
static uint32_t *row_at(const struct maker *m, enum alloc_table table, uint32_t thread,
                        uint32_t pair)
{
    uint32_t *row = m->of[table].row;
    if (table == ALLOC_BY_THREAD)
        return &row[thread];
    return &row[table == ALLOC_BY_CLASS ? m->same_name[m->pairs.v[pair].class_.v].v : pair];
}

/* The row of a pair of a thread, made when it is new: its index, or -ENOMEM. */
static int64_t row_of(struct maker *m, enum alloc_table table, uint32_t thread, uint32_t pair)
{
    uint32_t *at = row_at(m, table, thread, pair);
    int rc = 0;
    if (!*at)
        rc = table == ALLOC_BY_PLACE ? add_place(m, thread, pair, at)
                                     : add_row(&m->of[table], thread, pair, at);
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
        struct alloc_amount *to =
            row < 0 ? NULL : reach(&m->of[i].of[p->what], (size_t)row, sizeof *to);
        if (!to)
            return -ENOMEM;
        alloc_amount_add(to, &p->amount);
    }
    if (p->what == ALLOC_KEPT)
        return put_entry(&m->values[AGES], p, pair);
    return p->what == ALLOC_FREED || p->what == ALLOC_EARLIER
               ? put_entry(&m->values[LIVES], p, pair)
               : 0;
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

/* The spread of an entry's row among those of a table; of all there is one. */
static size_t row_of_entry(const struct maker *m, const struct part *t, const struct entry *e)
{
    return t ? *row_at(m, (enum alloc_table)(t - m->of), e->thread, e->pair) - 1 : 0;
}

/* s, seen: [rows], zeroed; t NULL: of all. */
static int spread_values(const struct maker *m, const struct part *t, const struct buf *values,
                         struct alloc_spread *s, uint64_t *seen)
{
    const struct entry *e = (const void *)values->p;
    size_t n = values->len / sizeof *e;
    for (size_t i = 0; i < n; i++)
        count_value(&s[row_of_entry(m, t, &e[i])], &e[i]);
    for (size_t i = 0; i < n; i++) {
        size_t at = row_of_entry(m, t, &e[i]);
        uint64_t *log2 = (uint64_t *)s[at].log2; /* const for readers only */
        if (!log2)
            s[at].log2 = log2 = arena_alloc(m->arena, s[at].log2_n * sizeof *log2);
        if (!log2)
            return -ENOMEM;
        log2[log2_bucket(e[i].value) - s[at].log2_from] += e[i].thousandths;
        spread_value(&s[at], e[i].value, seen[at], seen[at] + e[i].thousandths);
        seen[at] += e[i].thousandths;
    }
    return 0;
}

static int spread(const struct maker *m, struct part *t, unsigned which)
{
    size_t n = count_rows(t);
    if (!m->values[which].len)
        return 0;
    t->spread[which] = calloc(n + 1, sizeof *t->spread[which]);
    uint64_t *seen = calloc(n + 1, sizeof *seen);
    int rc = t->spread[which] && seen
                 ? spread_values(m, t, &m->values[which], t->spread[which], seen)
                 : -ENOMEM;
    free(seen);
    return rc;
}

/* --- survivors -------------------------------------------------------------------------------- */

static int change(const struct maker *m, struct buf *changes, size_t row, size_t point,
                  int64_t bytes)
{
    int64_t *v = reach(changes, row, m->out->points.n * sizeof *v);
    if (!v)
        return -ENOMEM;
    v[point] += bytes;
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

/* All that decides, so that no row is looked at: amounts are often the same. */
struct rank {
    uint64_t bytes[3]; /* most first */
    uint32_t id[3];    /* least first */
    uint32_t row;
};

static struct alloc_row make_row(const struct maker *m, const struct part *t, size_t row)
{
    const struct first *f = first_of(t, row);
    const struct alloc_pair *pair = &m->pairs.v[f->pair];
    struct alloc_row r = {.stack = pair->stack, .top.line = -1, .app.line = -1};
    if (t == &m->of[ALLOC_BY_THREAD])
        r.thread = f->thread;
    else
        r.class_ = m->same_name[pair->class_.v];
    if (t == &m->of[ALLOC_BY_PLACE]) {
        const struct stack_name *names = (const void *)m->names.v;
        r.top = names[m->named[pair->stack.v]].top;
        r.app = names[m->named[pair->stack.v]].app;
    }
    for (unsigned what = 0; what < ALLOC_WHATS; what++)
        r.of[what] = amount_of(t, (enum alloc_what)what, row);
    if (t->spread[AGES])
        r.ages = t->spread[AGES][row];
    if (t->spread[LIVES])
        r.lives = t->spread[LIVES][row];
    return r;
}

static int by_bytes(const void *a, const void *b)
{
    const struct rank *x = a, *y = b;
    for (size_t i = 0; i < ARRAY_LEN(x->bytes); i++)
        if (x->bytes[i] != y->bytes[i])
            return x->bytes[i] < y->bytes[i] ? 1 : -1;
    for (size_t i = 0; i < ARRAY_LEN(x->id); i++)
        if (x->id[i] != y->id[i])
            return x->id[i] > y->id[i] ? 1 : -1;
    return 0;
}

static struct rank rank_of(const struct maker *m, const struct part *t, bool by_kept, size_t row)
{
    const struct first *f = first_of(t, row);
    const struct alloc_pair *pair = &m->pairs.v[f->pair];
    bool by_thread = t == &m->of[ALLOC_BY_THREAD];
    uint64_t allocated = amount_of(t, ALLOC_ALLOCATED, row).bytes;
    uint64_t kept = amount_of(t, ALLOC_KEPT, row).bytes;
    return (struct rank){.bytes = {by_kept ? kept : allocated, by_kept ? allocated : kept,
                                   amount_of(t, ALLOC_FREED, row).bytes},
                         .id = {by_thread ? f->thread : 0,
                                by_thread ? 0 : m->same_name[pair->class_.v].v, pair->stack.v},
                         .row = (uint32_t)row};
}

static bool is_empty(const struct part *t, size_t row)
{
    uint64_t any = 0;
    for (unsigned what = 0; what < ALLOC_WHATS; what++) {
        const struct alloc_amount x = amount_of(t, (enum alloc_what)what, row);
        any |= x.bytes | x.thousandths;
    }
    return !any;
}

/* The rows with amounts in the range, in order; ranks: [count_rows]. */
static size_t rank_rows(const struct maker *m, const struct part *t, bool by_kept,
                        struct rank *ranks)
{
    size_t n = 0;
    for (size_t i = 0; i < count_rows(t); i++)
        if (!is_empty(t, i))
            ranks[n++] = rank_of(m, t, by_kept, i);
    if (n)
        qsort(ranks, n, sizeof *ranks, by_bytes);
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
        v[i] = make_row(m, t, ranks[i].row);
        TRY(survive(m, &t->changes, &v[i], ranks[i].row));
    }
    return 0;
}

static int make_table(const struct maker *m, struct part *t, bool by_kept, struct alloc_list *out)
{
    struct rank *ranks = malloc((count_rows(t) + 1) * sizeof *ranks);
    if (!ranks)
        return -ENOMEM;
    int rc = spread(m, t, AGES);
    rc = rc ? rc : spread(m, t, LIVES);
    rc = rc ? rc : list_rows(m, t, ranks, rank_rows(m, t, by_kept, ranks), out);
    free(ranks);
    return rc;
}

static int start(struct maker *m)
{
    const struct trace *t = m->a->trace;
    TRY(alloc_pairs_init(&m->pairs, m->a));
    TRY(name_classes(m));
    TRY(name_stacks(m));
    const size_t n[ALLOC_TABLES] = {[ALLOC_BY_CLASS] = t->n_classes,
                                    [ALLOC_BY_PLACE] = m->pairs.n,
                                    [ALLOC_BY_THREAD] = m->a->allocs.n_lines};
    for (unsigned i = 0; i < ALLOC_TABLES; i++) {
        m->of[i].row = calloc(n[i] + 1, sizeof *m->of[i].row);
        if (!m->of[i].row)
            return -ENOMEM;
    }
    return 0;
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

static int make(struct maker *m, bool by_kept)
{
    const struct allocs *s = &m->a->allocs;
    const struct selection *sel = &m->selection;
    struct alloc_tables *out = m->out;
    TRY(start(m));
    TRY(alloc_visit(m->a, sel, add_part, m, &out->unmatched));
    if (allocs_have_ends(s))
        TRY(gather_survivors(m));
    for (unsigned i = 0; i < SPREADS; i++)
        TRY(sort_entries(&m->values[i]));
    out->source = allocs_source(s);
    out->ends = allocs_ends_source(s);
    out->has_ends = allocs_have_ends(s);
    if (out->has_ends)
        out->whole = whole_gc_before(&s->wholes, min_u64(sel->to, m->a->window.to));
    out->pauses = allocs_pauses_before(s, sel->to) - allocs_pauses_before(s, sel->from);
    uint64_t seen[SPREADS] = {0};
    TRY(spread_values(m, NULL, &m->values[AGES], &out->all.ages, &seen[AGES]));
    TRY(spread_values(m, NULL, &m->values[LIVES], &out->all.lives, &seen[LIVES]));
    TRY(survive(m, &m->changes, &out->all, 0));
    for (unsigned i = 0; i < ALLOC_TABLES; i++)
        TRY(make_table(m, &m->of[i], by_kept, &out->of[i]));
    return 0;
}

static void part_fini(struct part *t)
{
    for (unsigned i = 0; i < ALLOC_WHATS; i++)
        buf_fini(&t->of[i]);
    for (unsigned i = 0; i < SPREADS; i++)
        free(t->spread[i]);
    buf_fini(&t->firsts);
    buf_fini(&t->changes);
    free(t->row);
}

int alloc_tables_make(struct alloc_tables *out, const struct analysis *a,
                      const struct selection *selection, bool by_kept, struct arena *arena)
{
    struct maker m = {.a = a, .selection = *selection, .arena = arena, .out = out};
    memset(out, 0, sizeof *out);
    keyed_init(&m.names, sizeof(struct stack_name), sizeof(struct stack_name));
    map_init(&m.places);
    int rc = make(&m, by_kept);
    alloc_pairs_fini(&m.pairs);
    for (unsigned i = 0; i < ALLOC_TABLES; i++)
        part_fini(&m.of[i]);
    for (unsigned i = 0; i < SPREADS; i++)
        buf_fini(&m.values[i]);
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
