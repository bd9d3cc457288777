/* heap_suspects.c - the answer `suspects`: where the heap accumulates, in words and as objects. */
#include "view/heap_parts.h"

#include "base/util.h"
#include "heap/suspect_words.h"

static json_t *classes_json(const struct heap_view *h, const struct suspect_class *v, uint32_t n)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < n; i++) {
        json_t *j = heap_json_class(h, v[i].class_number);
        json_object_set_new(j, "objects", heap_json_count(v[i].count));
        json_object_set_new(j, "retained", heap_json_count(v[i].retained));
        json_array_append_new(list, j);
    }
    return list;
}

static json_t *suspect_json(struct heap_ask *a, const struct suspect *x)
{
    struct buf words = {0};
    suspect_words_put(x, &a->h->retained, &a->reader, &words);
    json_t *j = heap_json_class(a->h, x->class_number);
    json_object_set_new(j, "text", heap_json_text_n((const char *)words.p, words.len));
    json_object_set_new(j, "objects", heap_json_count(x->count));
    json_object_set_new(j, "retained", heap_json_count(x->retained));
    json_object_set_new(j, "chain", heap_json_count(x->chain));
    json_object_set_new(j, "object", heap_json_brief(a, x->object));
    json_object_set_new(j, "top", heap_json_brief(a, x->top));
    json_object_set_new(j, "below", classes_json(a->h, x->below, x->n_below));
    json_object_set_new(j, "further", classes_json(a->h, x->further, x->n_further));
    buf_fini(&words);
    return j;
}

json_t *heap_answer_suspects(struct heap_ask *a, int *rc, struct err *err)
{
    const struct suspects *s = &a->h->suspects;
    json_t *list = json_array();
    UNUSED(rc);
    UNUSED(err);
    for (size_t i = 0; i < s->n; i++)
        json_array_append_new(list, suspect_json(a, &s->v[i]));
    return json_pack("{s:i, s:o, s:o, s:o}", "least_percent", SUSPECTS_LEAST, "least",
                     heap_json_count(s->least), "alive",
                     heap_json_count(a->h->retained.bytes_reached), "suspects", list);
}
