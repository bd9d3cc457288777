/* open_calls.h - the call of input or output in which a thread blocks: read from the kernel, so
 * that the thread itself does nothing for it. */
#ifndef ORCA_AGENT_OPEN_CALLS_H
#define ORCA_AGENT_OPEN_CALLS_H

#include "format/event.h"

struct open_call {
    enum io_kind what; /* IO_KIND_none: it is in none */
    lock_id peer;      /* 0: unknown, or several */
};

/* Three system calls.  The caller checks before and after whether the thread has run. */
struct open_call open_call_of(uint32_t os_tid);

#endif
