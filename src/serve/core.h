/* core.h - what every answer is made from, and the way from a request to its answer.
 *
 * Without sockets: http.c puts requests in, tests and the fuzzer do as well. */
#ifndef ORCA_SERVE_CORE_H
#define ORCA_SERVE_CORE_H

#include "serve/answer.h"
#include "serve/heaps.h"
#include "serve/hooks.h"
#include "serve/jobs.h"
#include "serve/query.h"
#include "serve/traces.h"

struct core {
    struct traces traces;
    struct heaps heaps;
    struct serve_hooks hooks;
    bool start; /* there is a start page */
};

/* A request that the gate let pass. */
struct core_request {
    bool post;
    const char *target;
    const char *body; /* of a POST; ends with a NUL */
    size_t body_len;
};

/* Whether a GET of it is answered by one of the pages, which are for everybody. */
bool core_is_page(const char *target);

/* Whether its answer may take too long for others to wait for it; *kind: which of these go before
 * which. */
bool core_takes_long(const struct core_request *r, enum job_kind *kind);

/* Answer it, whatever it is; *live: it is the stream of events, which has no answer.  Any
 * thread. */
void core_answer(struct core *c, const struct core_request *r, struct answer *a, bool *live);

#endif
