/* Finds the holders of a resource while others wait for it, and what the holders do.  Recorded
 * waits and calls come first; samples, and the stacks of owners (ownerstacks=), fill the rest. */
#include "analyze/io_calls.h"
#include "analyze/owned.h"
#include "base/err.h"
#include "base/keyed.h"
#include "base/util.h"
#include "conclude/does.h"
#include "conclude/doings.h"
#include "conclude/holders_parts.h"
#include "conclude/resource_names.h"
#include "conclude/resource_parts.h"

#include <stdlib.h>
#include <string.h>

enum {
    LINES_WANTED = 3,  /* of what holders do most */
    OWNED_PART = 10,   /* less than this of a lock's time has an owner: who releases it has it */
    SAMPLES_LEAST = 3, /* samples needed to say what holders do */
    NOTHING = 1000,    /* activities below this part of the time are chance */
};

/* --- what one thread owns at a time ----------------------------------------------------------- */

/* Resources whose owners are found in one pass, because a pass reads all waits of the recording. */
struct owned_holders {
    struct holder *v;
    size_t n;
};

static int take_stretch(void *self, lock_id lock, uint32_t owner, uint64_t from, uint64_t to)
{
    const struct owned_holders *all = self;
    for (size_t i = 0; i < all->n; i++)
        if (all->v[i].r->lock.v == lock.v && all->v[i].r->kind == RESOURCE_LOCK)
            return owner < all->v[i].a->timeline.n_lines
                       ? holder_account(&all->v[i], owner, from, to)
                       : 0;
    return 0;
}

static int end_of_lock(void *self, const struct owned_lock *l)
{
    const struct owned_holders *all = self;
    for (size_t i = 0; i < all->n; i++)
        if (all->v[i].r->lock.v == l->lock.v && all->v[i].r->kind == RESOURCE_LOCK)
            all->v[i].r->wanted += l->waited;
    return 0;
}

/* The owners that waiting threads saw, of objects that have few waits each. */
static int take_owner(void *self, struct resource *r, const struct resource_wait *w)
{
    struct holder *h = self;
    r->wanted += w->to - w->from;
    return w->owner && w->owner < h->a->timeline.n_lines && w->to > w->from
               ? holder_account(h, w->owner, w->from, w->to)
               : 0;
}

/* The thread that releases a lock wakes the next thread, which has the lock when it runs.  Until
 * then no thread has it. */
static int take_handed(void *self, struct resource *r, const struct resource_wait *w)
{
    struct holder *h = self;
    const struct analysis *a = h->a;
    h->waits[w->thread] = true;
    const struct act *act = w->again ? NULL : span_wake_act(&a->timeline, w->span);
    if (act && act->time >= w->from && act->time < w->to && !resource_waits_again(a, w)) {
        uint64_t end = span_end(&a->timeline, w->span);
        bool late =
            pins_ready_since(&a->decoded.pins, &a->timeline, &a->threads, w->thread, w->span) < end;
        r->handed += w->to - act->time;
        r->late += late ? w->to - act->time : 0;
        r->n_handed++;
    }
    return 0;
}

/* Readers wake each other, and hold the lock at the same time. */
static bool is_shared(const struct resource *r, const struct analysis *a)
{
    const char *signature = a->locks.groups[r->group].signature;
    return strstr(signature, "ReadWriteLock") || strstr(signature, "StampedLock");
}

/* Without acts that ended waits there are no hand-offs, so the waits need not be read one by
 * one. */
static int find_handed(struct holder *h)
{
    struct resource *r = h->r;
    if (r->by_acts || r->has_whole)
        return resource_each_wait(r, h->a, take_handed, h);
    for (uint64_t i = 0; i < r->n_waits; i++)
        h->waits[r->waits[i] >> 33] = true;
    return 0;
}

