/* refs.h - where the body of an instance has references, and which of them keep what they refer to
 * alive.
 *
 * A body has the fields of its class, then those of the super class, and so on.  Each class has a
 * list of its own fields alone: classes below one with many fields have no copy of them, and no
 * more of an instance is read than its body has bytes.
 *
 *     struct refs_walk w = refs_begin(number);
 *     while (refs_next(r, &w, bytes_of_the_body)) ... w.at, w.field ...
 *
 * Read only after refs_init. */
#ifndef ORCA_HEAP_REFS_H
#define ORCA_HEAP_REFS_H

#include "heap/dump.h"

struct ref_field {
    uint32_t offset;   /* in the part of its class */
    uint16_t field;    /* its number there */
    bool of_reference; /* java.lang.ref.Reference's referent or discovered */
};

enum { REFS_WEAK = 1, REFS_SOFT = 2 }; /* what a class, or one above it, is */

struct ref_class {
    uint32_t first, n; /* in refs.fields */
    uint32_t own_len;
    uint32_t next; /* the nearest super class that has fields, DUMP_NONE */
    bool any;      /* it or one above it has a reference */
    uint8_t kinds; /* REFS_ bits */
};

struct refs {
    const struct dump *d;
    struct ref_class *classes; /* by class number */
    struct ref_field *fields;
};

struct refs_walk {
    uint32_t of, next, i;
    uint64_t before;
    uint64_t at; /* of the reference, in the body */
    uint32_t declaring;
    const struct ref_field *field;
};

/* -ENOMEM; then, too, it is ended with refs_fini. */
int refs_init(struct refs *r, const struct dump *d);
void refs_fini(struct refs *r);

/* Whether the current reference keeps what it refers to.  Soft, weak and phantom references do not,
 * nor do they keep each other by the collector's list; a finalizer's reference does.  soft: soft
 * ones do. */
static inline bool refs_keeps(const struct refs *r, const struct refs_walk *w, bool soft)
{
    uint8_t kinds = r->classes[w->of].kinds;
    return !w->field->of_reference || !(kinds & (soft ? REFS_WEAK : REFS_WEAK | REFS_SOFT));
}

static inline struct refs_walk refs_begin(uint32_t class_number)
{
    return (struct refs_walk){.of = class_number, .next = class_number};
}

/* The next reference that lies in a body of `len` bytes whole. */
static inline bool refs_next(const struct refs *r, struct refs_walk *w, size_t len)
{
    while (w->next != DUMP_NONE && w->before < len) {
        const struct ref_class *c = &r->classes[w->next];
        if (w->i < c->n) {
            w->declaring = w->next;
            w->field = &r->fields[c->first + w->i++];
            w->at = w->before + w->field->offset;
            return w->at + r->d->id_size <= len;
        }
        w->before += c->own_len;
        w->next = c->next;
        w->i = 0;
    }
    return false;
}

#endif
