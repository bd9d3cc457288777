/* alloc_trails.h - the stacks of a thread's latest allocations by the trails of their walks
 * (hotspot/trail.h): what allocates in a loop is walked once.
 *
 * A fixed amount of memory for a thread, in which the new overwrites the old.  What is met once
 * leaves no trail: the place is remembered, and the next time there the walk makes one. */
#ifndef ORCA_AGENT_ALLOC_TRAILS_H
#define ORCA_AGENT_ALLOC_TRAILS_H

#include "format/event.h"
#include "hotspot/trail.h"

struct alloc_trails;

/* Where an object of this class is being allocated: the key of a trail. */
struct alloc_here {
    struct trail_anchor from;
    class_id object;
    bool again; /* out: met before: make a trail */
};

/* NULL: out of memory, or too many threads have some. */
struct alloc_trails *alloc_trails_new(void);
void alloc_trails_free(struct alloc_trails *t);

/* The id of the stack here, when its trail holds; else 0. */
stack_id alloc_trails_find(struct alloc_trails *t, const struct walker *w, struct alloc_here *here);

/* The walk that was made here has this id. */
void alloc_trails_put(struct alloc_trails *t, const struct alloc_here *here,
                      const struct trail *trail, stack_id id);

#endif
