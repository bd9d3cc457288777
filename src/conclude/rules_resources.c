/* Resources as findings: who waits, for how much of their time, where in the program, and what
 * those do who have it. */
#include "analyze/labels.h"
#include "base/err.h"
#include "base/human.h"
#include "base/util.h"
#include "conclude/resource_names.h"
#include "conclude/rules_parts.h"

#include <string.h>

enum {
    DOMINANT_PATH_PERMILLE = 200,      /* of the critical path */
    DOMINANT_SHARE_PERMILLE = 500,     /* of all contention, and */
    DOMINANT_QUEUE_PERMILLE = 500,     /* so many thousandths of a thread waiting on average */
    DOMINANT_OFF_PATH_PERMILLE = 1000, /* the same where there is a path and it is not on it */
    CONTENDED_SHARE_PERMILLE = 5,
    CONTENDED_QUEUE_PERMILLE = 50,
    CONTENDED_PATH_PERMILLE = 20,
    CONTENDED_OF_THEIRS_PERMILLE = 20, /* of the time of those who wait */
    HOLDER_PERMILLE = 700,             /* a thread that holds for less is one of many */
    STARVED_PERMILLE = 500,            /* of its time a pool waits for itself */
    SAYS_PERMILLE = 500,               /* of its time holders do what the finding is about */
    DOING_PERMILLE = 150,              /* what holders do for less is not said */
    DOING_MOST = 3,                    /* nor more than so many things */
};

/* --- how much harm ------------------------------------------------------------------------------
 */

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

static bool is_dominant(const struct evidence *ev, const struct resource *r)
{
    const struct analysis *a = ev->a;
    if (r->kind == RESOURCE_ANSWERS || r->kind == RESOURCE_POLLED)
        return false; /* a program that divides its work waits so */
    unsigned queue = a->path.n ? DOMINANT_OFF_PATH_PERMILLE : DOMINANT_QUEUE_PERMILLE;
    if (path_permille(ev, r) >= DOMINANT_PATH_PERMILLE)
        return true;
    return rule_permille(r->ns, ev->resource_ns) >= DOMINANT_SHARE_PERMILLE &&
           rule_permille(r->ns, ev->length) >= queue;
}

static bool is_contended(const struct evidence *ev, const struct resource *r)
{
    if (path_permille(ev, r) >= CONTENDED_PATH_PERMILLE)
        return true;
    return rule_permille(r->ns, ev->resource_ns) >= CONTENDED_SHARE_PERMILLE &&
           rule_permille(r->ns, ev->length) >= CONTENDED_QUEUE_PERMILLE &&
           resource_permille(r) >= CONTENDED_OF_THEIRS_PERMILLE;
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
    for (size_t i = 0; i < ev->resources.n; i++) {
        const struct resource *r = &ev->resources.v[i];
        if (r->lock.v && r->lock.v < n)
            ev->of_lock[r->lock.v].dominant |= is_dominant(ev, r);
    }
    return 0;
}

bool rule_resource_is_dominant(const struct evidence *ev, lock_id lock)
{
    return lock.v && lock.v < ev->a->locks.n_objects && ev->of_lock[lock.v].dominant;
}

bool rule_resource_says(const struct evidence *ev, enum holder_does does, stack_id stack)
{
    struct place at = program_place(&ev->resources.program, stack);
    for (size_t i = 0; i < ev->resources.n; i++) {
        const struct resource *r = &ev->resources.v[i];
        const struct activity *x = r->doing;
        if (r->n_doing && x->does == does && x->at.method.v && x->at.method.v == at.method.v &&
            rule_permille(x->ns, r->held) >= SAYS_PERMILLE &&
            (is_dominant(ev, r) || is_contended(ev, r)))
            return true;
    }
    return false;
}

/* --- words --------------------------------------------------------------------------------------
 */

/* " in shop.Order.submit (Order.java:88)" */
static void say_place(struct rule_finding *f, const struct evidence *ev, const char *word,
                      struct place at)
{
    char method[LABEL_MAX], line[LABEL_MAX];
    if (!at.method.v)
        return;
    label_method(ev->a->trace, at.method, method, sizeof method);
    label_line(ev->a->trace, at, line, sizeof line);
    rule_say(f, *line ? "%s%s (%s)" : "%s%s", word, method, line);
}

