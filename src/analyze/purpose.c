#include "analyze/purpose.h"

#include "analyze/io_calls.h"
#include "analyze/sites.h"
#include "base/err.h"
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

/* Methods in which pools keep their idle threads, and methods that wait for the end of something,
 * as a join does. */
static const struct known_method idle_methods[] = {
    {"", "ThreadPoolExecutor;", "getTask"},
    {"", "ThreadPoolExecutor;", "awaitTermination"},
    {"Ljava/util/concurrent/ThreadPerTaskExecutor;", "", "awaitTermination"},
    {"Ljava/util/concurrent/ForkJoinPool;", "", "awaitWork"},
    {"Ljava/util/concurrent/ForkJoinPool;", "", "awaitTermination"},
    {"Ljava/lang/ref/ReferenceQueue", "", ""},
};
static const struct known_method task_methods[] = {
    {"", "ThreadPoolExecutor;", "runWorker"},
    {"Ljava/util/concurrent/ForkJoinPool;", "", "runWorker"},
};
static const struct known_method answer_methods[] = {
    {"Ljava/util/concurrent/CyclicBarrier;", "", ""},
    {"Ljava/util/concurrent/Exchanger;", "", ""},
    {"Ljava/util/concurrent/Phaser", "", ""},
    {"Ljava/util/concurrent/ForkJoinTask", "", ""},
    {"Ljava/util/concurrent/CompletableFuture", "", ""},
    {"Ljava/util/concurrent/FutureTask;", "", ""},
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
    {"Ljava/io/Piped", "", "write"},
    {"Ljava/io/Piped", "", "receive"}, /* of the reader, called by the writer */
    {"Ljava/io/Piped", "", "awaitSpace"},
};
static const struct known_method take_methods[] = {
    {"", "Queue;", "take"}, {"", "Queue;", "poll"},         {"", "Deque;", "take"},
    {"", "Deque;", "poll"}, {"Ljava/io/Piped", "", "read"},
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

/* The purpose of the calls of java.util.concurrent at the inner end of a stack. */
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

/* Code outside java.util.concurrent declares at this frame that it blocks its pool's thread.  It
 * waits for an answer, as promises and futures of libraries do. */
static bool blocks_its_pool(const struct trace *t, const struct trace_stack *s, uint32_t frame)
{
    static const struct known_method managed[] = {
        {"Ljava/util/concurrent/ForkJoinPool;", "", "managedBlock"}};
    if (frame == 0 || frame >= s->n_frames)
        return false;
    const struct trace_method *m = trace_method(t, s->frames[frame - 1].method);
    const struct trace_method *caller = trace_method(t, s->frames[frame].method);
    return IS_ONE_OF(managed, trace_class(t, m->class_)->signature, m->name) &&
           !is_of_concurrent(trace_class(t, caller->class_)->signature);
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
        c.answer |= blocks_its_pool(t, s, i);
        bool gives = IS_ONE_OF(give_methods, signature, m->name);
        bool takes = IS_ONE_OF(take_methods, signature, m->name);
        near &= gives || takes || is_of_concurrent(signature);
        if (!near)
            continue;
        c.answer |= IS_ONE_OF(answer_methods, signature, m->name);
        c.permit |= IS_ONE_OF(permit_methods, signature, m->name);
        if (gives || takes) { /* the outermost call shows the request */
            c.gives = gives;
            c.takes = takes;
        }
    }
    return c;
}

