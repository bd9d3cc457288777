#include "analyze/labels.h"
#include "base/human.h"
#include "base/util.h"
#include "conclude/rules_parts.h"

enum {
    LEAK_PAUSES = 8,          /* of the collector at least; */
    LEAK_BYTES = 64 * 1024,   /* the survivors grew by this many bytes at least, */
    LEAK_PERMILLE = 100,      /* and by this part of what they were, */
    LEAK_SAMPLES = 16,        /* where survivors are estimates, the least number of samples, */
    LEAK_ERRORS = 4,          /* and standard errors */
    FILLS_PERMILLE = 333,     /* of the heap in use: then the leak is why the heap is full */
    HOT_PERMILLE = 100,       /* of the allocated bytes, by one place, */
    HOT_SAMPLES = 20,         /* samples needed at least, */
    HOT_FINDINGS = 3,         /* at most */
    HOT_PAUSED_PERMILLE = 20, /* of the time in the collector's pauses: then it is a warning */
};
static const uint64_t hot_rate = (uint64_t)10 << 20; /* bytes a second */

/* --- leak-suspect ----------------------------------------------------------------------------- */

struct growth {
    struct climb climb;
    double a_pause, a_second;
};

/* Whether growth that is an estimate is more than chance. */
static bool is_significant(const struct alloc_tables *x, const struct alloc_row *r, double grown)
{
    const struct alloc_amount *kept = &r->of[ALLOC_KEPT];
    if (x->ends == ALLOC_EXACT)
        return true;
    if (kept->records < LEAK_SAMPLES)
        return false;
    double samples = grown * (double)kept->records / (double)kept->bytes;
    return samples * samples > (double)LEAK_ERRORS * LEAK_ERRORS * 2 * (double)kept->records;
}

static bool leaks(const struct alloc_tables *x, const struct alloc_row *r, struct growth *g)
{
    const struct alloc_points *p = &x->points;
    if (!r->survivors || !r->of[ALLOC_KEPT].bytes || !rule_climbs(r->survivors, p->n, &g->climb))
        return false;
    g->a_pause = rule_slope(r->survivors, p->pause, &g->climb);
    g->a_second = rule_slope(r->survivors, p->end, &g->climb) * 1e9;
    double grown = g->climb.grown;
    return grown >= LEAK_BYTES && grown * 1000 >= g->climb.mean * LEAK_PERMILLE && g->a_pause > 0 &&
           is_significant(x, r, grown);
}

static void say_class(struct rule_finding *f, const struct evidence *ev, const struct alloc_row *r)
{
    char name[LABEL_MAX];
    label_class(trace_class(ev->a->trace, r->class_)->signature, name, sizeof name);
    rule_say(f, "%s", name);
}

static void say_error(struct rule_finding *f, const struct alloc_amount *x)
{
    rule_say(f, "; estimated from %s samples, +- %u %%", human_count(x->records).text,
             (alloc_error(x) + 5) / 10);
}

static uint64_t share_of_pauses(const struct evidence *ev, uint64_t part, uint64_t whole)
{
    return whole ? (uint64_t)((unsigned __int128)ev->a->gc_ns * part / whole) : 0;
}

/* The heap in use after the last collection for which it is known. */
static uint64_t in_use(const struct collections *all)
{
    for (size_t i = all->n; i--;)
        if (all->v[i].gc.used)
            return all->v[i].gc.used;
    return 0;
}

/* Says how much of the heap the leak is, and whether it fills the heap. */
static void say_part(struct rule_finding *f, struct evidence *ev, uint64_t survivors)
{
    uint64_t used = in_use(&ev->a->collections);
    if (survivors <= used)
        rule_say(f, "; %s of the %s in use after the last collection (%u %%)",
                 human_bytes(survivors).text, human_bytes(used).text,
                 rule_permille(survivors, used) / 10);
    if (rule_permille(survivors, used) >= FILLS_PERMILLE)
        rule_say_heap_full(ev, f);
}

