/* orca_text.h - reading Orca's text files (versions 1.1 and 2) as a trace.
 *
 * A file that is wrong anywhere is refused, with file, line, column, what belongs there and what
 * stands there.  A file that merely ends too early, or lacks its companions, is read as far as it
 * goes, and the trace's problems say what is missing.  docs/reference/orca-text.md describes what
 * is accepted. */
#ifndef ORCA_IMPORT_ORCA_TEXT_H
#define ORCA_IMPORT_ORCA_TEXT_H

#include "import/import.h"
#include "import/lines.h"

/* The event log and its companions: .methods and .classtable, or .meta (1.1); .calltable, where
 * events have names of a method table. */
struct orca_sources {
    struct text_source log, methods, classtable, meta, calltable;
};

/* Import PREFIX.orca and what stands beside it.  -EINVAL: not such a file; else as open(2),
 * read(2). */
int import_orca(struct trace **out, const char *path, struct err *err);

/* Whether a path is for import_orca rather than for trace_open: by its content where that is clear,
 * else by its suffix. */
bool import_orca_wants(const char *path);

/* import_orca from anywhere; watch may be NULL. */
int import_orca_from(struct trace **out, const struct orca_sources *sources,
                     const struct import_watch *watch, struct err *err);

/* import_orca, watched. */
int import_orca_watched(struct trace **out, const char *path, const struct import_watch *watch,
                        struct err *err);

#endif
