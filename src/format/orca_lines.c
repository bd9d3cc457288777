#include "format/orca_lines.h"

#include "base/util.h"

#include <string.h>

#define BOTH (ORCA_1_1 | ORCA_2)
#define AT(kind, field) offsetof(struct event, kind.field)
#define THREAD(kind, field)                                                                        \
    {                                                                                              \
        ORCA_THREAD, AT(kind, field)                                                               \
    }
#define LOCK(kind)                                                                                 \
    {                                                                                              \
        ORCA_LOCK, AT(kind, lock)                                                                  \
    }
#define STACK(kind)                                                                                \
    {                                                                                              \
        ORCA_STACK, AT(kind, stack)                                                                \
    }
#define STACK_OF_ENTER                                                                             \
    {                                                                                              \
        ORCA_STACK, 0                                                                              \
    }
#define NAME                                                                                       \
    {                                                                                              \
        ORCA_NAME, 0                                                                               \
    }

/* clang-format off */
static const struct orca_line lines[] = {
    {"ObjectWait",        EV_wait_enter,    0,                 BOTH,   ORCA_LEAF,
     {LOCK(wait_enter), STACK(wait_enter)}},
    {"ObjectWaited",      EV_wait_exit,     EV_wait_enter,     BOTH,   ORCA_EXIT,
     {LOCK(wait_exit), STACK_OF_ENTER}},
    {"ObjectNotify",      EV_notify,        0,                 BOTH,   ORCA_CALL,
     {LOCK(notify), STACK(notify)}},
    {"ObjectNotifyAll",   EV_notify_all,    0,                 BOTH,   ORCA_CALL,
     {LOCK(notify_all), STACK(notify_all)}},
    {"ThreadStart",       EV_thread_start_called, 0,           BOTH,   ORCA_CALL,
     {THREAD(thread_start_called, target), STACK(thread_start_called)}},
    {"ThreadJoin",        EV_join_enter,    0,                 BOTH,   ORCA_ENTER,
     {THREAD(join_enter, target), STACK(join_enter)}},
    {"ThreadJoined",      EV_join_exit,     EV_join_enter,     BOTH,   ORCA_EXIT,
     {THREAD(join_exit, target), STACK(join_exit)}},
    {"ThreadSleep",       EV_sleep_enter,   0,                 BOTH,   ORCA_LEAF,
     {STACK(sleep_enter)}},
    {"ThreadSlept",       EV_sleep_exit,    EV_sleep_enter,    BOTH,   ORCA_EXIT,
     {STACK(sleep_exit)}},
    {"SemaphoreAcquire",  EV_semaphore_acquire_enter, 0,       ORCA_2, ORCA_ENTER,
     {LOCK(semaphore_acquire_enter), STACK(semaphore_acquire_enter)}},
    {"SemaphoreAcquired", EV_semaphore_acquire_exit, EV_semaphore_acquire_enter, ORCA_2, ORCA_EXIT,
     {LOCK(semaphore_acquire_exit), STACK(semaphore_acquire_exit)}},
    {"SemaphoreRelease",  EV_semaphore_release, 0,             ORCA_2, ORCA_CALL,
     {LOCK(semaphore_release), STACK(semaphore_release)}},
    {NULL,                EV_call_enter,    0,                 ORCA_2, ORCA_ENTER,
     {LOCK(call_enter), STACK(call_enter)}},
    {NULL,                EV_call_exit,     EV_call_enter,     ORCA_2, ORCA_EXIT,
     {LOCK(call_exit), STACK_OF_ENTER}},
    {NULL,                EV_call,          0,                 ORCA_2, ORCA_CALL,
     {LOCK(call), STACK(call)}},
    {"MonitorContendedEnter", EV_monitor_contended_enter, 0,   BOTH,   ORCA_BLOCK,
     {LOCK(monitor_contended_enter), THREAD(monitor_contended_enter, owner),
      STACK(monitor_contended_enter)}},
    {"MonitorContendedEntered", EV_monitor_contended_entered, EV_monitor_contended_enter, BOTH,
     ORCA_UNBLOCK, {LOCK(monitor_contended_entered), STACK_OF_ENTER}},
    {"ThreadStarted",     EV_thread_start,  0,                 BOTH,   ORCA_PLAIN, {NAME}},
    /* Written alike, read as the row above: the text cannot tell a start from "was there". */
    {"ThreadStarted",     EV_thread_alive,  0,                 BOTH,   ORCA_PLAIN, {NAME}},
    {"ThreadEnded",       EV_thread_end,    0,                 BOTH,   ORCA_PLAIN, {{ORCA_END, 0}}},
};
/* clang-format on */

const struct orca_line *orca_line_of(unsigned kind)
{
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        if (lines[i].kind == kind)
            return &lines[i];
    return NULL;
}

const struct orca_line *orca_line_find(const char *name, size_t len)
{
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        if (lines[i].name && strlen(lines[i].name) == len && memcmp(lines[i].name, name, len) == 0)
            return &lines[i];
    return NULL;
}

uint32_t orca_field_get(struct orca_field f, const struct event *e)
{
    uint32_t id = 0;
    if (f.offset)
        memcpy(&id, (const char *)e + f.offset, sizeof id);
    return id;
}

void orca_field_set(struct orca_field f, struct event *e, uint32_t id)
{
    if (f.offset)
        memcpy((char *)e + f.offset, &id, sizeof id);
}

struct orca_field orca_line_field(const struct orca_line *l, enum orca_field_type type)
{
    for (size_t i = 0; i < ORCA_FIELDS_MAX; i++)
        if (l->fields[i].type == type)
            return l->fields[i];
    return (struct orca_field){0};
}
