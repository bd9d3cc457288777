#include "analyze/purpose.h"

#include "base/err.h"
#include "base/map.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

/* --- what classes and methods say ------------------------------------------------------------- */

enum purpose purpose_of_class(const char *signature)
{
    static const struct {
        const char *begin;
        enum purpose purpose;
    } classes[] = {
        {"Ljava/util/concurrent/locks/ReentrantLock$", PURPOSE_LOCK},
        {"Ljava/util/concurrent/locks/ReentrantReadWriteLock$", PURPOSE_LOCK},
        {"Ljava/util/concurrent/locks/StampedLock", PURPOSE_LOCK},
        {"Ljava/util/concurrent/Semaphore", PURPOSE_PERMIT},
        {"Ljava/util/concurrent/CountDownLatch$", PURPOSE_ANSWER},
        {"Ljava/util/concurrent/FutureTask;", PURPOSE_ANSWER},
        {"Ljava/util/concurrent/CompletableFuture$", PURPOSE_ANSWER},
        {"Ljava/util/concurrent/Exchanger", PURPOSE_ANSWER},
        {"Ljava/util/concurrent/Phaser", PURPOSE_ANSWER},
    };
    for (size_t i = 0; i < ARRAY_LEN(classes); i++)
        if (strncmp(signature, classes[i].begin, strlen(classes[i].begin)) == 0)
            return classes[i].purpose;
    return PURPOSE_IDLE;
}

/* A method by the beginning or the end of its class's signature, and the beginning of its name. */
struct known_method {
    const char *class_begin, *class_end, *name;
};

/* Where pools keep their threads, and where the end of something is waited for, as in a join. */
static const struct known_method idle_methods[] = {
    {"", "ThreadPoolExecutor;", "getTask"},
    {"", "ThreadPoolExecutor;", "awaitTermination"},
    {"Ljava/util/concurrent/ThreadPerTaskExecutor;", "", "awaitTermination"},
    {"Ljava/util/concurrent/ForkJoinPool;", "", "awaitWork"},
    {"Ljava/util/concurrent/ForkJoinPool;", "", "awaitTermination"},
    {"Ljava/lang/ref/ReferenceQueue", "", ""},
};
static const struct known_method answer_methods[] = {
    {"Ljava/util/concurrent/CyclicBarrier;", "", ""},
    {"Ljava/util/concurrent/Exchanger;", "", ""},
    {"Ljava/util/concurrent/Phaser", "", ""},
    {"Ljava/util/concurrent/ForkJoinTask", "", ""},
    {"Ljava/util/concurrent/CompletableFuture", "", ""},
    {"Ljava/util/concurrent/ExecutorCompletionService;", "", ""},
};
static const struct known_method permit_methods[] = {
    {"Ljava/util/concurrent/locks/AbstractQueuedSynchronizer;", "", "acquire"},
    {"Ljava/util/concurrent/locks/AbstractQueuedLongSynchronizer;", "", "acquire"},
};
static const struct known_method give_methods[] = {
    {"", "Queue;", "put"},
    {"", "Queue;", "offer"},
    {"", "Queue;", "add"},
    {"", "Queue;", "transfer"},
    {"", "Deque;", "put"},
    {"", "Deque;", "offer"},
    {"", "Deque;", "add"},
    {"", "Deque;", "push"},
    {"", "SubmissionPublisher;", "submit"},
    {"", "SubmissionPublisher;", "offer"},
};
static const struct known_method take_methods[] = {
    {"", "Queue;", "take"},
    {"", "Queue;", "poll"},
    {"", "Deque;", "take"},
    {"", "Deque;", "poll"},
};

static bool is_one_of(const struct known_method *v, size_t n, const char *signature,
                      const char *name)
{
    size_t len = strlen(signature);
    for (size_t i = 0; i < n; i++) {
        size_t end = strlen(v[i].class_end);
        if (strncmp(signature, v[i].class_begin, strlen(v[i].class_begin)) == 0 && end <= len &&
            strcmp(signature + len - end, v[i].class_end) == 0 &&
            strncmp(name, v[i].name, strlen(v[i].name)) == 0)
            return true;
    }
    return false;
}

#define IS_ONE_OF(list, signature, name) is_one_of(list, ARRAY_LEN(list), signature, name)

/* --- what a stack says ------------------------------------------------------------------------ */

