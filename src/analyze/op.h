/* op.h - what an event means for the waits of its thread.
 *
 * In a header because the loops that call it are what a large trace's time is spent in. */
#ifndef ORCA_ANALYZE_OP_H
#define ORCA_ANALYZE_OP_H

#include "analyze/track.h"

/* The state that a kind opens; STATE_LIMIT: none. */
static inline unsigned op_state(uint32_t kind)
{
    switch (kind) {
    case EV_monitor_contended_enter:
        return STATE_BLOCKED;
    case EV_wait_enter:
        return STATE_WAITING;
    case EV_join_enter:
        return STATE_JOINING;
    case EV_sleep_enter:
        return STATE_SLEEPING;
    case EV_park_enter:
        return STATE_PARKED;
    default:
        return STATE_LIMIT;
    }
}

/* The flags of a wait whose beginning was not recorded, by what is known of its limit. */
static inline uint8_t op_limit_flags(unsigned state, uint32_t limit)
{
    if (state == STATE_SLEEPING || limit == WAIT_LIMITED)
        return INTERVAL_TIMED;
    return state == STATE_BLOCKED || limit == WAIT_UNLIMITED ? 0 : INTERVAL_LIMIT_UNKNOWN;
}

/* A wait that was under way when the recording began; false: of no kind that is followed. */
static inline bool op_make_found(const struct event *e, struct op *op)
{
    unsigned state = op_state(e->wait_found.kind);
    if (state == STATE_LIMIT)
        return false;
    bool has_lock = state == STATE_BLOCKED || state == STATE_WAITING || state == STATE_PARKED;
    *op = (struct op){.time = e->time,
                      .object = has_lock ? e->wait_found.lock.v : 0,
                      .other = e->wait_found.owner.v,
                      .stack = e->wait_found.stack.v,
                      .action = OP_FOUND,
                      .state = (uint8_t)state,
                      .flags = op_limit_flags(state, e->wait_found.limit)};
    return true;
}

/* Of those that neither begin nor end a wait. */
static inline bool op_make_other(const struct event *e, struct op *op)
{
    switch (e->kind) {
    case EV_owner_stack:
        *op = (struct op){.time = e->time,
                          .object = e->owner_stack.lock.v,
                          .stack = e->owner_stack.stack.v,
                          .action = OP_OWNER};
        return true;
    case EV_park_io:
        *op = (struct op){.time = e->time, .object = e->park_io.peer.v, .action = OP_PEER};
        return true;
    case EV_thread_end:
        *op = (struct op){.time = e->time, .action = OP_END};
        return true;
    case EV_lost:
        *op = (struct op){.time = e->time, .action = OP_BREAK};
        return true;
    case EV_wait_open:
        *op = (struct op){.time = e->time, .action = OP_NONE};
        return true;
    default:
        return false;
    }
}

/* The op of an event that is about the thread's waits; false for the others.  op->other is a
 * thread's id, op->thread is the caller's to set. */
static inline bool op_make(const struct event *e, struct op *op)
{
    switch (e->kind) {
    case EV_monitor_contended_enter:
        *op = (struct op){.time = e->time,
                          .object = e->monitor_contended_enter.lock.v,
                          .other = e->monitor_contended_enter.owner.v,
                          .stack = e->monitor_contended_enter.stack.v,
                          .action = OP_OPEN,
                          .state = STATE_BLOCKED};
        return true;
    case EV_monitor_contended_entered:
        *op = (struct op){.time = e->time,
                          .object = e->monitor_contended_entered.lock.v,
                          .action = OP_CLOSE,
                          .state = STATE_BLOCKED};
        return true;
    case EV_wait_enter:
        *op = (struct op){.time = e->time,
                          .object = e->wait_enter.lock.v,
                          .stack = e->wait_enter.stack.v,
                          .action = OP_OPEN,
                          .state = STATE_WAITING,
                          .flags = e->wait_enter.timeout_ms ? INTERVAL_TIMED : 0};
        return true;
    case EV_wait_exit:
        *op = (struct op){.time = e->time,
                          .object = e->wait_exit.lock.v,
                          .action = OP_CLOSE,
                          .state = STATE_WAITING,
                          .flags = e->wait_exit.timed_out ? INTERVAL_TIMED_OUT : 0};
        return true;
    case EV_join_enter:
        *op = (struct op){.time = e->time,
                          .other = e->join_enter.target.v,
                          .stack = e->join_enter.stack.v,
                          .action = OP_OPEN,
                          .state = STATE_JOINING,
                          .flags = e->join_enter.timeout_ns ? INTERVAL_TIMED : 0};
        return true;
    case EV_join_exit:
        *op = (struct op){.time = e->time, .action = OP_CLOSE, .state = STATE_JOINING};
        return true;
    case EV_park_enter:
        *op = (struct op){.time = e->time,
                          .object = e->park_enter.lock.v,
                          .other = e->park_enter.owner.v,
                          .stack = e->park_enter.stack.v,
                          .action = OP_OPEN,
                          .state = STATE_PARKED,
                          .flags = e->park_enter.timeout_ns ? INTERVAL_TIMED : 0};
        return true;
    case EV_park_exit:
        *op = (struct op){.time = e->time,
                          .object = e->park_exit.lock.v,
                          .action = OP_CLOSE,
                          .state = STATE_PARKED};
        return true;
    case EV_sleep_enter:
        *op = (struct op){.time = e->time,
                          .stack = e->sleep_enter.stack.v,
                          .action = OP_OPEN,
                          .state = STATE_SLEEPING,
                          .flags = INTERVAL_TIMED};
        return true;
    case EV_sleep_exit:
        *op = (struct op){.time = e->time, .action = OP_CLOSE, .state = STATE_SLEEPING};
        return true;
    default:
        return op_make_other(e, op);
    }
}

#endif
