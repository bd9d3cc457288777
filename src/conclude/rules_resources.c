/* Resources as findings: which of them do harm.  Their text: words.c. */
#include "analyze/labels.h"
#include "base/err.h"
#include "conclude/doings.h"
#include "conclude/resource_names.h"
#include "conclude/rules_parts.h"

#include <string.h>

enum {
    DOMINANT_PATH_PERMILLE = 200,      /* of the critical path */
    DOMINANT_SHARE_PERMILLE = 500,     /* of all contention, and */
    DOMINANT_QUEUE_PERMILLE = 500,     /* thousandths of a thread waiting on average */
    DOMINANT_OFF_PATH_PERMILLE = 1000, /* the same for a lock that is not on the path; */
    DOMINANT_OF_THEIRS_PERMILLE = 100, /* and of the time of those who wait */
    CONTENDED_SHARE_PERMILLE = 5,
    CONTENDED_QUEUE_PERMILLE = 50,
    WARNING_QUEUE_PERMILLE = 100,    /* below that it is a note, */
    WARNING_OF_THEIRS_PERMILLE = 50, /* or below that */
    CONTENDED_PATH_PERMILLE = 20,
    CONTENDED_OF_THEIRS_PERMILLE = 20, /* of the time of those who wait, */
    CLASSES_OF_THEIRS_PERMILLE = 100,  /* or for a class, if all threads wait once, as at a start */
    STARVED_PERMILLE = 500,
    /* of its time a pool waits for itself */
};

/* --- how much harm ---------------------------------------------------------------------------- */

static struct lock_facts facts_of(const struct evidence *ev, const struct resource *r)
{
    return r->lock.v && r->lock.v < ev->a->locks.n_objects ? ev->of_lock[r->lock.v]
                                                           : (struct lock_facts){0};
}

static unsigned path_permille(const struct evidence *ev, const struct resource *r)
{
    const struct path *p = &ev->a->path;
    return p->n ? rule_permille(facts_of(ev, r).path, p->to - p->from) : 0;
}

/* Whether only threads of the JVM itself want the resource. */
static bool is_nobodys(const struct evidence *ev, const struct resource *r)
{
    for (uint32_t i = 0; i < r->n_threads && i < RESOURCE_IDS; i++)
        if (ev->a->bottles.counted[r->threads[i]])
            return false;
    return r->n_threads <= RESOURCE_IDS;
}

/* The time waited for the resource, and for the resources behind it. */
static uint64_t harm_of(const struct resource *r)
{
    return r->ns + r->behind_ns;
}

/* Anyone who runs may take the lock in the time that woken threads wait for a carrier: what limits
 * are the carriers. */
static bool is_for_want_of_carriers(const struct evidence *ev, const struct resource *r)
{
    return resource_is_late(r) && !resource_is_fair(r, ev->a);
}

static bool is_dominant(const struct evidence *ev, const struct resource *r)
{
    const struct analysis *a = ev->a;
    if (r->kind == RESOURCE_ANSWERS ||
        ((r->kind == RESOURCE_POLLED || r->kind == RESOURCE_DELAY) && !r->past) ||
        resource_is_once(r) || resource_is_brief(r) || r->behind_of || is_nobodys(ev, r) ||
        is_for_want_of_carriers(ev, r))
        return false; /* a program that divides its work waits so */
    unsigned queue = a->path.n ? DOMINANT_OFF_PATH_PERMILLE : DOMINANT_QUEUE_PERMILLE;
    if (path_permille(ev, r) >= DOMINANT_PATH_PERMILLE)
        return true;
    return rule_permille(harm_of(r), ev->resource_ns) >= DOMINANT_SHARE_PERMILLE &&
           rule_permille(harm_of(r), ev->length) >= queue &&
           resource_permille(r) >= DOMINANT_OF_THEIRS_PERMILLE;
}

static bool is_contended(const struct evidence *ev, const struct resource *r)
{
    if (r->behind_of)
        return false;
    if (path_permille(ev, r) >= CONTENDED_PATH_PERMILLE)
        return true;
    bool start = resource_is_of_classes(r, ev->a) && resource_is_brief(r);
    return rule_permille(harm_of(r), ev->resource_ns) >= CONTENDED_SHARE_PERMILLE &&
           rule_permille(harm_of(r), ev->length) >= CONTENDED_QUEUE_PERMILLE &&
           resource_permille(r) >=
               (start ? CLASSES_OF_THEIRS_PERMILLE : CONTENDED_OF_THEIRS_PERMILLE);
}

/* The resource whose finding also covers this one. */
static const struct resource *root_of(const struct evidence *ev, const struct resource *r)
{
    return r->behind_of && r->behind_of != BEHIND_OTHER ? &ev->resources.v[r->behind_of - 1] : r;
}

