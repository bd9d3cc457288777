#include "analyze/causes.h"

#include "analyze/sites.h"
#include "analyze/wait_graph.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

enum {
    FEW = 4,   /* ended waits of a stack, below which its call says more */
    FRESH = 2, /* waits for one object at most: it is for this one wait, */
    FRESH_OF_MANY = 6,
    EACH = 3,     /* objects of a class for each thread that waits for one */
    REGULAR = 20, /* at least one in N of a thread's waits: it waits there again and again */
    GENERATIONS = 12,
    PASSING_NS = 100000,
    RETURNS_NS = 100000, /* a wait that is shorter, and that nobody ended, returned for no reason */
    RELAY_PART = 10,     /* work for less than this part of a wait is none */
};

struct call_sums {
    uint64_t at;
    struct cause_sums sums;
};

struct activity {
    uint64_t from;
    uint32_t thread, began_by, before; /* of the same thread; 0: none */
};

struct thread_state {
    uint32_t activity;
    uint32_t last_lock;   /* what it waited for last, */
    uint64_t last_waited; /* and until when */
    uint64_t last_task;   /* until when it waited for work, at its task loop */
};

/* Objects of a class that are waited for, and threads that do. */
struct class_use {
    uint32_t objects, threads, last;
};

struct causer {
    const struct trace *t;
    const struct timeline *tl;
    const struct thread_set *set;
    const struct stills *stills;
    struct causes out;
    struct activity *activities; /* [n]; 0 is not used */
    size_t n, cap;
    struct thread_state *threads;
    uint32_t *waits;           /* [n_objects]: of each object */
    struct class_use *classes; /* [n_classes] */
    size_t n_objects, n_threads;
    struct map members;   /* call and object, thread -> 1; call, thread -> the object: put_object */
    const uint8_t *known; /* [contexts.n] */
    bool *seen_asking;    /* [n_stacks] */
    uint32_t *asked_near; /* [n_threads]: as out.near, of waits that other threads end */
    bool oom;
};

/* --- stacks ----------------------------------------------------------------------------------- */

static const struct trace_class *class_of(const struct trace *t, method_id method)
{
    return trace_class(t, trace_method(t, method)->class_);
}

static bool is_primitive(const char *signature)
{
    return strcmp(signature, "Ljava/lang/Object;") == 0 ||
           strncmp(signature, "Ljava/util/concurrent/locks/", 28) == 0;
}

static void read_frames(const struct trace *t, const struct trace_stack *s, struct call *c)
{
    for (uint32_t i = 0; i < s->n_frames; i++) {
        const struct trace_method *m = trace_method(t, s->frames[i].method);
        const char *signature = trace_class(t, m->class_)->signature;
        if (!trace_method_is_java(m) || strstr(signature, "$$Lambda"))
            continue;
        if (sites_is_jdk(signature)) {
            if (!c->own) {
                c->jdk = m->id;
                c->in_locks = is_primitive(signature);
            }
            continue;
        }
        if (c->own == 0)
            c->inner = m->id;
        if (c->own == 1)
            c->caller = m->id;
        c->own++;
    }
}

uint32_t causes_own_frames(const struct trace *t, stack_id stack)
{
    struct call c = {0};
    read_frames(t, trace_stack(t, stack), &c);
    return c.own;
}

method_id causes_inner(const struct trace *t, stack_id stack)
{
    struct call c = {0};
    read_frames(t, trace_stack(t, stack), &c);
    return c.inner;
}

method_id causes_called(const struct trace *t, stack_id stack)
{
    struct call c = {0};
    read_frames(t, trace_stack(t, stack), &c);
    return c.jdk.v && !c.in_locks ? c.jdk : c.inner;
}

static void number(struct call *c)
{
    const uint32_t id[] = {c->inner.v, c->caller.v, c->jdk.v};
    c->at = c->inner.v ? hash_bytes(id, sizeof id, 0) | 1 : 0;
}

