/* greeting.h - the first request of a connection, as far as it has come: whether it is whole, and
 * whether it says the key.
 *
 * It is not understood here, only measured, so that nobody who says it slowly is given more than a
 * descriptor (lobby.h).  Whole is a request that libmicrohttpd will not wait for more of: its
 * headers, and the body of one that brings a token; every other body is either refused unread or
 * comes behind the key.
 *
 * Pure.  Thread-safe. */
#ifndef ORCA_SERVE_GREETING_H
#define ORCA_SERVE_GREETING_H

#include "serve/gate.h"

enum {
    GREETING_HEADERS_MAX = 16 << 10, /* bytes of request line and headers */
    GREETING_MAX = GREETING_HEADERS_MAX + GATE_ENTER_MAX,
};

enum greeting {
    GREETING_MORE, /* has to come */
    GREETING_WHOLE,
    GREETING_LONG,     /* more than there is room for */
    GREETING_NONSENSE, /* no HTTP: it does not begin with a method */
};

/* Of the first n bytes, all that have come up to GREETING_MAX.  *known: they say the key. */
enum greeting greeting_read(const struct gate *g, const char *text, size_t n, bool *known);

#endif
