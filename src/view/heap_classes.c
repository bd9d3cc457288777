/* heap_classes.c - what a heap dump holds as a whole, its classes, the biggest instances of one. */
#include "view/heap_parts.h"

#include "base/util.h"
#include "heap/histogram.h"
#include "heap/missing.h"

#include <stdlib.h>
#include <string.h>

/* --- overview --------------------------------------------------------------------------------- */

static const char *stage_name(enum heap_stage s)
{
    static const char *const names[] = {"reading", "counted", "sized", "ready"};
    return names[s];
}

static json_t *phase_of(const struct heap_progress *p)
{
    return p->over ? json_null()
                   : json_pack("{s:s, s:i, s:i, s:o, s:o}", "text", p->phase, "step", (int)p->step,
                               "steps", (int)p->steps, "done", heap_json_count(p->done), "total",
                               heap_json_count(p->total));
}

static json_t *problems_of(const struct dump *d)
{
    json_t *list = json_array();
    for (size_t i = 0; i < d->n_problems; i++)
        json_array_append_new(list, heap_json_text(d->problems[i].text));
    return list;
}

static json_t *missing_of(const struct dump *d)
{
    struct missing_lines m;
    json_t *list = json_array();
    missing_tell(d, &m);
    for (size_t i = 0; i < m.n; i++)
        json_array_append_new(list, heap_json_text(m.v[i]));
    return list;
}

static json_t *root_kinds(const struct dump *d)
{
    uint64_t counts[256] = {0};
    json_t *list = json_array();
    for (size_t i = 0; i < d->n_roots; i++)
        counts[d->roots[i].kind]++;
    for (unsigned k = 0; k < 256; k++)
        if (counts[k])
            json_array_append_new(list, json_pack("{s:s, s:o}", "kind", heap_root_kind((uint8_t)k),
                                                  "count", heap_json_count(counts[k])));
    return list;
}

static void set_counted(json_t *j, const struct dump *d)
{
    json_t *more = json_pack(
        "{s:o, s:o, s:o, s:i, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o}",
        "made_unix_ms", heap_json_count(d->time_ms), "disk_bytes", heap_json_count(d->disk_size),
        "dump_bytes", heap_json_count(d->size), "id_bytes", (int)d->id_size, "header_bytes",
        (int)d->layout.header, "reference_bytes", (int)d->layout.reference, "objects",
        heap_json_count(d->objects_count), "bytes", heap_json_count(d->objects_bytes), "classes",
        heap_json_count(d->n_classes), "roots", heap_json_count(d->n_roots), "root_kinds",
        root_kinds(d), "threads", heap_json_count(d->n_threads), "partial", d->partial, "problems",
        problems_of(d), "more_problems", heap_json_count(d->more_problems));
    json_object_update(j, more);
    json_decref(more);
    json_object_set_new(j, "no_contents",
                        missing_knows_contents(d) ? json_null() : json_string(missing_contents));
    json_object_set_new(j, "missing", missing_of(d));
    json_object_set_new(j, "not_known", d->partial ? json_string(missing_why) : json_null());
    json_object_set_new(j, "remedy", d->partial ? json_string(missing_remedy) : json_null());
}

json_t *heap_answer_overview(struct heap_ask *a, int *rc, struct err *err)
{
    struct heap_view *h = a->h;
    UNUSED(rc);
    UNUSED(err);
    pthread_mutex_lock(&h->lock);
    const struct heap_progress p = h->progress;
    pthread_mutex_unlock(&h->lock);
    json_t *j =
        json_pack("{s:s, s:o, s:o, s:s, s:o, s:o, s:o}", "schema", "orca-heap-view-1", "name",
                  heap_json_text(heap_view_name(h)), "path", heap_json_text(h->path), "stage",
                  stage_name(a->stage), "phase", phase_of(&p), "error",
                  p.error[0] ? heap_json_text(p.error) : json_null(), "found", heap_find_states(h));
    if (a->stage >= HEAP_COUNTED)
        set_counted(j, h->d);
    const struct retained *r = &h->retained;
    if (a->stage >= HEAP_SIZED && r->known)
        json_object_set_new(j, "unreached",
                            json_pack("{s:o, s:o}", "objects", heap_json_count(r->n_unreached),
                                      "bytes", heap_json_count(r->bytes_unreached)));
    return j;
}

/* --- classes ---------------------------------------------------------------------------------- */