static struct call *call_of(struct causes *o, const struct trace *t, stack_id stack)
{
    struct call *c = &o->calls[stack.v < o->n_stacks ? stack.v : 0];
    if (!c->read) {
        c->read = true;
        read_frames(t, trace_stack(t, stack), c);
        number(c);
    }
    return c;
}

/* --- before the sweep: who waits where -------------------------------------------------------- */

static bool is_sought(const struct causer *c, uint32_t context)
{
    const struct context *x = timeline_context(c->tl, context);
    return (x->what == STATE_PARKED || x->what == STATE_WAITING) && !c->known[context] &&
           !(x->flags & INTERVAL_UNKNOWN) && x->stack.v < c->out.n_stacks;
}

static uint64_t member_of_object(lock_id lock, uint32_t thread, uint64_t call)
{
    const uint64_t id[] = {call, lock.v, thread};
    return hash_place(id, sizeof id, 0);
}

static uint64_t member_of_call(uint64_t call, uint32_t thread)
{
    const uint64_t id[] = {call, thread};
    return hash_place(id, sizeof id, 0);
}

static void put(struct causer *c, uint64_t key)
{
    uint64_t *at = map_put(&c->members, key);
    c->oom |= !at;
    if (at)
        *at = 1;
}

/* For which object a thread waits in a call, if it is always the same one: 1 + its number; SEVERAL: it is
 * not. */
#define SEVERAL UINT64_MAX

static void put_object(struct causer *c, uint64_t call, uint32_t thread, uint64_t object)
{
    uint64_t *at = map_put(&c->members, member_of_call(call, thread));
    c->oom |= !at;
    if (at)
        *at = *at && *at != object ? SEVERAL : object;
}

static struct cause_sums *sums_of_call(struct causer *c, struct call *call)
{
    struct call_sums *s = call->sums ? (struct call_sums *)c->out.of_call.v + call->sums - 1
                                     : keyed_put(&c->out.of_call, &call->at);
    c->oom |= !s;
    if (!s)
        return NULL;
    call->sums = (uint32_t)(s - (struct call_sums *)c->out.of_call.v) + 1;
    return &s->sums;
}

/* The frames that all stacks of a thread share, from the outermost on. */
struct root {
    const struct trace_frame *end; /* behind the outermost */
    uint32_t n;
    bool any;
};

static void share(struct root *r, const struct trace_stack *s)
{
    const struct trace_frame *end = s->frames + s->n_frames;
    if (!s->n_frames || s->flags & STACK_TRUNCATED)
        return;
    if (!r->any) {
        *r = (struct root){end, s->n_frames, true};
        return;
    }
    uint32_t n = 0;
    while (n < r->n && n < s->n_frames &&
           r->end[-1 - (int64_t)n].method.v == end[-1 - (int64_t)n].method.v)
        n++;
    r->n = n;
}

/* The contexts of one thread, each once: `marks` has how often. */
struct visit {
    uint32_t *marks, *list; /* [contexts.n]: how often in this thread; which */
    uint32_t n;
};

static void visit_line(struct visit *v, const struct run *r, size_t size, size_t offset)
{
    for (uint32_t i = 0, n; i < r->n; i += n) {
        const char *p = run_stretch(r, size, i, &n);
        for (uint32_t k = 0; k < n; k++) {
            uint32_t context = *(const uint32_t *)(const void *)(p + k * size + offset);
            if (v->marks[context]++ == 0)
                v->list[v->n++] = context;
        }
    }
}

/* Whether an object is for one wait only: no task loop waits for it.  Where threads have many of a
 * class each, one after the other, each may be looked at a few times. */
static bool is_fresh(const struct causer *c, lock_id lock)
{
    if (!lock.v || lock.v >= c->n_objects)
        return false;
    const struct class_use *of = &c->classes[trace_lock(c->t, lock)->class_.v];
    return c->waits[lock.v] <= (of->objects > EACH * of->threads ? FRESH_OF_MANY : FRESH);
}