static int find_owners(struct holder *v, size_t n, const struct analysis *a)
{
    struct owned_holders all = {v, n};
    uint32_t *locks = calloc(n + 1, sizeof *locks);
    size_t some = 0;
    int rc = locks ? 0 : -ENOMEM;
    for (size_t i = 0; i < n && rc == 0; i++) {
        if (v[i].r->kind != RESOURCE_LOCK)
            continue;
        if (!is_shared(v[i].r, a))
            rc = find_handed(&v[i]);
        rc = rc ? rc : holder_find_taking(&v[i]);
        if (v[i].r->lock.v)
            locks[some++] = v[i].r->lock.v;
        else if (rc == 0)
            rc = resource_each_wait(v[i].r, a, take_owner, &v[i]);
    }
    if (rc == 0 && some)
        rc = owned_visit_locks(a, locks, some,
                               &(struct owned_visitor){take_stretch, end_of_lock, &all});
    free(locks);
    return rc;
}

/* Whether there are enough samples to say something.  If not, the stacks of owners do, where any
 * were taken. */
static bool has_samples(const struct holder *h)
{
    const struct entry *e = h->sampled.v;
    uint64_t n = 0, asked = 0;
    for (size_t i = 0; i < h->sampled.n; i++)
        n += e[i].samples;
    for (uint32_t i = 1; i < h->a->timeline.contexts.n && n && n < SAMPLES_LEAST; i++)
        asked += holder_is_of(h, i) && timeline_context(&h->a->timeline, i)->owner_stack.v;
    return n >= SAMPLES_LEAST || (n && !asked);
}

/* Use the stacks of owners (ownerstacks=) where nothing else says what the owners did. */
static int ask_owners(struct holder *h, const uint64_t *waits)
{
    for (uint32_t i = 1; i < h->a->timeline.contexts.n; i++) {
        const struct context *x = timeline_context(&h->a->timeline, i);
        struct place leaf;
        if (!waits[i] || !holder_is_of(h, i) || !x->owner_stack.v ||
            x->other >= h->a->timeline.n_lines)
            continue;
        struct does does = does_of_stack(h->all, x->owner_stack, false, &leaf);
        TRY(holder_note(&h->sampled, x->other, &does, x->owner_stack, leaf,
                        (struct amount){.ns = waits[i], .samples = waits[i]}));
    }
    return 0;
}

static bool any_asked(const struct holder *h)
{
    for (uint32_t i = 1; i < h->a->timeline.contexts.n; i++)
        if (timeline_context(&h->a->timeline, i)->owner_stack.v && holder_is_of(h, i))
            return true;
    return false;
}

static int count_asked(void *self, struct resource *r, const struct resource_wait *w)
{
    UNUSED(r);
    ((uint64_t *)self)[w->span->context]++;
    return 0;
}

/* --- polls ------------------------------------------------------------------------------------ */

/* Accounts for what the threads at the other end of the polling do in that time. */
static int find_other_end(struct holder *h)
{
    size_t size = (h->a->timeline.n_lines + 1) * sizeof(bool);
    bool *others = calloc(1, size);
    struct polled_loops loops = {h->a, others, 0, 0};
    int rc = others ? 0 : -ENOMEM;
    rc = rc ? rc : resource_each_wait(h->r, h->a, holder_add_wanted, h);
    rc = rc ? rc : resource_each_wait(h->r, h->a, holder_note_waiter, h);
    rc = rc ? rc : resource_each_wait(h->r, h->a, polled_add_loop, &loops);
    holder_merge_wanted(h);
    if (rc == 0 && !polled_are_woken(&loops)) {
        memset(others, 0, size);
        rc = holder_find_past(h);
        rc = rc || h->r->past ? rc : polled_find_others(h->r, h->all, h->a, others);
    }
    for (uint32_t thread = 1; thread < h->a->timeline.n_lines && rc == 0; thread++)
        if (others[thread] && !h->waits[thread])
            rc = holder_hold(h, thread, 0, UINT64_MAX);
    free(others);
    return rc;
}

