#include "conclude/rules.h"

#include "analyze/labels.h"
#include "base/human.h"
#include "base/util.h"
#include "conclude/rules_parts.h"

#include <stdlib.h>
#include <string.h>

/* --- losses ----------------------------------------------------------------------------------- */

void rule_losses(struct evidence *ev)
{
    const struct analysis *a = ev->a;
    uint64_t lost = analysis_lost_events(a);
    struct rule_finding *f = lost ? rule_find(ev, SEVERITY_PROBLEM, UINT64_MAX) : NULL;
    if (!f)
        return;
    rule_say(f, "%s events were lost: every count and time here is a lower bound",
             human_count(lost).text);
    for (size_t i = 0; i < a->n_losses; i++)
        if (loss_causes[a->losses[i].cause].what == LOSS_OF_EVENT)
            rule_say(f, "; %s: %s", loss_causes[a->losses[i].cause].name,
                     human_count(a->losses[i].count).text);
}

/* Reports waits of unknown cause if there are many, because paths and hand-offs are then uncertain.
 * The head of the report shows sums. */
void rule_unreliable(struct evidence *ev)
{
    enum { MANY = 100, SHARE_PERMILLE = 100 };
    const struct bindings *b = &ev->a->bindings;
    uint64_t unbound = 0, all = 0;
    for (int i = 0; i < WAIT_STATES; i++) {
        unbound += i == STATE_SLEEPING ? 0 : b->unbound[i];
        all += i == STATE_SLEEPING ? 0 : ev->a->stats.total[i].count;
    }
    unbound -= min_u64(unbound, b->unbound_sums);
    all -= min_u64(all, ev->a->decoded.summed.waits);
    if (unbound < MANY || rule_permille(unbound, all) < SHARE_PERMILLE)
        return;
    struct rule_finding *f = rule_find(ev, SEVERITY_INFO, 0);
    if (f)
        rule_say(f,
                 "Orca could not tell what ended %s of %s waits: the critical path and hand-off "
                 "figures leave them out",
                 human_count(unbound).text, human_count(all).text);
}

/* --- the table -------------------------------------------------------------------------------- */

static const struct {
    struct rule rule;
    void (*apply)(struct evidence *ev);
} table[] = {
#define RULES                                                                                      \
    R("events-lost", "missing events", rule_losses)                                                \
    R("deadlock", "deadlocks", rule_deadlock)                                                      \
    R("stuck", "waits at the end that no thread can end", rule_stuck)                              \
    R("inversion", "lock order inversions", rule_inversion)                                        \
    R("still-blocked", "threads blocked when the recording ended", rule_still_blocked)             \
    R("lost-signal", "lost notifies", rule_lost_signal)                                            \
    R("starved-pool", "thread pools that wait for themselves", rule_starved_pool)                  \
    R("exhausted-pool", "pools and limits in full use", rule_exhausted_pool)                       \
    R("dominant-lock", "the lock that the program waits for most", rule_dominant_lock)             \
    R("contended-lock", "other locks with queues", rule_contended_lock)                            \
    R("contended-pool", "other pools and limits with queues", rule_contended_pool)                 \
    R("quota", "a used-up quota of processor time", rule_quota)                                    \
    R("few-processors", "threads that wait for a processor", rule_few_processors)                  \
    R("blocked-loop", "event loops that wait in a handler", rule_blocked_loop)                     \
    R("class-initialisation", "static initialisers with waiting threads",                          \
      rule_class_initialisation)                                                                   \
    R("pinned", "virtual threads that block while pinned", rule_pinned)                            \
    R("few-carriers", "virtual threads that wait for a carrier", rule_few_carriers)                \
    R("waits-for-io", "input and output that the program waits for", rule_waits_for_io)            \
    R("slow-answer", "answers that threads wait for", rule_slow_answer)                            \
    R("polling", "polling: short parks in a loop", rule_polled)                                    \
    R("delay", "delays inside libraries", rule_delay)                                              \
    R("convoy", "lock convoys", rule_convoy)                                                       \
    R("held-while-waiting", "locks held by threads that slept or waited", rule_held_while_waiting) \
    R("held-during-io", "locks held during input and output", rule_held_during_io)                 \
    R("notify-storm", "wasted notifyAll() wake-ups", rule_notify_storm)                            \
    R("futile-wakeups", "wasted notify() wake-ups", rule_futile_wakeups)                           \
    R("pool-saturation", "tasks that queue for a thread of their pool", rule_pool_saturation)      \
    R("growing-queue", "queues that fill faster than they are emptied", rule_growing_queue)        \
    R("sleep-on-path", "sleep on the critical path", rule_sleep_on_path)                           \
    R("io-on-path", "input and output on the critical path", rule_io_on_path)                      \
    R("serial-phase", "times with one running thread", rule_serial_phase)                          \
    R("unbalanced-join", "joins that wait for one slow thread", rule_unbalanced_join)              \
    R("leak-suspect", "growing numbers of surviving objects", rule_leak_suspect)                   \
    R("heap-nearly-full", "collections that leave most of the heap in use", rule_heap_full)        \
    R("gc-pauses", "pauses of the collector", rule_gc_pauses)                                      \
    R("safepoints", "safepoints", rule_safepoints)                                                 \
    R("allocation-hot-spot", "call sites that allocate most", rule_allocation_hot_spot)            \
    R("unreliable", "waits whose cause is unknown", rule_unreliable)
#define R(name, looks_at, apply) {{name, looks_at}, apply},
    RULES
#undef R
};

