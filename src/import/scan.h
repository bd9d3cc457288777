/* scan.h - reading the fields of one line; what does not fit is an error that says where it is,
 * what belongs there and what stands there:
 *     app.orca: line 12, column 30: expected eight upper-case hex digits (object), found "15db9742"
 *
 * Every function returns 0 and moves on, or -EINVAL with s->err set. */
#ifndef ORCA_IMPORT_SCAN_H
#define ORCA_IMPORT_SCAN_H

#include "import/lines.h"

struct scan {
    const char *name; /* of the file */
    struct line line;
    const char *p; /* line.p <= p <= line.end */
    struct err *err;
};

struct text {
    const char *p;
    size_t len;
};

static inline struct scan scan_begin(const char *name, const struct line *line, struct err *err)
{
    return (struct scan){name, *line, line->p, err};
}

/* The error itself: "expected <what>, found ..." at the place `at`.  Returns -EINVAL. */
int scan_expected(const struct scan *s, const char *at, const char *what);

/* Seconds with any number of decimals; what is below a nanosecond is dropped. */
int scan_seconds(struct scan *s, uint64_t *ns);

int scan_char(struct scan *s, char c);

/* Exactly eight upper-case hex digits; `what` names the field. */
int scan_hex8(struct scan *s, const char *what, uint32_t *v);

/* The same, or exactly sixteen: format 1.1 calls addresses 64-bit.  *wide: sixteen it was. */
int scan_hex8_or_16(struct scan *s, const char *what, uint64_t *v, bool *wide);

/* A decimal number of at most `max`; `min` may be -1. */
int scan_decimal(struct scan *s, const char *what, int64_t min, int64_t max, int64_t *v);

/* The text up to the next ',' or the end; may be empty. */
struct text scan_text(struct scan *s);

int scan_end(struct scan *s);

/* Where a file ended before its last line did. */
struct scan_cut {
    bool cut;
    uint64_t offset;
    char text[200]; /* for a problem */
};

/* Hand every line to `line`, until it returns other than 0: a negative errno, or 1 for "enough".  A
 * last line without an end is passed on as well; when it does not fit it is what the file lost, no
 * error. */
int scan_lines(const struct text_source *source, int (*line)(void *ctx, struct scan *s), void *ctx,
               struct scan_cut *cut, struct err *err);

static inline bool scan_at(const struct scan *s, char c)
{
    return s->p < s->line.end && *s->p == c;
}

#endif
