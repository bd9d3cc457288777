/* heap_waste.c - the answers `strings` and `collections`: memory that holds the same twice, or
 * nothing. */
#include "view/heap_parts.h"

#include "base/util.h"

static size_t rows(const struct heap_ask *a, size_t n)
{
    uint64_t top = a->given & HEAP_ASK(TOP) ? a->top : HEAP_TOP_MAX;
    return min_u64(n, min_u64(top, HEAP_TOP_MAX));
}

/* {field, class}: who refers to something, and whose field that is. */
static json_t *holder_json(const struct heap_view *h, const struct holder *x)
{
    struct buf b = {0};
    holder_name(h->d, x, &b);
    json_t *j =
        json_pack("{s:o, s:o, s:o}", "field", heap_json_text_n((const char *)b.p, b.len), "class",
                  x->class_number == DUMP_NONE ? json_null() : heap_json_count(x->class_number),
                  "references", heap_json_count(x->count));
    buf_fini(&b);
    return j;
}

/* --- strings ---------------------------------------------------------------------------------- */

static json_t *equal_json(const struct heap_view *h, const struct equal_strings *e)
{
    json_t *holders = json_array();
    for (uint32_t i = 0; i < e->n_holders; i++)
        json_array_append_new(holders, holder_json(h, &e->holders[i]));
    return json_pack("{s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "text",
                     heap_json_text(e->text ? e->text : ""), "cut", e->cut, "length",
                     heap_json_count(e->length), "strings", heap_json_count(e->strings), "arrays",
                     heap_json_count(e->arrays), "array_bytes", heap_json_count(e->array_size),
                     "wasted", heap_json_count(e->wasted), "n_holders", heap_json_count(e->all),
                     "holders", holders);
}

json_t *heap_answer_strings(struct heap_ask *a, int *rc, struct err *err)
{
    const struct strings_found *s = &a->h->strings;
    json_t *list = json_array();
    UNUSED(rc);
    UNUSED(err);
    for (size_t i = 0; i < rows(a, s->n); i++)
        json_array_append_new(list, equal_json(a->h, &s->v[i]));
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "strings", heap_json_count(s->strings),
                     "arrays", heap_json_count(s->arrays), "values", heap_json_count(s->values),
                     "wasted", heap_json_count(s->wasted), "string_bytes",
                     heap_json_count(s->string_size), "n", heap_json_count(s->duplicated), "equal",
                     list);
}

/* --- collections ------------------------------------------------------------------------------ */

static json_t *class_json(const struct heap_view *h, const struct collection_class *c)
{
    static const char *const fills[COLLECTION_FILLS] = {
        [FILL_EMPTY] = "empty", [FILL_QUARTER] = "quarter",
        [FILL_HALF] = "half",   [FILL_THREE_QUARTERS] = "three_quarters",
        [FILL_FULL] = "full",   [FILL_UNKNOWN] = "unknown"};
    json_t *j = heap_json_class(h, c->class_number);
    json_object_set_new(j, "collections", heap_json_count(c->count));
    json_object_set_new(j, "wasted", heap_json_count(c->wasted));
    for (int i = 0; i < COLLECTION_FILLS; i++)
        json_object_set_new(j, fills[i], heap_json_count(c->by_fill[i]));
    return j;
}

static json_t *array_json(const struct heap_view *h, const struct array_class *c)
{
    json_t *j = heap_json_class(h, c->class_number);
    json_object_set_new(j, "arrays", heap_json_count(c->count));
    json_object_set_new(j, "bytes", heap_json_count(c->bytes));
    json_object_set_new(j, "no_length", heap_json_count(c->no_length));
    return j;
}

static json_t *field_json(const struct heap_view *h, const struct holder *x)
{
    json_t *j = holder_json(h, x);
    json_object_set_new(j, "empty", heap_json_count(x->marked));
    json_object_set_new(j, "wasted", heap_json_count(x->bytes));
    return j;
}

json_t *heap_answer_collections(struct heap_ask *a, int *rc, struct err *err)
{
    const struct heap_view *h = a->h;
    const struct collections_found *c = &h->collections;
    json_t *classes = json_array(), *fields = json_array(), *arrays = json_array();
    UNUSED(rc);
    UNUSED(err);
    for (size_t i = 0; i < rows(a, c->n_classes); i++)
        json_array_append_new(classes, class_json(h, &c->classes[i]));
    for (size_t i = 0; i < rows(a, c->n_holders); i++)
        json_array_append_new(fields, field_json(h, &c->holders[i]));
    for (size_t i = 0; i < rows(a, c->n_arrays); i++)
        json_array_append_new(arrays, array_json(h, &c->arrays[i]));
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "collections",
                     heap_json_count(c->count), "wasted", heap_json_count(c->wasted), "empty",
                     heap_json_count(c->empty), "sparse", heap_json_count(c->sparse),
                     "empty_arrays", heap_json_count(c->array_count), "empty_arrays_bytes",
                     heap_json_count(c->array_bytes), "n_classes", heap_json_count(c->n_classes),
                     "classes", classes, "n_fields", heap_json_count(c->n_holders), "fields",
                     fields, "n_arrays", heap_json_count(c->n_arrays), "arrays", arrays);
}
