#include "agent/owner_stacks.h"

#include "agent/lacks.h"
#include "agent/methods.h"
#include "agent/stacks.h"
#include "base/clock.h"
#include "base/util.h"
#include "hotspot/owner_walk.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHARE = 100,            /* auto: at most this fraction of the time, 1/N */
    BURST_NS = 1000 * 1000, /* that may be spent at once */
    /* An owner that runs or sleeps answers within microseconds; one that waits for a processor may
     * take long, and a thread that waits for it spends the budget of many others. */
    PATIENCE_NS = 2 * 1000 * 1000,
    PATIENCE_AUTO_NS = 300 * 1000,
    KINDS = 9, /* of results */
};

static struct {
    bool on;
    uint64_t since;
    _Atomic uint64_t spent, taken; /* spent: ns, of the threads that asked */
    /* by result, the words of owner_walk_text */
    _Atomic uint64_t failed[KINDS];
    const char *why[KINDS];
} budget;

static const int results[KINDS] = {OWNER_WALK_NONE,   OWNER_WALK_BUSY,   OWNER_WALK_NO_SIGNAL,
                                   OWNER_WALK_SILENT, OWNER_WALK_GONE,   OWNER_WALK_STACK_END,
                                   OWNER_WALK_NEW,    OWNER_WALK_NATIVE, 0};

void owner_stacks_start(JNIEnv *jni)
{
    struct err err;
    memset(&budget, 0, sizeof budget);
    budget.since = clock_mono_ns();
    if (agent.settings.ownerstacks == OWNERSTACKS_NONE || agent.settings.depth == 0)
        return;
    if (agent.walker)
        budget.on = owner_walk_open(&err) == 0;
    else
        err_set(&err, -ENOTSUP, "%s", stacks_not_walked());
    if (budget.on)
        ownable_init(&agent, jni);
    if (!budget.on && agent.settings.ownerstacks == OWNERSTACKS_ALL)
        lacks_note("%s: what owners execute is not recorded", err.msg);
}

bool owner_stacks_due(void)
{
    if (!budget.on)
        return false;
    if (agent.settings.ownerstacks == OWNERSTACKS_ALL)
        return true;
    uint64_t spent = atomic_load_explicit(&budget.spent, memory_order_relaxed);
    return spent < BURST_NS + (clock_mono_ns() - budget.since) / SHARE;
}

uint64_t owner_stacks_cost(void)
{
    return atomic_load_explicit(&budget.spent, memory_order_relaxed);
}

static void count(int result)
{
    size_t k = 0;
    while (k < KINDS - 1 && results[k] != result)
        k++;
    atomic_fetch_add_explicit(&budget.failed[k], 1, memory_order_relaxed);
}

/* The new methods' ids, then the stack's. */
static stack_id stack_of(const struct owner_answer *a)
{
    struct stack_frame frames[DEPTH_MAX];
    uint8_t kinds[DEPTH_MAX];
    bool near = a->flags & WALK_NEAR && !agent.all_places;
    method_id new[256];
    for (uint32_t i = 0; i < a->n_methods && i < ARRAY_LEN(new); i++)
        new[i] = methods_id_of_text(a->methods[i].method, a->methods[i].stamp, agent.walker,
                                    &a->methods[i].text);
    for (uint32_t i = 0; i < a->n; i++) {
        const struct owner_frame *f = &a->frames[i];
        frames[i].method = f->id ? (method_id){f->id} : new[f->unknown];
        frames[i].bci = f->bci;
        kinds[i] = f->near ? FRAMEKIND_NEAR : FRAMEKIND_UNKNOWN;
    }
    return stacks_of_kinds(frames, near ? kinds : NULL, a->n,
                           a->flags & (WALK_CUT_DEPTH | WALK_CUT_UNTHAWED));
}

static void put(const struct owner_stack_job *job, const struct owner_answer *a)
{
    stack_id stack = stack_of(a);
    struct ring *ring = job->self->ring;
    struct event *e = stack.v ? ring_begin(ring, EV_owner_stack, job->id, a->time) : NULL;
    if (!e)
        return;
    e->owner_stack.lock = job->lock;
    e->owner_stack.owner = job->owner;
    e->owner_stack.stack = stack;
    e->owner_stack.near = (a->flags & WALK_NEAR) != 0;
    ring_commit(ring, e);
    atomic_fetch_add_explicit(&budget.taken, 1, memory_order_relaxed);
}

/* So that they are known when they are met again. */
static void define_methods(const struct owner_answer *a)
{
    for (uint32_t i = 0; i < a->n_methods; i++)
        methods_id_of_text(a->methods[i].method, a->methods[i].stamp, agent.walker,
                           &a->methods[i].text);
}

static void take(const struct owner_stack_job *job, struct owner_question *q)
{
    const struct owner_answer *a = NULL;
    uint64_t began = clock_mono_ns();
    q->walker = agent.walker;
    q->layout = &agent.layout;
    q->place = *job->place;
    bool all = agent.settings.ownerstacks == OWNERSTACKS_ALL;
    q->timeout = all ? PATIENCE_NS : PATIENCE_AUTO_NS;
    q->depth = (uint32_t)agent.settings.depth;
    q->known = methods_known;
    /* A signal ends poll, nanosleep and some others early (signal(7)), and not all native code
     * reckons with that: in production it is not sent there. */
    int result = q->place.in_native && !all ? OWNER_WALK_NATIVE : owner_walk(q, &a);
    if (result == 0)
        put(job, a);
    else
        count(result);
    if (result == OWNER_WALK_NEW)
        define_methods(a);
    if (a)
        owner_walk_done(a);
    atomic_fetch_add_explicit(&budget.spent, clock_mono_ns() - began, memory_order_relaxed);
}

void owner_stacks_take_monitor(const struct owner_stack_job *job, const uintptr_t *oop)
{
    struct owner_question q = {.owns = owner_walk_owns_monitor, .lock = oop};
    take(job, &q);
}

/* The same owner as when JNI named it: then it is the thread that is asked. */
static bool owns_ownable(const struct owner_question *q)
{
    return ownable_is_same(q->lock);
}

void owner_stacks_take_ownable(const struct owner_stack_job *job, const struct ownable *lock)
{
    struct owner_question q = {.owns = owns_ownable, .lock = lock};
    take(job, &q);
}

void owner_stacks_report(void)
{
    struct buf b;
    uint64_t taken = atomic_load_explicit(&budget.taken, memory_order_relaxed), asked = taken;
    if (!budget.on)
        return;
    buf_init(&b);
    for (size_t k = 0; k < KINDS; k++)
        asked += atomic_load_explicit(&budget.failed[k], memory_order_relaxed);
    buf_printf(&b, "asked %" PRIu64 ", taken %" PRIu64, asked, taken);
    for (size_t k = 0; k < KINDS; k++) {
        uint64_t n = atomic_load_explicit(&budget.failed[k], memory_order_relaxed);
        if (n)
            buf_printf(&b, ", %s %" PRIu64, owner_walk_text(results[k]), n);
    }
    recorder_put_info(agent.rec, "orca.ownerstacks", buf_str(&b));
    buf_fini(&b);
}
