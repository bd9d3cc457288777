#include "base/util.h"
#include "checks.h"

#include <stdlib.h>
#include <string.h>

enum { LOCKS = 128, KEYS = 6 };

/* The part of a wait, in one state, that lies in the range. */
struct part {
    const struct true_span *x;
    unsigned state;
    uint64_t start, end;
    bool open;
};

struct tables {
    const struct oracle *o;
    const struct analysis *a;
    const struct selection *sel;
    struct stats stats; /* what is checked */
    struct part *parts;
    size_t n;
    uint32_t group[LOCKS]; /* of each lock */
};

/* --- the parts of a selection ----------------------------------------------------------------- */

static bool clip(const struct selection *sel, uint64_t *start, uint64_t *end)
{
    bool in = *start == *end ? *start >= sel->from && *start < sel->to
                             : *end > sel->from && *start < sel->to;
    *start = max_u64(*start, sel->from);
    *end = min_u64(*end, sel->to);
    return in;
}

static bool is_chosen(const struct selection *sel, uint32_t thread, uint32_t lock)
{
    return (!sel->threads || sel->threads[thread]) && (!sel->lock || sel->lock == lock);
}

static void add_part(struct tables *t, const struct true_span *x, unsigned state, uint64_t start,
                     uint64_t end)
{
    struct part p = {x, state, start, end, false};
    p.open = x->flags & INTERVAL_OPEN && end == x->end;
    if (is_chosen(t->sel, x->thread, x->lock) && clip(t->sel, &p.start, &p.end))
        t->parts[t->n++] = p;
}

static void find_parts(struct tables *t)
{
    size_t n = sim_n_spans(t->o->s);
    t->parts = calloc(2 * n + 1, sizeof *t->parts);
    for (size_t i = 0; i < n; i++) {
        const struct true_span *x = sim_span(t->o->s, i);
        uint64_t until = oracle_waited_until(t->o, i);
        if (!has_length(x))
            continue;
        add_part(t, x, x->state, x->start, until);
        if (until < x->end)
            add_part(t, x, STATE_REACQUIRING, until, x->end);
    }
}

/* --- sums of those that agree ----------------------------------------------------------------- */

enum { ANY = -1 };

/* What a part must be: ANY, or the same. */
struct only {
    int thread, state, lock, group, place, owner_place, owner;
};

static const struct only all = {ANY, ANY, ANY, ANY, ANY, ANY, ANY};

struct tally {
    uint64_t count, open, ns, min, max, first, last, objects, threads, timed_out;
    uint64_t *lengths; /* [count], ascending */
};

/* Which place a stack is: stacks of one place are one site. */
static int place_of(const struct tables *t, uint32_t stack)
{
    static const int places[SIM_STACKS] = {1, 2, 3, 1, 5};
    for (int i = 0; i < SIM_STACKS; i++)
        if (t->o->s->stacks[i].v == stack)
            return places[i];
    return 0;
}

static bool is_same(int want, uint64_t is)
{
    return want == ANY || (uint64_t)want == is;
}

static bool agrees(const struct tables *t, const struct part *p, const struct only *only)
{
    const struct true_span *x = p->x;
    return is_same(only->thread, x->thread) && is_same(only->state, p->state) &&
           is_same(only->lock, x->lock) && is_same(only->group, t->group[x->lock]) &&
           is_same(only->place, (uint64_t)place_of(t, x->stack)) &&
           is_same(only->owner, x->other) &&
           (only->owner_place == ANY ||
            (x->owner_stack && is_same(only->owner_place, (uint64_t)place_of(t, x->owner_stack))));
}

