/* Who owned a lock while others wanted it, and what the owner did meanwhile, for the findings.
 *
 * Both are inferred from waits that each name one owner or one place: weighed as weigh.h says, with
 * the number of waits that it rests on.  Where another one was found more often, that one is named,
 * too. */
#include "analyze/labels.h"
#include "base/human.h"
#include "conclude/rules_parts.h"

#include <string.h>

enum {
    MANY_PERCENT = 20,     /* an owner with less is one of many */
    MOSTLY_PERMILLE = 500, /* more than that */
    OWNER_SAMPLES = 20,    /* processor samples of owners: at least so many */
};

static const char *how_much(unsigned permille, bool most_often)
{
    return permille > MOSTLY_PERMILLE ? "mostly" : most_often ? "most often" : "longest";
}

/* Which of them was found most often. */
struct often {
    uint64_t count;
    uint32_t key;
    bool tie; /* another one as often */
};

static void look_at(struct often *o, uint64_t count, uint32_t key)
{
    o->tie = count == o->count || (count < o->count && o->tie);
    if (count > o->count)
        *o = (struct often){count, key, false};
}

/* --- who owned it ----------------------------------------------------------------------------- */

/* The owners of a class's locks. */
struct owners {
    const struct blame *top; /* that weighs most */
    struct often often;
    uint64_t n, known, waits; /* known: of the waits */
};

static void list_owners(struct owners *o, const struct evidence *ev, uint32_t group)
{
    *o = (struct owners){0};
    for (size_t i = 0; i < ev->n_owners; i++) {
        const struct blame *b = &ev->owners[i];
        if (b->group != group || !b->held_up.count)
            continue;
        o->waits += b->held_up.count;
        if (!b->owner)
            continue;
        o->n++;
        o->known += b->held_up.count;
        if (!o->top || b->permille > o->top->permille)
            o->top = b;
        look_at(&o->often, b->held_up.count, b->owner);
    }
}

/* Of those waits in which that is known: of what has no owner nothing is said. */
static void say_owner(struct rule_finding *f, const struct evidence *ev, uint32_t group)
{
    struct owners o;
    list_owners(&o, ev, group);
    if (!o.top)
        return;
    unsigned share = o.top->permille / 10;
    bool same = o.often.key == o.top->owner;
    if (share < MANY_PERCENT) {
        rule_say(f, "; %s different owners in %s waits, none for more than %u %%",
                 human_count(o.n).text, human_count(o.known).text, share + 1);
    } else {
        rule_say(f, "; owner %s ", how_much(o.top->permille, same && !o.often.tie));
        rule_say_thread(f, ev, o.top->owner);
        rule_say(f, " (%u %%, %s of %s waits)", share, human_count(o.top->held_up.count).text,
                 human_count(o.known).text);
        if (o.often.count > o.top->held_up.count) {
            rule_say(f, ", most often ");
            rule_say_thread(f, ev, o.often.key);
            rule_say(f, " (%s)", human_count(o.often.count).text);
        }
    }
    if (o.known < o.waits)
        rule_say(f, ", known in %s of %s waits", human_count(o.known).text,
                 human_count(o.waits).text);
}

/* --- what it executed ------------------------------------------------------------------------- */

/* The innermost frame of a stack that is of the lock's own class, where it calls something else:
 * what the owner does with the lock in its hands.  Object.wait is no such caller, though it is of
 * the class of many locks.  method 0: there is none. */
static struct place caller_in_class(const struct analysis *a, const struct site *s)
{
    const struct trace_stack *stack = trace_stack(a->trace, s->stack);
    const char *wanted = a->locks.groups[s->group].signature;
    for (uint32_t i = trace_site(a->trace, stack); i < stack->n_frames; i++) {
        const struct trace_frame *f = &stack->frames[i];
        const struct trace_method *m = trace_method(a->trace, f->method);
        if (strcmp(trace_class(a->trace, m->class_)->signature, wanted) == 0)
            return f->method.v == s->app.method.v
                       ? (struct place){{0}, -1}
                       : (struct place){f->method, trace_line(a->trace, *f)};
    }
    return (struct place){{0}, -1};
}

