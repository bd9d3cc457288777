/* heap_strings.c - `orca heap --strings`: Strings of equal value. */
#include "base/human.h"
#include "base/printable.h"
#include "cli/heap_cells.h"
#include "cli/heap_parts.h"
#include "heap/missing.h"

#include <stdio.h>

enum { VALUE_WIDTH = 36 };

static int find(struct heap_report *h, struct err *err)
{
    return strings_find(&h->strings, h->d, h->top, err);
}

static void release(struct heap_report *h)
{
    strings_fini(&h->strings);
}

/* A value as a cell: in quotes, and only its beginning. */
static void put_value(const struct heap_report *h, struct table *t, const struct equal_strings *e)
{
    struct buf b = {0}, cell = {0};
    buf_printf(&b, "\"%s%s\"", e->text ? e->text : "", e->cut ? "..." : "");
    char *text = (char *)(uintptr_t)heap_printable(h, buf_str(&b), &cell);
    if (cell.len)
        printable_cut(text, VALUE_WIDTH);
    table_put(t, text);
    buf_fini(&b);
    buf_fini(&cell);
}

static void put_holders(const struct heap_report *h, struct table *t, const struct equal_strings *e)
{
    struct buf b = {0};
    if (e->n_holders) {
        buf_printf(&b, "%s ", human_count(e->holders[0].count).text);
        holder_name(h->d, &e->holders[0], &b);
    }
    if (e->all > 1)
        buf_printf(&b, " and %s more", human_count(e->all - 1).text);
    heap_put_name(h, t, buf_str(&b));
    buf_fini(&b);
}

static void text(struct heap_report *h)
{
    static const struct table_column columns[] = {{"wasted", TABLE_RIGHT, false},
                                                  {"strings", TABLE_RIGHT, false},
                                                  {"length", TABLE_RIGHT, false},
                                                  {"value", TABLE_LEFT, false},
                                                  {"referred to by", TABLE_LEFT, true}};
    const struct strings_found *s = &h->strings;
    struct table t;
    if (!heap_has_contents(h, "Equal strings"))
        return;
    heap_heading("Equal strings");
    printf("%s%s Strings of %s values; %s values exist more than once, and waste %s\n",
           heap_at_least(h->d, true), human_count(s->strings).text, human_count(s->values).text,
           human_count(s->duplicated).text, human_bytes(s->wasted).text);
    if (s->n == 0)
        return;
    table_init(&t, columns, 5);
    for (size_t i = 0; i < s->n; i++) {
        const struct equal_strings *e = &s->v[i];
        heap_put_count(&t, e->wasted);
        heap_put_count(&t, e->strings);
        heap_put_count(&t, e->length);
        put_value(h, &t, e);
        put_holders(h, &t, e);
    }
    heap_put_table(&t);
    heap_more(s->duplicated, s->n);
}

static json_t *holders_json(const struct dump *d, const struct equal_strings *e)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < e->n_holders; i++) {
        struct buf b = {0};
        holder_name(d, &e->holders[i], &b);
        json_array_append_new(list,
                              json_pack("{s:o, s:o}", "field", heap_cell_json_text(buf_str(&b)),
                                        "references", heap_cell_json_number(e->holders[i].count)));
        buf_fini(&b);
    }
    return list;
}

static json_t *json(struct heap_report *h)
{
    if (!missing_knows_contents(h->d))
        return json_null();
    const struct strings_found *s = &h->strings;
    json_t *list = json_array();
    for (size_t i = 0; i < s->n; i++) {
        const struct equal_strings *e = &s->v[i];
        json_array_append_new(list, json_pack("{s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o}", "value",
                                              heap_cell_json_text(e->text ? e->text : ""), "cut",
                                              e->cut, "length", heap_cell_json_number(e->length),
                                              "strings", heap_cell_json_number(e->strings),
                                              "arrays", heap_cell_json_number(e->arrays), "wasted",
                                              heap_cell_json_number(e->wasted), "holders_total",
                                              heap_cell_json_number(e->all), "holders",
                                              holders_json(h->d, e)));
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "strings", heap_cell_json_number(s->strings),
                     "values", heap_cell_json_number(s->values), "duplicated",
                     heap_cell_json_number(s->duplicated), "wasted",
                     heap_cell_json_number(s->wasted), "equal", list);
}

const struct heap_part heap_part_strings = {
    .section = HEAP_STRINGS,
    .key = "strings",
    .phase = "comparing strings",
    .find = find,
    .text = text,
    .json = json,
    .release = release,
};