static void say_in(struct rule_finding *f, const struct evidence *ev, struct place at)
{
    say_place(f, ev, " in ", at);
}

static const struct {
    const char *waited, *had, *who;
} wait_words[] = {
    [RESOURCE_LOCK] = {"blocked", "held", "; the holder was "},
    [RESOURCE_THINGS] = {"blocked", "held", "; the holder was "},
    [RESOURCE_ANSWERS] = {"waited", "answered", "; the answering thread was "},
    [RESOURCE_POLLED] = {"polled", "the other end (by samples) is run", "; the other end was "},
};

static void say_waiters(struct rule_finding *f, const struct evidence *ev, const struct resource *r)
{
    char pool[LABEL_MAX];
    unsigned share = rule_permille(r->wait_at_ns, r->ns) / 10;
    resource_pool_name(ev->a, r, pool, sizeof pool);
    rule_say(f, "%s thread%s%s%s %s %s time%s for %s, %u %% of their time (longest %s)",
             human_count(r->n_threads).text, r->n_threads == 1 ? "" : "s", *pool ? " of " : "",
             pool, wait_words[r->kind].waited, human_count(r->count).text, r->count == 1 ? "" : "s",
             human_time(r->ns).text, resource_permille(r) / 10, human_time(r->max).text);
    rule_add_stack(f, r->wait_stack);
    if (!r->wait_at.method.v)
        return;
    rule_say(f, share < 100 ? "; %u %%" : ";", share);
    say_in(f, ev, r->wait_at);
}

static void say_path(struct rule_finding *f, const struct evidence *ev, const struct resource *r)
{
    const struct lock_facts facts = facts_of(ev, r);
    if (path_permille(ev, r) < CONTENDED_PATH_PERMILLE)
        return;
    rule_say(f, "; on %u %% of the critical path", path_permille(ev, r) / 10);
    if (facts.seen * 100 / facts.path)
        rule_say(f, " (%u %% of it through the last owner seen)",
                 (unsigned)(facts.seen * 100 / facts.path));
}

/* "66 % blocked on HikariPool-1 in shop.Order.place (Order.java:12)" */
static void say_activity(struct rule_finding *f, const struct evidence *ev,
                         const struct resource *r, const struct activity *x)
{
    static const char *const words[DOES_LIMIT] = {
        [DOES_UNKNOWN] = "running, or in input or output: not recorded",
        [DOES_COMPUTE] = "computing",
        [DOES_INPUT] = "waiting for input",
        [DOES_OUTPUT] = "writing output",
        [DOES_NATIVE] = "paused in native code",
        [DOES_SLEEP] = "sleeping",
        [DOES_JOIN] = "waiting for a thread to end",
        [DOES_ANSWER] = "waiting for an answer",
        [DOES_WAIT] = "waiting",
        [DOES_BLOCKED] = "blocked"};
    rule_say(f, "%u %% %s", rule_permille(x->ns, r->held) / 10, words[x->does]);
    if (x->other) {
        char name[LABEL_MAX];
        resource_title(&ev->resources.v[x->other - 1], ev->a, name, sizeof name);
        rule_say(f, " on %s", name);
    }
    say_in(f, ev, x->at.method.v ? x->at : x->leaf);
    if (x->at.method.v)
        say_place(f, ev, ", called from ", program_caller(&ev->resources.program, x->stack));
    if (x->samples)
        rule_say(f, " (%s of %s samples)", human_count(x->samples).text,
                 human_count(r->looks).text);
    rule_add_stack(f, x->stack);
}

