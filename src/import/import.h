/* import.h - reading other tools' files as a trace, whichever format they have.
 *
 * An importer makes a trace of a file through intake.h; an import is then like a recording.  A
 * format is one row of the table in import.c. Its info `import.format` distinguishes an imported
 * trace from a recorded one. */
#ifndef ORCA_IMPORT_IMPORT_H
#define ORCA_IMPORT_IMPORT_H

#include "format/trace.h"

struct import_watch {
    void (*progress)(void *ctx, uint64_t done, uint64_t total); /* bytes of the file */
    void *ctx;
};

/* Whether a path is for import_file rather than for trace_open: by its content where that is clear,
 * else by its suffix. */
bool import_wants(const char *path);

/* Import a .orca with its companions, or a .trcxml; watch may be NULL.  -EINVAL: no such file; else
 * as open(2), read(2). */
int import_file(struct trace **out, const char *path, const struct import_watch *watch,
                struct err *err);

#endif
