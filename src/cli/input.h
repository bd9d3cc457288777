/* input.h - opening what a reading command was given: a trace, or another format's files.
 *
 * A trace whose JVM was killed is completed first (record/recover.h). */
#ifndef ORCA_CLI_INPUT_H
#define ORCA_CLI_INPUT_H

#include "base/buf.h"
#include "base/options.h"
#include "format/trace.h"
#include "symbols/symbols.h"

/* Open a .otrace, a .trcxml, a .orca or spec-1.1 log.  Errors name the file and what to do.  Native
 * code gets its names (symbols/symbols.h); a file that cannot be used for that is reported on
 * stderr. */
int input_open(struct trace **out, const char *path, struct err *err);

/* The same, and what came of the names of its native code; without a word of that on stderr. */
int input_open_named(struct trace **out, const char *path, struct symbols_summary *names,
                     struct err *err);

/* The row of the option that says which classes are the program; for trace.app. */
#define INPUT_APP(offset)                                                                          \
    {                                                                                              \
        "app", 0, OPT_STR, (offset), "CLASSES",                                                    \
            "the program's own classes, whose lines findings and tables name: shop.*, "            \
            "com.acme.Order, joined by ',' (default: the packages of its main class)",             \
            NULL, 0, 0                                                                             \
    }

/* Set trace.app; NULL: not given.  -ENOENT: no class of the trace is any of these. */
int input_app(struct trace *t, const char *app, struct err *err);

/* Print one warning a problem on stderr.  Returns the exit status for it: 0, or CMD_FAILED when
 * part of the file is damaged; an unfinished trace is none. */
int input_warn(const struct trace *t);

/* "dir/app.otrace" -> "dir/app": without the suffix of the file's name, not of a folder's. */
void input_stem(struct buf *b, const char *path);

/* -EEXIST when a file that is to be written is the input, perhaps under another name. */
int input_refuse(const char *input, const char *output, struct err *err);

#endif
