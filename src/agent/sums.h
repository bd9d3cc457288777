/* sums.h - short waits as sums, while recording each of them would cost too much (cost=).
 *
 * Above the limit a stretch begins.  A wait that begins in a stretch is noted in a slot of its
 * thread (sums_begin) instead of an event; when it ends (sums_end) and was short, it is added to
 * the sum of its thread, lock, owner and stack in a table of the OS thread that it ends on, else it
 * is an event of its own.  The content of the tables goes to the rings ten times a second, as
 * wait_sum. So
 *     waits that began in stretches = counts of all wait_sum + waits whose slot is still taken
 *
 * Joins of virtual threads that have ended are summed, too, as waits without a lock and an owner:
 * which thread each was for is not known.
 *
 * For a moment five times per second (a look) waits are recorded as usual.  If even sums cost too
 * much, parks are only timed (sums_begin_light).
 *
 * A wait whose beginning was recorded is recorded to its end, whatever stretch has begun by then,
 * and one that was noted is summed or recorded completely.  A wait for which no slot or no sum is
 * free is recorded as an event: nothing is ever dropped here.  No lock is waited for, nothing is
 * allocated, no system call is made on a thread of the program. */
#ifndef ORCA_AGENT_SUMS_H
#define ORCA_AGENT_SUMS_H

#include "agent/cost.h"
#include "agent/threads.h"

/* Before the recorder is opened.  cost, flip, light: of the settings; COST_OFF: nothing is made, and
 * no wait is ever summed.  may_time: what a park is for does not decide whether it is recorded.
 * -ENOMEM. */
int sums_init(uint64_t cost, bool flip, bool light, bool may_time);

/* When the recorder is there; before events come.  processors: that the JVM may use, of which cost=
 * is a share. */
void sums_start(struct recorder *rec, uint64_t processors);

/* Once no thread is inside the guard, and the drain thread has ended. */
void sums_free(void);

/* What begins a wait, as its event would have it. */
struct sums_wait {
    uint32_t kind; /* enum event_kind */
    thread_id thread, owner;
    lock_id lock;
    stack_id stack;
    enum wait_limit limit;
    uint64_t since;
};

extern _Atomic bool sums_stretch;        /* one goes on */
extern _Atomic bool sums_used;           /* there was one in this recording */
extern _Atomic bool sums_light;          /* and most waits in it are only timed */
extern _Atomic uint64_t sums_look_until; /* what begins before that is recorded all the same */

static inline bool sums_going_on(void)
{
    /* relaxed: a stretch that is seen late begins late */
    return atomic_load_explicit(&sums_stretch, memory_order_relaxed);
}

static inline bool sums_were_made(void)
{
    /* relaxed: who has noted a wait has seen the stretch, and this before it */
    return atomic_load_explicit(&sums_used, memory_order_relaxed);
}

/* Note a wait of the current thread.  False: it is to be recorded. */
bool sums_note(struct os_thread *self, const struct sums_wait *w);

/* A wait of a thread begins, or ends, that is recorded: from the lengths Orca knows whether sums
 * would help. */
void sums_mark(thread_id thread, uint64_t since);
void sums_count(thread_id thread, uint64_t now);

static inline bool sums_watches(void)
{
    return atomic_load_explicit(&cost_watched, memory_order_relaxed) && !sums_going_on();
}

static inline bool sums_begin(struct os_thread *self, const struct sums_wait *w)
{
    if (sums_watches())
        sums_mark(w->thread, w->since);
    return sums_going_on() &&
           w->since >= atomic_load_explicit(&sums_look_until, memory_order_relaxed) &&
           sums_note(self, w);
}

/* The current thread's wait is over.  False: it was not noted, its end is to be recorded. */
bool sums_add(struct os_thread *self, uint32_t kind, thread_id thread, uint64_t now);

static inline bool sums_end(struct os_thread *self, uint32_t kind, thread_id thread, uint64_t now)
{
    if (sums_were_made() && sums_add(self, kind, thread, now))
        return true;
    if (sums_watches())
        sums_count(thread, now);
    return false;
}

/* Where sums cost too much, too, parks are only timed: a thread's number and time of them are exact,
 * and one in several says lock and stack, once for the number and once for the time of those before
 * it.  Owner and waker are known from looks. */
static inline bool sums_are_light(void)
{
    return sums_going_on() && atomic_load_explicit(&sums_light, memory_order_relaxed);
}

bool sums_time(struct os_thread *self, thread_id thread, enum wait_limit limit, uint64_t since);

/* The current thread's park begins.  False: it is to be looked at. */
static inline bool sums_begin_light(struct os_thread *self, thread_id thread, enum wait_limit limit,
                                    uint64_t since)
{
    return sums_are_light() &&
           since >= atomic_load_explicit(&sums_look_until, memory_order_relaxed) &&
           sums_time(self, thread, limit, since);
}

struct sums_timed {
    uint64_t since, until, total, longest, count;
    enum wait_limit limit;
    bool whole; /* it is one wait, and was not short */
};

/* The current thread's park is over.  NOT_TIMED: it did not begin so.  TIMED_ASKS: the thread is to
 * say what it was for and where, to sums_put_timed. */
enum sums_timing { NOT_TIMED, TIMED, TIMED_ASKS };
enum sums_timing sums_timed(thread_id thread, uint64_t now, struct sums_timed *w);
void sums_put_timed(struct os_thread *self, thread_id thread, const struct sums_timed *t,
                    lock_id lock, stack_id stack);

static inline enum sums_timing sums_end_light(thread_id thread, uint64_t now, struct sums_timed *w)
{
    return sums_were_made() ? sums_timed(thread, now, w) : NOT_TIMED;
}

/* The current thread begins, or ends, what waits itself inside (a join, a sleep, Object.wait):
 * waits inside are not separate waits, and are not summed. */
void sums_inside(thread_id thread);
void sums_outside(thread_id thread);

/* `by` is about to unpark a thread.  Whether that is left out: the wait that it ends is noted, and
 * short until now. */
bool sums_end_short(thread_id target, thread_id by, uint64_t now);

/* On the drain thread, as often as it likes: decides whether a stretch begins or ends, writes what
 * is in the tables, and reports waits that last. */
void sums_tick(uint64_t now, uint64_t events);

/* Everything that was summed until now is in the rings.  over: and no more will be, as the
 * recording ends.  Any thread. */
void sums_flush(bool over);

/* What recording has cost the program's threads, ns.  False: nobody has watched it. */
bool sums_cost(uint64_t *ns);

/* What is summed now, as lines of a reply: summed_waits, summed_below_ns (0: nothing is). */
void sums_put_status(struct buf *reply);

/* From now on each wait is recorded: a sum would lie in two files, as the recording goes on in
 * another one.  All that was summed is in the rings.  Any thread. */
void sums_no_more(void);

/* Append a wait_open for each wait that is noted. */
void sums_open_waits(struct buf *events);

/* Since when a park is under way that is only timed: the thread's, or (0) any; 0: there is none. */
uint64_t sums_timed_since(thread_id thread);

/* Groups were switched off: noted waits of these groups are no longer followed. */
void sums_forget(const bool *off);

/* The OS thread ends. */
void sums_leave(struct os_thread *self);

#endif
