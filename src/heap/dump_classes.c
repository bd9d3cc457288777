/* dump_classes.c - the classes of a dump: names, each kept once; which is above which; fields.
 *
 * A dump may say that any class is above any other one, and have as many fields in each as there is
 * room for: so nothing is kept for a class of what its supers have, and no more than
 * DUMP_DEPTH_MAX of them are visited for it. */
#include "heap/dump_parts.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

/* --- names ------------------------------------------------------------------------------------ */

static const char *name_at(const struct dump *d, uint64_t number)
{
    return VEC(d->names, const char *)[number];
}

uint32_t dump_name(struct dump *d, const char *text, size_t n)
{
    for (uint64_t hash = hash_place(text, n, 0);; hash++) {
        uint64_t *known = map_put(&d->name_of, hash);
        if (!known)
            return UINT32_MAX;
        if (*known) {
            const char *there = name_at(d, *known - 1);
            if (strncmp(there, text, n) == 0 && !there[n])
                return (uint32_t)*known - 1;
            continue;
        }
        const char *copy = arena_strndup(&d->arena, text, n);
        buf_put(&d->names, &copy, sizeof copy);
        if (!copy || d->names.oom)
            return UINT32_MAX;
        *known = VEC_LEN(d->names, const char *);
        return (uint32_t)*known - 1;
    }
}

/* UINT32_MAX: nothing is called so. */
static uint32_t find_name(const struct dump *d, const char *text)
{
    for (uint64_t hash = hash_place(text, strlen(text), 0);; hash++) {
        const uint64_t *known = map_find(&d->name_of, hash);
        if (!known)
            return UINT32_MAX;
        if (strcmp(name_at(d, *known - 1), text) == 0)
            return (uint32_t)*known - 1;
    }
}

/* --- which is above which --------------------------------------------------------------------- */

struct linking {
    struct dump *d;
    const uint64_t *supers; /* ids */
    uint16_t *depth;        /* of each class; 0: not known yet */
    uint32_t *way;
    uint32_t n_order;
};

static uint32_t class_number(const struct dump *d, uint64_t id)
{
    const struct dump_class *c = dump_class_by_id(d, id);
    return c ? c->number : DUMP_NONE;
}

/* A class whose supers are done. */
static void finish(struct linking *l, uint32_t number)
{
    struct dump_class *c = &l->d->classes[number];
    if (c->super != DUMP_NONE && l->depth[c->super] == DUMP_DEPTH_MAX)
        c->super = DUMP_NONE;
    const struct dump_class *super = c->super == DUMP_NONE ? NULL : &l->d->classes[c->super];
    l->depth[number] = super ? (uint16_t)(l->depth[c->super] + 1) : 1;
    c->complete = c->described && (super ? super->complete : l->supers[number] == 0);
    uint64_t len = (uint64_t)c->own_len + (super ? super->body_len : 0);
    c->body_len = len < UINT32_MAX ? (uint32_t)len : UINT32_MAX;
    l->d->class_order[l->n_order++] = number;
}

/* The class and those above it, from the top down.  A circle is cut where it closes. */
static void link_class(struct linking *l, uint32_t number)
{
    enum { ON_THE_WAY = UINT16_MAX };
    struct dump_class *classes = l->d->classes;
    uint32_t n = 0;
    for (uint32_t at = number; at != DUMP_NONE && !l->depth[at]; at = classes[at].super) {
        l->depth[at] = ON_THE_WAY;
        l->way[n++] = at;
    }
    if (n && classes[l->way[n - 1]].super != DUMP_NONE &&
        l->depth[classes[l->way[n - 1]].super] == ON_THE_WAY)
        classes[l->way[n - 1]].super = DUMP_NONE;
    while (n > 0)
        finish(l, l->way[--n]);
}

int dump_link_supers(struct dump *d, const uint64_t *supers)
{
    struct linking l = {.d = d, .supers = supers};
    l.depth = calloc((size_t)d->n_classes + 1, sizeof *l.depth);
    l.way = malloc(((size_t)d->n_classes + 1) * sizeof *l.way);
    int rc = l.depth && l.way ? 0 : -ENOMEM;
    for (uint32_t i = 0; i < d->n_classes; i++)
        d->classes[i].super = supers[i] ? class_number(d, supers[i]) : DUMP_NONE;
    for (uint32_t i = 0; i < d->n_classes && rc == 0; i++)
        link_class(&l, i);
    free(l.depth);
    free(l.way);
    return rc;
}

/* --- asking ----------------------------------------------------------------------------------- */

const struct dump_class *dump_class_by_id(const struct dump *d, uint64_t id)
{
    /* Those that the dump does not have stand behind the others, with id 0. */
    size_t lo = 0, hi = d->n_classes;
    while (hi > 0 && hi > lo && d->classes[hi - 1].id == 0 && d->classes[hi - 1].element)
        hi--;
    size_t end = hi;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (d->classes[mid].id < id)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < end && d->classes[lo].id == id ? &d->classes[lo] : NULL;
}

const struct dump_class *dump_class_by_name(const struct dump *d, const char *name)
{
    for (uint32_t i = 0; i < d->n_classes; i++)
        if (strcmp(d->classes[i].name, name) == 0)
            return &d->classes[i];
    return NULL;
}

bool dump_class_is(const struct dump *d, const struct dump_class *c, const char *name)
{
    for (; c; c = c->super == DUMP_NONE ? NULL : &d->classes[c->super])
        if (strcmp(c->name, name) == 0)
            return true;
    return false;
}

bool dump_field_next(const struct dump *d, struct dump_field_walk *w)
{
    while (w->c) {
        if (w->next < w->c->n_fields) {
            w->field = &w->c->fields[w->next++];
            w->of = w->c;
            w->at = w->offset;
            w->offset += hprof_type_size(w->field->type, d->id_size);
            return true;
        }
        w->c = w->c->super == DUMP_NONE ? NULL : &d->classes[w->c->super];
        w->next = 0;
    }
    return false;
}

static const struct dump_field *own_field(const struct dump *d, const struct dump_class *c,
                                          uint32_t name)
{
    const uint64_t *i =
        name == UINT32_MAX ? NULL : map_find(&d->field_of, (uint64_t)c->number << 32 | name);
    return i ? &c->fields[*i - 1] : NULL;
}

const struct dump_field *dump_own_field(const struct dump *d, const struct dump_class *c,
                                        const char *name)
{
    return own_field(d, c, find_name(d, name));
}

int64_t dump_field_at(const struct dump *d, const struct dump_class *c, const char *declaring,
                      const char *name, uint8_t *type)
{
    uint32_t number = find_name(d, name);
    int64_t before = 0;
    for (; c; c = c->super == DUMP_NONE ? NULL : &d->classes[c->super]) {
        const struct dump_field *f =
            !declaring || strcmp(c->name, declaring) == 0 ? own_field(d, c, number) : NULL;
        if (f) {
            *type = f->type;
            return before + f->offset;
        }
        before += c->own_len;
    }
    return -1;
}