static bool begins_with(const struct trace *t, method_id method, const char *const *names, size_t n)
{
    const char *name = trace_method(t, method)->name;
    for (size_t i = 0; i < n; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* Methods that wait for room, by the beginnings of their names. */
static const char *const room_names[] = {"put",     "offer",   "send",     "publish",
                                         "enqueue", "push",    "transfer", "append",
                                         "submit",  "execute", "add"};

/* A key and a value go into a map, which has room. */
static bool is_of_map(const struct trace *t, method_id method)
{
    const struct trace_method *m = trace_method(t, method);
    const char *first_end = strchr(m->signature, ';');
    return strncmp(m->name, "put", 3) == 0 && strncmp(m->signature, "(L", 2) == 0 && first_end &&
           first_end[1] == 'L';
}

/* Whether a method gives something, and so waits for room. */
static bool gives_room(const struct trace *t, method_id method)
{
    return begins_with(t, method, room_names, ARRAY_LEN(room_names)) && !is_of_map(t, method);
}

bool purpose_puts(const struct trace *t, stack_id stack)
{
    return gives_room(t, causes_inner(t, stack)) || read_call(t, stack).gives;
}

bool purpose_takes(const struct trace *t, stack_id stack)
{
    return causes_takes(t, causes_inner(t, stack)) || read_call(t, stack).takes;
}

/* Methods that look at a queue, by the beginnings of their names. */
static const char *const look_names[] = {"remaining", "size", "isEmpty", "contains", "peek"};

bool purpose_awaits_room(const struct trace *t, stack_id stack)
{
    method_id called = causes_called(t, stack);
    return called.v && gives_room(t, called);
}

bool purpose_leaves_full(const struct trace *t, stack_id waits, stack_id wakes)
{
    method_id at = causes_called(t, waits), by = causes_called(t, wakes);
    if (!by.v || trace_method(t, at)->class_.v != trace_method(t, by)->class_.v)
        return false;
    return gives_room(t, by) || begins_with(t, by, look_names, ARRAY_LEN(look_names));
}

/* In a file with calls instead of parks, a park is a call that blocked: its object blocks the
 * thread. */
static bool is_of_calls(const struct trace *t)
{
    return *trace_info(t, "import.format", "");
}

/* The purpose by a stack, kept for the next context with the same stack. */
enum says { SAYS_NOT_READ, SAYS_NOTHING, SAYS_IDLE, SAYS_ANSWER, SAYS_PERMIT, SAYS_ITEM, SAYS_IO };

static enum says read_stack(const struct trace *t, stack_id stack)
{
    struct call_of c = read_call(t, stack);
    if (io_of_call(t, stack) != IO_NONE)
        return SAYS_IO;
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

/* A call that blocked, of a method that the user named. */
static bool is_call(const struct maker *m, const struct context *x)
{
    return x->what == STATE_PARKED && x->lock.v && (m->of_calls || x->mode == CONTEXT_OF_CALL);
}

static enum purpose purpose_of_stack(const struct maker *m, const struct context *x)
{
    static const uint8_t purposes[] = {[SAYS_IDLE] = PURPOSE_IDLE,
                                       [SAYS_ANSWER] = PURPOSE_ANSWER,
                                       [SAYS_PERMIT] = PURPOSE_PERMIT,
                                       [SAYS_ITEM] = PURPOSE_IDLE,
                                       [SAYS_IO] = PURPOSE_IO};
    uint32_t stack = x->stack.v < m->t->n_stacks ? x->stack.v : 0;
    if (m->says[stack] == SAYS_NOT_READ)
        m->says[stack] = (uint8_t)read_stack(m->t, x->stack);
    if (m->says[stack] == SAYS_NOTHING)
        return is_call(m, x) ? PURPOSE_PERMIT : PURPOSE_IDLE;
    return purposes[m->says[stack]];
}

/* Whether a context waits where pools keep their idle threads. */
static bool is_pools(const struct maker *m, const struct context *x)
{
    return x->what == STATE_PARKED &&
           m->says[x->stack.v < m->t->n_stacks ? x->stack.v : 0] == SAYS_IDLE;
}

/* Whether class, owner or call decide alone, whatever ended the waits. */
static bool is_certain(const struct maker *m, uint8_t purpose, const struct context *x)
{
    return purpose == PURPOSE_LOCK || purpose == PURPOSE_IO || is_call(m, x);
}

/* --- contexts --------------------------------------------------------------------------------- */

static enum purpose purpose_of_park(const struct maker *m, const struct context *x)
{
    const struct lock_set *l = m->locks;
    enum purpose p = purpose_of_group(l, lock_set_group(l, x->lock));
    if (p == PURPOSE_IDLE && x->other)
        p = PURPOSE_LOCK; /* it was seen to have an owner */
    return p == PURPOSE_IDLE ? purpose_of_stack(m, x) : p;
}

static enum purpose purpose_of(const struct maker *m, const struct context *x)
{
    if (x->what == STATE_BLOCKED || x->what == STATE_REACQUIRING)
        return PURPOSE_LOCK;
    if (x->what == STATE_PARKED)
        return purpose_of_park(m, x);
    bool puts = x->what == STATE_WAITING && purpose_of_stack(m, x) == PURPOSE_PERMIT;
    return puts ? PURPOSE_PERMIT : PURPOSE_IDLE;
}

int purposes_make(struct purposes *p, const struct trace *t, const struct lock_set *locks,
                  const struct contexts *c, struct arena *a)
{
    struct maker m = {t, locks, calloc(t->n_stacks + 1, 1), is_of_calls(t)};
    p->of_context = arena_alloc(a, (size_t)c->n + 1);
    p->known = arena_alloc(a, (size_t)c->n + 1);
    bool ok = p->of_context && p->known && m.says;
    for (uint32_t i = 1; i < c->n && ok; i++) {
        p->of_context[i] = (uint8_t)purpose_of(&m, &c->v[i]);
        bool known = is_certain(&m, p->of_context[i], &c->v[i]);
        p->known[i] = known ? KNOWN : is_pools(&m, &c->v[i]) ? KNOWN_TASKS : KNOWN_NOT;
    }
    free(m.says);
    return ok ? 0 : -ENOMEM;
}

/* --- causes ----------------------------------------------------------------------------------- */

enum {
    FEW_PERMITS = 4, /* ended waits by which it is decided whether they are for permits */
    DUE_THREADS = 2, /* that wait for an answer at one place */
    ASKED_PART =
        10, /* of a lease one is never asked, of a busy pool's promises at least one in N */
    TIMER_PART = 10,   /* of its waits at least one in N lasts until its limit */
    FEW_PROMISES = 16, /* by which it is decided whether they are a lock's */
    FRESH_EACH = 2,    /* waits for objects of one wait each: a thread has made more than one */
};

/* A program's own methods that wait for a thing. */
static const char *const thing_names[] = {"acquire", "allocate", "lock",  "borrow",
                                          "reserve", "checkout", "lease", "getConnection"};

static bool takes(const struct trace *t, method_id method)
{
    static const char *const names[] = {"take", "poll", "remove"};
    return begins_with(t, method, names, ARRAY_LEN(names));
}

/* Whether a program's own call is named after what it waits for: second to causes. */
static bool is_wanting(const struct trace *t, const struct causes *c, const struct call *call)
{
    bool own = call->jdk.v && (call->in_locks || !c->loops[call->inner.v]);
    return own && (gives_room(t, call->inner) ||
                   begins_with(t, call->inner, thing_names, ARRAY_LEN(thing_names)));
}

static bool is_latch(const struct trace *t, lock_id lock)
{
    static const char latch[] = "Ljava/util/concurrent/CountDownLatch$";
    const char *signature = trace_class(t, trace_lock(t, lock)->class_)->signature;
    return strncmp(signature, latch, sizeof latch - 1) == 0;
}

/* Whether a method of a task (inside the frames that all stacks of a thread share) waits and also
 * begins things for other threads.  Then another thread gives back what the method takes. */
static bool asks_in_task(const struct trace *t, const struct causes *c, stack_id stack)
{
    const struct trace_stack *s = trace_stack(t, stack);
    for (uint32_t i = 0; i < s->n_frames; i++) {
        method_id m = s->frames[i].method;
        if (m.v >= c->n_methods || sites_is_jdk(trace_method_class(t, m)))
            continue;
        if (c->loops[m.v])
            break;
        if (c->asks[m.v])
            return true;
    }
    return false;
}

/* Nobody was asked for what ended most of the waits at this place. */
static enum purpose purpose_unasked(const struct trace *t, const struct causes *c,
                                    const struct cause_sums *s, const struct context *x,
                                    enum purpose says)
{
    const struct call *call = &c->calls[x->stack.v];
    uint64_t unasked = s->ended[ENDED_UNASKED];
    if (says == PURPOSE_ANSWER)
        return says;
    if (2 * s->pooled > unasked && asks_in_task(t, c, x->stack))
        return PURPOSE_PERMIT;
    if (unasked >= FEW_PERMITS && is_wanting(t, c, call))
        return PURPOSE_PERMIT;
    bool again = s->waits >= 2 * s->threads;
    return 2 * s->near > unasked && again ? PURPOSE_IDLE : says;
}

/* Whether a promise is that of a lock: nearly all were kept by threads to which others who wait there
 * had just given that task, and hardly any by one that the waiter had asked. */
static bool is_given_back_by_others(const struct cause_sums *s)
{
    uint64_t n = 0;
    for (int i = 0; i < ENDED_LIMIT; i++)
        n += s->ended[i];
    return s->threads > 1 && n >= FEW_PROMISES && 10 * s->relayed >= 9 * n;
}

/* Whether a thread waits at its task loop until something is due, or a task comes that is due earlier:
 * those that it gave tasks give it new ones. */
static bool is_timer(const struct cause_sums *s, const struct context *x, enum purpose says)
{
    return says == PURPOSE_IDLE && x->flags & INTERVAL_TIMED &&
           TIMER_PART * s->limit_near >= s->waits;
}

/* The purpose of most waits at a call site, by what ended them.  `says`: the purpose by class and
 * frames, which decides where the causes do not. */
static enum purpose purpose_by_causes(const struct trace *t, const struct causes *c,
                                      const struct context *x, enum purpose says)
{
    const struct cause_sums *s = causes_of(c, x->stack);
    uint64_t n = 0;
    for (int i = 0; i < ENDED_LIMIT; i++)
        n += s->ended[i];
    uint64_t meets = s->ended[ENDED_MEETS];
    if (takes(t, c->calls[x->stack.v].jdk)) { /* one taker wakes the next */
        n -= meets;
        meets = 0;
    }
    if (!n && says == PURPOSE_ANSWER && s->limit_near > s->threads && 2 * s->limit_near > s->waits)
        return PURPOSE_IDLE; /* how a thread of its own lets time pass, unless it is asked to end */
    if (!n || (n < FEW_PERMITS && says == PURPOSE_PERMIT))
        return says;
    if (2 * meets > n)
        return PURPOSE_ANSWER;
    /* HttpClient.send waits for an answer, not for room */
    bool room = says != PURPOSE_ANSWER &&
                (gives_room(t, c->calls[x->stack.v].jdk) || read_call(t, x->stack).gives);
    if (2 * s->ended[ENDED_BACK] > n || room)
        return PURPOSE_PERMIT;
    uint64_t peers = s->ended[ENDED_ASKED_PEER], asked = s->ended[ENDED_ASKED];
    bool of_peers = 10 * (asked + peers) >= 9 * n; /* not now and then only */
    if (2 * (asked + (of_peers ? peers : 0)) >= n)
        return is_timer(s, x, says) ? PURPOSE_IDLE : PURPOSE_ANSWER;
    /* Each for a promise of its own, of which it has asked for a part itself. */
    if (10 * s->fresh >= 9 * s->waits && ASKED_PART * (asked + peers) >= n)
        return PURPOSE_ANSWER;
    /* Also for a pool that waits for its own tasks.  A latch may be a place in a queue. */
    if (2 * (s->ended[ENDED_RETURNED] + peers) > n)
        return says == PURPOSE_ANSWER && !is_latch(t, x->lock) ? says : PURPOSE_PERMIT;
    if (is_given_back_by_others(s))
        return PURPOSE_PERMIT;
    if (2 * s->fresh > s->waits && s->fresh > FRESH_EACH * s->threads)
        return PURPOSE_ANSWER;
    return purpose_unasked(t, c, s, x, says);
}

/* Whether the outermost frame that is not the JDK's is of a thread pool's worker, by its name, and what
 * it runs is of somebody else. */
static bool is_workers_task(const struct trace *t, const struct trace_stack *s)
{
    const char *worker = NULL;
    for (uint32_t i = s->flags & STACK_TRUNCATED ? 0 : s->n_frames; i-- > 0;) {
        const char *signature = trace_method_class(t, s->frames[i].method);
        if (sites_is_jdk(signature))
            continue;
        if (!worker && !sites_is_workers(signature))
            return false;
        if (worker && !sites_one_library(worker, signature))
            return true;
        worker = worker ? worker : signature;
    }
    return false;
}

bool purpose_is_in_task(const struct trace *t, stack_id stack)
{
    const struct trace_stack *s = trace_stack(t, stack);
    if (is_workers_task(t, s))
        return true;
    for (uint32_t i = 0; i < s->n_frames; i++) {
        const struct trace_method *m = trace_method(t, s->frames[i].method);
        if (IS_ONE_OF(task_methods, trace_class(t, m->class_)->signature, m->name))
            return true;
    }
    return false;
}

/* An answer that has not come when the recording ends may never be due: a server's main thread
 * waits so.  Threads that wait for one at the same place do so one request each. */
static bool is_due(const struct trace *t, const struct causes *c, const struct context *x)
{
    const struct cause_sums *s = x->stack.v < c->n_stacks ? causes_of(c, x->stack) : NULL;
    return s && s->threads >= DUE_THREADS && !is_latch(t, x->lock) &&
           purpose_is_in_task(t, x->stack);
}

int purposes_settle(struct purposes *p, const struct trace *t, const struct timeline *timeline,
                    const struct causes *causes, struct arena *a)
{
    const struct contexts *c = &timeline->contexts;
    p->n_near = causes->n_threads;
    p->near = arena_alloc(a, p->n_near * sizeof *p->near);
    if (!p->near)
        return -ENOMEM;
    memcpy(p->near, causes->near, p->n_near * sizeof *p->near);
    for (uint32_t i = 1; i < c->n; i++) {
        const struct context *x = &c->v[i];
        bool sought = x->what == STATE_PARKED || x->what == STATE_WAITING;
        if (!sought || p->known[i])
            continue;
        enum purpose says = p->of_context[i];
        if (x->stack.v && x->stack.v < causes->n_stacks)
            says = purpose_by_causes(t, causes, x, says);
        if (says == PURPOSE_ANSWER && x->flags & INTERVAL_OPEN && !is_due(t, causes, x))
            says = PURPOSE_IDLE;
        p->of_context[i] = (uint8_t)says;
    }
    return 0;
}
