#include "record/intern.h"

#include <errno.h>
#include <stdlib.h>

enum { FIRST_CAP = 4096 };

struct slot {
    uint64_t lo, hi;
    _Atomic uint32_t id; /* 0: free; stored with release after the key */
};

struct intern_table {
    struct intern_table *older;
    size_t cap; /* a power of two; at most 2/3 used */
    struct slot slots[];
};

static struct intern_table *new_table(size_t cap, struct intern_table *older)
{
    struct intern_table *t = calloc(1, sizeof *t + cap * sizeof(struct slot));
    if (t) {
        t->cap = cap;
        t->older = older;
    }
    return t;
}

int intern_init(struct intern *in, uint32_t max)
{
    *in = (struct intern){.max = max};
    pthread_mutex_init(&in->lock, NULL);
    struct intern_table *t = new_table(FIRST_CAP, NULL);
    atomic_store_explicit(&in->table, t, memory_order_relaxed);
    return t ? 0 : -ENOMEM;
}

void intern_fini(struct intern *in)
{
    struct intern_table *t = atomic_load_explicit(&in->table, memory_order_relaxed);
    while (t) {
        struct intern_table *older = t->older;
        free(t);
        t = older;
    }
    atomic_store_explicit(&in->table, NULL, memory_order_relaxed); /* a second fini is harmless */
    pthread_mutex_destroy(&in->lock);
}

/* The key's slot, or the free slot where it would go; *id: what the slot held. */
static struct slot *probe(struct intern_table *t, struct hash128 key, uint32_t *id)
{
    for (size_t i = key.lo & (t->cap - 1);; i = (i + 1) & (t->cap - 1)) {
        struct slot *s = &t->slots[i];
        /* acquire: pairs with put; the key of a used slot never changes */
        *id = atomic_load_explicit(&s->id, memory_order_acquire);
        if (*id == 0 || (s->lo == key.lo && s->hi == key.hi))
            return s;
    }
}

static void put(struct intern_table *t, struct hash128 key, uint32_t id)
{
    uint32_t used;
    struct slot *s = probe(t, key, &used);
    s->lo = key.lo;
    s->hi = key.hi;
    /* release: the key comes first */
    atomic_store_explicit(&s->id, id, memory_order_release);
}

uint32_t intern_find(const struct intern *in, struct hash128 key)
{
    uint32_t id;
    /* acquire: pairs with grow; the table's content comes first */
    probe(atomic_load_explicit(&in->table, memory_order_acquire), key, &id);
    return id;
}

static bool grow(struct intern *in)
{
    struct intern_table *old = atomic_load_explicit(&in->table, memory_order_relaxed);
    if (((size_t)in->n + 1) * 3 < old->cap * 2)
        return true;
    struct intern_table *t = new_table(old->cap * 2, old);
    if (!t)
        return false;
    for (size_t i = 0; i < old->cap; i++) {
        uint32_t id = atomic_load_explicit(&old->slots[i].id, memory_order_relaxed);
        if (id)
            put(t, (struct hash128){old->slots[i].lo, old->slots[i].hi}, id);
    }
    atomic_store_explicit(&in->table, t, memory_order_release);
    return true;
}

uint32_t intern_get(struct intern *in, struct hash128 key, intern_define_fn define, void *arg)
{
    uint32_t id = intern_find(in, key);
    if (id)
        return id;
    pthread_mutex_lock(&in->lock);
    id = intern_find(in, key);
    if (!id && in->n < in->max && grow(in) && define(arg, in->n + 1)) {
        id = ++in->n;
        put(atomic_load_explicit(&in->table, memory_order_relaxed), key, id);
    }
    pthread_mutex_unlock(&in->lock);
    return id;
}
