/* Chains of resources: if the holders of one mostly wait for another one, the cause is at the end
 * of the chain, and the others stand behind it.
 *
 *     blocked on    the holder of a lock or a pool's item is blocked on another lock or pool
 *     an answer     the thread that should answer waits for an answer itself, or is blocked; the
 *                   threads that should answer take turns at a lock
 *     full queue    the thread that empties it waits for an answer, of this program; or it gives
 *                   the answers for which others wait, who stand behind the queue
 *
 * A thread that holds a lock while it waits for an answer could wait without it: not a chain.
 *
 * A few locks of one class, such as those of sessions, for which threads wait at one line for about as
 * long, and whose holders do the same, have one cause: the others stand behind the one with the most
 * time. */
#include "base/util.h"
#include "conclude/resource_names.h"
#include "conclude/resource_parts.h"

#include <string.h>

enum {
    CHAIN_PERMILLE = 600, /* of the time that it is had, its holders are at the next one */
    CHAIN_LINKS = 5,
    ALIKE_PART = 4, /* of the longest, each has this part of the time or more */
};

static bool is_link(const struct resource *r, const struct activity *x)
{
    return x->other &&
           (x->does == DOES_BLOCKED ||
            (x->does == DOES_ANSWER && (r->kind == RESOURCE_ANSWERS || resource_is_full_queue(r))));
}

/* The first of what the holders do that leads on. */
static const struct activity *link_of(const struct resource *r)
{
    for (size_t i = 0; i < r->n_doing; i++)
        if (is_link(r, &r->doing[i]))
            return &r->doing[i];
    return NULL;
}

/* How long they wait for it; of threads that give answers also how long one has the lock for which
 * another one waits: two that take turns wait for half of the time each. */
static uint64_t ns_at(const struct resource *r, const struct resource *next, uint32_t other,
                      const struct analysis *a)
{
    uint64_t waits = 0;
    for (size_t i = 0; i < r->n_doing; i++)
        if (is_link(r, &r->doing[i]) && r->doing[i].other == other)
            waits += r->doing[i].ns;
    bool turns = r->kind == RESOURCE_ANSWERS && next->kind == RESOURCE_LOCK && next->ns &&
                 r->holder && next->holder && resource_same_pool(a, r->holder, next->holder) &&
                 resource_same_pool(a, r->holder, next->threads[0]);
    uint64_t per_wait = turns ? 1000 * (next->held >> 10) / ((next->ns >> 10) + 1) : 0;
    return waits + waits / 1000 * min_u64(per_wait, 1000);
}

/* The next one of the chain; NULL: it is the end. */
static const struct resource *next_of(const struct resources *all, const struct resource *r,
                                      const struct analysis *a)
{
    const struct activity *x = link_of(r);
    if (!x || !r->held || r->remote || resource_is_of_own_pool(a, r) || resource_is_meeting(r))
        return NULL;
    const struct resource *next = &all->v[x->other - 1];
    if (next->remote && resource_is_full_queue(r)) /* as when it reads the answer itself */
        return NULL;
    return next != r && next->held &&
                   1000 * (ns_at(r, next, x->other, a) >> 10) >= CHAIN_PERMILLE * (r->held >> 10)
               ? next
               : NULL;
}

/* The end of the chain; r: it is in none, or goes round in a circle. */
static const struct resource *end_of(const struct resources *all, const struct resource *r,
                                     const struct analysis *a)
{
    const struct resource *at = r;
    for (int i = 0; i < CHAIN_LINKS; i++) {
        const struct resource *next = next_of(all, at, a);
        if (!next)
            return at;
        if (next == r)
            break;
        at = next;
    }
    return r;
}

/* Those that wait the longest are named. */
static void name_behind(struct resource *root, uint32_t id, const struct resources *all)
{
    uint32_t at = root->n_behind, last = RESOURCE_BEHIND - 1;
    if (at > last && all->v[root->behind[last] - 1].ns >= all->v[id - 1].ns)
        return;
    root->n_behind = min_u32(at + 1, RESOURCE_BEHIND);
    at = root->n_behind - 1;
    for (; at && all->v[root->behind[at - 1] - 1].ns < all->v[id - 1].ns; at--)
        root->behind[at] = root->behind[at - 1];
    root->behind[at] = id;
}