static void note_waits(struct causer *c, uint32_t thread, const struct context *x, uint32_t times)
{
    struct call *call = call_of(&c->out, c->t, x->stack);
    struct cause_sums *of[] = {&c->out.of_stack[x->stack.v], sums_of_call(c, call)};
    bool fresh = is_fresh(c, x->lock);
    for (size_t i = 0; i < ARRAY_LEN(of) && of[i]; i++) {
        of[i]->waits += times;
        of[i]->fresh += fresh ? times : 0;
    }
    put_object(c, call->at, thread, x->lock.v ? UINT64_C(1) + x->lock.v : SEVERAL);
    if (x->lock.v)
        put(c, member_of_object(x->lock, thread, call->at));
}

/* Whether a thread that does so regularly is in its loop there, or inside of it. */
static bool is_of_loop(const struct causer *c, uint32_t context)
{
    const struct context *x = timeline_context(c->tl, context);
    return x->what < WAIT_STATES && x->stack.v && x->stack.v < c->out.n_stacks &&
           (is_sought(c, context) || c->known[context] == KNOWN_TASKS || x->what == STATE_SLEEPING);
}

enum { ALONE = 1 }; /* bit of the keys below: no other thread ends it */

static uint64_t add_to(struct causer *c, struct map *m, uint64_t key, uint64_t times)
{
    uint64_t *n = map_put(m, key);
    c->oom |= !n;
    if (n)
        *n += times;
    return times;
}

/* Each thread once for each of its stacks, and the fewest frames of those where it is regularly. */
static void note_threads(struct causer *c, const struct visit *v, uint32_t thread)
{
    const struct contexts *x = &c->tl->contexts;
    const struct still_line *still = stills_of(c->stills, thread);
    struct map times; /* stack << 1 | ALONE -> how often */
    uint64_t all = 0;
    map_init(&times);
    for (uint32_t i = 0; i < v->n; i++)
        if (is_of_loop(c, v->list[i]))
            all += add_to(c, &times,
                          (uint64_t)x->v[v->list[i]].stack.v << 1 |
                              (x->v[v->list[i]].what == STATE_SLEEPING ? ALONE : 0),
                          v->marks[v->list[i]]);
    for (uint32_t i = 0; i < still->n; i++)
        if (still->v[i].stack.v < c->out.n_stacks)
            all += add_to(c, &times, (uint64_t)still->v[i].stack.v << 1 | ALONE,
                          max_u64(still->v[i].looks, 1));
    uint32_t *near = &c->out.near[thread], *asked = &c->asked_near[thread];
    *near = *asked = UINT32_MAX;
    for (size_t i = 0; i < times.cap; i++) {
        const struct map_slot *s = &times.slots[i];
        if (!s->used)
            continue;
        stack_id stack = {(uint32_t)(s->key >> 1)};
        struct call *call = call_of(&c->out, c->t, stack);
        struct cause_sums *of = sums_of_call(c, call);
        c->out.of_stack[stack.v].threads++;
        if (of)
            of->threads++;
        if (s->value * REGULAR < all)
            continue;
        *near = min_u32(*near, call->own);
        *asked = s->key & ALONE ? *asked : min_u32(*asked, call->own);
    }
    map_fini(&times);
}

static void look_at_thread(struct causer *c, struct visit *v, uint32_t thread)
{
    const struct line *l = &c->tl->lines[thread];
    const struct contexts *x = &c->tl->contexts;
    struct root root = {NULL, 0, false};
    uint32_t stacks = 0;
    v->n = 0;
    visit_line(v, &l->spans, sizeof(struct span), offsetof(struct span, context));
    for (uint32_t i = 0; i < v->n; i++)
        if (is_sought(c, v->list[i]))
            note_waits(c, thread, &x->v[v->list[i]], v->marks[v->list[i]]);
    note_threads(c, v, thread);
    visit_line(v, &l->acts, sizeof(struct act), offsetof(struct act, context));
    for (uint32_t i = 0; i < v->n; i++) {
        const struct context *k = &x->v[v->list[i]];
        if (k->what == EV_semaphore_acquire_enter &&
            k->stack.v) /* a thread that does not wait also takes one */
            put_object(c, call_of(&c->out, c->t, k->stack)->at, thread, SEVERAL);
        stacks += k->stack.v != 0;
        share(&root, trace_stack(c->t, k->stack));
        v->marks[v->list[i]] = 0;
    }
    for (uint32_t i = 0; i < root.n && stacks > 1; i++) {
        method_id m = root.end[-1 - (int64_t)i].method;
        if (m.v < c->out.n_methods)
            c->out.loops[m.v] = true;
    }
}

