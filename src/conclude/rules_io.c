/* Input and output for which threads of the program wait: the other end, or the disk, limits them.
 *
 * The sources are recorded calls, looks where no call is recorded, and the parks of virtual
 * threads.  A thread counts if it is in a call of the program outside its own loop, and waits there
 * in input or output (still.h), but not in a select or an accept.  Sums are by the program's method
 * that makes the call.  If all threads of a pool were busy like this, the pool is the resource for
 * which others wait. */
#include "analyze/io_calls.h"
#include "analyze/labels.h"
#include "analyze/peer_sums.h"
#include "base/err.h"
#include "base/human.h"
#include "base/keyed.h"
#include "base/util.h"
#include "conclude/does.h"
#include "conclude/resource_names.h"
#include "conclude/rules_parts.h"
#include "conclude/thread_pools.h"

#include <stdlib.h>
#include <string.h>

enum {
    IO_OF_THEIRS_PERMILLE = 300, /* of the busy time of the threads that are there */
    IO_QUEUE_PERMILLE = 500,     /* thousandths of a thread there on average */
    IO_LOOKS = 10,
    IO_THREADS = 64,        /* of one place that are listed */
    IO_PATH_PERMILLE = 300, /* of the critical path, at one peer */
    IO_EDGES = 4000000,     /* two for each recorded call */
    SEEN_PART = 20,         /* less than this part of it is known by looks alone */
    IO_FULL_PERMILLE = 500, /* of the time with calls there are as many as there ever are */
};

/* The activity in which a thread waits, and its call site. */
struct io_place {
    uint32_t method, does, thread, unused;
    /* the key ends here */
    uint64_t ns, waited, looks, waits, most; /* waited: the part of ns in recorded waits */
    uint64_t from;                           /* of one wait: since when */
    struct peer_vote peer;
    int32_t line;
    stack_id stack;
    bool asked; /* the thread has asked the peer for it */
};

/* One more thread, or one less, is in a recorded call at a place. */
struct io_edge {
    uint64_t time;
    uint32_t method;
    uint16_t does;
    int16_t change;
};

struct finder {
    struct evidence *ev;
    struct keyed places; /* struct io_place */
    struct buf edges;    /* struct io_edge []; IO_EDGES at most */
    uint64_t *busy;      /* [n_lines] ns, of threads with places */
    bool serves;         /* the current thread reads requests of clients */
};

/* Whether a stack is in a call of a client, which returns the answer to a request of the program:
 * the JDK's for HTTP and RMI, or a library's that reads a socket. */
static bool is_client(const struct program *p, stack_id stack)
{
    static const char *const clients[] = {"Lsun/net/www/", "Ljdk/internal/net/http/",
                                          "Lsun/rmi/transport/StreamRemoteCall;"};
    const struct trace *t = p->trace;
    const struct trace_stack *s = trace_stack(t, stack);
    bool socket = false, library = false;
    for (uint32_t i = 0; i < s->n_frames; i++) {
        method_id m = s->frames[i].method;
        const char *signature = trace_method_class(t, m);
        enum code code = program_code(p, m);
        for (size_t k = 0; k < ARRAY_LEN(clients); k++)
            if (strncmp(signature, clients[k], strlen(clients[k])) == 0)
                return true;
        socket |= strncmp(signature, "Lsun/nio/ch/", 12) == 0 ||
                  strncmp(signature, "Ljava/net/Socket", 16) == 0;
        library |= code == CODE_LIBRARY;
        if (code > CODE_LIBRARY)
            break;
    }
    return socket && library;
}

/* Whether a stack is in a call of the program inside the thread's own loop.  A thread that reads at
 * the loop itself is idle, unless it has asked for what it reads. */
static bool is_call(const struct finder *f, uint32_t thread, stack_id stack, bool asked)
{
    const struct program *p = &f->ev->resources.program;
    const struct purposes *purposes = &f->ev->a->purposes;
    method_id own = program_place(p, stack).method;
    return own.v && own.v != program_outermost(p, stack).method.v && thread < purposes->n_near &&
           (asked || is_client(p, stack) ||
            causes_own_frames(p->trace, stack) > purposes->near[thread]) &&
           !program_waits_for_work(p, stack);
}

