/* Finds the resources of a recording.  Waits are sorted (resource_wants.c) and summed up.  Then all
 * waits of one resource decide together whether it is a resource at all, and so what the waits are
 * for.  Last, the holders of the most important ones are found. */
#include "conclude/resource.h"
#include "analyze/io_calls.h"
#include "base/err.h"
#include "base/keyed.h"
#include "base/util.h"
#include "conclude/does.h"
#include "conclude/resource_finder.h"
#include "conclude/resource_parts.h"

#include <stdlib.h>
#include <string.h>

enum {
    POLLS_LEAST = 20,       /* parks that make a poll, most of which go on after a look */
    PRIVATE_LEAST = 6,      /* waits of one thread for an object that it keeps */
    LOOP_FRAMES = 4,        /* of what a library does around its waits for work */
    EARLY_PART = 10,        /* of the recording */
    NOBODYS_EACH = 4,       /* waits of each thread, where no code of the program waits */
    GIVEN_LEAST = 3,        /* ended waits that distinguish a thing from work */
    LOOKED_AT = 12,         /* resources whose holders are searched, */
    LOOKED_AT_PERMILLE = 5, /* each with this part of all waiting time, or */
    LOOKED_AT_ALWAYS = 3,   /* one of the first */
};

/* --- sums ------------------------------------------------------------------------------------- */

static uint64_t member_key(const struct finder *f, const struct resource *r, uint32_t thread)
{
    return (uint64_t)(r - f->out->v + 1) << 32 | thread;
}

static void add_object(struct resource *r, lock_id lock)
{
    for (uint32_t i = 0; i < r->n_objects; i++)
        if (r->objects[i] == lock.v)
            return;
    if (lock.v && r->n_objects < RESOURCE_IDS)
        r->objects[r->n_objects++] = lock.v;
}

/* Whether this is only the first part of a wait: the thread reacquires the monitor for the same
 * thing, or woke, found nothing, and waits again. */
static bool goes_on(const struct finder *f, const struct resource *r, const struct resource_wait *w)
{
    const struct resources *o = f->out;
    bool one = o->of_regain[w->span->context] == o->of_context[w->span->context];
    if (r->kind == RESOURCE_POLLED || r->kind == RESOURCE_DELAY || (w->again && !one))
        return false;
    return (one && !w->again && w->to < span_end(&f->a->timeline, w->span)) ||
           resource_waits_again(f->a, w);
}

static void note_use(struct finder *f, lock_id lock, uint32_t thread)
{
    struct finder_use *u = lock.v && lock.v < f->a->locks.n_objects ? &f->uses[lock.v] : NULL;
    if (!u)
        return;
    u->thread = u->thread && u->thread != thread ? UINT32_MAX : thread;
    u->waits++;
}

static bool is_private(const struct finder *f, lock_id lock)
{
    const struct finder_use *u = lock.v && lock.v < f->a->locks.n_objects ? &f->uses[lock.v] : NULL;
    return u && u->thread != UINT32_MAX && u->waits > PRIVATE_LEAST;
}

static int keep_member(struct finder *f, const struct resource *r)
{
    const struct finder_member *m = &f->now[r - f->out->v];
    uint64_t *at = m->thread ? map_put(&f->members, member_key(f, r, m->thread)) : NULL;
    if (at)
        *at = m->ns + 1;
    return at || !m->thread ? 0 : -ENOMEM;
}

/* Waits come thread by thread, so a thread that differs from the one before is new. */
static int add_member(struct finder *f, struct resource *r, uint32_t thread)
{
    if (r->n_threads < RESOURCE_IDS)
        r->threads[r->n_threads] = thread;
    r->n_threads++;
    TRY(keep_member(f, r));
    f->now[r - f->out->v].thread = thread;
    f->now[r - f->out->v].ns = 0;
    return 0;
}

static uint64_t early(const struct finder *f)
{
    return (f->a->window.to - f->a->window.from) / EARLY_PART;
}

static bool timed_out(const struct finder *f, const struct span *s)
{
    enum { UNSURE = INTERVAL_UNKNOWN | INTERVAL_INTERRUPTED | INTERVAL_LIMIT_UNKNOWN };
    return !(timeline_context(&f->a->timeline, s->context)->flags & UNSURE) &&
           timeline_timed_out(&f->a->timeline, s);
}

