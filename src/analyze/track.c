#include "analyze/track.h"

#include "base/util.h"

#define BIT(state) (1u << (state))

/* The states that can begin while a thread is in each state. */
static const uint8_t may_contain[STATE_LIMIT] = {
    [STATE_WAITING] = BIT(STATE_BLOCKED),
    [STATE_PARKED] = BIT(STATE_BLOCKED), /* JDK 21 to 23 load a class when one is pinned */
    [STATE_JOINING] = BIT(STATE_BLOCKED) | BIT(STATE_WAITING) | BIT(STATE_PARKED),
    /* a virtual thread's sleep; if interrupted, it takes its interrupt lock at the end */
    [STATE_SLEEPING] = BIT(STATE_PARKED) | BIT(STATE_BLOCKED),
};

void track_init(struct track *tr, uint32_t thread, bool roams)
{
    *tr = (struct track){.thread = thread, .roams = roams};
}

static bool has_lock(unsigned state)
{
    return state == STATE_BLOCKED || state == STATE_WAITING || state == STATE_PARKED;
}

static struct interval *push(struct track *tr, const struct track_wait *w, uint64_t end,
                             const struct track_env *env)
{
    struct interval *iv = intervals_push(env->out);
    if (tr->depth) {
        tr->wait[tr->depth - 1].nested++;
        tr->wait[tr->depth - 1].later++;
    }
    *iv = (struct interval){.start = w->start,
                            .end = end,
                            .ns = end - w->start - w->inner,
                            .thread = tr->thread,
                            .other = w->other,
                            .lock = {!has_lock(w->state) ? 0
                                     : w->peer           ? w->peer
                                                         : w->object},
                            .stack = {w->stack},
                            .owner_stack = {w->owner_stack},
                            .nested = w->nested,
                            .state = w->again ? STATE_REACQUIRING : w->state,
                            .flags = w->flags};
    return iv;
}

/* Reports a wait with a missing or doubtful end: it was over at `until`. */
static void push_unknown(struct track *tr, const struct track_wait *w, uint64_t until,
                         unsigned flags, const struct track_env *env)
{
    tr->incomplete = true;
    unknowns_add(env->unknown, tr->thread, w->start, until);
    if (w->absorbed)
        return;
    struct interval *iv = push(tr, w, w->start + w->inner, env);
    iv->end = iv->start;
    iv->flags |= (uint8_t)(INTERVAL_UNKNOWN | flags);
}

/* The innermost wait was handed out; the one around it may go on. */
static void leave(struct track *tr)
{
    if (!tr->depth)
        return;
    tr->wait[tr->depth - 1].resumed = tr->last;
    tr->wait[tr->depth - 1].later = 0;
}

/* Give up the innermost wait.  A park in which the thread blocked was over then, as it seems. */
static void cut(struct track *tr, uint64_t until, const struct track_env *env)
{
    const struct track_wait *w = &tr->wait[--tr->depth];
    push_unknown(tr, w, w->first ? w->first : until, 0, env);
    leave(tr);
}

/* A park in which the thread blocked has gone on: it is one from there on. */
static void resume(struct track *tr, struct track_wait *w, const struct track_env *env)
{
    if (!w->first)
        return;
    if (!w->absorbed)
        unknowns_add(env->unknown, tr->thread, w->start, w->first);
    w->start = w->resumed;
    w->first = w->inner = 0;
    w->nested = w->later;
}

static void cut_all(struct track *tr, const struct track_env *env)
{
    while (tr->depth)
        cut(tr, tr->last, env);
}

static bool fits_inside(const struct track_wait *outer, const struct op *op)
{
    if (!(may_contain[outer->state] & BIT(op->state)))
        return false;
    if (outer->state == STATE_PARKED)
        return !outer->found;
    /* A wait re-acquires its own monitor and no other. */
    return outer->state != STATE_WAITING || outer->object == op->object;
}