/* Whether a library reads from a client that has connected to it: then it waits for the next
 * request. */
static bool is_librarys_read(const struct finder *f, const struct does *d)
{
    return d->does == DOES_INPUT &&
           program_code(&f->ev->resources.program, (method_id){d->method}) != CODE_PROGRAM;
}

/* Whether a thread reads mostly from clients. */
static bool serves(const struct trace *t, const struct still_line *l)
{
    static const char client[] = "=client ";
    uint64_t all = 0, clients = 0;
    for (uint32_t i = 0; i < l->n; i++) {
        const struct still *s = &l->v[i];
        uint64_t ns = s->looks || s->what != IO_KIND_input ? 0 : s->to - s->from;
        const char *peer = trace_class(t, trace_lock(t, s->peer)->class_)->signature;
        all += ns;
        clients += strncmp(peer, client, sizeof client - 1) == 0 ? ns : 0;
    }
    return 2 * clients > all;
}

static int add_edges(struct finder *f, const struct does *d, const struct io_place *new)
{
    const struct io_edge edges[] = {{new->from, d->method, d->does, 1},
                                    {new->from + new->ns, d->method, d->does, -1}};
    if (new->waits != 1 || f->edges.len / sizeof *edges >= IO_EDGES)
        return 0;
    buf_put(&f->edges, edges, sizeof edges);
    return f->edges.oom ? -ENOMEM : 0;
}

static int add(struct finder *f, uint32_t thread, const struct does *d, stack_id stack,
               const struct io_place *new)
{
    const struct program *program = &f->ev->resources.program;
    method_id in = does_native_method(program->trace, stack);
    bool native = d->does == DOES_NATIVE && in.v && program_code(program, in) != CODE_JDK;
    if ((d->does != DOES_INPUT && d->does != DOES_OUTPUT && !native) ||
        !is_call(f, thread, stack, new->asked) || (f->serves && is_librarys_read(f, d)))
        return 0;
    const struct io_place key = {.method = d->method, .does = d->does, .thread = thread};
    struct io_place *p = keyed_put(&f->places, &key);
    if (!p)
        return -ENOMEM;
    p->ns += new->ns;
    p->waited += new->waits ? new->ns : 0;
    p->looks += new->looks;
    p->waits += new->waits;
    peer_vote(&p->peer, (struct peer_vote){new->peer.peer, new->ns, new->ns});
    if (new->ns >= p->most) {
        p->most = new->ns;
        p->line = d->line;
        p->stack = stack;
    }
    return add_edges(f, d, new);
}

static int look_at(struct finder *f, uint32_t thread)
{
    const struct analysis *a = f->ev->a;
    const struct resources *all = &f->ev->resources;
    const struct still_line *still = stills_of(&a->stills, thread);
    const struct line *l = &a->timeline.lines[thread];
    struct place leaf;
    uint64_t ns[THREAD_TIMES] = {0};
    size_t first = f->places.n; /* those of a thread are its own */
    f->serves = serves(a->trace, still);
    for (uint32_t i = 0; i < still->n; i++) {
        const struct still *s = &still->v[i];
        struct does d = does_of_stack(all, s->stack, true, &leaf);
        TRY(add(f, thread, &d, s->stack,
                &(struct io_place){.ns = s->to - s->from,
                                   .from = s->from,
                                   .looks = s->looks,
                                   .waits = !s->looks,
                                   .peer = {.peer = s->peer},
                                   .asked = s->asked}));
    }
    uint64_t seen, whole = first < f->places.n ? thread_still(a, thread, &seen) : 0;
    for (size_t i = first; i < f->places.n; i++) {
        struct io_place *p = (struct io_place *)f->places.v + i;
        p->ns = (uint64_t)((unsigned __int128)p->ns * whole / seen);
    }
    for (uint32_t i = 0; i < l->spans.n; i++) {
        const struct span *s = line_span(l, i);
        if (a->purposes.of_context[s->context] != PURPOSE_IO)
            continue;
        const struct context *x = timeline_context(&a->timeline, s->context);
        struct does d = does_of_wait(all, a, s->context, &leaf);
        TRY(add(f, thread, &d, x->stack,
                &(struct io_place){.ns = span_len(&a->timeline, s),
                                   .from = s->start,
                                   .waits = span_count(&a->timeline, s),
                                   .peer = {.peer = does_peer(a, x)}}));
    }
    if (first < f->places.n)
        f->busy[thread] = thread_times(all, a, thread, ns) - ns[TIME_IDLE];
    return 0;
}

