#include "agent/trails.h"

#include "base/hash.h"

#include <stdatomic.h>
#include <stdlib.h>

/* Slots of one set have the same hash; one place may have several, with stacks that differ further
 * out. */
enum { SETS_BITS = 5, SETS = 1 << SETS_BITS, WAYS = 4, ROOM_BYTES = 32 * 1024, THREADS_MAX = 1000 };

enum { TRIES = 16 }; /* number of times in a row that a trail is made each time */

/* at, end: of all bytes that were ever put in; at == end: no trail yet. */
struct slot {
    struct trail_anchor from;
    uint64_t what;
    stack_id id;
    uint32_t missed; /* so often since it held */
    uint64_t at, end;
};

struct trails {
    struct slot slots[SETS][WAYS];
    uint8_t oldest[SETS]; /* of the ways */
    uint64_t end;
    _Alignas(uint64_t) unsigned char room[ROOM_BYTES];
};

static _Atomic uint32_t n_threads;

struct trails *trails_new(void)
{
    struct trails *t = NULL;
    if (atomic_fetch_add_explicit(&n_threads, 1, memory_order_relaxed) < THREADS_MAX)
        t = calloc(1, sizeof *t);
    if (!t)
        atomic_fetch_sub_explicit(&n_threads, 1, memory_order_relaxed);
    return t;
}

void trails_free(struct trails *t)
{
    if (t)
        atomic_fetch_sub_explicit(&n_threads, 1, memory_order_relaxed);
    free(t);
}

static uint32_t set_of(const struct trail_place *h)
{
    enum { WORD_BITS = 64, SP_SHIFT = 20 };
    return (uint32_t)(hash_u64(h->from.pc ^ h->from.sp << SP_SHIFT ^ h->what) >>
                      (WORD_BITS - SETS_BITS));
}

static bool is_of(const struct slot *s, const struct trail_place *h)
{
    return s->from.sp == h->from.sp && s->from.pc == h->from.pc && s->what == h->what;
}

/* A trail is in one piece: what does not fit behind the last one begins at the beginning. */
static struct trail_kept *kept(struct trails *t, const struct slot *s)
{
    bool there = s->end != s->at && t->end - s->at <= ROOM_BYTES;
    return there ? (struct trail_kept *)(void *)&t->room[s->at % ROOM_BYTES] : NULL;
}

/* Where the trail of this place goes: its own slot, or the one that was filled longest ago. */
static struct slot *slot_for(struct trails *t, const struct trail_place *here)
{
    uint32_t set = set_of(here);
    struct slot *ways = t->slots[set], *next = &ways[t->oldest[set]];
    for (int i = 0; i < WAYS; i++)
        if (is_of(&ways[i], here) && ways[i].at == ways[i].end)
            return &ways[i];
    t->oldest[set] = (uint8_t)((t->oldest[set] + 1) % WAYS);
    return next;
}

stack_id trails_find(struct trails *t, const struct walker *w, struct trail_place *here)
{
    struct slot *ways = t->slots[set_of(here)], *own = NULL;
    for (int i = 0; i < WAYS; i++) {
        struct slot *s = &ways[i];
        const struct trail_kept *k;
        if (!is_of(s, here))
            continue;
        own = own ? own : s;
        if ((k = kept(t, s)) && trail_holds(w, here->java_thread, k)) {
            s->missed = 0;
            here->from_heap = k->n_parts > 1;
            return s->id;
        }
    }
    if (!own)
        *slot_for(t, here) = (struct slot){.from = here->from, .what = here->what};
    else /* powers of two */
        here->again = (own->missed & (own->missed + 1)) == 0 || own->missed < TRIES;
    if (own)
        own->missed++;
    return (stack_id){0};
}

void trails_put(struct trails *t, const struct trail_place *here, const struct trail *trail,
                stack_id id)
{
    size_t bytes = trail_bytes(trail);
    if (!bytes || bytes > ROOM_BYTES)
        return;
    struct slot *s = slot_for(t, here);
    uint32_t missed = is_of(s, here) ? s->missed : 0;
    if (t->end % ROOM_BYTES + bytes > ROOM_BYTES)
        t->end += ROOM_BYTES - t->end % ROOM_BYTES;
    *s = (struct slot){.from = here->from,
                       .what = here->what,
                       .id = id,
                       .missed = missed,
                       .at = t->end,
                       .end = t->end + bytes};
    t->end += bytes;
    trail_keep(trail, kept(t, s));
}
