#include "analyze/io_calls.h"
#include "analyze/labels.h"
#include "base/human.h"
#include "base/util.h"
#include "conclude/rules_parts.h"

#include <stdlib.h>
#include <string.h>

enum {
    STILL_BLOCKED_NS = 100000000,
    STILL_PROBLEM_NS = 1000000000, /* so long, or for half of the recording: a problem */
    QUEUE_WAITS = 10,          /* this many others waited for it, and the longest of their waits, */
    QUEUE_TIMES = 4,           /* less than this multiple of their time */
    CONVOY_PERMILLE = 20,      /* of the recording in convoys; in the lock's own finding also */
    CONVOY_TIMES = 5,          /* number of them, */
    CONVOY_LEAST_NS = 2000000, /* and the longest at least this long */
    HELD_LEAST_NS = 1000000,   /* waits shorter than that are not looked at */
    HELD_PERMILLE = 20,        /* of the recording */
};

/* --- still-blocked ---------------------------------------------------------------------------- */

/* The context of the wait in which a thread is at the end; 0: unknown. */
static uint32_t context_of(const struct evidence *ev, const struct open_wait *w)
{
    const struct timeline *t = &ev->a->timeline;
    const struct line *l = w->thread < t->n_lines ? &t->lines[w->thread] : NULL;
    const struct span *s = l && l->spans.n ? line_span(l, l->spans.n - 1) : NULL;
    return s && timeline_context(t, s->context)->flags & INTERVAL_OPEN ? s->context : 0;
}

/* The resource that a wait in this state is for, if other threads hold it; NULL: none. */
static const struct resource *resource_in(const struct evidence *ev, uint32_t context,
                                          enum wait_state state)
{
    const uint32_t *all =
        state == STATE_REACQUIRING ? ev->resources.of_regain : ev->resources.of_context;
    const struct resource *r = context && all[context] ? &ev->resources.v[all[context] - 1] : NULL;
    return r && (r->kind == RESOURCE_LOCK || r->kind == RESOURCE_THINGS) ? r : NULL;
}

/* The resource that a thread waits for at the end. */
static const struct resource *resource_of(const struct evidence *ev, const struct open_wait *w)
{
    return resource_in(ev, context_of(ev, w), w->state);
}

/* The slot in which a rule keeps its facts of a resource, or of the locks of a class without a
 * resource.  Resources come first. */
static size_t slot_of(const struct evidence *ev, const struct resource *r, lock_id lock)
{
    return r ? (size_t)(r - ev->resources.v)
             : ev->resources.n + lock_set_group(&ev->a->locks, lock);
}

static size_t n_slots(const struct evidence *ev)
{
    return ev->resources.n + ev->a->locks.n_groups;
}

/* The i-th slot of either kind, most waiting time first. */
static size_t nth_slot(const struct evidence *ev, size_t i)
{
    return i < ev->resources.n ? i : ev->resources.n + ev->classes[i - ev->resources.n];
}

/* The purpose of a park at the end; without its wait in the timeline, by its class. */
static enum purpose purpose_at_end(const struct evidence *ev, const struct open_wait *w)
{
    const struct lock_set *locks = &ev->a->locks;
    uint32_t context = context_of(ev, w);
    return context ? ev->a->purposes.of_context[context]
                   : purpose_of_group(locks, lock_set_group(locks, w->lock));
}

/* The waits of threads after the program was stopped say nothing. */
static uint64_t end_of(const struct evidence *ev)
{
    return min_u64(stop_time(&ev->a->stop), ev->a->window.to);
}

/* Whether a worker of a JDK executor wants the lock of the queue from which it takes tasks. */
static bool is_between_tasks(const struct evidence *ev, const struct open_wait *w)
{
    return w->state == STATE_PARKED && trace_stack(ev->a->trace, w->stack)->n_frames &&
           !program_outermost(&ev->resources.program, w->stack).method.v;
}

