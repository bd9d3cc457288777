/* report_gc.c - `orca report --gc`: collections by collector and cause, safepoints by operation,
 * and one line about the collections in the head of the whole report. */
#include "cli/page.h"

#include "base/buf.h"
#include "base/util.h"
#include "cli/page_cells.h"

#include <stdio.h>
#include <string.h>

/* Below this part of the recording the whole report is silent about causes. */
enum { WORTH_PER_MILLE = 10 };

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static uint64_t duration(const struct page *p)
{
    return p->r->a->window.to - p->r->a->window.from;
}

static void put_rate(struct buf *b, const struct collections *c)
{
    uint64_t rate = collections_rate(c);
    if (rate)
        buf_printf(b, "%s/s allocated between collections", human_bytes(rate).text);
}

/* --- the head of the report ------------------------------------------------------------------- */

static uint64_t count_cycles(const struct collections *c)
{
    uint64_t n = 0;
    for (size_t i = 0; i < c->n_sums; i++)
        n += c->sum[i].kind == COLLECTION_CYCLE ? c->sum[i].count : 0;
    return n;
}

/* Only where the line has room for it. */
static void put_main_cause(const struct page *p, struct buf *b)
{
    enum { ROOM = 88 };
    const struct collections *c = &p->r->a->collections;
    const char *cause = c->n_sums ? c->sum[0].cause : "?";
    if (strcmp(cause, "?") != 0 && p->r->a->gc_ns >= duration(p) / 1000 * WORTH_PER_MILLE &&
        b->len + sizeof "; most for " + strlen(cause) < ROOM)
        buf_printf(b, "; most for %s", cause);
}

void page_put_gc(const struct page *p, struct buf *b)
{
    const struct analysis *a = p->r->a;
    uint64_t cycles = count_cycles(&a->collections);
    if (a->gc_count)
        buf_printf(b, "%s pause%s of %s in total, longest %s", human_count(a->gc_count).text,
                   plural(a->gc_count), human_time(a->gc_ns).text, human_time(a->gc_max).text);
    if (cycles)
        buf_printf(b, "%s%s concurrent cycle%s", b->len ? "; " : "", human_count(cycles).text,
                   plural(cycles));
    put_main_cause(p, b);
}

/* --- the section ------------------------------------------------------------------------------ */

static void put_freed(struct table *t, const struct collection_sum *s)
{
    table_put(t, s->sized ? human_bytes(s->freed).text : "-");
}

static void print_sums(const struct page *p)
{
    static const struct table_column columns[] = {
        {"collections", TABLE_RIGHT, false}, {"took", TABLE_RIGHT, false},
        {"pauses", TABLE_RIGHT, false},      {"paused", TABLE_RIGHT, false},
        {"longest", TABLE_RIGHT, false},     {"freed", TABLE_RIGHT, false},
        {"collector", TABLE_LEFT, false},    {"cause", TABLE_LEFT, true}};
    const struct collections *c = &p->r->a->collections;
    struct table t;
    page_list_heading(p, "Collections", c->n_sums, "most time paused first");
    table_init(&t, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < report_rows(p->r, c->n_sums); i++) {
        const struct collection_sum *s = &c->sum[i];
        cell_count(&t, s->kind == COLLECTION_PART ? 0 : s->count);
        cell_time(&t, s->ns, s->kind == COLLECTION_CYCLE);
        cell_count(&t, s->pauses);
        cell_time(&t, s->pause_ns, s->pauses);
        cell_time(&t, s->pause_max, s->pauses);
        put_freed(&t, s);
        table_put(&t, s->collector);
        table_put(&t, s->cause);
    }
    page_table(p, &t);
}

/* What the table cannot show. */
static void print_notes(const struct page *p)
{
    const struct collections *c = &p->r->a->collections;
    bool kinds[COLLECTION_KINDS] = {false};
    struct buf b = {0};
    for (size_t i = 0; i < c->n_sums; i++)
        kinds[c->sum[i].kind] = true;
    put_rate(&b, c);
    if (b.len)
        buf_puts(&b, ". ");
    if (kinds[COLLECTION_CYCLE])
        buf_puts(&b, "Cycles run concurrently with the threads: their time is not a pause, and "
                     "they freed at least the amount shown. ");
    if (kinds[COLLECTION_PART])
        buf_puts(&b, "Rows without a number of collections are pauses of concurrent cycles; the "
                     "trace lacks the begin and end of these cycles. ");
    if (b.len)
        page_wrapped(p, STYLE_FAINT, "", buf_str(&b), 0);
    buf_fini(&b);
}

static void print_safepoints(const struct page *p)
{
    static const struct table_column columns[] = {
        {"safepoints", TABLE_RIGHT, false}, {"stopped", TABLE_RIGHT, false},
        {"longest", TABLE_RIGHT, false},    {"reaching", TABLE_RIGHT, false},
        {"longest", TABLE_RIGHT, false},    {"operation", TABLE_LEFT, true}};
    const struct safepoints *all = &p->r->a->safepoints;
    struct table t;
    page_list_heading(p, "Safepoints", all->n_sums, "most time first");
    table_init(&t, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < report_rows(p->r, all->n_sums); i++) {
        const struct safepoint_sum *s = &all->sum[i];
        char name[128];
        snprintf(name, sizeof name, "%s%s", s->operation, s->collects ? " (collection)" : "");
        cell_count(&t, s->count);
        cell_time(&t, s->ns, true);
        cell_time(&t, s->ns_max, true);
        cell_time(&t, s->reach, true);
        cell_time(&t, s->reach_max, true);
        table_put(&t, name);
    }
    page_table(p, &t);
    page_wrapped(p, STYLE_FAINT, "",
                 "reaching: time until all threads had stopped. Safepoints marked (collection) are "
                 "the pauses above.",
                 0);
}

void page_gc(const struct page *p)
{
    const struct report *r = p->r;
    if (r->sections & REPORT_FINDINGS)
        return; /* the head has a line */
    if (r->a->collections.n) {
        print_sums(p);
        print_notes(p);
    } else
        page_nothing(p, "No collection was recorded.");
    if (r->a->safepoints.n)
        print_safepoints(p);
}