/* --- findings --------------------------------------------------------------------------------- */

static int by_method(const void *x, const void *y)
{
    const struct io_place *a = x, *b = y;
    if (a->method != b->method)
        return a->method < b->method ? -1 : 1;
    return a->does != b->does ? (a->does < b->does ? -1 : 1) : (a->ns < b->ns) - (a->ns > b->ns);
}

/* Whether another finding already says that its holders or handlers do this at this place. */
static bool is_told(const struct evidence *ev, const struct io_place *p)
{
    const struct rule_finding *v = (const void *)ev->found.p;
    for (size_t i = 0; i < ev->found.len / sizeof *v; i++) {
        const struct resource *r = v[i].resource;
        for (size_t k = 0; r && r->kind == RESOURCE_LOOP && k < r->n_doing; k++)
            if (r->doing[k].at.method.v == p->method)
                return true;
        for (uint32_t k = 0; !r && p->method && k < v[i].stacks.n; k++) /* of an initialiser */
            if (program_place(&ev->resources.program, (stack_id){v[i].stacks.v[k]}).method.v ==
                p->method)
                return true;
    }
    return rule_resource_says(ev, p->does, p->stack);
}

/* Whether r's threads wait for answers of a thread that works on them at once, and waits at this
 * place. */
static bool waits_for_answers(const struct evidence *ev, const struct resource *r,
                              const struct resource *x)
{
    const struct activity *d = x->doing;
    bool at_once = x->worked || (!x->passed && rule_permille(x->queued_ns + x->outside_ns,
                                                             x->given_ns) < QUEUED_PERMILLE);
    return x->kind == RESOURCE_ANSWERS && x->n_doing && at_once && d->does == r->doing->does &&
           d->at.method.v == r->take.v && rule_permille(d->ns, x->held) >= SAYS_PERMILLE &&
           !resource_is_of_own_pool(ev->a, x);
}

static void put_answers_behind(struct evidence *ev, struct resource *r)
{
    for (size_t i = 0; i < ev->resources.n; i++)
        if (!ev->resources.v[i].behind_of && waits_for_answers(ev, r, &ev->resources.v[i]))
            resource_stand_behind(r, &ev->resources.v[i], &ev->resources);
}

/* Drops the finding about r: the finding about the givers says enough. */
static void put_answers_back(struct evidence *ev, const struct resource *r)
{
    for (size_t i = 0; i < ev->resources.n; i++)
        if (ev->resources.v[i].behind_of == BEHIND_OTHER &&
            waits_for_answers(ev, r, &ev->resources.v[i]))
            ev->resources.v[i].behind_of = 0;
}

/* A new resource for this activity at this place.  The caller fills in the threads and the time. */
static struct resource *new_resource(struct evidence *ev, const struct activity *does)
{
    struct resource *r = arena_alloc(&ev->a->arena, sizeof *r);
    struct activity *doing = arena_alloc(&ev->a->arena, sizeof *doing);
    if (!r || !doing)
        return NULL;
    *doing = *does;
    *r = (struct resource){.kind = RESOURCE_IO,
                           .take = does->at.method,
                           .wait_at = does->at,
                           .wait_stack = does->stack,
                           .doing = doing,
                           .n_doing = 1};
    return r;
}