static void open_wait(struct track *tr, const struct op *op, uint64_t start,
                      const struct track_env *env)
{
    while (tr->depth && !fits_inside(&tr->wait[tr->depth - 1], op))
        cut(tr, start, env);
    INVARIANT(tr->depth < TRACK_DEPTH);
    struct track_wait *outer = tr->depth ? &tr->wait[tr->depth - 1] : NULL;
    struct track_wait *w = &tr->wait[tr->depth++];
    if (outer && outer->state == STATE_PARKED && !outer->first)
        outer->first = start;
    w->start = start;
    w->inner = w->first = w->resumed = 0;
    w->nested = w->later = 0;
    w->object = op->object;
    w->other = op->other;
    w->stack = op->stack;
    w->owner_stack = 0;
    w->peer = 0;
    w->state = op->state;
    w->flags = op->flags;
    w->found = w->again = false;
    w->absorbed = outer && (outer->absorbed || outer->state == STATE_JOINING ||
                            outer->state == STATE_SLEEPING);
}

/* JDK 27 and later post the end of a wait before the thread reacquires the monitor, and also post
 * the blocking on it, with the stack of the wait.  Earlier JDKs post the end when the thread has
 * the monitor.  For a virtual thread, JDK 27 posts only that it has the monitor. */
static void open_blocked(struct track *tr, const struct op *op, uint64_t before,
                         const struct track_env *env)
{
    bool again = env->ends_first && op->stack && op->stack == tr->waited.stack &&
                 op->object == tr->waited.object && before == tr->waited.end;
    open_wait(tr, op, again ? before : tr->last, env);
    tr->wait[tr->depth - 1].again = again;
}

/* An end without a beginning: the wait began after the previous event, at `before`. */
static void lone_end(struct track *tr, const struct op *op, uint64_t before,
                     const struct track_env *env)
{
    struct track_wait w = {.start = tr->last,
                           .object = op->object,
                           .other = op->other,
                           .stack = op->stack,
                           .state = op->state};
    struct track_wait *outer = tr->depth ? &tr->wait[tr->depth - 1] : NULL;
    bool again = env->ends_first && op->object == tr->waited.object && before == tr->waited.end;
    if (op->state == STATE_BLOCKED && again) {
        w.start = before;
        w.stack = tr->waited.stack;
        w.again = true;
        push(tr, &w, tr->last, env);
        return;
    }
    bool in_wait = outer && outer->state == STATE_WAITING && outer->object == op->object;
    if (op->state == STATE_BLOCKED && (in_wait || tr->roams)) {
        struct interval *iv = push(tr, &w, w.start, env);
        iv->flags = INTERVAL_REACQUIRED;
        return;
    }
    /* For a wait for the initialisation of a class the JVM posts only the end. */
    bool in_park = outer && outer->state == STATE_PARKED && !outer->found && tr->roams &&
                   op->state == STATE_WAITING && gaps_count(env->gaps) == 0;
    if (!in_park)
        cut_all(tr, env); /* the thread was in them no longer */
    else if (!outer->first)
        outer->first = before;
    unknowns_add(env->unknown, tr->thread, before, tr->last);
    push_unknown(tr, &w, tr->last, op->flags, env);
    leave(tr);
}

static void note_owner(struct track *tr, const struct op *op)
{
    struct track_wait *w = tr->depth ? &tr->wait[tr->depth - 1] : NULL;
    if (w && w->object == op->object && (w->state == STATE_BLOCKED || w->state == STATE_PARKED))
        w->owner_stack = op->stack;
}

static void note_peer(struct track *tr, const struct op *op)
{
    struct track_wait *w = tr->depth ? &tr->wait[tr->depth - 1] : NULL;
    if (w && w->state == STATE_PARKED && !w->object)
        w->peer = op->object;
}

static bool is_gap(const struct track *tr, uint64_t start, uint64_t end,
                   const struct track_env *env)
{
    if (gaps_count(env->gaps) == 0)
        return false;
    return tr->roams ? gaps_overlap(env->gaps, start, end) : gaps_between(env->gaps, start, end);
}