/* at: whether the row is of one place. */
static void say_leak(struct evidence *ev, const struct alloc_row *r, const struct growth *g,
                     bool at)
{
    const struct alloc_tables *x = ev->a->alloc_tables;
    const struct alloc_amount *kept = &r->of[ALLOC_KEPT], *all = &r->of[ALLOC_ALLOCATED];
    bool whole = whole_gc_within(&ev->a->allocs.wholes, x->points.end[g->climb.first],
                                 x->points.until[g->climb.last]);
    struct rule_finding *f =
        rule_find(ev, whole ? SEVERITY_WARNING : SEVERITY_INFO,
                  share_of_pauses(ev, kept->bytes, x->all.of[ALLOC_KEPT].bytes));
    if (!f)
        return;
    f->from = x->points.end[g->climb.first];
    if (at)
        rule_add_stack(f, r->stack);
    say_class(f, ev, r);
    if (at)
        rule_say_place(f, ev, " in ", r->stack);
    uint64_t pauses = x->points.pause[g->climb.last] - x->points.pause[g->climb.first];
    uint64_t ns = x->points.end[g->climb.last] - x->points.end[g->climb.first];
    rule_say(f, ": survivors of collections grew from %s to %s over %s collections (%s)",
             human_bytes(r->survivors[g->climb.first]).text,
             human_bytes(r->survivors[g->climb.last]).text, human_count(pauses).text,
             human_time(ns).text);
    rule_say(f, "; %s per collection, %s per second", human_bytes((uint64_t)g->a_pause).text,
             human_bytes((uint64_t)g->a_second).text);
    say_part(f, ev, r->survivors[g->climb.last]);
    if (x->source == x->ends)
        rule_say(f, "; %u %% of all allocated bytes have not been freed",
                 rule_permille(kept->bytes, all->bytes) / 10);
    rule_say(f, "; median age %s collections, the oldest %s", human_count(r->ages.p50).text,
             human_count(r->ages.max).text);
    if (x->ends == ALLOC_SAMPLED)
        say_error(f, kept);
    if (!whole)
        rule_say(f, "; no full collection ran: part of this may be garbage");
    rule_say_lengthened(ev, f, true);
}

static void find_leaks(struct evidence *ev, const struct alloc_tables *x)
{
    struct growth g;
    const struct alloc_list *places = &x->of[ALLOC_BY_PLACE], *classes = &x->of[ALLOC_BY_CLASS];
    bool *told = arena_alloc(&ev->a->arena, ev->a->trace->n_classes + 1);
    for (size_t i = 0; i < places->n && told; i++)
        if (places->v[i].stack.v && leaks(x, &places->v[i], &g)) {
            say_leak(ev, &places->v[i], &g, true);
            told[places->v[i].class_.v] = true;
        }
    for (size_t i = 0; i < classes->n && told; i++)
        if (!told[classes->v[i].class_.v] && leaks(x, &classes->v[i], &g))
            say_leak(ev, &classes->v[i], &g, false);
}

void rule_leak_suspect(struct evidence *ev)
{
    const struct alloc_tables *x = alloc_tables_whole(ev->a);
    if (x && x->points.n >= LEAK_PAUSES)
        find_leaks(ev, x);
    if (!ev->n_of_rule)
        rule_heap_grows(ev);
}

/* --- allocation-hot-spot ---------------------------------------------------------------------- */

static uint64_t a_second(const struct evidence *ev, uint64_t bytes)
{
    return ev->length ? (uint64_t)((unsigned __int128)bytes * 1000000000u / ev->length) : 0;
}

static bool is_hot(const struct evidence *ev, const struct alloc_row *r)
{
    const struct alloc_amount *x = &r->of[ALLOC_ALLOCATED];
    return r->stack.v && a_second(ev, x->bytes) >= hot_rate &&
           rule_permille(x->bytes, ev->a->alloc_tables->all.of[ALLOC_ALLOCATED].bytes) >=
               HOT_PERMILLE &&
           (ev->a->alloc_tables->source == ALLOC_EXACT || x->records >= HOT_SAMPLES);
}

static void say_hot(struct evidence *ev, const struct alloc_row *r)
{
    const struct alloc_amount *x = &r->of[ALLOC_ALLOCATED];
    const struct alloc_amount *all = &ev->a->alloc_tables->all.of[ALLOC_ALLOCATED];
    uint64_t paused = ev->a->gc_ns;
    bool costs = rule_permille(paused, ev->length) >= HOT_PAUSED_PERMILLE;
    struct rule_finding *f = rule_find(ev, costs ? SEVERITY_WARNING : SEVERITY_INFO,
                                       share_of_pauses(ev, x->bytes, all->bytes));
    if (!f)
        return;
    rule_add_stack(f, r->stack);
    say_class(f, ev, r);
    rule_say_place(f, ev, " in ", r->stack);
    rule_say(f, ": %u %% of all allocated bytes: %s in %s objects, %s per second",
             rule_permille(x->bytes, all->bytes) / 10, human_bytes(x->bytes).text,
             human_count(alloc_objects(x)).text, human_bytes(a_second(ev, x->bytes)).text);
    if (r->lives.thousandths)
        rule_say(f, "; freed objects lived %s (median)", human_time(r->lives.p50).text);
    if (costs)
        rule_say(f, "; the collector paused the program for %s (%u %% of the time)",
                 human_time(paused).text, rule_permille(paused, ev->length) / 10);
    if (ev->a->alloc_tables->source == ALLOC_SAMPLED)
        say_error(f, x);
}

void rule_allocation_hot_spot(struct evidence *ev)
{
    const struct alloc_tables *x = alloc_tables_whole(ev->a);
    size_t n = 0;
    for (size_t i = 0; x && i < x->of[ALLOC_BY_PLACE].n && n < HOT_FINDINGS; i++)
        if (is_hot(ev, &x->of[ALLOC_BY_PLACE].v[i])) {
            say_hot(ev, &x->of[ALLOC_BY_PLACE].v[i]);
            n++;
        }
}
