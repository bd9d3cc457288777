/* view_file.h - a trace file as the server of orca view reads it: opened, analysed, and again when
 * more was recorded into it.
 *
 * What of a file is its identity are device and inode: one that is replaced is gone. */
#ifndef ORCA_CLI_VIEW_FILE_H
#define ORCA_CLI_VIEW_FILE_H

#include "attach/jvm.h"
#include "serve/hooks.h"

/* Open it, so that a failure to read it is reported at once. jvm: the JVM that records into it, to
 * be asked for what it has not written yet; NULL: unknown.  name: what it is called; NULL: the
 * file's name. app: as trace.app.  Errors as of input_open. */
int view_file_open(struct serve_source **out, const char *path, const struct jvm *jvm,
                   const char *name, const char *app, struct err *err);

#endif