static int ascending(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static struct tally tally(const struct tables *t, struct only only)
{
    struct tally s = {.min = UINT64_MAX, .first = UINT64_MAX};
    bool locks[LOCKS] = {false}, threads[SIM_THREADS + 2] = {false};
    s.lengths = calloc(t->n + 1, sizeof *s.lengths);
    for (size_t i = 0; i < t->n; i++) {
        const struct part *p = &t->parts[i];
        uint64_t ns = p->end - p->start;
        if (!agrees(t, p, &only))
            continue;
        s.lengths[s.count++] = ns;
        s.open += p->open;
        s.ns += ns;
        s.min = min_u64(s.min, ns);
        s.max = max_u64(s.max, ns);
        s.first = min_u64(s.first, p->start);
        s.last = max_u64(s.last, p->end);
        s.objects += p->x->lock && !locks[p->x->lock];
        s.threads += !threads[p->x->thread];
        s.timed_out += p->state == STATE_WAITING && p->x->flags & INTERVAL_TIMED_OUT;
        locks[p->x->lock] = threads[p->x->thread] = true;
    }
    qsort(s.lengths, s.count, sizeof *s.lengths, ascending);
    return s;
}

/* --- tables ----------------------------------------------------------------------------------- */

/* Many values are counted in buckets, whose middles are off by 1/256 at most. */
static void check_percentile(uint64_t got, uint64_t want, bool many, const char *what)
{
    uint64_t off = got > want ? got - want : want - got;
    CHECK(off <= (many ? want / 256 + 1 : 0), "%" PRIu64 " for %" PRIu64 ", %s", got, want, what);
}

static void check_percentiles(struct percentile *got, const struct tally *want, const char *what)
{
    uint64_t counts[64], expected[64] = {0};
    CHECK_EQ(got->n, want->count, "%s", what);
    for (unsigned permille = 0; permille <= 1000; permille += 125) {
        uint64_t rank = max_u64((want->count * permille + 999) / 1000, 1);
        check_percentile(percentile_get(got, permille), want->count ? want->lengths[rank - 1] : 0,
                         want->count > PERCENTILE_EXACT, what);
    }
    for (uint64_t i = 0; i < want->count; i++) {
        int k = 0;
        while (k < 63 && want->lengths[i] >> (k + 1))
            k++;
        expected[k]++;
    }
    percentile_log2(got, counts);
    cr_assert_arr_eq(counts, expected, sizeof counts, "%s: %s", check_name, what);
}

static void check_state(const struct state_stats *got, const struct tally *want, const char *what)
{
    CHECK_EQ(got->count, want->count, "%s", what);
    CHECK_EQ(got->ns, want->ns, "%s", what);
}

static void check_sums(const struct wait_stats *got, const struct tally *want, const char *what)
{
    CHECK_EQ(got->count, want->count, "%s", what);
    CHECK_EQ(got->unknown, 0, "%s", what);
    CHECK_EQ(got->open, want->open, "%s", what);
    CHECK_EQ(got->ns, want->ns, "%s", what);
    CHECK_EQ(got->min, want->min, "%s", what);
    CHECK_EQ(got->max, want->max, "%s", what);
    CHECK_EQ(got->first, want->first, "%s", what);
    CHECK_EQ(got->last, want->last, "%s", what);
}

static void check_waits(struct wait_stats *got, struct tally want, const char *what)
{
    check_sums(got, &want, what);
    CHECK_EQ(got->objects, want.objects, "%s", what);
    CHECK_EQ(got->threads, want.threads, "%s", what);
    check_percentiles(&got->times, &want, what);
    free(want.lengths);
}

/* Times that a virtual thread took a monitor again, of the thread or group that is not ANY. */
static uint64_t retaken(const struct tables *t, int thread, int group)
{
    uint64_t n = 0;
    for (size_t i = 0; i < sim_n_spans(t->o->s); i++) {
        const struct true_span *x = sim_span(t->o->s, i);
        n += !has_length(x) && is_chosen(t->sel, x->thread, x->lock) && x->start >= t->sel->from &&
             x->start < t->sel->to && is_same(thread, x->thread) &&
             is_same(group, t->group[x->lock]);
    }
    return n;
}

static void check_thread(const struct tables *t, uint32_t thread)
{
    const struct thread_sums *got = &t->stats.threads[thread];
    struct life life = oracle_life(t->o->s, thread);
    struct only only = all;
    uint64_t ns = 0, open = 0;
    only.thread = (int)thread;
    for (int k = 0; k < WAIT_STATES; k++) {
        only.state = k;
        struct tally want = tally(t, only);
        check_state(&got->state[k], &want, "a thread's waits");
        ns += want.ns;
        open += want.open;
        free(want.lengths);
    }
    bool lived =
        (!t->sel->threads || t->sel->threads[thread]) && clip(t->sel, &life.from, &life.to);
    CHECK_EQ(got->life, lived ? life.to - life.from : 0, "thread %u", thread);
    bool unknown = check_unseen(t->o, t->a, thread) && !t->sel->lock;
    CHECK_EQ(got->state[STATE_UNKNOWN].ns, unknown ? got->life - ns : 0, "thread %u", thread);
    uint64_t sum = thread_sums_running(got) + ns + got->state[STATE_UNKNOWN].ns;
    for (int k = 0; k < HALTED_KINDS; k++)
        sum += got->halted[k];
    CHECK_EQ(sum, got->life, "thread %u", thread);
    CHECK_EQ(got->open, open, "thread %u", thread);
    CHECK_EQ(got->unknown, 0, "thread %u", thread);
    CHECK_EQ(got->reacquired, retaken(t, (int)thread, ANY), "thread %u", thread);
}

static void check_class(const struct tables *t, int group)
{
    struct class_stats *got = &t->stats.classes[group];
    struct only only = all;
    bool used[LOCKS] = {false};
    uint64_t objects = 0;
    only.group = group;
    for (int k = 0; k < STATE_LIMIT; k++) {
        only.state = k;
        check_waits(&got->state[k], tally(t, only), "a class's waits");
    }
    only.state = STATE_WAITING;
    struct tally waited = tally(t, only);
    CHECK_EQ(got->timed_out, waited.timed_out, "group %d", group);
    CHECK_EQ(got->reacquired, retaken(t, ANY, group), "group %d", group);
    free(waited.lengths);
    for (size_t i = 0; i < t->n; i++) {
        const struct part *p = &t->parts[i];
        if (p->state != STATE_BLOCKED && p->state != STATE_WAITING)
            continue;
        objects += t->group[p->x->lock] == (uint32_t)group && p->x->lock && !used[p->x->lock];
        used[p->x->lock] = true;
    }
    CHECK_EQ(got->objects, objects, "group %d", group);
}

static void check_site(const struct tables *t, uint32_t i)
{
    const struct site *site = &t->a->sites.v[i];
    struct only only = all;
    only.group = (int)site->group;
    only.place = place_of(t, site->stack.v);
    for (int k = 0; k < STATE_LIMIT; k++) {
        only.state = k;
        check_waits(&t->stats.sites[i].state[k], tally(t, only), "a site's waits");
    }
    only = all;
    only.group = (int)site->group;
    only.owner_place = place_of(t, site->stack.v);
    struct tally want = tally(t, only);
    check_sums(&t->stats.owner_sites[i], &want, "what owners executed");
    free(want.lengths);
}

static void check_lock(const struct tables *t, uint32_t lock)
{
    const struct lock_stats *got = &t->stats.locks[lock];
    struct only only = all;
    uint64_t n = 0, ns = 0, max = 0;
    only.lock = (int)lock;
    for (int k = 0; k < STATE_LIMIT; k++) {
        only.state = k;
        struct tally want = tally(t, only);
        check_state(&got->state[k], &want, "a lock's waits");
        free(want.lengths);
    }
    for (size_t i = 0; i < sim_n_events(t->o->s); i++) {
        const struct event *e = sim_event(t->o->s, i);
        if (e->kind != EV_hold || e->hold.lock.v != lock || !is_chosen(t->sel, e->thread.v, lock))
            continue;
        uint64_t from = e->hold.since, to = e->time;
        if (!clip(t->sel, &from, &to))
            continue;
        n++;
        ns += to - from;
        max = max_u64(max, to - from);
    }
    CHECK_EQ(got->holds, n, "lock %u", lock);
    CHECK_EQ(got->held_ns, ns, "lock %u", lock);
    CHECK_EQ(got->held_max, max, "lock %u", lock);
}

static void check_blame(const struct tables *t, const struct blame *got)
{
    static const int states[] = {STATE_BLOCKED, STATE_WAITING, STATE_PARKED};
    const struct blame_sum *sums[] = {&got->blocked, &got->waited, &got->parked};
    struct only only = all;
    only.group = (int)got->group;
    only.thread = (int)got->waiter;
    only.owner = (int)got->owner;
    for (int i = 0; i < 3; i++) {
        only.state = states[i];
        struct tally want = tally(t, only);
        CHECK_EQ(sums[i]->count, want.count, "thread %u for %u", got->waiter, got->owner);
        CHECK_EQ(sums[i]->ns, want.ns, "thread %u for %u", got->waiter, got->owner);
        CHECK_EQ(sums[i]->max, want.max, "thread %u for %u", got->waiter, got->owner);
        free(want.lengths);
    }
}

static void check_blames(const struct tables *t)
{
    const struct blame_source from = {&t->a->timeline, &t->a->locks, &t->a->purposes, t->sel,
                                      EVERY_CLASS};
    const struct blame *list;
    struct arena arena;
    size_t n;
    uint64_t count = 0;
    arena_init(&arena, 0);
    cr_assert_eq(
        blames_list(&from, BLAME_BY_GROUP | BLAME_BY_WAITER | BLAME_BY_OWNER, &arena, &list, &n),
        0);
    for (size_t i = 0; i < n; i++) {
        check_blame(t, &list[i]);
        count += list[i].blocked.count + list[i].waited.count + list[i].parked.count;
    }
    const struct state_stats *total = t->stats.total;
    CHECK_EQ(count,
             total[STATE_BLOCKED].count + total[STATE_WAITING].count + total[STATE_PARKED].count,
             "blames");
    arena_fini(&arena);
}

static void find_groups(struct tables *t)
{
    const struct trace *trace = t->a->trace;
    CHECK(trace->n_locks <= LOCKS, "%zu locks", trace->n_locks);
    for (size_t i = 1; i < trace->n_locks; i++) {
        const char *name = trace_class(trace, trace->locks[i].class_)->signature;
        for (uint32_t g = 1; g < t->a->locks.n_groups; g++)
            if (strcmp(t->a->locks.groups[g].signature, name) == 0)
                t->group[i] = g;
    }
}

void check_tables(const struct oracle *o, const struct analysis *a,
                  const struct selection *selection)
{
    struct tables t = {.o = o, .a = a, .sel = selection};
    cr_assert_eq(analysis_stats(a, selection, &t.stats), 0);
    find_parts(&t);
    find_groups(&t);
    for (uint32_t i = 1; i <= o->s->n_ids; i++)
        check_thread(&t, i);
    for (size_t i = 0; i < a->locks.n_groups; i++)
        check_class(&t, (int)i);
    for (uint32_t i = 0; i < a->sites.n; i++)
        check_site(&t, i);
    for (uint32_t i = 0; i < a->locks.n_objects; i++)
        check_lock(&t, i);
    for (int k = 0; k < STATE_LIMIT; k++) {
        struct only only = all;
        only.state = k;
        struct tally want = tally(&t, only);
        check_state(&t.stats.total[k], &want, "all");
        free(want.lengths);
    }
    check_blames(&t);
    free(t.parts);
    stats_fini(&t.stats);
}
