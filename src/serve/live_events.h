/* live_events.h - the clients of /api/live: server-sent events over libmicrohttpd.
 *
 * A client is a connection that is suspended while there is nothing to tell.  live_events_wake
 * resumes them all; each then finds out for itself what is new to it (news.h).
 *
 * Locks: the clients' own may be held when the traces' is taken, never the other way round. */
#ifndef ORCA_SERVE_LIVE_EVENTS_H
#define ORCA_SERVE_LIVE_EVENTS_H

#include "base/err.h"
#include "serve/traces.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct MHD_Connection;
struct MHD_Response;
struct live_client;

enum { LIVE_CLIENTS_MAX = 16, LIVE_HEARTBEAT_S = 15 };

struct live_events {
    struct traces *traces;
    pthread_mutex_t lock; /* of the clients */
    struct live_client *v[LIVE_CLIENTS_MAX];
    size_t n;
    bool ending;
    _Atomic uint64_t start; /* stamp of the list of JVMs */
    _Atomic uint64_t heap;  /* and of the heap dump; 0: there is none */
};

int live_events_init(struct live_events *l, struct traces *t, struct err *err);

/* No client may be left: after the daemon's end. */
void live_events_fini(struct live_events *l);

/* A response that streams events to this connection; NULL: there are too many clients (busy), or
 * memory is out. */
struct MHD_Response *live_events_join(struct live_events *l, struct MHD_Connection *c, bool *busy);

/* Something has changed. */
void live_events_wake(struct live_events *l);

/* Once a second: heartbeats, and clients that have gone. */
void live_events_tick(struct live_events *l);

/* Let every client go, before the daemon ends. */
void live_events_end(struct live_events *l);

size_t live_events_count(struct live_events *l);

#endif
