/* heap_diff.c - `orca heap --diff`: what has grown since another dump. */
#include "base/human.h"
#include "base/printable.h"
#include "cli/heap_cells.h"
#include "cli/heap_parts.h"

#include <stdio.h>

enum { CELL = 40 };

static int open_other(struct heap_report *h, struct err *err)
{
    struct dump_options how = h->d->options;
    how.counts_only = !h->diff_retained;
    return dump_open(&h->other, h->other_path, &how, err);
}

static void no_phase(void *ctx, const char *what)
{
    (void)ctx;
    (void)what;
}

/* The other dump's classes, and its dominator tree, which is not needed for longer. */
static int add_other(struct heap_report *h, struct err *err)
{
    const struct retained_options how = {.soft = h->soft, .classes = true, .phase = no_phase};
    struct retained r;
    if (!h->diff_retained)
        return diff_add(&h->diff, h->other, NULL, false, err);
    TRY(retained_find(&r, h->other, &how, err));
    int rc = diff_add(&h->diff, h->other, r.class_bytes, false, err);
    retained_fini(&r);
    return rc;
}

static int add_this(struct heap_report *h, const uint64_t *retained, struct err *err)
{
    TRY(diff_add(&h->diff, h->d, retained, true, err));
    diff_order(&h->diff);
    return 0;
}

static int find(struct heap_report *h, struct err *err)
{
    diff_init(&h->diff);
    TRY(open_other(h, err));
    TRY(add_other(h, err));
    return h->diff_retained ? 0 : add_this(h, NULL, err);
}

static int find_retained(struct heap_report *h, struct err *err)
{
    return h->diff_retained ? add_this(h, h->retained.class_bytes, err) : 0;
}

static void release(struct heap_report *h)
{
    diff_fini(&h->diff);
    dump_close(h->other);
    h->other = NULL;
}

/* --- text ------------------------------------------------------------------------------------- */

/* Retained sizes of both dumps are known. */
static bool with_retained(const struct heap_report *h)
{
    return h->diff_retained && h->diff.whole_then && h->diff.whole_now;
}

/* Rows that are certain, and that there is room for. */
static size_t shown_grown(const struct heap_report *h)
{
    const struct diff *d = &h->diff;
    return !d->known_grown ? 0 : d->grown < h->top ? d->grown : h->top;
}

static size_t shown_shrunk(const struct heap_report *h)
{
    const struct diff *d = &h->diff;
    return !d->known_shrunk ? 0 : d->shrunk < h->top ? d->shrunk : h->top;
}

/* "+1,234", "-12"; "-" for no change. */
static void put_change(struct table *t, uint64_t then, uint64_t now)
{
    char text[CELL];
    snprintf(text, sizeof text, "%s%s", now > then ? "+" : "-",
             now == then ? "" : human_count(now > then ? now - then : then - now).text);
    table_put(t, text);
}

static void put_row(const struct heap_report *h, struct table *t, const struct class_change *c)
{
    put_change(t, c->then.bytes, c->now.bytes);
    heap_put_count(t, c->then.bytes);
    heap_put_count(t, c->now.bytes);
    put_change(t, c->then.count, c->now.count);
    heap_put_count(t, c->now.count);
    if (with_retained(h)) {
        put_change(t, c->then.retained, c->now.retained);
        heap_put_count(t, c->now.retained);
    }
    heap_put_name(h, t, c->name);
}

/* n rows from `from` on, by `step`. */
static void print_rows(const struct heap_report *h, size_t from, int step, size_t n)
{
    static const struct table_column plain[] = {
        {"growth", TABLE_RIGHT, false}, {"bytes then", TABLE_RIGHT, false},
        {"now", TABLE_RIGHT, false},    {"objects", TABLE_RIGHT, false},
        {"now", TABLE_RIGHT, false},    {"class", TABLE_LEFT, true}};
    static const struct table_column retained[] = {
        {"growth", TABLE_RIGHT, false}, {"bytes then", TABLE_RIGHT, false},
        {"now", TABLE_RIGHT, false},    {"objects", TABLE_RIGHT, false},
        {"now", TABLE_RIGHT, false},    {"retained", TABLE_RIGHT, false},
        {"now", TABLE_RIGHT, false},    {"class", TABLE_LEFT, true}};
    struct table t;
    table_init(&t, with_retained(h) ? retained : plain, with_retained(h) ? 8 : 6);
    for (size_t i = 0; i < n; i++, from += (size_t)step)
        put_row(h, &t, &h->diff.v[from]);
    heap_put_table(&t);
}

