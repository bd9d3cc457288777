/* Decides what each wait is for, by the facts of that wait alone: a lock, a thing, an answer,
 * something polled, time that a library lets pass, or nothing that a thread holds. */
#include "analyze/io_calls.h"
#include "analyze/labels.h"
#include "base/hash.h"
#include "base/util.h"
#include "conclude/resource_finder.h"
#include "conclude/resource_names.h"

#include <stdlib.h>
#include <string.h>

static bool is_long(const struct finder *f, uint32_t context)
{
    return f->waited[context] > (uint64_t)f->waits[context] * FINDER_POLL_NS;
}

/* A park without a blocker that is short by its own limit, in a call of the program.  In a thread's
 * own loop, where that frame is the outermost one, the thread polls for work. */
static bool may_poll(const struct finder *f, const struct context *x)
{
    const struct program *p = &f->out->program;
    return x->what == STATE_PARKED && !x->lock.v && x->flags & INTERVAL_TIMED &&
           program_is_in(p, x->stack) &&
           program_outermost(p, x->stack).method.v != program_library(p, x->stack).method.v;
}

/* A library lets time pass in a call of the program that is not in a thread's own loop.  The length
 * of a park that has not ended does not say how long it would have been. */
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

/* The program itself sleeps in what others gave its thread to do: under a library that calls it, or in
 * tasks of a pool, more than one for a thread.  One that is never done is a loop, which sleeps when it
 * has nothing to do. */
static bool may_sleep(const struct finder *f, uint32_t context, const struct context *x)
{
    const struct program *p = &f->out->program;
    struct place own = program_place(p, x->stack);
    method_id outermost = program_outermost(p, x->stack).method;
    const struct finder_tasks *tasks = &f->tasks[context];
    return own.method.v && program_library(p, x->stack).method.v == own.method.v &&
           (program_code(p, outermost) < program_code(p, own.method) ||
            (outermost.v != own.method.v && tasks->n > tasks->threads &&
             purpose_is_in_task(p->trace, x->stack)));
}

/* The name of the method decides before the class of the object does, unless that is a lock's: of
 * the pool's own bookkeeping.  An object that only the library's own threads wait for is not a
 * thing. */
static bool is_known_pools(const struct finder *f, const struct context *x)
{
    const struct program *p = &f->out->program;
    const char *class_ = trace_class(p->trace, trace_lock(p->trace, x->lock)->class_)->signature;
    return program_is_in(p, x->stack) && purpose_of_class(class_) != PURPOSE_LOCK &&
           resource_is_known_pool(program_library(p, x->stack).method, p->trace);
}

static enum want want_of(const struct finder *f, uint32_t context)
{
    const struct context *x = timeline_context(&f->a->timeline, context);
    switch (x->what) {
    case STATE_BLOCKED:
    case STATE_REACQUIRING:
        /* by who wakes it: a select's own business, however long a processor makes it */
        return io_in_select(f->a->trace, x->stack) ? WANT_NOTHING : WANT_OWNED;
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
        return may_delay(f, x) || may_sleep(f, context, x) ? WANT_DELAY : WANT_NOTHING;
    default:
        return WANT_NOTHING;
    }
}

/* Whether a thread waits until the JVM has ended, and another thread has begun to end it. */
static bool is_for_the_end(const struct trace *t, const struct context *x)
{
    const struct trace_stack *s = trace_stack(t, x->stack);
    return x->what == STATE_BLOCKED && s->n_frames &&
           strcmp(trace_method_class(t, s->frames[0].method), "Ljava/lang/Shutdown;") == 0;
}

bool wait_is_of_the_end(const struct analysis *a, const struct span *s)
{
    return s->start >= stop_time(&a->stop) ||
           is_for_the_end(a->trace, timeline_context(&a->timeline, s->context));
}

static bool counts(const struct finder *f, const struct context *x)
{
    return !(x->flags & INTERVAL_OPEN && deadlocks_have(&f->a->deadlocks, x->lock)) &&
           !is_for_the_end(f->a->trace, x);
}

/* The pool of each thread, as a number above 0, if the pool has other threads.  -ENOMEM. */
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

unsigned finder_queue_calls(const struct finder *f, stack_id stack)
{
    const struct trace *t = f->a->trace;
    uint8_t *of = &f->queues[stack.v < t->n_stacks ? stack.v : 0];
    if (!*of)
        *of = (uint8_t)(QUEUE_LOOKED_AT | (purpose_awaits_room(t, stack) ? QUEUE_AWAITS_ROOM : 0) |
                        (purpose_puts(t, stack) ? QUEUE_PUTS : 0) |
                        (purpose_takes(t, stack) ? QUEUE_TAKES : 0));
    return *of;
}

static void count_task(struct finder_tasks *of, uint32_t thread, uint32_t task)
{
    of->threads += of->thread != thread;
    of->n += of->task != task;
    of->thread = thread;
    of->task = task;
}

