/* histogram.h - classes by what their instances take, and the biggest single objects.
 *
 * The histogram is a by-product of dump_open (counts_only is enough); the biggest objects take one
 * more pass over the dump. */
#ifndef ORCA_HEAP_HISTOGRAM_H
#define ORCA_HEAP_HISTOGRAM_H

#include "heap/dump.h"

/* The numbers of the classes that have instances, the most bytes first; the caller frees it.  NULL
 * when memory is out. */
uint32_t *histogram_classes(const struct dump *d, size_t *n);

struct big_object {
    uint64_t id, bytes;    /* shallow */
    uint64_t offset;       /* of its record in the dump */
    uint32_t class_number; /* or DUMP_NONE */
    uint32_t n;            /* arrays: elements */
};

/* The `most` biggest objects, biggest first, of the same size the one with the lower id; returns
 * how many there are, or a negative errno. */
int64_t histogram_biggest(const struct dump *d, struct big_object *out, size_t most,
                          struct err *err);

#endif
