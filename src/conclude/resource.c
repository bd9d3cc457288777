#include "conclude/resource.h"

#include "analyze/io_calls.h"
#include "analyze/labels.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/keyed.h"
#include "base/util.h"
#include "conclude/does.h"
#include "conclude/resource_field.h"
#include "conclude/resource_names.h"
#include "conclude/resource_parts.h"

#include <stdlib.h>
#include <string.h>

enum {
    POLLS_LEAST = 20,       /* parks that make a poll, most of which go on after a look, */
    POLL_NS = 1000000,      /* and last so long at most on average: longer ones let time pass */
    PRIVATE_LEAST = 6,      /* waits of one thread for an object that it keeps */
    LOOP_FRAMES = 4,        /* of what a library does around its waits for work */
    EARLY_PART = 10,        /* of the recording */
    NOBODYS_EACH = 4,       /* waits of each thread, where no code of the program waits */
    GIVEN_LEAST = 3,        /* ended waits that tell a thing from work */
    LOOKED_AT = 12,         /* resources whose holders are looked for, */
    LOOKED_AT_PERMILLE = 5, /* each so much of all that is waited for any, or */
    LOOKED_AT_ALWAYS = 3,   /* one of the first */
};

/* --- which waits are for what ----------------------------------------------------------------- */

/* What a context's waits may be for. */
enum want {
    WANT_NOTHING,
    WANT_OWNED,
    WANT_THINGS,
    WANT_PERHAPS,
    WANT_ANSWER,
    WANT_POLLED,
    WANT_DELAY
};

enum queue_call {
    QUEUE_LOOKED_AT = 1,
    QUEUE_AWAITS_ROOM = 2,
    QUEUE_PUTS = 4,
    QUEUE_TAKES = 8,
};

struct key {
    uint32_t kind, lock, take, group;
};

struct found {
    struct key key;
    struct resource r;
};

/* Who waits for an object. */
struct use {
    uint32_t thread; /* UINT32_MAX: several */
    uint32_t waits;
};

/* What the latest thread waited for a resource. */
struct member {
    uint32_t thread; /* 0: none */
    uint64_t ns;
    uint64_t late; /* ns of all threads that are certainly not at the beginning (early_ns) */
    bool over;     /* nothing more is asked of the resource's waits */
};

struct finder {
    struct analysis *a;
    struct resources *out;
    uint32_t *waits;  /* [contexts.n]: how many, */
    uint64_t *waited; /* and for how long */
    uint8_t *want;    /* [contexts.n]: enum want of each */
    uint32_t
        *pools; /* [contexts.n]: the pool whose threads wait there; 0: several, or one thread */
    bool *own;  /* [n_objects]: a resource of its own, not one of a crowd's */
    uint64_t *of[2];    /* [contexts.n]: ns waited, and in reacquiring a monitor */
    uint32_t *frames;   /* [n_stacks]: 1 + those that are not the JDK's; 0: not counted yet */
    struct use *uses;   /* [n_objects] */
    uint8_t *queues;    /* [n_stacks]: enum queue_call of each; 0: not looked at yet */
    struct keyed found; /* struct found */
    struct map members; /* 1 + index of a resource, thread -> 1 + ns */
    struct member *now; /* [out->n]: while waits are added: of the thread that is at hand */
    bool stuck;         /* threads wait in a circle: what goes on at the end is no load */
};

static bool is_long(const struct finder *f, uint32_t context)
{
    return f->waited[context] > (uint64_t)f->waits[context] * POLL_NS;
}

/* A park for nothing that is short by its own limit, in a call of the program's; not in a thread's
 * own loop, where that very frame is its outermost one: it polls for work. */
static bool may_poll(const struct finder *f, const struct context *x)
{
    const struct program *p = &f->out->program;
    return x->what == STATE_PARKED && !x->lock.v && x->flags & INTERVAL_TIMED &&
           program_is_in(p, x->stack) &&
           program_outermost(p, x->stack).method.v != program_library(p, x->stack).method.v;
}

/* A library lets time pass in a call of the program's, which is none of a thread's own loop.  How
 * long a park that is not over would have been its length does not say. */
static bool may_delay(const struct finder *f, const struct context *x)
{
    const struct program *p = &f->out->program;
    method_id inner = program_library(p, x->stack).method;
    struct place own = program_place(p, x->stack);
    bool time =
        x->what == STATE_SLEEPING || (x->what == STATE_PARKED && !x->lock.v &&
                                      x->flags & INTERVAL_TIMED && ~x->flags & INTERVAL_OPEN);
    return time && own.method.v && program_code(p, inner) < program_code(p, own.method) &&
           program_outermost(p, x->stack).method.v != own.method.v;
}

