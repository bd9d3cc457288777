/* lobby.h - who waits outside: connections to 127.0.0.1 before libmicrohttpd has them, and how many
 * of each kind it has.
 *
 *     arriving    the first request is incomplete: nothing is kept of it but its descriptor
 *     strangers   a first request without the key is answered, after which the connection ends
 *     sessions    the first request had the key: who asks is known, and may stay
 *
 * Each has its own room, so that however many strangers come, and however slowly they speak, those
 * with the key have theirs; and a stage of a stranger has an end.  Where a stage is full one of its
 * own goes (crowd.h), never one of the next.  One thread of ours listens and looks at what has come
 * without taking it (MSG_PEEK): it is never behind by more than what it turns out. */
#ifndef ORCA_SERVE_LOBBY_H
#define ORCA_SERVE_LOBBY_H

#include "serve/crowd.h"
#include "serve/gate.h"
#include "serve/peers.h"

#include <pthread.h>

enum {
    LOBBY_ARRIVING = 128,
    LOBBY_STRANGERS = 32,
    LOBBY_SESSIONS = 192,
    LOBBY_CROWDED = 40, /* sessions from which on none is kept for the next request */
    LOBBY_ARRIVING_S = 10,
    LOBBY_STRANGERS_S = 60, /* a page of 200 kB at 4 kB/s */
};

struct lobby {
    const struct gate *gate;
    struct peers peers;
    int listening, epoll, ending; /* ending: an eventfd */
    struct crowd arriving;        /* of our thread alone */
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows */
    struct crowd strangers, sessions;
    bool (*take)(void *ctx, int fd); /* false: the descriptor is closed */
    void *ctx;
};

/* What becomes of connections: `listening` is the lobby's, also on failure; take is given each
 * whose first request is whole. */
int lobby_open(struct lobby *l, int listening, const struct gate *gate,
               bool (*take)(void *ctx, int fd), void *ctx, struct err *err);

/* No further connection is taken; those that were taken stay. */
void lobby_close(struct lobby *l);

/* After the last lobby_left. */
void lobby_fini(struct lobby *l);

/* Of one that was taken: it is under way, it is about to be closed. */
void lobby_taken(struct lobby *l, int fd);
void lobby_left(struct lobby *l, int fd);

/* Whether it may stay for a next request. */
bool lobby_may_stay(struct lobby *l, int fd);

/* Whether a link may be opened from there (peers.h). */
bool lobby_is_friend(struct lobby *l, int fd);

#endif
