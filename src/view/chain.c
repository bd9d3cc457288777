/* chain.c - whom a wait waited for, whom that thread waited for at that time, and so on.
 *
 * A link is the thread that ended a wait, or, while nobody has, the one that is known to own what
 * it is for.  Its own activity is its longest wait in the time in which the first one waited for
 * it: from the wait's beginning, or from when it got the lock itself, to when it ended the wait.
 * That wait, cut to this time, is the next one to be asked about.
 *
 * Only recorded facts appear: the thread that owns a lock when a wait begins need not be the one
 * that releases it. */
#include "analyze/labels.h"
#include "base/human.h"
#include "base/util.h"
#include "view/json_parts.h"

#include <stdio.h>
#include <string.h>

enum { CHAIN_MAX = 32, CHAIN_NAME = LABEL_MAX };

/* A wait, or the part of it that is asked about. */
struct part {
    uint32_t thread, index;
    uint64_t from, to;
};

/* The thread that blocked a part. */
struct holder {
    uint32_t thread; /* 0: unknown */
    bool woke;       /* it ended the wait; else it is seen or known to own what the wait is for */
    uint64_t from, to;
};

struct chain {
    const struct json_out *o;
    const struct view *v;
    json_t *links;
    struct part asked[CHAIN_MAX];
    size_t n;
};

static const struct span *span_of(const struct view *v, const struct part *p)
{
    return line_span(&v->a->timeline.lines[p->thread], p->index);
}

static const struct context *context_of(const struct view *v, const struct part *p)
{
    return timeline_context(&v->a->timeline, span_of(v, p)->context);
}

static bool is_for_lock(const struct context *x)
{
    return x->lock.v &&
           (x->what == STATE_BLOCKED || x->what == STATE_REACQUIRING || x->what == STATE_PARKED);
}

/* --- who, and when ---------------------------------------------------------------------------- */

/* When it last got the lock that the part is for, if it had to wait for that; else the part's
 * beginning. */
static uint64_t got_lock(const struct view *v, const struct part *p, const struct holder *h)
{
    const struct timeline *t = &v->a->timeline;
    const struct context *x = context_of(v, p);
    const struct line *l = &t->lines[h->thread];
    if (!is_for_lock(x) || x->other == h->thread)
        return p->from;
    for (uint32_t i = line_spans_until(l, h->to); i-- > 0;) {
        const struct span *s = line_span(l, i);
        const struct context *y = timeline_context(t, s->context);
        if (span_end(t, s) <= p->from)
            break;
        if (y->lock.v == x->lock.v && is_for_lock(y) && span_end(t, s) <= h->to)
            return max_u64(p->from, s->start);
    }
    return p->from;
}

static struct holder holder_of(const struct view *v, const struct part *p)
{
    const struct timeline *t = &v->a->timeline;
    const struct span *s = span_of(v, p);
    const struct context *x = context_of(v, p);
    struct holder h = {s->waker, s->waker != 0, p->from, p->to};
    if (h.woke)
        h.to = max_u64(p->from, min_u64(span_wake_time(t, s), p->to));
    else if (x->flags & INTERVAL_OPEN && v->a->bindings.owners[p->thread] && is_for_lock(x))
        h.thread = v->a->bindings.owners[p->thread];
    else if (!(x->flags & INTERVAL_TIMED) || is_for_lock(x))
        h.thread = x->other;
    if (h.thread)
        h.from = got_lock(v, p, &h);
    return h;
}

/* Its longest wait in that time, cut to it; false: it was in none. */
static bool longest_wait(const struct view *v, const struct holder *h, struct part *out)
{
    const struct timeline *t = &v->a->timeline;
    const struct line *l = &t->lines[h->thread];
    uint64_t most = 0;
    for (uint32_t i = line_spans_until(l, h->to); i-- > 0;) {
        const struct span *s = line_span(l, i);
        uint64_t from = max_u64(s->start, h->from), to = min_u64(span_end(t, s), h->to);
        if (span_end(t, s) <= h->from)
            break;
        if (to > from && to - from > most && !span_is_unknown(t, s)) {
            most = to - from;
            *out = (struct part){h->thread, i, from, to};
        }
    }
    return most > 0;
}

/* --- words ------------------------------------------------------------------------------------ */

static void put_thread(struct buf *b, const struct view *v, uint32_t thread)
{
    char name[CHAIN_NAME];
    label_thread(&v->a->threads, v->a->trace, thread, name, sizeof name);
    buf_puts(b, name);
}

static void put_unknown(struct buf *b, const struct analysis *a, const struct context *x)
{
    if (x->flags & INTERVAL_UNKNOWN)
        buf_puts(b, "unknown: one end of this wait is not recorded");
    else if (x->what == STATE_SLEEPING && !a->timeline.no_interrupts)
        buf_puts(b, "the sleep ended by itself");
    else if (x->flags & (INTERVAL_TIMED_OUT | INTERVAL_TIMED) && !(x->flags & INTERVAL_OPEN))
        buf_puts(b, "unknown: the wait had a time limit, and no waker was recorded");
    else if (is_for_lock(x))
        buf_puts(b, "unknown: the owner was not seen");
    else if (x->flags & INTERVAL_OPEN)
        buf_printf(b, "unknown: the wait was not over %s", label_end(a->trace));
    else
        buf_puts(b, "unknown: the waker was not recorded");
}

