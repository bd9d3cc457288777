/* report_alloc.c - `orca report --alloc` and `--live`: what was allocated, by class, place and
 * thread, how long it lived, what is not freed, and what of it was found live. */
#include "cli/page.h"

#include "analyze/labels.h"
#include "base/buf.h"
#include "base/human.h"
#include "base/printable.h"
#include "base/util.h"
#include "cli/class_names.h"
#include "cli/page_cells.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { CLASS_WIDTH = 40, SPARK_WIDTH = 12, CELLS_MAX = 12 };

static bool is_whole_report(const struct page *p)
{
    return p->r->sections & REPORT_FINDINGS;
}

static const struct alloc_tables *tables(const struct page *p)
{
    return &p->r->allocs;
}

/* --- cells ------------------------------------------------------------------------------------ */

/* "12 %": how far off an estimate may be. */
static void cell_error(struct table *t, const struct alloc_amount *x)
{
    char text[16];
    unsigned error = alloc_error(x);
    snprintf(text, sizeof text, error < 95 ? "%.1f %%" : "%.0f %%", error / 10.0);
    table_put(t, x->records ? text : "-");
}

static void cell_grown(struct table *t, int64_t bytes)
{
    char text[40];
    uint64_t size = bytes < 0 ? -(uint64_t)bytes : (uint64_t)bytes;
    snprintf(text, sizeof text, "%c%s", bytes < 0 ? '-' : '+', human_bytes(size).text);
    table_put(t, bytes ? text : "-");
}

static void cell_survivors(struct table *t, const struct page *p, const struct alloc_row *r)
{
    char text[4 * PAGE_BAR] = "-";
    uint64_t v[SPARK_WIDTH];
    size_t points = tables(p)->points.n, n = points < SPARK_WIDTH ? points : SPARK_WIDTH;
    for (size_t i = 0; r->survivors && i < n; i++)
        v[i] = r->survivors[(i + 1) * points / n - 1];
    if (r->survivors && n)
        page_spark(p, v, n, n, text);
    table_put(t, text);
}

static void class_text(const struct page *p, const struct alloc_row *r, size_t width,
                       char out[PAGE_NAME])
{
    page_class(p, trace_class(p->r->trace, r->class_)->signature, out);
    class_name_fit(out, width);
}

/* --- columns ---------------------------------------------------------------------------------- */

/* What a column shows of a row, and when it is there. */
enum when {
    ALWAYS,
    IF_SAMPLED,
    IF_ENDS_SAMPLED,
    IF_ENDS,
    IF_RANGE,
    IF_PAUSES,
    IF_LENGTH,
    IF_WHOLE,
    IF_WHOLE_SAMPLED,
};

enum cell {
    CELL_ALLOCATED,
    CELL_ALLOCATED_SHARE,
    CELL_ALLOCATED_OBJECTS,
    CELL_ALLOCATED_ERROR,
    CELL_RATE,
    CELL_FREED,
    CELL_KEPT,
    CELL_KEPT_SHARE,
    CELL_KEPT_OBJECTS,
    CELL_KEPT_ERROR,
    CELL_LIVE,
    CELL_LIVE_ERROR,
    CELL_GROWN,
    CELL_AGE,
    CELL_OLDEST,
    CELL_SURVIVORS,
    CELL_P50,
    CELL_P99,
    CELL_CLASS,
    CELL_PLACE,
    CELL_THREAD,
};

struct cell_info {
    enum cell cell;
    enum when when;
    struct table_column column;
};

#define RIGHT(cell, when, title)                                                                   \
    {                                                                                              \
        cell, when,                                                                                \
        {                                                                                          \
            title, TABLE_RIGHT, false                                                              \
        }                                                                                          \
    }
#define NAME(cell, title)                                                                          \
    {                                                                                              \
        cell, ALWAYS,                                                                              \
        {                                                                                          \
            title, TABLE_LEFT, true                                                                \
        }                                                                                          \
    }