/* Whether a thread that has the lock, a permit or a slot blocks this one; the use of permits among
 * a library's own threads is unknown. */
static bool is_at_lock(const struct evidence *ev, const struct open_wait *w)
{
    enum purpose p = purpose_at_end(ev, w);
    if ((p == PURPOSE_PERMIT && !program_is_in(&ev->resources.program, w->stack)) ||
        w->since >= end_of(ev) || is_between_tasks(ev, w) || io_in_select(ev->a->trace, w->stack))
        return false; /* or at a select's own lock, which is free as soon as somebody runs */
    return w->state == STATE_BLOCKED || w->state == STATE_REACQUIRING ||
           (w->state == STATE_PARKED &&
            (p == PURPOSE_LOCK || p == PURPOSE_PERMIT || resource_of(ev, w)));
}

static size_t slot_of_open(const struct evidence *ev, const struct open_wait *w)
{
    return slot_of(ev, resource_of(ev, w), w->lock);
}

int rule_find_blocked(struct evidence *ev)
{
    const struct open_wait *w = (const void *)ev->a->decoded.open.p;
    ev->blocked = arena_alloc(&ev->a->arena, (n_slots(ev) + 1) * sizeof *ev->blocked);
    if (!ev->blocked)
        return -ENOMEM;
    memset(ev->blocked, 0, (n_slots(ev) + 1) * sizeof *ev->blocked);
    for (size_t i = 0; i < ev->a->decoded.open.len / sizeof *w; i++) {
        if (deadlocks_have(&ev->a->deadlocks, w[i].lock) ||
            !is_at_lock(ev, &w[i])) /* a deadlock says it better */
            continue;
        struct blocked *b = &ev->blocked[slot_of_open(ev, &w[i])];
        b->n++;
        if (!b->longest || w[i].since < b->longest->since)
            b->longest = &w[i];
    }
    return 0;
}

/* If others waited before, and longer, the queue at the end is usual for this resource, and the
 * resource's own finding covers it. */
static bool is_usual(const struct evidence *ev, const struct resource *r, uint64_t ns, uint64_t n)
{
    return r && rule_resource_is_told(ev, r) && r->count >= QUEUE_WAITS + n &&
           (ns < QUEUE_TIMES * (r->ns / r->count) || ns < r->max);
}

/* Any moment finds some thread blocked. */
static const struct blocked *unusual(const struct evidence *ev, size_t slot)
{
    const struct resource *r = slot < ev->resources.n ? &ev->resources.v[slot] : NULL;
    const struct blocked *b = &ev->blocked[slot];
    uint64_t end = b->n ? end_of(ev) : 0;
    return end && end >= b->longest->since + STILL_BLOCKED_NS &&
                   !is_usual(ev, r, end - b->longest->since, b->n)
               ? b
               : NULL;
}

const struct blocked *rule_still_blocked_for(const struct evidence *ev, const struct resource *r)
{
    return unusual(ev, slot_of(ev, r, r->lock));
}

enum severity rule_severity_blocked(const struct evidence *ev, const struct blocked *b)
{
    uint64_t ns = end_of(ev) - b->longest->since;
    return ns >= STILL_PROBLEM_NS || 2 * ns >= ev->length ? SEVERITY_PROBLEM : SEVERITY_WARNING;
}

static void add_blocked_ids(struct rule_finding *f, const struct evidence *ev, size_t slot)
{
    const struct open_wait *w = (const void *)ev->a->decoded.open.p;
    for (size_t i = 0; i < ev->a->decoded.open.len / sizeof *w; i++) {
        if (!is_at_lock(ev, &w[i]) || slot_of_open(ev, &w[i]) != slot)
            continue;
        rule_add_thread(f, ev, w[i].thread);
        rule_add_lock(f, w[i].lock);
        rule_add_stack(f, w[i].stack);
    }
}