int rule_find_lock_facts(struct evidence *ev)
{
    const struct analysis *a = ev->a;
    size_t n = a->locks.n_objects;
    ev->of_lock = arena_alloc(&ev->a->arena, (n + 1) * sizeof *ev->of_lock);
    if (!ev->of_lock)
        return -ENOMEM;
    memset(ev->of_lock, 0, (n + 1) * sizeof *ev->of_lock);
    for (size_t i = 0; i < a->path_sums.n_locks && a->path.n; i++) {
        const struct path_sum *s = &a->path_sums.locks[i];
        if (s->id >= n)
            continue;
        ev->of_lock[s->id].path += s->ns;
        ev->of_lock[s->id].seen += s->seen;
    }
    return 0;
}

bool rule_resource_is_told(const struct evidence *ev, const struct resource *r)
{
    const struct resource *root = root_of(ev, r);
    return is_dominant(ev, root) || is_contended(ev, root);
}

static bool is_of(const struct resource *r, lock_id lock)
{
    bool is = r->lock.v == lock.v;
    for (uint32_t i = 0; i < r->n_objects && i < RESOURCE_IDS; i++)
        is |= r->objects[i] == lock.v;
    return is;
}

/* Whether the finding about a resource also covers another one, which is it or stands behind it. */
static bool covers(const struct evidence *ev, const struct resource *of, const struct resource *r)
{
    bool does = of && (of == r || of == root_of(ev, r));
    for (uint32_t i = 0; of && i < of->n_behind; i++)
        does |= &ev->resources.v[of->behind[i] - 1] == r;
    return does;
}

struct rule_finding *rule_of_lock(struct evidence *ev, lock_id lock)
{
    struct rule_finding *v = (void *)ev->found.p;
    size_t n = ev->found.len / sizeof *v, first = n;
    for (size_t i = 0; i < ev->resources.n && lock.v; i++) {
        const struct resource *r = &ev->resources.v[i];
        for (size_t k = 0; k < first && is_of(r, lock); k++)
            if (covers(ev, v[k].resource, r))
                first = k;
    }
    return first < n ? &v[first] : NULL;
}

struct rule_finding *rule_of_blocker(struct evidence *ev, const struct activity *x)
{
    struct rule_finding *v = (void *)ev->found.p;
    const struct resource *r =
        x->does == DOES_BLOCKED && x->other ? root_of(ev, &ev->resources.v[x->other - 1]) : NULL;
    for (size_t i = 0; i < ev->found.len / sizeof *v && r; i++)
        if (v[i].resource == r)
            return &v[i];
    return NULL;
}

struct rule_finding *rule_of_pool(struct evidence *ev, uint32_t thread)
{
    struct rule_finding *v = (void *)ev->found.p;
    for (size_t i = 0; i < ev->found.len / sizeof *v; i++) {
        const struct resource *r = v[i].resource;
        bool busy = r && (r->kind == RESOURCE_IO ? r->none_free != 0
                                                 : r->kind == RESOURCE_ANSWERS && r->one_pool);
        if (busy && r->holder && resource_same_pool(ev->a, r->holder, thread))
            return &v[i];
    }
    return NULL;
}

bool rule_resource_is(const struct evidence *ev, enum resource_kind kind, stack_id stack)
{
    const struct contexts *c = &ev->a->timeline.contexts;
    for (uint32_t i = 1; i < c->n; i++) {
        uint32_t of = c->v[i].stack.v == stack.v ? ev->resources.of_context[i] : 0;
        if (of && ev->resources.v[of - 1].kind == kind &&
            rule_resource_is_told(ev, &ev->resources.v[of - 1]))
            return true;
    }
    return false;
}

bool rule_resource_says(const struct evidence *ev, enum holder_does does, stack_id stack)
{
    struct place at = program_place(&ev->resources.program, stack);
    for (size_t i = 0; i < ev->resources.n; i++) {
        const struct resource *r = &ev->resources.v[i];
        const struct activity *x = r->doing;
        if (r->n_doing && doing_is(x->does, does) && x->at.method.v &&
            x->at.method.v == at.method.v && rule_permille(x->ns, r->held) >= SAYS_PERMILLE &&
            rule_resource_is_told(ev, r))
            return true;
    }
    const struct rule_finding *v = (const void *)ev->found.p;
    for (size_t i = 0; i < ev->found.len / sizeof *v; i++) {
        const struct resource *r = v[i].resource;
        if (r && r->kind == RESOURCE_IO && r->doing->does == does && at.method.v &&
            r->doing->at.method.v == at.method.v)
            return true;
    }
    return false;
}

/* Whether threads of a pool wait for answers that only their own pool could give. */
static bool is_starved(const struct evidence *ev, const struct resource *r)
{
    return resource_is_of_own_pool(ev->a, r) && resource_permille(r) >= STARVED_PERMILLE;
}

