/* report_queues.c - `orca report --queues --pools`: the locks one by one, and which pools of
 * threads wait for which. */
#include "cli/page.h"

#include "analyze/labels.h"
#include "base/buf.h"
#include "base/printable.h"
#include "base/util.h"
#include "cli/page_cells.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SPARK_WIDTH = 16 };

/* Columns of the locks, one by one. */
enum { LAST_SEEN = 6, HOLDS = 9, HELD = 10 };

static uint64_t on_path(const struct analysis *a, lock_id lock)
{
    for (size_t i = 0; i < a->path_sums.n_locks && a->path.n; i++)
        if (a->path_sums.locks[i].id == lock.v)
            return a->path_sums.locks[i].ns;
    return 0;
}

static void cell_slack(struct table *t, const struct page *p, lock_id lock)
{
    const uint64_t *slack = p->r->a->slack;
    if (slack && slack[lock.v] == SLACK_ANY)
        table_put(t, "any");
    else
        cell_time(t, slack ? slack[lock.v] : 0, slack != NULL);
}

/* What is shown of each lock only where there is something. */
struct extras {
    bool holds, seen;
};

static void put_queue(struct table *t, const struct page *p, const struct queue *q,
                      struct extras extra)
{
    const struct analysis *a = p->r->a;
    const struct lock_stats *l = &a->stats.locks[q->lock.v];
    uint64_t length = a->queues.to - a->queues.from;
    char text[4 * PAGE_BAR], name[PAGE_NAME];
    cell_time(t, q->area, true);
    snprintf(text, sizeof text, "%.2f", length ? (double)q->area / (double)length : 0.0);
    table_put(t, text);
    cell_count(t, q->max);
    cell_percent(t, q->busy, length);
    page_spark(p, q->bucket, QUEUE_BUCKETS, SPARK_WIDTH, text);
    table_put(t, text);
    cell_count(t, q->handovers);
    if (extra.seen)
        cell_percent(t, q->seen, q->handovers);
    cell_percent(t, on_path(a, q->lock), a->path.to - a->path.from);
    cell_slack(t, p, q->lock);
    if (extra.holds) {
        cell_count(t, l->holds);
        cell_time(t, l->held_ns, l->holds);
    }
    page_class(p, a->locks.groups[lock_set_group(&a->locks, q->lock)].signature, name);
    char both[PAGE_NAME + 16];
    snprintf(both, sizeof both, "%" PRIu32 " %s", q->lock.v, name); /* what --lock takes */
    table_put(t, both);
}

void page_queues(const struct page *p)
{
    static const struct table_column columns[] = {
        {"waited", TABLE_RIGHT, false},    {"queue", TABLE_RIGHT, false},
        {"max", TABLE_RIGHT, false},       {"busy", TABLE_RIGHT, false},
        {"over time", TABLE_LEFT, false},  {"hand-offs", TABLE_RIGHT, false},
        {"last seen", TABLE_RIGHT, false}, {"on path", TABLE_RIGHT, false},
        {"slack", TABLE_RIGHT, false},     {"holds", TABLE_RIGHT, false},
        {"held", TABLE_RIGHT, false},      {"object", TABLE_LEFT, true}};
    const struct report *r = p->r;
    struct table_column shown[ARRAY_LEN(columns)];
    struct extras extra = {r->a->timeline.n_holds > 0,
                           r->a->bindings.sums[INTERACTION_LAST_OWNER].count > 0};
    size_t n = 0;
    struct table t;
    if (r->n_queues == 0) {
        page_nothing(p, "No thread queued for a lock.");
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(columns); i++)
        if (i == LAST_SEEN ? extra.seen : extra.holds || (i != HOLDS && i != HELD))
            shown[n++] = columns[i];
    table_init(&t, shown, n);
    for (size_t i = 0; i < report_rows(r, r->n_queues); i++)
        put_queue(&t, p, &r->a->queues.v[r->queues[i]], extra);
    page_list_heading(p, "Locks, one by one", r->n_queues, "most time in their queue first");
    page_table(p, &t);
    page_wrapped(
        p, STYLE_FAINT, "",
        "queue: threads waiting on average; busy: part of the time with one or more; slack: "
        "how much later the lock could have been released without delaying the end of the run "
        "(any: no thread waits for the lock). Always of the whole recording.",
        0);
    if (extra.seen)
        page_wrapped(p, STYLE_FAINT, "",
                     "last seen: hand-offs from the last owner seen; another thread may have held "
                     "the monitor in between.",
                     0);
}

