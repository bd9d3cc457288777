/* routes.h - which path is answered by what: the table in routes.c is all that is served. */
#ifndef ORCA_SERVE_ROUTES_H
#define ORCA_SERVE_ROUTES_H

#include "serve/core.h"

enum { ROUTE_NUMBERS_MAX = 4 };

/* A request that a row of the table fits. */
struct route_hit {
    const struct route *route;
    int64_t number[ROUTE_NUMBERS_MAX]; /* of the pattern, in its order */
    const struct query *query;
    const struct core_request *request;
};

struct route {
    enum {
        ROUTE_PAGE, /* for everybody: of the program, not of what it shows */
        ROUTE_GET,
        ROUTE_LONG, /* may take long (jobs.h), as POST */
        ROUTE_POST,
    } kind;
    const char *pattern; /* "#": a number, "~": one that may be negative */
    void (*answer)(struct core *c, const struct route_hit *hit, struct answer *a);
    const char *word; /* for `answer`: which of several it is */
};

/* Find the row for a path; NULL.  *allow: the methods of rows that only the method keeps from
 * fitting, or NULL. */
const struct route *routes_find(bool post, const char *path, int64_t number[ROUTE_NUMBERS_MAX],
                                const char **allow);

#endif
