#include "agent/alloc_counts.h"

#include "base/hash.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { FIRST_BITS = 8, LEVELS = 8 };

/* count is the last to be written of a new one.  read_*: the heap thread's, what it has had. */
struct entry {
    struct alloc_key key;
    _Atomic uint32_t version; /* odd while it is changed */
    _Atomic uint64_t count, bytes;
    uint64_t read_count, read_bytes;
};

/* Level i has room for 2^(FIRST_BITS + i) entries; a key is in one of them, and stays there. */
struct alloc_counts {
    struct entry *_Atomic levels[LEVELS];
    uint32_t used[LEVELS];
    unsigned n_levels;
    struct entry *last; /* met last: loops allocate the same again */
    _Atomic bool ended;
    struct alloc_counts *next;
};

/* The list is read by the heap thread alone, which also frees. */
static struct {
    pthread_mutex_t lock;
    struct alloc_counts *all;
} list = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct alloc_counts *alloc_counts_new(void)
{
    struct alloc_counts *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    pthread_mutex_lock(&list.lock);
    t->next = list.all;
    list.all = t;
    pthread_mutex_unlock(&list.lock);
    return t;
}

/* --- the thread's side ------------------------------------------------------------------------ */

static bool same(const struct alloc_key *a, const struct alloc_key *b)
{
    return a->stack.v == b->stack.v && a->class_.v == b->class_.v && a->thread.v == b->thread.v;
}

static uint32_t mask_of(unsigned level)
{
    return (UINT32_C(1) << (FIRST_BITS + level)) - 1;
}

/* Where the key is, or belongs; levels are never more than half full. */
static struct entry *look(struct entry *entries, unsigned level, const struct alloc_key *key,
                          uint64_t hash)
{
    uint32_t mask = mask_of(level), i = (uint32_t)hash & mask;
    while (atomic_load_explicit(&entries[i].count, memory_order_relaxed) &&
           !same(&entries[i].key, key))
        i = (i + 1) & mask;
    return &entries[i];
}

static bool add_level(struct alloc_counts *t)
{
    unsigned n = t->n_levels;
    struct entry *e = n < LEVELS ? calloc(mask_of(n) + UINT32_C(1), sizeof *e) : NULL;
    if (!e)
        return false;
    /* release: pairs with read_table */
    atomic_store_explicit(&t->levels[n], e, memory_order_release);
    t->n_levels = n + 1;
    return true;
}

static struct entry *find(struct alloc_counts *t, const struct alloc_key *key)
{
    uint64_t hash =
        hash_u64((uint64_t)key->stack.v << 32 ^ (uint64_t)key->thread.v << 20 ^ key->class_.v);
    for (unsigned i = t->n_levels; i-- > 0;) {
        struct entry *e =
            look(atomic_load_explicit(&t->levels[i], memory_order_relaxed), i, key, hash);
        if (atomic_load_explicit(&e->count, memory_order_relaxed))
            return e;
    }
    unsigned top = t->n_levels - 1;
    if (t->n_levels == 0 || t->used[top] > mask_of(top) / 2) {
        if (!add_level(t))
            return NULL;
        top = t->n_levels - 1;
    }
    t->used[top]++;
    struct entry *e =
        look(atomic_load_explicit(&t->levels[top], memory_order_relaxed), top, key, hash);
    e->key = *key;
    return e;
}

bool alloc_counts_add(struct alloc_counts *t, struct alloc_key key, uint64_t bytes)
{
    struct entry *e = t->last;
    if (!e || !same(&e->key, &key))
        e = t->last = find(t, &key);
    if (!e)
        return false;
    uint32_t version = atomic_load_explicit(&e->version, memory_order_relaxed);
    uint64_t count = atomic_load_explicit(&e->count, memory_order_relaxed);
    atomic_store_explicit(&e->version, version + 1, memory_order_relaxed);
    /* The stores in this order: the reader takes the entry when it sees the same even version
     * before and after. */
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&e->bytes, atomic_load_explicit(&e->bytes, memory_order_relaxed) + bytes,
                          memory_order_relaxed);
    atomic_store_explicit(&e->count, count + 1, memory_order_release);
    atomic_store_explicit(&e->version, version + 2, memory_order_release);
    return true;
}

void alloc_counts_end(struct alloc_counts *t)
{
    /* release: all that was counted is there; behind it the table is the reader's */
    if (t)
        atomic_store_explicit(&t->ended, true, memory_order_release);
}

/* --- the reader's ----------------------------------------------------------------------------- */

/* False: it is being changed; its time will come. */
static bool read_entry(struct entry *e, uint64_t *count, uint64_t *bytes)
{
    enum { TRIES = 16 };
    for (int i = 0; i < TRIES; i++) {
        uint32_t before = atomic_load_explicit(&e->version, memory_order_acquire);
        *count = atomic_load_explicit(&e->count, memory_order_acquire);
        *bytes = atomic_load_explicit(&e->bytes, memory_order_relaxed);
        atomic_thread_fence(memory_order_acquire);
        if (!(before & 1) && atomic_load_explicit(&e->version, memory_order_relaxed) == before)
            return true;
    }
    return false;
}

static void read_table(struct alloc_counts *t, void (*visit)(void *ctx, const struct alloc_news *n),
                       void *ctx)
{
    for (unsigned level = 0; level < LEVELS; level++) {
        struct entry *entries = atomic_load_explicit(&t->levels[level], memory_order_acquire);
        for (uint32_t i = 0; entries && i <= mask_of(level); i++) {
            struct entry *e = &entries[i];
            uint64_t count, bytes;
            if (!read_entry(e, &count, &bytes) || count == e->read_count)
                continue;
            struct alloc_news n = {e->key, count - e->read_count, bytes - e->read_bytes};
            e->read_count = count;
            e->read_bytes = bytes;
            visit(ctx, &n);
        }
    }
}

static void free_table(struct alloc_counts *t)
{
    for (unsigned i = 0; i < LEVELS; i++)
        free(atomic_load_explicit(&t->levels[i], memory_order_relaxed));
    free(t);
}

/* The first one, and the list as of now: those that are added later stand before it. */
static struct alloc_counts *first(void)
{
    pthread_mutex_lock(&list.lock);
    struct alloc_counts *t = list.all;
    pthread_mutex_unlock(&list.lock);
    return t;
}

static void take_out(struct alloc_counts *t)
{
    pthread_mutex_lock(&list.lock);
    struct alloc_counts **at = &list.all;
    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    pthread_mutex_unlock(&list.lock);
    free_table(t);
}

void alloc_counts_news(void (*visit)(void *ctx, const struct alloc_news *n), void *ctx)
{
    for (struct alloc_counts *t = first(), *next; t; t = next) {
        next = t->next;
        /* acquire: pairs with alloc_counts_end */
        bool ended = atomic_load_explicit(&t->ended, memory_order_acquire);
        read_table(t, visit, ctx);
        if (ended)
            take_out(t);
    }
}

void alloc_counts_free(void)
{
    for (struct alloc_counts *t = list.all, *next; t; t = next) {
        next = t->next;
        free_table(t);
    }
    list.all = NULL;
}
