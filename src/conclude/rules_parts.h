/* rules_parts.h - what the files of rules share; nothing else includes it.
 *
 *   rules.c          the table of rules, their order     rules_locks.c    locks that are fought for
 *   rules_text.c     texts and ids of findings           rules_flow.c     the program as a whole
 *   rules_alloc.c    allocations                         rules_signals.c  notify and wait
 *   rules_heap.c     the heap as a whole
 *   rules_loops.c    event loops that wait in handlers
 *   rules_init.c     classes that are being initialised
 *   rules_safepoints.c  stops of all threads by the JVM
 *   rules_pinned.c   virtual threads that keep their carriers, and those that have none
 *   rules_io.c       input and output that the program waits for
 *   rules_processors.c  threads that wait for a processor
 *   rules_queues.c   queues that fill faster than they are emptied
 *   rules_resources.c   what blocks threads: which of it is reported
 *   words.c             how: who waits, who has it, what those do who have it */
#ifndef ORCA_CONCLUDE_RULES_PARTS_H
#define ORCA_CONCLUDE_RULES_PARTS_H

#include "analyze/alloc_tables.h"
#include "conclude/resource_names.h"
#include "conclude/rules.h"
#include "conclude/thread_pools.h"

enum {
    RULE_FINDINGS = 5,     /* of each rule at most: the tables have the others */
    SAYS_PERMILLE = 500,   /* of its time holders do what a finding is about */
    DOING_PERMILLE = 150,  /* what holders do for less is not said */
    QUEUED_PERMILLE = 500, /* of answers: before the giver begins, requests queue */
};

/* Of one lock: its time on the critical path, and that of it which goes through the last owner
 * seen. */
struct lock_facts {
    uint64_t path, seen;
};

/* Threads that are blocked at the end, for one resource or for locks of one class without one. */
struct blocked {
    uint64_t n;
    const struct open_wait *longest;
};

/* What the rules look at, each list most time blocked first. */
struct evidence {
    struct analysis *a;
    uint64_t length;   /* ns of the recording */
    uint32_t *classes; /* groups */
    size_t n_classes;
    uint32_t *sites;
    const struct blame *waiters; /* by class and waiter */
    size_t n_sites, n_waiters;
    struct resources resources; /* what blocks threads */
    uint64_t resource_ns;       /* all of it */
    struct lock_facts *of_lock; /* [locks.n_objects] */
    struct blocked *blocked;    /* of each resource, then of each class */
    struct field_sites fields;  /* what the code at places of waits calls locks */
    bool heap_told;             /* a leak's finding says that it fills the heap, */
    bool lengthened_told;       /* or a finding about the heap says which locks it lengthens */
    const char *rule;           /* the one at work */
    size_t n_of_rule;           /* what it has found */
    struct buf found;           /* struct rule_finding [] */
};

/* A new finding of the rule at work, about the whole recording; NULL: it has enough, or memory is
 * out. */
struct rule_finding *rule_find(struct evidence *ev, enum severity severity, uint64_t impact);

