/* json_report.c - the answer `report`: what `orca report --json` says of a selection.
 *
 * Made on a branch of the analysis, so that questions do not disturb each other.  Of the whole
 * recording the branch shares the statistics, whose percentiles are sorted as they are read, so
 * that such an answer is written under the lock of view_json. */
#include "base/util.h"
#include "export/report_json.h"
#include "view/json_parts.h"

#include <string.h>

static int make_findings(struct view *v, struct err *err)
{
    if (atomic_load_explicit(&v->json.made, memory_order_relaxed)) /* written under the lock */
        return 0;
    TRY(rules_apply(v->a, &v->json.findings, &v->json.n_findings, NULL, err));
    v->json.has_orders = v->a->has_orders;
    atomic_store_explicit(&v->json.made, true, memory_order_release); /* acquired below */
    return 0;
}

int findings_make(struct view *v, struct err *err)
{
    /* Released above: the list is whole. */
    if (atomic_load_explicit(&v->json.made, memory_order_acquire))
        return 0;
    pthread_mutex_lock(&v->json.lock);
    int rc = make_findings(v, err);
    pthread_mutex_unlock(&v->json.lock);
    return rc;
}

static unsigned sections_of(const struct ask *a)
{
    return a->sections ? (unsigned)a->sections : REPORT_ALL;
}

/* What is of the whole recording, made once in the analysis itself. */
static int prepare(const struct ask *a, struct err *err)
{
    struct analysis *whole = a->v->a;
    unsigned sections = sections_of(a);
    if (sections & (REPORT_FINDINGS | REPORT_ORDERS))
        TRY(make_findings(a->v, err));
    if ((sections == REPORT_ORDERS && analysis_lock_order(whole) < 0) ||
        (sections & REPORT_QUEUES && analysis_slack(whole) < 0) ||
        (sections & REPORT_POOLS && analysis_wait_graph(whole) < 0))
        return err_set(err, -ENOMEM, "out of memory");
    return 0;
}

/* The list is sifted by class in place. */
static int copy_findings(struct report *r, const struct view_json *f)
{
    r->findings = arena_alloc(&r->a->arena, (f->n_findings + 1) * sizeof *r->findings);
    if (!r->findings)
        return -ENOMEM;
    if (f->n_findings)
        memcpy(r->findings, f->findings, f->n_findings * sizeof *f->findings);
    r->n_findings = f->n_findings;
    return 0;
}

static int select_part(struct ask *a, struct report *r, struct err *err)
{
    const struct selection s = ask_selection(a);
    bool all_time = !ask_has(a, ASK_FROM) && !ask_has(a, ASK_TO);
    uint32_t thread = ask_has(a, ASK_THREAD) ? (uint32_t)a->thread : r->a->path.thread;
    if (copy_findings(r, &a->v->json) < 0 || (!ask_is_whole(a) && analysis_select(r->a, &s) < 0))
        return err_set(err, -ENOMEM, "out of memory");
    if (all_time && !ask_has(a, ASK_THREAD))
        return 0;
    return report_follow(r, thread, max_u64(s.from, r->a->window.from), s.to, err);
}

static int write_report(struct ask *a, struct report *r, struct json_out *o, struct err *err)
{
    TRY(select_part(a, r, err));
    int rc = report_init(r, a->class_name, err);
    if (rc == -ENOENT)
        return err_prefix(err, rc, "class");
    return rc ? rc : report_json_buf(r, o->to, err);
}

int answer_report(struct ask *a, struct json_out *o, struct err *err)
{
    struct analysis branch;
    pthread_mutex_t *lock = &a->v->json.lock;
    pthread_mutex_lock(lock);
    int rc = prepare(a, err);
    if (rc == 0)
        analysis_branch(&branch, a->v->a);
    if (rc == 0 && sections_of(a) != REPORT_ORDERS)
        branch.has_orders = a->v->json.has_orders; /* whatever was asked before: one answer */
    bool shares = ask_is_whole(a);
    if (!shares)
        pthread_mutex_unlock(lock);
    if (rc == 0) {
        struct report r = *o->r;
        r.a = &branch;
        r.sections = sections_of(a);
        r.top = a->top;
        rc = write_report(a, &r, o, err);
        analysis_branch_fini(&branch);
    }
    if (shares)
        pthread_mutex_unlock(lock);
    return rc;
}
