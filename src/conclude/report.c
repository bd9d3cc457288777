#include "conclude/report.h"

#include "analyze/labels.h"
#include "base/near.h"
#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const report_section_names[REPORT_SECTIONS + 1] = {
    "findings", "threads",   "monitors", "sites",  "owners", "interactions",
    "path",     "deadlocks", "bottles",  "queues", "pools",  "orders",
    "hot",      "gc",        "alloc",    "calls",  NULL};

static const char *const endings[] = {"closed", "recovered", "stopped", "recording", "cut"};

const char *report_ending_name(enum report_ending e)
{
    return endings[e];
}

enum report_ending report_ending_find(const char *name)
{
    for (unsigned i = 0; i < ARRAY_LEN(endings); i++)
        if (strcmp(endings[i], name) == 0)
            return (enum report_ending)i;
    return ENDED_CUT;
}

/* --- one class -------------------------------------------------------------------------------- */

/* Whether `asked` names this class: in full, or by what follows a '.' or '$'. */
static bool names_class(const char *asked, const char *name)
{
    size_t n = strlen(asked), len = strlen(name);
    if (n > len || strcmp(name + len - n, asked) != 0)
        return false;
    return n == len || name[len - n - 1] == '.' || name[len - n - 1] == '$';
}

static int no_such_class(const struct report *r, const char *asked, struct err *err)
{
    char name[LABEL_MAX], best[LABEL_MAX] = "";
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < r->n_classes; i++) {
        label_class(r->a->locks.groups[r->classes[i]].signature, name, sizeof name);
        const char *inner = strrchr(name, '$'), *simple = inner ? inner + 1 : label_simple(name);
        size_t d = near_distance(asked, strlen(asked), simple, strlen(simple));
        if (d < least && near_close(d, strlen(asked))) {
            least = d;
            snprintf(best, sizeof best, "%s", name);
        }
    }
    if (*best)
        return err_set(err, -ENOENT, "no monitor is of class '%s'; did you mean '%s'?", asked,
                       best);
    return err_set(err, -ENOENT,
                   "no monitor is of class '%s'; 'orca report --monitors' lists "
                   "the classes",
                   asked);
}

static int select_class(struct report *r, const char *asked, struct err *err)
{
    char name[LABEL_MAX], first[LABEL_MAX];
    for (size_t i = 0; i < r->n_classes; i++) {
        label_class(r->a->locks.groups[r->classes[i]].signature, name, sizeof name);
        if (!names_class(asked, name))
            continue;
        if (strcmp(asked, name) == 0) {
            r->group = r->classes[i];
            return 0;
        }
        if (r->group != EVERY_CLASS)
            return err_set(err, -ENOENT, "'%s' is ambiguous: it may be '%s' or '%s'", asked, first,
                           name);
        r->group = r->classes[i];
        snprintf(first, sizeof first, "%s", name);
    }
    return r->group == EVERY_CLASS ? no_such_class(r, asked, err) : 0;
}

/* --- the lists -------------------------------------------------------------------------------- */

static int compare(uint64_t x, uint64_t y)
{
    return (x < y) - (x > y);
}

/* Of threads that did not block those of the JVM come last, which always wait for something. */
static int by_thread(const void *a, const void *b, void *analysis)
{
    const struct analysis *of = analysis;
    const struct thread_sums *all = of->stats.threads;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    int c = compare(all[i].state[HELD_UP].ns, all[k].state[HELD_UP].ns);
    c = c ? c : compare(all[i].state[HELD_UP].count, all[k].state[HELD_UP].count);
    c = c ? c
          : compare(bottle_counts(of->trace, &of->threads.v[i]),
                    bottle_counts(of->trace, &of->threads.v[k]));
    c = c ? c : compare(all[i].state[STATE_WAITING].ns, all[k].state[STATE_WAITING].ns);
    return c ? c : (i > k) - (i < k);
}

static int by_class(const void *a, const void *b, void *classes)
{
    const struct class_stats *all = classes;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const struct wait_stats *x = all[i].state, *y = all[k].state;
    int c = compare(x[HELD_UP].ns, y[HELD_UP].ns);
    c = c ? c : compare(x[HELD_UP].count, y[HELD_UP].count);
    c = c ? c : compare(x[STATE_WAITING].ns, y[STATE_WAITING].ns);
    c = c ? c : compare(x[STATE_PARKED].ns, y[STATE_PARKED].ns);
    return c ? c : (i > k) - (i < k);
}