static void say_holders(struct rule_finding *f, const struct evidence *ev, const struct resource *r)
{
    const char *had = resource_is_full_queue(r) ? "emptied" : wait_words[r->kind].had;
    if (!r->held)
        return;
    if (r->n_holders == 1 || rule_permille(r->holder_ns, r->held) >= HOLDER_PERMILLE) {
        rule_say(f, "; %s by ", had);
        rule_say_thread(f, ev, r->holder);
        if (r->n_holders > 1)
            rule_say(f, " for %u %% of that time", rule_permille(r->holder_ns, r->held) / 10);
        rule_add_thread(f, ev, r->holder);
    } else {
        char pool[LABEL_MAX] = "";
        if (r->one_pool)
            resource_thread_pool(ev->a, r->holder, pool, sizeof pool);
        rule_say(f, "; %s by %s threads%s%s", had, human_count(r->n_holders).text,
                 *pool ? " of " : "", pool);
    }
    const char *between =
        resource_is_full_queue(r) ? "; the consumer was " : wait_words[r->kind].who;
    for (size_t i = 0, n = 0; i < r->n_doing && n < DOING_MOST; i++) {
        if (rule_permille(r->doing[i].ns, r->held) < DOING_PERMILLE)
            continue;
        rule_say(f, "%s", between);
        say_activity(f, ev, r, &r->doing[i]);
        between = ", ";
        n++;
    }
}

/* The threads of a pool that wait for what only their own pool could do. */
static bool is_starved(const struct evidence *ev, const struct resource *r)
{
    return resource_is_of_own_pool(ev->a, r) && resource_permille(r) >= STARVED_PERMILLE;
}

static void tell(struct evidence *ev, const struct resource *r, enum severity severity)
{
    struct rule_finding *f = rule_find(ev, severity, r->ns);
    char name[LABEL_MAX];
    if (!f)
        return;
    f->resource = r;
    f->from = r->first;
    f->to = r->last;
    for (uint32_t i = 0; i < r->n_threads && i < RESOURCE_IDS; i++)
        rule_add_thread(f, ev, r->threads[i]);
    for (uint32_t i = 0; i < r->n_objects; i++)
        rule_add_lock(f, (lock_id){r->objects[i]});
    if (is_starved(ev, r)) {
        resource_thread_pool(ev->a, r->threads[0], name, sizeof name);
        rule_say(f, "%s: threads of the pool wait for tasks that the same pool has to run; ", name);
    } else {
        resource_title(r, ev->a, name, sizeof name);
        rule_say(f, "%s: ", name);
    }
    if (r->kind == RESOURCE_THINGS && r->at_once)
        rule_say(f, "%s%u in use at a time; ", r->all_known ? "" : "at least ", r->at_once);
    say_waiters(f, ev, r);
    say_holders(f, ev, r);
    say_path(f, ev, r);
}

/* --- the rules ----------------------------------------------------------------------------------
 */

static void tell_all(struct evidence *ev, enum resource_kind kind, bool dominant)
{
    for (size_t i = 0; i < ev->resources.n; i++) {
        const struct resource *r = &ev->resources.v[i];
        if (r->kind == kind && is_dominant(ev, r) == dominant && (dominant || is_contended(ev, r)))
            tell(ev, r, dominant ? SEVERITY_PROBLEM : SEVERITY_WARNING);
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

void rule_polled(struct evidence *ev)
{
    tell_all(ev, RESOURCE_POLLED, false);
}

void rule_starved_pool(struct evidence *ev)
{
    for (size_t i = 0; i < ev->resources.n; i++)
        if (is_starved(ev, &ev->resources.v[i]))
            tell(ev, &ev->resources.v[i], SEVERITY_PROBLEM);
}

/* Whether those who answer mostly wait for answers themselves, about which there is a finding: one
 * cause, one finding, at the end of the chain. */
static bool is_passed_on(const struct evidence *ev, const struct resource *r)
{
    uint32_t next = r->n_doing ? r->doing[0].other : 0;
    const struct resource *of = next ? &ev->resources.v[next - 1] : r;
    return of != r && of->kind == RESOURCE_ANSWERS && (is_starved(ev, of) || is_contended(ev, of));
}

void rule_slow_answer(struct evidence *ev)
{
    for (size_t i = 0; i < ev->resources.n; i++) {
        const struct resource *r = &ev->resources.v[i];
        if (r->kind == RESOURCE_ANSWERS && is_contended(ev, r) && !is_starved(ev, r) &&
            !is_passed_on(ev, r))
            tell(ev, r, SEVERITY_WARNING);
    }
}