static json_t *class_row(const struct heap_ask *a, const struct dump_class *c)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "class", heap_json_count(c->number), "name",
                     heap_json_text(c->name), "objects", heap_json_count(c->count), "bytes",
                     heap_json_count(c->bytes), "retained",
                     a->stage >= HEAP_SIZED
                         ? heap_json_retained(a->h, a->h->retained.class_bytes[c->number])
                         : json_null());
}

json_t *heap_answer_classes(struct heap_ask *a, int *rc, struct err *err)
{
    const struct dump *d = a->h->d;
    size_t n, matching = 0, most = a->given & HEAP_ASK(TOP) ? a->top : HEAP_CLASSES_MAX;
    uint32_t *numbers = histogram_classes(d, &n);
    if (!numbers) {
        *rc = err_set(err, -ENOMEM, "out of memory");
        return NULL;
    }
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        const struct dump_class *c = &d->classes[numbers[i]];
        if (a->match && !strcasestr(c->name, a->match))
            continue;
        if (matching++ < most)
            json_array_append_new(list, class_row(a, c));
    }
    free(numbers);
    return json_pack("{s:o, s:o}", "n", heap_json_count(matching), "classes", list);
}

/* --- the biggest instances of a class --------------------------------------------------------- */

/* A heap of those that retain most, the least of them at [0]. */
struct biggest {
    const struct retained *r;
    uint32_t *v;
    size_t n, most;
};

static bool is_less(const struct biggest *b, uint32_t x, uint32_t y)
{
    uint64_t of_x = retained_weight(b->r, x), of_y = retained_weight(b->r, y);
    return of_x != of_y ? of_x < of_y : x > y;
}

static void sift_down(struct biggest *b)
{
    for (size_t at = 0, child; (child = 2 * at + 1) < b->n; at = child) {
        if (child + 1 < b->n && is_less(b, b->v[child + 1], b->v[child]))
            child++;
        if (!is_less(b, b->v[child], b->v[at]))
            return;
        uint32_t swap = b->v[at];
        b->v[at] = b->v[child];
        b->v[child] = swap;
    }
}

static void offer(struct biggest *b, uint32_t object)
{
    if (b->n == b->most) {
        if (is_less(b, b->v[0], object)) {
            b->v[0] = object;
            sift_down(b);
        }
        return;
    }
    size_t at = b->n++;
    for (; at > 0 && is_less(b, object, b->v[(at - 1) / 2]); at = (at - 1) / 2)
        b->v[at] = b->v[(at - 1) / 2];
    b->v[at] = object;
}

/* The least one last: so the heap becomes a list, largest first. */
static void sort_down(struct biggest *b)
{
    size_t n = b->n;
    while (b->n > 1) {
        uint32_t least = b->v[0];
        b->v[0] = b->v[--b->n];
        sift_down(b);
        b->v[b->n] = least;
    }
    b->n = n;
}

json_t *heap_answer_instances(struct heap_ask *a, int *rc, struct err *err)
{
    const struct heap_view *h = a->h;
    const struct dump_class *c = &h->d->classes[a->class_number];
    uint64_t top = min_u64(a->top, HEAP_TOP_MAX), end = min_u64(a->offset + top, HEAP_LISTED_MAX);
    struct biggest b = {.r = &h->retained, .most = end, .v = calloc(end + 1, sizeof *b.v)};
    if (!b.v) {
        *rc = err_set(err, -ENOMEM, "out of memory");
        return NULL;
    }
    for (uint32_t i = 0; i < h->d->n_objects && end > 0; i++)
        if (objects_class(&h->retained.objects, i) == c->number)
            offer(&b, i);
    sort_down(&b);
    json_t *list = json_array();
    for (size_t i = a->offset; i < b.n; i++)
        json_array_append_new(list, heap_json_brief(a, b.v[i]));
    free(b.v);
    uint32_t mirror = c->id ? ids_find(&h->d->ids, c->id) : IDS_NONE;
    json_t *j = class_row(a, c);
    json_object_set_new(j, "class_object",
                        mirror == IDS_NONE ? json_null() : heap_json_count(mirror));
    json_object_set_new(j, "offset", heap_json_count(a->offset));
    json_object_set_new(j, "listed", heap_json_count(min_u64(c->count, HEAP_LISTED_MAX)));
    json_object_set_new(j, "instances", list);
    return j;
}
