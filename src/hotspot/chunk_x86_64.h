/* chunk_x86_64.h - the frames of the mounted virtual thread that were not thawed yet: those in its
 * stack chunks, which are objects in the heap.
 *
 * A virtual thread that comes back gets its youngest frames only; the others stay where they were
 * frozen, and what would return to them returns to a stub.  In a chunk frames lie as on a stack,
 * but for what points to another place of it: links to interpreted frames are relative (HotSpot's
 * stackChunkFrameStream and continuationFreezeThaw, x86, JDK 21 to 25).  What was read counts only
 * if no collector moved objects during that (oops.h). */
#ifndef ORCA_HOTSPOT_CHUNK_X86_64_H
#define ORCA_HOTSPOT_CHUNK_X86_64_H

#include "hotspot/oops.h"
#include "hotspot/stack.h"
#include "hotspot/vmstructs.h"

/* Where fields are in objects, in bytes. */
struct chunk_fields {
    int32_t cont;                     /* VirtualThread.cont */
    int32_t tail;                     /* Continuation.tail */
    int32_t parent, size, sp, bottom; /* StackChunk's; size, sp and bottom: words */
    int32_t stack;                    /* where a chunk's words begin */
};

struct chunks {
    struct chunk_fields fields;
    struct oops oops;
    long vthread; /* in a JavaThread: the handle of its thread object */
};

/* All but the fields.  False: this JVM's heap is not described well enough. */
bool chunks_open(struct chunks *c, const struct vmstructs *vs);

/* The object of the thread that is mounted on a JavaThread. */
bool chunks_thread(const struct chunks *c, uintptr_t java_thread, uintptr_t *thread);

/* The chunks of the thread that is mounted on a JavaThread, the youngest one first. */
struct chunk_walk {
    const struct chunks *c;
    uintptr_t java_thread, chunk;
    struct chunk_moment {
        uintptr_t thread, cont, tail;
        uint64_t count;
    } begin;
};

/* False: not known just now. */
bool chunks_begin(struct chunk_walk *w, const struct chunks *c, uintptr_t java_thread);

/* The next chunk that has frames: its words, and its youngest frame, which called something.  1; 0:
 * there is none; -1: not a chunk. */
int chunks_next(struct chunk_walk *w, struct stack *s, struct cursor *youngest);

/* Whether all that was read since chunks_begin was there. */
bool chunks_end(const struct chunk_walk *w);

#endif
