/* gc_counters.h - what HotSpot's performance counters say of collections, read in the JVM's own
 * memory: the cause of the one that goes on, and which kind of collection paused last.
 *
 * The counters are there unless the JVM runs with -XX:-UsePerfData; vmStructs describes them.
 * Reading needs no JNI, no lock, no allocation and no system call. */
#ifndef ORCA_HOTSPOT_GC_COUNTERS_H
#define ORCA_HOTSPOT_GC_COUNTERS_H

#include "hotspot/vmstructs.h"

#include <stddef.h>
#include <stdint.h>

enum { GC_COUNTERS = 4, GC_TEXT = 64 };

struct gc_counters {
    uintptr_t cause, last_cause; /* 0: not there */
    struct gc_kind {
        char name[GC_TEXT]; /* "G1 young collection", without the JVM's " pauses" */
        uintptr_t entered;  /* when such a pause last began */
        uint64_t seen;      /* that time, when it was last looked at */
    } kinds[GC_COUNTERS];
};

/* When the heap is there (VMInit), after guarded_open. */
void gc_counters_open(struct gc_counters *c, const struct vmstructs *vs);

/* The cause of the collection that goes on; false when there is none or it is not known.
 * Safepoint only. */
bool gc_counters_cause(const struct gc_counters *c, char text[GC_TEXT]);

/* The cause of the collection that ended last. */
bool gc_counters_last_cause(const struct gc_counters *c, char text[GC_TEXT]);

/* Which of the kinds the pause is of that ends now, or -1.  At the end of each pause; only the VM
 * thread. */
int gc_counters_kind(struct gc_counters *c);

#endif
