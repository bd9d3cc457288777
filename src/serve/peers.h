/* peers.h - which user of this machine is at the other end of a connection to 127.0.0.1, as the
 * kernel knows it (sock_diag(7)).
 *
 * Two uses.  Room is shared out by user, so that nobody takes that of another (crowd.h).  And a
 * link opens nothing to a user who is neither this process's, nor root, nor who has logged in and
 * become this process's user by su or sudo: only where it is known who that was, which is not so in
 * most containers. */
#ifndef ORCA_SERVE_PEERS_H
#define ORCA_SERVE_PEERS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

/* No users. */
#define PEERS_UNKNOWN UINT32_MAX    /* the kernel says nothing */
#define PEERS_GONE (UINT32_MAX - 1) /* the peer is gone */

struct peers {
    int fd; /* -1: the kernel says nothing */
    struct sockaddr_in here;
    uint32_t friends[3];
    unsigned n_friends; /* 0: everybody is one */
};

/* here: what is listened on, already.  Cannot fail: nothing may be known. */
void peers_open(struct peers *p, const struct sockaddr_in *here);
void peers_close(struct peers *p);

uint32_t peers_uid(const struct peers *p, const struct sockaddr_in *there);

/* Whether a link may be opened from there. */
bool peers_is_friend(const struct peers *p, uint32_t uid);

#endif