/* An entry without a definition may be a hole in the ids. */
static bool is_there(const struct thread_stats *s)
{
    return (s->defined && !s->gone) || s->has_started || s->has_ended || s->lost || s->seen;
}

static int list_threads(struct report *r)
{
    const struct thread_set *ts = &r->a->threads;
    r->threads = arena_alloc(&r->a->arena, ts->n * sizeof *r->threads);
    if (!r->threads)
        return -ENOMEM;
    for (uint32_t i = 1; i < ts->n; i++)
        if (is_there(&ts->v[i]) && selection_has(&r->a->stats.selection, i))
            r->threads[r->n_threads++] = i;
    qsort_r(r->threads, r->n_threads, sizeof *r->threads, by_thread, r->a);
    return 0;
}

static int list_classes(struct report *r)
{
    const struct class_stats *c = r->a->stats.classes;
    size_t n = r->a->locks.n_groups;
    r->classes = arena_alloc(&r->a->arena, n * sizeof *r->classes);
    if (!r->classes)
        return -ENOMEM;
    for (uint32_t i = 0; i < n; i++)
        if (c[i].state[STATE_BLOCKED].count || c[i].state[STATE_WAITING].count ||
            c[i].state[STATE_PARKED].count || c[i].reacquired)
            r->classes[r->n_classes++] = i;
    qsort_r(r->classes, r->n_classes, sizeof *r->classes, by_class, r->a->stats.classes);
    return 0;
}

static int by_area(const void *a, const void *b, void *queues)
{
    const struct queue *all = queues;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    int c = compare(all[i].area, all[k].area);
    return c ? c : (i > k) - (i < k);
}

/* With a class or a lock selected: those of them. */
static int list_queues(struct report *r)
{
    const struct analysis *a = r->a;
    r->queues = arena_alloc(&r->a->arena, a->queues.n * sizeof *r->queues);
    if (!r->queues)
        return -ENOMEM;
    for (uint32_t i = 0; i < a->queues.n; i++) {
        lock_id lock = a->queues.v[i].lock;
        bool asked = !a->stats.selection.lock || a->stats.selection.lock == lock.v;
        if (asked && (r->group == EVERY_CLASS || lock_set_group(&a->locks, lock) == r->group))
            r->queues[r->n_queues++] = i;
    }
    qsort_r(r->queues, r->n_queues, sizeof *r->queues, by_area, a->queues.v);
    return r->sections & REPORT_QUEUES ? analysis_slack(r->a) : 0;
}

static int list_pools(struct report *r)
{
    return r->sections & REPORT_POOLS ? analysis_wait_graph(r->a) : 0;
}

static int by_height(const void *a, const void *b, void *bottles)
{
    const struct bottle *all = bottles;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    if (all[i].charged != all[k].charged)
        return all[i].charged < all[k].charged ? 1 : -1;
    return (i > k) - (i < k);
}

static int list_bottles(struct report *r)
{
    const struct bottles *g = &r->a->bottles;
    r->bottles = arena_alloc(&r->a->arena, g->n * sizeof *r->bottles);
    if (!r->bottles)
        return -ENOMEM;
    for (uint32_t i = 1; i < g->n; i++)
        if (g->v[i].running)
            r->bottles[r->n_bottles++] = i;
    qsort_r(r->bottles, r->n_bottles, sizeof *r->bottles, by_height, g->v);
    return 0;
}

static int list_samples(struct report *r)
{
    const struct selection *s = &r->a->stats.selection;
    for (unsigned kind = 0; kind < SAMPLE_LISTS && r->sections & REPORT_HOT; kind++)
        TRY(hot_make(&r->hot[kind], r->a, (enum sample_kind)kind, s, r->group, &r->a->arena));
    return 0;
}

