/* sample_events.h - from samples as they were taken to events of the trace: methods and stacks get
 * their ids, times their order.
 *
 * All on the collector's thread, which makes no JVM call. */
#ifndef ORCA_AGENT_SAMPLE_EVENTS_H
#define ORCA_AGENT_SAMPLE_EVENTS_H

#include "agent/agent.h"
#include "agent/open_calls.h"
#include "hotspot/samples.h"

/* What becomes an event. */
struct sample_event {
    enum sample_group group;
    thread_id thread;
    stack_id stack;
    uint64_t time, weight;
    uint32_t flags, error; /* SAMPLE_*, an error code without its sign */
    struct open_call open; /* it is still in that call, */
    uint64_t since;        /* since then */
};

/* A sample has become an event, which says how its subject's stack is called.  May be NULL. */
typedef void (*sample_event_fn)(void *ctx, const struct sample *s, const struct sample_event *e);

/* Whether samples by the wall clock are of the group looks (SAMPLE_LOOK).  No collector runs. */
void sample_events_look(bool looks);

/* Put an event that will be written with the next collection, in the order of time. */
void sample_events_put(const struct sample_event *e);

/* Write all that was taken since the last call. */
void sample_events_collect(struct ring *ring, sample_event_fn made, void *ctx);

/* Everything is collected: forget it.  No collector runs. */
void sample_events_reset(void);

#endif
