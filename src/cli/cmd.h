/* cmd.h - what a subcommand is.
 *
 * cmd_<name>.c defines `const struct cmd cmd_<name>` and main.c lists it.  Its option table prints
 * the help, the man page, the page in docs/ and the completions. */
#ifndef ORCA_CLI_CMD_H
#define ORCA_CLI_CMD_H

#include "base/err.h"
#include "base/options.h"

struct cmd {
    const char *name, *summary;
    const char *args;        /* operands in the usage line, "FILE..."; may be "" */
    const char *description; /* paragraphs, for --help and the man page; '\n' between them */
    const char *examples;    /* lines of "command  # what for"; may be NULL */
    struct opt_table opts;
    enum opt_order order;

    /* argv[0] is the command's name.  Returns the exit status (0 ok, 1 failed, 2 usage, or a
     * child's), or a negative errno with err set: main prints it and exits with 1.  CMD_USAGE and
     * CMD_HELP are also for main. */
    int (*run)(int argc, char **argv, struct err *err);
};

enum {
    CMD_FAILED = 1,
    EXIT_USAGE = 2,
    CMD_USAGE = -5001, /* err says what is wrong; main adds where the help is and exits with 2 */
    CMD_HELP = OPT_WANTS_HELP,
};

/* Parse the command's options into its struct.  Returns the number of operands, which stand in
 * argv[1..] then, or CMD_USAGE or CMD_HELP. */
int cmd_parse(const struct cmd *c, int argc, char **argv, void *into, struct err *err);

extern const struct cmd cmd_record, cmd_report, cmd_info, cmd_events, cmd_export, cmd_import,
    cmd_doctor, cmd_attach, cmd_detach, cmd_status, cmd_dump, cmd_query, cmd_top, cmd_diff,
    cmd_html, cmd_view, cmd_heap, cmd_clean;

/* Every command, in the order of the help; ends with NULL. */
const struct cmd *const *cmd_all(void);

/* The generated texts: help of one command, overview, man page, docs page, shell completions. */
void cmd_help(const struct cmd *c, struct buf *b);
void cmd_overview(struct buf *b);
void cmd_man(struct buf *b);
void cmd_docs(struct buf *b);
int cmd_complete(const char *shell, struct buf *b, struct err *err);

#endif