/* --- locks of which nobody saw an owner ------------------------------------------------------- */

/* A thread gave the lock at `time` to a thread that had waited since `from`. */
struct release {
    uint64_t time, from;
    uint32_t thread;
};

/* A monitor's previous owner is counted where it was seen to be the owner. */
static int add_release(void *self, struct resource *r, const struct resource_wait *w)
{
    struct holder *h = self;
    bool parked = timeline_context(&h->a->timeline, w->span->context)->what == STATE_PARKED;
    if (!w->span->waker || w->span->waker >= h->a->timeline.n_lines || w->again ||
        (r->held && !parked))
        return 0;
    struct give g = holder_first_give(h, w->span);
    struct release v = {g.time, w->from, g.thread};
    if (g.thread && w->from < g.time)
        buf_put(&h->wanted, &v, sizeof v);
    return h->wanted.oom ? -ENOMEM : 0;
}

static int by_release(const void *x, const void *y)
{
    const struct release *a = x, *b = y;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return (a->from > b->from) - (a->from < b->from);
}

/* When a thread's last wait on a condition was over in the code of the class that waits for the lock: as
 * long as it waits there, it does not have the lock. */
static uint64_t back_in_class(const struct holder *h, uint32_t thread, uint64_t time)
{
    const struct timeline *t = &h->a->timeline;
    const struct line *l = &t->lines[thread];
    uint32_t i = line_spans_until(l, time), least = i - min_u32(i, LOOK_BACK);
    for (; i > least; i--) {
        const struct span *s = line_span(l, i - 1);
        const struct context *x = timeline_context(t, s->context);
        if (x->what == STATE_PARKED && lock_is_condition(h->a->trace, x->lock) &&
            sites_one_class(h->a->trace, x->stack, h->r->wait_stack))
            return min_u64(span_end(t, s), time);
    }
    return 0;
}

/* The releasing thread had the lock while others waited, but not before the previous release, and
 * not while it waited for the lock itself, or on a condition of it. */
static int find_releasers(struct holder *h)
{
    TRY(resource_each_wait(h->r, h->a, add_release, h));
    struct release *v = (void *)h->wanted.p;
    size_t n = h->wanted.len / sizeof *v;
    uint64_t before = 0;
    if (n)
        qsort(v, n, sizeof *v, by_release);
    for (size_t i = 0; i < n; i++) {
        uint64_t from =
            max_u64(max_u64(before, v[i].from), max_u64(holder_got_it(h, v[i].thread, v[i].time),
                                                        back_in_class(h, v[i].thread, v[i].time)));
        if (from < v[i].time)
            TRY(holder_account(h, v[i].thread, from, v[i].time));
        before = max_u64(before, v[i].time);
    }
    return 0;
}

/* --- all -------------------------------------------------------------------------------------- */

static int most_time(const void *x, const void *y)
{
    const struct activity *a = x, *b = y;
    if (a->ns != b->ns)
        return a->ns < b->ns ? 1 : -1;
    return (a->at.method.v > b->at.method.v) - (a->at.method.v < b->at.method.v);
}

static bool is_one_thing(const struct activity *x, const struct activity *y)
{
    return x->does == y->does && x->at.method.v == y->at.method.v && x->other == y->other &&
           (x->at.method.v || x->leaf.method.v == y->leaf.method.v);
}

static void add_to(struct activity *to, const struct activity *x)
{
    to->ns += x->ns;
    to->samples += x->samples;
    to->by_samples += x->by_samples;
    to->calls += x->calls;
    to->took += x->took;
    peer_vote(&to->peer, x->peer);
}

