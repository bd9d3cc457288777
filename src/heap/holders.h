/* holders.h - which fields refer to certain objects: one pass over all references of a dump.
 *
 * A holder is a field as its class declares it ("shop.Order.lines"), a static field, or the
 * elements of all arrays of a class.  An object that several fields refer to counts for each of
 * them, and for one field as often as it refers to it. */
#ifndef ORCA_HEAP_HOLDERS_H
#define ORCA_HEAP_HOLDERS_H

#include "base/buf.h"
#include "heap/dump.h"

#include <stdatomic.h>

enum holder_kind { HOLDER_FIELD, HOLDER_STATIC, HOLDER_ELEMENT };

/* What the caller knows of an object that is asked for. */
struct held {
    uint32_t group; /* holders are distinguished by it; below HOLDERS_GROUPS */
    bool marked;    /* counted apart */
    uint64_t bytes; /* summed up */
};

enum { HOLDERS_GROUPS = 4096 };

struct holders_query {
    const _Atomic uint64_t *objects; /* heap/bits.h: what is asked for */
    /* false: not this one after all.  Threads: several at once. */
    bool (*look)(void *ctx, uint32_t object, struct held *out);
    void *ctx;
};

struct holder {
    uint32_t group;
    uint32_t class_number; /* who declares the field; the class of the array */
    uint16_t field;        /* number of the field or static there */
    enum holder_kind kind;
    uint64_t count, marked, bytes;
};

/* All holders by group, and in a group by bytes, then by count, most first; the caller frees *out.
 * -ENOMEM, or an error of the system. */
int holders_find(const struct dump *d, const struct holders_query *query, struct holder **out,
                 size_t *n, struct err *err);

/* Append "shop.Order.lines", "static shop.Cache.all", "java.lang.Object[] elements". */
void holder_name(const struct dump *d, const struct holder *h, struct buf *b);

#endif
