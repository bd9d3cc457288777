/* agent_path.h - where the agent library is: ORCA_AGENT, or a place relative to this executable, so
 * that a build folder and an installed tree both work wherever they lie. */
#ifndef ORCA_CLI_AGENT_PATH_H
#define ORCA_CLI_AGENT_PATH_H

#include "base/err.h"

#include <limits.h>

/* The library's absolute path, links resolved.  0, or -ENOENT with every place that was looked
 * at. */
int agent_path_find(char out[PATH_MAX], struct err *err);

#endif
