/* tptp_waits.c - monWait and monWaited, of Object.wait, Thread.sleep and Thread.join.
 *
 * monWaited has the length of the wait, so each thread remembers when its wait began; without a
 * known beginning it has less.  Sleep and join end without saying why: an interrupt is known by its
 * exception, else it was the time if that has passed.
 *
 * A join.  A platform thread's join waits on the Thread object, which is an event of its own: that
 * is written, and by its objIdRef TPTP recognises a join.  A virtual thread's join parks, and a
 * trace without waits has just the join: then the join itself is written as the wait. */
#include "export/tptp_parts.h"

enum { MS_NS = 1000000 };

/* -1 stays what it is: not known. */
static int64_t ms_up(int64_t ns)
{
    return ns < 0 ? -1 : (int64_t)(((uint64_t)ns + MS_NS - 1) / MS_NS);
}

/* `object` NULL: a sleep. */
static void attr_waited(struct export *x, const uint64_t *object)
{
    if (object)
        tptp_attr_object(x, "objIdRef", *object);
    else
        tptp_attr(x, "objIdRef", "-1");
}

static void open_wait(struct tptp_thread *t, const struct event *e, uint64_t object, int64_t ns)
{
    t->open = (uint8_t)e->kind;
    t->since = e->time;
    t->object = object;
    t->sleep_ns = ns;
    t->interrupted = false;
}

/* Whether what the event ends is what the thread is in. */
static bool is_open(const struct tptp_thread *t, unsigned enter, uint64_t object)
{
    return t->open == enter && t->object == object;
}

static void mon_wait(struct export *x, const struct event *e, const uint64_t *object, int64_t ms,
                     lock_id lock, stack_id stack)
{
    const struct tptp *p = x->state;
    tptp_define_lock(x, object ? *object : 0, lock);
    tptp_begin(x, "monWait", "threadIdRef", e);
    attr_waited(x, object);
    if (ms >= 0 && !p->has_no_timeouts)
        tptp_attr_number(x, "timeout", (uint64_t)ms);
    tptp_end(x, "monWait", lock, stack);
}

/* `began`: the wait's begin is known.  timed_out < 0: whether it was the time is not known. */
static void mon_waited(struct export *x, const struct tptp_thread *t, const struct event *e,
                       const uint64_t *object, bool began, int timed_out)
{
    const struct tptp *p = x->state;
    tptp_define(x, object ? *object : 0, (class_id){0}); /* its monWait is missing */
    tptp_begin(x, "monWaited", "threadIdRef", e);
    attr_waited(x, object);
    if (began)
        tptp_attr_number(x, "timeout", e->time > t->since ? (e->time - t->since) / MS_NS : 0);
    if (timed_out >= 0 && !p->has_no_timeouts)
        tptp_attr_number(x, "isTimedOut", timed_out != 0);
    tptp_end_empty(x);
}

static uint64_t waited_object(struct export *x, const struct tptp_thread *t, lock_id lock)
{
    return t->join ? tptp_joined_object(x, lock, (thread_id){t->join}) : tptp_lock_object(x, lock);
}

/* A join that was itself written waits for nothing but its thread; anything else means that its
 * end was lost. */
static bool inside_join(struct export *x, struct tptp_thread *t, uint64_t object)
{
    if (t->open == EV_join_enter && object == t->object) {
        x->suppressed++;
        return true;
    }
    return false;
}

void tptp_wait_enter(struct export *x, struct tptp_thread *t, const struct event *e)
{
    const struct ev_wait_enter *w = &e->wait_enter;
    uint64_t object = waited_object(x, t, w->lock);
    if (inside_join(x, t, object))
        return;
    open_wait(t, e, object, 0);
    mon_wait(x, e, &object, w->timeout_ms, w->lock, w->stack);
}

void tptp_wait_exit(struct export *x, struct tptp_thread *t, const struct event *e)
{
    uint64_t object = waited_object(x, t, e->wait_exit.lock);
    if (inside_join(x, t, object))
        return;
    mon_waited(x, t, e, &object, is_open(t, EV_wait_enter, object), e->wait_exit.timed_out != 0);
    t->open = 0;
}

/* Neither sleep nor join says why it ended: by its time, if that has passed. */
static bool timed_out(const struct tptp_thread *t, const struct event *e)
{
    return !t->interrupted && e->time >= t->since && e->time - t->since >= (uint64_t)t->sleep_ns;
}