uint64_t rule_owner_weight(const struct analysis *a, uint32_t site)
{
    return stats_owner_weight(&a->stats, &a->sites, site);
}

/* What the owners executed when they were asked. */
static void say_owner_site(struct rule_finding *f, const struct evidence *ev, uint32_t group)
{
    const struct analysis *a = ev->a;
    const struct wait_stats *w = a->stats.owner_sites;
    struct often often = {.key = NO_SITE};
    uint32_t top = NO_SITE;
    uint64_t asked = 0;
    for (uint32_t i = 0; i < a->sites.n; i++) {
        if (a->sites.v[i].group != group || !w[i].count)
            continue;
        asked += w[i].count;
        if (top == NO_SITE || rule_owner_weight(a, i) > rule_owner_weight(a, top))
            top = i;
        look_at(&often, w[i].count, i);
    }
    if (top == NO_SITE || !a->sites.v[top].app.method.v)
        return;
    bool more = often.count > w[top].count && a->sites.v[often.key].app.method.v;
    unsigned share = stats_owner_permille(&a->stats, &a->sites, top);
    struct place caller = caller_in_class(a, &a->sites.v[top]);
    rule_say(f, "; asked in %s of these waits, the owner was %s", human_count(asked).text,
             how_much(share, often.key == top && !often.tie));
    rule_say_site(f, ev, a->sites.v[top].app);
    if (caller.method.v) {
        rule_say(f, ", called");
        rule_say_site(f, ev, caller);
    }
    rule_say(f, " (%u %%, %s of %s)", share / 10, human_count(w[top].count).text,
             human_count(asked).text);
    rule_add_stack(f, a->sites.v[top].stack);
    if (!more)
        return;
    rule_say(f, ", most often");
    rule_say_site(f, ev, a->sites.v[often.key].app);
    rule_say(f, " (%s)", human_count(often.count).text);
    rule_add_stack(f, a->sites.v[often.key].stack);
}

/* --- what it used the processor for ----------------------------------------------------------- */

/* The processor samples of a class's owners while its locks were wanted; NULL: there are none. */
static const struct hot_owner *owned_of(struct evidence *ev, uint32_t group)
{
    const struct selection all = selection_all();
    struct analysis *a = ev->a;
    if (!a->samples.n[SAMPLE_CPU])
        return NULL;
    if (!ev->owned) {
        ev->owned = arena_alloc(&a->arena, sizeof *ev->owned);
        if (!ev->owned || hot_owners(ev->owned, a, SAMPLE_CPU, &all, EVERY_CLASS, &a->arena) < 0)
            return NULL;
    }
    for (size_t i = 0; i < ev->owned->n_classes; i++)
        if (ev->owned->classes[i].group == group)
            return &ev->owned->classes[i];
    return NULL;
}

/* Where most of enough samples are in one method. */
static void say_owner_samples(struct rule_finding *f, struct evidence *ev, uint32_t group)
{
    const struct hot_owner *o = owned_of(ev, group);
    const struct hot_method *m = NULL;
    char name[LABEL_MAX];
    for (size_t i = 0; o && i < o->n_methods; i++)
        m = !m || o->methods[i].self.count > m->self.count ? &o->methods[i] : m;
    if (!m || !m->method.v || o->sum.count < OWNER_SAMPLES)
        return;
    if (rule_permille(m->self.count, o->sum.count) < MOSTLY_PERMILLE)
        return;
    label_method(ev->a->trace, m->method, name, sizeof name);
    rule_say(f, "; %s of %s processor samples of its owners meanwhile were in %s",
             human_count(m->self.count).text, human_count(o->sum.count).text, name);
}

void rule_say_owners(struct rule_finding *f, struct evidence *ev, uint32_t group)
{
    say_owner(f, ev, group);
    say_owner_site(f, ev, group);
    say_owner_samples(f, ev, group);
}
