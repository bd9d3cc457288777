/* view.h - one generation of what is known of a trace, and the answers of the view protocol
 * (docs/reference/view-protocol.md) from it.
 *
 * A view never changes after view_new: what it makes on demand (indexes, a lock's history) is kept,
 * and is not visible before it is whole.  Every answer may be asked for by several threads at once.
 * Answers are appended to a buffer, whole; on failure nothing was appended.
 *
 * view.c        a view's life, rows        tile.c, occupancy.c      threads, pools, groups
 * arrows.c      interactions               lock_*.c                 locks
 * cache.c       answers that are kept      path_tile.c, overview.c  path, minimap
 * marks.c       calls, notifies in vain
 * json_*.c      the JSON answers           pack*.c                  the pack of a page */
#ifndef ORCA_VIEW_VIEW_H
#define ORCA_VIEW_VIEW_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct analysis;
struct view;

enum {
    VIEW_LEVEL_MAX = 44,
    VIEW_BUCKETS = 512,    /* of a tile */
    VIEW_EXACT_MAX = 1024, /* waits of a row in a tile that are listed one by one */
    VIEW_ARROWS_MAX = 2048,
    VIEW_PATH_MAX = 4096,
    VIEW_MARKS_MAX = 2000,
    VIEW_ROWS_MAX = 256, /* of one question */
    VIEW_OVERVIEW_MAX = 4096,
};

/* What the analysis itself does not know. */
struct view_about {
    uint32_t gen;
    const char *name;   /* "app.otrace"; borrowed */
    const char *path;   /* borrowed */
    const char *ending; /* how the recording ended: a word of `recording.state` */
    uint32_t live_pid;  /* still being recorded by it; 0: not */
    int64_t partial_to; /* only the beginning was read, of a recording up to there; 0: all of it */
    bool later;         /* what takes long waits for view_prepare; else the first question for it */
};

/* Takes the analysis, and the trace in it, over: view_free frees and closes them; on failure they
 * stay the caller's.  -ENOMEM. */
int view_new(struct view **out, struct analysis *a, const struct view_about *about,
             struct err *err);
void view_free(struct view *v);

uint32_t view_gen(const struct view *v);

/* Make what takes long of a large trace, of one whose `later` says so, while questions are
 * answered: the findings, without which meta says that they are pending, then the arrows of coarse
 * tiles. `made` is called between them.  Once.  -ENOMEM. */
int view_prepare(struct view *v, void (*made)(void *ctx), void *ctx, struct err *err);

/* --- binary answers --------------------------------------------------------------------------- */

/* A row by its letter and number: 't', 'p', 'g', 'l'. */
struct view_row {
    char kind;
    uint32_t number;
};

/* "t1,p0,l77" -> rows; the number of them, at most VIEW_ROWS_MAX.  -EINVAL. */
int view_parse_rows(const char *text, struct view_row *rows, struct err *err);

/* Errors of all: -EINVAL (level or tile out of range), -ENOMEM. */
int view_tile(struct view *v, unsigned level, int64_t i, const struct view_row *rows, size_t n_rows,
              struct buf *out);
int view_arrows(struct view *v, unsigned level, int64_t i, struct buf *out);

/* thread 0: the path to the program's end; else to that thread (index) at `to`, ns after the
 * beginning. */
int view_path(struct view *v, unsigned level, int64_t i, uint32_t thread, int64_t to,
              struct buf *out);

/* --- JSON answers ----------------------------------------------------------------------------- */

/* A question's parameters: NAME=VALUE pairs, decoded.  Unknown names are refused. */
struct view_param {
    const char *name, *value;
};

struct view_question {
    const struct view_param *v;
    size_t n;
};

/* The answers by name: "meta", "report", "locks", "overview", "contexts", "wait", "at", "flame",
 * "rates", "search", "marks", "mark".  Errors: -ENOENT (no such answer, thread, wait, class),
 * -EINVAL (a parameter; err says which and what it may be), -ENOMEM. */
int view_json(struct view *v, const char *answer, const struct view_question *q, struct buf *out,
              struct err *err);

/* --- the pack of a page ----------------------------------------------------------------------- */

enum { VIEW_PACK_EXACT = 5000000 };

struct pack_options {
    uint64_t exact_max; /* waits; 0: VIEW_PACK_EXACT */
};

/* The sections of the pack, not yet compressed.  -ENOMEM. */
int view_pack(struct view *v, const struct pack_options *o, struct buf *out, struct err *err);

#endif
