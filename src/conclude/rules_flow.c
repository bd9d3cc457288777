#include "analyze/labels.h"
#include "base/human.h"
#include "base/util.h"
#include "conclude/rules_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SLEEP_PERMILLE = 100,  /* of the path */
    SLEEP_LOOP = 3,        /* sleeps of main at one place, half of the time: it lets time pass */
    SERIAL_PERMILLE = 300, /* of the time with one thread running, */
    SERIAL_LEAST_NS = 500000000,
    SERIAL_ONE_PERMILLE = 600,   /* most of it the same one, */
    SERIAL_MUCH_PERMILLE = 600,  /* or, for a warning, of all of the time; */
    SERIAL_THREADS = 3,          /* number of threads at least, */
    SERIAL_OTHERS_PERMILLE = 50, /* which do something, or together twice as much */
    SERIAL_GIVES = 20,           /* waits of others for work that it ended, half of that time */
    JOIN_LEAST = 3,              /* threads joined in one go */
    JOIN_PERMILLE = 250,         /* of their time waiting for the slowest alone */
    POOL_TASKS = 20,
    POOL_QUEUE_PERMILLE = 1000, /* thousandths of a task waiting on average */
};

/* --- deadlock, stuck -------------------------------------------------------------------------- */

/* Names the lock of each thread that is listed. */
static void say_lock(struct rule_finding *f, const struct evidence *ev,
                     const struct stuck_thread *v, size_t n, size_t i)
{
    struct lock_wait locks[FINDING_IDS];
    n = (size_t)min_u64(n, FINDING_IDS);
    for (size_t k = 0; k < n; k++)
        locks[k] = (struct lock_wait){v[k].lock, v[k].stack, false};
    if (lock_set_group(&ev->a->locks, v[i].lock))
        rule_say_lock_among(f, ev, locks, n, i);
    else
        rule_say(f, "an unknown lock");
}

static void say_stuck(struct rule_finding *f, const struct evidence *ev,
                      const struct stuck_thread *v, size_t n, size_t i)
{
    static const char *const words[STATE_LIMIT] = {
        [STATE_BLOCKED] = " is blocked on ", [STATE_WAITING] = " is in Object.wait of ",
        [STATE_PARKED] = " is parked for ",  [STATE_JOINING] = " is in Thread.join",
        [STATE_SLEEPING] = " sleeps",        [STATE_REACQUIRING] = " reacquires "};
    const struct stuck_thread *s = &v[i];
    bool has_lock = s->state != STATE_JOINING && s->state != STATE_SLEEPING;
    rule_say_thread(f, ev, s->thread);
    rule_say(f, "%s", words[s->state]);
    if (s->state == STATE_JOINING && s->on) {
        rule_say(f, " of ");
        rule_say_thread(f, ev, s->on);
    } else if (has_lock) {
        say_lock(f, ev, v, n, i);
    }
    rule_say_place(f, ev, " in ", s->stack);
    if (has_lock && s->on) {
        rule_say(f, ", held by ");
        rule_say_thread(f, ev, s->on);
    }
    rule_add_thread(f, ev, s->thread);
    rule_add_lock(f, s->lock);
    rule_add_stack(f, s->stack);
}

/* The thread that ended the last wait of this kind; 0: unknown. */
static uint32_t last_waker(const struct analysis *a, const struct stuck_thread *as)
{
    const struct timeline *t = &a->timeline;
    uint64_t last = 0;
    uint32_t who = 0;
    for (uint32_t i = 1; i < t->n_lines && as->lock.v; i++)
        for (uint32_t k = t->lines[i].spans.n; k > 0; k--) {
            const struct span *s = line_span(&t->lines[i], k - 1);
            if (span_end(t, s) <= last)
                break;
            const struct context *x = timeline_context(t, s->context);
            if (x->lock.v != as->lock.v || x->what != as->state || !s->waker ||
                s->waker >= t->n_lines)
                continue;
            last = span_end(t, s);
            who = s->waker;
        }
    return who;
}

/* The last waker would have to wake the thread again: says whether it still can.  Once for all
 * threads that wait for the same. */
