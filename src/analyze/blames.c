#include "analyze/blames.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

struct blame_cell {
    uint32_t group, waiter, owner;
    uint32_t state;        /* BLOCKED or WAITING */
    struct site_stats sum; /* count 0: an empty cell */
};

enum { CELLS_LEAST = 1024 };

void blames_init(struct blames *b, const struct lock_set *l, struct arena *a)
{
    memset(b, 0, sizeof *b);
    b->arena = a;
    b->locks = l;
}

void blames_fini(struct blames *b)
{
    free(b->cells);
    memset(b, 0, sizeof *b);
}

/* Multiplicative hashing (Knuth): the upper bits of the product depend on all bits of the key. */
static size_t place_of(const struct blames *b, const struct blame_cell *key)
{
    uint64_t h = ((uint64_t)key->waiter << 32 | key->owner) ^ (uint64_t)key->group << 20 ^
                 (uint64_t)key->state << 17;
    return (size_t)(h * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (b->cap - 1);
}

static struct blame_cell *probe(const struct blames *b, const struct blame_cell *key, size_t at)
{
    for (;; at = (at + 1) & (b->cap - 1)) {
        struct blame_cell *c = &b->cells[at];
        if (c->sum.count == 0 || memcmp(c, key, offsetof(struct blame_cell, sum)) == 0)
            return c;
    }
}

/* Make room for `more` new cells. */
static int reserve(struct blames *b, size_t more)
{
    struct blames bigger = *b;
    while ((b->len + more) * 10 > bigger.cap * 7)
        bigger.cap = bigger.cap ? bigger.cap * 2 : CELLS_LEAST;
    if (bigger.cap == b->cap)
        return 0;
    bigger.cells = calloc(bigger.cap, sizeof *bigger.cells);
    if (!bigger.cells)
        return -ENOMEM;
    for (size_t i = 0; i < b->cap; i++)
        if (b->cells[i].sum.count)
            *probe(&bigger, &b->cells[i], place_of(&bigger, &b->cells[i])) = b->cells[i];
    free(b->cells);
    *b = bigger;
    return 0;
}

static void add(struct site_stats *to, const struct site_stats *more)
{
    to->count += more->count;
    to->ns += more->ns;
    to->max = max_u64(to->max, more->max);
}

static bool is_counted(const struct interval *iv)
{
    return (iv->state == STATE_BLOCKED || iv->state == STATE_WAITING) &&
           !(iv->flags & INTERVAL_REACQUIRED);
}

int blames_take(void *self, const struct interval *v, size_t n)
{
    struct blames *b = self;
    struct blame_cell key[INTERVAL_BATCH];
    size_t at[INTERVAL_BATCH], used = 0;
    TRY(reserve(b, n));
    for (size_t i = 0; i < n; i++) {
        if (!is_counted(&v[i]))
            continue;
        struct blame_cell *k = &key[used];
        *k = (struct blame_cell){.group = lock_set_object(b->locks, v[i].lock)->group,
                                 .waiter = v[i].thread,
                                 .owner = v[i].other,
                                 .state = v[i].state,
                                 .sum = {1, v[i].ns, v[i].ns}};
        at[used] = place_of(b, k);
        __builtin_prefetch(&b->cells[at[used++]], 1);
    }
    for (size_t i = 0; i < used; i++) {
        struct blame_cell *c = probe(b, &key[i], at[i]);
        if (c->sum.count) {
            add(&c->sum, &key[i].sum);
        } else {
            *c = key[i];
            b->len++;
        }
    }
    return 0;
}

/* --- adding up -------------------------------------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
    const struct blame *x = a, *y = b;
    if (x->blocked.ns != y->blocked.ns)
        return x->blocked.ns < y->blocked.ns ? 1 : -1;
    if (x->waited.ns != y->waited.ns)
        return x->waited.ns < y->waited.ns ? 1 : -1;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->waiter != y->waiter)
        return x->waiter < y->waiter ? -1 : 1;
    return (x->owner > y->owner) - (x->owner < y->owner);
}

/* The entry of the list with the same three keys, or a new one. */
static struct blame *find_or_append(struct blame *list, size_t *n, const struct blame *want,
                                    struct map *known)
{
    const uint32_t id[] = {want->group, want->waiter, want->owner};
    for (uint64_t key = hash_bytes(id, sizeof id, 0);; key++) {
        uint64_t *place = map_put(known, key);
        if (!place)
            return NULL;
        if (*place == 0) {
            list[*n] = *want;
            *place = ++*n;
        }
        struct blame *x = &list[*place - 1];
        if (x->group == want->group && x->waiter == want->waiter && x->owner == want->owner)
            return x;
    }
}

static int add_up(const struct blames *b, uint32_t group, unsigned keys, struct blame *list,
                  size_t *n)
{
    struct map known;
    int rc = 0;
    map_init(&known);
    for (size_t i = 0; i < b->cap && rc == 0; i++) {
        const struct blame_cell *c = &b->cells[i];
        if (c->sum.count == 0 || (group != EVERY_CLASS && c->group != group))
            continue;
        struct blame want = {.group = keys & BLAME_BY_GROUP ? c->group : EVERY_CLASS,
                             .waiter = keys & BLAME_BY_WAITER ? c->waiter : BLAME_ANY,
                             .owner = keys & BLAME_BY_OWNER ? c->owner : BLAME_ANY};
        struct blame *to = find_or_append(list, n, &want, &known);
        if (to)
            add(c->state == STATE_BLOCKED ? &to->blocked : &to->waited, &c->sum);
        else
            rc = -ENOMEM;
    }
    map_fini(&known);
    return rc;
}

int blames_list(struct blames *b, uint32_t group, unsigned keys, const struct blame **out,
                size_t *n)
{
    if (group == EVERY_CLASS && b->lists[keys].v) {
        *out = b->lists[keys].v;
        *n = b->lists[keys].n;
        return 0;
    }
    struct blame *list = arena_alloc(b->arena, b->len * sizeof *list);
    *n = 0;
    if (!list)
        return -ENOMEM;
    TRY(add_up(b, group, keys, list, n));
    qsort(list, *n, sizeof *list, by_time);
    *out = list;
    if (group == EVERY_CLASS) {
        b->lists[keys].v = list;
        b->lists[keys].n = *n;
    }
    return 0;
}
