/* Fills in the facts of each resource after its waits are summed up: the call site with the most
 * waiting time, the field that holds it, the pools of the waiting threads, and the time that these
 * threads had. */
#include "analyze/io_calls.h"
#include "base/keyed.h"
#include "base/util.h"
#include "conclude/resource_field.h"
#include "conclude/resource_finder.h"
#include "conclude/resource_names.h"
#include "conclude/thread_pools.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

int finder_find_places(struct finder *f)
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
    for (size_t i = 0; i < f->out->n; i++) /* until then only the JDK took it */
        if (!all[i].take.v)
            all[i].take = program_library(&f->out->program, all[i].wait_stack).method;
    for (uint32_t i = 1; i < f->a->timeline.contexts.n; i++) {
        uint32_t at = f->out->of_context[i];
        if (!at || all[at - 1].kind != RESOURCE_THINGS)
            continue;
        unsigned calls = finder_queue_calls(f, timeline_context(&f->a->timeline, i)->stack);
        if (calls & QUEUE_PUTS)
            all[at - 1].put_ns += f->of[0][i];
        else if (calls & QUEUE_TAKES)
            all[at - 1].take_ns += f->of[0][i];
    }
    return rc;
}

/* --- which field holds it --------------------------------------------------------------------- */

int finder_find_fields(struct finder *f)
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
            if (!field)
                continue;
            r->field = field;
            most[r - o->v] = f->of[again][i];
        }
    if (most)
        field_sites_fini(&sites);
    free(most);
    return rc;
}

/* --- of which pool they are ------------------------------------------------------------------- */

/* The thread that waits longest comes first. */
static void put_first(struct resource *r, uint32_t thread)
{
    uint32_t i = 0, last = min_u32(r->n_threads, RESOURCE_IDS) - 1;
    while (i < last && r->threads[i] != thread)
        i++;
    r->threads[i] = r->threads[0];
    r->threads[0] = thread;
}

/* A thread that waited only now and then, such as main while it starts the server, does not make a
 * pool's resource one of several pools. */
int finder_find_strays(struct finder *f)
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

/* Brief threads are known for less than this part of the recording: each serves a request, and then
 * others of their pool do. */
enum { POOLS = 64, BRIEF_PART = 10, BRIEF_LEAST = 20 };

struct bases {
    uint64_t *busy; /* [n_lines] ns */
    uint32_t *pool; /* [n_lines]: 1 + index of a brief thread's pool; 0: it counts by itself */
    struct thread_pool pools[POOLS + 1]; /* the last one: threads beyond count by themselves */
    size_t n_pools;
    uint64_t pool_busy[POOLS + 1];
    struct map counted; /* 1 + index of a resource, pool: its time is in the resource's base */
};

/* What the time in a context is to those who count how busy threads are. */
enum { SPENT_BUSY, SPENT_IDLE, SPENT_UNKNOWN };

struct spent {
    uint64_t idle;    /* ns in which it had nothing to do: it waited, no other thread blocked it, */
    uint64_t unknown; /* and it had asked for nothing; in which its state is unknown */
};

/* Until `end`: after a stop there is nothing to do. */
static struct spent spent_by(const struct finder *f, uint32_t thread, const uint8_t *in,
                             uint64_t end)
{
    const struct timeline *tl = &f->a->timeline;
    const struct run *r = &tl->lines[thread].spans;
    struct spent t = {0};
    for (uint32_t i = 0, n; i < r->n; i += n) {
        const struct span *v = run_stretch(r, sizeof *v, i, &n);
        for (uint32_t k = 0; k < n; k++) {
            uint64_t to = min_u64(span_waited_until(tl, &v[k]), max_u64(end, v[k].start));
            if (in[v[k].context])
                *(in[v[k].context] == SPENT_IDLE ? &t.idle : &t.unknown) += to - v[k].start;
        }
    }
    return t;
}

