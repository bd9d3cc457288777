/* xml_fields.c - which class declares which field: a reference has the name, not the class.
 *
 * A field of an object's class that a super class has under the same name counts as the super
 * class's; other fields are declared by the class itself.  References of one name in one object are
 * distinguished by their order. */
#include "heap/bits.h"
#include "heap/xml_parts.h"

#include <stdlib.h>
#include <string.h>

enum { CHAIN_MAX = DUMP_DEPTH_MAX, MOST = 1 << 24, SAME_MAX = 1 << 16 };

struct want {
    uint32_t class_number, name, before;
    uint32_t depth;
};

struct search {
    struct xml_facts *f;
    struct map seen;
    _Atomic uint64_t *asked; /* bits: objects whose fields are among the wants */
    struct buf wants;
};

static uint64_t key_of(uint32_t class_number, uint32_t name, uint32_t before)
{
    return (uint64_t)class_number << 40 | (uint64_t)name << 16 | before;
}

static struct xml_class *class_at(const struct xml_facts *f, uint32_t number)
{
    return &XML_VEC(f->classes, struct xml_class)[number];
}

/* --- the classes themselves ------------------------------------------------------------------- */

static void take_link(struct xml_facts *f, struct xml_class *c, const struct xml_link *l)
{
    uint32_t super = l->kind == XML_SUPERCLASS ? xml_own_class(f, l->to) : 0;
    if (super)
        c->super = super - 1;
    else if (l->kind == XML_CLASS_LOADER)
        c->loader = l->to;
    else if (l->kind == XML_SIGNERS)
        c->signers = l->to;
    else if (l->kind == XML_PROTECTION_DOMAIN)
        c->domain = l->to;
}

/* A circle of super classes is cut. */
static void find_depths(struct xml_facts *f)
{
    uint32_t n = XML_LEN(f->classes, struct xml_class);
    for (uint32_t i = 0; i < n; i++) {
        struct xml_class *c = class_at(f, i);
        uint32_t depth = 0;
        for (uint32_t at = c->super; at != DUMP_NONE && depth <= CHAIN_MAX;
             at = class_at(f, at)->super)
            depth++;
        c->depth = depth;
        if (depth > CHAIN_MAX) {
            c->super = DUMP_NONE;
            c->depth = 0;
        }
    }
}

static void find_supers(struct xml_facts *f)
{
    for (uint32_t i = 0; i < XML_LEN(f->classes, struct xml_class); i++) {
        size_t n;
        struct xml_class *c = class_at(f, i);
        const struct xml_link *l = xml_links(f, c->object, &n);
        for (size_t k = 0; k < n; k++)
            take_link(f, c, &l[k]);
    }
    find_depths(f);
}

/* --- what instances refer by ------------------------------------------------------------------ */

static int want(struct search *s, uint32_t class_number, uint32_t name, uint32_t before)
{
    if (class_number >= MOST || name >= MOST || before >= SAME_MAX)
        return 0; /* xml_field_place does not find it, and reports it there */
    uint64_t *seen = map_put(&s->seen, key_of(class_number, name, before));
    if (!seen)
        return -ENOMEM;
    if ((*seen)++)
        return 0;
    const struct want w = {class_number, name, before, class_at(s->f, class_number)->depth};
    buf_put(&s->wants, &w, sizeof w);
    return s->wants.oom ? -ENOMEM : 0;
}

/* An object that is defined twice is the first one, as xml_write.c has it. */
static int want_fields(struct search *s, const struct xml_object *o)
{
    struct xml_facts *f = s->f;
    size_t n;
    uint32_t number = xml_class_of(f, o), before = 0;
    if (!bits_add(s->asked, ids_find(&f->ids, o->id)) || xml_own_class(f, o->id) || o->kind)
        return 0;
    class_at(f, number)->instances++;
    struct xml_link *l = xml_links(f, o->id, &n);
    xml_links_by_name(l, n);
    for (size_t i = 0; i < n; i++) {
        before = i && l[i].name == l[i - 1].name ? before + 1 : 0;
        TRY(want(s, number, l[i].name, before));
    }
    return 0;
}

