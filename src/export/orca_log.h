/* orca_log.h - what the two text formats share: the event log, and which methods and classes it
 * names.
 *
 * The log is files[0].  Methods and classes are listed in the order in which the log first names
 * them, with the time at which it does. */
#ifndef ORCA_EXPORT_ORCA_LOG_H
#define ORCA_EXPORT_ORCA_LOG_H

#include "export/export.h"
#include "export/orca_calls.h"
#include "export/orca_ids.h"
#include "export/orca_stacks.h"
#include "export/orca_tries.h"
#include "format/call_table.h"

/* Definitions that were named, oldest first.  count <= n */
struct orca_named {
    uint64_t *time;  /* [n], by id */
    uint32_t *order; /* [n]: ids */
    uint8_t *seen;   /* [n] */
    size_t n, count;
};

struct orca_log {
    enum orca_version version;
    const struct orca_line *line_of[EV_LIMIT];
    struct orca_ids threads, locks;
    struct orca_ids classes; /* of those that have a line; orca_log_number_classes */
    struct orca_stacks stacks;
    struct orca_tries tries;
    struct orca_thread *state; /* [trace->n_threads], by id */
    uint8_t *stack_seen;       /* [trace->n_stacks] */
    struct orca_named methods, named_classes;
    struct call_table call_rows;     /* their `line` is the id of the call */
    const struct call_row **call_of; /* [trace->n_calls], by id; NULL: it has no names */
    uint8_t *call_seen;              /* [call_rows.n] */
    size_t n_damaged;                /* of the trace, when last looked at */
};

/* What the formats leave out, for struct exporter. */
#define orca_log_leaves_out                                                                        \
    "calls inside calls, tries of a semaphore that got nothing, threads without an object"

/* Whether a version has events of a kind, or cares for them. */
bool orca_log_has(enum orca_version version, unsigned kind);

/* Allocates x->state.  Undone by orca_log_fini, also when it failed. */
int orca_log_begin(struct export *x, enum orca_version version, struct err *err);
int orca_log_event(struct export *x, const struct event *e, struct err *err);
void orca_log_fini(struct export *x);

/* After the last event. */
int orca_log_number_classes(struct export *x, struct err *err);

/* Whether the log names events of this row. */
bool orca_log_has_seen(const struct orca_log *log, const struct call_row *row);

/* The name of a class, method or source file, without what separates fields. */
void orca_log_name(struct out *o, const char *name);

/* A method's signature; `()` where it is not known: the field may not be empty. */
void orca_log_signature(struct out *o, const struct trace_method *m);

/* Number of entries and the entries of a line table; `line` writes one line number. */
void orca_log_lines(struct out *o, const struct trace_method *m, char separator,
                    void (*line)(struct out *o, uint32_t line));

#endif