static bool is_much(const struct evidence *ev, const struct resource *r)
{
    return rule_permille(r->ns, r->base) >= IO_OF_THEIRS_PERMILLE &&
           rule_permille(r->ns, ev->length) >= IO_QUEUE_PERMILLE;
}

/* Whether threads may have waited for a processor, not for the clients that they write to: a short
 * answer seldom waits for its client. */
static bool may_lack_processors(const struct evidence *ev, const struct resource *r)
{
    static const char client[] = "=client ";
    const struct analysis *a = ev->a;
    lock_id peer = activity_peer(r->doing);
    const char *name = trace_class(a->trace, trace_lock(a->trace, peer)->class_)->signature;
    uint64_t running = 0;
    if (r->doing->does != DOES_OUTPUT || strncmp(name, client, sizeof client - 1) != 0)
        return false;
    for (uint32_t i = 1; i < a->timeline.n_lines && i < a->threads.n; i++) {
        uint64_t ns[THREAD_TIMES] = {0};
        thread_times(&ev->resources, a, i, ns);
        running += thread_is_carrier(a->trace, &a->threads.v[i]) ? 0 : ns[TIME_RUNNING];
    }
    return thread_pools_lack_processors(a, running);
}

static void say(struct evidence *ev, const struct resource *r)
{
    struct rule_finding *found = rule_find(
        ev, may_lack_processors(ev, r) ? SEVERITY_INFO : SEVERITY_WARNING, r->ns + r->behind_ns);
    if (!found)
        return;
    found->resource = r;
    for (uint32_t i = 0; i < r->n_threads && i < RESOURCE_IDS; i++)
        rule_add_thread(found, ev, r->threads[i]);
    rule_add_stack(found, r->wait_stack);
    rule_say_resource(found, ev);
}

static int by_place_and_time(const void *x, const void *y)
{
    const struct io_edge *a = x, *b = y;
    if (a->method != b->method)
        return a->method < b->method ? -1 : 1;
    if (a->does != b->does)
        return a->does - b->does;
    return a->time != b->time ? (a->time < b->time ? -1 : 1) : a->change - b->change;
}

/* How many are there at a time at most, and for how much of the time with any, where fewer are than take
 * part.  Waits that are known as sums, and calls that only looks have seen, could be beside the others. */
static void count_at_once(const struct finder *f, const struct io_place *p, struct resource *r)
{
    const struct io_edge *v = (const void *)f->edges.p;
    size_t n = f->edges.len / sizeof *v, i = 0;
    BISECT(i, n, v[i].method < p->method || (v[i].method == p->method && v[i].does < p->does));
    uint64_t any = 0, full = 0, begun = 0;
    unsigned now = 0, most = 0;
    for (; i + 1 < n && v[i].method == p->method && v[i].does == p->does; i++) {
        begun += v[i].change > 0;
        now += (unsigned)v[i].change;
        uint64_t ns = now ? v[i + 1].time - v[i].time : 0;
        full = now > most ? ns : now == most ? full + ns : full;
        most = now > most ? now : most;
        any += ns;
    }
    bool all = n < IO_EDGES && begun == r->count && SEEN_PART * r->doing->by_samples <= r->ns;
    if (!all || most >= r->n_threads || rule_permille(full, any) < IO_FULL_PERMILLE)
        return;
    r->at_once = most;
    r->full = rule_permille(full, any);
}