static void say_last_waker(struct rule_finding *f, const struct evidence *ev,
                           const struct stuck_thread *v, size_t i)
{
    const struct analysis *a = ev->a;
    for (size_t k = 0; k < i; k++)
        if (v[k].lock.v == v[i].lock.v)
            return;
    uint32_t who = v[i].state == STATE_JOINING ? 0 : last_waker(a, &v[i]);
    if (!who || !a->threads.v[who].has_ended)
        return;
    uint64_t ended = a->threads.v[who].ended;
    rule_say(f, "; ");
    rule_say_thread(f, ev, who);
    rule_say(f,
             " was the last to wake a thread there, and ended %s after the start of the recording",
             human_time(ended - min_u64(a->trace->header.start_mono, ended)).text);
    rule_add_thread(f, ev, who);
}

/* Whether each thread wants a lock that the next one has.  A cycle of joins has no order to
 * advise. */
static bool is_of_locks(const struct deadlock *d)
{
    for (uint32_t i = 0; i < d->n_members; i++)
        if (!d->members[i].lock.v || d->members[i].state == STATE_JOINING)
            return false;
    return d->n_members > 1;
}

void rule_deadlock(struct evidence *ev)
{
    const struct deadlocks *all = &ev->a->deadlocks;
    for (size_t i = 0; i < all->n; i++) {
        const struct deadlock *d = &all->v[i];
        struct rule_finding *f =
            rule_find(ev, d->sure ? SEVERITY_PROBLEM : SEVERITY_WARNING, UINT64_MAX - 1);
        if (!f)
            return;
        f->from = d->formed;
        rule_say(f, "%s of %s thread%s, for %s", d->sure ? "Deadlock" : "Likely deadlock",
                 human_count(d->n_members).text, d->n_members == 1 ? "" : "s",
                 human_time(ev->a->window.to - d->formed).text);
        for (uint32_t k = 0; k < d->n_members && k < FINDING_IDS; k++) {
            rule_say(f, "; ");
            say_stuck(f, ev, d->members, d->n_members, k);
        }
        if (d->n_behind)
            rule_say(f, "; %s other thread%s behind them", human_count(d->n_behind).text,
                     d->n_behind == 1 ? " waits" : "s wait");
        if (is_of_locks(d)) {
            rule_line(f, CARD_TRY);
            rule_say(f, "take these locks in the same order everywhere");
        }
    }
}

void rule_stuck(struct evidence *ev)
{
    const struct deadlocks *d = &ev->a->deadlocks;
    if (!deadlocks_stuck(d, ev->a->window.to) || d->n)
        return; /* the deadlock says why */
    struct rule_finding *f = rule_find(ev, SEVERITY_PROBLEM, ev->a->window.to - d->stuck_since);
    if (!f)
        return;
    f->from = d->stuck_since;
    rule_say(f,
             "Stuck: every thread of the program (%s) waits without a timeout, for %s; no recorded "
             "thread can wake them",
             human_count(d->n_stuck).text, human_time(ev->a->window.to - d->stuck_since).text);
    for (size_t i = 0; i < d->n_stuck && i < FINDING_IDS; i++) {
        rule_say(f, "; ");
        say_stuck(f, ev, d->stuck, d->n_stuck, i);
        say_last_waker(f, ev, d->stuck, i);
    }
}

/* --- sleep-on-path ---------------------------------------------------------------------------- */

/* Whether the sleeps are mostly the main thread's, in a loop, as until it is time to end. */
static bool lets_time_pass(const struct analysis *a, const struct path_segment *longest,
                           uint64_t all)
{
    const struct path *p = &a->path;
    uint64_t ns = 0;
    uint32_t n = 0;
    for (size_t i = 0; i < p->n; i++)
        if (p->v[i].state == STATE_SLEEPING && p->v[i].thread == longest->thread &&
            p->v[i].stack.v == longest->stack.v) {
            ns += p->v[i].to - p->v[i].from;
            n++;
        }
    return thread_is_main(a->trace, &a->threads.v[longest->thread]) && n >= SLEEP_LOOP &&
           2 * ns >= all;
}

