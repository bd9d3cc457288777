/* resource_parts.h - what the files of resources share.
 *
 *   resource.c   who waits for what (resource_finder.h); resource_waits.c: its waits, one by one
 *   holders.c    who has it, and what they do (holders_parts.h)
 *   polled.c     the other end of what is polled
 *   sources.c    where answers come from
 *   lines.c      lines that samples lack
 *   crowds.c     which objects are one resource
 *   busy.c       the pool that answers, by how its threads were busy
 *   chains.c     those whose holders wait for another one
 *   lengthened.c those for which threads wait longer because of the heap */
#ifndef ORCA_CONCLUDE_RESOURCE_PARTS_H
#define ORCA_CONCLUDE_RESOURCE_PARTS_H

#include "base/keyed.h"
#include "conclude/resource.h"

/* A wait for a resource: a span, or the part of an Object.wait in which it reacquires the
 * monitor. */
struct resource_wait {
    uint32_t thread, index; /* of the span in the thread's line */
    const struct span *span;
    uint64_t from, to;
    uint32_t owner; /* who was seen to have it when it began; 0: unknown */
    bool again;
    bool open;
};

/* Each of them, thread by thread, in the order of time. */
typedef int (*resource_visit)(void *self, struct resource *r, const struct resource_wait *w);
int resources_each(struct resources *v, const struct analysis *a, resource_visit visit, void *self);

/* List the waits of each of the first n resources, so that they are gone through without all
 * others.  -ENOMEM. */
int resource_list_waits(struct resources *v, size_t n, struct analysis *a);

/* Each wait of one resource whose waits are listed (struct resource.waits). */
int resource_each_wait(struct resource *r, const struct analysis *a, resource_visit visit,
                       void *self);

/* Whether a wait ended without anything given: the lock of a full queue was passed on. */
bool resource_leaves_full(const struct resources *all, const struct analysis *a,
                          const struct span *s);

/* Whether two stacks are in the same call of the JDK's: each wakes the next one of those who wait
 * in one queue, which gives nothing back. */
bool resource_same_call(const struct resources *all, stack_id x, stack_id y);

/* The number of frames, from the outermost on, in which two stacks are the same place. */
uint32_t resource_shared_frames(const struct trace_stack *x, const struct trace_stack *y);

/* Whether two stacks part in a method outside the JDK, which made another call in y, further down in
 * its code.  A thread that was in x, and is in y next, may keep what it got in x. */
bool resource_later_call(const struct resources *all, stack_id x, stack_id y);

/* Whether they are in one method: it waits, and it gives back the lock that it took for that. */
bool resource_same_method(const struct resources *all, stack_id x, stack_id y);

/* Waits of one thread that are looked at for the last one of a kind. */
enum { LOOK_BACK = 64 };

/* The last wait for work of a thread that was over by then; NULL: it is not known. */
const struct span *resource_last_idle(const struct analysis *a, uint32_t thread, uint64_t time);

/* The same, if a thread gave it work. */
const struct span *resource_last_work(const struct analysis *a, uint32_t thread, uint64_t time);

/* The connection from which a thread had read when it woke another at a time, or from which the
 * giver of its work had; or the child process whose end it reports; 0: none.  *had: when the thread
 * itself had the answer; 0: it is of another one. */
lock_id source_of(const struct program *p, const struct analysis *a, uint32_t thread, uint64_t time,
                  uint64_t *had);

/* A thread of the one pool all of whose threads, none of which waits for it, were busy while a
 * resource was waited for; or, if there is none, that worked for about as long as was waited for
 * answers.  0: neither, or several. */
struct answering {
    uint32_t thread;
    bool works;
};

/* waits: [n_lines]; given: [n_lines] ns for which each was seen to work on answers, NULL: only who is
 * busy.  -ENOMEM. */
int answering_pool(const struct resource *r, const struct analysis *a, const bool *waits,
                   const uint64_t *given, struct answering *out);

/* Whether this very program listens at that end: others of its threads answer. */
bool source_is_own(const struct trace *t, lock_id peer);

/* A thread that was woken, found nothing and waits again does so within this time. */
#define LOOKS_AT_MOST_NS UINT64_C(100000)

/* Whether a wait gave its thread nothing: it looked, and waited again. */
static inline bool resource_waits_again(const struct analysis *of, const struct resource_wait *w)
{
    return line_waits_again(&of->timeline, &of->timeline.lines[w->thread], w->index,
                            LOOKS_AT_MOST_NS);
}

/* Loops that poll. */
struct polled_loops {
    const struct analysis *a;
    bool *wakers;      /* [n_lines]: the thread ended some */
    uint64_t n, woken; /* that were over; those that a thread ended */
};

/* A resource_visit: what was looked for was there after this wait.  Whether threads ended most. */
int polled_add_loop(void *self, struct resource *r, const struct resource_wait *w);
bool polled_are_woken(const struct polled_loops *l);

/* others[thread]: whether it was seen in other code of the library that polls (of the class, where
 * that is the program's own).  -ENOMEM. */
int polled_find_others(const struct resource *r, const struct resources *all,
                       const struct analysis *a, bool *others);

/* How many samples and owners have each stack, counted when it is first asked for. */
struct line_counts {
    uint32_t *of_stack; /* NULL: not yet; freed by who has it */
};

/* The line of a method that most samples and owners of the recording have; -1: none has one. */
int32_t lines_most(struct line_counts *c, const struct analysis *a, method_id method);

/* Fill in who has the first n of them.  -ENOMEM. */
int resource_find_holders(struct resources *all, size_t n, struct analysis *a);

/* Once their holders are known. */
void resource_find_chains(struct resources *all, const struct analysis *a);

/* Where objects of a class are waited for. */
struct crowd_place {
    uint32_t kind, take, group; /* as in struct resource */
};

/* What the objects of a place are: entries of a map (resource_class_of_entry); things of a class
 * that says so. */
struct crowd_kind {
    bool entries, permits;
};

struct crowds {
    struct keyed places, members;
};

void crowds_init(struct crowds *c);
void crowds_fini(struct crowds *c);

/* More than no waits.  -ENOMEM. */
int crowds_add(struct crowds *c, const struct crowd_place *at, lock_id object, uint64_t waits,
               struct crowd_kind kind);

/* Who waits for an object, wherever. */
struct crowd_object {
    uint32_t waits;
    uint32_t thread; /* CROWD_SEVERAL: not one alone; 0: none */
};

#define CROWD_SEVERAL UINT32_MAX

/* own[object]: it is a resource of its own; of: of each object. */
void crowds_settle(const struct crowds *c, const struct crowd_object *of, bool *own);

#endif