/* What its name says decides before what it waits on does; what the library's threads wait for
 * themselves is no thing. */
static bool is_known_pools(const struct finder *f, const struct context *x)
{
    const struct program *p = &f->out->program;
    return program_is_in(p, x->stack) &&
           resource_is_known_pool(program_library(p, x->stack).method, p->trace);
}

static enum want want_of(const struct finder *f, uint32_t context)
{
    const struct context *x = timeline_context(&f->a->timeline, context);
    switch (x->what) {
    case STATE_BLOCKED:
    case STATE_REACQUIRING:
        return WANT_OWNED;
    case STATE_PARKED:
    case STATE_WAITING:
        if (f->a->purposes.of_context[context] == PURPOSE_IO)
            return WANT_NOTHING;
        if (is_known_pools(f, x))
            return WANT_THINGS;
        switch ((enum purpose)f->a->purposes.of_context[context]) {
        case PURPOSE_LOCK:
            return WANT_OWNED;
        case PURPOSE_PERMIT:
            return WANT_THINGS;
        case PURPOSE_ANSWER:
            return WANT_ANSWER;
        default:
            break;
        }
        if (may_delay(f, x) && is_long(f, context))
            return WANT_DELAY;
        if (may_poll(f, x))
            return WANT_POLLED;
        return program_is_in(&f->out->program, x->stack) ? WANT_PERHAPS : WANT_NOTHING;
    case STATE_SLEEPING:
        return may_delay(f, x) ? WANT_DELAY : WANT_NOTHING;
    default:
        return WANT_NOTHING;
    }
}

static bool counts(const struct finder *f, const struct context *x)
{
    return !(x->flags & INTERVAL_OPEN && f->stuck);
}

/* Which pool each thread is of, by a number that is not 0, if others are, too.  -ENOMEM. */
static int find_pools(const struct analysis *a, uint32_t *of)
{
    struct map pools; /* name -> a thread of it */
    int rc = 0;
    map_init(&pools);
    for (uint32_t thread = 1; thread < a->timeline.n_lines && rc == 0; thread++) {
        char name[LABEL_MAX];
        resource_thread_pool(a, thread, name, sizeof name);
        uint64_t *first = map_put(&pools, hash_bytes(name, strlen(name), 0) | 1);
        if (!first)
            rc = -ENOMEM;
        else if (*first)
            of[thread] = of[*first] = (uint32_t)*first;
        else
            *first = thread;
    }
    map_fini(&pools);
    return rc;
}

/* Which calls of a queue a stack is in; contexts are many times as many. */
static unsigned queue_calls(const struct finder *f, stack_id stack)
{
    const struct trace *t = f->a->trace;
    uint8_t *of = &f->queues[stack.v < t->n_stacks ? stack.v : 0];
    if (!*of)
        *of = (uint8_t)(QUEUE_LOOKED_AT | (purpose_awaits_room(t, stack) ? QUEUE_AWAITS_ROOM : 0) |
                        (purpose_puts(t, stack) ? QUEUE_PUTS : 0) |
                        (purpose_takes(t, stack) ? QUEUE_TAKES : 0));
    return *of;
}

/* How many waits each context has, of which pool, and what they are for. */
static int count_waits(struct finder *f)
{
    const struct timeline *tl = &f->a->timeline;
    uint32_t *pools = calloc(tl->n_lines + 1, sizeof *pools);
    int rc = pools ? find_pools(f->a, pools) : -ENOMEM;
    for (uint32_t thread = 1; thread < tl->n_lines && rc == 0; thread++) {
        const struct run *r = &tl->lines[thread].spans;
        for (uint32_t i = 0, n; i < r->n; i += n) {
            const struct span *v = run_stretch(r, sizeof *v, i, &n);
            for (uint32_t k = 0; k < n; k++) {
                bool other = f->waits[v[k].context] && f->pools[v[k].context] != pools[thread];
                f->pools[v[k].context] = other ? 0 : pools[thread];
                f->waits[v[k].context] += (uint32_t)min_u64(span_count(tl, &v[k]), UINT32_MAX);
                f->waited[v[k].context] += span_len(tl, &v[k]);
            }
        }
    }
    for (uint32_t i = 1; i < tl->contexts.n; i++) {
        f->want[i] = (uint8_t)(counts(f, timeline_context(tl, i)) ? want_of(f, i) : WANT_NOTHING);
        f->out->rooms[i] = f->want[i] != WANT_NOTHING &&
                           queue_calls(f, timeline_context(tl, i)->stack) & QUEUE_AWAITS_ROOM;
    }
    free(pools);
    return rc;
}