void rule_sleep_on_path(struct evidence *ev)
{
    const struct path *p = &ev->a->path;
    uint64_t ns = 0, longest = 0;
    size_t most = 0;
    for (size_t i = 0; i < p->n; i++) {
        if (p->v[i].state != STATE_SLEEPING)
            continue;
        ns += p->v[i].to - p->v[i].from;
        if (p->v[i].to - p->v[i].from > longest) {
            longest = p->v[i].to - p->v[i].from;
            most = i;
        }
    }
    if (!longest || rule_permille(ns, p->to - p->from) < SLEEP_PERMILLE)
        return;
    /* One long sleep is meant: the program has to run, or wait, for that time. */
    if (longest >= ns / 2 && longest >= (p->to - p->from) / 2)
        return;
    if (rule_resource_says(ev, DOES_SLEEP, p->v[most].stack) ||
        rule_resource_is(ev, RESOURCE_DELAY, p->v[most].stack))
        return;
    bool timer = lets_time_pass(ev->a, &p->v[most], ns);
    struct rule_finding *f = rule_find(ev, timer ? SEVERITY_INFO : SEVERITY_WARNING, ns);
    if (!f)
        return;
    rule_say(f, "Thread.sleep is %u %% of the critical path (%s)",
             rule_permille(ns, p->to - p->from) / 10, human_time(ns).text);
    rule_line(f, CARD_LONGEST);
    rule_say(f, "%s, by ", human_time(longest).text);
    rule_say_thread(f, ev, p->v[most].thread);
    rule_say_place(f, ev, " in ", p->v[most].stack);
    f->from = p->v[most].from;
    f->to = p->v[most].to;
    rule_add_thread(f, ev, p->v[most].thread);
    rule_add_stack(f, p->v[most].stack);
}

/* --- serial-phase ----------------------------------------------------------------------------- */

/* Whether another finding already says what the thread did for most of that time while others
 * waited for it. */
static bool is_told_holder(const struct evidence *ev, uint32_t thread, uint64_t ns)
{
    const struct rule_finding *v = (const void *)ev->found.p;
    for (size_t i = 0; i < ev->found.len / sizeof *v; i++) {
        const struct resource *r = v[i].resource;
        if (r && r->holder == thread && r->n_doing && r->doing->does == DOES_COMPUTE &&
            2 * r->holder_ns >= ns)
            return true;
    }
    return false;
}

/* The thread that ran alone the most, if it is one of several that do something; else 0. */
static uint32_t runs_alone(const struct bottles *g)
{
    uint64_t running = 0;
    uint32_t most = 0, each = 0, any = 0;
    for (uint32_t i = 1; i < g->n; i++) {
        most = g->v[i].alone > g->v[most].alone ? i : most;
        each += rule_permille(g->v[i].running, g->elapsed) >= SERIAL_OTHERS_PERMILLE;
        any += g->v[i].running != 0;
        running += g->v[i].running;
    }
    bool together =
        any >= SERIAL_THREADS &&
        rule_permille(running - g->v[most].running, g->elapsed) >= 2 * SERIAL_OTHERS_PERMILLE;
    return each >= SERIAL_THREADS || together ? most : 0;
}

/* Whether a thread gives the others what they do: it ended most of their waits for work. */
static bool gives_work(const struct analysis *a, uint32_t thread)
{
    uint64_t ns = 0, by = 0, n = 0;
    for (uint32_t i = 1; i < a->timeline.n_lines; i++) {
        const struct line *l = &a->timeline.lines[i];
        for (uint32_t k = 0; k < l->spans.n && i != thread; k++) {
            const struct span *s = line_span(l, k);
            if (!s->waker || !wait_is_for_work(a, s->context))
                continue;
            ns += span_len(&a->timeline, s);
            by += s->waker == thread ? span_len(&a->timeline, s) : 0;
            n += s->waker == thread;
        }
    }
    return n >= SERIAL_GIVES && 2 * by >= ns;
}