/* Makes the finding about all threads at one place of the program. */
static void tell(struct finder *f, const struct io_place *v, size_t n)
{
    struct evidence *ev = f->ev;
    uint64_t waited = 0, strays = 0;
    struct peer_vote peer = {.peer = {0}};
    const struct place at = {.method = {v->method}, .line = v->line};
    struct resource *r = new_resource(
        ev, &(struct activity){.does = v->does, .at = at, .leaf = at, .stack = v->stack});
    if (!r)
        return;
    r->holder = v->thread;
    r->holder_ns = v->ns;
    r->first = ev->a->window.from;
    r->last = ev->a->window.to;
    for (size_t i = 0; i < n; i++) {
        r->ns += v[i].ns;
        waited += v[i].waited;
        r->looks += v[i].looks;
        peer_vote(&peer, v[i].peer);
        r->count += v[i].waits;
        r->base += f->busy[v[i].thread];
        if (r->n_threads < RESOURCE_IDS)
            r->threads[r->n_threads] = v[i].thread;
        r->n_threads++;
        if (!resource_same_pool(ev->a, v->thread, v[i].thread)) {
            strays += v[i].ns;
            r->n_strays++;
        }
    }
    r->mixed = !strays_are_few(r->n_strays, r->n_threads, strays, r->ns);
    r->n_strays = r->mixed ? 0 : r->n_strays;
    r->one_pool = !r->mixed;
    r->held = r->wait_at_ns = r->ns;
    r->n_holders = resource_n_waiters(r);
    r->doing->ns = r->doing->most = r->ns;
    r->doing->samples = 2 * waited > r->ns ? 0 : r->looks;
    r->doing->by_samples = r->ns - min_u64(waited, r->ns);
    r->doing->peer = peer;
    if (r->looks + r->count < IO_LOOKS || !is_much(ev, r))
        return;
    put_answers_behind(ev, r);
    if (is_told(ev, v)) {
        put_answers_back(ev, r);
        return;
    }
    if (r->one_pool)
        pool_find_none_free(ev, r);
    if (!r->none_free)
        count_at_once(f, v, r);
    say(ev, r);
}

/* Whether the finding of a full queue says that who empties it waits for these answers. */
static bool is_consumers(const struct evidence *ev, const struct resource *answers)
{
    const struct rule_finding *v = (const void *)ev->found.p;
    for (size_t i = 0; i < ev->found.len / sizeof *v; i++) {
        const struct resource *r = v[i].resource;
        if (r && resource_is_full_queue(r) && r->n_doing && r->doing->other &&
            &ev->resources.v[r->doing->other - 1] == answers &&
            resource_same_pool(ev->a, r->holder, answers->threads[0]) &&
            rule_permille(r->doing->ns, r->held) >= SAYS_PERMILLE)
            return true;
    }
    return false;
}

/* Threads of a pool may wait for another server through a client that reads in threads of its own.
 * Where no thread of the pool is free, this counts as if they read the answer themselves. */
static void tell_of_clients(struct finder *f, struct resource *answers)
{
    struct evidence *ev = f->ev;
    if (answers->kind != RESOURCE_ANSWERS || !answers->remote || answers->inside ||
        answers->mixed || answers->behind_of || !answers->wait_at.method.v ||
        answers->count <= answers->n_threads || !is_much(ev, answers))
        return;
    if (is_consumers(ev, answers)) {
        answers->behind_of = BEHIND_OTHER;
        return;
    }
    struct resource *r = new_resource(
        ev, &(struct activity){.does = DOES_INPUT,
                               .at = answers->wait_at,
                               .leaf = answers->wait_at,
                               .ns = answers->ns,
                               .most = answers->ns,
                               .peer = {answers->source.peer, answers->ns, answers->ns},
                               .stack = answers->wait_stack});
    if (!r)
        return;
    r->ns = r->held = r->wait_at_ns = answers->ns;
    r->base = answers->base;
    r->count = answers->count;
    r->n_threads = answers->n_threads;
    r->n_strays = answers->n_strays;
    memcpy(r->threads, answers->threads, sizeof r->threads);
    r->holder = r->threads[0];
    r->n_holders = resource_n_waiters(r);
    r->one_pool = true;
    r->first = answers->first;
    r->last = answers->last;
    pool_find_none_free(ev, r);
    if (!r->none_free)
        return;
    answers->behind_of = BEHIND_OTHER;
    say(ev, r);
}

