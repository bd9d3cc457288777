/* analyzed.h - a trace made by hand and its analysis, for tests of one small fact.
 *
 *     TestSuite(bind, .init = analyzed_begin, .fini = analyzed_end);
 *     Test(bind, ...)
 *     {
 *         ADD(&b, 1, ann, 100, wait_enter, .lock = lock);
 *         ...
 *         analyzed_run(1000);
 *         cr_assert_eq(span_of(ann, 0)->waker, bob.v);
 *     }
 *
 * Times in the tests are ns after BUILDER_START; at() and since() turn them round. */
#ifndef ORCA_TESTS_ANALYZED_H
#define ORCA_TESTS_ANALYZED_H

#include "analyze/analysis.h"
#include "base/util.h"
#include "trace_builder.h"

/* Defined by analyzed_begin: four threads of the program, three objects of one class, two
 * stacks. */
extern struct trace_builder b;
extern thread_id ann, bob, cat, dan;
extern lock_id lock, other_lock, third_lock;
extern stack_id stack, other_stack;

/* Made by analyzed_run. */
extern struct trace *t;
extern struct analysis *a;

void analyzed_begin(void);
void analyzed_end(void);

/* Close the trace at a time and analyse it. */
void analyzed_run(uint64_t end);

struct rule_finding; /* conclude/rules.h */

/* The finding of a rule; NULL: there is none. */
const struct rule_finding *finding_of(const char *rule);

static inline uint64_t at(uint64_t time)
{
    return BUILDER_START + time;
}

static inline uint64_t since(uint64_t time)
{
    return time - BUILDER_START;
}

const struct span *span_of(thread_id thread, uint32_t i);
const struct context *context_of(thread_id thread, uint32_t i);
const struct thread_sums *sums_of(thread_id thread);

/* A wait of the main kinds, both ends: in a stream of the thread's own. */
void does_block(thread_id who, uint64_t from, uint64_t to, lock_id on, thread_id owner);
void does_wait(thread_id who, uint64_t from, uint64_t to, lock_id on);
void does_park(thread_id who, uint64_t from, uint64_t to);
void does_sleep(thread_id who, uint64_t from, uint64_t to);

/* A look at a thread (group looks) that stands for 5 ms; flags: SAMPLE_*. */
void does_look(thread_id who, uint64_t time, const char *frames, uint32_t flags);
void does_join(thread_id who, uint64_t from, uint64_t to, thread_id target);

#endif
