/* trcxml_waits.c - monWait and monWaited, which are Object.wait, Thread.sleep and Thread.join.
 *
 * A sleep has the object "-1".  A wait on a Thread object is a join of that thread (TPTP 4.5's
 * thread profiling), unless by the stack another method than Thread.join waits there, or the thread
 * is its own.  Where the recording that a file was exported from had the waits inside the joins of
 * platform threads, they are there again.
 *
 * How a wait ended is what isTimedOut says; where that is missing (it came with TPTP 4.5), by its
 * time, if that has passed. */
#include "import/trcxml_parts.h"

#include <string.h>

enum { MS_NS = 1000000 };

static int64_t ns_of_ms(int64_t ms)
{
    if (ms < 0)
        return -1;
    return ms <= INT64_MAX / MS_NS ? ms * MS_NS : INT64_MAX;
}

/* 1, 0, or -1: not known. */
static int take_answer(struct trcxml *x, enum trcxml_attr a)
{
    const char *text = trcxml_text(x, a);
    if (strcmp(text, "true") == 0 || strcmp(text, "1") == 0)
        return 1;
    if (strcmp(text, "false") == 0 || strcmp(text, "0") == 0)
        return 0;
    if (*text)
        trcxml_note(&x->notes, NOTE_BAD_NUMBER);
    return -1;
}

int trcxml_begin_wait(struct trcxml *x, struct err *err)
{
    (void)err;
    x->open.is_sleep = strcmp(trcxml_text(x, ATTR_objIdRef), "-1") == 0;
    x->open.timeout_ms = trcxml_number(x, ATTR_timeout, INT64_MAX, -1);
    return 0;
}

int trcxml_begin_waited(struct trcxml *x, struct err *err)
{
    x->open.timed_out = take_answer(x, ATTR_isTimedOut);
    return trcxml_begin_wait(x, err);
}

unsigned trcxml_wait_of(const struct trcxml *x, thread_id t)
{
    const struct trcxml_thread *s = trcxml_ids_state(&x->ids, t);
    return s ? s->open : 0;
}

/* --- what is waited for ----------------------------------------------------------------------- */

/* The thread that is joined; 0: not a join. */
static int joined(struct trcxml *x, uint8_t top, thread_id *t, struct err *err)
{
    TRY(trcxml_ids_known_thread(&x->ids, x->open.object, t, err));
    if (t->v == x->open.e.thread.v || top == TOP_WAIT)
        t->v = 0;
    return 0;
}

static bool has_wait(struct trcxml *x, thread_id t)
{
    const struct intake_thread *thread = intake_get_thread(&x->in, t);
    return x->head.joins_have_waits && thread && !(thread->flags & THREAD_VIRTUAL);
}

static int lock_of(struct trcxml *x, lock_id *lock, struct err *err)
{
    return trcxml_ids_lock(&x->ids, x->open.object, x->open.class_, lock, err);
}

/* --- monWait ---------------------------------------------------------------------------------- */

static void remember(struct trcxml *x, unsigned kind)
{
    struct trcxml_thread *s = trcxml_ids_state(&x->ids, x->open.e.thread);
    if (!s)
        return;
    s->open = (uint8_t)kind;
    s->since = x->open.e.time;
    s->object = x->open.object.key;
    s->timeout_ms = x->open.timeout_ms;
}

static int put_wait_enter(struct trcxml *x, stack_id stack, struct err *err)
{
    struct event *e = &x->open.e;
    lock_id lock;
    TRY(lock_of(x, &lock, err));
    e->kind = EV_wait_enter;
    e->wait_enter =
        (struct ev_wait_enter){.lock = lock, .timeout_ms = x->open.timeout_ms, .stack = stack};
    return trcxml_put(x, e, err);
}

static int put_join_enter(struct trcxml *x, thread_id target, stack_id stack, struct err *err)
{
    struct event *e = &x->open.e;
    e->kind = EV_join_enter;
    e->join_enter = (struct ev_join_enter){
        .target = target, .stack = stack, .timeout_ns = ns_of_ms(x->open.timeout_ms)};
    TRY(trcxml_put(x, e, err));
    return has_wait(x, target) ? put_wait_enter(x, stack, err) : 0;
}

static int put_sleep_enter(struct trcxml *x, stack_id stack, struct err *err)
{
    struct event *e = &x->open.e;
    e->kind = EV_sleep_enter;
    e->sleep_enter =
        (struct ev_sleep_enter){.timeout_ns = ns_of_ms(x->open.timeout_ms), .stack = stack};
    return trcxml_put(x, e, err);
}

int trcxml_end_wait(struct trcxml *x, struct err *err)
{
    stack_id stack;
    thread_id target;
    uint8_t top = x->open.stack.top;
    if (x->open.drop)
        return 0;
    if (x->open.found > 0)
        return trcxml_end_found(x, (thread_id){0}, err);
    TRY(trcxml_stack_take(&x->frames, &x->open.stack, &stack, err));
    TRY(joined(x, top, &target, err));
    remember(x, x->open.is_sleep ? EV_sleep_enter : target.v ? EV_join_enter : EV_wait_enter);
    if (x->open.is_sleep)
        return put_sleep_enter(x, stack, err);
    return target.v ? put_join_enter(x, target, stack, err) : put_wait_enter(x, stack, err);
}