void resource_stand_behind(struct resource *root, struct resource *r, const struct resources *all)
{
    root->behind_ns += r->ns + r->behind_ns;
    root->behind_base = max_u64(root->behind_base, max_u64(r->base, r->behind_base));
    name_behind(root, (uint32_t)(r - all->v) + 1, all);
    for (uint32_t i = 0; i < r->n_behind; i++)
        name_behind(root, r->behind[i], all);
    bool listed = root >= all->v && root < all->v + all->n;
    r->behind_of = listed ? (uint32_t)(root - all->v) + 1 : BEHIND_OTHER;
}

/* Whether the thread that empties a queue that is full gives the answers, too, and does the same for
 * both: what is put into the queue is a part of the way to the answer. */
static bool is_of_queue(const struct resource *r, const struct resource *queue)
{
    return r->kind == RESOURCE_ANSWERS && resource_is_full_queue(queue) && !r->behind_of &&
           !queue->behind_of && r->holder == queue->holder && r->n_doing && queue->n_doing &&
           resource_has_one_holder(r) && resource_has_one_holder(queue) &&
           r->doing->does == queue->doing->does && r->doing->at.method.v &&
           r->doing->at.method.v == queue->doing->at.method.v;
}

/* --- locks that are alike --------------------------------------------------------------------- */

static bool same_place(struct place x, struct place y)
{
    return x.method.v == y.method.v && x.line == y.line;
}

static bool same_text(const char *x, const char *y)
{
    return x == y || (x && y && strcmp(x, y) == 0);
}

/* Of one that has nearly all of the time the object says more. */
static bool are_alike(const struct resource *x, const struct resource *y, const struct analysis *a)
{
    return x->kind == RESOURCE_LOCK && y->kind == RESOURCE_LOCK && x->group == y->group &&
           !x->behind_of && !y->behind_of && ALIKE_PART * y->ns >= x->ns && x->n_doing &&
           y->n_doing && x->wait_at.method.v && same_place(x->wait_at, y->wait_at) &&
           x->doing->does == y->doing->does && x->doing->at.method.v &&
           same_place(x->doing->at, y->doing->at) && same_text(x->field, y->field) &&
           !resource_is_of_classes(x, a);
}

/* The ids of a resource are its first threads. */
static bool share_threads(const struct resource *x, const struct resource *y)
{
    for (uint32_t i = 0; i < x->n_threads && i < RESOURCE_IDS; i++)
        for (uint32_t k = 0; k < y->n_threads && k < RESOURCE_IDS; k++)
            if (x->threads[i] == y->threads[k])
                return true;
    return false;
}

static void join_alike(struct resource *root, struct resource *r, const struct resources *all)
{
    uint64_t base = max_u64(root->base, root->behind_base), of = max_u64(r->base, r->behind_base);
    root->n_alike += r->lock.v ? 1 : max_u32(r->n_objects, 1);
    root->alike_count += r->count;
    root->alike_ns += r->ns;
    root->behind_ns += r->ns + r->behind_ns;
    root->behind_base = share_threads(root, r) ? max_u64(base, of) : base + of;
    for (uint32_t i = 0; i < r->n_behind; i++)
        name_behind(root, r->behind[i], all);
    r->behind_of = (uint32_t)(root - all->v) + 1;
}

/* The one with the most time comes first. */
static void find_alike(struct resources *all, const struct analysis *a)
{
    for (size_t i = 0; i < all->n; i++)
        for (size_t k = i + 1; k < all->n && all->v[i].kind == RESOURCE_LOCK && all->v[i].n_doing;
             k++)
            if (are_alike(&all->v[i], &all->v[k], a))
                join_alike(&all->v[i], &all->v[k], all);
}

void resource_find_chains(struct resources *all, const struct analysis *a)
{
    for (size_t i = 0; i < all->n; i++) {
        size_t end = (size_t)(end_of(all, &all->v[i], a) - all->v);
        if (end != i)
            resource_stand_behind(&all->v[end], &all->v[i], all);
    }
    for (size_t i = 0; i < all->n; i++)
        for (size_t k = 0; k < all->n && all->v[i].kind == RESOURCE_ANSWERS && all->v[i].n_doing;
             k++)
            if (is_of_queue(&all->v[i], &all->v[k]))
                resource_stand_behind(&all->v[k], &all->v[i], all);
    find_alike(all, a);
}
