/* gate.h - who may ask the server, and in what form (docs/view-protocol.md, "Who may ask").
 *
 * A request is let in when it names this server as Host, comes from none but its own page (Origin),
 * and carries the cookie.  The cookie is had for the token of the printed link, once.  Whatever is
 * refused is refused before its path is looked at.
 *
 * Pure: strings in, a verdict out.  Thread-safe. */
#ifndef ORCA_SERVE_GATE_H
#define ORCA_SERVE_GATE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    GATE_SECRET_BYTES = 16,
    GATE_TARGET_MAX = 8192, /* bytes of path and query */
    GATE_BODY_MAX = 64 << 10,
};

/* What this server is called by, and what opens it. */
struct gate {
    unsigned port;
    char token[2 * GATE_SECRET_BYTES + 1], secret[2 * GATE_SECRET_BYTES + 1]; /* hex */
    char cookie[32];                                                          /* its name */
};

/* Token and cookie by chance.  Errors as of getrandom(2). */
int gate_init(struct gate *g, unsigned port, struct err *err);

/* A request as it came.  Texts are NULL where there is none. */
struct gate_request {
    const char *method, *target; /* of the request line; the target as it was sent */
    const char *host, *origin, *cookie, *content_type, *content_length;
    unsigned doubled; /* headers of these that came twice */
    bool odd_bytes;   /* a NUL in the target or in a header */
    bool chunked;     /* the body has no length */
};

enum gate_verdict {
    GATE_PASS,
    GATE_EXCHANGE, /* the token is right: the cookie for it, if nobody has had it yet */
    GATE_REFUSE,
};

struct gate_answer {
    enum gate_verdict verdict;
    unsigned status;  /* GATE_REFUSE */
    const char *text; /* why, and the remedy: a literal */
    bool has_cookie;
};

void gate_judge(const struct gate *g, const struct gate_request *r, struct gate_answer *out);

/* What is said to who comes with a token that somebody has used. */
extern const char gate_used[];

#endif
