/* trails.h - a thread's latest stacks by the trails of their walks (hotspot/trail.h): what is
 * recorded, or allocated, in a loop is walked once.
 *
 * A fixed amount of memory for an OS thread, in which the new overwrites the old.  What is met once
 * leaves no trail: the place is remembered, and the next time there the walk makes one.  Where
 * trails are made and hold for nothing again and again, one is made ever more seldom. */
#ifndef ORCA_AGENT_TRAILS_H
#define ORCA_AGENT_TRAILS_H

#include "format/event.h"
#include "hotspot/trail.h"

struct trails;

/* Where a stack is wanted, and of what kind: the key of a trail. */
struct trail_place {
    struct trail_anchor from;
    uint64_t what;         /* distinguishes what is made of the same frames */
    uintptr_t java_thread; /* HotSpot's JavaThread of the calling thread; not in the key */
    bool again;            /* out: make a trail */
    bool from_heap;        /* out: of the stack that was found, a part is in the heap */
};

/* NULL: out of memory, or too many threads have some. */
struct trails *trails_new(void);
void trails_free(struct trails *t);

/* The id of the stack here, when its trail holds; else 0. */
stack_id trails_find(struct trails *t, const struct walker *w, struct trail_place *here);

/* The walk that was made here has this id. */
void trails_put(struct trails *t, const struct trail_place *here, const struct trail *trail,
                stack_id id);

#endif
