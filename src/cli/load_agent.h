/* load_agent.h - the agent, with its control socket and nothing else, into a running JVM. */
#ifndef ORCA_CLI_LOAD_AGENT_H
#define ORCA_CLI_LOAD_AGENT_H

#include "attach/jvm.h"
#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>

/* Nothing happens when it is there already.  *foreign (may be NULL): the JVM's files are not ours
 * (a container).  Errors as of library_place and attach_load. */
int load_agent(const struct jvm *jvm, bool *foreign, struct err *err);

/* client_ask, where the agent that is not in the JVM is brought there for this one request. */
int load_agent_ask(const struct jvm *jvm, const char *request, uint64_t timeout_ns,
                   struct buf *answer, struct err *err);

#endif
