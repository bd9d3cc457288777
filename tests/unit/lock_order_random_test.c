/* lock_order_random_test.c - random programs that take locks, against a search of all pairs
 * (triples, quadruples) of the times that they did.
 *
 * The simulator writes down what happens (struct taken) and writes it to the trace, with vector
 * clocks for starts and joins.  The search knows nothing of graphs, sets of locks or epochs;
 * whether a finding can be reordered is asked of the list of all that happened, event by event. */
#include "analyze/analysis.h"
#include "analyze/lock_order.h"
#include "cases.h"
#include "conclude/resource.h"
#include "trace_builder.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum {
    THREADS = 6,
    LOCKS = 6,
    MONITORS = 4, /* the others are locks of java.util.concurrent, for readers, too */
    SITES = 2,
    TAKEN_MAX = 400,
    STEPS_MAX = 400,
    STEP = 100000, /* ns: so that owners seen are seen in time */
    EVENTS_MAX = 8 * STEPS_MAX,
    LONGEST = LOCK_ORDER_LONGEST,
};

/* --- what happened ---------------------------------------------------------------------------- */

/* A lock that a thread had for a while, without a wait on it. */
struct taken {
    int thread, lock, site; /* where it says that it wanted it; SITES: in Object.wait */
    int held_site;          /* as others of its takings see it */
    bool shared, told;      /* written: there is a hold in the trace */
    bool waited;            /* before it had it */
    bool again;             /* after an Object.wait */
    bool never;             /* it was still waiting at the end */
    uint64_t wanted, from, to;
    unsigned clock[THREADS]; /* at `from` */
};

/* That a thread began to wait for a lock, while its owner waited for another. */
struct seen {
    int owner, lock;
    uint64_t time, until; /* of the wait that saw it */
};

/* Everything, for the check whether it can be reordered. */
enum doing { TAKES, GIVES, STARTS, RUNS, ENDS, JOINED, UNPARKS, WOKEN, NOTHING };

struct happened {
    int thread;
    enum doing what;
    int other; /* thread, lock */
    int cause; /* index of what must be in before it; -1: nothing */
    bool shared;
    uint64_t time;
};

enum state { UNBORN, RUNNING, WANTS, IN_WAIT, PARKED, JOINS, OVER };

struct actor {
    enum state state;
    int lock, site, target, cause;
    bool shared, permit;
    int start, end; /* indices of what happened */
    uint64_t since;
    unsigned clock[THREADS];
    uint64_t wait_since;
};

static struct sim {
    struct trace_builder b;
    thread_id thread[THREADS];
    lock_id lock[LOCKS];
    stack_id stack[SITES + 1];
    struct event events[EVENTS_MAX];
    size_t n_events;
    struct actor actors[THREADS];
    struct taken taken[TAKEN_MAX];
    int n;
    struct seen seen[TAKEN_MAX];
    int n_seen;
    struct happened happened[EVENTS_MAX];
    int n_happened;
    int have[THREADS][LOCKS]; /* 1 + index of taken; 0: it does not */
    uint64_t now;
    bool sampled, waits, any_wait;
} s;

static int below(int n)
{
    return rand() % n;
}

static int class_of(int lock)
{
    return lock % 3;
}

#define TELL(who, kind_, ...)                                                                      \
    (s.events[s.n_events++] = (struct event){.time = s.now,                                        \
                                             .thread = s.thread[who],                              \
                                             .kind = EV_##kind_,                                   \
                                             .size = EVENT_HEAD,                                   \
                                             .kind_ = {__VA_ARGS__}})
