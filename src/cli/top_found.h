/* top_found.h - what threads wait for that did so before the oldest event that is there.
 *
 * Of the waits under way when a recording began it has the stacks and not the monitors, which JVMTI
 * does not say live; of those whose beginning a circle has overwritten it has nothing.  So the JVM
 * is asked once, with the first picture, if there may be such threads (orca query PID locks: one
 * safepoint); what it says holds for a thread as long as that wait goes on. */
#ifndef ORCA_CLI_TOP_FOUND_H
#define ORCA_CLI_TOP_FOUND_H

#include "analyze/live.h"
#include "attach/jvm.h"

struct top_found_wait {
    thread_id thread;
    uint64_t since;
    char text[96]; /* "Object@1379FC1C", as the JVM says it */
    char at[128];  /* the innermost frame: "shop.Order.take(Order.java:3)" */
};

struct top_found {
    bool asked;
    struct top_found_wait *waits;
    size_t n;
};

/* Ask, if that was not done and there is reason to; what is new goes to the model.  oldest: time of
 * the oldest event that is there, when there were older ones, else 0. */
void top_found_ask(struct top_found *f, const struct jvm *jvm, struct live *l, uint64_t oldest);
void top_found_fini(struct top_found *f);

/* What is known so of a thread's current wait, or NULL. */
const struct top_found_wait *top_found_wait(const struct top_found *f, const struct live_thread *t);

#endif