static int add_wait(void *self, struct resource *r, const struct resource_wait *w)
{
    struct finder *f = self;
    struct finder_member *member = &f->now[r - f->out->v];
    uint64_t ns = w->to - w->from;
    if (member->thread != w->thread)
        TRY(add_member(f, r, w->thread));
    member->ns += ns;
    r->parts++;
    r->open += w->open;
    r->now += ns;
    if (!span_is_summed(&f->a->timeline, w->span))
        r->max = max_u64(r->max, r->now);
    if (span_is_summed(&f->a->timeline, w->span)) {
        r->count += span_count(&f->a->timeline, w->span);
        r->summed_ns += ns;
        r->max = max_u64(r->max, span_longest(&f->a->timeline, w->span));
        r->now = 0;
    } else if (!goes_on(f, r, w)) {
        r->count++;
        r->now = 0;
        r->timed_out += timed_out(f, w->span);
    }
    bool parks = timeline_context(&f->a->timeline, w->span->context)->what == STATE_PARKED;
    bool looks = r->kind == RESOURCE_POLLED || (r->kind == RESOURCE_DELAY && parks);
    if (looks && span_is_summed(&f->a->timeline, w->span)) /* short ones, one after the other */
        r->polls += span_count(&f->a->timeline, w->span);
    else
        r->polls += looks && resource_waits_again(f->a, w);
    r->ns += ns;
    r->first = min_u64(r->first, w->from);
    r->last = max_u64(r->last, w->to);
    member->late += w->to >= r->first + early(f) ? ns : 0;
    note_use(f, timeline_context(&f->a->timeline, w->span->context)->lock, w->thread);
    add_object(r, timeline_context(&f->a->timeline, w->span->context)->lock);
    f->of[w->again][w->span->context] += ns;
    return 0;
}

/* How many calls lie between the thread's task loop and the wait; UINT32_MAX: unknown. */
static uint32_t calls_inside(struct finder *f, const struct resource_wait *w)
{
    const struct purposes *p = &f->a->purposes;
    stack_id stack = timeline_context(&f->a->timeline, w->span->context)->stack;
    if (stack.v >= f->a->trace->n_stacks || w->thread >= p->n_near ||
        p->near[w->thread] == UINT32_MAX)
        return UINT32_MAX;
    uint32_t *own = &f->frames[stack.v];
    if (!*own)
        *own = causes_own_frames(f->a->trace, stack) + 1;
    return *own - 1 > p->near[w->thread] ? *own - 1 - p->near[w->thread] : 0;
}

/* A lock for which threads wait several times is simple: only its share of early waits matters. */
static bool is_simple(const struct resource *r)
{
    return r->kind == RESOURCE_LOCK && r->count > r->n_threads;
}

/* Threads that wait in one call wake each other: a wake-up from that same call gives nothing
 * back. */
static int add_end(void *self, struct resource *r, const struct resource_wait *w)
{
    struct finder *f = self;
    const struct timeline *tl = &f->a->timeline;
    if (w->to < r->first + early(f))
        r->early_ns += w->to - w->from;
    if (is_simple(r))
        return 0;
    uint32_t inside = calls_inside(f, w);
    r->loop_ns += inside == 0 ? w->to - w->from : 0;
    r->near_ns += inside <= LOOP_FRAMES ? w->to - w->from : 0;
    r->private += is_private(f, timeline_context(tl, w->span->context)->lock);
    if (!w->span->waker || (w->again && r->kind == RESOURCE_THINGS))
        return 0;
    if (resource_same_call(f->out, timeline_context(tl, w->span->context)->stack,
                           span_wake_stack(tl, w->span)) ||
        resource_leaves_full(f->out, f->a, w->span))
        return 0;
    r->given++;
    r->back += map_find(&f->members, member_key(f, r, w->span->waker)) != NULL;
    return 0;
}

/* Whether this is not a resource but work that threads hand off, or a signal.  Threads of a
 * library's pool that hand tasks to each other also give what they take.  But no code of the
 * program waits there: the threads wait at their task loops, or each for its own object. */
static bool is_none(const struct program *p, const struct resource *r)
{
    if (r->kind == RESOURCE_POLLED)
        return r->count < POLLS_LEAST || 2 * r->polls < r->count ||
               r->ns / r->count > FINDER_POLL_NS;
    if (r->kind == RESOURCE_DELAY) /* a thread that looks and parks again waits for something */
        return r->endless || 2 * r->polls >= r->count;
    bool nobodys = !r->wait_at.method.v;
    if (r->kind == RESOURCE_ANSWERS) /* the giver was asked when its last task ended */
        return nobodys && 2 * r->loop_ns > r->ns;
    if (r->kind != RESOURCE_THINGS)
        return false;
    bool own = 2 * r->near_ns > r->ns || 2 * r->private > r->parts, work = nobodys && own;
    /* permits that threads of an unknown library wait for at their loops tell them of work */
    bool foreign = p->known && program_code(p, r->wait_at.method) < CODE_PROGRAM;
    if (r->permits)
        return r->endless || (foreign && own) ||
               (nobodys && r->count < NOBODYS_EACH * (uint64_t)r->n_threads);
    return r->given < GIVEN_LEAST || 2 * r->back < r->given || work;
}

