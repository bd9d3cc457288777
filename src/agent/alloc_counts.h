/* alloc_counts.h - how many objects of a class each thread has allocated at a place, counted where
 * it happens: by the allocating OS thread, in a table of its own that only it writes.
 *
 * Counts only grow; the heap thread reads them beside, and makes events of what has come since it
 * read last.  So counting takes no lock and loses nothing, and an event stands for many objects. */
#ifndef ORCA_AGENT_ALLOC_COUNTS_H
#define ORCA_AGENT_ALLOC_COUNTS_H

#include "format/event.h"

struct alloc_counts; /* of an OS thread */

struct alloc_key {
    thread_id thread; /* of Java: many virtual ones come by a carrier */
    class_id class_;
    stack_id stack;
};

/* What has come since. */
struct alloc_news {
    struct alloc_key key;
    uint64_t count, bytes;
};

/* A table for the calling OS thread; NULL: out of memory.  Takes a lock. */
struct alloc_counts *alloc_counts_new(void);

/* Count an object of that many bytes.  False: the table is full (tens of thousands of keys, from
 * virtual threads), or memory is out. The object is not counted: end this table and begin another.
 * Only its own thread. */
bool alloc_counts_add(struct alloc_counts *t, struct alloc_key key, uint64_t bytes);

/* Its thread ends: what it has counted is read once more, then it is freed. */
void alloc_counts_end(struct alloc_counts *t);

/* What all threads have counted since the last call.  One thread at a time. */
void alloc_counts_news(void (*visit)(void *ctx, const struct alloc_news *n), void *ctx);

/* Free all; no thread counts any longer. */
void alloc_counts_free(void);

#endif