static const enum resource_kind kinds[] = {
    [WANT_OWNED] = RESOURCE_LOCK,     [WANT_THINGS] = RESOURCE_THINGS,
    [WANT_PERHAPS] = RESOURCE_THINGS, [WANT_ANSWER] = RESOURCE_ANSWERS,
    [WANT_POLLED] = RESOURCE_POLLED,  [WANT_DELAY] = RESOURCE_DELAY};

/* A wait reacquires its monitor: for one of several things that it waited for, or for itself. */
static enum want wants_again(const struct finder *f, uint32_t context)
{
    const struct context *x = timeline_context(&f->a->timeline, context);
    if (x->what != STATE_WAITING || !counts(f, x))
        return WANT_NOTHING;
    return f->want[context] == WANT_THINGS ? WANT_THINGS : WANT_OWNED;
}

static int add_to_crowd(struct finder *f, struct crowds *c, uint32_t context, enum want want)
{
    const struct context *x = timeline_context(&f->a->timeline, context);
    const struct crowd_place at = {kinds[want],
                                   program_library(&f->out->program, x->stack).method.v,
                                   lock_set_group(&f->a->locks, x->lock)};
    return crowds_add(c, &at, x->lock, f->waits[context],
                      resource_class_of_entry(f->a->locks.groups[at.group].signature));
}

/* Which objects are resources of their own. */
static int part_crowds(struct finder *f)
{
    const struct contexts *all = &f->a->timeline.contexts;
    uint32_t *waits = calloc(f->a->locks.n_objects + 1, sizeof *waits);
    struct crowds c;
    int rc = waits ? 0 : -ENOMEM;
    crowds_init(&c);
    for (uint32_t i = 1; i < all->n && rc == 0; i++) {
        const struct context *x = &all->v[i];
        if (!x->lock.v || x->lock.v >= f->a->locks.n_objects || !f->waits[i])
            continue;
        waits[x->lock.v] += f->waits[i];
        if (f->want[i] != WANT_NOTHING && f->want[i] != WANT_ANSWER)
            rc = add_to_crowd(f, &c, i, f->want[i]);
        if (rc == 0 && wants_again(f, i) == WANT_OWNED)
            rc = add_to_crowd(f, &c, i, WANT_OWNED);
    }
    if (rc == 0)
        crowds_settle(&c, waits, f->own);
    crowds_fini(&c);
    free(waits);
    return rc;
}

/* *out: what the context's waits are for. */
static int sort_as(struct finder *f, uint32_t context, enum want want, uint32_t *out)
{
    const struct context *x = timeline_context(&f->a->timeline, context);
    struct place take = program_library(&f->out->program, x->stack);
    bool own =
        want != WANT_ANSWER && x->lock.v && x->lock.v < f->a->locks.n_objects && f->own[x->lock.v];
    struct key key = {.kind = kinds[want],
                      .lock = own ? x->lock.v : 0,
                      .take = own && want == WANT_OWNED ? 0 : take.method.v,
                      .group = own                   ? 0
                               : want == WANT_ANSWER ? f->pools[context]
                                                     : lock_set_group(&f->a->locks, x->lock)};
    struct found *e = keyed_put(&f->found, &key);
    if (!e)
        return -ENOMEM;
    if (!e->r.group && !e->r.take.v && !e->r.lock.v) {
        e->r.kind = kinds[want];
        e->r.lock = (lock_id){key.lock};
        e->r.group = lock_set_group(&f->a->locks, x->lock);
        e->r.take = take.method; /* of an object of several places: the first one */
        e->r.first = UINT64_MAX;
    }
    e->r.permits |= want == WANT_THINGS;
    *out = (uint32_t)((size_t)((char *)e - (char *)f->found.v) / sizeof *e) + 1;
    return 0;
}

static int sort_context(struct finder *f, uint32_t context)
{
    enum want again = wants_again(f, context);
    if (f->want[context] != WANT_NOTHING)
        TRY(sort_as(f, context, f->want[context], &f->out->of_context[context]));
    return again ? sort_as(f, context, again, &f->out->of_regain[context]) : 0;
}

