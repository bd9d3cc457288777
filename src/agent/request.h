/* request.h - what a client of the control socket sends, taken apart.
 *
 * Bytes become a line, a line becomes a verb and its argument, an argument what the verb wants of
 * it.  All of it comes from outside and is checked here; nothing here calls the JVM, so that
 * tests/fuzz/control_fuzz.c runs this very code.  The options of "start" are settings.h's. */
#ifndef ORCA_AGENT_REQUEST_H
#define ORCA_AGENT_REQUEST_H

#include "base/err.h"
#include "format/event.h"

#include <stdbool.h>
#include <stddef.h>

enum { REQUEST_LINE_MAX = 4095 };

/* --- a line ----------------------------------------------------------------------------------- */

struct request_line {
    char text[REQUEST_LINE_MAX + 1]; /* once whole, a string without its line's end */
    size_t len;
};

enum request_line_state {
    REQUEST_UNFINISHED,
    REQUEST_WHOLE, /* bytes after the line's end are ignored */
    REQUEST_TOO_LONG,
};

/* Where the next bytes go, and how many fit: at least one while the line is unfinished. */
static inline char *request_line_end(struct request_line *l)
{
    return l->text + l->len;
}
static inline size_t request_line_room(const struct request_line *l)
{
    return REQUEST_LINE_MAX - l->len;
}

/* n bytes have been put there. */
enum request_line_state request_line_grow(struct request_line *l, size_t n);

/* --- a request -------------------------------------------------------------------------------- */

enum request_verb {
    VERB_status,
    VERB_start,
    VERB_stop,
    VERB_groups,
    VERB_flush,
    VERB_dump,
    VERB_rotate,
    VERB_query,
    VERB_heap,
    VERB_leave,
    VERB_LIMIT
};

struct request {
    enum request_verb verb;
    char *argument; /* "": none; points into the line */
};

/* -EINVAL: no such verb. */
int request_parse(struct request *r, char *line, struct err *err);

/* "+parks-waits" changes what `groups` holds, "parks+waits" makes it just these.  On failure
 * `groups` is not to be used. */
int request_groups(const char *text, bool groups[GROUP_LIMIT], struct err *err);

/* The path of a dump. */
int request_path(const char *text, struct err *err);

/* What of the heap is asked for. */
struct request_heap {
    bool dump;        /* else: what lives */
    bool full;        /* a collection comes first */
    uint64_t objects; /* of a dump: at most */
    const char *path;
};

/* "dump OBJECTS PATH", "live [full]". */
int request_heap(struct request_heap *h, const char *text, struct err *err);

enum request_subject {
    ASK_locks,
    ASK_thread,
    ASK_monitor,
    ASK_object,
    ASK_refs,
    ASK_class,
    ASK_LIMIT
};

enum { REQUEST_DEPTH_MOST = 8 };

struct request_question {
    enum request_subject subject;
    const char *what; /* the rest: a name or an id */
    bool held;        /* of locks: also those without waiters */
    bool has_id;
    uint32_t id;     /* that `what` is */
    uint64_t number; /* of an object: the same, of any size */
    bool lock;       /* object: only a lock of this id is meant */
    uint32_t depth;  /* refs: how far, from 1 */
};

/* "locks [held]", "thread ID|NAME", "monitor ID", "object NUMBER", "object lock:ID",
 * "refs NUMBER [DEPTH]", "class ID|NAME". */
int request_question(struct request_question *q, const char *text, struct err *err);

#endif
