/* sim_parts.h - what the files of the simulator (sim.h) tell each other.
 *
 * Threads are actors here: indices, which do not end with a thread's life.  A thread that cannot go
 * on at once is asked with *_can_go_on in each step whether it can now; what it has to do next,
 * whatever else, is a chore. */
#ifndef ORCA_TESTS_SIM_PARTS_H
#define ORCA_TESTS_SIM_PARTS_H

#include "sim.h"

/* Let time pass. */
void sim_tick(struct sim *s);

/* The event of thread t, at a time of its own. */
void sim_emit(struct sim *s, int t, struct event e);

uint32_t sim_stack(struct sim *s);

/* A span of thread t begins now, or is over. */
struct true_span *sim_begin(struct sim *s, int t, uint32_t state, uint32_t lock, uint32_t other,
                            uint32_t stack);
void sim_finish(struct sim *s, int t);

void sim_todo(struct sim *s, int t, enum chore what, int arg);

/* A thread wakes another one. */
struct true_wake sim_wake(const struct sim *s, enum true_cause by, int t);

static inline bool crowd_has(const struct crowd *q, int t)
{
    for (int i = 0; i < q->n; i++)
        if (q->v[i] == t)
            return true;
    return false;
}

static inline void crowd_put(struct crowd *q, int t)
{
    q->v[q->n++] = t;
}

static inline void crowd_remove(struct crowd *q, int t)
{
    int n = 0;
    for (int i = 0; i < q->n; i++)
        if (q->v[i] != t)
            q->v[n++] = q->v[i];
    q->n = n;
}

/* sim_play.c: what a running thread does, and what it does to come to its end */
void play_anything(struct sim *s, int t);
void play_end(struct sim *s, int t);

/* sim_monitor.c: monitors and Object.wait */
void monitor_enter(struct sim *s, int t, int m);
void monitor_exit(struct sim *s, int t);
void monitor_wait(struct sim *s, int t, int m, bool timed);
void monitor_notify(struct sim *s, int t, int m, bool all);
void monitor_died(struct sim *s, int t);
bool monitor_can_go_on(struct sim *s, int t);
void monitor_go_on(struct sim *s, int t);
bool monitor_chore(struct sim *s, int t, enum chore what, int arg);
bool monitor_interrupt(struct sim *s, int t, struct true_wake by);

/* sim_park.c: permits, semaphores, locks with an owner */
void park(struct sim *s, int t, uint32_t lock, uint32_t owner, bool timed);
void unpark(struct sim *s, int t, int target, int semaphore);
void semaphore_acquire(struct sim *s, int t, int k);
void semaphore_release(struct sim *s, int t, int k);
void lock_take(struct sim *s, int t, int k);
void lock_release(struct sim *s, int t);
bool park_can_go_on(struct sim *s, int t);
void park_go_on(struct sim *s, int t);
bool park_chore(struct sim *s, int t, enum chore what, int arg);

/* sim_life.c: threads that start, sleep, join, interrupt, hand tasks over, end */
void thread_exists(struct sim *s, int t); /* since before the recording began */
void thread_start(struct sim *s, int t, int target);
void thread_begin(struct sim *s, int t);
void thread_end(struct sim *s, int t);
void thread_sleep(struct sim *s, int t);
void thread_join(struct sim *s, int t, int target, bool timed);
void thread_interrupt(struct sim *s, int t, int target);
void task_submit(struct sim *s, int t);
void task_run(struct sim *s, int t);
bool life_can_go_on(struct sim *s, int t);
void life_go_on(struct sim *s, int t);
bool life_chore(struct sim *s, int t, enum chore what, int arg);

#endif