/* The innermost frame that is not the JDK's, as a number. */
static uint64_t call_of(const struct resources *all, stack_id stack)
{
    const struct trace *t = all->program.trace;
    uint64_t *known = &all->calls[stack.v < t->n_stacks ? stack.v : 0];
    const struct trace_stack *s = trace_stack(t, stack);
    for (uint32_t i = 0; i < s->n_frames && !*known; i++)
        if (program_code(&all->program, s->frames[i].method) >= CODE_LIBRARY)
            *known = (uint64_t)s->frames[i].method.v << 32 | (uint32_t)s->frames[i].bci;
    return *known ? *known : (*known = UINT64_MAX);
}

bool resource_same_call(const struct resources *all, stack_id x, stack_id y)
{
    uint64_t call = call_of(all, x);
    return call != UINT64_MAX && call == call_of(all, y);
}

bool resource_leaves_full(const struct resources *all, const struct analysis *a,
                          const struct span *s)
{
    return all->rooms[s->context] &&
           purpose_leaves_full(a->trace, timeline_context(&a->timeline, s->context)->stack,
                               span_wake_stack(&a->timeline, s));
}

bool resource_same_method(const struct resources *all, stack_id x, stack_id y)
{
    uint64_t call = call_of(all, x);
    return call != UINT64_MAX && call >> 32 == call_of(all, y) >> 32;
}

/* --- sums ------------------------------------------------------------------------------------- */

/* A wait of a thread of the JVM's own, as Common-Cleaner, is nobody's loss, but where somebody has
 * a monitor that it wants. */
static bool is_nobodys(const struct analysis *a, uint32_t thread)
{
    const struct thread_set *all = &a->threads;
    return thread < all->n && all->v[thread].id.v && !bottle_counts(a->trace, &all->v[thread]);
}

static bool counts_of(const struct timeline *tl, const struct span *s, bool nobodys)
{
    return !nobodys || timeline_context(tl, s->context)->what == STATE_BLOCKED;
}

static int visit_span(struct resources *v, const struct timeline *tl, resource_visit visit,
                      void *self, struct resource_wait *w)
{
    struct wait_part parts[2];
    const uint32_t of[] = {v->of_context[w->span->context], v->of_regain[w->span->context]};
    if (!of[0] && !of[1])
        return 0;
    for (unsigned i = 0, n = span_parts(tl, w->span, parts); i < n; i++) {
        uint32_t at = of[parts[i].again];
        if (!at)
            continue;
        w->from = parts[i].from;
        w->to = parts[i].to;
        w->owner = parts[i].owner;
        w->again = parts[i].again;
        w->open = parts[i].flags & INTERVAL_OPEN;
        TRY(visit(self, &v->v[at - 1], w));
    }
    return 0;
}

int resources_each(struct resources *v, const struct analysis *a, resource_visit visit, void *self)
{
    const struct timeline *tl = &a->timeline;
    for (uint32_t thread = 1; thread < tl->n_lines; thread++) {
        bool nobodys = is_nobodys(a, thread);
        const struct run *r = &tl->lines[thread].spans;
        for (uint32_t i = 0, n; i < r->n; i += n) {
            const struct span *s = run_stretch(r, sizeof *s, i, &n);
            for (uint32_t k = 0; k < n; k++) {
                struct resource_wait w = {.thread = thread, .index = i + k, .span = &s[k]};
                if (counts_of(tl, &s[k], nobodys))
                    TRY(visit_span(v, tl, visit, self, &w));
            }
        }
    }
    return 0;
}

/* Whether it is known when a wait was, and why: not just as it was long. */
static bool is_whole(const struct analysis *a, const struct resource *r, const struct span *s)
{
    return !span_is_summed(&a->timeline, s) &&
           (!summed_is_much(r->summed_ns, r->ns) || !summed_at(&a->decoded.summed, s->start));
}

int resource_each_wait(struct resource *r, const struct analysis *a, resource_visit visit,
                       void *self)
{
    for (uint64_t i = 0; i < r->n_waits; i++) {
        struct wait_part parts[2];
        uint32_t thread = (uint32_t)(r->waits[i] >> 33), span = (uint32_t)(r->waits[i] >> 1);
        const struct span *s = line_span(&a->timeline.lines[thread], span);
        const struct wait_part *p =
            &parts[span_parts(&a->timeline, s, parts) > 1 && r->waits[i] & 1];
        if (r->has_whole && !is_whole(a, r, s))
            continue;
        struct resource_wait w = {thread, span,     s,        p->from,
                                  p->to,  p->owner, p->again, p->flags & INTERVAL_OPEN};
        TRY(visit(self, r, &w));
    }
    return 0;
}

/* Which resources' holders are looked for: those that a finding may be about. */
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

