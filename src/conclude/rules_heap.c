/* The heap as a whole: too small for what lives, or collected too often. */
#include "base/human.h"
#include "base/util.h"
#include "conclude/rules_parts.h"

#include <string.h>

enum {
    FULL_PERMILLE = 600,    /* of the heap, in use behind each collection of a stretch, */
    COLLECTIONS_LEAST = 4,  /* which has so many, */
    PAUSED_PERMILLE = 100,  /* so much of whose time the program stood still, */
    CYCLES_PERMILLE = 700,  /* or in so much of whose time the collector worked beside it, */
    PROBLEM_PERMILLE = 200, /* stood still: a problem, not a warning */
    STALLS_PERMILLE = 200,  /* of the collections whose cause is known */
};
/* What HotSpot calls the cause of a collection that threads wait for because no memory is left,
 * where the collector else works beside them (ZGC). */
static const char stall[] = "Allocation Stall";

static const uint64_t stretch_least = 500000000; /* ns */

struct stretch {
    uint64_t from, to;
    uint64_t n, pauses, paused, longest, cycles; /* cycles: ns that the collector worked beside */
    uint64_t least, most, committed;             /* in use behind a collection; of so much */
};

static void add(struct stretch *s, const struct collection *c)
{
    bool beside = c->kind == COLLECTION_CYCLE;
    s->n++;
    s->pauses += c->pauses;
    s->paused += c->pause_ns;
    s->longest = max_u64(s->longest, c->pause_max);
    s->cycles += beside ? c->end - c->start : 0;
    if (!c->gc.used || !c->gc.committed)
        return;
    s->least = s->most ? min_u64(s->least, c->gc.used) : c->gc.used;
    s->most = max_u64(s->most, c->gc.used);
    s->committed = max_u64(s->committed, c->gc.committed);
}

static bool left_it_full(const struct collection *c)
{
    return c->gc.used && rule_permille(c->gc.used, c->gc.committed) >= FULL_PERMILLE;
}

/* The last stretch behind each of whose collections most of the heap was still in use; sizes that
 * are not known end none. */
static struct stretch full_stretch(const struct evidence *ev)
{
    const struct collections *all = &ev->a->collections;
    size_t first = all->n;
    for (size_t i = all->n; i-- && (!all->v[i].gc.used || left_it_full(&all->v[i]));)
        if (left_it_full(&all->v[i]))
            first = i;
    struct stretch s = {.from = first < all->n ? all->v[first].start : 0, .to = ev->a->window.to};
    for (size_t i = first; i < all->n; i++)
        add(&s, &all->v[i]);
    return s;
}

static bool costs(const struct stretch *s)
{
    uint64_t length = s->to - s->from;
    return s->n >= COLLECTIONS_LEAST && length >= stretch_least &&
           (rule_permille(s->paused, length) >= PAUSED_PERMILLE ||
            rule_permille(s->cycles, length) >= CYCLES_PERMILLE);
}

/* All threads stand still in a pause; as a wait it counts for those that had something to do. */
static uint64_t harm(const struct evidence *ev, uint64_t paused)
{
    uint64_t busy = 0;
    for (size_t i = 0; i < ev->resources.n; i++)
        busy = max_u64(busy, ev->resources.v[i].n_threads);
    return paused * max_u64(busy, 1);
}

static enum severity severity_of(const struct stretch *s)
{
    unsigned paused = rule_permille(s->paused, s->to - s->from);
    return paused >= PROBLEM_PERMILLE ? SEVERITY_PROBLEM : SEVERITY_WARNING;
}

static struct rule_finding *find(struct evidence *ev, const struct stretch *s)
{
    struct rule_finding *f = rule_find(ev, severity_of(s), harm(ev, s->paused));
    if (f) {
        f->from = s->from;
        f->to = s->to;
    }
    return f;
}

static void say_time(struct rule_finding *f, const struct stretch *s)
{
    uint64_t length = s->to - s->from;
    if (rule_permille(s->paused, length) >= PAUSED_PERMILLE)
        rule_say(f, "collections paused the program for %u %% of %s (%s pauses, longest %s)",
                 rule_permille(s->paused, length) / 10, human_time(length).text,
                 human_count(s->pauses).text, human_time(s->longest).text);
    else
        rule_say(f, "the collector worked for %u %% of %s (%s collections)",
                 rule_permille(s->cycles, length) / 10, human_time(length).text,
                 human_count(s->n).text);
}

static void say_remedy(struct rule_finding *f)
{
    rule_line(f, CARD_TRY);
    rule_say(f, "give the program a larger heap, or look at what keeps the objects alive with "
                "orca heap dump PID");
}

/* How long threads stood in a stall is not recorded. */
static void find_stalls(struct evidence *ev)
{
    const struct collections *all = &ev->a->collections;
    uint64_t stalls = 0, known = 0;
    for (size_t i = 0; i < all->n; i++) {
        const char *cause = trace_gc_name(ev->a->trace, all->v[i].gc.cause)->text;
        known += *cause != '?';
        stalls += strcmp(cause, stall) == 0;
    }
    if (stalls < COLLECTIONS_LEAST || rule_permille(stalls, known) < STALLS_PERMILLE)
        return;
    struct rule_finding *f = rule_find(ev, SEVERITY_WARNING, 0);
    if (!f)
        return;
    rule_say(
        f,
        "The heap is nearly full: in %s of %s pauses and cycles, the collector had begun because "
        "threads had no memory left to allocate (%s); Orca does not know how long they waited",
        human_count(stalls).text, human_count(known).text, stall);
    say_remedy(f);
}

static void say_full(struct rule_finding *f, const struct stretch *s)
{
    say_time(f, s);
    rule_say(f, "; each left at least %s of %s in use", human_bytes(s->least).text,
             human_bytes(s->committed).text);
}

void rule_say_heap_full(struct evidence *ev, struct rule_finding *f)
{
    struct stretch s = full_stretch(ev);
    if (!costs(&s))
        return;
    rule_say(f, "; the heap is nearly full: ");
    say_full(f, &s);
    f->severity = severity_of(&s);
    f->impact = max_u64(f->impact, harm(ev, s.paused));
    ev->heap_told = true;
}

void rule_heap_full(struct evidence *ev)
{
    struct stretch s = full_stretch(ev);
    if (!costs(&s)) {
        find_stalls(ev);
        return;
    }
    struct rule_finding *f = ev->heap_told ? NULL : find(ev, &s);
    if (!f)
        return;
    rule_say(f, "The heap is nearly full: ");
    say_full(f, &s);
    say_remedy(f);
}

void rule_gc_pauses(struct evidence *ev)
{
    const struct collections *all = &ev->a->collections;
    struct stretch full = full_stretch(ev),
                   s = {.from = ev->a->window.from, .to = ev->a->window.to};
    for (size_t i = 0; i < all->n; i++)
        add(&s, &all->v[i]);
    struct rule_finding *f =
        costs(&s) && !costs(&full) && rule_permille(s.paused, s.to - s.from) >= PAUSED_PERMILLE
            ? find(ev, &s)
            : NULL;
    if (!f)
        return;
    say_time(f, &s);
    uint64_t rate = collections_rate(all);
    if (rate)
        rule_say(f, "; the program allocated %s per second", human_bytes(rate).text);
    if (!ev->a->alloc_tables)
        rule_say(f, "; record with --alloc 512k to see where");
}