static void say_slot(struct rule_finding *f, struct evidence *ev, size_t slot)
{
    char name[2 * LABEL_MAX];
    if (slot >= ev->resources.n) {
        rule_say_class(f, ev, (uint32_t)(slot - ev->resources.n));
        return;
    }
    finding_resource(&ev->resources, &ev->resources.v[slot], ev->a, name, sizeof name);
    rule_say(f, "%s", name);
}

static void tell_blocked(struct evidence *ev, size_t slot, const struct blocked *b)
{
    const struct open_wait *w = b->longest;
    struct rule_finding *f = rule_find(ev, rule_severity_blocked(ev, b), end_of(ev) - w->since);
    if (!f)
        return;
    add_blocked_ids(f, ev, slot);
    f->from = w->since;
    say_slot(f, ev, slot);
    rule_say(f, ": %s thread%s still blocked %s", human_count(b->n).text,
             b->n == 1 ? " was" : "s were", label_end(ev->a->trace));
    rule_line(f, b->n == 1 ? CARD_PLAIN : CARD_LONGEST);
    rule_say_thread(f, ev, w->thread);
    rule_say(f, " for %s", human_time(ev->a->window.to - w->since).text);
    if (!w->other)
        return;
    rule_say(f, ", owner when that wait began: ");
    rule_say_thread(f, ev, w->other);
}

/* One cause, one card: if the resource has a finding of its own, the fact goes there. */
void rule_still_blocked(struct evidence *ev)
{
    for (size_t i = 0; i < n_slots(ev); i++) {
        size_t slot = nth_slot(ev, i);
        const struct resource *r = slot < ev->resources.n ? &ev->resources.v[slot] : NULL;
        const struct blocked *b = unusual(ev, slot);
        if (b && (!r || r->behind_of || !rule_resource_is_told(ev, r)))
            tell_blocked(ev, slot, b);
    }
}

/* --- convoy ----------------------------------------------------------------------------------- */

static int by_convoys(const void *a, const void *b)
{
    const struct queue *const *x = a, *const *y = b;
    return ((*x)->convoy_ns < (*y)->convoy_ns) - ((*x)->convoy_ns > (*y)->convoy_ns);
}

/* One cause, one card: the line goes into the finding about the lock, if there is one. */
static void tell_convoy(struct evidence *ev, const struct queue *q)
{
    struct rule_finding *of = rule_of_lock(ev, q->lock), *f = of;
    const struct convoy *c = &q->convoy;
    bool much = rule_permille(q->convoy_ns, ev->length) >= CONVOY_PERMILLE;
    if (of ? of->severity == SEVERITY_PROBLEM || (!much && q->convoys < CONVOY_TIMES) : !much)
        return;
    if (!of)
        f = rule_find(ev, SEVERITY_WARNING, q->convoy_ns);
    if (!f)
        return;
    rule_add_thread(f, ev, c->owner);
    if (of) {
        rule_say(f, "; ");
    } else {
        f->from = c->from;
        f->to = c->to;
        rule_add_lock(f, q->lock);
        rule_say_lock(f, ev, q->lock, (stack_id){0});
        rule_say(f, ": ");
    }
    rule_say(f, "%s lock convoy%s (%s)", human_count(q->convoys).text, q->convoys == 1 ? "" : "s",
             human_time(q->convoy_ns).text);
    rule_line(f, CARD_LONGEST);
    rule_say_thread(f, ev, c->owner);
    rule_say(f,
             " held the lock for %s, %u threads queued, and the queue took another %s (%u "
             "hand-offs) to drain",
             human_time(c->hold).text, c->longest, human_time(c->to - c->from - c->hold).text,
             c->handovers);
}

void rule_convoy(struct evidence *ev)
{
    const struct queues *all = &ev->a->queues;
    const struct queue **v = arena_alloc(&ev->a->arena, all->n * sizeof *v);
    size_t n = 0;
    for (size_t i = 0; i < all->n && v; i++) {
        const struct queue *q = &all->v[i];
        if (q->convoys && q->convoy.to - q->convoy.from >= CONVOY_LEAST_NS)
            v[n++] = q;
    }
    if (n)
        qsort(v, n, sizeof *v, by_convoys);
    for (size_t i = 0; i < n; i++)
        tell_convoy(ev, v[i]);
}