/* Adds an activity to that of all threads at the same line. */
static void add_activity(struct activity *v, size_t *n, const struct entry *e, uint64_t ns,
                         uint64_t samples)
{
    struct activity x = {e->key.does,
                         {{e->key.method}, e->key.line, e->key.near},
                         e->leaf,
                         e->key.other,
                         ns,
                         samples,
                         samples ? ns : 0,
                         e->stack,
                         ns,
                         e->peer,
                         false,
                         e->calls,
                         e->took};
    for (size_t i = 0; i < *n; i++) {
        if (!is_one_thing(&v[i], &x) || v[i].at.line != x.at.line)
            continue;
        if (v[i].most < ns) { /* the stack of the thread that did most of it */
            v[i].most = ns;
            v[i].leaf = x.leaf;
            v[i].stack = x.stack;
        }
        add_to(&v[i], &x);
        return;
    }
    v[(*n)++] = x;
}

/* Activities in one method become one, at the known line with the most time.  v: most first. */
static size_t join_lines(struct activity *v, size_t n)
{
    size_t some = 0;
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < some && !is_one_thing(&v[k], &v[i]))
            k++;
        if (k == some) {
            v[some++] = v[i];
            continue;
        }
        if (v[k].at.line < 0 && v[i].at.line >= 0) {
            v[k].at = v[i].at;
            v[k].leaf = v[i].leaf;
            v[k].stack = v[i].stack;
        }
        add_to(&v[k], &v[i]);
    }
    return some;
}

/* The unexplained time of threads without samples; all samples together stand for it. */
static uint64_t rest_of_others(const struct holder *h, const uint64_t *sampled)
{
    uint64_t ns = 0;
    for (uint32_t i = 0; i < h->a->timeline.n_lines; i++)
        ns += sampled[i] ? 0 : h->rest[i];
    return ns;
}

static uint64_t part(uint64_t whole, uint64_t ns, uint64_t of)
{
    return of ? (uint64_t)((unsigned __int128)whole * ns / of) : 0;
}

/* Adds up recorded activities.  The rest of each thread's time is divided by the thread's own
 * samples; for a thread without samples, by all samples. */
static int spread(struct holder *h, struct activity *v, size_t *n)
{
    const struct entry *recorded = h->recorded.v, *sampled = h->sampled.v;
    uint64_t *of = calloc(h->a->timeline.n_lines + 1, sizeof *of), all = 0;
    if (!of)
        return -ENOMEM;
    for (size_t i = 0; i < h->sampled.n; i++) {
        of[sampled[i].thread] += sampled[i].ns;
        all += sampled[i].ns;
        h->r->looks += sampled[i].samples;
    }
    uint64_t others = rest_of_others(h, of);
    for (size_t i = 0; i < h->recorded.n; i++)
        add_activity(v, n, &recorded[i], recorded[i].ns, 0);
    for (size_t i = 0; i < h->sampled.n; i++)
        add_activity(v, n, &sampled[i],
                     part(h->rest[sampled[i].thread], sampled[i].ns, of[sampled[i].thread]) +
                         part(others, sampled[i].ns, all),
                     sampled[i].samples);
    if (!all && others)
        v[(*n)++] = (struct activity){
            .does = DOES_UNKNOWN, .at = {{0}, -1}, .leaf = {{0}, -1}, .ns = others};
    free(of);
    return 0;
}

static void find_main_holder(struct holder *h)
{
    struct resource *r = h->r;
    uint64_t strays = 0, all = 0;
    uint32_t n_strays = 0;
    for (uint32_t i = 1; i < h->a->timeline.n_lines; i++) {
        r->n_holders += h->of_thread[i] != 0;
        all += h->of_thread[i];
        if (h->of_thread[i] > r->holder_ns) {
            r->holder = i;
            r->holder_ns = h->of_thread[i];
        }
    }
    for (uint32_t i = 1; i < h->a->timeline.n_lines; i++) {
        if (!h->of_thread[i] || resource_same_pool(h->a, r->holder, i))
            continue;
        strays += h->of_thread[i];
        n_strays++;
    }
    r->one_pool = strays_are_few(n_strays, r->n_holders, strays, all);
    r->n_holders -= r->one_pool ? n_strays : 0;
}