static const struct cell_info allocated[ALLOC_TABLES][CELLS_MAX] = {
    [ALLOC_BY_CLASS] = {RIGHT(CELL_ALLOCATED, ALWAYS, "allocated"),
                        RIGHT(CELL_ALLOCATED_SHARE, ALWAYS, "of all"),
                        RIGHT(CELL_ALLOCATED_OBJECTS, ALWAYS, "objects"),
                        RIGHT(CELL_ALLOCATED_ERROR, IF_SAMPLED, "+-"),
                        RIGHT(CELL_FREED, IF_ENDS, "freed"), RIGHT(CELL_KEPT, IF_ENDS, "not freed"),
                        RIGHT(CELL_P50, IF_ENDS, "lived p50"), RIGHT(CELL_P99, IF_ENDS, "p99"),
                        NAME(CELL_CLASS, "class")},
    [ALLOC_BY_PLACE] = {RIGHT(CELL_ALLOCATED, ALWAYS, "allocated"),
                        RIGHT(CELL_ALLOCATED_SHARE, ALWAYS, "of all"),
                        RIGHT(CELL_ALLOCATED_OBJECTS, ALWAYS, "objects"),
                        RIGHT(CELL_ALLOCATED_ERROR, IF_SAMPLED, "+-"),
                        RIGHT(CELL_KEPT, IF_ENDS, "not freed"),
                        RIGHT(CELL_P50, IF_ENDS, "lived p50"), NAME(CELL_PLACE, "where")},
    [ALLOC_BY_THREAD] = {RIGHT(CELL_ALLOCATED, ALWAYS, "allocated"),
                         RIGHT(CELL_ALLOCATED_SHARE, ALWAYS, "of all"),
                         RIGHT(CELL_RATE, IF_LENGTH, "a second"),
                         RIGHT(CELL_ALLOCATED_OBJECTS, ALWAYS, "objects"),
                         RIGHT(CELL_ALLOCATED_ERROR, IF_SAMPLED, "+-"),
                         RIGHT(CELL_KEPT, IF_ENDS, "not freed"), NAME(CELL_THREAD, "thread")},
};

#define KEPT_CELLS                                                                                 \
    RIGHT(CELL_KEPT, ALWAYS, "not freed"), RIGHT(CELL_KEPT_SHARE, ALWAYS, "of all"),               \
        RIGHT(CELL_KEPT_OBJECTS, ALWAYS, "objects"),                                               \
        RIGHT(CELL_KEPT_ERROR, IF_ENDS_SAMPLED, "+-"), RIGHT(CELL_LIVE, IF_WHOLE, "found live"),   \
        RIGHT(CELL_LIVE_ERROR, IF_WHOLE_SAMPLED, "+-"), RIGHT(CELL_GROWN, IF_RANGE, "all grew"),   \
        RIGHT(CELL_AGE, IF_PAUSES, "age"), RIGHT(CELL_OLDEST, IF_PAUSES, "oldest")

static const struct cell_info kept[ALLOC_TABLES][CELLS_MAX] = {
    [ALLOC_BY_CLASS] = {KEPT_CELLS,
                        {CELL_SURVIVORS, IF_PAUSES, {"survivors", TABLE_LEFT, false}},
                        NAME(CELL_CLASS, "class")},
    [ALLOC_BY_PLACE] = {KEPT_CELLS,
                        {CELL_SURVIVORS, IF_PAUSES, {"survivors", TABLE_LEFT, false}},
                        NAME(CELL_PLACE, "where")},
    [ALLOC_BY_THREAD] = {KEPT_CELLS, NAME(CELL_THREAD, "thread")},
};

static uint64_t range_length(const struct page *p)
{
    const struct selection *s = &p->r->a->stats.selection;
    const struct decode_window *w = &p->r->a->window;
    return min_u64(s->to, w->to) - max_u64(s->from, w->from);
}

static bool is_there(const struct page *p, enum when when)
{
    const struct alloc_tables *x = tables(p);
    switch (when) {
    case IF_SAMPLED:
        return x->source == ALLOC_SAMPLED;
    case IF_ENDS_SAMPLED:
        return x->ends == ALLOC_SAMPLED;
    case IF_ENDS:
        return x->has_ends;
    case IF_RANGE:
        return p->r->a->stats.selection.from > p->r->a->window.from;
    case IF_PAUSES:
        return x->pauses > 0;
    case IF_LENGTH:
        return range_length(p) > 0;
    case IF_WHOLE:
        return x->whole != 0;
    case IF_WHOLE_SAMPLED:
        return x->whole != 0 && x->ends == ALLOC_SAMPLED;
    default:
        return true;
    }
}