static void list_wait(struct resources *o, size_t looked_at, uint32_t of, const struct span *s,
                      uint64_t ref)
{
    struct resource *r = of && of <= looked_at ? &o->v[of - 1] : NULL;
    if (!r || r->n_waits == r->parts)
        return;
    r->waits[r->n_waits++] = ref;
    r->by_acts |= s->waker && cause_type(s->cause) == CAUSE_ACT;
}

static void look_for_whole(struct resource *r, const struct analysis *a)
{
    r->has_whole = false;
    for (uint64_t i = 0; i < r->n_waits && !r->has_whole; i++)
        r->has_whole = is_whole(
            a, r, line_span(&a->timeline.lines[r->waits[i] >> 33], (uint32_t)(r->waits[i] >> 1)));
}

/* The waits of each of the first resources, so that they are gone through without all others. */
static int list_waits(struct resources *o, const struct analysis *a, size_t looked_at,
                      struct arena *arena)
{
    const struct timeline *tl = &a->timeline;
    for (size_t i = 0; i < looked_at; i++)
        if (!(o->v[i].waits = arena_alloc(arena, o->v[i].parts * sizeof *o->v[i].waits)))
            return -ENOMEM;
    for (uint32_t thread = 1; thread < tl->n_lines && looked_at; thread++) {
        bool nobodys = is_nobodys(a, thread);
        const struct run *r = &tl->lines[thread].spans;
        for (uint32_t i = 0, n; i < r->n; i += n) {
            const struct span *s = run_stretch(r, sizeof *s, i, &n);
            for (uint32_t k = 0; k < n; k++) {
                struct wait_part parts[2];
                uint64_t ref = (uint64_t)thread << 33 | (uint64_t)(i + k) << 1;
                uint32_t again = o->of_regain[s[k].context];
                if (!counts_of(tl, &s[k], nobodys))
                    continue;
                list_wait(o, looked_at, o->of_context[s[k].context], &s[k], ref);
                if (again && again <= looked_at && span_parts(tl, &s[k], parts) > 1)
                    list_wait(o, looked_at, again, &s[k], ref | 1);
            }
        }
    }
    return 0;
}

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

/* Whether it is the first part of a wait that goes on: the thread reacquires the monitor for the
 * same thing, or looked, found nothing, and waits again. */
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
    struct use *u = lock.v && lock.v < f->a->locks.n_objects ? &f->uses[lock.v] : NULL;
    if (!u)
        return;
    u->thread = u->thread && u->thread != thread ? UINT32_MAX : thread;
    u->waits++;
}

static bool is_private(const struct finder *f, lock_id lock)
{
    const struct use *u = lock.v && lock.v < f->a->locks.n_objects ? &f->uses[lock.v] : NULL;
    return u && u->thread != UINT32_MAX && u->waits > PRIVATE_LEAST;
}

static int keep_member(struct finder *f, const struct resource *r)
{
    const struct member *m = &f->now[r - f->out->v];
    uint64_t *at = m->thread ? map_put(&f->members, member_key(f, r, m->thread)) : NULL;
    if (at)
        *at = m->ns + 1;
    return at || !m->thread ? 0 : -ENOMEM;
}

/* Thread by thread: a thread that is another one than before is new. */
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

