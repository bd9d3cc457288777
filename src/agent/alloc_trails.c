#include "agent/alloc_trails.h"

#include "base/hash.h"

#include <stdatomic.h>
#include <stdlib.h>

/* Two slots share a set. */
enum { SETS_BITS = 6, SETS = 1 << SETS_BITS, WAYS = 2, ROOM_BYTES = 32 * 1024, THREADS_MAX = 1000 };

/* at, end: of all bytes that were ever put in; at == end: there is no trail yet. */
struct slot {
    struct trail_anchor from;
    class_id object;
    stack_id id;
    uint64_t at, end;
};

struct alloc_trails {
    struct slot slots[SETS][WAYS];
    uint8_t oldest[SETS]; /* of the ways */
    uint64_t end;
    _Alignas(uint64_t) unsigned char room[ROOM_BYTES];
};

static _Atomic uint32_t n_threads;

struct alloc_trails *alloc_trails_new(void)
{
    struct alloc_trails *t = NULL;
    if (atomic_fetch_add_explicit(&n_threads, 1, memory_order_relaxed) < THREADS_MAX)
        t = calloc(1, sizeof *t);
    if (!t)
        atomic_fetch_sub_explicit(&n_threads, 1, memory_order_relaxed);
    return t;
}

void alloc_trails_free(struct alloc_trails *t)
{
    if (t)
        atomic_fetch_sub_explicit(&n_threads, 1, memory_order_relaxed);
    free(t);
}

static uint32_t set_of(const struct alloc_here *h)
{
    enum { WORD_BITS = 64, SP_SHIFT = 20 };
    return (uint32_t)(hash_u64(h->from.pc ^ h->from.sp << SP_SHIFT ^ h->object.v) >>
                      (WORD_BITS - SETS_BITS));
}

static struct slot *slot_of(struct alloc_trails *t, const struct alloc_here *h)
{
    struct slot *ways = t->slots[set_of(h)];
    for (int i = 0; i < WAYS; i++)
        if (ways[i].from.sp == h->from.sp && ways[i].from.pc == h->from.pc &&
            ways[i].object.v == h->object.v)
            return &ways[i];
    return NULL;
}

/* A trail is in one piece: what does not fit behind the last one begins at the beginning. */
static struct trail_kept *kept(struct alloc_trails *t, const struct slot *s)
{
    bool there = s->end != s->at && t->end - s->at <= ROOM_BYTES;
    return there ? (struct trail_kept *)(void *)&t->room[s->at % ROOM_BYTES] : NULL;
}

stack_id alloc_trails_find(struct alloc_trails *t, const struct walker *w, struct alloc_here *here)
{
    struct slot *s = slot_of(t, here);
    here->again = s != NULL;
    if (!s) {
        uint32_t set = set_of(here);
        s = &t->slots[set][t->oldest[set]];
        t->oldest[set] = (uint8_t)((t->oldest[set] + 1) % WAYS);
        *s = (struct slot){.from = here->from, .object = here->object};
        return (stack_id){0};
    }
    const struct trail_kept *k = kept(t, s);
    return k && trail_holds(w, k) ? s->id : (stack_id){0};
}

void alloc_trails_put(struct alloc_trails *t, const struct alloc_here *here,
                      const struct trail *trail, stack_id id)
{
    struct slot *s = slot_of(t, here);
    size_t bytes = trail_bytes(trail);
    if (!s || !bytes || bytes > ROOM_BYTES)
        return;
    if (t->end % ROOM_BYTES + bytes > ROOM_BYTES)
        t->end += ROOM_BYTES - t->end % ROOM_BYTES;
    s->at = t->end;
    s->end = t->end += bytes;
    s->id = id;
    trail_keep(trail, kept(t, s));
}