static int hand_out(struct holder *h)
{
    size_t n = 0;
    struct activity *v = arena_alloc(&h->a->arena, (h->recorded.n + h->sampled.n + 1) * sizeof *v);
    if (!v)
        return -ENOMEM;
    TRY(spread(h, v, &n));
    qsort(v, n, sizeof *v, most_time);
    n = join_lines(v, n);
    qsort(v, n, sizeof *v, most_time);
    for (size_t i = 0; i < n; i++)
        activity_settle(&v[i]);
    while (n > 1 && v[n - 1].ns * NOTHING < h->r->held)
        n--;
    for (size_t i = 0; i < n && i < LINES_WANTED; i++)
        if (v[i].at.method.v && v[i].at.line < 0) {
            v[i].at.line = lines_most(h->lines, h->a, v[i].at.method);
            v[i].other_line = v[i].at.line >= 0;
            v[i].at.near = 0;
        }
    h->r->doing = v;
    h->r->n_doing = n;
    find_main_holder(h);
    return 0;
}

static int begin(struct holder *h, const struct resources *all, struct resource *r,
                 struct line_counts *lines, struct analysis *a)
{
    *h = (struct holder){.a = a, .all = all, .r = r, .lines = lines};
    h->of_thread = calloc(a->timeline.n_lines + 1, sizeof *h->of_thread);
    h->waits = calloc(a->timeline.n_lines + 1, sizeof *h->waits);
    h->rest = calloc(a->timeline.n_lines + 1, sizeof *h->rest);
    keyed_init(&h->recorded, offsetof(struct entry, ns), sizeof(struct entry));
    keyed_init(&h->sampled, offsetof(struct entry, ns), sizeof(struct entry));
    map_init(&h->taking);
    map_init(&h->taken_in);
    map_init(&h->seen[0]);
    map_init(&h->seen[1]);
    return h->of_thread && h->rest && h->waits ? 0 : -ENOMEM;
}

static void end(struct holder *h)
{
    keyed_fini(&h->recorded);
    keyed_fini(&h->sampled);
    buf_fini(&h->gives);
    buf_fini(&h->edges);
    buf_fini(&h->wanted);
    buf_fini(&h->before);
    map_fini(&h->taking);
    map_fini(&h->taken_in);
    map_fini(&h->seen[0]);
    map_fini(&h->seen[1]);
    free(h->of_thread);
    free(h->rest);
    free(h->waits);
}

/* A thread holds it whenever the thread has work. */
static int hold_work(struct holder *h, uint32_t thread, uint64_t from, uint64_t to)
{
    const struct line *l = &h->a->timeline.lines[thread];
    for (uint32_t i = 0; i < l->spans.n; i++) {
        const struct span *s = line_span(l, i);
        if (!wait_is_for_work(h->a, s->context))
            continue;
        if (from < s->start)
            TRY(holder_hold(h, thread, from, s->start));
        from = max_u64(from, span_end(&h->a->timeline, s));
    }
    return from < to ? holder_hold(h, thread, from, to) : 0;
}

/* No thread gives the answer because the pool that should waits for it, or the giver only passes it
 * on.  So all threads of a pool count as holders, always or while they have work. */
static int take_pool(struct holder *h, uint32_t of, bool always)
{
    const struct thread_set *threads = &h->a->threads;
    end(h);
    TRY(begin(h, h->all, h->r, h->lines, h->a));
    h->r->held = 0;
    h->r->by_waits = false;
    TRY(resource_each_wait(h->r, h->a, holder_add_wanted, h));
    holder_merge_wanted(h);
    for (uint32_t i = 1; i < h->a->timeline.n_lines && i < threads->n; i++)
        if (resource_same_pool(h->a, of, i))
            TRY((always ? holder_hold : hold_work)(h, i, threads->v[i].from, threads->v[i].to));
    return 0;
}

