/* input.h - opening what a reading command was given: a trace, or another format's files.
 *
 * A trace whose JVM was killed is completed first (record/recover.h). */
#ifndef ORCA_CLI_INPUT_H
#define ORCA_CLI_INPUT_H

#include "format/trace.h"

/* Open a .otrace, .orca or spec-1.1 log.  Errors name the file and what to do. */
int input_open(struct trace **out, const char *path, struct err *err);

/* Print one warning a problem on stderr.  Returns the exit status for it: 0, or CMD_FAILED when
 * part of the file is damaged; an unfinished trace is none. */
int input_warn(const struct trace *t);

#endif
