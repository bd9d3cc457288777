/* trcxml.h - reading TPTP's XML (.trcxml) as a trace: what TPTP's thread profiler, its agents and
 * `orca export --to tptp` write.  docs/reference/tptp.md says what is accepted and what becomes of
 * it.
 *
 * What is not XML is refused with its place.  An element that lacks something, or has something
 * that cannot be read, is left out or taken without it, an element that a trace has no place for is
 * left out: the trace's problems say which, how many, and where the first one stands. */
#ifndef ORCA_IMPORT_TRCXML_H
#define ORCA_IMPORT_TRCXML_H

#include "import/import.h"
#include "import/lines.h"

/* Whether a path is for import_trcxml_watched: anything that begins with a '<', or is called
 * .trcxml. */
bool import_trcxml_wants(const char *path);

/* watch may be NULL.  -EINVAL: not such a file; else as open(2), read(2). */
int import_trcxml_watched(struct trace **out, const char *path, const struct import_watch *watch,
                          struct err *err);

/* The same from anywhere. */
int import_trcxml_from(struct trace **out, const struct text_source *source,
                       const struct import_watch *watch, struct err *err);

#endif
