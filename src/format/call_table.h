/* call_table.h - a table of methods whose calls are events (the MethodTable of the 2014 Orca
 * back-end manual), as text.
 *
 * One method a line; what stands in brackets may be left out, a '#' at the start of a word begins a
 * comment:
 *     CLASS#METHOD[(PARAMETERS)] [calls|blocks|tries] [nests] [this|none|argN] [NAME [NAME AT END]]
 * The agent reads it (methods=), the text exporter writes it beside its events, and the importer
 * needs it to read them back.  docs/reference/method-tables.md is for users. */
#ifndef ORCA_FORMAT_CALL_TABLE_H
#define ORCA_FORMAT_CALL_TABLE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/map.h"
#include "format/codec.h"

#include <stdbool.h>

enum call_kind {
    CALL_BLOCKS, /* it may block: its entry and its end are events */
    CALL_TRIES,  /* the same, and it returns a boolean that says whether it got what it wanted */
    CALL_CALLS,  /* it does not block: one event, at its entry */
    CALL_KINDS
};
extern const char *const call_kind_names[CALL_KINDS + 1];

enum { CALL_NO_OBJECT = -2, CALL_THIS = -1, CALL_ARG_MAX = 254 }; /* else: a parameter, from 0 */

struct call_row {
    const char *class;  /* internal form: shop/Order$Line */
    const char *method; /* "<init>": its constructors */
    const char *params; /* JVM descriptor, "(J)" or with the result "(J)V"; "": every overload */
    enum call_kind kind;
    bool nests;                /* calls inside it are events of the text formats, too */
    int object;                /* what it is about */
    const char *event, *ended; /* names in the text formats; ended "": it has no end */
    unsigned line;             /* where it stands; 0: in no file */
};

struct call_table {
    struct call_row *rows;
    size_t n;
    struct arena arena;
    struct map names; /* hash of an event's name -> 1 + twice the row it is first in, + its end */
};

enum { CALL_ROWS_MAX = 2000, CALL_WORD_MAX = 1024, CALL_TABLE_MAX = 4 << 20 /* bytes */ };

/* Read a table; `name` is its file's, for messages.  -EINVAL: file, line, what is wrong with which
 * word.  A table must be released whether it could be read or not. */
int call_table_read(struct call_table *t, const char *name, const char *text, size_t len,
                    struct err *err);
int call_table_read_fd(struct call_table *t, const char *name, int fd, struct err *err);

/* Read what a user gives: the path of a table, or, with a '#' in it, rows joined by '+'. */
int call_table_open(struct call_table *t, const char *spec, struct err *err);
void call_table_fini(struct call_table *t);

/* The row as a line of a table, without its end. */
void call_row_put(struct buf *b, const struct call_row *r);

/* Whether a method of this name and descriptor is meant. */
bool call_row_is(const struct call_row *r, const char *method, size_t method_len, const char *desc,
                 size_t desc_len);

/* The row that has this name for its beginning, or (*ended) for its end; NULL: none. */
const struct call_row *call_table_find(const struct call_table *t, const char *event, size_t len,
                                       bool *ended);

/* The names when the table gives none: "shop/Order$Line", "add" -> "OrderLineAdd",
 * "OrderLineAddEnded". */
void call_default_name(struct buf *b, const char *class, const char *method);

/* The definition of a row under an id; its texts are in `texts`, which the caller frees when the
 * definition is written.  -ENOMEM. */
struct call_texts {
    struct buf name, class, row;
};
int call_define(const struct call_row *r, call_id id, struct call_texts *texts, struct def *d);
void call_texts_fini(struct call_texts *texts);

#endif