/* Changes that may come from an incomplete dump are not shown. */
static void print_unknown(const char *what, const char *path)
{
    printf("Orca cannot say what has %s: ", what);
    printable_put(stdout, path);
    printf(" is incomplete, and objects that it lacks would seem to have %s.\n", what);
}

static void print_sums(const struct heap_report *h)
{
    const struct diff *d = &h->diff;
    printable_put(stdout, h->other->path);
    printf(": %s%s objects of %s; now %s%s of %s\n", heap_at_least(h->other, false),
           human_count(d->then.count).text, human_bytes(d->then.bytes).text,
           heap_at_least(h->d, false), human_count(d->now.count).text,
           human_bytes(d->now.bytes).text);
    if (d->known_grown && d->known_shrunk)
        printf("%s classes grew, %s shrank, %s did not change\n", human_count(d->grown).text,
               human_count(d->shrunk).text, human_count(d->n - d->grown - d->shrunk).text);
    if (!d->known_grown)
        print_unknown("grown", d->whole_then ? h->d->path : h->other->path);
    if (!d->known_shrunk)
        print_unknown("shrunk", d->whole_now ? h->other->path : h->d->path);
}

static void text(struct heap_report *h)
{
    const struct diff *d = &h->diff;
    bool whole = d->whole_then && d->whole_now;
    size_t grown = shown_grown(h), shrunk = shown_shrunk(h);
    heap_heading("Since the other dump");
    print_sums(h);
    if (grown) {
        heap_heading(whole ? "Grown" : "Grown, at least");
        print_rows(h, 0, 1, grown);
        heap_more(d->grown, grown);
    }
    if (shrunk) {
        heap_heading(whole ? "Shrunk" : "Shrunk, at least");
        print_rows(h, d->n - 1, -1, shrunk);
        heap_more(d->shrunk, shrunk);
    }
}

/* --- JSON ------------------------------------------------------------------------------------- */

static json_t *totals_json(const struct heap_report *h, const struct class_totals *t, bool all)
{
    json_t *j = json_pack("{s:o, s:o}", "instances", heap_cell_json_number(t->count), "bytes",
                          heap_cell_json_number(t->bytes));
    if (with_retained(h) && !all)
        json_object_set_new(j, "retained", heap_cell_json_number(t->retained));
    return j;
}

static json_t *row_json(const struct heap_report *h, const struct class_change *c)
{
    return json_pack("{s:o, s:I, s:o, s:o}", "class", heap_cell_json_text(c->name), "growth",
                     (json_int_t)diff_bytes(c), "then", totals_json(h, &c->then, false), "now",
                     totals_json(h, &c->now, false));
}

static json_t *json(struct heap_report *h)
{
    const struct diff *d = &h->diff;
    size_t grown = shown_grown(h), shrunk = shown_shrunk(h);
    json_t *list = json_array();
    for (size_t i = 0; i < grown; i++)
        json_array_append_new(list, row_json(h, &d->v[i]));
    for (size_t i = d->n - shrunk; i < d->n; i++)
        json_array_append_new(list, row_json(h, &d->v[i]));
    return json_pack("{s:o, s:b, s:o, s:o, s:o, s:o, s:o}", "other",
                     heap_cell_json_text(h->other->path), "other_partial", h->other->partial,
                     "then", totals_json(h, &d->then, true), "now", totals_json(h, &d->now, true),
                     "grown", d->known_grown ? heap_cell_json_number(d->grown) : json_null(),
                     "shrunk", d->known_shrunk ? heap_cell_json_number(d->shrunk) : json_null(),
                     "classes", list);
}

const struct heap_part heap_part_diff = {
    .section = HEAP_DIFF,
    .key = "diff",
    .phase = "reading the other dump",
    .find = find,
    .find_retained = find_retained,
    .text = text,
    .json = json,
    .release = release,
};
