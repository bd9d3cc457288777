/* modules.h - files of native code as ids, defined at first sight; the kernel is one of them.
 *
 * All on the collector's thread.  Libraries are those that the walker unwinds by. */
#ifndef ORCA_AGENT_MODULES_H
#define ORCA_AGENT_MODULES_H

#include "agent/agent.h"

module_id modules_kernel(void);

/* The id of a place in native code of this process. */
method_id modules_place(uintptr_t pc);

/* Look for libraries that were loaded since, when it is due. */
void modules_refresh(void);

/* A recording begins: ids are counted anew.  Nothing is sampled. */
void modules_reset(void);

#endif