/* --- rows ------------------------------------------------------------------------------------- */

static void put_place(struct table *t, const struct page *p, const struct alloc_row *r)
{
    char text[PAGE_NAME] = "not recorded";
    size_t width = table_room(t, page_room(p, PLACE_WIDTH));
    if (r->stack.v)
        page_place(p, r->app, width, text);
    table_put(t, text);
}

static void put_cell(struct table *t, const struct page *p, const struct alloc_row *r,
                     enum cell cell)
{
    const struct alloc_amount *all = tables(p)->all.of, *of = r->of;
    char text[PAGE_NAME];
    switch (cell) {
    case CELL_ALLOCATED:
        cell_bytes(t, of[ALLOC_ALLOCATED].bytes);
        break;
    case CELL_ALLOCATED_SHARE:
        cell_percent(t, of[ALLOC_ALLOCATED].bytes, all[ALLOC_ALLOCATED].bytes);
        break;
    case CELL_ALLOCATED_OBJECTS:
        cell_count(t, alloc_objects(&of[ALLOC_ALLOCATED]));
        break;
    case CELL_ALLOCATED_ERROR:
        cell_error(t, &of[ALLOC_ALLOCATED]);
        break;
    case CELL_RATE:
        cell_bytes(t, (uint64_t)((unsigned __int128)of[ALLOC_ALLOCATED].bytes * 1000000000u /
                                 range_length(p)));
        break;
    case CELL_FREED:
        cell_bytes(t, of[ALLOC_FREED].bytes + of[ALLOC_EARLIER].bytes);
        break;
    case CELL_KEPT:
        cell_bytes(t, of[ALLOC_KEPT].bytes);
        break;
    case CELL_KEPT_SHARE:
        cell_percent(t, of[ALLOC_KEPT].bytes, all[ALLOC_KEPT].bytes);
        break;
    case CELL_KEPT_OBJECTS:
        cell_count(t, alloc_objects(&of[ALLOC_KEPT]));
        break;
    case CELL_KEPT_ERROR:
        cell_error(t, &of[ALLOC_KEPT]);
        break;
    case CELL_LIVE:
        cell_bytes(t, of[ALLOC_LIVE].bytes);
        break;
    case CELL_LIVE_ERROR:
        cell_error(t, &of[ALLOC_LIVE]);
        break;
    case CELL_GROWN:
        cell_grown(t, alloc_grown(of));
        break;
    case CELL_AGE:
        cell_count(t, r->ages.p50);
        break;
    case CELL_OLDEST:
        cell_count(t, r->ages.max);
        break;
    case CELL_SURVIVORS:
        cell_survivors(t, p, r);
        break;
    case CELL_P50:
        cell_time(t, r->lives.p50, r->lives.thousandths > 0);
        break;
    case CELL_P99:
        cell_time(t, r->lives.p99, r->lives.thousandths > 0);
        break;
    case CELL_CLASS:
        class_text(p, r, table_room(t, CLASS_WIDTH), text);
        table_put(t, text);
        break;
    case CELL_PLACE:
        put_place(t, p, r);
        break;
    case CELL_THREAD:
        cell_thread(t, p, r->thread);
        break;
    }
}

/* A line below a place, in the last of n columns. */
static void put_detail(struct table *t, size_t n, const char *word, const char *text)
{
    char line[PAGE_NAME + 16];
    for (size_t i = 1; i < n; i++)
        table_put(t, "");
    snprintf(line, sizeof line, "  %s %s", word, text);
    table_put(t, line);
}

static void put_details(struct table *t, const struct page *p, const struct alloc_row *r, size_t n)
{
    char text[PAGE_NAME];
    size_t room = table_room(t, page_room(p, PLACE_WIDTH)), width = room > 5 ? room - 5 : 0;
    if (memcmp(&r->app, &r->top, sizeof r->app) != 0) {
        page_place(p, r->top, width, text);
        put_detail(t, n, "in", text);
    }
    class_text(p, r, width, text);
    put_detail(t, n, "of", text);
}

/* The rows that have something of what the table is about. */
static size_t count_rows(const struct alloc_list *l, enum alloc_what what)
{
    size_t n = 0;
    while (n < l->n && l->v[n].of[what].bytes)
        n++;
    return n;
}

