/* hooks.h - what the server needs of the rest of the command: traces that can be read, and JVMs.
 *
 * The command fills these tables (cli/view_*.c); nothing here knows what is behind them.  A source
 * belongs to one thread of the server from serve_add on; the other functions may be called by
 * several threads at once. */
#ifndef ORCA_SERVE_HOOKS_H
#define ORCA_SERVE_HOOKS_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct heap_view;
struct view;

/* How far a reading has come; `phase` needs to live for the call only. */
struct serve_progress {
    void (*step)(void *ctx, const char *phase, uint64_t done, uint64_t total);
    void *ctx;
};

/* A trace, from where it can be read, again and again while it is recorded. */
struct serve_source {
    const struct serve_source_ops *ops;
    const char *name, *path; /* of the file: last part, and absolute; do not change */
    uint32_t live_pid;       /* the JVM that records into it, as of the last reading; 0: none */
    int64_t to;              /* the recording's end then, ns after its beginning */
    bool partial;            /* only the beginning was read: read again at once */
};

struct serve_source_ops {
    /* Read what there is, and analyse it: a view of this generation.  Tells live_pid and to. */
    int (*read)(struct serve_source *s, uint32_t gen, const struct serve_progress *p,
                struct view **out, struct err *err);
    /* 1: there is more than was read; 0: there is not; or a negative errno: the file is gone.
     * Cheap: asked once a second. */
    int (*look)(struct serve_source *s, struct err *err);
    void (*close)(struct serve_source *s); /* frees it, too */
};

/* What was opened: one of both. */
struct serve_opened {
    struct serve_source *source;
    struct heap_view *heap; /* not started yet */
};

/* POST /api/attach.  Texts are NULL, numbers 0, where not given. */
struct serve_attach {
    uint32_t pid;
    const char *events; /* groups, joined by '+' */
    const char *include, *exclude, *methods, *output, *ownerstacks;
    uint64_t duration; /* ns; 0: until it is stopped */
    uint64_t depth;
    bool has_depth;
};

/* A refusal of theirs: err, and the field of the question that is wrong, or NULL. */
struct serve_why {
    struct err err;
    const char *field; /* a literal */
};

struct serve_hooks {
    void *ctx;
    /* The answer to /api/start, as JSON. */
    int (*start)(void *ctx, struct buf *out, struct err *err);
    /* A number that is another one when the list of JVMs is. */
    uint64_t (*stamp)(void *ctx);
    /* Record a JVM, or join its recording; */
    int (*attach)(void *ctx, const struct serve_attach *a, struct serve_source **out,
                  struct serve_why *why);
    /* End the recording of a JVM; file: the trace. */
    int (*stop)(void *ctx, uint32_t pid, struct buf *file, struct serve_why *why);
    /* Copy a trace to a file that is not there yet; file: its full path. */
    int (*save)(void *ctx, const char *path, uint32_t live_pid, const char *to, struct buf *file,
                struct serve_why *why);
    /* A trace or a heap dump of the list of recent ones. */
    int (*open)(void *ctx, uint32_t id, struct serve_opened *out, struct serve_why *why);
};

#endif
