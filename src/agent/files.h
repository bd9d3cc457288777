/* files.h - the files of a recording: their names, and who is notified of them.
 *
 * A recording has one file, or with every= and `orca dump --rotate` several.  This code runs on the
 * recorder's drain thread, without a call to the JVM. */
#ifndef ORCA_AGENT_FILES_H
#define ORCA_AGENT_FILES_H

#include "record/recorder.h"

struct recorder_files files_of_recording(void);

/* The first file begins. */
void files_begin(const char *path);

/* A file in another format was written; the trace was removed, of which only those were wanted. */
void files_text(const char *path);
void files_replaced(const char *path);

#endif