static void close_wait(struct track *tr, const struct op *op, uint64_t before,
                       const struct track_env *env)
{
    unsigned at = tr->depth;
    while (at && (tr->wait[at - 1].state != op->state || tr->wait[at - 1].object != op->object))
        at--;
    if (!at) {
        lone_end(tr, op, before, env);
        return;
    }
    while (tr->depth > at)
        cut(tr, tr->last, env);
    struct track_wait *w = &tr->wait[--tr->depth];
    if (is_gap(tr, w->start, tr->last, env)) {
        push_unknown(tr, w, tr->last, op->flags, env);
        leave(tr);
        return;
    }
    resume(tr, w, env);
    if (w->absorbed) {
        leave(tr);
        return;
    }
    if (w->state == STATE_WAITING) {
        tr->waited.end = tr->last;
        tr->waited.object = w->object;
        tr->waited.stack = w->stack;
    }
    push(tr, w, tr->last, env)->flags |= op->flags;
    if (tr->depth)
        tr->wait[tr->depth - 1].inner += tr->last - w->start;
    leave(tr);
}

void track_apply(struct track *tr, const struct op *op, const struct track_env *env)
{
    if (op->action == OP_NONE)
        return; /* its time is that of another thread that wrote it */
    uint64_t before = tr->last;
    if (op->time < tr->last)
        tr->incomplete = true; /* a damaged file: durations are never negative all the same */
    tr->last = max_u64(tr->last, op->time);
    if (op->action == OP_BREAK || (tr->roams && is_gap(tr, before, tr->last, env)))
        unknowns_add(env->unknown, tr->thread, before, tr->last);
    switch (op->action) {
    case OP_OPEN:
        if (op->state == STATE_BLOCKED)
            open_blocked(tr, op, before, env);
        else
            open_wait(tr, op, tr->last, env);
        break;
    case OP_FOUND:
        open_wait(tr, op, tr->last, env);
        tr->wait[tr->depth - 1].found = true;
        break;
    case OP_CLOSE:
        close_wait(tr, op, before, env);
        break;
    case OP_BREAK:
        tr->incomplete = true;
        cut_all(tr, env);
        break;
    case OP_PEER:
        note_peer(tr, op);
        break;
    case OP_OWNER:
        note_owner(tr, op);
        break;
    case OP_END:
        tr->ended = true;
        cut_all(tr, env);
        break;
    }
}

void track_still_open(struct track *tr, const struct op *op, uint64_t at,
                      const struct track_env *env)
{
    for (unsigned i = 0; i < tr->depth; i++)
        if (tr->wait[i].state == op->state && tr->wait[i].object == op->object) {
            tr->wait[i].found = false; /* it lasted all the time */
            if (i + 1 < tr->depth)
                return;
            if (op->time <= tr->wait[i].start && at >= tr->known)
                tr->known = 0; /* whatever is missing, the thread did nothing else */
            resume(tr, &tr->wait[i], env);
            return;
        }
    if (op->time < tr->last) {
        tr->incomplete =
            true; /* events of this thread inside a wait that was never seen to begin */
        return;
    }
    open_wait(tr, op, op->time, env);
    tr->last = op->time;
}

void track_gap(struct track *tr, uint64_t time, const struct track_env *env)
{
    tr->incomplete = true;
    while (tr->depth && tr->wait[tr->depth - 1].start <= time)
        cut(tr, UINT64_MAX, env); /* no event since then says more */
}

void track_finish(struct track *tr, uint64_t end, const struct track_env *env)
{
    uint64_t known = tr->known && !tr->ended ? max_u64(tr->known, tr->last) : end;
    unknowns_add(env->unknown, tr->thread, known, end);
    end = min_u64(end, known);
    while (tr->depth) {
        struct track_wait *w = &tr->wait[tr->depth - 1];
        bool cut_off =
            end < w->start || (end == w->start && end == tr->known) || w->found || w->first;
        if (tr->ended || cut_off || is_gap(tr, w->start, end, env)) {
            cut(tr, end, env);
            continue;
        }
        tr->depth--;
        if (w->absorbed)
            continue;
        push(tr, w, end, env)->flags |= INTERVAL_OPEN;
        if (tr->depth)
            tr->wait[tr->depth - 1].inner += end - w->start;
    }
}