/* --- pools ------------------------------------------------------------------------------------ */

static void pool_text(const struct page *p, uint32_t pool, char out[PAGE_NAME])
{
    const struct pool *v = &p->r->a->pools.pools[pool];
    char raw[PAGE_NAME];
    snprintf(raw, sizeof raw, *v->name ? "%s" : "(no name)", v->name);
    printable_text(raw, p->utf8, out, PAGE_NAME);
    printable_cut(out, page_room(p, THREAD_WIDTH));
    if (v->threads > 1)
        snprintf(out + strlen(out), PAGE_NAME - strlen(out), " (%" PRIu32 ")", v->threads);
}

/* From then on who does not wait for another thread may well wait for a remote side. */
enum { KNOT_IO_PERCENT = 10 };

static void print_knots(const struct page *p)
{
    const struct wait_graph *g = &p->r->a->pools;
    char name[PAGE_NAME];
    for (uint32_t k = 1; k <= g->n_knots; k++) {
        struct buf b = {0};
        uint32_t n = 0;
        uint64_t still = 0, running = 0;
        for (uint32_t i = 0; i < g->n_pools; i++) {
            if (g->pools[i].knot != k)
                continue;
            still += g->pools[i].still;
            running += g->pools[i].running;
            pool_text(p, i, name);
            buf_printf(&b, "%s%s", n++ ? ", " : "", name);
        }
        buf_printf(&b, n == 1 ? ": other pools wait for it, and it hardly waits for others"
                              : ": these pools wait for each other, and hardly for others");
        double outside = still ? 100.0 * (double)still / (double)(still + running) : 0;
        if (outside >= KNOT_IO_PERCENT)
            buf_printf(&b,
                       "; %.0f %% of the rest of their time is input or output, outside of the "
                       "program",
                       outside);
        else
            buf_puts(&b, "; only a change inside makes the program faster");
        page_wrapped(p, STYLE_PLAIN, "knot  ", buf_str(&b), 6);
        buf_fini(&b);
    }
}

void page_pools(const struct page *p)
{
    static const struct table_column columns[] = {{"time", TABLE_RIGHT, false},
                                                  {"", TABLE_LEFT, false},
                                                  {"waits", TABLE_RIGHT, false},
                                                  {"threads", TABLE_LEFT, false},
                                                  {"waited for", TABLE_LEFT, true}};
    const struct report *r = p->r;
    const struct wait_graph *g = &r->a->pools;
    struct table t;
    char text[PAGE_NAME + 200];
    if (g->n_edges == 0) {
        page_nothing(p, "No thread pool waited for another one.");
        return;
    }
    table_init(&t, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < report_rows(r, g->n_edges); i++) {
        const struct pool_edge *e = &g->edges[i];
        cell_time(&t, e->ns, true);
        page_bar(p, e->ns, g->edges[0].ns, text);
        table_put(&t, text);
        cell_count(&t, e->count);
        pool_text(p, e->from, text);
        table_put(&t, text);
        pool_text(p, e->to, text);
        table_put(&t, text);
    }
    page_list_heading(p, "Which threads waited for which, by pool", g->n_edges, "most time first");
    page_table(p, &t);
    print_knots(p);
    page_wrapped(
        p, STYLE_FAINT, "",
        "A wait is charged to the pool that ended it, and to whatever that pool was waiting for. "
        "Totals can exceed elapsed time and are not potential savings. Sleeps and timeouts are "
        "charged to no pool.",
        0);
    if (g->charged_seen) {
        snprintf(text, sizeof text,
                 "%.1f %% of the waiting is charged to the last owner seen of a monitor; another "
                 "thread may have held the monitor in between (-e holds records that).",
                 100.0 * (double)g->charged_seen / (double)g->charged);
        page_wrapped(p, STYLE_FAINT, "", text, 0);
    }
    if (!g->whole)
        page_wrapped(p, STYLE_WARNING, "",
                     "Too many waits to follow: this table covers a part of them.", 0);
}
