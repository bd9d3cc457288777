/* tasks.h - the threads of this process, as the kernel has them. */
#ifndef ORCA_BASE_TASKS_H
#define ORCA_BASE_TASKS_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

/* Their numbers, uint32_t in `out`, which is emptied first: ascending. */
void tasks_list(struct buf *out);

/* Whether such a list has it. */
bool tasks_has(const struct buf *list, uint32_t os_tid);

static inline uint32_t tasks_count(const struct buf *list)
{
    return (uint32_t)(list->len / sizeof(uint32_t));
}

static inline uint32_t tasks_at(const struct buf *list, uint32_t i)
{
    return ((const uint32_t *)(const void *)list->p)[i];
}

/* The name that the kernel knows; "": the thread is gone. */
enum { TASK_NAME_BYTES = 32 };
void task_name(uint32_t os_tid, char out[TASK_NAME_BYTES]);

/* Since the thread began: ns on a processor, ns ready and waiting for one, and how often it came
 * onto one. */
struct task_times {
    uint64_t ran, ready, turns;
};

/* False: it is gone, or the kernel does not count. */
bool task_times(uint32_t os_tid, struct task_times *out);

/* Whether a thread of this process would run, if it had a processor, or does run. */
bool task_is_ready(uint32_t os_tid);

#endif
