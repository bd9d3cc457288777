/* analyse.h - the analysis of a trace for a command: with progress on the terminal when it takes
 * long. */
#ifndef ORCA_CLI_ANALYSE_H
#define ORCA_CLI_ANALYSE_H

#include "conclude/report.h"

/* As conclude_run. */
int analyse(struct analysis **out, struct trace *t, struct err *err);

/* How the recording of an open trace ended; asks whether the JVM still writes it. */
enum report_ending analyse_ending(const struct trace *t, const char *path);

#endif