/* One cause, one card: the resource's own finding says what its holder waited for, and where. */
static bool is_told(struct evidence *ev, lock_id lock, stack_id stack)
{
    static const enum holder_does all[] = {DOES_INPUT, DOES_OUTPUT, DOES_SLEEP,
                                           DOES_JOIN,  DOES_ANSWER, DOES_WAIT};
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if (rule_resource_says(ev, all[i], stack))
            return true;
    const struct rule_finding *f = rule_of_lock(ev, lock);
    const struct resource *r = f ? f->resource : NULL;
    method_id at = program_place(&ev->resources.program, stack).method;
    for (size_t i = 0; r && at.v && i < r->n_doing; i++)
        if (r->doing[i].at.method.v == at.v &&
            rule_permille(r->doing[i].ns, r->held) >= DOING_PERMILLE)
            return true;
    return false;
}

/* --- held-while-waiting ----------------------------------------------------------------------- */

/* How long the owner slept, waited or parked while a thread waited for its lock.  Only certain
 * times count: the owner did so when the thread saw it as the owner, and the times are known. */
struct held {
    uint64_t ns, count;
    uint64_t from, to; /* the longest */
    uint32_t owner, waiter;
    uint8_t state;
    stack_id stack; /* where the owner waited */
    lock_id lock;
};

static bool waits_for_something_else(const struct context *x, lock_id held)
{
    switch (x->what) {
    case STATE_SLEEPING:
    case STATE_JOINING:
        return true;
    case STATE_WAITING:
    case STATE_PARKED:
        return x->lock.v != held.v;
    default:
        return false;
    }
}

static void add_held(const struct evidence *ev, struct held *to, uint32_t thread,
                     const struct wait_part *w, lock_id lock)
{
    const struct timeline *t = &ev->a->timeline;
    const struct line *l = &t->lines[w->owner];
    for (uint32_t i = line_spans_until(l, w->to); i; i--) {
        const struct span *o = line_span(l, i - 1);
        const struct context *y = timeline_context(t, o->context);
        uint64_t from = max_u64(o->start, w->from), until = min_u64(span_end(t, o), w->to);
        if (span_end(t, o) <= w->from)
            return;
        if (from >= until || o->start > w->from || !waits_for_something_else(y, lock) ||
            span_is_summed(t, o))
            continue;
        to->ns += until - from;
        to->count++;
        if (until - from <= to->to - to->from)
            continue;
        to->from = from;
        to->to = until;
        to->owner = w->owner;
        to->waiter = thread;
        to->state = y->what;
        to->stack = y->stack;
        to->lock = lock;
    }
}

static void look_at_span(const struct evidence *ev, struct held *by_slot, uint32_t thread,
                         const struct span *s)
{
    const struct timeline *t = &ev->a->timeline;
    lock_id lock = timeline_context(t, s->context)->lock;
    struct wait_part v[2];
    for (unsigned i = 0, n = span_parts(t, s, v); i < n; i++)
        if (v[i].to - v[i].from >= HELD_LEAST_NS && v[i].owner && v[i].owner < t->n_lines &&
            (v[i].state == STATE_BLOCKED || v[i].state == STATE_REACQUIRING ||
             v[i].state == STATE_PARKED))
            add_held(ev, &by_slot[slot_of(ev, resource_in(ev, s->context, v[i].state), lock)],
                     thread, &v[i], lock);
}

static void look_at_line(const struct evidence *ev, struct held *by_slot, uint32_t thread)
{
    const struct line *l = &ev->a->timeline.lines[thread];
    for (uint32_t i = 0, n; i < l->spans.n; i += n) {
        const struct span *s = run_stretch(&l->spans, sizeof *s, i, &n);
        for (uint32_t k = 0; k < n; k++)
            if (s[k].len >= HELD_LEAST_NS && !span_is_summed(&ev->a->timeline, &s[k]) &&
                !wait_is_of_the_end(ev->a, &s[k]))
                look_at_span(ev, by_slot, thread, &s[k]);
    }
}