const struct rule rules[] = {
#define R(name, looks_at, apply) {name, looks_at},
    RULES
#undef R
};
const size_t n_rules = ARRAY_LEN(rules);

const char *severity_name(enum severity s)
{
    static const char *const names[] = {"info", "warning", "problem"};
    return names[s];
}

/* --- all of them ------------------------------------------------------------------------------ */

static int by_time_held_up(const void *a, const void *b, void *classes)
{
    const struct class_stats *all = classes;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (all[x].state[HELD_UP].ns != all[y].state[HELD_UP].ns)
        return all[x].state[HELD_UP].ns < all[y].state[HELD_UP].ns ? 1 : -1;
    return (x > y) - (x < y);
}

static int gather(struct evidence *ev)
{
    struct analysis *a = ev->a;
    size_t n = a->locks.n_groups;
    ev->length = a->window.to - a->window.from;
    ev->classes = arena_alloc(&a->arena, n * sizeof *ev->classes);
    if (!ev->classes)
        return -ENOMEM;
    for (uint32_t i = 0; i < n; i++)
        ev->classes[i] = i;
    qsort_r(ev->classes, n, sizeof *ev->classes, by_time_held_up, a->stats.classes);
    ev->n_classes = n;
    TRY(resources_make(&ev->resources, a));
    for (size_t i = 0; i < ev->resources.n; i++)
        ev->resource_ns += ev->resources.v[i].ns;
    TRY(stats_list_sites(&a->stats, &a->sites, EVERY_CLASS, &a->arena, &ev->sites, &ev->n_sites));
    TRY(field_sites_init(&ev->fields, &ev->resources.program));
    TRY(rule_find_lock_facts(ev));
    TRY(rule_find_blocked(ev));
    return analysis_blames(a, EVERY_CLASS, BLAME_BY_GROUP | BLAME_BY_WAITER, &ev->waiters,
                           &ev->n_waiters);
}

/* Most severe first, then most time; equals in the order of the table. */
static int most_important(const void *a, const void *b)
{
    const struct rule_finding *const *p = a, *const *q = b, *x = *p, *y = *q;
    if (x->severity != y->severity)
        return x->severity < y->severity ? 1 : -1;
    if (x->impact != y->impact)
        return x->impact < y->impact ? 1 : -1;
    return (x > y) - (x < y);
}

/* The findings in their order, in the arena. */
static int hand_out(struct evidence *ev, struct rule_finding **out, size_t *n)
{
    const struct rule_finding *v = (const void *)ev->found.p;
    *n = ev->found.len / sizeof *v;
    const struct rule_finding **order = arena_alloc(&ev->a->arena, *n * sizeof *order);
    *out = arena_alloc(&ev->a->arena, *n * sizeof **out);
    if (!order || !*out || ev->found.oom)
        return -ENOMEM;
    for (size_t i = 0; i < *n; i++)
        order[i] = &v[i];
    qsort(order, *n, sizeof *order, most_important);
    for (size_t i = 0; i < *n; i++)
        (*out)[i] = *order[i];
    return 0;
}

/* The list lives as long as the findings. */
static int keep_resources(const struct evidence *ev, struct rule_finding *v, size_t n,
                          const struct resources **out)
{
    struct resources *all = arena_alloc(&ev->a->arena, sizeof *all);
    if (!all)
        return -ENOMEM;
    *all = ev->resources;
    for (size_t i = 0; i < n; i++)
        v[i].resources = all;
    if (out)
        *out = all;
    return 0;
}

int rules_apply(struct analysis *a, struct rule_finding **out, size_t *n,
                const struct resources **resources, struct err *err)
{
    struct evidence ev = {.a = a};
    int rc = gather(&ev);
    if (rc == 0 && (a->timeline.n_holds || a->timeline.n_spans <= RULES_SIGHTINGS))
        rc = analysis_lock_order(a);
    for (size_t i = 0; i < ARRAY_LEN(table) && rc == 0; i++) {
        ev.rule = table[i].rule.name;
        ev.n_of_rule = 0;
        table[i].apply(&ev);
    }
    rc = rc ? rc : hand_out(&ev, out, n);
    buf_fini(&ev.found);
    field_sites_fini(&ev.fields);
    if (rc == 0)
        rc = keep_resources(&ev, *out, *n, resources);
    return rc < 0 ? err_set(err, rc, "out of memory") : 0;
}