/* Whether this is an answer: no thread gives it back, and other threads do it for a call of the
 * program that is not at a task loop.  Then the waiting thread asked for it, because nothing else
 * was asked for.  A thread that takes the next element of a queue asked for nothing. */
static bool is_answer(const struct resource *r)
{
    return r->kind == RESOURCE_THINGS && !r->permits && r->given >= GIVEN_LEAST &&
           2 * r->given >= r->count && 2 * r->back < r->given && r->wait_at.method.v &&
           2 * r->loop_ns < r->ns && 2 * r->take_ns < r->ns;
}

/* Answers are distinguished by the threads that wait for them, not by object. */
static bool finds_answers(struct finder *f)
{
    bool any = false;
    for (uint32_t i = 1; i < f->a->timeline.contexts.n; i++) {
        uint32_t at = f->out->of_context[i];
        if (!at || !is_answer(&f->out->v[at - 1]))
            continue;
        f->want[i] = WANT_ANSWER;
        any = true;
    }
    return any;
}

/* --- what the waits are for after all --------------------------------------------------------- */

/* The purpose of the waits for a resource, by its kind. */
static const uint8_t purposes[] = {[RESOURCE_LOCK] = PURPOSE_LOCK,
                                   [RESOURCE_THINGS] = PURPOSE_PERMIT,
                                   [RESOURCE_ANSWERS] = PURPOSE_ANSWER,
                                   [RESOURCE_POLLED] = PURPOSE_TIME,
                                   [RESOURCE_DELAY] = PURPOSE_TIME};

static bool is_listed(const struct finder *f, const struct resource *r)
{
    return !is_none(&f->out->program, r) && r->count;
}

/* Input outside the calls of the program, and a wait in a select, are also for work. */
static void settle_purposes(struct finder *f)
{
    uint8_t *of = f->a->purposes.of_context;
    for (uint32_t i = 1; i < f->a->timeline.contexts.n; i++) {
        const struct context *x = timeline_context(&f->a->timeline, i);
        const struct resource *r =
            f->out->of_context[i] ? &f->out->v[f->out->of_context[i] - 1] : NULL;
        if (x->what != STATE_PARKED && x->what != STATE_WAITING)
            continue;
        if (r && is_listed(f, r))
            of[i] = purposes[r->kind];
        else if ((r && (r->kind == RESOURCE_THINGS || r->kind == RESOURCE_ANSWERS)) ||
                 (of[i] == PURPOSE_IO && (!program_is_in(&f->out->program, x->stack) ||
                                          io_waits_for_work(f->a->trace, x->stack))))
            of[i] = PURPOSE_IDLE;
    }
}

/* --- all -------------------------------------------------------------------------------------- */

/* Drops candidates that are not resources, and sorts the others by their time. */
static int by_ns(const void *x, const void *y, void *all)
{
    const struct resource *v = all;
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    if (v[a].ns != v[b].ns)
        return v[a].ns < v[b].ns ? 1 : -1;
    return (a > b) - (a < b);
}

static int put_in_order(struct finder *f)
{
    struct resources *o = f->out;
    uint32_t *order = calloc(o->n + 1, sizeof *order), *place = calloc(o->n + 1, sizeof *place);
    struct resource *v = arena_alloc(&f->a->arena, (o->n + 1) * sizeof *v);
    size_t n = 0;
    int rc = order && place && v ? 0 : -ENOMEM;
    for (size_t i = 0; i < o->n && rc == 0; i++)
        if (is_listed(f, &o->v[i]))
            order[n++] = (uint32_t)i;
    if (rc == 0)
        qsort_r(order, n, sizeof *order, by_ns, o->v);
    for (size_t i = 0; i < n && rc == 0; i++) {
        v[i] = o->v[order[i]];
        place[order[i] + 1] = (uint32_t)i + 1;
    }
    for (uint32_t i = 1; i < f->a->timeline.contexts.n && rc == 0; i++) {
        o->of_context[i] = place[o->of_context[i]];
        o->of_regain[i] = place[o->of_regain[i]];
    }
    o->v = v;
    o->n = rc ? 0 : n;
    free(order);
    free(place);
    return rc;
}