/* What the calls of java.util.concurrent at the end of a stack are for. */
struct call_of {
    bool idle, answer, permit, gives, takes;
};

static bool is_of_concurrent(const char *signature)
{
    static const char *const begins[] = {"Ljava/util/concurrent/", "Ljdk/internal/misc/",
                                         "Lsun/misc/", "Ljava/lang/"};
    for (size_t i = 0; i < ARRAY_LEN(begins); i++)
        if (strncmp(signature, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

/* The program's own queues count as queues; below the first frame of other code only pools are
 * looked for, since what that code was called for says nothing about this call. */
static struct call_of read_call(const struct trace *t, stack_id stack)
{
    const struct trace_stack *s = trace_stack(t, stack);
    struct call_of c = {false, false, false, false, false};
    bool near = true;
    for (uint32_t i = 0; i < s->n_frames; i++) {
        const struct trace_method *m = trace_method(t, s->frames[i].method);
        const char *signature = trace_class(t, m->class_)->signature;
        c.idle |= IS_ONE_OF(idle_methods, signature, m->name);
        bool gives = IS_ONE_OF(give_methods, signature, m->name);
        bool takes = IS_ONE_OF(take_methods, signature, m->name);
        near &= gives || takes || is_of_concurrent(signature);
        if (!near)
            continue;
        c.answer |= IS_ONE_OF(answer_methods, signature, m->name);
        c.permit |= IS_ONE_OF(permit_methods, signature, m->name);
        if (gives || takes) { /* the outermost says what was asked for */
            c.gives = gives;
            c.takes = takes;
        }
    }
    return c;
}

bool purpose_puts(const struct trace *t, stack_id stack)
{
    return read_call(t, stack).gives;
}

/* Of a file of calls a park is a call that blocked: what it is about holds the thread up. */
static bool is_of_calls(const struct trace *t)
{
    return *trace_info(t, "import.format", "");
}

/* What a stack says, kept for the next context with it. */
enum says { SAYS_NOT_READ, SAYS_NOTHING, SAYS_IDLE, SAYS_ANSWER, SAYS_PERMIT, SAYS_ITEM };

static enum says read_stack(const struct trace *t, stack_id stack)
{
    struct call_of c = read_call(t, stack);
    if (c.idle)
        return SAYS_IDLE;
    if (c.answer)
        return SAYS_ANSWER;
    if (c.permit || c.gives)
        return SAYS_PERMIT;
    return c.takes ? SAYS_ITEM : SAYS_NOTHING;
}

struct maker {
    const struct trace *t;
    const struct lock_set *locks;
    uint8_t *says; /* [n_stacks + 1]: enum says */
    bool of_calls;
};

static enum purpose purpose_of_stack(const struct maker *m, const struct context *x)
{
    static const uint8_t purposes[] = {[SAYS_IDLE] = PURPOSE_IDLE,
                                       [SAYS_ANSWER] = PURPOSE_ANSWER,
                                       [SAYS_PERMIT] = PURPOSE_PERMIT,
                                       [SAYS_ITEM] = PURPOSE_ITEM};
    uint32_t stack = x->stack.v < m->t->n_stacks ? x->stack.v : 0;
    if (m->says[stack] == SAYS_NOT_READ)
        m->says[stack] = (uint8_t)read_stack(m->t, x->stack);
    if (m->says[stack] == SAYS_NOTHING)
        return x->lock.v && (m->of_calls || x->mode == CONTEXT_OF_CALL) ? PURPOSE_PERMIT
                                                                        : PURPOSE_IDLE;
    return purposes[m->says[stack]];
}

/* --- contexts --------------------------------------------------------------------------------- */

static enum purpose purpose_of_park(const struct maker *m, const struct context *x)
{
    const struct lock_set *l = m->locks;
    enum purpose p = purpose_of_group(l, lock_set_group(l, x->lock));
    if (p == PURPOSE_IDLE && x->other)
        p = PURPOSE_LOCK; /* it was seen to have an owner */
    p = p == PURPOSE_IDLE ? purpose_of_stack(m, x) : p;
    return p == PURPOSE_ANSWER && x->flags & INTERVAL_OPEN ? PURPOSE_IDLE : p;
}

static enum purpose purpose_of(const struct maker *m, const struct context *x)
{
    if (x->what == STATE_BLOCKED || x->what == STATE_REACQUIRING)
        return PURPOSE_LOCK;
    return x->what == STATE_PARKED ? purpose_of_park(m, x) : PURPOSE_IDLE;
}

int purposes_make(struct purposes *p, const struct trace *t, const struct lock_set *locks,
                  const struct contexts *c, struct arena *a)
{
    struct maker m = {t, locks, calloc(t->n_stacks + 1, 1), is_of_calls(t)};
    p->of_context = arena_alloc(a, (size_t)c->n + 1);
    for (uint32_t i = 1; i < c->n && p->of_context && m.says; i++)
        p->of_context[i] = (uint8_t)purpose_of(&m, &c->v[i]);
    bool ok = p->of_context && m.says;
    free(m.says);
    return ok ? 0 : -ENOMEM;
}

/* --- queues ----------------------------------------------------------------------------------- */

/* Who takes from a queue and who gives to it: of its waits that ended because somebody gave, how
 * many were ended by one who waits there, too. */
struct settler {
    const struct purposes *p;
    const struct trace *t;
    const struct timeline *tl;
    struct map takers; /* lock, thread -> 1 */
    struct map gifts;  /* lock -> all << 32 | those by takers */
    struct map stacks; /* of who ended waits -> 1: gives; 2: does not */
};

static uint64_t taker_key(lock_id lock, uint32_t thread)
{
    return (uint64_t)lock.v << 32 | thread;
}

static int note_taker(struct settler *s, uint32_t thread, const struct span *w,
                      const struct context *x)
{
    uint64_t *place = map_put(&s->takers, taker_key(x->lock, thread));
    UNUSED(w);
    if (place)
        *place = 1;
    return place ? 0 : -ENOMEM;
}

/* Whether a stack is that of somebody who gives; -ENOMEM. */
static int is_giving(struct settler *s, stack_id stack)
{
    uint64_t *known = map_put(&s->stacks, stack.v);
    if (!known)
        return -ENOMEM;
    if (!*known)
        *known = read_call(s->t, stack).gives ? 1 : 2;
    return *known == 1;
}

static int note_gift(struct settler *s, uint32_t thread, const struct span *w,
                     const struct context *x)
{
    int gives = w->waker ? is_giving(s, span_wake_stack(s->tl, w)) : 0;
    UNUSED(thread);
    if (gives <= 0)
        return gives;
    uint64_t *place = map_put(&s->gifts, x->lock.v);
    if (!place)
        return -ENOMEM;
    *place += UINT64_C(1) << 32;
    *place += map_find(&s->takers, taker_key(x->lock, w->waker)) != NULL;
    return 0;
}

/* Each wait that takes from a queue. */
static int visit(struct settler *s, int (*note)(struct settler *s, uint32_t thread,
                                                const struct span *w, const struct context *x))
{
    for (uint32_t thread = 0; thread < s->tl->n_lines; thread++) {
        const struct run *r = &s->tl->lines[thread].spans;
        for (uint32_t i = 0, n; i < r->n; i += n) {
            const struct span *v = run_stretch(r, sizeof *v, i, &n);
            for (uint32_t k = 0; k < n; k++)
                if (s->p->of_context[v[k].context] == PURPOSE_ITEM)
                    TRY(note(s, thread, &v[k], timeline_context(s->tl, v[k].context)));
        }
    }
    return 0;
}

static bool goes_round(const struct settler *s, lock_id queue)
{
    const uint64_t *n = map_find(&s->gifts, queue.v);
    return n && 2 * (*n & UINT32_MAX) >= *n >> 32;
}

int purposes_settle(struct purposes *p, const struct trace *t, const struct timeline *timeline)
{
    const struct contexts *c = &timeline->contexts;
    struct settler s = {.p = p, .t = t, .tl = timeline};
    bool any = false;
    for (uint32_t i = 1; i < c->n && !any; i++)
        any = p->of_context[i] == PURPOSE_ITEM;
    if (!any)
        return 0;
    map_init(&s.takers);
    map_init(&s.gifts);
    map_init(&s.stacks);
    int rc = visit(&s, note_taker);
    rc = rc ? rc : visit(&s, note_gift);
    for (uint32_t i = 1; i < c->n && rc == 0; i++)
        if (p->of_context[i] == PURPOSE_ITEM)
            p->of_context[i] = goes_round(&s, c->v[i].lock) ? PURPOSE_PERMIT : PURPOSE_IDLE;
    map_fini(&s.takers);
    map_fini(&s.gifts);
    map_fini(&s.stacks);
    return rc;
}
