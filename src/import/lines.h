/* lines.h - a text file, line by line, from a descriptor or from memory.
 *
 * A line ends with LF or CR LF, which are not part of it; the last one may have no end (`cut`).
 * Memory stays below twice LINES_MAX whatever the file holds. */
#ifndef ORCA_IMPORT_LINES_H
#define ORCA_IMPORT_LINES_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LINES_MAX = 4 << 20 }; /* bytes of one line */

/* Where a text is: an open descriptor, or memory when fd is negative.  name NULL: there is none. */
struct text_source {
    const char *name; /* for messages */
    int fd;
    const char *p;
    size_t len;
};

struct line {
    const char *p, *end;
    uint64_t number; /* from 1 */
    uint64_t offset; /* of its first byte in the file */
    bool cut;        /* the file ends before the line does */
};

struct lines {
    struct text_source source;
    char *buf; /* what was read from the descriptor */
    size_t cap;
    const char *p, *end; /* not handed out yet */
    bool at_end;         /* nothing is left to read */
    uint64_t number, offset;
};

/* Begin at the start of the source (a descriptor is rewound).  Borrows the source. */
int lines_open(struct lines *l, const struct text_source *source, struct err *err);
void lines_close(struct lines *l);

/* 1 and *line, which lives until the next call; 0 at the end; or a negative errno.  Empty lines are
 * passed over.  A NUL byte is refused: no text has one. */
int lines_next(struct lines *l, struct line *line, struct err *err);

#endif