/* A second pass over the waits, without simple locks that have too many late waits. */
static int add_ends(struct finder *f)
{
    struct resources left = *f->out;
    uint32_t n = f->a->timeline.contexts.n, *of = calloc(2 * (size_t)n + 1, sizeof *of);
    if (!of)
        return -ENOMEM;
    for (size_t i = 0; i < left.n; i++) {
        struct resource r = left.v[i];
        r.early_ns = r.ns - f->now[i].late;
        f->now[i].over = is_simple(&r) && !resource_is_brief(&r);
    }
    left.of_context = of;
    left.of_regain = of + n;
    for (uint32_t i = 1; i < n; i++) {
        uint32_t at = f->out->of_context[i], again = f->out->of_regain[i];
        left.of_context[i] = at && f->now[at - 1].over ? 0 : at;
        left.of_regain[i] = again && f->now[again - 1].over ? 0 : again;
    }
    int rc = resources_each(&left, f->a, add_end, f);
    free(of);
    return rc;
}

/* The main thread in one wait for a permit. */
static bool is_mains(const struct analysis *a, const struct resource *r)
{
    return r->kind == RESOURCE_THINGS && r->permits && r->count == 1 &&
           thread_is_main(a->trace, &a->threads.v[r->threads[0]]);
}

/* Whether the one thread of a delay, or the main thread at a semaphore, has never returned from it: it
 * did nothing else from then on, and lets time pass until somebody stops it. */
static bool is_endless(const struct finder *f, const struct resource *r)
{
    const struct analysis *a = f->a;
    uint32_t thread = r->threads[0];
    if ((r->kind != RESOURCE_DELAY && !is_mains(a, r)) || r->n_threads != 1 || !r->open)
        return false;
    const struct line *l = &a->timeline.lines[thread];
    const struct still_line *s = stills_of(&a->stills, thread);
    const uint32_t *of = f->out->of_context;
    bool other = line_acts_until(l, UINT64_MAX) > line_acts_until(l, r->first) ||
                 still_first(s, r->first) < s->n;
    for (uint32_t i = line_spans_until(l, r->first); i < l->spans.n && !other; i++)
        other = of[line_span(l, i)->context] != (uint32_t)(r - f->out->v) + 1;
    return !other;
}

static int gather(struct finder *f)
{
    struct resources *o = f->out;
    for (uint32_t i = 1; i < f->a->timeline.contexts.n; i++)
        TRY(finder_sort_context(f, i));
    o->n = f->found.n;
    o->v = calloc(o->n + 1, sizeof *o->v);
    if (!o->v)
        return -ENOMEM;
    for (size_t i = 0; i < o->n; i++)
        o->v[i] = ((const struct finder_found *)f->found.v)[i].r;
    f->now = calloc(o->n + 1, sizeof *f->now);
    int rc = f->now ? resources_each(o, f->a, add_wait, f) : -ENOMEM;
    for (size_t i = 0; i < o->n && rc == 0; i++)
        rc = keep_member(f, &o->v[i]);
    rc = rc ? rc : add_ends(f);
    for (size_t i = 0; i < o->n && rc == 0; i++)
        o->v[i].endless = is_endless(f, &o->v[i]);
    free(f->now);
    f->now = NULL;
    return rc ? rc : finder_find_places(f);
}

static void forget(struct finder *f)
{
    size_t n = (size_t)f->a->timeline.contexts.n + 1;
    keyed_fini(&f->found);
    keyed_init(&f->found, sizeof(struct finder_key), sizeof(struct finder_found));
    map_fini(&f->members);
    map_init(&f->members);
    memset(f->uses, 0, (f->a->locks.n_objects + 1) * sizeof *f->uses);
    memset(f->of[0], 0, n * sizeof **f->of);
    memset(f->of[1], 0, n * sizeof **f->of);
    memset(f->out->of_context, 0, n * sizeof *f->out->of_context);
    memset(f->out->of_regain, 0, n * sizeof *f->out->of_regain);
    free(f->out->v);
    f->out->v = NULL;
}

static int find(struct finder *f)
{
    struct resources *o = f->out;
    TRY(finder_count_waits(f));
    TRY(finder_part_crowds(f));
    int rc = gather(f);
    if (rc == 0 && finds_answers(f)) {
        forget(f);
        rc = gather(f);
    }
    struct resource *first = o->v;
    rc = rc ? rc : finder_find_fields(f);
    if (rc == 0)
        settle_purposes(f);
    rc = rc ? rc : finder_find_strays(f);
    rc = rc ? rc : finder_find_bases(f);
    rc = rc ? rc : put_in_order(f);
    free(first);
    return rc;
}

