/* heap_use.h - how much of the Java heap is in use, read from the collector's own books.
 *
 * Each collector has them elsewhere (heap_use.c has the table); vmStructs says where.  What this
 * JVM does not describe is unknown, never guessed.  The figures are right while all threads are
 * paused; heap_use_read then needs no JNI, no lock, no allocation and no system call. */
#ifndef ORCA_HOTSPOT_HEAP_USE_H
#define ORCA_HOTSPOT_HEAP_USE_H

#include "hotspot/vmstructs.h"

#include <stdint.h>

enum { HEAP_TERMS = 6, HEAP_HOPS = 4 };

/* A number in the JVM's memory: from an address over pointers to a field. */
struct heap_term {
    uintptr_t from;
    uint32_t hops[HEAP_HOPS]; /* offsets of pointers to follow, the last one of the number */
    int32_t n;                /* 0: the term is not there */
    bool minus;
};

struct heap_use {
    const char *collector; /* "Serial", "Parallel", "G1", "ZGC", "Shenandoah"; NULL: another one */
    bool concurrent;       /* its collections are cycles that work while the threads run */
    struct heap_term used[HEAP_TERMS], committed[HEAP_TERMS];
};

/* When the heap is there (VMInit), after guarded_open. */
void heap_use_open(struct heap_use *h, const struct vmstructs *vs);

/* From now on nothing is known of it but the collector's name. */
void heap_use_close(struct heap_use *h);

/* Bytes in use, and bytes that objects can be in before the heap grows; each 0 when it is not
 * known. Safepoint only. */
uint64_t heap_use_used(const struct heap_use *h);
uint64_t heap_use_committed(const struct heap_use *h);

#endif
