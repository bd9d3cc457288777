/* work.h - holds a reader to what tests/limits.def says it may cost, with files that are as bad as
 * can be.  A file is made with n, 2 n and 4 n of whatever is bad (cases.h): what is done for each
 * byte may not grow.  ORCA_WORK=1 prints what was counted. */
#ifndef ORCA_TESTS_WORK_H
#define ORCA_TESTS_WORK_H

#include "../counted.h"
#include "base/buf.h"

/* A bad kind of file; `size`: of what it stands for, when it is packed. */
struct work_shape {
    const char *name;
    void (*make)(struct buf *file, uint32_t n);
    uint32_t n;
};

/* Reads a file in all ways there are; returns the bytes that it was, packed ones unpacked. */
typedef uint64_t work_fn(const struct buf *file);

void work_check(const char *reader, work_fn *read, const struct work_shape *shapes, size_t n);

/* The same where work may grow faster than the file, up to a limit of the format: only what
 * limits.def says is held. */
void work_check_limit(const char *reader, work_fn *read, const struct work_shape *shapes, size_t n);

#endif
