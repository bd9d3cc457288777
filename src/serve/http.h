/* http.h - the HTTP server itself: libmicrohttpd on 127.0.0.1, before gate and core.
 *
 * Three threads answer, four others run long jobs (jobs.h); streams of events are suspended
 * connections (live_events.h).  A connection comes here when its first request is complete; the
 * number of those without the key is limited (lobby.h).  A request has 16 kB for its headers and 64
 * kB for its body; a connection that does nothing for 10 s is closed. */
#ifndef ORCA_SERVE_HTTP_H
#define ORCA_SERVE_HTTP_H

#include "serve/core.h"
#include "serve/gate.h"
#include "serve/jobs.h"
#include "serve/live_events.h"
#include "serve/lobby.h"

#include <stdatomic.h>

struct MHD_Daemon;

struct http {
    struct core *core;
    struct live_events *events;
    struct gate gate;
    struct jobs jobs;
    struct lobby lobby;
    atomic_bool used[GATE_WAYS]; /* the tokens */
    _Atomic uint64_t asked;      /* ns of CLOCK_MONOTONIC: the last request that had the key */
    struct MHD_Daemon *daemon;
};

/* Listen; port 0: a free one.  Errors name the port and what to do. */
int http_open(struct http *h, unsigned port, struct core *core, struct live_events *events,
              struct err *err);

/* Ends the streams of events.  True: an answer that takes long is still being made; what it uses,
 * this included, must stay, as its end is not awaited. */
bool http_close(struct http *h);

#endif