void rule_serial_phase(struct evidence *ev)
{
    const struct bottles *g = &ev->a->bottles;
    uint32_t most = runs_alone(g);
    if (!most || rule_permille(g->level[1], g->elapsed) < SERIAL_PERMILLE ||
        rule_permille(g->v[most].alone, g->level[1]) < SERIAL_ONE_PERMILLE ||
        g->v[most].alone < SERIAL_LEAST_NS || is_told_holder(ev, most, g->v[most].alone))
        return;
    /* The main thread starts and ends the others; for a server, this phase is its start. */
    bool mains = thread_is_main(ev->a->trace, &ev->a->threads.v[most]);
    if (mains && ev->a->stop.thread)
        return;
    bool much = rule_permille(g->level[1], g->elapsed) >= SERIAL_MUCH_PERMILLE;
    bool gives = much && !mains && gives_work(ev->a, most);
    struct rule_finding *f = rule_find(ev,
                                       gives            ? SEVERITY_PROBLEM
                                       : mains || !much ? SEVERITY_INFO
                                                        : SEVERITY_WARNING,
                                       g->v[most].alone);
    if (!f)
        return;
    rule_say(f, "Exactly one thread ran for %u %% of the time (%s), mostly ",
             rule_permille(g->level[1], g->elapsed) / 10, human_time(g->level[1]).text);
    rule_say_thread(f, ev, most);
    rule_say(f, " (%s alone)", human_time(g->v[most].alone).text);
    rule_say_busiest(f, ev, most);
    rule_add_thread(f, ev, most);
    if (!gives)
        return;
    rule_say(f, "; the other threads get their work from it");
    rule_line(f, CARD_TRY);
    rule_say(f, "let more threads do this, or make it cheaper");
}

/* --- unbalanced-join -------------------------------------------------------------------------- */

/* Threads that one thread joined, one after the other. */
struct joined {
    uint32_t threads[64];
    uint32_t n;
    uint64_t since; /* when the first of them was started, as far as that is known */
};

static int by_end(const void *a, const void *b, void *set)
{
    const struct thread_set *ts = set;
    uint64_t x = ts->v[*(const uint32_t *)a].ended, y = ts->v[*(const uint32_t *)b].ended;
    return (x > y) - (x < y);
}

static void tell_joined(struct evidence *ev, struct joined *j, uint32_t parent, stack_id stack)
{
    const struct analysis *a = ev->a;
    if (j->n < JOIN_LEAST)
        return;
    qsort_r(j->threads, j->n, sizeof *j->threads, by_end, (void *)&a->threads);
    uint32_t slowest = j->threads[j->n - 1];
    uint64_t end = a->threads.v[slowest].ended;
    uint64_t before = a->threads.v[j->threads[j->n - 2]].ended;
    uint64_t middle = a->threads.v[j->threads[j->n / 2]].ended;
    uint64_t alone = end - before, length = end - j->since;
    uint64_t typical = a->threads.v[j->threads[j->n / 2]].ended - j->since;
    if (rule_permille(alone, length) < JOIN_PERMILLE || end - middle < length / 4)
        return;
    struct rule_finding *f = rule_find(ev, SEVERITY_WARNING, alone);
    if (!f)
        return;
    f->from = before;
    f->to = end;
    rule_add_thread(f, ev, slowest);
    rule_add_thread(f, ev, parent);
    rule_add_stack(f, stack);
    rule_say_thread(f, ev, parent);
    rule_say(f, " joined %u threads", j->n);
    rule_say_place(f, ev, " in ", stack);
    rule_say(f, "; ");
    rule_say_thread(f, ev, slowest);
    rule_say(f, " took %s, the others about %s: the last %s (%u %%) were spent waiting for ",
             human_time(length).text, human_time(typical).text, human_time(alone).text,
             rule_permille(alone, length) / 10);
    rule_say_thread(f, ev, slowest);
    rule_say(f, " alone");
}

static void add_joined(const struct evidence *ev, struct joined *j, uint32_t thread)
{
    const struct thread_stats *s = &ev->a->threads.v[thread];
    for (uint32_t i = 0; i < j->n; i++)
        if (j->threads[i] == thread)
            return;
    if (!s->has_ended || !s->has_started || j->n == ARRAY_LEN(j->threads))
        return;
    j->since = j->n ? min_u64(j->since, s->started) : s->started;
    j->threads[j->n++] = thread;
}

/* Collects joins at one call site, with no other wait of the thread between them.  Joins that
 * return at once are also recorded, without a length. */
