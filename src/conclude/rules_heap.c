/* The heap as a whole: too small for what lives, or collected too often. */
#include "base/human.h"
#include "base/util.h"
#include "conclude/rules_parts.h"

#include <string.h>

enum {
    FULL_PERMILLE = 600,    /* of the heap, in use after each collection of a stretch, */
    COLLECTIONS_LEAST = 4,  /* collections in a stretch, at least, */
    PAUSED_PERMILLE = 100,  /* the share of time in which the program was paused, */
    CYCLES_PERMILLE = 700,  /* or the share in which the collector worked beside the program, */
    PROBLEM_PERMILLE = 200, /* paused: a problem, not a warning */
    STALLS_PERMILLE = 200,  /* of the collections with a known cause */
    WARM_UP = 4,            /* the first quarter of a rise is left out, */
    THIRDS = 3,             /* and each third of the rest must lie above all before it */
    GROWTH_LEAST = 12,      /* collections needed to say that the heap fills, */
    GROWTH_PERMILLE = 100,  /* by this part of the heap; */
    HALF_FULL_PERMILLE = 500,
    SOON = 2, /* full within this multiple of the time that it grew: a problem, */
    LATE = 20 /* or a note */
};
/* HotSpot's name for the cause of a ZGC collection that threads wait for because no memory is
 * left. */
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

/* The last stretch in which each collection left most of the heap in use.  Unknown sizes do not end
 * a stretch. */
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

/* A pause stops all threads, but it counts as a wait only for threads that had something to do. */
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

/* The trace does not show how long threads waited in a stall. */
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
        "The heap is nearly full: in %s of %s pauses and cycles, the collector started because "
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
    rule_say_lengthened(ev, f, false);
    say_remedy(f);
}

/* --- growth ----------------------------------------------------------------------------------- */

bool rule_climbs(const uint64_t *v, size_t n, struct climb *c)
{
    size_t length = (n - n / WARM_UP) / THIRDS;
    uint64_t most = 0;
    double mean[THIRDS] = {0};
    for (size_t third = 0; third < THIRDS; third++) {
        uint64_t least = UINT64_MAX, now = 0;
        size_t at = n - (THIRDS - third) * length;
        for (size_t i = at; i < at + length; i++) {
            least = min_u64(least, v[i]);
            now = max_u64(now, v[i]);
            mean[third] += (double)v[i] / (double)length;
        }
        if (third && least <= most)
            return false;
        most = now;
    }
    *c = (struct climb){n - THIRDS * length, n - 1, mean[0], mean[THIRDS - 1] - mean[0]};
    return true;
}

double rule_slope(const uint64_t *v, const uint64_t *scale, const struct climb *c)
{
    double n = (double)(c->last - c->first + 1), x = 0, y = 0, xx = 0, xy = 0;
    for (size_t i = c->first; i <= c->last; i++) {
        double at = (double)(scale[i] - scale[c->first]);
        x += at;
        y += (double)v[i];
        xx += at * at;
        xy += at * (double)v[i];
    }
    double d = n * xx - x * x;
    return d > 0 ? (n * xy - x * y) / d : 0;
}

/* The heap in use after collections, by time.  A part of a cycle frees nothing. */
struct in_use {
    uint64_t *used, *end;
    size_t n;
    uint64_t committed;
};

static struct in_use in_use_of(const struct evidence *ev)
{
    const struct collections *all = &ev->a->collections;
    struct in_use u = {.used = arena_alloc(&ev->a->arena, (all->n + 1) * sizeof *u.used),
                       .end = arena_alloc(&ev->a->arena, (all->n + 1) * sizeof *u.end)};
    for (size_t i = 0; i < all->n && u.used && u.end; i++) {
        const struct collection *c = &all->v[i];
        if (c->kind == COLLECTION_PART || !c->gc.used || !c->gc.committed)
            continue;
        u.used[u.n] = c->gc.used;
        u.end[u.n++] = c->end;
        u.committed = max_u64(u.committed, c->gc.committed);
    }
    return u;
}

/* full: ns until it would be. */
static enum severity severity_of_growth(const struct in_use *u, uint64_t length, double full)
{
    if (rule_permille(u->used[u->n - 1], u->committed) < HALF_FULL_PERMILLE)
        return SEVERITY_INFO;
    return full < SOON * (double)length   ? SEVERITY_PROBLEM
           : full < LATE * (double)length ? SEVERITY_WARNING
                                          : SEVERITY_INFO;
}

void rule_heap_grows(struct evidence *ev)
{
    struct in_use u = in_use_of(ev);
    struct climb c;
    if (u.n < GROWTH_LEAST || !rule_climbs(u.used, u.n, &c) ||
        c.grown * 1000 < (double)u.committed * GROWTH_PERMILLE)
        return;
    uint64_t length = u.end[c.last] - u.end[c.first];
    double rate = rule_slope(u.used, u.end, &c);
    double full = rate > 0 ? (double)(u.committed - u.used[c.last]) / rate : 1e18;
    struct rule_finding *f =
        rule_find(ev, severity_of_growth(&u, length, full), harm(ev, ev->a->gc_ns));
    if (!f)
        return;
    f->from = u.end[c.first];
    f->to = u.end[c.last];
    rule_say(f, "The heap in use after collections grows: from %s to %s of %s",
             human_bytes(u.used[c.first]).text, human_bytes(u.used[c.last]).text,
             human_bytes(u.committed).text);
    rule_say(f, "; in %s, over %s collections: %s per second", human_time(length).text,
             human_count(c.last - c.first + 1).text, human_bytes((uint64_t)(rate * 1e9)).text);
    if (full < LATE * (double)length)
        rule_say(f, "; at this rate the heap is full in %s", human_time((uint64_t)full).text);
    if (!whole_gc_within(&ev->a->allocs.wholes, f->from, f->to))
        rule_say(f, "; no full collection ran: part of this may be garbage");
    rule_say_lengthened(ev, f, true);
    rule_line(f, CARD_TRY);
    rule_say(f, "look at what keeps the objects alive with orca heap dump PID");
    if (!ev->a->alloc_tables) {
        rule_line(f, CARD_RERUN);
        rule_say(f, "with --alloc 512k to see which objects these are, and where they come from");
    }
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
    rule_say_lengthened(ev, f, false);
    if (!ev->a->alloc_tables)
        rule_say(f, "; record with --alloc 512k to see where");
}
