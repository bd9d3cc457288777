/* version.h - the version that the agent writes into a trace and `orca --version` prints. */
#ifndef ORCA_BASE_VERSION_H
#define ORCA_BASE_VERSION_H

#define ORCA_VERSION "0.1.0"

#endif