static void tell_held(struct evidence *ev, size_t slot, const struct held *h)
{
    static const char *const words[STATE_LIMIT] = {[STATE_WAITING] = "was in Object.wait",
                                                   [STATE_PARKED] = "was parked",
                                                   [STATE_JOINING] = "was in Thread.join",
                                                   [STATE_SLEEPING] = "slept"};
    struct rule_finding *f = rule_find(ev, SEVERITY_WARNING, h->ns);
    if (!f)
        return;
    f->from = h->from;
    f->to = h->to;
    rule_add_thread(f, ev, h->owner);
    rule_add_thread(f, ev, h->waiter);
    rule_add_lock(f, h->lock);
    rule_add_stack(f, h->stack);
    say_slot(f, ev, slot);
    rule_say(f, " was held while its owner waited for something else: threads lost %s in %s wait%s",
             human_time(h->ns).text, human_count(h->count).text, h->count == 1 ? "" : "s");
    rule_line(f, CARD_LONGEST);
    rule_say(f, "for %s ", human_time(h->to - h->from).text);
    rule_say_thread(f, ev, h->owner);
    rule_say(f, " %s", words[h->state]);
    rule_say_place(f, ev, " in ", h->stack);
    rule_say(f, " while ");
    rule_say_thread(f, ev, h->waiter);
    rule_say(f, " waited for the lock");
}

void rule_held_while_waiting(struct evidence *ev)
{
    const struct analysis *a = ev->a;
    struct held *v = calloc(n_slots(ev), sizeof *v);
    for (uint32_t i = 1; v && i < a->timeline.n_lines; i++)
        look_at_line(ev, v, i);
    for (size_t i = 0; v && i < n_slots(ev); i++) {
        size_t slot = nth_slot(ev, i);
        const struct held *h = &v[slot];
        if (h->count && rule_permille(h->ns, ev->length) >= HELD_PERMILLE &&
            !deadlocks_have(&a->deadlocks, h->lock) && !is_told(ev, h->lock, h->stack))
            tell_held(ev, slot, h);
    }
    free(v);
}

/* --- held-during-io --------------------------------------------------------------------------- */

static void add_objects(struct rule_finding *f, const struct analysis *a, uint32_t group)
{
    uint64_t bound = UINT64_MAX;
    uint32_t last = 0;
    for (int k = 0; k < FINDING_IDS; k++) { /* the next largest, a few times */
        uint32_t best = 0;
        for (uint32_t i = 1; i < a->locks.n_objects; i++) {
            const struct state_stats *o = &a->stats.locks[i].state[HELD_UP];
            bool before = o->ns < bound || (o->ns == bound && i > last);
            if (a->locks.group[i] == group && o->count && before &&
                (!best || o->ns > a->stats.locks[best].state[HELD_UP].ns))
                best = i;
        }
        if (!best)
            return;
        rule_add_lock(f, (lock_id){best});
        bound = a->stats.locks[best].state[HELD_UP].ns;
        last = best;
    }
}

static void tell_io(struct evidence *ev, uint32_t group, uint64_t ns, uint64_t count, uint32_t most)
{
    const struct analysis *a = ev->a;
    struct rule_finding *f = rule_find(ev, SEVERITY_WARNING, ns);
    if (!f)
        return;
    f->from = a->stats.owner_sites[most].first;
    f->to = a->stats.owner_sites[most].last;
    add_objects(f, a, group);
    rule_add_stack(f, a->sites.v[most].stack);
    rule_say_class(f, ev, group);
    rule_say(f, " was held during input or output: the owner was there when %s wait%s began (%s)",
             human_count(count).text, count == 1 ? "" : "s", human_time(ns).text);
    rule_say(f, "; in %s of them", human_count(a->stats.owner_sites[most].count).text);
    rule_say_place(f, ev, " in ", a->sites.v[most].stack);
}

