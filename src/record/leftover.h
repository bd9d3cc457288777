/* leftover.h - rings that a JVM left behind: whose they are, and whether anybody needs them.
 *
 * Only files that are called as rings are, say that they are, belong to this user alone, and into
 * which no JVM records (its lock is free).  What may still complete a trace is never removed. */
#ifndef ORCA_RECORD_LEFTOVER_H
#define ORCA_RECORD_LEFTOVER_H

#include "base/err.h"
#include "format/chunk.h"

#include <stddef.h>
#include <stdint.h>

#define LEFTOVER_FOLDER "/dev/shm" /* where rings are by default */

enum leftover_kind {
    LEFTOVER_NEEDED,   /* the trace is there, and not completed: any command that reads it does */
    LEFTOVER_COMPLETE, /* the trace is complete without them */
    LEFTOVER_DELETED,  /* the trace is gone */
    LEFTOVER_UNKNOWN,  /* whether it is there is unknown: `why` */
};

struct leftover {
    enum leftover_kind kind;
    uint64_t bytes;            /* that they take */
    char path[RING_PATH_MAX];  /* of the rings */
    char trace[RING_PATH_MAX]; /* where the trace is, or was; "": not known */
    const char *why;
};

/* Further folders, in addition to its old one, where a moved trace may be. */
struct leftover_search {
    const char *const *folders;
    size_t n;
};

/* Each in a folder; the order is that of readdir.  Errors: the folder cannot be read. */
int leftover_list(const char *folder, const struct leftover_search *s,
                  void (*each)(void *ctx, const struct leftover *l), void *ctx, struct err *err);

/* One, by its path.  -ENOENT with a sentence: there is none. */
int leftover_find(struct leftover *l, const char *path, const struct leftover_search *s,
                  struct err *err);

/* Remove it, if it is still what it was found to be, and not needed.  -EBUSY: it is not. */
int leftover_remove(const struct leftover *l, const struct leftover_search *s, struct err *err);

#endif