static void count_busy(struct bases *b, const struct finder *f, const uint8_t *in)
{
    const struct analysis *a = f->a;
    uint64_t length = a->window.to - a->window.from;
    for (uint32_t thread = 1; thread < a->timeline.n_lines && thread < a->threads.n; thread++) {
        const struct thread_stats *s = &a->threads.v[thread];
        uint64_t end = min_u64(s->to, stop_time(&a->stop));
        uint64_t life = end > s->from ? end - s->from : 0;
        struct spent t = spent_by(f, thread, in, end);
        uint64_t known = life - min_u64(t.unknown, life);
        b->busy[thread] = known - min_u64(t.idle, known);
        if (BRIEF_PART * known >= length)
            continue;
        struct thread_pool *p = thread_pool_of(b->pools, POOLS + 1, &b->n_pools, a, thread);
        size_t at = (size_t)(p - b->pools);
        if (at == POOLS)
            continue;
        b->pool[thread] = (uint32_t)at + 1;
        b->pool_busy[at] += b->busy[thread];
        p->threads++;
    }
}

/* Who serves a request and ends stands for its pool: else the one request of many that waited would
 * have done nothing else. */
static int add_base(struct bases *b, struct finder *f, uint32_t of, uint32_t thread)
{
    uint32_t pool = b->pool[thread];
    if (!pool || b->pools[pool - 1].threads < BRIEF_LEAST) {
        f->out->v[of - 1].base += b->busy[thread];
        return 0;
    }
    uint64_t *counted = map_put(&b->counted, (uint64_t)of << 32 | pool);
    if (!counted)
        return -ENOMEM;
    if (!*counted)
        f->out->v[of - 1].base += b->pool_busy[pool - 1];
    *counted = 1;
    return 0;
}

int finder_find_bases(struct finder *f)
{
    const struct timeline *tl = &f->a->timeline;
    struct bases *b = calloc(1, sizeof *b);
    uint8_t *in = calloc((size_t)tl->contexts.n + 1, 1); /* [contexts.n] */
    int rc = b && in ? 0 : -ENOMEM;
    if (rc == 0) {
        map_init(&b->counted);
        b->busy = calloc(tl->n_lines + 1, sizeof *b->busy);
        b->pool = calloc(tl->n_lines + 1, sizeof *b->pool);
        rc = b->busy && b->pool ? 0 : -ENOMEM;
    }
    for (uint32_t i = 1; i < tl->contexts.n && rc == 0; i++)
        in[i] = timeline_context(tl, i)->what == STATE_UNKNOWN ? SPENT_UNKNOWN
                : wait_is_for_work(f->a, i)                    ? SPENT_IDLE
                                                               : SPENT_BUSY;
    if (rc == 0)
        count_busy(b, f, in);
    for (size_t i = 0; i < f->members.cap && rc == 0; i++) {
        const struct map_slot *s = &f->members.slots[i];
        if (s->used)
            rc = add_base(b, f, (uint32_t)(s->key >> 32), (uint32_t)s->key);
    }
    if (b) {
        map_fini(&b->counted);
        free(b->busy);
        free(b->pool);
    }
    free(b);
    free(in);
    return rc;
}

/* --- how a lock is passed on ------------------------------------------------------------------ */

/* Hand-offs that take half of the time that a lock is wanted: many, or some of which it is known why
 * they take long. */
enum { HANDED_LEAST = 100, LATE_LEAST = 3 };

static bool is_handed(const struct resource *r, uint64_t least)
{
    return r->kind == RESOURCE_LOCK && r->wanted && r->n_handed >= least &&
           2 * r->handed >= r->wanted;
}

bool resource_is_late(const struct resource *r)
{
    return is_handed(r, LATE_LEAST) && 2 * r->late >= r->handed;
}

bool resource_is_handed(const struct resource *r)
{
    return is_handed(r, HANDED_LEAST) || resource_is_late(r);
}

bool resource_is_fair(const struct resource *r, const struct analysis *a)
{
    return strstr(a->locks.groups[r->group].signature, "$FairSync") != NULL;
}

bool resource_has_one_holder(const struct resource *r)
{
    enum { HOLDER_PERMILLE = 700 };
    return r->n_holders == 1 ||
           (r->held && (unsigned __int128)r->holder_ns * 1000 / r->held >= HOLDER_PERMILLE);
}

unsigned resource_permille(const struct resource *r)
{
    uint64_t ns = r->ns + r->behind_ns;
    uint64_t base = max_u64(max_u64(r->base, r->behind_base), ns);
    return base ? (unsigned)((unsigned __int128)ns * 1000 / base) : 0;
}