static int decide(struct analysis *a)
{
    struct resources *out = arena_alloc(&a->arena, sizeof *out);
    struct finder f = {.a = a, .out = out};
    size_t n = (size_t)a->timeline.contexts.n + 1;
    if (!out)
        return -ENOMEM;
    *out = (struct resources){.of_context = arena_alloc(&a->arena, n * sizeof(uint32_t)),
                              .of_regain = arena_alloc(&a->arena, n * sizeof(uint32_t)),
                              .rooms = arena_alloc(&a->arena, n * sizeof(bool)),
                              .runs = does_native_runs(a)};
    f.waits = calloc(n, sizeof *f.waits);
    f.waited = calloc(n, sizeof *f.waited);
    f.want = calloc(n, sizeof *f.want);
    f.pools = calloc(n, sizeof *f.pools);
    f.only = calloc(n, sizeof *f.only);
    f.tasks = calloc(n, sizeof *f.tasks);
    f.own = calloc(a->locks.n_objects + 1, sizeof *f.own);
    f.frames = calloc(a->trace->n_stacks + 1, sizeof *f.frames);
    f.uses = calloc(a->locks.n_objects + 1, sizeof *f.uses);
    f.queues = calloc(a->trace->n_stacks + 1, sizeof *f.queues);
    f.of[0] = calloc(n, sizeof **f.of);
    f.of[1] = calloc(n, sizeof **f.of);
    out->calls = calloc(a->trace->n_stacks + 1, sizeof *out->calls);
    keyed_init(&f.found, sizeof(struct finder_key), sizeof(struct finder_found));
    map_init(&f.members);
    int rc = out->of_context && out->of_regain && out->rooms && out->runs && f.waits && f.waited &&
                     f.want && f.pools && f.only && f.tasks && f.own && f.uses && f.frames &&
                     f.queues && out->calls && f.of[0] && f.of[1]
                 ? program_make(&out->program, a->trace, &a->arena)
                 : -ENOMEM;
    rc = rc ? rc : find(&f);
    a->resources = out;
    keyed_fini(&f.found);
    map_fini(&f.members);
    free(f.waits);
    free(f.waited);
    free(f.want);
    free(f.pools);
    free(f.only);
    free(f.tasks);
    free(f.own);
    free(f.uses);
    free(f.frames);
    free(f.queues);
    free(out->calls);
    out->calls = NULL;
    free(f.of[0]);
    free(f.of[1]);
    return rc;
}

int conclude_run(struct analysis **out, struct trace *t, struct err *err)
{
    return analysis_run(out, t, &(struct analysis_plan){.decide = decide}, err);
}

int conclude_run_watched(struct analysis **out, struct trace *t, const struct analysis_watch *watch,
                         struct err *err)
{
    return analysis_run(out, t, &(struct analysis_plan){.decide = decide, .watch = watch}, err);
}

int conclude_run_on(struct analysis **out, struct trace *t, const struct carry *carry,
                    struct err *err)
{
    return analysis_run(out, t, &(struct analysis_plan){.decide = decide, .carry = carry}, err);
}

/* The number of resources whose holders are searched: those that a finding may be about. */
static size_t count_looked_at(const struct resources *o)
{
    uint64_t all = 0;
    size_t n = 0;
    for (size_t i = 0; i < o->n; i++)
        all += o->v[i].ns;
    while (n < o->n && n < LOOKED_AT &&
           (n < LOOKED_AT_ALWAYS || o->v[n].ns >= all / 1000 * LOOKED_AT_PERMILLE))
        n++;
    return n;
}

/* The list is the caller's own, since holders are filled in. */
int resources_make(struct resources *out, struct analysis *a)
{
    const struct resources *all = a->resources;
    size_t looked_at = count_looked_at(all);
    *out = *all;
    out->v = arena_alloc(&a->arena, (out->n + 1) * sizeof *out->v);
    out->calls = calloc(a->trace->n_stacks + 1, sizeof *out->calls);
    int rc = out->v && out->calls ? 0 : -ENOMEM;
    if (rc == 0)
        memcpy(out->v, all->v, out->n * sizeof *out->v);
    rc = rc ? rc : resource_list_waits(out, looked_at, a);
    rc = rc ? rc : resource_find_holders(out, looked_at, a);
    if (rc == 0)
        resource_find_chains(out, a);
    free(out->calls);
    out->calls = NULL;
    return rc;
}
