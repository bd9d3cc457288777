/* referrers.h - who refers to an object, and by that the way to it from a root.
 *
 * All references that the heap has: fields, elements, statics, what a class has beside them, a
 * class loader's classes, a thread's locals; also those that keep nothing alive (the referent of a
 * weak reference), which are marked.  That an instance refers to its class is left out: these are
 * the class' instances.
 *
 *     who refers to object i: from[begins[i]] to before from[begins[i + 1]], ascending; each is
 *     object << 1 | weak
 *
 * A little more than four bytes an object and four a reference.  Read only after referrers_find. */
#ifndef ORCA_HEAP_REFERRERS_H
#define ORCA_HEAP_REFERRERS_H

#include "heap/objects.h"
#include "heap/paths.h"

struct referrers {
    const struct dump *d;
    uint32_t *begins, *from;
    uint64_t *is_root; /* bits of objects */
};

/* Two passes over the dump.  -EOVERFLOW: 2^31 objects or 2^32 references; -ENOMEM, errors of the
 * system. */
int referrers_find(struct referrers *r, const struct dump *d, struct err *err);
void referrers_fini(struct referrers *r);

/* Entries as above; one object may stand there several times. */
const uint32_t *referrers_of(const struct referrers *r, uint32_t object, uint32_t *n);

/* Whether nothing in the heap needs to refer to an object for it to be alive: a root that is not a
 * thread's local, or a class of the boot loader. */
bool referrers_is_root(const struct referrers *r, uint32_t object);

/* The ways from roots to this object, without weak references.  A class is reached through its
 * loader, its instances are tried where that leads nowhere.  -ENOMEM. */
int referrers_paths(const struct referrers *r, const struct objects *o, uint32_t object,
                    struct heap_paths *out);

#endif
