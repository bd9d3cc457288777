/* unmounted.h - which virtual threads own which objects while they are on no carrier.
 *
 * A thread that leaves its carrier takes its lock stack with it into the heap, where only the JVM
 * can read it.  So just before, the thread records here, by the objects' identity hashes, what it
 * has locked, and removes that when it returns, before any of its code runs:
 *
 *     what a record says is true as long as its serial is the same
 *
 * A reader that meets one of the objects finds the thread by the hash, checks what else it knows,
 * and then whether the record is still the same.  Two threads that own objects of one hash answer
 * for none.  What does not fit is unknown.  A record is written by its own thread only; readers
 * take no lock and repeat nothing.  Nothing here blocks, allocates or calls the JVM. */
#ifndef ORCA_HOTSPOT_UNMOUNTED_H
#define ORCA_HOTSPOT_UNMOUNTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A lock stack has at most this number of entries: further locked objects have an ObjectMonitor. */
enum { UNMOUNTED_LOCKS = 8 };

struct unmounted;

int unmounted_new(struct unmounted **out);
void unmounted_free(struct unmounted *u);

/* The calling thread, which has this Thread.getId(), is about to leave its carrier, and has locked
 * objects of these hashes (n: 0 to UNMOUNTED_LOCKS); its earlier statement is void. Hashes are not
 * 0. False: no room; nothing is stated. */
bool unmounted_leave(struct unmounted *u, uint64_t java_tid, const uint32_t *hashes, size_t n);

/* It is back, or has ended: its statement is void. */
void unmounted_return(struct unmounted *u, uint64_t java_tid);

/* All earlier statements are void. Any thread. */
void unmounted_forget(struct unmounted *u);

struct unmounted_owner {
    uint64_t java_tid;
    uint32_t record, serial;
};

/* The one thread that owns an object of this hash; false: none, or more than one.  Any thread. */
bool unmounted_find(const struct unmounted *u, uint32_t hash, struct unmounted_owner *found);

/* Whether it has said the same since it was found.  Any thread. */
bool unmounted_is_same(const struct unmounted *u, const struct unmounted_owner *found);

#endif
