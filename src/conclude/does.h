/* does.h - what a thread does, by its wait or by its stack, for who wants to know why others
 * wait. */
#ifndef ORCA_CONCLUDE_DOES_H
#define ORCA_CONCLUDE_DOES_H

#include "conclude/resource.h"

/* What agrees in this is one thing that is done.  Compared as bytes. */
struct does {
    uint16_t does;   /* enum holder_does */
    uint16_t near;   /* as in struct place */
    uint32_t method; /* of the program; 0: not in it */
    int32_t line;
    uint32_t other; /* as in struct activity */
};

/* The innermost method of Java, if it is a native one; 0: it is none. */
method_id does_native_method(const struct trace *t, stack_id stack);

/* Which native methods compute: threads are seen to run in them, so a thread that does not move
 * there waits for a processor, where looks do not tell that (SAMPLE_ASLEEP).  For resources.runs;
 * memory is the arena's.  NULL: it is out. */
bool *does_native_runs(struct analysis *a);

/* *leaf: the innermost frame that is not the machinery of waiting. */
struct does does_of_wait(const struct resources *all, const struct analysis *a, uint32_t context,
                         struct place *leaf);

/* What is at the other end of what a wait is for, a virtual thread's; 0: it is none, or unknown. */
lock_id does_peer(const struct analysis *a, const struct context *x);

/* still: the thread was on no processor. */
struct does does_of_stack(const struct resources *all, stack_id at, bool still, struct place *leaf);

#endif
