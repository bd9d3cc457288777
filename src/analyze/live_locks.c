/* live_locks.c - the locks of live.h: who queues, who owns. */
#include "analyze/live_parts.h"

#include "analyze/purpose.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

struct live_lock *live_find_lock(const struct live *l, lock_id id)
{
    const uint64_t *at = map_find(&l->lock_ids, id.v);
    return at ? (struct live_lock *)(uintptr_t)*at : NULL;
}

static bool has_room(struct live *l)
{
    if (l->n_locks < l->cap_locks)
        return true;
    size_t cap = l->cap_locks ? l->cap_locks * 2 : 64;
    struct live_lock **all = cap <= LIVE_LOCKS_MAX ? realloc(l->locks, cap * sizeof(*all)) : NULL;
    if (!all)
        return false;
    l->locks = all;
    l->cap_locks = cap;
    return true;
}

struct live_lock *live_lock_get(struct live *l, lock_id id)
{
    struct live_lock *k = id.v ? live_find_lock(l, id) : NULL;
    if (k || !id.v || !has_room(l))
        return k;
    k = calloc(1, sizeof *k);
    uint64_t *slot = k ? map_put(&l->lock_ids, id.v) : NULL;
    if (!slot) {
        free(k);
        l->oom = true;
        return NULL;
    }
    k->id = id;
    enum purpose p =
        purpose_of_class(trace_class(l->trace, trace_lock(l->trace, id)->class_)->signature);
    k->is_lock = p == PURPOSE_LOCK || p == PURPOSE_PERMIT; /* an answer may never be due */
    l->locks[l->n_locks++] = k;
    *slot = (uintptr_t)k;
    return k;
}

void live_lock_join(struct live_lock *k, enum live_state s)
{
    if (live_is_held_up(s))
        k->queue++;
    else
        k->waiters++;
}

void live_lock_leave(struct live_lock *k, enum live_state s)
{
    if (live_is_held_up(s))
        k->queue--;
    else
        k->waiters--;
}

/* --- owners -------------------------------------------------------------------------------------
 */

static void owned_by(struct live_lock *k, thread_id owner, bool likely)
{
    if (!k)
        return;
    k->owner = owner;
    k->owner_likely = likely && owner.v;
}

/* Somebody is held up by it now. */
static void held_by(struct live_lock *k, thread_id owner)
{
    owned_by(k, owner, false);
    if (k && owner.v)
        k->held_by = owner;
}

/* Who gives a lock up is its owner no more. */
static void released_by(struct live_lock *k, thread_id thread)
{
    if (k && k->owner.v == thread.v)
        owned_by(k, (thread_id){0}, false);
}

static void told(struct live_lock *k, const struct event *e)
{
    if (!k)
        return;
    k->told_by = e->owner_stack.owner;
    k->told = e->owner_stack.stack;
    k->told_at = e->time;
}

static void parked_no_more(struct live_lock *k, thread_id thread)
{
    /* Woken, it is the next owner unless another one was faster, or it gave up. */
    if (k && (k->is_lock || k->owner.v) && k->owner.v != thread.v)
        owned_by(k, thread, true);
}

/* The monitor of notify and wait is the caller's own: else they throw. */
void live_lock_event(struct live *l, const struct event *e)
{
    switch (e->kind) {
    case EV_monitor_contended_enter:
        held_by(live_lock_get(l, e->monitor_contended_enter.lock),
                e->monitor_contended_enter.owner);
        break;
    case EV_monitor_contended_entered:
        owned_by(live_lock_get(l, e->monitor_contended_entered.lock), e->thread, false);
        break;
    case EV_owner_stack:
        told(live_find_lock(l, e->owner_stack.lock), e);
        break;
    case EV_wait_found:
        if (e->wait_found.owner.v)
            held_by(live_lock_get(l, e->wait_found.lock), e->wait_found.owner);
        break;
    case EV_wait_owner:
        held_by(live_find_lock(l, e->wait_owner.lock), e->wait_owner.owner);
        break;
    case EV_wait_enter:
        released_by(live_find_lock(l, e->wait_enter.lock), e->thread);
        break;
    case EV_wait_exit:
        owned_by(live_find_lock(l, e->wait_exit.lock), e->thread, false);
        break;
    case EV_notify:
        owned_by(live_find_lock(l, e->notify.lock), e->thread, false);
        break;
    case EV_notify_all:
        owned_by(live_find_lock(l, e->notify_all.lock), e->thread, false);
        break;
    case EV_park_enter:
        released_by(live_find_lock(l, e->park_enter.lock), e->thread);
        if (e->park_enter.owner.v)
            held_by(live_lock_get(l, e->park_enter.lock), e->park_enter.owner);
        break;
    case EV_park_exit:
        parked_no_more(live_find_lock(l, e->park_exit.lock), e->thread);
        break;
    default:
        break;
    }
}

void live_locks_forget(struct live *l, thread_id owner)
{
    for (size_t i = 0; i < l->n_locks; i++)
        released_by(l->locks[i], owner);
}

/* --- time ---------------------------------------------------------------------------------------
 */

static uint32_t lock_key(const void *p)
{
    return ((const struct live_lock *)p)->id.v;
}

/* Nobody is there, and nobody was for as long as there are buckets. */
static bool is_idle(const struct live_lock *k)
{
    uint32_t any = k->queue | k->waiters;
    for (size_t i = 0; i < LIVE_BUCKETS && !any; i++)
        any |= k->counts[i] | k->blocked_us[i];
    return !any;
}

void live_locks_close(struct live *l, size_t bucket)
{
    size_t kept = 0;
    bool crowded = l->n_locks > LIVE_LOCKS_MAX / 2;
    for (size_t i = 0; i < l->n_locks; i++) {
        struct live_lock *k = l->locks[i];
        k->blocked_us[bucket] = (uint32_t)(k->cur_blocked / 1000);
        k->worst_us[bucket] = (uint32_t)(k->cur_worst / 1000);
        k->counts[bucket] = k->cur_count;
        k->cur_blocked = k->cur_worst = 0;
        k->cur_count = 0;
        if (is_idle(k) || (crowded && !k->queue && !k->waiters && !k->counts[bucket]))
            free(k);
        else
            l->locks[kept++] = k;
    }
    if (kept == l->n_locks)
        return;
    l->n_locks = kept;
    live_index(&l->lock_ids, (void *const *)l->locks, kept, lock_key, &l->oom);
}