/* Counts the waits of each context, with their pool and what they are for. */
int finder_count_waits(struct finder *f)
{
    const struct timeline *tl = &f->a->timeline;
    uint32_t *pools = calloc(tl->n_lines + 1, sizeof *pools);
    int rc = pools ? find_pools(f->a, pools) : -ENOMEM;
    uint32_t task = 0;
    for (uint32_t thread = 1; thread < tl->n_lines && rc == 0; thread++) {
        const struct run *r = &tl->lines[thread].spans;
        task++;
        for (uint32_t i = 0, n; i < r->n; i += n) {
            const struct span *v = run_stretch(r, sizeof *v, i, &n);
            for (uint32_t k = 0; k < n; k++) {
                task += wait_is_for_work(f->a, v[k].context);
                count_task(&f->tasks[v[k].context], thread, task);
                bool other = f->waits[v[k].context] && f->pools[v[k].context] != pools[thread];
                f->pools[v[k].context] = other ? 0 : pools[thread];
                bool several = f->waits[v[k].context] && f->only[v[k].context] != thread;
                f->only[v[k].context] = several ? CROWD_SEVERAL : thread;
                f->waits[v[k].context] += (uint32_t)min_u64(span_count(tl, &v[k]), UINT32_MAX);
                f->waited[v[k].context] += span_len(tl, &v[k]);
            }
        }
    }
    for (uint32_t i = 1; i < tl->contexts.n; i++) {
        f->want[i] = (uint8_t)(counts(f, timeline_context(tl, i)) ? want_of(f, i) : WANT_NOTHING);
        f->out->rooms[i] =
            f->want[i] != WANT_NOTHING &&
            finder_queue_calls(f, timeline_context(tl, i)->stack) & QUEUE_AWAITS_ROOM;
    }
    free(pools);
    return rc;
}

static const enum resource_kind kinds[] = {
    [WANT_OWNED] = RESOURCE_LOCK,     [WANT_THINGS] = RESOURCE_THINGS,
    [WANT_PERHAPS] = RESOURCE_THINGS, [WANT_ANSWER] = RESOURCE_ANSWERS,
    [WANT_POLLED] = RESOURCE_POLLED,  [WANT_DELAY] = RESOURCE_DELAY};

/* A wait reacquires its monitor: either for the thing that the thread waited for, or for the
 * monitor itself. */
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
    const char *signature = f->a->locks.groups[at.group].signature;
    struct crowd_kind kind = {resource_class_of_entry(signature), want == WANT_THINGS};
    return crowds_add(c, &at, x->lock, f->waits[context], kind);
}

/* Decides which objects are resources of their own. */
int finder_part_crowds(struct finder *f)
{
    const struct contexts *all = &f->a->timeline.contexts;
    struct crowd_object *of = calloc(f->a->locks.n_objects + 1, sizeof *of);
    struct crowds c;
    int rc = of ? 0 : -ENOMEM;
    crowds_init(&c);
    for (uint32_t i = 1; i < all->n && rc == 0; i++) {
        const struct context *x = &all->v[i];
        if (!x->lock.v || x->lock.v >= f->a->locks.n_objects || !f->waits[i])
            continue;
        struct crowd_object *o = &of[x->lock.v];
        o->waits += f->waits[i];
        o->thread = o->thread && o->thread != f->only[i] ? CROWD_SEVERAL : f->only[i];
        if (f->want[i] != WANT_NOTHING && f->want[i] != WANT_ANSWER)
            rc = add_to_crowd(f, &c, i, f->want[i]);
        if (rc == 0 && wants_again(f, i) == WANT_OWNED)
            rc = add_to_crowd(f, &c, i, WANT_OWNED);
    }
    if (rc == 0)
        crowds_settle(&c, of, f->own);
    crowds_fini(&c);
    free(of);
    return rc;
}

/* *out: what the context's waits are for. */
static int sort_as(struct finder *f, uint32_t context, enum want want, uint32_t *out)
{
    const struct context *x = timeline_context(&f->a->timeline, context);
    struct place take = program_library(&f->out->program, x->stack);
    bool own =
        want != WANT_ANSWER && x->lock.v && x->lock.v < f->a->locks.n_objects && f->own[x->lock.v];
    struct finder_key key = {.kind = kinds[want],
                             .lock = own ? x->lock.v : 0,
                             .take = own && want == WANT_OWNED ? 0 : take.method.v,
                             .group = own ? 0
                                      : want == WANT_ANSWER
                                          ? f->pools[context]
                                          : lock_set_group(&f->a->locks, x->lock)};
    struct finder_found *e = keyed_put(&f->found, &key);
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

int finder_sort_context(struct finder *f, uint32_t context)
{
    enum want again = wants_again(f, context);
    if (f->want[context] != WANT_NOTHING)
        TRY(sort_as(f, context, f->want[context], &f->out->of_context[context]));
    return again ? sort_as(f, context, again, &f->out->of_regain[context]) : 0;
}