#define TELL0(who, kind_)                                                                          \
    (s.events[s.n_events++] = (struct event){                                                      \
         .time = s.now, .thread = s.thread[who], .kind = EV_##kind_, .size = EVENT_HEAD})

static int note(int thread, enum doing what, int other, int cause, bool shared)
{
    s.happened[s.n_happened] = (struct happened){thread, what, other, cause, shared, s.now};
    return s.n_happened++;
}

/* --- locks ------------------------------------------------------------------------------------ */

static int owner_of(int lock)
{
    for (int i = 0; i < THREADS; i++)
        if (s.have[i][lock] && !s.taken[s.have[i][lock] - 1].shared)
            return i;
    return -1;
}

static bool is_free(int lock, bool shared)
{
    for (int i = 0; i < THREADS; i++)
        if (s.have[i][lock] && (!shared || !s.taken[s.have[i][lock] - 1].shared))
            return false;
    return true;
}

/* Whether a thread that waits for this lock waits for `who`, perhaps through others. */
static bool depends_on(int lock, int who, int depth)
{
    for (int i = 0; i < THREADS; i++) {
        if (!s.have[i][lock])
            continue;
        const struct actor *x = &s.actors[i];
        if (i == who || depth == 0)
            return true;
        if (x->state == WANTS && depends_on(x->lock, who, depth - 1))
            return true;
        if (x->state == JOINS || x->state == PARKED || x->state == IN_WAIT)
            return true; /* who knows */
    }
    return false;
}

static void get(int who, int lock, bool waited, bool again)
{
    struct actor *x = &s.actors[who];
    struct taken *k = &s.taken[s.n];
    *k = (struct taken){.thread = who,
                        .lock = lock,
                        .site = again ? SITES : x->site,
                        .held_site = again ? SITES : x->site,
                        .shared = x->shared,
                        .waited = waited,
                        .again = again,
                        .wanted = x->since,
                        .from = s.now};
    x->clock[who]++;
    memcpy(k->clock, x->clock, sizeof k->clock);
    s.have[who][lock] = ++s.n;
    note(who, TAKES, lock, -1, x->shared);
    x->state = RUNNING;
}

/* The same hold goes on after an Object.wait: its stack and time are of the first part. */
static void give(int who, int lock, bool tell)
{
    int i = s.have[who][lock] - 1;
    struct taken *k = &s.taken[i];
    k->to = s.now;
    s.have[who][lock] = 0;
    note(who, GIVES, lock, -1, k->shared);
    if (!tell)
        return;
    int first = i;
    for (int p = i; p >= 0 && s.taken[first].again; p--)
        if (s.taken[p].thread == who && s.taken[p].lock == lock)
            first = p;
    bool told = !s.sampled || below(3) > 0;
    for (int p = first; p <= i; p++)
        if (s.taken[p].thread == who && s.taken[p].lock == lock)
            s.taken[p].told = told;
    if (told)
        TELL(who, hold, .lock = s.lock[lock], .since = BUILDER_START + s.taken[first].from,
             .stack = s.stack[s.taken[first].site],
             .mode = lock < MONITORS ? 0
                     : k->shared     ? 2
                                     : 1);
}

static void want(int who)
{
    struct actor *x = &s.actors[who];
    int lock = below(LOCKS);
    bool shared = lock >= MONITORS && below(2);
    if (s.have[who][lock] || s.n + 1 >= TAKEN_MAX)
        return;
    bool is_now = is_free(lock, shared);
    if (!is_now && depends_on(lock, who, 3))
        return;
    x->lock = lock;
    x->shared = shared;
    x->site = below(SITES);
    x->since = s.now;
    if (is_now) {
        get(who, lock, false, false);
        return;
    }
    x->state = WANTS;
    int owner = owner_of(lock);
    thread_id named = {owner >= 0 ? s.thread[owner].v : 0};
    if (lock < MONITORS)
        TELL(who, monitor_contended_enter, .lock = s.lock[lock], .owner = named,
             .stack = s.stack[x->site]);
    else
        TELL(who, park_enter, .lock = s.lock[lock], .owner = named, .stack = s.stack[x->site]);
    if (owner >= 0)
        s.seen[s.n_seen++] = (struct seen){owner, lock, s.now, UINT64_MAX};
}

static void wait_on(int who, int lock)
{
    struct actor *x = &s.actors[who];
    TELL(who, wait_enter, .lock = s.lock[lock], .stack = s.stack[SITES]);
    give(who, lock, false);
    x->state = IN_WAIT;
    x->lock = lock;
    x->shared = false;
    x->wait_since = s.now;
    s.any_wait = true;
}

/* --- a step ----------------------------------------------------------------------------------- */

static void start_one(int who)
{
    for (int i = 1; i < THREADS; i++) {
        struct actor *x = &s.actors[i];
        if (x->state != UNBORN)
            continue;
        TELL(who, thread_start_called, .target = s.thread[i]);
        s.actors[who].clock[who]++;
        memcpy(x->clock, s.actors[who].clock, sizeof x->clock);
        x->clock[i] = 1;
        int start = note(who, STARTS, i, -1, false);
        s.now += 10;
        TELL0(i, thread_start);
        note(i, RUNS, who, start, false);
        x->state = RUNNING;
        return;
    }
}

static bool has_any(int who)
{
    for (int i = 0; i < LOCKS; i++)
        if (s.have[who][i])
            return true;
    return false;
}

static void join(int who, int target)
{
    struct actor *x = &s.actors[who];
    if (target == who || s.actors[target].state == UNBORN || target == 0 || has_any(who) ||
        s.actors[target].state == JOINS)
        return;
    TELL(who, join_enter, .target = s.thread[target]);
    x->state = JOINS;
    x->target = target;
}

static void unpark(int who, int target)
{
    struct actor *x = &s.actors[target];
    if (x->state != PARKED)
        return; /* else the permit might end a wait for a lock */
    TELL(who, unpark, .target = s.thread[target]);
    int cause = note(who, UNPARKS, target, -1, false);
    if (!x->permit)
        x->cause = cause;
    x->permit = true;
}

static bool is_joined(int who)
{
    for (int i = 0; i < THREADS; i++)
        if (s.actors[i].state == JOINS && s.actors[i].target == who)
            return true;
    return false;
}

static void end(int who)
{
    struct actor *x = &s.actors[who];
    x->state = OVER;
    TELL0(who, thread_end);
    x->clock[who]++;
    x->end = note(who, ENDS, 0, -1, false);
}

static void act(int who)
{
    struct actor *x = &s.actors[who];
    int kind = below(20), lock = below(LOCKS);
    if (who && !has_any(who) && below(is_joined(who) ? 4 : 60) == 0) {
        end(who);
    } else if (kind < 9) {
        want(who);
    } else if (kind < 15) {
        for (int i = 0; i < LOCKS && !s.have[who][lock]; i++)
            lock = (lock + 1) % LOCKS;
        if (s.have[who][lock])
            give(who, lock, true);
    } else if (kind == 15) {
        start_one(who);
    } else if (kind == 16) {
        join(who, below(THREADS));
    } else if (kind == 17 && s.waits && lock < MONITORS && s.have[who][lock]) {
        wait_on(who, lock);
    } else if (kind == 18 && !s.waits) {
        unpark(who, below(THREADS));
    } else if (kind == 19 && !s.waits && !has_any(who)) {
        TELL0(who, park_enter);
        x->state = PARKED;
    }
}

static void go_on(int who)
{
    struct actor *x = &s.actors[who];
    if (x->state == WANTS && is_free(x->lock, x->shared)) {
        if (x->lock < MONITORS)
            TELL(who, monitor_contended_entered, .lock = s.lock[x->lock]);
        else
            TELL(who, park_exit, .lock = s.lock[x->lock]);
        for (int i = s.n_seen; i-- > 0;)
            if (s.seen[i].time == x->since)
                s.seen[i].until = s.now;
        s.now++; /* the probe comes a moment later */
        get(who, x->lock, true, false);
    } else if (x->state == IN_WAIT && is_free(x->lock, false) && below(2)) {
        TELL(who, wait_exit, .lock = s.lock[x->lock], .timed_out = 1);
        x->since = s.now;
        get(who, x->lock, false, true);
    } else if (x->state == PARKED && (x->permit || below(4) == 0)) {
        TELL0(who, park_exit);
        note(who, WOKEN, 0, x->permit ? x->cause : -1, false);
        x->permit = false;
        x->state = RUNNING;
    } else if (x->state == JOINS && s.actors[x->target].state == OVER) {
        const struct actor *over = &s.actors[x->target];
        TELL(who, join_exit, .target = s.thread[x->target]);
        for (int i = 0; i < THREADS; i++)
            x->clock[i] = x->clock[i] > over->clock[i] ? x->clock[i] : over->clock[i];
        x->clock[who]++;
        note(who, JOINED, x->target, over->end, false);
        x->state = RUNNING;
    }
}

static void finish(void)
{
    for (int round = 0; round < 2 * THREADS * LOCKS; round++) {
        for (int i = 0; i < THREADS; i++) {
            s.now += STEP;
            if (s.actors[i].state == WANTS || s.actors[i].state == IN_WAIT)
                go_on(i);
        }
        for (int i = 0; i < THREADS; i++)
            for (int k = 0; k < LOCKS; k++)
                if (s.have[i][k] && s.actors[i].state == RUNNING) {
                    s.now += STEP;
                    give(i, k, true);
                }
    }
    /* Holds of threads that wait for others were never written. */
    for (int i = 0; i < s.n; i++)
        if (!s.taken[i].to)
            s.taken[i].to = UINT64_MAX;
}

static void simulate(int seed, int steps)
{
    srand((unsigned)seed);
    memset(&s, 0, sizeof s);
    s.sampled = seed % 3 == 1;
    s.waits = seed % 3 == 2;
    s.now = 1000;
    builder_init(&s.b);
    class_id classes[3] = {builder_class(&s.b, "La/A;"), builder_class(&s.b, "Lb/B;"),
                           builder_class(&s.b, "Lc/C;")};
    for (int i = 0; i < THREADS; i++)
        s.thread[i] = builder_thread(&s.b, "t");
    for (int i = 0; i < LOCKS; i++)
        s.lock[i] = builder_lock(&s.b, classes[class_of(i)]);
    s.stack[0] = builder_stack(&s.b, "a.A.f:1");
    s.stack[1] = builder_stack(&s.b, "a.A.g:1");
    s.stack[2] = builder_stack(&s.b, "a.A.w:1");
    if (s.sampled)
        builder_info(&s.b, "orca.holdsample", "2");
    s.actors[0].state = RUNNING;
    s.actors[0].clock[0] = 1;
    for (int i = below(5); i > 0; i--)
        start_one(0);
    for (int i = 0; i < steps; i++) {
        int who = below(THREADS);
        s.now += STEP + (uint64_t)below(STEP);
        if (s.actors[who].state == RUNNING)
            act(who);
        else if (s.actors[who].state != OVER && s.actors[who].state != UNBORN)
            go_on(who);
    }
    finish();
}

/* --- what there is to find -------------------------------------------------------------------- */

struct lock_at {
    int lock, site;
    bool shared;
};

/* A lock that a thread had when it wanted another one, as far as the trace knows. */
struct pair {
    int thread, taken;
    struct lock_at held, wanted;
    uint64_t from, to, wanted_time;
    struct lock_at all[LOCKS]; /* that it had, by lock: site -1: it did not */
    const unsigned *clock;
};

struct expected {
    int n, kinds[LONGEST];
    uint64_t distance;
    bool symmetric, gated, possible;
    int n_tuples, tuples[2000][LONGEST];
    int n_edges, edges[2000][2]; /* side, index of a pair */
};

enum { PAIRS_MAX = 300, EXPECTED_MAX = 4000 };

static struct pair pairs[PAIRS_MAX];
static int n_pairs;
static struct expected expected[EXPECTED_MAX];
static int n_expected;
static bool explained[100000];

/* What a thread was known to have when it took (or began to wait for) something. */
static void know(struct pair *p, const struct taken *k, int i, uint64_t from[LOCKS],
                 uint64_t to[LOCKS])
{
    uint64_t at = k->told ? k->from : k->waited ? k->from - 1 : k->from;
    for (int l = 0; l < LOCKS; l++)
        p->all[l].site = -1;
    for (int j = 0; j < s.n; j++) {
        const struct taken *h = &s.taken[j];
        if (j == i || h->thread != k->thread || !h->told || h->from >= at || h->to <= at ||
            h->lock == k->lock)
            continue;
        p->all[h->lock] = (struct lock_at){h->lock, h->held_site, h->shared};
        from[h->lock] = h->from;
        to[h->lock] = h->to;
    }
    for (int j = 0; j < s.n_seen && k->waited; j++) {
        const struct seen *x = &s.seen[j];
        uint64_t until = k->from - 1;
        if (x->owner != k->thread || x->lock == k->lock || x->time < k->wanted ||
            x->time + 20000 > until || x->until < until || p->all[x->lock].site >= 0)
            continue;
        p->all[x->lock] = (struct lock_at){x->lock, SITES + 1, false};
        from[x->lock] = k->wanted;
        to[x->lock] = until;
    }
}

static void find_pairs(void)
{
    n_pairs = 0;
    for (int i = 0; i < s.n; i++) {
        const struct taken *k = &s.taken[i];
        struct pair p = {.thread = k->thread, .taken = i, .clock = k->clock};
        uint64_t from[LOCKS], to[LOCKS];
        if (!k->told && !k->waited && !k->again)
            continue;
        know(&p, k, i, from, to);
        p.wanted =
            (struct lock_at){k->lock, k->site, k->shared || (!k->told && k->lock >= MONITORS)};
        p.wanted_time = k->wanted;
        for (int l = 0; l < LOCKS; l++) {
            if (p.all[l].site < 0 || n_pairs == PAIRS_MAX)
                continue;
            p.held = p.all[l];
            p.from = from[l];
            p.to = to[l];
            pairs[n_pairs++] = p;
        }
    }
}

static int kind_of(const struct pair *p)
{
    return ((class_of(p->held.lock) * (SITES + 2) + p->held.site) * 3 + class_of(p->wanted.lock)) *
               (SITES + 2) +
           p->wanted.site;
}

static bool always_before(const struct pair *x, const struct pair *y)
{
    return y->clock[x->thread] >= x->clock[x->thread];
}

static bool have_gate(const struct pair *x, const struct pair *y)
{
    for (int l = 0; l < LOCKS; l++)
        if (x->all[l].site >= 0 && y->all[l].site >= 0 && !(x->all[l].shared && y->all[l].shared))
            return true;
    return false;
}

static struct expected *expect(const int *cycle, int n, int *rotated)
{
    int best = 0;
    for (int r = 1; r < n; r++) {
        int order = 0;
        for (int i = 0; i < n && !order; i++)
            order = kind_of(&pairs[cycle[(r + i) % n]]) - kind_of(&pairs[cycle[(best + i) % n]]);
        best = order < 0 ? r : best;
    }
    struct expected x = {.n = n, .distance = UINT64_MAX};
    for (int i = 0; i < n; i++) {
        rotated[i] = cycle[(best + i) % n];
        x.kinds[i] = kind_of(&pairs[rotated[i]]);
    }
    for (int r = 1; r < n; r++) {
        bool same = true;
        for (int i = 0; i < n; i++)
            same &= x.kinds[i] == x.kinds[(r + i) % n];
        x.symmetric |= same;
    }
    for (int i = 0; i < n_expected; i++)
        if (expected[i].n == n && memcmp(expected[i].kinds, x.kinds, sizeof x.kinds) == 0)
            return &expected[i];
    cr_assert_lt(n_expected, EXPECTED_MAX);
    expected[n_expected] = x;
    return &expected[n_expected++];
}

static void add_possible(struct expected *x, const int *cycle)
{
    uint64_t begin = 0, end = UINT64_MAX;
    int tuple[LONGEST] = {0}, i = 0;
    x->possible = true;
    for (int k = 0; k < x->n; k++) {
        const struct pair *p = &pairs[cycle[k]];
        begin = p->from > begin ? p->from : begin;
        end = p->to < end ? p->to : end;
        tuple[k] = p->held.lock;
        for (i = 0; i < x->n_edges; i++)
            if (x->edges[i][0] == k && x->edges[i][1] == cycle[k])
                break;
        if (i == x->n_edges) {
            x->edges[x->n_edges][0] = k;
            x->edges[x->n_edges++][1] = cycle[k];
        }
    }
    uint64_t distance = begin > end ? begin - end : 0;
    x->distance = distance < x->distance ? distance : x->distance;
    for (i = 0; i < x->n_tuples && memcmp(x->tuples[i], tuple, sizeof tuple) != 0; i++)
        ;
    if (i == x->n_tuples)
        memcpy(x->tuples[x->n_tuples++], tuple, sizeof tuple);
}

static void judge(const int *cycle, int n)
{
    int rotated[LONGEST];
    bool gate = false, ordered = false, new = n == 2;
    for (int i = 0; i < n; i++) {
        const struct pair *p = &pairs[cycle[i]];
        if (p->wanted.shared && pairs[cycle[(i + 1) % n]].held.shared)
            return;
        new |= !explained[kind_of(p)];
        for (int k = 0; k < i; k++) {
            const struct pair *q = &pairs[cycle[k]];
            gate |= have_gate(p, q);
            ordered |= always_before(p, q) || always_before(q, p);
        }
    }
    if (!new || (ordered && !gate))
        return;
    struct expected *x = expect(cycle, n, rotated);
    if (gate)
        x->gated = true;
    else
        add_possible(x, rotated);
}

/* All cycles of n pairs of different threads and locks, once. */
static void search(int *cycle, int at, int n)
{
    const struct pair *last = &pairs[cycle[at - 1]];
    for (int i = 0; i < n_pairs; i++) {
        const struct pair *p = &pairs[i];
        bool closes = p->wanted.lock == pairs[cycle[0]].held.lock, other = i > cycle[0];
        if (p->held.lock != last->wanted.lock || closes != (at + 1 == n))
            continue;
        for (int k = 0; k < at; k++)
            other &= p->thread != pairs[cycle[k]].thread &&
                     (p->wanted.lock != pairs[cycle[k]].held.lock || (closes && k == 0));
        if (!other)
            continue;
        cycle[at] = i;
        if (closes)
            judge(cycle, n);
        else
            search(cycle, at + 1, n);
    }
}

static void find_expected(void)
{
    memset(explained, 0, sizeof explained);
    n_expected = 0;
    for (int n = 2; n <= LONGEST; n++) {
        for (int i = 0; i < n_pairs; i++) {
            int cycle[LONGEST] = {i};
            search(cycle, 1, n);
        }
        for (int i = 0; i < n_expected; i++)
            for (int k = 0; k < expected[i].n && expected[i].possible; k++)
                explained[expected[i].kinds[k]] = true;
    }
}

static bool same_dependency(const struct pair *x, const struct pair *y)
{
    for (int l = 0; l < LOCKS; l++)
        if (x->all[l].site != y->all[l].site ||
            (x->all[l].site >= 0 && x->all[l].shared != y->all[l].shared))
            return false;
    return x->wanted.lock == y->wanted.lock && x->wanted.site == y->wanted.site &&
           x->wanted.shared == y->wanted.shared;
}

/* How often the sides of a fold ran: all times of the dependencies that it has. */
static uint64_t count_of(const struct expected *x)
{
    uint64_t least = UINT64_MAX;
    for (int side = 0; side < x->n; side++) {
        uint64_t times = 0;
        for (int p = 0; p < n_pairs; p++)
            for (int i = 0; i < x->n_edges; i++) {
                const struct pair *e = &pairs[x->edges[i][1]];
                if (x->edges[i][0] == side && e->held.lock == pairs[p].held.lock &&
                    same_dependency(e, &pairs[p])) {
                    times++;
                    break;
                }
            }
        least = times < least ? times : least;
    }
    return least;
}

/* --- reordering, event by event --------------------------------------------------------------- */

static bool in[EVENTS_MAX];

static void put_in(int i)
{
    for (int k = 0; k <= i; k++)
        if (s.happened[k].thread == s.happened[i].thread)
            in[k] = true;
}

/* Of two takings of a lock that are in, the first one's giving back must be in. */
static bool add_releases(void)
{
    bool changed = false;
    for (int i = 0; i < s.n_happened; i++) {
        const struct happened *x = &s.happened[i];
        if (!in[i] || x->what != TAKES)
            continue;
        int given = i + 1;
        while (given < s.n_happened &&
               !(s.happened[given].what == GIVES && s.happened[given].thread == x->thread &&
                 s.happened[given].other == x->other))
            given++;
        for (int k = i + 1; k < s.n_happened; k++) {
            const struct happened *y = &s.happened[k];
            if (!in[k] || y->what != TAKES || y->other != x->other || y->thread == x->thread ||
                (x->shared && y->shared) || given == s.n_happened || in[given])
                continue;
            put_in(given);
            changed = true;
        }
    }
    return changed;
}

static bool can_reorder(const struct lock_order_finding *f)
{
    int stop[LONGEST];
    bool changed = true;
    memset(in, 0, sizeof in);
    for (uint32_t i = 0; i < f->n_sides; i++) {
        const struct lock_order_side *side = &f->sides[i];
        int who = (int)side->thread - 1;
        stop[i] = 0;
        while (s.happened[stop[i]].thread != who || s.happened[stop[i]].what != TAKES ||
               BUILDER_START + s.happened[stop[i]].time < side->wanted_time ||
               s.lock[s.happened[stop[i]].other].v != side->wanted.v)
            stop[i]++;
        for (int k = 0; k < stop[i]; k++)
            in[k] |= s.happened[k].thread == who;
    }
    while (changed) {
        changed = add_releases();
        for (int i = 0; i < s.n_happened; i++) {
            int cause = s.happened[i].cause;
            if (!in[i] || cause < 0 || in[cause])
                continue;
            put_in(cause);
            changed = true;
        }
    }
    for (uint32_t i = 0; i < f->n_sides; i++)
        if (in[stop[i]])
            return false;
    return true;
}

/* --- comparing -------------------------------------------------------------------------------- */

static int site_number(const struct analysis *a, const struct lock_order_place *at, bool seen)
{
    const struct trace_stack *k = trace_stack(a->trace, at->stack);
    if (seen || !k->n_frames)
        return SITES + 1;
    const char *name = trace_method(a->trace, k->frames[0].method)->name;
    return *name == 'f' ? 0 : *name == 'g' ? 1 : 2;
}

static const struct expected *expected_of(const struct analysis *a,
                                          const struct lock_order_finding *f)
{
    for (int i = 0; i < n_expected; i++) {
        for (uint32_t r = 0; r < f->n_sides && expected[i].n == (int)f->n_sides; r++) {
            bool same = true;
            for (uint32_t k = 0; k < f->n_sides; k++) {
                const struct lock_order_side *x = &f->sides[(r + k) % f->n_sides];
                const struct pair p = {
                    .held = {(int)x->held.v - 1, site_number(a, &x->held_at, x->seen), false},
                    .wanted = {(int)x->wanted.v - 1, site_number(a, &x->wanted_at, false), false}};
                same &= kind_of(&p) == expected[i].kinds[k];
            }
            if (same)
                return &expected[i];
        }
    }
    return NULL;
}

static int n_long, n_reorderable, n_checked, n_seen_sides;

static void compare(const struct analysis *a, const struct lock_order *found, int seed)
{
    size_t want = 0; /* in a sampled recording a gate that was seen once counts always */
    for (int i = 0; i < n_expected; i++)
        want += expected[i].possible && !(s.sampled && expected[i].gated);
    for (size_t i = 0; i < found->n; i++) {
        const struct lock_order_finding *f = &found->v[i];
        const struct expected *x = expected_of(a, f);
        cr_assert(x && x->possible, "seed %d: finding %zu is none", seed, i);
        cr_assert_eq(f->distance, x->distance, "seed %d: distance %lu instead of %lu", seed,
                     f->distance, x->distance);
        if (!x->symmetric) {
            cr_assert_eq(f->cycles, (uint64_t)x->n_tuples, "seed %d: %lu cycles instead of %d",
                         seed, f->cycles, x->n_tuples);
            cr_assert_eq(f->count, count_of(x), "seed %d: count %lu instead of %lu", seed, f->count,
                         count_of(x));
        }
        if (f->checked && !s.any_wait) {
            bool can = can_reorder(f);
            cr_assert_eq(f->reach == LOCK_ORDER_REORDERABLE, can, "seed %d: finding %zu", seed, i);
            n_reorderable += can;
            n_checked++;
        }
        n_long += f->n_sides > 2;
        for (uint32_t k = 0; k < f->n_sides; k++)
            n_seen_sides += f->sides[k].seen;
    }
    cr_assert_eq(found->n, want, "seed %d: %zu findings instead of %zu", seed, found->n, want);
}

static int by_time(const void *x, const void *y)
{
    const struct event *const e = x, *const f = y;
    if (e->time != f->time)
        return e->time < f->time ? -1 : 1;
    return (e > f) - (e < f);
}

static void one(int seed, int steps)
{
    struct err err = {""};
    struct analysis *a;
    struct lock_order found;
    struct arena arena;
    simulate(seed, steps);
    qsort(s.events, s.n_events, sizeof *s.events, by_time);
    for (size_t i = 0; i < s.n_events; i++) {
        s.events[i].time += BUILDER_START;
        builder_event(&s.b, s.events[i].thread.v, &s.events[i]);
    }
    struct trace *t = builder_open(&s.b, s.now + STEP);
    arena_init(&arena, 0);
    cr_assert_eq(conclude_run(&a, t, &err), 0, "%s", err.msg);
    cr_assert_eq(lock_order_find(&found, a, &arena), 0);
    find_pairs();
    find_expected();
    compare(a, &found, seed);
    arena_fini(&arena);
    analysis_free(a);
    trace_close(t);
}

Test(lock_order_random, short_programs)
{
    n_long = n_reorderable = n_checked = n_seen_sides = 0;
    for (int i = 0; i < cases(CASES(3000)); i++)
        one(i, 60 + i % 140);
    cr_assert_gt(n_long, cases(CASES(100)));
    cr_assert_gt(n_reorderable, cases(CASES(100)));
    cr_assert_gt(n_checked - n_reorderable, cases(CASES(100)));
    cr_assert_gt(n_seen_sides, cases(CASES(10)));
}

Test(lock_order_random, long_programs)
{
    n_long = n_reorderable = n_checked = n_seen_sides = 0;
    for (int i = 0; i < cases(400); i++)
        one(i, 250 + i % 150);
    cr_assert_gt(n_long, cases(100));
    cr_assert_gt(n_reorderable, cases(100));
    cr_assert_gt(n_checked - n_reorderable, cases(100));
    cr_assert_gt(n_seen_sides, cases(10));
}