static bool any_place(const struct alloc_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->v[i].stack.v)
            return true;
    return false;
}

static void print_table(const struct page *p, const char *title, enum alloc_table table,
                        const struct cell_info cells[CELLS_MAX], enum alloc_what what)
{
    struct table_column columns[CELLS_MAX];
    const struct alloc_list *l = &tables(p)->of[table];
    size_t n_columns = 0, n = count_rows(l, what);
    for (size_t i = 0; i < CELLS_MAX; i++)
        if (cells[i].column.title && is_there(p, cells[i].when))
            columns[n_columns++] = cells[i].column;
    if (n == 0 || (table == ALLOC_BY_PLACE && !any_place(l)))
        return;
    struct table t;
    page_list_heading(p, title, n, "most bytes first");
    table_init(&t, columns, n_columns);
    for (size_t i = 0; i < report_rows(p->r, n); i++) {
        for (size_t k = 0; k < CELLS_MAX; k++)
            if (cells[k].column.title && is_there(p, cells[k].when))
                put_cell(&t, p, &l->v[i], cells[k].cell);
        if (table == ALLOC_BY_PLACE)
            put_details(&t, p, &l->v[i], n_columns);
    }
    page_table(p, &t);
}

/* --- what they are made of -------------------------------------------------------------------- */

static void put_amount(struct buf *b, const struct alloc_amount *x)
{
    uint64_t n = alloc_objects(x);
    buf_printf(b, "%s in %s object%s", human_bytes(x->bytes).text, human_count(n).text,
               n == 1 ? "" : "s");
}

static void put_samples(struct buf *b, const struct alloc_amount *x)
{
    unsigned error = alloc_error(x);
    buf_printf(b, " (estimated from %s sample%s, +- %u.%u %%)", human_count(x->records).text,
               x->records == 1 ? "" : "s", error / 10, error % 10);
}

static void put_rest(struct buf *b, const struct alloc_tables *x)
{
    const struct alloc_amount *of = x->all.of;
    if (of[ALLOC_EARLIER].records) {
        buf_puts(b, ". Also freed, allocated in earlier files of the recording: ");
        put_amount(b, &of[ALLOC_EARLIER]);
    }
    if (x->unmatched)
        buf_printf(b, ". Of %s freed object%s the allocation is missing",
                   human_count(x->unmatched).text, x->unmatched == 1 ? "" : "s");
}

static void print_sum(const struct page *p)
{
    const struct alloc_tables *x = tables(p);
    const struct alloc_amount *of = x->all.of;
    struct buf b = {0};
    put_amount(&b, &of[ALLOC_ALLOCATED]);
    if (x->source == ALLOC_SAMPLED)
        put_samples(&b, &of[ALLOC_ALLOCATED]);
    if (x->has_ends) {
        buf_puts(&b, "; freed ");
        put_amount(&b, &of[ALLOC_FREED]);
        buf_puts(&b, "; not freed ");
        put_amount(&b, &of[ALLOC_KEPT]);
        if (x->ends == ALLOC_SAMPLED)
            put_samples(&b, &of[ALLOC_KEPT]);
    }
    put_rest(&b, x);
    buf_putc(&b, '.');
    page_wrapped(p, STYLE_FAINT, "", buf_str(&b), 0);
    buf_fini(&b);
}

/* An object that is not freed may only not be collected yet. */
static void print_found(const struct page *p)
{
    const struct alloc_tables *x = tables(p);
    struct buf b = {0};
    if (!x->has_ends || !x->all.of[ALLOC_KEPT].bytes)
        return;
    if (x->whole) {
        buf_puts(&b, "Found live: ");
        put_amount(&b, &x->all.of[ALLOC_LIVE]);
        if (x->ends == ALLOC_SAMPLED)
            put_samples(&b, &x->all.of[ALLOC_LIVE]);
        buf_printf(&b,
                   ", allocated before %s, which a later collection of the whole heap found live. "
                   "The rest is live, or not collected yet.",
                   human_time(x->whole - min_u64(x->whole, p->r->a->window.from)).text);
    } else {
        buf_puts(&b, "How much of this is live is unknown: no full collection was recorded. "
                     "orca heap live PID --full asks a running JVM for one.");
    }
    page_wrapped(p, STYLE_FAINT, "", buf_str(&b), 0);
    buf_fini(&b);
}

