/* http.h - the HTTP server itself: libmicrohttpd on 127.0.0.1, before gate and core.
 *
 * Three threads answer, three others what takes long (jobs.h); streams of events are suspended
 * connections (live_events.h).  A request has 16 kB for its headers and 64 kB for its body; there
 * are 64 connections at a time, and one that does nothing for 10 s is closed. */
#ifndef ORCA_SERVE_HTTP_H
#define ORCA_SERVE_HTTP_H

#include "serve/core.h"
#include "serve/gate.h"
#include "serve/jobs.h"
#include "serve/live_events.h"

#include <stdatomic.h>

struct MHD_Daemon;

struct http {
    struct core *core;
    struct live_events *events;
    struct gate gate;
    struct jobs jobs;
    atomic_bool used;       /* the token */
    atomic_int connections; /* there are now */
    _Atomic uint64_t asked; /* ns of CLOCK_MONOTONIC: the last request that was let in */
    struct MHD_Daemon *daemon;
};

/* Listen; port 0: a free one.  Errors name the port and what to do. */
int http_open(struct http *h, unsigned port, struct core *core, struct live_events *events,
              struct err *err);

/* Ends the streams of events.  True: an answer that takes long is still being made; what it uses,
 * this included, must stay, as nobody waits for it. */
bool http_close(struct http *h);

#endif