static int find(struct finder *f)
{
    const struct analysis *a = f->ev->a;
    for (uint32_t i = 1; i < a->timeline.n_lines && i < a->threads.n; i++)
        if (a->bottles.counted[i])
            TRY(look_at(f, i));
    struct io_place *v = f->places.v;
    if (f->places.n)
        qsort(v, f->places.n, sizeof *v, by_method);
    if (f->edges.len)
        qsort(f->edges.p, f->edges.len / sizeof(struct io_edge), sizeof(struct io_edge),
              by_place_and_time);
    for (size_t i = 0, n; i < f->places.n; i += n) {
        n = 1;
        while (i + n < f->places.n && v[i + n].method == v[i].method && v[i + n].does == v[i].does)
            n++;
        tell(f, v + i, n);
    }
    for (size_t i = 0; i < f->ev->resources.n; i++)
        tell_of_clients(f, &f->ev->resources.v[i]);
    return 0;
}

void rule_waits_for_io(struct evidence *ev)
{
    uint32_t n = ev->a->timeline.n_lines;
    struct finder f = {.ev = ev, .busy = calloc(n + 1, sizeof *f.busy)};
    keyed_init(&f.places, offsetof(struct io_place, ns), sizeof(struct io_place));
    if (f.busy)
        (void)find(&f); /* without memory: one finding less */
    keyed_fini(&f.places);
    buf_fini(&f.edges);
    free(f.busy);
}

/* --- io-on-path ------------------------------------------------------------------------------- */

/* A thread that listens to its clients or its console waits for work. */
static bool is_asked(const struct trace *t, lock_id peer)
{
    static const char *const others[] = {"=listening ", "=client ", "=local ", "=pipe", "=/dev/"};
    const char *name = trace_class(t, trace_lock(t, peer)->class_)->signature;
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (strncmp(name, others[i], strlen(others[i])) == 0)
            return false;
    return trace_is_peer(name);
}

static uint64_t segment_ns(const struct path_segment *s)
{
    return s->to - s->from;
}

void rule_io_on_path(struct evidence *ev)
{
    const struct path *p = &ev->a->path;
    uint64_t *ns = calloc(ev->a->locks.n_objects + 1, sizeof *ns), calls = 0;
    const struct path_segment *longest = NULL;
    uint32_t most = 0;
    for (size_t i = 0; i < p->n && ns; i++) {
        uint32_t peer = p->v[i].peer.v < ev->a->locks.n_objects ? p->v[i].peer.v : 0;
        ns[peer] += peer && is_asked(ev->a->trace, p->v[i].peer) ? segment_ns(&p->v[i]) : 0;
        most = ns[peer] > ns[most] ? peer : most;
    }
    for (size_t i = 0; i < p->n && most; i++) {
        if (p->v[i].peer.v != most)
            continue;
        calls++;
        if (!longest || segment_ns(&p->v[i]) > segment_ns(longest))
            longest = &p->v[i];
    }
    uint64_t all = ns ? ns[most] : 0;
    free(ns);
    if (!longest || rule_permille(all, p->to - p->from) < IO_PATH_PERMILLE)
        return;
    struct io_place at = {.method = program_place(&ev->resources.program, longest->stack).method.v,
                          .does = DOES_INPUT,
                          .stack = longest->stack};
    if (is_told(ev, &at) || rule_resource_says(ev, DOES_OUTPUT, longest->stack))
        return;
    struct rule_finding *f = rule_find(ev, SEVERITY_INFO, all);
    char name[LABEL_MAX];
    if (!f)
        return;
    peer_name(ev->a->trace, longest->peer, name, sizeof name);
    rule_say(f, "Waiting for %s is %u %% of the critical path (%s, %s calls)", name,
             rule_permille(all, p->to - p->from) / 10, human_time(all).text,
             human_count(calls).text);
    rule_line(f, CARD_LONGEST);
    rule_say(f, "%s, by ", human_time(segment_ns(longest)).text);
    rule_say_thread(f, ev, longest->thread);
    rule_say_place(f, ev, " in ", longest->stack);
    f->from = longest->from;
    f->to = longest->to;
    rule_add_thread(f, ev, longest->thread);
    rule_add_lock(f, longest->peer);
    rule_add_stack(f, longest->stack);
}