static void print_notes(const struct page *p)
{
    const struct alloc_tables *x = tables(p);
    if (x->source == ALLOC_SAMPLED || x->ends == ALLOC_SAMPLED)
        page_wrapped(p, STYLE_FAINT, "",
                     "+-: relative standard error of an estimate, 1 / sqrt(samples); two of three "
                     "estimates are within it.",
                     0);
    if (is_whole_report(p))
        return;
    if (p->r->live && is_there(p, IF_RANGE))
        page_wrapped(
            p, STYLE_FAINT, "",
            "all grew: bytes not freed at the end, minus bytes not freed when the range began.", 0);
    if (p->r->live && x->pauses)
        page_wrapped(
            p, STYLE_FAINT, "",
            "age: collections that the median object has outlived; survivors: bytes that had "
            "outlived a collection, over time, older objects included.",
            0);
    if (!x->has_ends)
        page_wrapped(p, STYLE_FAINT, "",
                     "Counted allocations have no ends: to know what is freed, record with --alloc "
                     "512k (events=...+sampled-alloc), or with +alloc+frees.",
                     0);
}

/* --- all of it -------------------------------------------------------------------------------- */

/* Of a JVM that was recorded from its start: what no event reports. */
static void print_before(const struct page *p)
{
    uint64_t objects, bytes;
    char text[160];
    const char *before = trace_info(p->r->a->trace, "orca.alloc.before", "");
    if (sscanf(before, "%" SCNu64 " objects, %" SCNu64 " bytes", &objects, &bytes) != 2)
        return;
    snprintf(text, sizeof text,
             "Not counted: %s objects, %s, that existed when the JVM was initialised.",
             human_count(objects).text, human_bytes(bytes).text);
    page_wrapped(p, STYLE_FAINT, "", text, 0);
}

static void print_allocated(const struct page *p)
{
    print_table(p, "Allocated, by class", ALLOC_BY_CLASS, allocated[ALLOC_BY_CLASS],
                ALLOC_ALLOCATED);
    print_sum(p);
    print_before(p);
    print_table(p, "Allocated, by call site", ALLOC_BY_PLACE, allocated[ALLOC_BY_PLACE],
                ALLOC_ALLOCATED);
    if (!is_whole_report(p))
        print_table(p, "Allocated, by thread", ALLOC_BY_THREAD, allocated[ALLOC_BY_THREAD],
                    ALLOC_ALLOCATED);
    print_notes(p);
}

static void print_kept(const struct page *p)
{
    print_table(p,
                is_there(p, IF_RANGE) ? "Allocated in the range and not freed at the end, by class"
                                      : "Not freed at the end, by class",
                ALLOC_BY_CLASS, kept[ALLOC_BY_CLASS], ALLOC_KEPT);
    print_sum(p);
    print_found(p);
    print_table(p, "Not freed, by call site", ALLOC_BY_PLACE, kept[ALLOC_BY_PLACE], ALLOC_KEPT);
    print_table(p, "Not freed, by the thread that allocated it", ALLOC_BY_THREAD,
                kept[ALLOC_BY_THREAD], ALLOC_KEPT);
    print_notes(p);
}

static bool any_amount(const struct alloc_amount of[ALLOC_WHATS])
{
    return of[ALLOC_ALLOCATED].bytes || of[ALLOC_FREED].bytes || of[ALLOC_EARLIER].bytes;
}

void page_allocs(const struct page *p)
{
    const struct allocs *s = &p->r->a->allocs;
    if (!allocs_any(s))
        page_nothing(p, "No allocations were recorded: record with orca record --alloc 512k "
                        "(events=...+sampled-alloc) for estimates, with events=...+alloc for all "
                        "of them.");
    else if (!any_amount(tables(p)->all.of))
        page_nothing(p, "No allocation in this part of the recording.");
    else if (p->r->live && !tables(p)->has_ends)
        page_nothing(p, "Freed objects are unknown, because counted allocations have no ends: "
                        "record with orca record --alloc 512k (events=...+sampled-alloc), or with "
                        "+alloc+frees.");
    else if (p->r->live)
        print_kept(p);
    else
        print_allocated(p);
}
