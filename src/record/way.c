#include "record/way.h"

#include <errno.h>
#include <sys/mman.h>

static size_t ids_bytes(const struct way *w)
{
    return ((size_t)w->keys.max + 1) * sizeof *w->ids;
}

/* Mapped, not allocated: pages that are not used cost nothing, and none stays behind in an arena of
 * the JVM's when the recording is over. */
int way_init(struct way *w, uint32_t max)
{
    w->ids = NULL;
    int rc = intern_init(&w->keys, max);
    void *p = mmap(NULL, ids_bytes(w), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return -ENOMEM;
    w->ids = p;
    return rc;
}

void way_fini(struct way *w)
{
    intern_fini(&w->keys);
    if (w->ids)
        munmap(w->ids, ids_bytes(w));
    w->ids = NULL;
}

/* relaxed: an id is there before its key can be found (intern.h), and a later one is as good */
static uint32_t id_of(const struct way *w, uint32_t number)
{
    return atomic_load_explicit(&w->ids[number], memory_order_relaxed);
}

void way_give(struct way *w, uint32_t number, uint32_t id)
{
    atomic_store_explicit(&w->ids[number], id, memory_order_relaxed);
}

uint32_t way_find(const struct way *w, struct hash128 key)
{
    return id_of(w, intern_find(&w->keys, key));
}

struct entry {
    struct way *way;
    uint32_t id;
};

static bool give(void *arg, uint32_t number)
{
    const struct entry *e = arg;
    way_give(e->way, number, e->id);
    return true;
}

uint32_t way_put(struct way *w, struct hash128 key, uint32_t id)
{
    struct entry e = {w, id};
    return id_of(w, intern_get(&w->keys, key, give, &e));
}

void way_set(struct way *w, struct hash128 key, uint32_t id)
{
    struct entry e = {w, id};
    uint32_t number = intern_get(&w->keys, key, give, &e);
    if (number)
        way_give(w, number, id);
}

uint32_t way_get(struct way *w, struct hash128 key, intern_define_fn define, void *arg)
{
    return id_of(w, intern_get(&w->keys, key, define, arg));
}