/* --- monWaited -------------------------------------------------------------------------------- */

/* What is known of the wait that ends, before the end is written. */
struct wait_end {
    unsigned began; /* what its begin was, if that was seen */
    bool answered;  /* the element says how it ended */
    bool timed_out;
    uint8_t top;
    stack_id stack;
};

static bool time_has_passed(const struct trcxml_thread *s, uint64_t now)
{
    return s->timeout_ms > 0 && now >= s->since &&
           now - s->since >= (uint64_t)ns_of_ms(s->timeout_ms);
}

/* The thread has left it. */
static struct wait_end take_wait(struct trcxml *x)
{
    struct trcxml_thread *s = trcxml_ids_state(&x->ids, x->open.e.thread);
    struct wait_end w = {.answered = x->open.timed_out >= 0, .top = x->open.stack.top};
    bool is_its = s && s->open && s->object == x->open.object.key;
    w.began = is_its ? s->open : 0;
    w.timed_out = w.answered ? x->open.timed_out : is_its && time_has_passed(s, x->open.e.time);
    if (s)
        s->open = 0;
    return w;
}

static int put_wait_exit(struct trcxml *x, const struct wait_end *w, struct err *err)
{
    struct event *e = &x->open.e;
    lock_id lock;
    TRY(lock_of(x, &lock, err));
    e->kind = EV_wait_exit;
    e->wait_exit = (struct ev_wait_exit){.lock = lock, .timed_out = w->timed_out};
    return trcxml_put(x, e, err);
}

static int put_join_exit(struct trcxml *x, const struct wait_end *w, thread_id target,
                         struct err *err)
{
    struct event *e = &x->open.e;
    if (has_wait(x, target))
        TRY(put_wait_exit(x, w, err));
    e->kind = EV_join_exit;
    e->join_exit = (struct ev_join_exit){.target = target, .stack = w->stack};
    return trcxml_put(x, e, err);
}

static int put_sleep_exit(struct trcxml *x, const struct wait_end *w, struct err *err)
{
    struct event *e = &x->open.e;
    e->kind = EV_sleep_exit;
    e->sleep_exit = (struct ev_sleep_exit){.stack = w->stack};
    return trcxml_put(x, e, err);
}

/* A wait or a join: what began it decides, if that was seen.  Our own files say of every
 * Object.wait how it ended. */
static int put_end(struct trcxml *x, const struct wait_end *w, struct err *err)
{
    thread_id target;
    if (x->ids.own && !w->answered) {
        TRY(trcxml_ids_known_thread(&x->ids, x->open.object, &target, err));
        return put_join_exit(x, w, target, err);
    }
    TRY(joined(x, w->top, &target, err));
    if (target.v && (w->began == 0 || w->began == EV_join_enter))
        return put_join_exit(x, w, target, err);
    return put_wait_exit(x, w, err);
}

int trcxml_end_waited(struct trcxml *x, struct err *err)
{
    if (x->open.drop)
        return 0;
    struct wait_end w = take_wait(x);
    TRY(trcxml_stack_take(&x->frames, &x->open.stack, &w.stack, err));
    return x->open.is_sleep ? put_sleep_exit(x, &w, err) : put_end(x, &w, err);
}

/* --- waits that the recording does not see whole ---------------------------------------------- */

int trcxml_end_found(struct trcxml *x, thread_id owner, struct err *err)
{
    struct event *e = &x->open.e;
    lock_id lock;
    stack_id stack;
    if (x->open.drop)
        return 0;
    TRY(trcxml_stack_take(&x->frames, &x->open.stack, &stack, err));
    TRY(lock_of(x, &lock, err));
    remember(x, (unsigned)x->open.found);
    e->kind = EV_wait_found;
    e->wait_found = (struct ev_wait_found){
        .kind = (uint32_t)x->open.found, .lock = lock, .owner = owner, .stack = stack};
    return trcxml_put(x, e, err);
}

int trcxml_begin_wait_open(struct trcxml *x, struct err *err)
{
    const char *in = trcxml_text(x, ATTR_in);
    uint64_t since = 0;
    TRY(trcxml_begin_event(x, err));
    x->open.in = event_kind_find(in, strlen(in));
    x->open.drop |= x->open.in <= 0 || !trcxml_time_of(x, ATTR_since, &since);
    x->open.e.wait_open.since = since;
    const char *limit = trcxml_text(x, ATTR_limit);
    x->open.e.wait_open.limit = strcmp(limit, "yes") == 0  ? WAIT_LIMITED
                                : strcmp(limit, "no") == 0 ? WAIT_UNLIMITED
                                                           : WAIT_LIMIT_UNKNOWN;
    return 0;
}

int trcxml_end_wait_open(struct trcxml *x, struct err *err)
{
    struct event *e = &x->open.e;
    TRY(lock_of(x, &e->wait_open.lock, err));
    e->wait_open.kind = (uint32_t)x->open.in;
    return x->open.drop ? 0 : trcxml_put(x, e, err);
}