/* A timer that was sometimes late gave no answer at those times either. */
static int forget_late(struct holder *h)
{
    struct resource *r = h->r;
    r->due_ns = r->given_ns = r->met_ns = r->own_ns = r->turns_ns = r->queued_ns = r->outside_ns =
        r->held = 0;
    r->source = (struct peer_vote){0};
    r->remote = r->inside = false;
    r->at_once = 0;
    r->by_waits = false;
    end(h);
    return begin(h, h->all, r, h->lines, h->a);
}

/* A thread that passes messages on does not show where they come from.  If the threads of exactly
 * one pool were busy all the time, requests queued for that pool.  Answers that certainly come from
 * this program belong to the pool that worked for as long as others waited. */
static int take_busy(struct holder *h)
{
    struct answering of;
    TRY(answering_pool(h->r, h->a, h->waits, h->r->remote ? h->of_thread : NULL, &of));
    if (!of.thread)
        return 0;
    h->r->passed = true;
    h->r->worked = of.works;
    return take_pool(h, of.thread, !of.works);
}

/* The answers were passed on by those who gave them, and nobody else is known to have worked on them.
 * One answer, that all is done, has only the way of what was done last. */
static int take_ways(struct holder *h)
{
    if (h->r->count == 1 || !holder_knows_ways(h))
        return 0;
    end(h);
    TRY(begin(h, h->all, h->r, h->lines, h->a));
    h->r->held = 0;
    return holder_take_ways(h);
}

static int find(struct holder *h)
{
    if (h->r->kind == RESOURCE_THINGS)
        TRY(holder_find_things(h));
    if (h->r->kind == RESOURCE_POLLED)
        TRY(find_other_end(h));
    if (h->r->kind == RESOURCE_DELAY && !resource_is_rate(h->r, h->a)) {
        TRY(resource_each_wait(h->r, h->a, holder_add_wanted, h));
        holder_merge_wanted(h);
        TRY(holder_find_past(h));
    }
    if (h->r->kind == RESOURCE_ANSWERS)
        TRY(holder_find_answers(h));
    if (h->r->timed_ns > h->r->given_ns)
        TRY(forget_late(h));
    if (h->r->kind == RESOURCE_LOCK && OWNED_PART * h->r->held <= h->r->wanted)
        TRY(find_releasers(h));
    if (resource_is_of_own_pool(h->a, h->r))
        TRY(take_pool(h, h->r->threads[0], true));
    else if (h->r->remote ? h->r->inside : h->r->kind == RESOURCE_ANSWERS && holder_is_messenger(h))
        TRY(take_busy(h));
    else if (resource_is_from_elsewhere(h->r))
        TRY(take_ways(h));
    h->r->remote &= !h->r->passed;
    h->r->inside &= h->r->remote;
    if (h->r->kind != RESOURCE_LOCK || has_samples(h))
        return hand_out(h);
    keyed_fini(&h->sampled);
    keyed_init(&h->sampled, offsetof(struct entry, ns), sizeof(struct entry));
    uint64_t *waits = calloc(h->a->timeline.contexts.n + 1, sizeof *waits);
    if (!waits)
        return -ENOMEM;
    int rc = any_asked(h) ? resource_each_wait(h->r, h->a, count_asked, waits) : 0;
    rc = rc ? rc : ask_owners(h, waits);
    free(waits);
    return rc ? rc : hand_out(h);
}

int resource_find_holders(struct resources *all, size_t n, struct analysis *a)
{
    struct holder *v = calloc(n + 1, sizeof *v);
    struct line_counts lines = {NULL};
    size_t begun = 0;
    int rc = v ? 0 : -ENOMEM;
    while (begun < n && rc == 0) {
        rc = begin(&v[begun], all, &all->v[begun], &lines, a);
        begun++;
    }
    rc = rc ? rc : find_owners(v, n, a);
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = find(&v[i]);
    for (size_t i = 0; i < begun; i++)
        end(&v[i]);
    free(lines.of_stack);
    free(v);
    return rc;
}