static void count_waits(struct causer *c)
{
    for (uint32_t thread = 1; thread < c->tl->n_lines; thread++) {
        const struct run *r = &c->tl->lines[thread].spans;
        for (uint32_t i = 0, n; i < r->n; i += n) {
            const struct span *v = run_stretch(r, sizeof *v, i, &n);
            for (uint32_t k = 0; k < n; k++) {
                lock_id lock = timeline_context(c->tl, v[k].context)->lock;
                if (!lock.v || lock.v >= c->n_objects)
                    continue;
                struct class_use *of = &c->classes[trace_lock(c->t, lock)->class_.v];
                of->objects += c->waits[lock.v] == 0;
                c->waits[lock.v] += (uint32_t)min_u64(span_count(c->tl, &v[k]), UINT32_MAX / 2);
                of->threads += of->last != thread;
                of->last = thread;
            }
        }
    }
}

static int look_at_all(struct causer *c)
{
    uint32_t n = c->tl->contexts.n + 1;
    struct visit v = {calloc(n, sizeof *v.marks), calloc(n, sizeof *v.list), 0};
    if (v.marks && v.list) {
        count_waits(c);
        for (uint32_t thread = 1; thread < c->tl->n_lines; thread++)
            look_at_thread(c, &v, thread);
    }
    c->oom |= !v.marks || !v.list;
    free(v.marks);
    free(v.list);
    return c->oom ? -ENOMEM : 0;
}

int causer_new(struct causer **out, const struct trace *t, const struct timeline *tl,
               const struct thread_set *threads, const struct stills *stills, size_t n_objects,
               const uint8_t *known)
{
    struct causer *c = *out = calloc(1, sizeof *c);
    if (!c)
        return -ENOMEM;
    *c = (struct causer){.t = t,
                         .tl = tl,
                         .set = threads,
                         .stills = stills,
                         .n_objects = n_objects,
                         .n = 1,
                         .known = known};
    c->n_threads = max_u64(threads->n, tl->n_lines) + 1;
    c->out.n_stacks = t->n_stacks + 1;
    c->out.n_methods = t->n_methods + 1;
    c->out.n_threads = c->n_threads;
    c->out.near = calloc(c->n_threads, sizeof *c->out.near);
    c->asked_near = calloc(c->n_threads, sizeof *c->asked_near);
    c->out.of_stack = calloc(c->out.n_stacks, sizeof *c->out.of_stack);
    c->out.calls = calloc(c->out.n_stacks, sizeof *c->out.calls);
    c->out.asks = calloc(c->out.n_methods, 1);
    c->out.loops = calloc(c->out.n_methods, 1);
    c->seen_asking = calloc(c->out.n_stacks, 1);
    c->threads = calloc(c->n_threads, sizeof *c->threads);
    c->waits = calloc(n_objects + 1, sizeof *c->waits);
    c->classes = calloc(t->n_classes + 1, sizeof *c->classes);
    keyed_init(&c->out.of_call, sizeof(uint64_t), sizeof(struct call_sums));
    map_init(&c->members);
    bool ok = c->out.of_stack && c->out.calls && c->out.asks && c->out.loops && c->out.near &&
              c->asked_near && c->seen_asking && c->threads && c->waits && c->classes;
    if (ok && look_at_all(c) == 0)
        return 0;
    causer_free(c);
    *out = NULL;
    return -ENOMEM;
}

