/* options.h - one kind of option table for the commands and for the agent.
 *
 * A table drives the parser of argv, the parser of the agent's "key=value,..." string, the help,
 * the man page and the completions.  Values land in a struct of the caller, at each row's offset,
 * which holds the defaults beforehand; strings are borrowed from the text that was parsed.
 *
 * No globals, never exits, and heap only for the help and for messages: usable inside the JVM.
 * Thread-safe. */
#ifndef ORCA_BASE_OPTIONS_H
#define ORCA_BASE_OPTIONS_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a row takes, and the C type at its offset. */
enum opt_kind {
    OPT_FLAG,   /* bool; alone, or with on|off, yes|no, true|false, 1|0 */
    OPT_STR,    /* const char * */
    OPT_UINT,   /* uint64_t; decimal */
    OPT_SIZE,   /* uint64_t, bytes; 65536, 64k, 16m, 1.5g */
    OPT_TIME,   /* uint64_t, ns; 500ms, 30s, 10m, 2h; 0 needs no unit */
    OPT_CHOICE, /* uint64_t, index of one of `choices` */
    OPT_SET,    /* uint64_t, bits of one or more of `choices`, joined by '+' (argv: or by ',');
                 * "all" and "none" are understood */
};

struct opt {
    const char *name; /* long name or key; without dashes */
    char letter;      /* short form on the command line, 0: none */
    enum opt_kind kind;
    size_t offset;
    const char *metavar; /* what the help calls the value; NULL for flags */
    const char *help;    /* one line that ends with the default; NULL: works, but is not shown */
    const char *const *choices; /* OPT_CHOICE, OPT_SET: ends with NULL */
    uint64_t min, max;          /* OPT_UINT, OPT_SIZE, OPT_TIME: the range; max 0: none.
                                 * OPT_SET: min has the bits that the word "all" leaves out */
};

struct opt_table {
    const struct opt *rows;
    size_t n;
};
#define OPT_TABLE(array) ((struct opt_table){(array), sizeof(array) / sizeof((array)[0])})

enum {
    OPT_WANTS_HELP = -5000, /* -h or --help was met: no message is set */
};

enum opt_order {
    OPT_MIXED,         /* options may follow operands */
    OPT_OPERANDS_LAST, /* the first operand ends the options: the rest belongs to someone else */
};

/* Parse argv[1..argc-1]; "--" ends the options.  Returns the number of operands, moved in their
 * order to argv[1..], OPT_WANTS_HELP, or -EINVAL. */
int opt_parse_args(struct opt_table t, int argc, char **argv, enum opt_order order, void *into,
                   struct err *err);

/* Parse "key=value,flag,..." in place; a backslash takes the meaning off a ',' or '\' in a value.
 * `text` must live as long as the strings in `into`.  0 or -EINVAL. */
int opt_parse_keys(struct opt_table t, char *text, void *into, struct err *err);

/* End the text behind its first item, without the backslashes of that item; returns the rest. */
char *opt_cut_item(char *text);

/* Append `value` to an agent option string, escaped as opt_parse_keys undoes it. */
void opt_escape(struct buf *b, const char *value);

/* The row of this name, or NULL. */
const struct opt *opt_find(struct opt_table t, const char *name, size_t len);

/* "-o, --output=FILE" */
void opt_label(const struct opt *o, struct buf *b);

/* The help line, with the choices when there are any.  For rows that are shown. */
void opt_text(const struct opt *o, struct buf *b);

/* The shown rows as help text of at most 100 columns. */
void opt_help(struct opt_table t, struct buf *b);

/* `text` wrapped at 100 columns, lines after the first indented by `indent`; `at`: the column of
 * the first one.  Ends without a line break. */
void opt_wrap(struct buf *b, const char *text, size_t at, size_t indent);

/* One value by itself: what the agent's control socket and the commands share.  0 or -EINVAL. */
int opt_parse_value(const struct opt *o, const char *value, void *into, struct err *err);

#endif