/* By the sampled stacks of owners (ownerstacks=), so only for a part of the waits. */
void rule_held_during_io(struct evidence *ev)
{
    const struct analysis *a = ev->a;
    for (size_t i = 0; i < ev->n_classes; i++) {
        uint64_t ns = 0, count = 0, most_weight = 0;
        uint32_t most = NO_SITE;
        for (uint32_t k = 0; k < a->sites.n; k++) {
            const struct wait_stats *w = &a->stats.owner_sites[k];
            if (a->sites.v[k].group != ev->classes[i] || !w->count ||
                !io_is_native(a->trace, a->sites.v[k].top.method))
                continue;
            ns += w->ns;
            count += w->count;
            uint64_t weight = stats_owner_weight(&a->stats, &a->sites, k);
            if (most == NO_SITE || weight > most_weight) {
                most = k;
                most_weight = weight;
            }
        }
        if (count && rule_permille(ns, ev->length) >= HELD_PERMILLE &&
            !is_told(ev, (lock_id){0}, a->sites.v[most].stack))
            tell_io(ev, ev->classes[i], ns, count, most);
    }
}

/* --- inversion -------------------------------------------------------------------------------- */

/* Each side wants the lock that the next one holds, so the side before names the lock that this one
 * holds. */
static void say_side(struct rule_finding *f, const struct evidence *ev,
                     const struct lock_order_finding *o, uint32_t i)
{
    struct lock_wait wanted[LOCK_ORDER_LONGEST];
    const struct lock_order_side *s = &o->sides[i];
    for (uint32_t k = 0; k < o->n_sides; k++)
        wanted[k] = resource_order_wait(ev->a->trace, o->sides[k].wanted, o->sides[k].wanted_at);
    rule_say_thread(f, ev, s->thread);
    rule_say(f, " takes ");
    rule_say_lock_among(f, ev, wanted, o->n_sides, i);
    rule_say(f, " while holding ");
    rule_say_lock_among(f, ev, wanted, o->n_sides, (i + o->n_sides - 1) % o->n_sides);
    rule_say_place(f, ev, " in ", s->wanted_at.stack);
    rule_add_thread(f, ev, s->thread);
    rule_add_lock(f, s->held);
    rule_add_stack(f, s->wanted_at.stack);
    rule_add_stack(f, s->held_at.stack);
}

static void tell_inversion(struct evidence *ev, const struct lock_order_finding *o)
{
    bool firm = o->reach == LOCK_ORDER_REORDERABLE || !o->partial;
    struct rule_finding *f = rule_find(ev, firm ? SEVERITY_WARNING : SEVERITY_INFO, 0);
    if (!f)
        return;
    f->from = UINT64_MAX;
    f->to = 0;
    rule_say(f, "Lock order inversion: %s",
             o->reach == LOCK_ORDER_REORDERABLE ? "nothing in the recording prevents a deadlock"
                                                : "the threads may deadlock");
    for (uint32_t i = 0; i < o->n_sides; i++) {
        rule_line(f, CARD_PLAIN);
        say_side(f, ev, o, i);
        f->from = min_u64(f->from, o->sides[i].from);
        f->to = max_u64(f->to, o->sides[i].to);
    }
    if (o->distance)
        rule_say(f, "; this time the threads missed each other by %s",
                 human_time(o->distance).text);
    if (o->cycles > 1)
        rule_say(f, "; %s sets of locks like this", human_count(o->cycles).text);
    if (!firm)
        rule_say(f, "; the trace may lack a lock or join that prevents it (record with -e holds)");
}

void rule_inversion(struct evidence *ev)
{
    const struct lock_order *all = &ev->a->orders;
    for (size_t i = 0; i < all->n; i++)
        tell_inversion(ev, &all->v[i]);
}