void causer_free(struct causer *c)
{
    if (!c)
        return;
    causes_fini(&c->out);
    map_fini(&c->members);
    free(c->activities);
    free(c->threads);
    free(c->waits);
    free(c->classes);
    free(c->seen_asking);
    free(c->asked_near);
    free(c);
}

/* --- activities ------------------------------------------------------------------------------- */

static void begin(struct causer *c, uint32_t thread, uint64_t time, uint32_t began_by)
{
    if (c->n + 1 >= c->cap) {
        size_t cap = c->cap ? 2 * c->cap : 1024;
        struct activity *v = realloc(c->activities, cap * sizeof *v);
        if (!v) {
            c->oom = true;
            return;
        }
        c->activities = v;
        c->cap = cap;
    }
    c->activities[c->n] = (struct activity){time, thread, began_by, c->threads[thread].activity};
    c->threads[thread].activity = (uint32_t)c->n++;
}

/* The activity of a thread at a time.  Time before its known beginning belongs to its first
 * activity. */
static uint32_t activity_at(struct causer *c, uint32_t thread, uint64_t time)
{
    uint32_t a = c->threads[thread].activity;
    if (!a)
        begin(c, thread, time, 0);
    a = c->threads[thread].activity;
    while (a && c->activities[a].from > time && c->activities[a].before)
        a = c->activities[a].before;
    return a;
}

static void born(struct causer *c, const struct sweep_item *i)
{
    const struct line *l = i->thread < c->tl->n_lines ? &c->tl->lines[i->thread] : NULL;
    uint32_t by = 0;
    if (c->threads[i->thread].activity)
        return;
    if (l && l->starter)
        by = activity_at(c, l->starter, line_act(&c->tl->lines[l->starter], l->starter_act)->time);
    begin(c, i->thread, i->time, by);
}

/* --- the end of a wait ------------------------------------------------------------------------ */

struct ending {
    uint32_t thread;
    const struct span *s;
    const struct context *x;
    struct call *call;
    uint32_t doing; /* the activity that ended it */
    bool works_for; /* which was begun by this very thread, though before it waited last */
    bool pooled;    /* another thread that waits there had begun it, */
    uint64_t since; /* the last of them then */
};

static bool is_asked(const struct causer *c, struct ending *e)
{
    const struct thread_state *w = &c->threads[e->thread];
    bool again = e->x->lock.v && e->x->lock.v == w->last_lock;
    uint64_t since = again ? w->last_waited : 0;
    uint32_t a = e->doing;
    for (unsigned i = 0; a && i < GENERATIONS; i++) {
        const struct activity *v = &c->activities[a];
        if (v->began_by == w->activity && w->activity) {
            e->works_for = v->before != 0;
            return v->from >= since;
        }
        a = v->began_by;
        if (!a || c->activities[a].thread == e->s->waker || e->pooled)
            continue;
        e->pooled =
            map_find(&c->members, member_of_call(e->call->at, c->activities[a].thread)) != NULL;
        e->since = v->from;
    }
    return false;
}

/* Whether waiter and waker are in the same call: a JDK call, or a call that uses the JDK's
 * primitives. */
static bool is_meeting(const struct ending *e, const struct call *waker)
{
    if (!waker->jdk.v || !e->call->jdk.v)
        return false;
    if (e->call->in_locks)
        return waker->in_locks && waker->inner.v && waker->inner.v == e->call->inner.v;
    return waker->jdk.v == e->call->jdk.v;
}

/* The waker was woken in the same call just before, and passes the word on. */
static bool is_passed_on(const struct causer *c, const struct ending *e)
{
    const struct thread_state *w = &c->threads[e->s->waker];
    uint64_t at = span_wake_time(c->tl, e->s);
    return w->last_waited && w->last_lock == e->x->lock.v && w->last_waited <= at &&
           at - w->last_waited < PASSING_NS;
}

