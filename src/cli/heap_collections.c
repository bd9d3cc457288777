/* heap_collections.c - `orca heap --collections`: empty and sparse ones, arrays of nothing. */
#include "base/human.h"
#include "cli/heap_cells.h"
#include "cli/heap_parts.h"
#include "heap/missing.h"

#include <stdio.h>

static const char *const fills[COLLECTION_FILLS] = {
    [FILL_EMPTY] = "empty", [FILL_QUARTER] = "quarter",
    [FILL_HALF] = "half",   [FILL_THREE_QUARTERS] = "three_quarters",
    [FILL_FULL] = "full",   [FILL_UNKNOWN] = "unknown"};

static int find(struct heap_report *h, struct err *err)
{
    return collections_find(&h->collections, h->d, err);
}

static void release(struct heap_report *h)
{
    collections_fini(&h->collections);
}

/* --- text ------------------------------------------------------------------------------------- */

static size_t shown(const struct heap_report *h, size_t n)
{
    return n < h->top ? n : h->top;
}

static void print_classes(const struct heap_report *h)
{
    static const struct table_column columns[] = {
        {"wasted", TABLE_RIGHT, false}, {"number", TABLE_RIGHT, false},
        {"empty", TABLE_RIGHT, false},  {"<= 1/4", TABLE_RIGHT, false},
        {"<= 1/2", TABLE_RIGHT, false}, {"<= 3/4", TABLE_RIGHT, false},
        {"fuller", TABLE_RIGHT, false}, {"no array", TABLE_RIGHT, false},
        {"class", TABLE_LEFT, true}};
    const struct collections_found *c = &h->collections;
    struct table t;
    table_init(&t, columns, 9);
    for (size_t i = 0; i < shown(h, c->n_classes); i++) {
        const struct collection_class *k = &c->classes[i];
        heap_put_count(&t, k->wasted);
        heap_put_count(&t, k->count);
        for (int f = 0; f < COLLECTION_FILLS; f++)
            heap_put_count(&t, k->by_fill[f]);
        heap_put_name(h, &t, heap_class_name(h->d, k->class_number));
    }
    heap_put_table(&t);
    heap_more(c->n_classes, shown(h, c->n_classes));
}

static void print_holders(const struct heap_report *h)
{
    static const struct table_column columns[] = {{"wasted", TABLE_RIGHT, false},
                                                  {"number", TABLE_RIGHT, false},
                                                  {"empty", TABLE_RIGHT, false},
                                                  {"field", TABLE_LEFT, true}};
    const struct collections_found *c = &h->collections;
    struct table t;
    heap_heading("Who refers to collections");
    table_init(&t, columns, 4);
    for (size_t i = 0; i < shown(h, c->n_holders); i++) {
        struct buf b = {0};
        heap_put_count(&t, c->holders[i].bytes);
        heap_put_count(&t, c->holders[i].count);
        heap_put_count(&t, c->holders[i].marked);
        holder_name(h->d, &c->holders[i], &b);
        heap_put_name(h, &t, buf_str(&b));
        buf_fini(&b);
    }
    heap_put_table(&t);
    heap_more(c->n_holders, shown(h, c->n_holders));
}

static void print_arrays(const struct heap_report *h)
{
    static const struct table_column columns[] = {{"bytes", TABLE_RIGHT, false},
                                                  {"number", TABLE_RIGHT, false},
                                                  {"length 0", TABLE_RIGHT, false},
                                                  {"class", TABLE_LEFT, true}};
    const struct collections_found *c = &h->collections;
    struct table t;
    heap_heading("Arrays without content");
    printf("Arrays that hold only null or 0: %s%s of %s\n", heap_at_least(h->d, false),
           human_count(c->array_count).text, human_bytes(c->array_bytes).text);
    table_init(&t, columns, 4);
    for (size_t i = 0; i < shown(h, c->n_arrays); i++) {
        heap_put_count(&t, c->arrays[i].bytes);
        heap_put_count(&t, c->arrays[i].count);
        heap_put_count(&t, c->arrays[i].no_length);
        heap_put_name(h, &t, heap_class_name(h->d, c->arrays[i].class_number));
    }
    heap_put_table(&t);
    heap_more(c->n_arrays, shown(h, c->n_arrays));
}

