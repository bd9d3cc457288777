/* live_look.c - the sums over a window, and who waits for each other, of live.h. */
#include "analyze/live_parts.h"

#include "base/util.h"

/* A wait this long is worth asking whether it can end: below, what is known of owners may be about
 * to change. */
#define DEADLOCK_AGE_NS UINT64_C(1000000000)

/* How many of the closed buckets, from the newest one, make up the window. */
static size_t window_buckets(const struct live *l, uint64_t window, uint64_t *from)
{
    size_t n = 0, most = l->n_closed < LIVE_BUCKETS ? (size_t)l->n_closed : LIVE_BUCKETS;
    uint64_t limit = l->now > window ? l->now - window : 0;
    limit = limit > LIVE_BUCKET_NS / 2 ? limit - LIVE_BUCKET_NS / 2 : 0;
    *from = l->open;
    while (n < most && l->edges[(l->n_closed - 1 - n) % LIVE_BUCKETS] >= limit)
        *from = l->edges[(l->n_closed - 1 - n++) % LIVE_BUCKETS];
    return n;
}

static void look_at_thread(const struct live *l, struct live_thread *t, size_t n)
{
    for (size_t s = 0; s < LIVE_SUMS; s++)
        t->sum[s] = t->cur[s];
    t->count = t->cur_count;
    for (size_t i = 0; i < n; i++) {
        size_t b = (l->n_closed - 1 - i) % LIVE_BUCKETS;
        for (size_t s = 0; s < LIVE_SUMS; s++)
            t->sum[s] += t->us[b][s] * UINT64_C(1000);
        t->count += t->counts[b];
    }
    uint64_t all = 0;
    for (size_t s = 0; s < LIVE_SUMS; s++) {
        t->sum[s] = min_u64(t->sum[s], l->span - all); /* buckets are rounded to microseconds */
        all += t->sum[s];
    }
    t->held_up = t->sum[LIVE_BLOCKED] + t->sum[LIVE_LOCKED];
    t->deadlock = 0;
}

static void look_at_lock(const struct live *l, struct live_lock *k, size_t n)
{
    k->count = k->cur_count;
    k->blocked_ns = k->cur_blocked;
    k->worst_ns = k->cur_worst;
    for (size_t i = 0; i < n; i++) {
        size_t b = (l->n_closed - 1 - i) % LIVE_BUCKETS;
        k->count += k->counts[b];
        k->blocked_ns += k->blocked_us[b] * UINT64_C(1000);
        k->worst_ns = max_u64(k->worst_ns, k->worst_us[b] * UINT64_C(1000));
    }
}

/* --- deadlocks ----------------------------------------------------------------------------------
 */

static struct live_thread *next_in_chain(const struct live *l, const struct live_thread *t)
{
    /* Who owns what is found at one moment is true, however young. */
    bool is_old = t->began_before || t->since + DEADLOCK_AGE_NS <= l->now;
    return is_old && live_is_held_up(t->state) ? live_find_thread(l, live_blocker(t)) : NULL;
}

/* Follow who holds up whom from t on; a thread that this very walk has marked closes a circle. */
static void find_circle(struct live *l, struct live_thread *t, uint32_t walk, uint32_t first)
{
    while (t && t->mark < first) {
        t->mark = walk;
        t = next_in_chain(l, t);
    }
    if (!t || t->mark != walk)
        return;
    l->n_deadlocks++;
    for (; !t->deadlock; t = next_in_chain(l, t)) {
        t->deadlock = l->n_deadlocks;
        l->n_deadlocked++;
    }
}

static void find_deadlocks(struct live *l)
{
    if (l->mark > UINT32_MAX / 2) {
        l->mark = 0;
        for (size_t i = 0; i < l->n_threads; i++)
            l->threads[i]->mark = 0;
    }
    uint32_t first = l->mark + 1;
    l->n_deadlocked = l->n_deadlocks = 0;
    for (size_t i = 0; i < l->n_threads; i++)
        if (l->threads[i]->mark < first)
            find_circle(l, l->threads[i], ++l->mark, first);
}

/* ------------------------------------------------------------------------------------------------
 */

int live_look(struct live *l, uint64_t window)
{
    uint64_t from;
    size_t n = window_buckets(l, window, &from);
    l->span = l->now > from ? l->now - from : 0;
    for (size_t i = 0; i < LIVE_STATES; i++)
        l->in_state[i] = 0;
    l->contentions = 0;
    for (size_t i = 0; i < l->n_threads; i++) {
        look_at_thread(l, l->threads[i], n);
        l->in_state[l->threads[i]->state]++;
        l->contentions += l->threads[i]->count;
    }
    for (size_t i = 0; i < l->n_locks; i++)
        look_at_lock(l, l->locks[i], n);
    l->gc_ns = l->cur_gc;
    l->recent = l->cur_events;
    for (size_t i = 0; i < n; i++) {
        size_t b = (l->n_closed - 1 - i) % LIVE_BUCKETS;
        l->gc_ns += l->gc_us[b] * UINT64_C(1000);
        l->recent += l->event_counts[b];
    }
    find_deadlocks(l);
    return l->oom ? -ENOMEM : 0;
}
