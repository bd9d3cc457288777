/* command_line.h - what the words of a java command say: the program, and the switches that decide
 * whether the JVM can be attached to.
 *
 * The words come from /proc/PID/cmdline, argument files and the environment; feed them in the order
 * in which the JVM reads them, since its last word wins:
 *     JAVA_TOOL_OPTIONS, JDK_JAVA_OPTIONS, the command, _JAVA_OPTIONS. */
#ifndef ORCA_ATTACH_COMMAND_LINE_H
#define ORCA_ATTACH_COMMAND_LINE_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

struct command_line {
    char program[256]; /* main class, MODULE/CLASS, jar or source file; "" when none was found */
    bool no_attach;    /* -XX:+DisableAttachMechanism */
    bool few_signals;  /* -Xrs, -XX:+ReduceSignalUsage */

    /* An @argfile's text; NULL: such files are not read.  Returns 0 or a negative errno. */
    int (*read_file)(void *ctx, const char *path, struct buf *out);
    void *ctx;

    bool value_next, program_next, done, no_files; /* the walk over the words */
};

/* A command: words that end with NUL, the first is the executable. */
void command_line_take_command(struct command_line *c, const char *words, size_t n);

/* An environment as in /proc/PID/environ: the value of one variable, if it is there. */
void command_line_take_environ(struct command_line *c, const char *env, size_t n,
                               const char *variable);

#endif