/* How the holder ended a wait. */
static void put_end(struct buf *b, const struct view *v, const struct part *p,
                    const struct holder *h)
{
    static const char *const did[] = {
        [INTERACTION_INTERRUPT] = " interrupted it",
        [INTERACTION_NOTIFY] = " notified it",
        [INTERACTION_NOTIFY_ALL] = " notified it",
        [INTERACTION_JOINED] = " had to end first",
        [INTERACTION_UNPARK] = " unparked it",
        [INTERACTION_SEMAPHORE] = " released the semaphore",
        [INTERACTION_HANDOFF_LOCK] = " released it",
        [INTERACTION_LAST_OWNER] = " was the last owner seen",
    };
    const struct span *s = span_of(v, p);
    enum interaction how = span_interaction(&v->a->timeline, p->thread, s);
    put_thread(b, v, h->thread);
    if (context_of(v, p)->other == h->thread && is_for_lock(context_of(v, p)))
        buf_puts(b, " held it");
    else
        buf_puts(b, how < ARRAY_LEN(did) && did[how] ? did[how] : " ended it");
}

static void put_holder(struct buf *b, const struct view *v, const struct part *p,
                       const struct holder *h)
{
    const struct context *x = context_of(v, p);
    if (h->woke) {
        put_end(b, v, p, h);
        return;
    }
    put_thread(b, v, h->thread);
    if (x->what == STATE_JOINING)
        buf_puts(b, x->flags & INTERVAL_OPEN ? " has not ended" : " was waited for");
    else if (h->thread != x->other)
        buf_puts(b, " was the last owner seen");
    else
        buf_puts(b, x->flags & INTERVAL_OPEN
                        ? " held it when this wait began"
                        : " held it when this wait began; Orca does not know who released it");
}

static void put_what(struct buf *b, const struct view *v, const struct part *next)
{
    static const char *const waited[STATE_LIMIT] = {
        "waited", "was in Object.wait", "was parked", "waited", "slept", "waited"};
    const struct context *x = context_of(v, next);
    char class_name[LABEL_MAX];
    buf_printf(b, ", and itself %s %s", waited[x->what < STATE_LIMIT ? x->what : 0],
               human_time(next->to - next->from).text);
    if (x->what == STATE_JOINING) {
        buf_puts(b, " for the end of ");
        put_thread(b, v, x->other);
    } else if (x->lock.v) {
        label_class(v->a->locks.groups[lock_set_group(&v->a->locks, x->lock)].signature, class_name,
                    sizeof class_name);
        buf_printf(b, " %s %s", is_for_lock(x) ? "for" : "on", class_name);
    }
    if (is_for_lock(x) && x->other) {
        buf_puts(b, ", owned by ");
        put_thread(b, v, x->other);
    }
}

/* --- the links -------------------------------------------------------------------------------- */

static bool was_asked(const struct chain *c, const struct part *p)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->asked[i].thread == p->thread && c->asked[i].index == p->index)
            return true;
    return false;
}

static bool is_deadlocked(const struct view *v, uint32_t thread)
{
    const struct deadlocks *d = &v->a->deadlocks;
    for (size_t i = 0; i < d->n; i++)
        for (uint32_t k = 0; k < d->v[i].n_members; k++)
            if (d->v[i].members[k].thread == thread)
                return true;
    return false;
}

static void add_link(struct chain *c, const struct holder *h, const struct part *next,
                     struct buf *text)
{
    const struct context *x = next ? context_of(c->v, next) : NULL;
    json_t *j = json_object();
    json_set_count(j, "thread", h->thread);
    json_object_set_new(j, "index", next ? json_integer(next->index) : json_null());
    json_set_text(j, "state",
                  x           ? wait_state_name(x->what)
                  : h->thread ? wait_state_name(STATE_LIMIT)
                              : "unknown");
    json_set_moment(j, "from", c->v, next ? next->from : h->from);
    json_set_moment(j, "to", c->v, next ? next->to : h->to);
    json_set_count(j, "lock", x ? x->lock.v : 0);
    json_set_class(j, c->o->r, x ? lock_set_group(&c->v->a->locks, x->lock) : 0);
    json_object_set_new(j, "at",
                        x ? json_site(c->o, c->v, span_of(c->v, next)->context) : json_null());
    json_set_text(j, "text", buf_str(text));
    json_array_append_new(c->links, j);
}

/* One link; whether there is another one behind it, which is *p then. */
static bool step(struct chain *c, struct part *p)
{
    struct holder h = holder_of(c->v, p);
    struct buf text = {0};
    struct part next = *p;
    bool waited = h.thread && longest_wait(c->v, &h, &next);
    bool again = waited && was_asked(c, &next);
    if (h.thread)
        put_holder(&text, c->v, p, &h);
    else
        put_unknown(&text, c->v->a, context_of(c->v, p));
    if (waited)
        put_what(&text, c->v, &next);
    else if (h.thread)
        buf_puts(&text, ", and did not wait in that time");
    if (again)
        buf_puts(&text, is_deadlocked(c->v, h.thread)
                            ? ", which leads back to a wait of this chain: a deadlock"
                            : ", which leads back to a wait of this chain");
    add_link(c, &h, waited ? &next : NULL, &text);
    buf_fini(&text);
    *p = next;
    return waited && !again;
}

json_t *json_chain(const struct json_out *o, const struct view *v, uint32_t thread, uint32_t index)
{
    const struct timeline *t = &v->a->timeline;
    const struct span *s = line_span(&t->lines[thread], index);
    struct chain c = {.o = o, .v = v, .links = json_array()};
    struct part p = {thread, index, s->start, span_end(t, s)};
    bool more = true;
    while (more && c.n < CHAIN_MAX) {
        c.asked[c.n++] = p;
        more = step(&c, &p);
    }
    return c.links;
}