void tptp_sleep_enter(struct export *x, struct tptp_thread *t, const struct event *e)
{
    int64_t ns = e->sleep_enter.timeout_ns;
    open_wait(t, e, 0, ns < 0 ? 0 : ns);
    mon_wait(x, e, NULL, ms_up(ns), (lock_id){0}, e->sleep_enter.stack);
}

void tptp_sleep_exit(struct export *x, struct tptp_thread *t, const struct event *e)
{
    bool began = is_open(t, EV_sleep_enter, 0);
    mon_waited(x, t, e, NULL, began, began ? timed_out(t, e) : -1);
    t->open = 0;
}

static bool join_is_wait(struct export *x, thread_id target)
{
    const struct tptp *p = x->state;
    return !p->joins_have_waits || (trace_thread(x->trace, target)->flags & THREAD_VIRTUAL);
}

void tptp_join_enter(struct export *x, struct tptp_thread *t, const struct event *e)
{
    const struct ev_join_enter *j = &e->join_enter;
    uint64_t object = tptp_thread_object(x, j->target);
    t->join = j->target.v;
    if (!join_is_wait(x, j->target))
        return;
    open_wait(t, e, object, j->timeout_ns < 0 ? 0 : j->timeout_ns);
    mon_wait(x, e, &object, ms_up(j->timeout_ns), (lock_id){0}, j->stack);
}

void tptp_join_exit(struct export *x, struct tptp_thread *t, const struct event *e)
{
    thread_id target = e->join_exit.target;
    uint64_t object = tptp_thread_object(x, target);
    t->join = 0;
    if (!join_is_wait(x, target))
        return;
    bool began = is_open(t, EV_join_enter, object);
    mon_waited(x, t, e, &object, began, began ? t->sleep_ns > 0 && timed_out(t, e) : -1);
    t->open = 0;
}

/* --- waits that the recording does not see whole ---------------------------------------------- */

/* Which of TPTP's elements a wait is that began with an event of this kind; NULL: none. */
static const char *element_of(unsigned kind)
{
    switch (kind) {
    case EV_monitor_contended_enter:
        return "monContendedEnter";
    case EV_wait_enter:
    case EV_join_enter:
    case EV_sleep_enter:
        return "monWait";
    default:
        return NULL;
    }
}

/* To other readers it begins here; its annotation says that it did not.  One for what is not known
 * is nothing to them, who look for the object by its place. */
void tptp_wait_found(struct export *x, struct tptp_thread *t, const struct event *e)
{
    const struct ev_wait_found *w = &e->wait_found;
    const char *name = element_of(w->kind);
    uint64_t object = tptp_lock_object(x, w->lock);
    (void)t;
    if (!name) {
        x->suppressed++;
        return;
    }
    tptp_introduce(x, w->owner, e->time);
    tptp_define_lock(x, object, w->lock);
    if (object == 0 && w->kind != EV_sleep_enter)
        tptp_hide(x);
    tptp_begin(x, name, "threadIdRef", e);
    attr_waited(x, w->kind == EV_sleep_enter ? NULL : &object);
    if (w->kind == EV_monitor_contended_enter)
        tptp_attr_thread(x, "threadOwner", w->owner);
    tptp_end_noted(x, name, w->lock, w->stack, "orca.found", event_kinds[w->kind].name);
}

/* Only an analysis of ours needs that it lasted until the end, and since when. */
void tptp_wait_open(struct export *x, struct tptp_thread *t, const struct event *e)
{
    const struct ev_wait_open *w = &e->wait_open;
    uint64_t object = tptp_lock_object(x, w->lock);
    (void)t;
    if (!element_of(w->kind)) {
        x->suppressed++;
        return;
    }
    tptp_define_lock(x, object, w->lock);
    tptp_hide(x);
    tptp_begin(x, "waitOpen", "threadIdRef", e);
    tptp_attr_object(x, "objIdRef", object);
    tptp_attr(x, "in", event_kinds[w->kind].name);
    tptp_attr_at(x, "since", w->since);
    if (w->limit)
        tptp_attr(x, "limit", w->limit == WAIT_LIMITED ? "yes" : "no");
    tptp_end_empty(x);
}
