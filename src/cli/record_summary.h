/* record_summary.h - the line that `orca record` ends with, for each trace. */
#ifndef ORCA_CLI_RECORD_SUMMARY_H
#define ORCA_CLI_RECORD_SUMMARY_H

#include "base/buf.h"
#include "base/err.h"

/* "app.otrace: 12,345 events in 8.2 s, none lost; look at it: orca report app.otrace"
 * A trace whose JVM was killed is completed from its rings first.
 * `path` is absolute; it is shown relative to the current folder when it lies in it. */
int record_summary(const char *path, struct buf *b, struct err *err);

/* `path` without the current folder in front. */
const char *record_shown(const char *path);

#endif
