/* oops.h - objects of Java's heap, read by code outside the JVM.
 *
 * Nothing here keeps an object where it is.  So its address is taken before and after, and compared
 * with what collectors record: those that stop all threads to move objects count their pauses, and
 * show that one is under way; ZGC changes the colour of good references before it moves anything.
 * Otherwise the data read do not count.  For other collectors this is unknown.
 * Async-signal-safe. */
#ifndef ORCA_HOTSPOT_OOPS_H
#define ORCA_HOTSPOT_OOPS_H

#include <stdbool.h>
#include <stdint.h>

struct vmstructs;

struct oops {
    bool known;  /* false: nothing is ever read */
    bool narrow; /* references in objects are 32 bits: */
    uintptr_t narrow_base;
    uint32_t narrow_shift;
    uintptr_t stopped, pauses; /* addresses: whether all are paused for a collector; how often so
                                * far */
    uintptr_t z_bad, z_shift;  /* or, of ZGC: bits of a bad reference; by how much it is shifted
                                * (z_shift 0: it is not) */
};

/* After the heap was made.  known is false where this JVM's heap is not described well enough, or
 * its collector moves objects in another way. */
void oops_open(struct oops *o, const struct vmstructs *vs);

/* What all that is read between two equal counts has in common.  False: objects are being moved.
 * first: it is the count before. */
bool oops_count(const struct oops *o, bool first, uint64_t *count);

/* The object to which the field at that address refers, 0: to none.  False: not known just now. */
bool oops_field(const struct oops *o, uintptr_t at, uintptr_t *object);

/* The same of a handle: where the JVM itself keeps a reference, of 64 bits; 0: no handle. */
bool oops_handle(const struct oops *o, uintptr_t handle, uintptr_t *object);

#endif