static void text(struct heap_report *h)
{
    const struct collections_found *c = &h->collections;
    if (!heap_has_contents(h, "Collections, by how much of their array is used"))
        return;
    heap_heading("Collections, by how much of their array is used");
    printf("%s%s collections, %s of them empty, %s with at most a quarter of their array used; %s "
           "wasted\n",
           heap_at_least(h->d, true), human_count(c->count).text, human_count(c->empty).text,
           human_count(c->sparse).text, human_bytes(c->wasted).text);
    if (c->n_classes)
        print_classes(h);
    if (c->n_holders)
        print_holders(h);
    if (c->n_arrays)
        print_arrays(h);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static json_t *classes_json(const struct heap_report *h)
{
    const struct collections_found *c = &h->collections;
    json_t *list = json_array();
    for (size_t i = 0; i < shown(h, c->n_classes); i++) {
        const struct collection_class *k = &c->classes[i];
        json_t *j = json_pack(
            "{s:o, s:o, s:o}", "class", heap_cell_json_text(heap_class_name(h->d, k->class_number)),
            "number", heap_cell_json_number(k->count), "wasted", heap_cell_json_number(k->wasted));
        for (int f = 0; f < COLLECTION_FILLS; f++)
            json_object_set_new(j, fills[f], heap_cell_json_number(k->by_fill[f]));
        json_array_append_new(list, j);
    }
    return list;
}

static json_t *holders_json(const struct heap_report *h)
{
    const struct collections_found *c = &h->collections;
    json_t *list = json_array();
    for (size_t i = 0; i < shown(h, c->n_holders); i++) {
        struct buf b = {0};
        const struct holder *x = &c->holders[i];
        holder_name(h->d, x, &b);
        json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:o}", "field",
                                              heap_cell_json_text(buf_str(&b)), "number",
                                              heap_cell_json_number(x->count), "empty",
                                              heap_cell_json_number(x->marked), "wasted",
                                              heap_cell_json_number(x->bytes)));
        buf_fini(&b);
    }
    return list;
}

static json_t *arrays_json(const struct heap_report *h)
{
    const struct collections_found *c = &h->collections;
    json_t *list = json_array();
    for (size_t i = 0; i < shown(h, c->n_arrays); i++) {
        const struct array_class *a = &c->arrays[i];
        json_array_append_new(list,
                              json_pack("{s:o, s:o, s:o, s:o}", "class",
                                        heap_cell_json_text(heap_class_name(h->d, a->class_number)),
                                        "number", heap_cell_json_number(a->count), "bytes",
                                        heap_cell_json_number(a->bytes), "length_0",
                                        heap_cell_json_number(a->no_length)));
    }
    return list;
}

static json_t *json(struct heap_report *h)
{
    if (!missing_knows_contents(h->d))
        return json_null();
    const struct collections_found *c = &h->collections;
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "number", heap_cell_json_number(c->count),
        "empty", heap_cell_json_number(c->empty), "sparse", heap_cell_json_number(c->sparse),
        "wasted", heap_cell_json_number(c->wasted), "classes", classes_json(h), "holders",
        holders_json(h), "arrays_of_nothing", heap_cell_json_number(c->array_count),
        "arrays_of_nothing_bytes", heap_cell_json_number(c->array_bytes), "arrays", arrays_json(h));
}

const struct heap_part heap_part_collections = {
    .section = HEAP_COLLECTIONS,
    .key = "collections",
    .phase = "looking into collections",
    .find = find,
    .text = text,
    .json = json,
    .release = release,
};
