#include "heap/refs.h"

#include <stdlib.h>
#include <string.h>

/* Soft, weak and phantom references are known by their classes. */
static uint8_t kinds_of(const char *name)
{
    return strcmp(name, "java.lang.ref.WeakReference") == 0 ||
                   strcmp(name, "java.lang.ref.PhantomReference") == 0
               ? REFS_WEAK
           : strcmp(name, "java.lang.ref.SoftReference") == 0 ? REFS_SOFT
                                                              : 0;
}

static bool is_of_reference(const struct dump_class *c, const struct dump_field *f)
{
    return strcmp(c->name, "java.lang.ref.Reference") == 0 &&
           (strcmp(f->name, "referent") == 0 || strcmp(f->name, "discovered") == 0);
}

static uint32_t count(const struct dump_class *c)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->n_fields; i++)
        n += c->fields[i].type == HPROF_OBJECT;
    return n;
}

/* Those above it are done. */
static void fill(struct refs *r, const struct dump_class *c)
{
    struct ref_class *to = &r->classes[c->number];
    const struct ref_class *super = c->super == DUMP_NONE ? NULL : &r->classes[c->super];
    struct ref_field *f = &r->fields[to->first];
    to->own_len = c->own_len;
    to->next = !super ? DUMP_NONE : super->own_len ? c->super : super->next;
    to->kinds = kinds_of(c->name) | (super ? super->kinds : 0);
    for (uint32_t i = 0; i < c->n_fields; i++)
        if (c->fields[i].type == HPROF_OBJECT)
            f[to->n++] = (struct ref_field){c->fields[i].offset, (uint16_t)i,
                                            is_of_reference(c, &c->fields[i])};
    to->any = to->n > 0 || (super && super->any);
}

int refs_init(struct refs *r, const struct dump *d)
{
    uint64_t n = 0;
    *r = (struct refs){.d = d};
    r->classes = calloc((size_t)d->n_classes + 1, sizeof *r->classes);
    for (uint32_t i = 0; i < d->n_classes && r->classes; i++) {
        r->classes[i].first = (uint32_t)n;
        n += count(&d->classes[i]);
    }
    r->fields = n < UINT32_MAX ? calloc(n + 1, sizeof *r->fields) : NULL;
    if (!r->classes || !r->fields)
        return -ENOMEM;
    for (uint32_t i = 0; i < d->n_classes; i++)
        fill(r, &d->classes[d->class_order[i]]);
    return 0;
}

void refs_fini(struct refs *r)
{
    free(r->classes);
    free(r->fields);
    *r = (struct refs){0};
}
