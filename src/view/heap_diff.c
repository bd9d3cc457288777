/* heap_diff.c - the answer `diff`: what each class has now, and had in an earlier dump. */
#include "view/heap_parts.h"

#include "base/util.h"

#include <string.h>

static json_t *totals_json(const struct class_totals *t)
{
    return json_pack("{s:o, s:o}", "objects", heap_json_count(t->count), "bytes",
                     heap_json_count(t->bytes));
}

static json_t *change_json(const struct class_change *c)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "class",
                     c->class_number == DUMP_NONE ? json_null() : heap_json_count(c->class_number),
                     "name", heap_json_text(c->name), "then", totals_json(&c->then), "now",
                     totals_json(&c->now));
}

/* And that is certain. */
static bool has_changed(const struct diff *d, const struct class_change *c)
{
    bool grown = c->then.bytes<c->now.bytes, shrunk = c->then.bytes> c->now.bytes;
    return grown || shrunk ? (grown ? d->known_grown : d->known_shrunk)
                           : d->known_grown && d->known_shrunk && c->then.count != c->now.count;
}

static size_t count_changed(const struct diff *d)
{
    size_t n = 0;
    for (size_t i = 0; i < d->n; i++)
        n += has_changed(d, &d->v[i]);
    return n;
}

/* Of more than there is room for, those that have grown most and those that have shrunk most. */
static json_t *changes_json(const struct diff *d, size_t changed, size_t room)
{
    size_t last = changed > room && d->known_shrunk ? min_u64(d->shrunk, room / 2) : 0, at = 0;
    json_t *list = json_array();
    for (size_t i = 0; i < d->n; i++)
        if (has_changed(d, &d->v[i]) && (at++ < room - last || at > changed - last))
            json_array_append_new(list, change_json(&d->v[i]));
    return list;
}

static json_t *number_if(bool known, uint64_t n)
{
    return known ? heap_json_count(n) : json_null();
}

json_t *heap_answer_diff(struct heap_ask *a, int *rc, struct err *err)
{
    const struct heap_view *h = a->h;
    const struct diff *d = &h->diff;
    const char *last = strrchr(h->base.path, '/');
    size_t room = a->given & HEAP_ASK(TOP) ? a->top : HEAP_CLASSES_MAX, changed = count_changed(d);
    UNUSED(rc);
    UNUSED(err);
    return json_pack("{s:{s:o, s:o, s:o, s:b}, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "base", "name",
                     heap_json_text(last ? last + 1 : h->base.path), "path",
                     heap_json_text(h->base.path), "made_unix_ms", heap_json_count(h->base.made_ms),
                     "partial", h->base.partial, "then", totals_json(&d->then), "now",
                     totals_json(&d->now), "grown", number_if(d->known_grown, d->grown), "shrunk",
                     number_if(d->known_shrunk, d->shrunk), "same",
                     number_if(d->known_grown && d->known_shrunk, d->n - changed), "n",
                     heap_json_count(changed), "classes", changes_json(d, changed, room));
}