static void tell(struct evidence *ev, const struct resource *r, enum severity severity)
{
    if (resource_is_sleep(r) && rule_resource_says(ev, DOES_SLEEP, r->wait_stack))
        return; /* who has something sleeps there: the finding about that says it */
    const struct blocked *still = rule_still_blocked_for(ev, r);
    if (still && rule_severity_blocked(ev, still) > severity)
        severity = rule_severity_blocked(ev, still);
    struct rule_finding *f = rule_find(ev, severity, harm_of(r));
    if (!f)
        return;
    f->resource = r;
    f->still = still;
    f->from = r->first;
    f->to = r->last;
    for (uint32_t i = 0; i < r->n_threads && i < RESOURCE_IDS; i++)
        rule_add_thread(f, ev, r->threads[i]);
    for (uint32_t i = 0; i < r->n_objects; i++)
        rule_add_lock(f, (lock_id){r->objects[i]});
    rule_add_stack(f, r->wait_stack);
    if (path_permille(ev, r) >= CONTENDED_PATH_PERMILLE) {
        f->path_ns = facts_of(ev, r).path;
        f->path_seen = facts_of(ev, r).seen;
    }
    rule_say_resource(f, ev);
}

/* --- the rules -------------------------------------------------------------------------------- */

/* Whether those who give the answers are themselves in the call in which the others wait: what they
 * take turns at is not seen, as a mutex of coroutines. */
static bool take_turns(const struct resource *r)
{
    return r->kind == RESOURCE_ANSWERS && r->given_ns && 2 * r->turns_ns >= r->given_ns;
}

static enum severity severity_of(const struct evidence *ev, const struct resource *r)
{
    return resource_is_once(r) || resource_is_brief(r) ||
                   (resource_is_from_elsewhere(r) && !resource_is_due(r)) || r->inside ||
                   take_turns(r) || is_nobodys(ev, r) || is_for_want_of_carriers(ev, r) ||
                   rule_permille(harm_of(r), ev->length) < WARNING_QUEUE_PERMILLE ||
                   resource_permille(r) < WARNING_OF_THEIRS_PERMILLE
               ? SEVERITY_INFO
               : SEVERITY_WARNING;
}

/* A rule has few findings, so resources that threads never got come first. */
static void tell_all(struct evidence *ev, enum resource_kind kind, bool dominant)
{
    for (int still = 1; still >= 0; still--)
        for (size_t i = 0; i < ev->resources.n; i++) {
            const struct resource *r = &ev->resources.v[i];
            if (r->kind == kind && is_dominant(ev, r) == dominant &&
                (dominant || is_contended(ev, r)) &&
                (rule_still_blocked_for(ev, r) != NULL) == (still != 0))
                tell(ev, r, dominant ? SEVERITY_PROBLEM : severity_of(ev, r));
        }
}

void rule_exhausted_pool(struct evidence *ev)
{
    tell_all(ev, RESOURCE_THINGS, true);
}

void rule_contended_pool(struct evidence *ev)
{
    tell_all(ev, RESOURCE_THINGS, false);
}

void rule_dominant_lock(struct evidence *ev)
{
    tell_all(ev, RESOURCE_LOCK, true);
}

void rule_contended_lock(struct evidence *ev)
{
    tell_all(ev, RESOURCE_LOCK, false);
}

/* Short parks without another end are how a program sleeps. */
void rule_polled(struct evidence *ev)
{
    for (size_t i = 0; i < ev->resources.n; i++) {
        const struct resource *r = &ev->resources.v[i];
        if (r->kind == RESOURCE_POLLED && r->held && is_contended(ev, r))
            tell(ev, r, SEVERITY_WARNING);
    }
}

void rule_delay(struct evidence *ev)
{
    tell_all(ev, RESOURCE_DELAY, true);
    tell_all(ev, RESOURCE_DELAY, false);
}

void rule_starved_pool(struct evidence *ev)
{
    for (size_t i = 0; i < ev->resources.n; i++)
        if (is_starved(ev, &ev->resources.v[i]))
            tell(ev, &ev->resources.v[i], SEVERITY_PROBLEM);
}

/* Whether there is only one wait, such as main's for the end of a pool.  The thread that ended it
 * may have read something just before by chance, which says nothing about the source of an
 * answer. */
static bool is_chance(const struct resource *r)
{
    return (r->remote || resource_is_from_elsewhere(r)) && r->count == 1;
}

/* Whether the program lets the time pass itself: no other thread is the cause. */
static bool is_own_delay(const struct resource *r)
{
    return 2 * r->asked_ns > r->ns;
}

void rule_slow_answer(struct evidence *ev)
{
    for (size_t i = 0; i < ev->resources.n; i++) {
        struct resource *r = &ev->resources.v[i];
        if (r->kind != RESOURCE_ANSWERS || !is_contended(ev, r) || is_starved(ev, r) ||
            is_chance(r) || is_own_delay(r))
            continue;
        if (r->one_pool && rule_is_queue_for_answers(r))
            pool_find_none_free(ev, r);
        tell(ev, r, severity_of(ev, r));
    }
}
