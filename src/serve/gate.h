/* gate.h - who may ask the server, and in what form (docs/reference/view-protocol.md, "Who may
 * ask").
 *
 * A request is let in when it names this server as Host, comes from none but its own page (Origin),
 * and says the key in a header of its own, which no page but ours can send and no browser sends by
 * itself.  The pages are for everybody: they are in every copy of this program and say nothing.
 * The key is had for a token, of which there is one for each way to us, each good once.
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
    GATE_SECRET_TEXT = 2 * GATE_SECRET_BYTES, /* hex */
    GATE_TARGET_MAX = 8192,                   /* bytes of path and query */
    GATE_BODY_MAX = 64 << 10,
    GATE_ENTER_MAX = 256, /* bytes of a body with a token */
};

/* How one comes to us. */
enum gate_way {
    GATE_LINK, /* printed, to be copied */
    GATE_FILE, /* in the file that a browser is started with */
    GATE_WAYS,
};

/* What this server is called by, and what opens it. */
struct gate {
    unsigned port;
    char key[GATE_SECRET_TEXT + 1], token[GATE_WAYS][GATE_SECRET_TEXT + 1];
};

/* Key and tokens by chance.  Errors as of getrandom(2). */
int gate_init(struct gate *g, unsigned port, struct err *err);

/* A request as it came.  Texts are NULL where there is none. */
struct gate_request {
    const char *method, *target; /* of the request line; the target as it was sent */
    const char *host, *origin, *key, *content_type, *content_length;
    unsigned doubled; /* headers of these that came twice */
    bool odd_bytes;   /* a NUL in the target or in a header */
    bool chunked;     /* the body has no length */
    bool page;        /* the target is one of the pages */
};

enum gate_verdict {
    GATE_PASS,
    GATE_ENTER, /* the body has to bring a token */
    GATE_REFUSE,
};

struct gate_answer {
    enum gate_verdict verdict;
    unsigned status;  /* GATE_REFUSE */
    const char *text; /* why, and the remedy: a literal */
};

void gate_judge(const struct gate *g, const struct gate_request *r, struct gate_answer *out);

/* The header that has the key, and whether this is it.  In a time that tells nothing of it. */
#define GATE_KEY_HEADER "Orca-Key"
bool gate_is_key(const struct gate *g, const char *given, size_t n);

/* Whose token the body of a GATE_ENTER is; -1: no one's. */
int gate_way_of(const struct gate *g, const char *body, size_t n);

/* The two targets of a GATE_ENTER: a form's, answered by the page, and the page's own. */
extern const char gate_enter_page[], gate_enter_api[];

/* The answers to a client with a used token, without a token, or of another user. */
extern const char gate_used[], gate_wrong[], gate_foreign[];

#endif