/* By these fields weak references are known, and that is asked of the class that declares them. */
static int want_referents(struct search *s)
{
    static const char *const names[] = {"referent", "discovered", "next", "queue"};
    uint32_t reference = xml_name(s->f, "java/lang/ref/Reference");
    for (uint32_t i = 0; i < XML_LEN(s->f->classes, struct xml_class); i++)
        for (size_t k = 0; k < 4 && class_at(s->f, i)->name == reference; k++)
            TRY(want(s, i, xml_name(s->f, names[k]), 0));
    return 0;
}

static int by_depth(const void *a, const void *b)
{
    const struct want *x = a, *y = b;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    if (x->class_number != y->class_number)
        return x->class_number < y->class_number ? -1 : 1;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    return x->before < y->before ? -1 : x->before > y->before;
}

static bool is_inherited(const struct xml_facts *f, const struct want *w)
{
    uint32_t at = class_at(f, w->class_number)->super;
    for (; at != DUMP_NONE; at = class_at(f, at)->super)
        if (map_find(&f->owned, key_of(at, w->name, w->before)))
            return true;
    return false;
}

/* Super classes come first; the fields of a class stand beside each other. */
static int give_out(struct search *s)
{
    struct xml_facts *f = s->f;
    struct want *v = XML_VEC(s->wants, struct want);
    uint32_t n = XML_LEN(s->wants, struct want);
    if (n)
        qsort(v, n, sizeof *v, by_depth);
    for (uint32_t i = 0; i < n; i++) {
        if (is_inherited(f, &v[i]))
            continue;
        struct xml_class *c = class_at(f, v[i].class_number);
        uint64_t *place = map_put(&f->owned, key_of(v[i].class_number, v[i].name, v[i].before));
        if (c->n_fields == 0)
            c->first = XML_LEN(f->fields, uint32_t);
        if (c->n_fields == UINT16_MAX)
            return -EFBIG;
        buf_put(&f->fields, &v[i].name, sizeof v[i].name);
        if (!place || f->fields.oom)
            return -ENOMEM;
        *place = ++c->n_fields;
    }
    return 0;
}

uint64_t xml_body_fields(const struct xml_facts *f, uint32_t class_number)
{
    uint64_t n = 0;
    for (uint32_t at = class_number; at != DUMP_NONE; at = class_at(f, at)->super)
        n += class_at(f, at)->n_fields;
    return n;
}

uint32_t xml_field_place(struct xml_facts *f, uint32_t class_number, uint32_t name, uint32_t before)
{
    uint32_t place = 0;
    if (class_number >= MOST || name >= MOST || before >= SAME_MAX)
        return DUMP_NONE;
    uint64_t *known = map_put(&f->places, key_of(class_number, name, before));
    if (!known)
        return DUMP_NONE;
    for (uint32_t at = class_number; at != DUMP_NONE && !*known; at = class_at(f, at)->super) {
        const uint64_t *own = map_find(&f->owned, key_of(at, name, before));
        if (own)
            *known = place + *own;
        place += class_at(f, at)->n_fields;
    }
    return *known ? (uint32_t)*known - 1 : DUMP_NONE;
}

static int find_wants(struct search *s)
{
    const struct xml_object *o = s->f->objects.map;
    TRY(want_referents(s));
    for (uint64_t i = 0; i < s->f->objects.len / sizeof *o; i++)
        TRY(want_fields(s, &o[i]));
    return give_out(s);
}

int xml_fields_find(struct xml_facts *f)
{
    struct search s = {.f = f, .asked = bits_new(f->ids.n)};
    if (!s.asked)
        return -ENOMEM;
    map_init(&s.seen);
    find_supers(f);
    int rc = find_wants(&s);
    map_fini(&s.seen);
    bits_free(s.asked);
    buf_fini(&s.wants);
    return rc;
}
