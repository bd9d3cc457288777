#include "cli/report.h"

#include "analyze/labels.h"
#include "base/near.h"
#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *report_ending_name(enum report_ending e)
{
    static const char *const names[] = {"closed", "recovered", "stopped", "recording", "cut"};
    return names[e];
}

/* --- --class ---------------------------------------------------------------------------------- */

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
        label_class(r->a->locks.classes[r->classes[i]].signature, name, sizeof name);
        const char *inner = strrchr(name, '$'), *simple = inner ? inner + 1 : label_simple(name);
        size_t d = near_distance(asked, strlen(asked), simple, strlen(simple));
        if (d < least && near_close(d, strlen(asked))) {
            least = d;
            snprintf(best, sizeof best, "%s", name);
        }
    }
    if (*best)
        return err_set(err, -ENOENT, "--class: no monitor is of class '%s'; did you mean '%s'?",
                       asked, best);
    return err_set(err, -ENOENT,
                   "--class: no monitor is of class '%s'; 'orca report --monitors' lists "
                   "the classes",
                   asked);
}

static int select_class(struct report *r, const char *asked, struct err *err)
{
    char name[LABEL_MAX], first[LABEL_MAX];
    for (size_t i = 0; i < r->n_classes; i++) {
        label_class(r->a->locks.classes[r->classes[i]].signature, name, sizeof name);
        if (!names_class(asked, name))
            continue;
        if (strcmp(asked, name) == 0) {
            r->group = r->classes[i];
            return 0;
        }
        if (r->group != EVERY_CLASS)
            return err_set(err, -ENOENT, "--class: '%s' is ambiguous: it may be '%s' or '%s'",
                           asked, first, name);
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

static int by_thread(const void *a, const void *b, void *stats)
{
    const struct thread_stats *all = stats;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    int c = compare(all[i].state[STATE_BLOCKED].ns, all[k].state[STATE_BLOCKED].ns);
    c = c ? c : compare(all[i].state[STATE_BLOCKED].count, all[k].state[STATE_BLOCKED].count);
    c = c ? c : compare(all[i].state[STATE_WAITING].ns, all[k].state[STATE_WAITING].ns);
    return c ? c : (i > k) - (i < k);
}

static int by_class(const void *a, const void *b, void *classes)
{
    const struct lock_class *all = classes;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    int c = compare(all[i].blocked.total, all[k].blocked.total);
    c = c ? c : compare(all[i].blocked.count, all[k].blocked.count);
    c = c ? c : compare(all[i].waited.total, all[k].waited.total);
    return c ? c : (i > k) - (i < k);
}

/* An entry without a definition may be a hole in the ids. */
static bool is_there(const struct thread_stats *s)
{
    bool seen = s->defined || s->has_started || s->has_ended || s->lost || s->reacquired;
    for (int i = 0; i < STATE_LIMIT; i++)
        seen |= s->state[i].count > 0;
    return seen;
}

static int list_threads(struct report *r)
{
    const struct thread_set *ts = &r->a->threads;
    r->threads = arena_alloc(&r->a->arena, ts->n * sizeof *r->threads);
    if (!r->threads)
        return -ENOMEM;
    for (uint32_t i = 1; i < ts->n; i++)
        if (is_there(&ts->v[i]))
            r->threads[r->n_threads++] = i;
    qsort_r(r->threads, r->n_threads, sizeof *r->threads, by_thread, ts->v);
    return 0;
}

static int list_classes(struct report *r)
{
    const struct lock_set *l = &r->a->locks;
    r->classes = arena_alloc(&r->a->arena, l->n_classes * sizeof *r->classes);
    if (!r->classes)
        return -ENOMEM;
    for (uint32_t i = 0; i < l->n_classes; i++)
        if (l->classes[i].blocked.count || l->classes[i].waited.count || l->classes[i].reacquired)
            r->classes[r->n_classes++] = i;
    qsort_r(r->classes, r->n_classes, sizeof *r->classes, by_class, l->classes);
    return 0;
}

/* The entries with contention: waits have no owner. */
static int keep_blocked(struct report *r, const struct blame **v, size_t *n)
{
    struct blame *kept = arena_alloc(&r->a->arena, *n * sizeof *kept);
    size_t n_kept = 0;
    for (size_t i = 0; i < *n && kept; i++)
        if ((*v)[i].blocked.count)
            kept[n_kept++] = (*v)[i];
    *v = kept;
    *n = n_kept;
    return kept ? 0 : -ENOMEM;
}

static int count_class_threads(struct report *r)
{
    size_t n = r->a->locks.n_classes;
    r->class_threads = arena_alloc(&r->a->arena, n * sizeof *r->class_threads);
    if (!r->class_threads)
        return -ENOMEM;
    for (size_t i = 0; i < r->n_waiters; i++) {
        struct class_threads *c = &r->class_threads[r->waiters[i].group];
        c->blocked += r->waiters[i].blocked.count > 0;
        c->waited += r->waiters[i].waited.count > 0;
    }
    return 0;
}

static int list_blames(struct report *r)
{
    struct blames *b = &r->a->blames;
    TRY(blames_list(b, r->group, BLAME_BY_GROUP | BLAME_BY_OWNER, &r->owners, &r->n_owners));
    TRY(blames_list(b, r->group, BLAME_BY_GROUP | BLAME_BY_WAITER, &r->waiters, &r->n_waiters));
    TRY(keep_blocked(r, &r->owners, &r->n_owners));
    TRY(count_class_threads(r));
    if (!(r->sections & REPORT_OWNERS))
        return 0;
    TRY(blames_list(b, r->group, BLAME_BY_WAITER | BLAME_BY_OWNER, &r->pairs, &r->n_pairs));
    return keep_blocked(r, &r->pairs, &r->n_pairs);
}

static bool is_about(const struct report *r, const struct rule_finding *f)
{
    for (uint32_t i = 0; i < f->locks.n; i++)
        if (lock_set_object(&r->a->locks, (lock_id){f->locks.v[i]})->group == r->group)
            return true;
    return false;
}

static int list_findings(struct report *r, struct err *err)
{
    TRY(rules_apply(r->a, &r->findings, &r->n_findings, err));
    size_t kept = 0;
    for (size_t i = 0; i < r->n_findings; i++)
        if (r->group == EVERY_CLASS || is_about(r, &r->findings[i]))
            r->findings[kept++] = r->findings[i];
    r->n_findings = kept;
    return 0;
}

int report_init(struct report *r, const char *class_name, struct err *err)
{
    r->group = EVERY_CLASS;
    if (list_threads(r) < 0 || list_classes(r) < 0)
        return err_set(err, -ENOMEM, "out of memory");
    if (class_name)
        TRY(select_class(r, class_name, err));
    if (r->group != EVERY_CLASS) {
        r->classes[0] = r->group;
        r->n_classes = 1;
    }
    if (sites_list(&r->a->sites, r->group, &r->sites, &r->n_sites) < 0 || list_blames(r) < 0)
        return err_set(err, -ENOMEM, "out of memory");
    return list_findings(r, err);
}
