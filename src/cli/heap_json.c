/* heap_json.c - a heap dump as one JSON object, schema orca-heap-1. */
#include "cli/heap_cells.h"
#include "cli/heap_parts.h"
#include "heap/missing.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

static json_t *classes(const struct heap_report *h)
{
    json_t *list = json_array();
    for (size_t i = 0; i < h->n_classes && i < h->top; i++) {
        const struct dump_class *c = &h->d->classes[h->classes[i]];
        json_t *j =
            json_pack("{s:o, s:o, s:o, s:o}", "class", heap_cell_json_text(c->name), "id",
                      heap_cell_json_id(c->id), "instances", heap_cell_json_number(c->count),
                      "bytes", heap_cell_json_number(c->bytes));
        if (h->has_retained && h->retained.class_bytes)
            json_object_set_new(j, "retained",
                                heap_cell_json_retained(h, h->retained.class_bytes[c->number]));
        json_array_append_new(list, j);
    }
    return list;
}

static json_t *biggest(const struct heap_report *h)
{
    json_t *list = json_array();
    for (size_t i = 0; i < h->n_biggest; i++) {
        const struct big_object *b = &h->biggest[i];
        const char *name = b->class_number == DUMP_NONE ? "?" : h->d->classes[b->class_number].name;
        json_array_append_new(
            list, json_pack("{s:o, s:o, s:o, s:o}", "id", heap_cell_json_id(b->id), "class",
                            heap_cell_json_text(name), "bytes", heap_cell_json_number(b->bytes),
                            "elements", h->d->stated ? json_null() : heap_cell_json_number(b->n)));
    }
    return list;
}

static json_t *below(struct heap_report *h)
{
    if (!h->retained.known)
        return json_null();
    json_t *list = json_array();
    for (size_t i = 0; i < h->n_below; i++)
        json_array_append_new(list, heap_cell_json_object(h, h->below[i]));
    return list;
}

static json_t *missing(const struct dump *d)
{
    struct missing_lines m;
    json_t *list = json_array();
    missing_tell(d, &m);
    for (size_t i = 0; i < m.n; i++)
        json_array_append_new(list, heap_cell_json_text(m.v[i]));
    return list;
}

/* null: whether there is one is not known. */
static json_t *path(struct heap_report *h)
{
    const struct retained *r = &h->retained;
    return r->known || r->paths.n ? heap_cell_json_path(h, &r->paths.v[0]) : json_null();
}

static json_t *problems(const struct dump *d)
{
    json_t *list = json_array();
    for (size_t i = 0; i < d->n_problems; i++)
        json_array_append_new(list, heap_cell_json_text(d->problems[i].text));
    return list;
}

static json_t *times(const struct heap_report *h)
{
    const struct retained_times *t = &h->retained.times;
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "open_ns",
                     heap_cell_json_number(h->open_ns), "biggest_ns",
                     heap_cell_json_number(h->biggest_ns), "references_ns",
                     heap_cell_json_number(t->graph), "search_ns", heap_cell_json_number(t->dfs),
                     "reverse_ns", heap_cell_json_number(t->reverse), "dominators_ns",
                     heap_cell_json_number(t->semi), "sizes_ns", heap_cell_json_number(t->sizes),
                     "sums_ns", heap_cell_json_number(t->sums), "classes_ns",
                     heap_cell_json_number(t->classes));
}

static void add_sections(struct heap_report *h, json_t *root)
{
    if (!missing_knows_contents(h->d))
        json_object_set_new(root, "no_contents", json_string(missing_contents));
    if (h->d->partial) {
        json_object_set_new(root, "missing", missing(h->d));
        json_object_set_new(root, "remedy", json_string(missing_remedy));
    }
    if (h->has_retained && h->retained.known) {
        json_object_set_new(root, "unreached_objects",
                            heap_cell_json_number(h->retained.n_unreached));
        json_object_set_new(root, "unreached_bytes",
                            heap_cell_json_number(h->retained.bytes_unreached));
    }
    if (h->sections & HEAP_CLASSES) {
        json_object_set_new(root, "classes_total", heap_cell_json_number(h->n_classes));
        json_object_set_new(root, "classes", classes(h));
    }
    if (h->sections & HEAP_BIGGEST)
        json_object_set_new(root, "biggest", biggest(h));
    if (h->sections & HEAP_DOMINATORS)
        json_object_set_new(root, "dominators", below(h));
    if (h->sections & HEAP_CHILDREN)
        json_object_set_new(root, "children", below(h));
    if (h->sections & HEAP_PATH) {
        json_object_set_new(root, "path", path(h));
        json_object_set_new(root, "other_paths", heap_cell_json_other_paths(h, &h->retained.paths));
    }
    heap_parts_json(h, root);
    if (h->times)
        json_object_set_new(root, "times", times(h));
}

int heap_json(struct heap_report *h, struct err *err)
{
    const struct dump *d = h->d;
    json_t *root = json_pack("{s:s, s:o, s:o, s:b, s:o, s:o, s:o, s:i, s:i}", "schema",
                             "orca-heap-1", "file", heap_cell_json_text(d->path), "time_ms",
                             heap_cell_json_number(d->time_ms), "partial", d->partial, "problems",
                             problems(d), "objects", heap_cell_json_number(d->objects_count),
                             "bytes", heap_cell_json_number(d->objects_bytes), "header_bytes",
                             (int)d->layout.header, "reference_bytes", (int)d->layout.reference);
    if (!root)
        return err_set(err, -ENOMEM, "out of memory");
    add_sections(h, root);
    int rc =
        json_dumpf(root, stdout, JSON_INDENT(2)) == 0 && putchar('\n') != EOF && fflush(stdout) == 0
            ? 0
            : err_set(err, -EIO, "cannot write the JSON to stdout");
    json_decref(root);
    return rc;
}
