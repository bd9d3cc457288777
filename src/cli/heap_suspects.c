/* heap_suspects.c - `orca heap --suspects`: where the heap accumulates, in words. */
#include "base/human.h"
#include "base/options.h"
#include "base/util.h"
#include "cli/heap_cells.h"
#include "cli/heap_parts.h"
#include "heap/suspect_words.h"

#include <stdio.h>

static int find(struct heap_report *h, struct err *err)
{
    const struct suspects_options how = {.paths = true, .soft = h->soft};
    return suspects_find(&h->suspects, &h->retained, &how, err);
}

static void release(struct heap_report *h)
{
    suspects_fini(&h->suspects);
}

/* --- text ------------------------------------------------------------------------------------- */

static void text(struct heap_report *h)
{
    const struct suspects *s = &h->suspects;
    if (!heap_is_known(h, "Leak suspects"))
        return;
    heap_heading("Leak suspects");
    if (s->n == 0)
        printf("No object keeps %d %% of the live heap alive: the heap is spread over many "
               "objects.\n",
               SUSPECTS_LEAST);
    for (size_t i = 0; i < s->n; i++) {
        struct buf words = {0}, clean = {0}, lines = {0};
        char number[32];
        snprintf(number, sizeof number, "%zu. ", i + 1);
        suspect_words_put(&s->v[i], &h->retained, &h->reader, &words);
        buf_puts(&lines, number);
        opt_wrap(&lines, heap_printable(h, buf_str(&words), &clean), 3, 3);
        printf("%s%s\n", i ? "\n" : "", buf_str(&lines));
        for (size_t k = 0; k < s->v[i].paths.n; k++) {
            printf(k ? "\n   another path\n" : "");
            heap_put_path(h, &s->v[i].paths.v[k], true);
        }
        buf_fini(&words);
        buf_fini(&clean);
        buf_fini(&lines);
    }
}

/* --- JSON ------------------------------------------------------------------------------------- */

static json_t *classes_json(const struct dump *d, const struct suspect_class *v, uint32_t n)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < n; i++)
        json_array_append_new(list,
                              json_pack("{s:o, s:o, s:o}", "class",
                                        heap_cell_json_text(heap_class_name(d, v[i].class_number)),
                                        "instances", heap_cell_json_number(v[i].count), "retained",
                                        heap_cell_json_number(v[i].retained)));
    return list;
}

static json_t *suspect_json(struct heap_report *h, const struct suspect *x)
{
    struct buf words = {0};
    suspect_words_put(x, &h->retained, &h->reader, &words);
    json_t *j = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "text",
        heap_cell_json_text(buf_str(&words)), "class",
        heap_cell_json_text(heap_class_name(h->d, x->class_number)), "instances",
        heap_cell_json_number(x->count), "retained", heap_cell_json_number(x->retained), "chain",
        heap_cell_json_number(x->chain), "below", classes_json(h->d, x->below, x->n_below),
        "further", classes_json(h->d, x->further, x->n_further), "path",
        heap_cell_json_path(h, &x->paths.v[0]), "other_paths",
        heap_cell_json_other_paths(h, &x->paths));
    if (x->object != DUMP_NONE)
        json_object_set_new(j, "object", heap_cell_json_object(h, x->object));
    json_object_set_new(j, "top", heap_cell_json_object(h, x->top));
    buf_fini(&words);
    return j;
}

static json_t *json(struct heap_report *h)
{
    if (!h->retained.known)
        return json_null();
    json_t *list = json_array();
    for (size_t i = 0; i < h->suspects.n; i++)
        json_array_append_new(list, suspect_json(h, &h->suspects.v[i]));
    return list;
}

const struct heap_part heap_part_suspects = {
    .section = HEAP_SUSPECTS,
    .key = "suspects",
    .phase = "looking for suspects",
    .find_retained = find,
    .text = text,
    .json = json,
    .release = release,
};