static void look_at_joins(struct evidence *ev, uint32_t parent)
{
    const struct timeline *t = &ev->a->timeline;
    const struct line *l = &t->lines[parent];
    struct joined j = {.n = 0};
    stack_id at = {0};
    for (uint32_t i = 0; i < l->spans.n; i++) {
        const struct context *x = timeline_context(t, line_span(l, i)->context);
        if (x->what != STATE_JOINING || (j.n && x->stack.v != at.v)) {
            tell_joined(ev, &j, parent, at);
            j.n = 0;
        }
        if (x->what != STATE_JOINING || !x->other) /* a sum of joins does not say of whom */
            continue;
        at = x->stack;
        add_joined(ev, &j, x->other);
    }
    tell_joined(ev, &j, parent, at);
}

void rule_unbalanced_join(struct evidence *ev)
{
    const struct timeline *t = &ev->a->timeline;
    if (ev->a->stats.total[STATE_JOINING].count < JOIN_LEAST)
        return;
    for (uint32_t i = 1; i < t->n_lines; i++)
        if (ev->a->stats.threads[i].state[STATE_JOINING].count && ev->a->bottles.counted[i])
            look_at_joins(ev, i);
}

/* --- pool-saturation -------------------------------------------------------------------------- */

/* The fate of a pool's tasks. */
struct task_pool {
    char name[LABEL_MAX];
    uint64_t tasks, waited, longest; /* ns */
    uint64_t first, last;
    uint32_t threads, thread; /* that ran tasks; one of them */
};

enum { TASK_POOLS_MAX = 64 };

static struct task_pool *find_pool(struct task_pool *v, size_t *n, const char *name)
{
    for (size_t i = 0; i < *n; i++)
        if (strcmp(v[i].name, name) == 0)
            return &v[i];
    if (*n == TASK_POOLS_MAX)
        return NULL;
    struct task_pool *p = &v[(*n)++];
    *p = (struct task_pool){.first = UINT64_MAX};
    snprintf(p->name, sizeof p->name, "%s", name);
    return p;
}

static void tell_pool(struct evidence *ev, const struct task_pool *p)
{
    uint64_t length = p->last - p->first;
    if (p->tasks < POOL_TASKS || rule_permille(p->waited, length) < POOL_QUEUE_PERMILLE)
        return;
    struct rule_finding *of = rule_of_pool(ev, p->thread);
    struct rule_finding *f = of ? of : rule_find(ev, SEVERITY_WARNING, p->waited);
    if (!f)
        return;
    if (of) {
        rule_say(f, "; ");
    } else {
        f->from = p->first;
        f->to = p->last;
        rule_add_thread(f, ev, p->thread);
        rule_say(f, "Pool %s: ", p->name);
    }
    rule_say(f, "%s tasks waited %s on average for one of the pool's %u thread%s",
             human_count(p->tasks).text, human_time(p->waited / p->tasks).text, p->threads,
             p->threads == 1 ? "" : "s");
    if (of)
        return; /* "; " begins a line */
    rule_say(f, "; longest %s; of the tasks that began, %.1f were waiting on average",
             human_time(p->longest).text, length ? (double)p->waited / (double)length : 0.0);
}

void rule_pool_saturation(struct evidence *ev)
{
    const struct analysis *a = ev->a;
    const struct handover *h = (const void *)a->bindings.handovers.p;
    size_t n = a->bindings.handovers.len / sizeof *h, n_pools = 0;
    struct task_pool *pools = n ? calloc(TASK_POOLS_MAX, sizeof *pools) : NULL;
    uint8_t *seen = n ? calloc(a->threads.n, 1) : NULL;
    for (size_t i = 0; pools && seen && i < n; i++) {
        char name[LABEL_MAX];
        pool_name(trace_thread(a->trace, a->threads.v[h[i].to].id)->name, name, sizeof name);
        struct task_pool *p = find_pool(pools, &n_pools, name);
        if (!p)
            continue;
        uint64_t ns = h[i].to_time - min_u64(h[i].from_time, h[i].to_time);
        p->tasks++;
        p->waited += ns;
        p->longest = max_u64(p->longest, ns);
        p->first = min_u64(p->first, h[i].from_time);
        p->last = max_u64(p->last, h[i].to_time);
        p->threads += !seen[h[i].to];
        seen[h[i].to] = 1;
        p->thread = h[i].to;
    }
    for (size_t i = 0; i < n_pools && seen; i++)
        tell_pool(ev, &pools[i]);
    free(pools);
    free(seen);
}
