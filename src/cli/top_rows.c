#include "cli/top_rows.h"

#include "base/printable.h"
#include "base/util.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* --- cells of both
 * --------------------------------------------------------------------------------
 */

static uint64_t now_of(const struct top_view *v)
{
    return v->source->live.now;
}

static void since_cell(const struct top_view *v, uint64_t since, bool longer, char *out)
{
    char text[TOP_CELL];
    top_short_time(now_of(v) > since ? now_of(v) - since : 0, text);
    snprintf(out, TOP_CELL, "%s%.20s", longer ? ">" : "", text);
}

static void rate_cell(const struct top_view *v, uint64_t n, char *out)
{
    uint64_t span = v->source->live.span;
    double rate = span ? (double)n * 1e9 / (double)span : 0;
    snprintf(out, TOP_CELL, rate && rate < 9.95 ? "%.1f" : "%.0f", rate);
}

/* --- threads ------------------------------------------------------------------------------------
 */

#define THREAD_CELL(name)                                                                          \
    static void name(const struct top_view *v, const void *row, char *out)                         \
    {                                                                                              \
        const struct live_thread *t = row;                                                         \
        UNUSED(v);
#define END_CELL }

THREAD_CELL(thread_name)
top_name_thread(v, t->id, out);
END_CELL
THREAD_CELL(thread_state)
snprintf(out, TOP_CELL, "%s", top_state_word(t));
END_CELL
THREAD_CELL(thread_since)
since_cell(v, t->since, t->began_before, out);
END_CELL
THREAD_CELL(thread_held_up)
snprintf(out, TOP_CELL, "%.0f%%", top_percent(t->held_up, v->source->live.span));
END_CELL
THREAD_CELL(thread_idle)
uint64_t idle = 0;
for (int s = 0; s < LIVE_SUMS; s++)
    idle += live_is_held_up((enum live_state)s) ? 0 : t->sum[s];
snprintf(out, TOP_CELL, "%.0f%%", top_percent(idle, v->source->live.span));
END_CELL
THREAD_CELL(thread_times)
rate_cell(v, t->count, out);
END_CELL
/* In parentheses what is not now, but was when the thread was last held up. */
static void in_past(const char *name, char *out)
{
    *out = 0;
    if (*name && strcmp(name, "-") != 0)
        snprintf(out, TOP_CELL, "(%.500s)", name);
}

THREAD_CELL(thread_waits_for)
const struct live_wait *w = top_held_before(v, t);
char name[TOP_CELL];
if (!w) {
    top_name_waits_for(v, t, out);
    return;
}
top_name_lock(v, w->lock, name);
in_past(name, out);
END_CELL
THREAD_CELL(thread_owner)
const struct live_wait *w = top_held_before(v, t);
char name[TOP_CELL];
if (!w) {
    top_name_owner(v, t, out);
    return;
}
top_name_thread(v, w->other, name);
in_past(name, out);
END_CELL
THREAD_CELL(thread_site)
const struct live_wait *w = top_held_before(v, t);
const struct top_found_wait *found = top_found_wait(&v->source->found, t);
char name[TOP_CELL];
*out = 0;
if (w) {
    top_name_site(v, w->stack, name);
    in_past(name, out);
} else if (found && !t->wait.stack.v) {
    printable_text(found->at, v->utf8, out, TOP_CELL);
} else if (t->state < LIVE_SUMS) {
    top_name_site(v, t->wait.stack, out);
}
END_CELL

/* Whom to look at first among those that were held up equally long; the JVM's own threads last. */
static int rank(const struct live_thread *t)
{
    if (t->is_system)
        return 9;
    static const int ranks[LIVE_STATES] = {
        [LIVE_BLOCKED] = 0, [LIVE_LOCKED] = 0, [LIVE_RUNNING] = 1, [LIVE_UNKNOWN] = 2,
        [LIVE_WAITING] = 3, [LIVE_PARKED] = 3, [LIVE_JOINING] = 4, [LIVE_SLEEPING] = 5};
    return ranks[t->state];
}

static int order(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

#define THREAD_ORDER(name, first)                                                                  \
    static int name(const void *a, const void *b)                                                  \
    {                                                                                              \
        const struct live_thread *x = *(struct live_thread *const *)a;                             \
        const struct live_thread *y = *(struct live_thread *const *)b;                             \
        int c = first;                                                                             \
        c = c ? c : order(y->held_up, x->held_up);                                                 \
        c = c ? c : rank(x) - rank(y);                                                             \
        return c ? c : order(x->id.v, y->id.v);                                                    \
    }

static uint64_t running(const struct live_thread *t)
{
    uint64_t all = 0;
    for (int s = 0; s < LIVE_SUMS; s++)
        all += t->sum[s];
    return all;
}

THREAD_ORDER(by_held_up,
             !x->deadlock != !y->deadlock ? (x->deadlock ? -1 : 1) : order(y->held_up, x->held_up))
THREAD_ORDER(by_id, order(x->id.v, y->id.v))
THREAD_ORDER(by_state, (int)x->state - (int)y->state)
THREAD_ORDER(by_since, order(x->since, y->since))
THREAD_ORDER(by_idle, order(running(y) - y->held_up, running(x) - x->held_up))
THREAD_ORDER(by_times, order(y->count, x->count))
THREAD_ORDER(by_lock, order(x->state < LIVE_SUMS ? x->wait.lock.v - 1 : UINT32_MAX,
                            y->state < LIVE_SUMS ? y->wait.lock.v - 1 : UINT32_MAX))

static const struct top_column thread_columns[] = {
    {{"thread", TABLE_LEFT, false}, 12, 2, 0, false, by_id, thread_name},
    {{"state", TABLE_LEFT, false}, 8, 0, 0, false, by_state, thread_state},
    {{"since", TABLE_RIGHT, false}, 6, 0, 0, false, by_since, thread_since},
    {{"held up", TABLE_RIGHT, false}, 10, 0, 0, true, by_held_up, thread_held_up},
    {{"waits", TABLE_RIGHT, false}, 5, 0, 100, false, by_idle, thread_idle},
    {{"times/s", TABLE_RIGHT, false}, 7, 0, 110, false, by_times, thread_times},
    {{"for", TABLE_LEFT, false}, 11, 2, 0, false, by_lock, thread_waits_for},
    {{"owner", TABLE_LEFT, false}, 9, 2, 0, false, NULL, thread_owner},
    {{"at", TABLE_LEFT, true}, 12, 5, 0, false, NULL, thread_site},
};

/* --- locks --------------------------------------------------------------------------------------
 */

#define LOCK_CELL(name)                                                                            \
    static void name(const struct top_view *v, const void *row, char *out)                         \
    {                                                                                              \
        const struct live_lock *k = row;                                                           \
        UNUSED(v);

LOCK_CELL(lock_name)
top_name_lock(v, k->id, out);
END_CELL
LOCK_CELL(lock_queue)
snprintf(out, TOP_CELL, "%" PRIu32, k->queue);
END_CELL
LOCK_CELL(lock_waiters)
snprintf(out, TOP_CELL, "%" PRIu32, k->waiters);
END_CELL
LOCK_CELL(lock_owner)
top_name_lock_owner(v, k, out);
END_CELL
LOCK_CELL(lock_times)
rate_cell(v, k->count, out);
END_CELL
/* Of one thread's time: 300 % is three threads all the time. */
LOCK_CELL(lock_blocked)
snprintf(out, TOP_CELL, "%.0f%%", top_percent(k->blocked_ns, v->source->live.span));
END_CELL
LOCK_CELL(lock_worst)
*out = 0;
if (k->worst_ns)
    top_short_time(k->worst_ns, out);
END_CELL
LOCK_CELL(lock_owner_at)
const struct live_thread *t = live_find_thread(&v->source->live, k->owner);
*out = 0;
if (!k->queue)
    return;
if (t && t->state < LIVE_SUMS)
    top_name_site(v, t->wait.stack, out);
else if (t && k->queue)
    snprintf(out, TOP_CELL, "(%s)", live_state_names[t->state]);
END_CELL

#define LOCK_ORDER(name, first)                                                                    \
    static int name(const void *a, const void *b)                                                  \
    {                                                                                              \
        const struct live_lock *x = *(struct live_lock *const *)a;                                 \
        const struct live_lock *y = *(struct live_lock *const *)b;                                 \
        int c = first;                                                                             \
        c = c ? c : order(y->blocked_ns, x->blocked_ns);                                           \
        c = c ? c : order(y->queue, x->queue);                                                     \
        c = c ? c : order(y->waiters, x->waiters);                                                 \
        return c ? c : order(x->id.v, y->id.v);                                                    \
    }

LOCK_ORDER(by_blocked, order(y->blocked_ns, x->blocked_ns))
LOCK_ORDER(by_number, order(x->id.v, y->id.v))
LOCK_ORDER(by_queue, order(y->queue, x->queue))
LOCK_ORDER(by_waiters, order(y->waiters, x->waiters))
LOCK_ORDER(by_rate, order(y->count, x->count))
LOCK_ORDER(by_worst, order(y->worst_ns, x->worst_ns))

static const struct top_column lock_columns[] = {
    {{"lock", TABLE_LEFT, false}, 16, 3, 0, false, by_number, lock_name},
    {{"queue", TABLE_RIGHT, false}, 5, 0, 0, false, by_queue, lock_queue},
    {{"waiters", TABLE_RIGHT, false}, 7, 0, 0, false, by_waiters, lock_waiters},
    {{"times/s", TABLE_RIGHT, false}, 7, 0, 0, false, by_rate, lock_times},
    {{"held up", TABLE_RIGHT, false}, 10, 0, 0, true, by_blocked, lock_blocked},
    {{"worst", TABLE_RIGHT, false}, 6, 0, 0, false, by_worst, lock_worst},
    {{"owner", TABLE_LEFT, false}, 9, 2, 0, false, NULL, lock_owner},
    {{"owner at", TABLE_LEFT, true}, 9, 3, 0, false, NULL, lock_owner_at},
};

const struct top_columns top_columns[2] = {{thread_columns, ARRAY_LEN(thread_columns)},
                                           {lock_columns, ARRAY_LEN(lock_columns)}};

/* --- which, and in what order -------------------------------------------------------------------
 */

static bool matches(const struct top_view *v, const char *text)
{
    return !*v->filter || strcasestr(text, v->filter) != NULL;
}

static bool wants_thread(const struct top_view *v, const struct live_thread *t)
{
    char name[TOP_CELL], lock[TOP_CELL];
    if (v->no_virtual && t->is_virtual)
        return false;
    if (!*v->filter)
        return true;
    top_name_thread(v, t->id, name);
    top_name_waits_for(v, t, lock);
    return matches(v, name) || matches(v, lock);
}

static bool wants_lock(const struct top_view *v, const struct live_lock *k)
{
    char name[TOP_CELL], owner[TOP_CELL];
    if (!k->queue && !k->waiters && !k->count && !k->blocked_ns)
        return false;
    if (!*v->filter)
        return true;
    top_name_lock(v, k->id, name);
    top_name_lock_owner(v, k, owner);
    return matches(v, name) || matches(v, owner);
}

static void turn(void **v, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        void *x = v[i];
        v[i] = v[n - 1 - i];
        v[n - 1 - i] = x;
    }
}

static void sort(void *v, size_t n, const struct top_view *view, int which)
{
    if (!n)
        return;
    qsort(v, n, sizeof(void *), top_columns[which].v[view->sort[which]].compare);
    if (view->reverse[which])
        turn(v, n);
}

int top_rows_make(struct top_rows *r, const struct top_view *v)
{
    const struct live *l = &v->source->live;
    top_rows_fini(r);
    r->threads = malloc((l->n_threads + 1) * sizeof(void *));
    r->locks = malloc((l->n_locks + 1) * sizeof(void *));
    if (!r->threads || !r->locks)
        return -ENOMEM;
    for (size_t i = 0; i < l->n_threads; i++)
        if (wants_thread(v, l->threads[i]))
            r->threads[r->n_threads++] = l->threads[i];
    for (size_t i = 0; i < l->n_locks; i++)
        if (wants_lock(v, l->locks[i]))
            r->locks[r->n_locks++] = l->locks[i];
    sort(r->threads, r->n_threads, v, 0);
    sort(r->locks, r->n_locks, v, 1);
    return 0;
}

void top_rows_fini(struct top_rows *r)
{
    free(r->threads);
    free(r->locks);
    *r = (struct top_rows){0};
}

void top_rows_sort_by(struct top_view *v, int step, unsigned width)
{
    const struct top_columns *c = &top_columns[v->locks];
    size_t *at = &v->sort[v->locks];
    do
        *at = (*at + c->n + (size_t)step) % c->n;
    while (!c->v[*at].compare || c->v[*at].from > width);
    v->reverse[v->locks] = false;
}