static int list_allocs(struct report *r)
{
    if (!(r->sections & REPORT_ALLOC) || !allocs_any(&r->a->allocs))
        return 0;
    const struct selection *s = &r->a->stats.selection;
    bool whole = s->from == 0 && s->to == UINT64_MAX && !s->threads;
    const struct alloc_tables *made = whole && !r->live ? alloc_tables_whole(r->a) : NULL;
    if (made)
        r->allocs = *made;
    return made ? 0 : alloc_tables_make(&r->allocs, r->a, s, r->live, &r->a->arena);
}

static int list_calls(struct report *r)
{
    const struct call_source from = {r->trace, &r->a->timeline, &r->a->locks, &r->a->calls};
    return r->sections & REPORT_CALLS && r->a->calls.n
               ? call_tables_make(&r->calls, &from, &r->a->stats.selection, r->group, &r->a->arena)
               : 0;
}

/* Of those that were HELD_UP, the entries that have an owner or might have had one: a monitor. */
static bool has_owner(const struct blame *b)
{
    return b->held_up.count && (b->owner || b->blocked.count || b->reacquired.count);
}

/* Of pairs, also those whose owner is not known: so they add up to all that held threads up. */
static bool is_held_up(const struct blame *b)
{
    return b->held_up.count > 0;
}

/* Of waiters, all that were HELD_UP or waited. */
static bool is_waiter(const struct blame *b)
{
    return b->held_up.count || b->waited.count;
}

static int keep(struct report *r, const struct blame **v, size_t *n,
                bool (*wanted)(const struct blame *b))
{
    struct blame *kept = arena_alloc(&r->a->arena, *n * sizeof *kept);
    size_t n_kept = 0;
    for (size_t i = 0; i < *n && kept; i++)
        if (wanted(&(*v)[i]))
            kept[n_kept++] = (*v)[i];
    *v = kept;
    *n = n_kept;
    return kept ? 0 : -ENOMEM;
}

static int list_blames(struct report *r)
{
    TRY(analysis_blames(r->a, r->group, BLAME_BY_GROUP | BLAME_BY_OWNER, &r->owners, &r->n_owners));
    TRY(analysis_blames(r->a, r->group, BLAME_BY_GROUP | BLAME_BY_WAITER, &r->waiters,
                        &r->n_waiters));
    TRY(keep(r, &r->owners, &r->n_owners, has_owner));
    TRY(keep(r, &r->waiters, &r->n_waiters, is_waiter));
    if (!(r->sections & REPORT_OWNERS))
        return 0;
    TRY(analysis_blames(r->a, r->group, BLAME_BY_WAITER | BLAME_BY_OWNER, &r->pairs, &r->n_pairs));
    return keep(r, &r->pairs, &r->n_pairs, is_held_up);
}

static bool is_about(const struct report *r, const struct rule_finding *f)
{
    for (uint32_t i = 0; i < f->locks.n; i++)
        if (lock_set_group(&r->a->locks, (lock_id){f->locks.v[i]}) == r->group)
            return true;
    return false;
}

/* With a class: those about its locks. */
static void select_findings(struct report *r)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->n_findings; i++)
        if (r->group == EVERY_CLASS || is_about(r, &r->findings[i]))
            r->findings[kept++] = r->findings[i];
    r->n_findings = kept;
}

int report_init(struct report *r, const char *class_name, struct err *err)
{
    r->group = EVERY_CLASS;
    if (list_threads(r) < 0 || list_classes(r) < 0 || list_bottles(r) < 0)
        return err_set(err, -ENOMEM, "out of memory");
    if (class_name)
        TRY(select_class(r, class_name, err));
    if (r->group != EVERY_CLASS) {
        r->classes[0] = r->group;
        r->n_classes = 1;
    }
    struct analysis *a = r->a;
    if (stats_list_sites(&a->stats, &a->sites, r->group, &a->arena, &r->sites, &r->n_sites) < 0 ||
        stats_list_owner_sites(&a->stats, &a->sites, r->group, &a->arena, &r->owner_sites,
                               &r->n_owner_sites) < 0 ||
        list_blames(r) < 0 || list_queues(r) < 0 || list_pools(r) < 0 || list_samples(r) < 0 ||
        list_allocs(r) < 0 || list_calls(r) < 0 ||
        (r->sections & REPORT_IO && peer_sums_make(&r->io, a, &a->arena) < 0))
        return err_set(err, -ENOMEM, "out of memory");
    select_findings(r);
    return 0;
}
