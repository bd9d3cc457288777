/* query.h - a request's target taken apart: path, parameters, numbers.
 *
 * Strict: an escape that is none, a control character, a NUL, an empty name, a name that comes
 * twice, a number with a sign or a zero before it is an error.  Pure; thread-safe. */
#ifndef ORCA_SERVE_QUERY_H
#define ORCA_SERVE_QUERY_H

#include "base/err.h"
#include "view/view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QUERY_PARAMS_MAX = 16 };

struct query {
    char *path; /* decoded; begins with '/' */
    struct view_param params[QUERY_PARAMS_MAX];
    size_t n;
    char *text; /* owns all of them */
};

/* Take "/path?a=1&b=2" apart.  -EINVAL, -ENOMEM; then nothing needs query_fini. */
int query_parse(struct query *q, const char *target, struct err *err);
void query_fini(struct query *q);

/* The value of a parameter, or NULL. */
const char *query_find(const struct query *q, const char *name);

/* Undo the escapes of n bytes, in place; plus: '+' is a blank.  -EINVAL. */
int query_decode(char *text, size_t n, bool plus, struct err *err);

/* A decimal number that fills the text: "0", "17", and with `sign` also "-3".  False: it is none,
 * or greater than 2^62. */
bool query_number(const char *text, size_t n, bool sign, int64_t *out);

#endif
