/* The kind of interaction that ended a wait, and its name. */
#include "analyze/bind_parts.h"

const char *interaction_name(enum interaction i)
{
    static const char *const names[] = {"starts-thread",   "handoff-lock", "interrupt",
                                        "notify",          "notify-all",   "dead-and-notify-joined",
                                        "unpark",          "semaphore",    "submit",
                                        "last-owner-seen", "none"};
    return names[i];
}

bool is_semaphore_handoff(const struct timeline *t, struct deed by, const struct act *target_last)
{
    uint32_t act = cause_index(by.cause);
    const struct line *l = &t->lines[by.thread];
    if (!act || !target_last || target_last->time > line_act(l, act)->time)
        return false;
    const struct context *release = timeline_context(t, line_act(l, act - 1)->context);
    const struct context *acquire = timeline_context(t, target_last->context);
    return release->what == EV_semaphore_release && acquire->what == EV_semaphore_acquire_enter &&
           release->lock.v == acquire->lock.v;
}

enum interaction span_interaction(const struct timeline *t, uint32_t thread, const struct span *s)
{
    const struct act *a = span_wake_act(t, s);
    if (!s->waker)
        return INTERACTION_NONE;
    if (span_is_summed(t, s) && timeline_context(t, s->context)->what == STATE_PARKED)
        return INTERACTION_UNPARK;
    if (!a)
        return span_waker_is_seen(s) ? INTERACTION_LAST_OWNER : INTERACTION_HANDOFF_LOCK;
    switch (timeline_context(t, a->context)->what) {
    case EV_notify:
        return INTERACTION_NOTIFY;
    case EV_notify_all:
        return INTERACTION_NOTIFY_ALL;
    case EV_thread_end:
        return INTERACTION_JOINED;
    case EV_interrupt:
        return INTERACTION_INTERRUPT;
    case EV_semaphore_release: /* of a file of calls, which has no unpark */
        return INTERACTION_SEMAPHORE;
    default:
        break;
    }
    const struct line *l = &t->lines[thread];
    uint32_t n = line_acts_until(l, s->start);
    return is_semaphore_handoff(t, (struct deed){s->waker, s->cause}, n ? line_act(l, n - 1) : NULL)
               ? INTERACTION_SEMAPHORE
               : INTERACTION_UNPARK;
}