static int add_wait(void *self, struct resource *r, const struct resource_wait *w)
{
    struct finder *f = self;
    struct member *member = &f->now[r - f->out->v];
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

/* How many calls a wait is inside of its thread's task loop; UINT32_MAX: not known. */
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

/* Of a lock for which threads wait several times it is asked how much is early, nothing else. */
static bool is_simple(const struct resource *r)
{
    return r->kind == RESOURCE_LOCK && r->count > r->n_threads;
}

/* Of threads that wait in one call each wakes the next one: who does so from that very call gives
 * nothing back. */
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

/* What is no resource after all: work that others hand over, a sign that somebody gives.  Threads
 * of a library's pool that hand tasks to each other give what they take, too; but nobody waits so
 * in the program, and they do at their task loops, or each for its own object. */
static bool is_none(const struct resource *r)
{
    if (r->kind == RESOURCE_POLLED)
        return r->count < POLLS_LEAST || 2 * r->polls < r->count || r->ns / r->count > POLL_NS;
    if (r->kind == RESOURCE_DELAY) /* who looks and parks again waits for something */
        return 2 * r->polls >= r->count;
    bool nobodys = !r->wait_at.method.v;
    if (r->kind == RESOURCE_ANSWERS) /* who hands a task over was asked when the last one ended */
        return nobodys && 2 * r->loop_ns > r->ns;
    if (r->kind != RESOURCE_THINGS)
        return false;
    bool work = nobodys && (2 * r->near_ns > r->ns || 2 * r->private > r->parts);
    if (r->permits)
        return work || (nobodys && r->count < NOBODYS_EACH * (uint64_t)r->n_threads);
    return r->given < GIVEN_LEAST || 2 * r->back < r->given || work;
}

/* What nobody gives back, and others do in a call of the program's that is not at its threads' task
 * loops, they do for whoever waits there: nothing else was asked for.  Who takes what comes next
 * out of a queue asked for nothing. */
static bool is_answer(const struct resource *r)
{
    return r->kind == RESOURCE_THINGS && !r->permits && r->given >= GIVEN_LEAST &&
           2 * r->given >= r->count && 2 * r->back < r->given && r->wait_at.method.v &&
           2 * r->loop_ns < r->ns && 2 * r->take_ns < r->ns;
}

/* Answers are told apart by who waits for them, not by object. */
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

/* --- where in the program --------------------------------------------------------------------- */

struct wait_place {
    uint32_t resource, method;
    int32_t line;
    uint32_t unused;
    /* the key ends here */
    uint64_t ns;
    stack_id stack;
};

static int add_place(struct finder *f, struct keyed *places, uint32_t resource, stack_id stack,
                     uint64_t ns)
{
    struct resource *r = &f->out->v[resource - 1];
    struct place at = program_place(&f->out->program, stack);
    struct wait_place key = {resource, at.method.v, at.line, 0, 0, {0}};
    struct wait_place *p = keyed_put(places, &key);
    if (!p)
        return -ENOMEM;
    p->ns += ns;
    p->stack = stack;
    if (!r->wait_stack.v)
        r->wait_stack = stack;
    if (at.method.v && p->ns >= r->wait_at_ns) {
        r->wait_at = at;
        r->wait_stack = stack;
        r->wait_at_ns = p->ns;
    }
    return 0;
}

static int find_places(struct finder *f)
{
    struct resource *all = f->out->v;
    const uint32_t *of[] = {f->out->of_context, f->out->of_regain};
    struct keyed places;
    int rc = 0;
    keyed_init(&places, offsetof(struct wait_place, ns), sizeof(struct wait_place));
    for (uint32_t i = 1; i < f->a->timeline.contexts.n; i++)
        for (unsigned again = 0; again < 2 && rc == 0; again++)
            if (of[again][i])
                rc = add_place(f, &places, of[again][i],
                               timeline_context(&f->a->timeline, i)->stack, f->of[again][i]);
    keyed_fini(&places);
    for (size_t i = 0; i < f->out->n; i++) /* in the first place only the JDK took it */
        if (!all[i].take.v)
            all[i].take = program_library(&f->out->program, all[i].wait_stack).method;
    for (uint32_t i = 1; i < f->a->timeline.contexts.n; i++) {
        uint32_t at = f->out->of_context[i];
        if (!at || all[at - 1].kind != RESOURCE_THINGS)
            continue;
        unsigned calls = queue_calls(f, timeline_context(&f->a->timeline, i)->stack);
        if (calls & QUEUE_PUTS)
            all[at - 1].put_ns += f->of[0][i];
        else if (calls & QUEUE_TAKES)
            all[at - 1].take_ns += f->of[0][i];
    }
    return rc;
}

/* --- which field holds it --------------------------------------------------------------------- */

static int find_fields(struct finder *f)
{
    struct resources *o = f->out;
    const uint32_t *of[] = {o->of_context, o->of_regain};
    uint64_t *most = calloc(o->n + 1, sizeof *most);
    struct field_sites sites;
    int rc = most ? field_sites_init(&sites, &o->program) : -ENOMEM;
    for (uint32_t i = 1; i < f->a->timeline.contexts.n && rc == 0; i++)
        for (unsigned again = 0; again < 2; again++) {
            struct resource *r = of[again][i] ? &o->v[of[again][i] - 1] : NULL;
            if (!r || f->of[again][i] <= most[r - o->v])
                continue;
            stack_id stack = timeline_context(&f->a->timeline, i)->stack;
            bool lock = r->kind == RESOURCE_LOCK && !resource_is_of_entry(r, f->a);
            const char *field = lock ? field_of_lock(&sites, stack) : field_of_pool(&sites, stack);
            if (!field || (lock && lock_taken_inside(f->a->trace, stack).v))
                continue;
            r->field = field;
            most[r - o->v] = f->of[again][i];
        }
    if (most)
        field_sites_fini(&sites);
    free(most);
    return rc;
}

/* --- what the waits are for after all --------------------------------------------------------- */

/* What a listed resource makes of its waits. */
static const uint8_t purposes[] = {[RESOURCE_LOCK] = PURPOSE_LOCK,
                                   [RESOURCE_THINGS] = PURPOSE_PERMIT,
                                   [RESOURCE_ANSWERS] = PURPOSE_ANSWER,
                                   [RESOURCE_POLLED] = PURPOSE_TIME,
                                   [RESOURCE_DELAY] = PURPOSE_TIME};

static bool is_listed(const struct resource *r)
{
    return !is_none(r) && r->count;
}

/* Input in no call of the program's, and a wait in a select, are for work, too. */
static void settle_purposes(struct finder *f)
{
    uint8_t *of = f->a->purposes.of_context;
    for (uint32_t i = 1; i < f->a->timeline.contexts.n; i++) {
        const struct context *x = timeline_context(&f->a->timeline, i);
        const struct resource *r =
            f->out->of_context[i] ? &f->out->v[f->out->of_context[i] - 1] : NULL;
        if (x->what != STATE_PARKED && x->what != STATE_WAITING)
            continue;
        if (r && is_listed(r))
            of[i] = purposes[r->kind];
        else if ((r && (r->kind == RESOURCE_THINGS || r->kind == RESOURCE_ANSWERS)) ||
                 (of[i] == PURPOSE_IO && (!program_is_in(&f->out->program, x->stack) ||
                                          io_waits_for_work(f->a->trace, x->stack))))
            of[i] = PURPOSE_IDLE;
    }
}

/* --- of which pool they are ------------------------------------------------------------------- */

/* The one that waits the longest stands first. */
static void put_first(struct resource *r, uint32_t thread)
{
    uint32_t i = 0, last = min_u32(r->n_threads, RESOURCE_IDS) - 1;
    while (i < last && r->threads[i] != thread)
        i++;
    r->threads[i] = r->threads[0];
    r->threads[0] = thread;
}

/* A thread that came by, such as main while it starts the server, does not make a pool's resource
 * one of several pools. */
static int find_strays(struct finder *f)
{
    struct resources *o = f->out;
    uint64_t *most = calloc(o->n + 1, sizeof *most), *strays = calloc(o->n + 1, sizeof *strays);
    uint32_t *first = calloc(o->n + 1, sizeof *first);
    int rc = most && strays && first ? 0 : -ENOMEM;
    for (size_t i = 0; i < f->members.cap && rc == 0; i++) {
        const struct map_slot *s = &f->members.slots[i];
        uint32_t thread = (uint32_t)s->key, of = (uint32_t)(s->key >> 32);
        if (!s->used || s->value < most[of] || (s->value == most[of] && thread > first[of]))
            continue;
        most[of] = s->value;
        first[of] = thread;
    }
    for (size_t i = 0; i < o->n && rc == 0; i++)
        if (o->v[i].n_threads)
            put_first(&o->v[i], first[i + 1]);
    for (size_t i = 0; i < f->members.cap && rc == 0; i++) {
        const struct map_slot *s = &f->members.slots[i];
        uint32_t of = (uint32_t)(s->key >> 32);
        if (!s->used || resource_same_pool(f->a, first[of], (uint32_t)s->key))
            continue;
        strays[of] += s->value - 1;
        o->v[of - 1].n_strays++;
    }
    for (size_t i = 0; i < o->n && rc == 0; i++) {
        o->v[i].mixed =
            !strays_are_few(o->v[i].n_strays, o->v[i].n_threads, strays[i + 1], o->v[i].ns);
        o->v[i].n_strays = o->v[i].mixed ? 0 : o->v[i].n_strays;
    }
    free(most);
    free(strays);
    free(first);
    return rc;
}

/* --- the time of those who wait --------------------------------------------------------------- */

/* Time in which a thread had nothing to do: it waited, nobody held it up, and it had asked for
 * nothing. */
static int find_bases(struct finder *f)
{
    const struct timeline *tl = &f->a->timeline;
    uint64_t *busy = calloc(tl->n_lines + 1, sizeof *busy);
    bool *nothing = calloc((size_t)tl->contexts.n + 1, sizeof *nothing); /* of contexts */
    int rc = busy && nothing ? 0 : -ENOMEM;
    for (uint32_t i = 1; i < tl->contexts.n && rc == 0; i++)
        nothing[i] = timeline_context(tl, i)->what == STATE_UNKNOWN || wait_is_for_work(f->a, i);
    for (uint32_t thread = 1; thread < tl->n_lines && rc == 0; thread++) {
        uint64_t idle = 0, life = thread_life(&f->a->threads.v[thread]);
        const struct run *r = &tl->lines[thread].spans;
        for (uint32_t i = 0, n; i < r->n; i += n) {
            const struct span *v = run_stretch(r, sizeof *v, i, &n);
            for (uint32_t k = 0; k < n; k++)
                if (nothing[v[k].context])
                    idle += span_waited_until(tl, &v[k]) - v[k].start;
        }
        busy[thread] = life > idle ? life - idle : 0;
    }
    for (size_t i = 0; i < f->members.cap && rc == 0; i++) {
        const struct map_slot *s = &f->members.slots[i];
        if (s->used)
            f->out->v[(s->key >> 32) - 1].base += busy[(uint32_t)s->key];
    }
    free(busy);
    free(nothing);
    return rc;
}

unsigned resource_permille(const struct resource *r)
{
    uint64_t ns = r->ns + r->behind_ns;
    uint64_t base = max_u64(max_u64(r->base, r->behind_base), ns);
    return base ? (unsigned)((unsigned __int128)ns * 1000 / base) : 0;
}

/* --- all -------------------------------------------------------------------------------------- */

/* Forget those that are none; the others in the order of their time. */
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
        if (is_listed(&o->v[i]))
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

/* The waits once more, but for simple locks of which too much is late. */
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

static int gather(struct finder *f)
{
    struct resources *o = f->out;
    for (uint32_t i = 1; i < f->a->timeline.contexts.n; i++)
        TRY(sort_context(f, i));
    o->n = f->found.n;
    o->v = calloc(o->n + 1, sizeof *o->v);
    if (!o->v)
        return -ENOMEM;
    for (size_t i = 0; i < o->n; i++)
        o->v[i] = ((const struct found *)f->found.v)[i].r;
    f->now = calloc(o->n + 1, sizeof *f->now);
    int rc = f->now ? resources_each(o, f->a, add_wait, f) : -ENOMEM;
    for (size_t i = 0; i < o->n && rc == 0; i++)
        rc = keep_member(f, &o->v[i]);
    rc = rc ? rc : add_ends(f);
    free(f->now);
    return rc ? rc : find_places(f);
}

static void forget(struct finder *f)
{
    size_t n = (size_t)f->a->timeline.contexts.n + 1;
    keyed_fini(&f->found);
    keyed_init(&f->found, sizeof(struct key), sizeof(struct found));
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
    TRY(count_waits(f));
    TRY(part_crowds(f));
    int rc = gather(f);
    if (rc == 0 && finds_answers(f)) {
        forget(f);
        rc = gather(f);
    }
    struct resource *first = o->v;
    rc = rc ? rc : find_fields(f);
    if (rc == 0)
        settle_purposes(f);
    rc = rc ? rc : find_strays(f);
    rc = rc ? rc : find_bases(f);
    rc = rc ? rc : put_in_order(f);
    free(first);
    return rc;
}

static int decide(struct analysis *a)
{
    struct resources *out = arena_alloc(&a->arena, sizeof *out);
    struct finder f = {.a = a, .out = out, .stuck = a->deadlocks.n != 0};
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
    f.own = calloc(a->locks.n_objects + 1, sizeof *f.own);
    f.frames = calloc(a->trace->n_stacks + 1, sizeof *f.frames);
    f.uses = calloc(a->locks.n_objects + 1, sizeof *f.uses);
    f.queues = calloc(a->trace->n_stacks + 1, sizeof *f.queues);
    f.of[0] = calloc(n, sizeof **f.of);
    f.of[1] = calloc(n, sizeof **f.of);
    out->calls = calloc(a->trace->n_stacks + 1, sizeof *out->calls);
    keyed_init(&f.found, sizeof(struct key), sizeof(struct found));
    map_init(&f.members);
    int rc = out->of_context && out->of_regain && out->rooms && out->runs && f.waits && f.waited &&
                     f.want && f.pools && f.own && f.uses && f.frames && f.queues && out->calls &&
                     f.of[0] && f.of[1]
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
    rc = rc ? rc : list_waits(out, a, looked_at, &a->arena);
    for (size_t i = 0; i < looked_at && rc == 0; i++)
        if (out->v[i].summed_ns)
            look_for_whole(&out->v[i], a);
    rc = rc ? rc : resource_find_holders(out, looked_at, a);
    if (rc == 0)
        resource_find_chains(out, a);
    free(out->calls);
    out->calls = NULL;
    return rc;
}