/* If two threads did nothing but wake each other, either may serve the other.  The server is the
 * thread that waits for others nearer to the root of its stack, where task loops are. */
static bool may_be_asked(const struct causer *c, const struct ending *e)
{
    bool from_birth = e->doing && !c->activities[e->doing].before;
    return from_birth && c->asked_near[e->s->waker] < c->asked_near[e->thread];
}

static bool is_of_pool(const struct causer *c, uint32_t a, uint32_t b)
{
    return pool_is_same(trace_thread(c->t, c->set->v[a].id)->name,
                        trace_thread(c->t, c->set->v[b].id)->name);
}

bool causes_takes(const struct trace *t, method_id method)
{
    static const char *const names[] = {"take", "poll", "next", "receive", "remove", "dequeue"};
    const char *name = trace_method(t, method)->name;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* Whether two stacks are the same up to a method, not of the JDK's, that makes two calls. */
static bool part_in_a_method(const struct trace *t, const struct trace_stack *x,
                             const struct trace_stack *y)
{
    uint32_t i = x->n_frames, k = y->n_frames;
    if ((x->flags | y->flags) & STACK_TRUNCATED)
        return false;
    while (i && k && x->frames[i - 1].method.v == y->frames[k - 1].method.v &&
           x->frames[i - 1].bci == y->frames[k - 1].bci)
        i--, k--;
    return i && k && x->frames[i - 1].method.v == y->frames[k - 1].method.v &&
           !sites_is_jdk(class_of(t, x->frames[i - 1].method)->signature);
}

/* Whether threads of one pool take and give back: by two methods that the same method calls; or by
 * two methods of one class in the same task, neither of which takes the next task. */
static bool gives_back(const struct causer *c, const struct ending *e, stack_id stack,
                       const struct call *by)
{
    method_id inner = e->call->inner;
    if (!by->inner.v || by->inner.v == inner.v || !is_of_pool(c, e->s->waker, e->thread))
        return false;
    return (by->caller.v && by->caller.v == e->call->caller.v) ||
           (class_of(c->t, by->inner) == class_of(c->t, inner) && !causes_takes(c->t, inner) &&
            part_in_a_method(c->t, trace_stack(c->t, e->x->stack), trace_stack(c->t, stack)));
}

/* Whether the waker also waits in this call, so that it may have taken there what it gives.  It has not
 * where each of them always waits for another object of its own, at the task loop: each empties its own
 * queue, and the one fills that of the other. */
static bool waits_there(const struct causer *c, const struct ending *e)
{
    const uint64_t *of = map_find(&c->members, member_of_call(e->call->at, e->s->waker)),
                   *own = map_find(&c->members, member_of_call(e->call->at, e->thread));
    if (!e->call->at || !of)
        return false;
    bool apart =
        own && *of != SEVERAL && *own != SEVERAL && *of != *own && !is_fresh(c, e->x->lock);
    return !(apart && e->call->own <= c->out.near[e->thread]);
}

static enum ended_by sort(struct causer *c, struct ending *e)
{
    stack_id stack = span_wake_stack(c->tl, e->s);
    uint32_t waker = e->s->waker;
    const struct call *by = call_of(&c->out, c->t, stack);
    if (stack.v && is_meeting(e, by))
        return is_passed_on(c, e) ? ENDED_LIMIT : ENDED_MEETS;
    if (e->x->lock.v && map_find(&c->members, member_of_object(e->x->lock, waker, e->call->at)))
        return ENDED_BACK;
    bool there = waits_there(c, e);
    if (is_asked(c, e))
        return there && is_of_pool(c, waker, e->thread) ? ENDED_ASKED_PEER : ENDED_ASKED;
    if (gives_back(c, e, stack, by))
        return ENDED_BACK;
    return there ? ENDED_RETURNED : ENDED_UNASKED;
}

/* The methods of a stack from which something was begun for another thread. */
static void note_asking(struct causer *c, stack_id stack)
{
    if (!stack.v || stack.v >= c->out.n_stacks || c->seen_asking[stack.v])
        return;
    c->seen_asking[stack.v] = true;
    const struct trace_stack *s = trace_stack(c->t, stack);
    for (uint32_t i = 0; i < s->n_frames; i++)
        if (s->frames[i].method.v < c->out.n_methods)
            c->out.asks[s->frames[i].method.v] = true;
}

/* The wake-up does not show the purpose of this wait.  A thread that passes on the news of work
 * also passes on which activity asked for it. */
static void pass_on(struct causer *c, const struct sweep_item *i, const struct ending *e)
{
    const struct activity *v = &c->activities[e->doing];
    if (e->doing && v->from == c->threads[e->s->waker].last_waited)
        begin(c, i->thread, i->time, v->began_by);
}

static bool is_near(const struct causer *c, uint32_t thread, const struct context *x,
                    const struct call *call)
{
    return call->own <= c->out.near[thread] && !is_fresh(c, x->lock);
}

/* Whether the waker had work during the whole wait.  A request to a busy thread wakes no thread, so
 * it is not recorded. */
static bool had_work(const struct causer *c, const struct ending *e)
{
    return c->threads[e->s->waker].last_task < e->s->start;
}

/* Whether the waker began its work at the end of the wait, as did all between it and the thread that
 * gave the first of them this work: they only pass on what that one gives. */
static bool is_relayed(const struct causer *c, const struct ending *e)
{
    uint64_t end = span_wake_time(c->tl, e->s), last = c->threads[e->s->waker].last_task,
             began = min_u64(last, e->since);
    return e->pooled && began > e->s->start && last <= end &&
           RELAY_PART * (end - began) < end - e->s->start;
}

/* If most waits of this call are seen to be asked for, those of a busy waker were also asked
 * for. */
static bool is_asked_there(const struct cause_sums *s)
{
    return s->ended[ENDED_ASKED] > s->ended[ENDED_UNASKED] - s->busy;
}

/* No thread came. */
static void ran_out(struct causer *c, uint32_t thread, const struct context *x)
{
    struct call *call = call_of(&c->out, c->t, x->stack);
    struct cause_sums *of[] = {&c->out.of_stack[x->stack.v], sums_of_call(c, call)};
    for (size_t k = 0; k < ARRAY_LEN(of) && of[k] && is_near(c, thread, x, call); k++)
        of[k]->limit_near++;
}

static void ended(struct causer *c, const struct sweep_item *i, const struct span *s,
                  const struct context *x)
{
    struct ending e = {.thread = i->thread,
                       .s = s,
                       .x = x,
                       .call = call_of(&c->out, c->t, x->stack),
                       .doing = activity_at(c, s->waker, span_wake_time(c->tl, s))};
    enum ended_by by = sort(c, &e);
    bool near = is_near(c, i->thread, x, e.call);
    if (by == ENDED_LIMIT) {
        pass_on(c, i, &e);
        return;
    }
    struct cause_sums *of[] = {&c->out.of_stack[x->stack.v], sums_of_call(c, e.call)};
    bool busy = by == ENDED_UNASKED && had_work(c, &e);
    if (busy && of[1] && is_asked_there(of[1]))
        by = ENDED_ASKED;
    for (size_t k = 0; k < ARRAY_LEN(of) && of[k]; k++) {
        of[k]->ended[by]++;
        of[k]->busy += busy && by == ENDED_UNASKED;
        of[k]->near += near;
        of[k]->pooled += by == ENDED_UNASKED && e.pooled;
        of[k]->relayed += by == ENDED_UNASKED && is_relayed(c, &e);
    }
    if (by == ENDED_UNASKED && near && !e.works_for && !may_be_asked(c, &e)) {
        note_asking(c, span_wake_stack(c->tl, s));
        begin(c, i->thread, i->time, e.doing);
    }
}

/* A pool's thread is given a task. */
static void take_task(struct causer *c, const struct sweep_item *i, const struct span *s)
{
    uint64_t time = span_wake_time(c->tl, s);
    note_asking(c, span_wake_stack(c->tl, s));
    begin(c, i->thread, i->time, activity_at(c, s->waker, time));
}

static void end_wait(struct causer *c, const struct sweep_item *i)
{
    const struct span *s = line_span(&c->tl->lines[i->thread], sweep_index(i));
    const struct context *x = timeline_context(c->tl, s->context);
    struct thread_state *w = &c->threads[i->thread];
    bool task = c->known[s->context] == KNOWN_TASKS;
    if (x->stack.v && call_of(&c->out, c->t, x->stack)->own <= c->out.near[i->thread])
        w->last_task = i->time;
    if ((!is_sought(c, s->context) && !task) || x->flags & INTERVAL_OPEN)
        return;
    if (!s->waker || s->waker >= c->n_threads) {
        if (!task && span_len(c->tl, s) >= RETURNS_NS)
            ran_out(c, i->thread, x);
        return;
    }
    if (span_wake_time(c->tl, s) < s->start) /* a permit from before: it did not wait */
        return;
    if (task) {
        take_task(c, i, s);
        return;
    }
    ended(c, i, s, x);
    w->last_lock = x->lock.v;
    w->last_waited = i->time;
}

static void take(void *self, const struct sweep_item *v, size_t n)
{
    struct causer *c = self;
    for (size_t i = 0; i < n && !c->oom; i++)
        if (sweep_type(&v[i]) == SWEEP_END)
            end_wait(c, &v[i]);
        else if (sweep_type(&v[i]) == SWEEP_BORN && v[i].thread < c->n_threads)
            born(c, &v[i]);
}

struct sweep_sink causer_sink(struct causer *c)
{
    return (struct sweep_sink){take, c, 0};
}

static void count_as_asked(struct cause_sums *s)
{
    s->ended[ENDED_ASKED] += s->busy;
    s->ended[ENDED_UNASKED] -= s->busy;
    s->busy = 0;
}

/* Decides about waits that a busy waker ended, now that the other waits of their call are known.
 * Stacks come first, because they look at the sums of their call. */
static void settle_busy(struct causes *o)
{
    for (size_t i = 0; i < o->n_stacks; i++) {
        struct cause_sums *s = &o->of_stack[i];
        const struct call_sums *of = s->busy ? keyed_find(&o->of_call, &o->calls[i].at) : NULL;
        if (of && is_asked_there(&of->sums))
            count_as_asked(s);
    }
    struct call_sums *v = o->of_call.v;
    for (size_t i = 0; i < o->of_call.n; i++)
        if (is_asked_there(&v[i].sums))
            count_as_asked(&v[i].sums);
}

int causer_finish(struct causer *c, struct causes *out)
{
    if (c->oom)
        return -ENOMEM;
    settle_busy(&c->out);
    *out = c->out;
    memset(&c->out, 0, sizeof c->out);
    return 0;
}

void causes_fini(struct causes *c)
{
    free(c->of_stack);
    free(c->calls);
    free(c->asks);
    free(c->loops);
    free(c->near);
    if (c->of_stack)
        keyed_fini(&c->of_call);
    memset(c, 0, sizeof *c);
}

static uint64_t n_ended(const struct cause_sums *s)
{
    uint64_t n = 0;
    for (int i = 0; i < ENDED_LIMIT; i++)
        n += s->ended[i];
    return n;
}

const struct cause_sums *causes_of(const struct causes *c, stack_id stack)
{
    uint32_t at = stack.v < c->n_stacks ? stack.v : 0;
    const struct cause_sums *s = &c->of_stack[at];
    const struct call *call = &c->calls[at];
    if (n_ended(s) >= FEW || !call->at)
        return s;
    const struct call_sums *v = keyed_find(&c->of_call, &call->at);
    return v ? &v->sums : s;
}
