#include "analyze/rules.h"

#include "analyze/labels.h"
#include "base/human.h"
#include "base/util.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LOCK_FINDINGS = 5, /* of each rule at most so many: the tables have the others */
    FINDINGS_MAX = 1 + 2 * LOCK_FINDINGS,
    DOMINANT_PERMILLE = 500,
    CONTENDED_PERMILLE = 5,
    MANY_PERCENT = 20, /* an owner with less is one of many */
    STILL_BLOCKED_NS = 100000000,
};

/* What the rules look at, each list most blocked time first. */
struct evidence {
    struct analysis *a;
    uint32_t *classes; /* groups */
    size_t n_classes;
    struct site *sites;
    const struct blame *owners, *waiters; /* by class and owner, by class and waiter */
    size_t n_sites, n_owners, n_waiters;
    struct rule_finding *out;
    size_t n;
};

const char *severity_name(enum severity s)
{
    static const char *const names[] = {"info", "warning", "problem"};
    return names[s];
}

static void say(struct rule_finding *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void say(struct rule_finding *f, const char *fmt, ...)
{
    size_t len = strlen(f->text);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(f->text + len, sizeof f->text - len, fmt, ap);
    va_end(ap);
}

static void add_id(struct id_list *l, uint32_t id)
{
    for (uint32_t i = 0; i < l->n; i++)
        if (l->v[i] == id)
            return;
    if (id && l->n < FINDING_IDS)
        l->v[l->n++] = id;
}

static unsigned permille(uint64_t part, uint64_t whole)
{
    return whole ? (unsigned)((unsigned __int128)part * 1000 / whole) : 0;
}

static struct rule_finding *begin(struct evidence *ev, const char *rule, enum severity severity)
{
    struct rule_finding *f = &ev->out[ev->n++];
    *f = (struct rule_finding){
        .rule = rule, .severity = severity, .from = ev->a->window.from, .to = ev->a->window.to};
    return f;
}

/* --- events-lost ------------------------------------------------------------------------------ */

static void find_losses(struct evidence *ev)
{
    const struct analysis *a = ev->a;
    uint64_t lost = analysis_lost_events(a);
    if (!lost)
        return;
    struct rule_finding *f = begin(ev, "events-lost", SEVERITY_WARNING);
    say(f, "%s events were lost: every count and time here is a lower bound",
        human_count(lost).text);
    for (size_t i = 0; i < a->n_losses; i++)
        if (loss_causes[a->losses[i].cause].what == LOSS_OF_EVENT)
            say(f, "; %s: %s", loss_causes[a->losses[i].cause].name,
                human_count(a->losses[i].count).text);
}

/* --- still-blocked ---------------------------------------------------------------------------- */

/* Of the threads blocked on this class at the end, the one that is so for the longest; NULL: none.
 */
static const struct open_wait *longest_blocked(const struct analysis *a, uint32_t group)
{
    const struct open_wait *w = (const void *)a->decoded.open.p, *longest = NULL;
    for (size_t i = 0; i < a->decoded.open.len / sizeof *w; i++)
        if (w[i].state == STATE_BLOCKED && lock_set_object(&a->locks, w[i].lock)->group == group &&
            (!longest || w[i].since < longest->since))
            longest = &w[i];
    return longest;
}

static void add_blocked_ids(struct rule_finding *f, const struct analysis *a, uint32_t group)
{
    const struct open_wait *w = (const void *)a->decoded.open.p;
    for (size_t i = 0; i < a->decoded.open.len / sizeof *w; i++) {
        if (w[i].state != STATE_BLOCKED || lock_set_object(&a->locks, w[i].lock)->group != group)
            continue;
        add_id(&f->threads, a->threads.v[w[i].thread].id.v);
        add_id(&f->locks, w[i].lock.v);
        add_id(&f->stacks, w[i].stack.v);
    }
}

static void find_still_blocked(struct evidence *ev, uint32_t group)
{
    const struct analysis *a = ev->a;
    const struct lock_class *c = &a->locks.classes[group];
    const struct open_wait *w = c->blocked.open ? longest_blocked(a, group) : NULL;
    if (!w || a->window.to - w->since < STILL_BLOCKED_NS)
        return; /* any moment finds some thread blocked */
    struct rule_finding *f = begin(ev, "still-blocked", SEVERITY_PROBLEM);
    char name[LABEL_MAX];
    add_blocked_ids(f, a, group);
    f->from = w->since;
    label_class(c->signature, name, sizeof name);
    say(f, "%s: %s thread%s still blocked when the recording ended", name,
        human_count(c->blocked.open).text, c->blocked.open == 1 ? " was" : "s were");
    label_thread(&a->threads, a->trace, w->thread, name, sizeof name);
    say(f, "; %s%s for %s", c->blocked.open == 1 ? "" : "longest ", name,
        human_time(a->window.to - w->since).text);
    if (!w->other)
        return;
    label_thread(&a->threads, a->trace, w->other, name, sizeof name);
    say(f, ", at whose beginning %s owned it", name);
}

/* --- dominant-lock, contended-lock ------------------------------------------------------------ */

static void say_site(struct rule_finding *f, const struct evidence *ev, uint32_t group)
{
    const struct lock_class *c = &ev->a->locks.classes[group];
    for (size_t i = 0; i < ev->n_sites; i++)
        if (ev->sites[i].group == group && ev->sites[i].blocked.count)
            add_id(&f->stacks, ev->sites[i].stack.v);
    for (size_t i = 0; i < ev->n_sites; i++) {
        const struct site *s = &ev->sites[i];
        if (s->group != group)
            continue;
        char method[LABEL_MAX], line[LABEL_MAX];
        if (!s->app.method.v)
            return;
        label_method(ev->a->trace, s->app.method, method, sizeof method);
        label_line(ev->a->trace, s->app, line, sizeof line);
        unsigned share = permille(s->blocked.ns, c->blocked.total) / 10;
        say(f, "; %s", share >= 50 ? "mostly" : "most often");
        say(f, *line ? " at %s in %s" : "%s in %s", line, method);
        if (share < 100)
            say(f, " (%u %%)", share);
        return;
    }
}

static void say_owner(struct rule_finding *f, const struct evidence *ev, uint32_t group)
{
    const struct blame *top = NULL;
    uint64_t owners = 0;
    for (size_t i = 0; i < ev->n_owners; i++) {
        const struct blame *b = &ev->owners[i];
        if (b->group != group || !b->blocked.count)
            continue;
        owners += b->owner != 0;
        top = top ? top : b;
    }
    if (!top)
        return;
    unsigned share = permille(top->blocked.ns, ev->a->locks.classes[group].blocked.total) / 10;
    char name[LABEL_MAX];
    label_thread(&ev->a->threads, ev->a->trace, top->owner, name, sizeof name);
    if (share >= MANY_PERCENT)
        say(f, "; owner %s %s (%u %%)", share >= 50 ? "mostly" : "most often", name, share);
    else
        say(f, "; %s different owners, none for more than %u %%", human_count(owners).text,
            share + 1);
}

static uint64_t count_waiters(const struct evidence *ev, uint32_t group, struct rule_finding *f)
{
    uint64_t n = 0;
    for (size_t i = 0; i < ev->n_waiters; i++)
        if (ev->waiters[i].group == group && ev->waiters[i].blocked.count) {
            add_id(&f->threads, ev->a->threads.v[ev->waiters[i].waiter].id.v);
            n++;
        }
    return n;
}

static void add_objects(struct rule_finding *f, const struct lock_set *l, uint32_t group)
{
    uint64_t bound = UINT64_MAX;
    uint32_t last = 0;
    for (int k = 0; k < FINDING_IDS; k++) { /* the next largest, a few times */
        uint32_t best = 0;
        for (uint32_t i = 1; i < l->n_objects; i++) {
            const struct lock_stats *o = &l->objects[i];
            bool before = o->blocked_ns < bound || (o->blocked_ns == bound && i > last);
            if (o->group == group && o->blocked_count && before &&
                (!best || o->blocked_ns > l->objects[best].blocked_ns))
                best = i;
        }
        if (!best)
            return;
        add_id(&f->locks, best);
        bound = l->objects[best].blocked_ns;
        last = best;
    }
}

static void find_contended(struct evidence *ev, uint32_t group)
{
    const struct analysis *a = ev->a;
    const struct lock_class *c = &a->locks.classes[group];
    unsigned share = permille(c->blocked.total, a->total[STATE_BLOCKED].ns);
    if (share < CONTENDED_PERMILLE || c->blocked.total == 0)
        return;
    bool dominant = share >= DOMINANT_PERMILLE;
    struct rule_finding *f = begin(ev, dominant ? "dominant-lock" : "contended-lock",
                                   dominant ? SEVERITY_PROBLEM : SEVERITY_WARNING);
    char name[LABEL_MAX];
    label_class(c->signature, name, sizeof name);
    uint64_t threads = count_waiters(ev, group, f);
    say(f, "%s: %s thread%s queued %s time%s", name, human_count(threads).text,
        threads == 1 ? "" : "s", human_count(c->blocked.count).text,
        c->blocked.count == 1 ? "" : "s");
    say(f, " for %s in all; longest %s", human_time(c->blocked.total).text,
        human_time(c->blocked.max).text);
    f->from = c->blocked.first;
    f->to = c->blocked.last;
    add_objects(f, &a->locks, group);
    say_site(f, ev, group);
    say_owner(f, ev, group);
}

/* --- all of them ------------------------------------------------------------------------------ */

static int by_blocked(const void *a, const void *b, void *classes)
{
    const struct lock_class *all = classes;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (all[x].blocked.total != all[y].blocked.total)
        return all[x].blocked.total < all[y].blocked.total ? 1 : -1;
    return (x > y) - (x < y);
}

static int gather(struct evidence *ev)
{
    struct analysis *a = ev->a;
    size_t n = a->locks.n_classes;
    ev->classes = arena_alloc(&a->arena, n * sizeof *ev->classes);
    ev->out = arena_alloc(&a->arena, FINDINGS_MAX * sizeof *ev->out);
    if (!ev->classes || !ev->out)
        return -ENOMEM;
    for (uint32_t i = 0; i < n; i++)
        ev->classes[i] = i;
    qsort_r(ev->classes, n, sizeof *ev->classes, by_blocked, a->locks.classes);
    ev->n_classes = n;
    TRY(sites_list(&a->sites, EVERY_CLASS, &ev->sites, &ev->n_sites));
    TRY(blames_list(&a->blames, EVERY_CLASS, BLAME_BY_GROUP | BLAME_BY_OWNER, &ev->owners,
                    &ev->n_owners));
    return blames_list(&a->blames, EVERY_CLASS, BLAME_BY_GROUP | BLAME_BY_WAITER, &ev->waiters,
                       &ev->n_waiters);
}

int rules_apply(struct analysis *a, struct rule_finding **out, size_t *n, struct err *err)
{
    struct evidence ev = {.a = a};
    int rc = gather(&ev);
    if (rc < 0)
        return err_set(err, rc, "out of memory");
    find_losses(&ev);
    for (size_t i = 0; i < ev.n_classes && ev.n <= LOCK_FINDINGS; i++)
        find_still_blocked(&ev, ev.classes[i]);
    for (size_t i = 0; i < ev.n_classes && i < LOCK_FINDINGS; i++)
        find_contended(&ev, ev.classes[i]);
    *out = ev.out;
    *n = ev.n;
    return 0;
}