/* A format that begins with "; " begins a line of the card. */
void rule_say(struct rule_finding *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* What grew: from the point `first` to `last`, by bytes on average of the first third of these, and
 * of the last one above it. */
struct climb {
    size_t first, last;
    double mean, grown;
};

/* Whether, after a first quarter, each third of the points lies above all of the one before it: a
 * saw's teeth do not. */
bool rule_climbs(const uint64_t *v, size_t n, struct climb *c);

/* Least squares: by how much it grew a unit of the scale. */
double rule_slope(const uint64_t *v, const uint64_t *scale, const struct climb *c);

/* Of a heap of which only the collections are known. */
void rule_heap_grows(struct evidence *ev);

int rule_find_blocked(struct evidence *ev);

/* Those who are blocked at the end for longer than usual; NULL: nobody is. */
const struct blocked *rule_still_blocked_for(const struct evidence *ev, const struct resource *r);
enum severity rule_severity_blocked(const struct evidence *ev, const struct blocked *b);

/* Whether these are answers for which requests queue before a thread begins with them; of those that
 * are passed on that is unknown. */
bool rule_is_queue_for_answers(const struct resource *r);

/* Of answers and input: for how long no thread of the pool of r's holder was free (none_free), where
 * that is enough to call the pool full; and its threads, without those that hand out its work. */
void pool_find_none_free(const struct evidence *ev, struct resource *r);

/* Begin a line of the card. */
void rule_line(struct rule_finding *f, enum card_label label);

/* All that a finding about a resource says. */
void rule_say_resource(struct rule_finding *f, const struct evidence *ev);

/* The same for a finding that has been told, of which more is known now.  Nothing but
 * rule_say_resource may have written to it: the rules that add lines of their own come later. */
void rule_say_resource_anew(struct rule_finding *f, const struct evidence *ev);

/* " burner 69 %, parser 12 %": of the pools with the most of a kind of time, their shares of
 * `whole`.  How many it names; those come first then. */
size_t rule_say_pools(struct rule_finding *f, const struct evidence *ev, struct thread_pool *v,
                      size_t n, enum thread_time time, uint64_t whole);

/* A line for the program's method in which a thread, or 0: all of them, runs the most, where samples
 * show one; its stack. */
void rule_say_busiest(struct rule_finding *f, const struct evidence *ev, uint32_t thread);

/* " in Order.submit (Order.java:88)" behind a word; nothing when it is not known. */
void rule_say_in(struct rule_finding *f, const struct evidence *ev, const char *word,
                 struct place at);

/* Names, as the tables have them. */
void rule_say_thread(struct rule_finding *f, const struct evidence *ev, uint32_t thread);
void rule_say_class(struct rule_finding *f, const struct evidence *ev, uint32_t group);

/* A lock by the field that holds it, where the code at which a thread waits for it says so (0: at
 * any place); else by its class. */
void rule_say_lock(struct rule_finding *f, const struct evidence *ev, lock_id lock,
                   stack_id waits_at);

/* Several of them: those of one name have numbers, too. */
void rule_say_lock_among(struct rule_finding *f, const struct evidence *ev,
                         const struct lock_wait *v, size_t n, size_t i);

/* The same of a stack: the line of the program, else of who called the JDK. */
void rule_say_place(struct rule_finding *f, const struct evidence *ev, const char *word,
                    stack_id stack);

/* Ids of the trace; those that are there, and 0, are passed over. */
void rule_add_thread(struct rule_finding *f, const struct evidence *ev, uint32_t thread);
void rule_add_lock(struct rule_finding *f, lock_id lock);
void rule_add_stack(struct rule_finding *f, stack_id stack);

/* Once the resources are known: the facts of all locks.  -ENOMEM. */
int rule_find_lock_facts(struct evidence *ev);

/* Of what fills the heap: that it is nearly full, where it is. */
void rule_say_heap_full(struct evidence *ev, struct rule_finding *f);

/* Of what fills the heap, in the time that the finding is about: for which locks that have a finding
 * threads wait longer by it.  The finding then comes before those. */
void rule_say_lengthened(struct evidence *ev, struct rule_finding *f, bool grows);

/* Whether a resource has a finding of its own. */
bool rule_resource_is_told(const struct evidence *ev, const struct resource *r);

/* The finding about the resource that a lock is, once it is made; else NULL.  One cause, one
 * finding: other problems of the lock are reported there. */
struct rule_finding *rule_of_lock(struct evidence *ev, lock_id lock);

/* The finding about what a holder is blocked on, or about the end of that one's chain; NULL: there
 * is none. */
struct rule_finding *rule_of_blocker(struct evidence *ev, const struct activity *x);

/* The finding that says of a thread's pool that all wait for its threads, or that they all are busy;
 * NULL: there is none. */
struct rule_finding *rule_of_pool(struct evidence *ev, uint32_t thread);

/* Whether a finding about a resource says that its holders mostly do this at this place: one cause,
 * one finding. */
bool rule_resource_says(const struct evidence *ev, enum holder_does does, stack_id stack);

/* Whether what is waited for at a stack is such a resource, about which there is a finding. */
bool rule_resource_is(const struct evidence *ev, enum resource_kind kind, stack_id stack);

unsigned rule_permille(uint64_t part, uint64_t whole);

/* The rules. */
void rule_losses(struct evidence *ev);
void rule_unreliable(struct evidence *ev);
void rule_deadlock(struct evidence *ev);
void rule_stuck(struct evidence *ev);
void rule_inversion(struct evidence *ev);
void rule_still_blocked(struct evidence *ev);
void rule_exhausted_pool(struct evidence *ev);
void rule_dominant_lock(struct evidence *ev);
void rule_contended_lock(struct evidence *ev);
void rule_contended_pool(struct evidence *ev);
void rule_starved_pool(struct evidence *ev);
void rule_polled(struct evidence *ev);
void rule_delay(struct evidence *ev);
void rule_waits_for_io(struct evidence *ev);
void rule_slow_answer(struct evidence *ev);
void rule_class_initialisation(struct evidence *ev);
void rule_pinned(struct evidence *ev);
void rule_few_carriers(struct evidence *ev);
void rule_quota(struct evidence *ev);
void rule_few_processors(struct evidence *ev);
void rule_blocked_loop(struct evidence *ev);
void rule_convoy(struct evidence *ev);
void rule_held_while_waiting(struct evidence *ev);
void rule_held_during_io(struct evidence *ev);
void rule_lost_signal(struct evidence *ev);
void rule_notify_storm(struct evidence *ev);
void rule_futile_wakeups(struct evidence *ev);
void rule_sleep_on_path(struct evidence *ev);
void rule_io_on_path(struct evidence *ev);
void rule_serial_phase(struct evidence *ev);
void rule_unbalanced_join(struct evidence *ev);
void rule_pool_saturation(struct evidence *ev);
void rule_growing_queue(struct evidence *ev);
void rule_leak_suspect(struct evidence *ev);
void rule_heap_full(struct evidence *ev);
void rule_gc_pauses(struct evidence *ev);
void rule_safepoints(struct evidence *ev);
void rule_allocation_hot_spot(struct evidence *ev);

#endif
