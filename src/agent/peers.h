/* peers.h - what is at the other end of a descriptor, as a lock's id: "=10.0.0.7:5432",
 * "=/var/log/a".
 *
 * Asking the kernel is a system call (or three), so only a thread that has blocked already may ask,
 * and the answer is kept for the descriptor.  Calls that create or close a descriptor report it
 * here: an answer counts only for the same use of its descriptor (uses are numbered). iodetails=
 * decides what of a name goes into the trace. */
#ifndef ORCA_AGENT_PEERS_H
#define ORCA_AGENT_PEERS_H

#include "agent/settings.h"
#include "format/event.h"

/* A recording begins: the ids of an earlier one no longer count.  define: gives a new name ("="
 * before it) an id, 0: it cannot.  -ENOMEM. */
int peers_init(enum iodetails details, lock_id (*define)(const char *name));
void peers_free(void);

/* PEER_LOCAL: not a connection that was made to a peer; of files that is known unasked. */
enum { PEER_ACCEPTED = 1, PEER_ASKED = 2, PEER_LISTENS = 4, PEER_LOCAL = 8 };

/* A descriptor as it is now: peer, PEER_ flags above it, its number of uses above those. */
uint64_t peers_now(int fd);

/* The descriptor is new, or closed. */
void peers_renew(int fd, unsigned flags);

/* Name the sockets that accept already: a socket may accept unrecorded, and clients of the program
 * within the program must be recognised.  System calls for each descriptor. */
void peers_find_listening(void);

/* Whether the kernel has been asked about it. */
bool peers_is_known(uint64_t was);

/* The peer of a descriptor that was as `was` before the call; 0: it is not known.  *listens: it is
 * a socket that accepts. */
lock_id peers_of(int fd, uint64_t was, bool *listens);

/* The same, where it is a connection that this program has made; else 0. */
lock_id peers_connected(int fd, uint64_t was);

/* The calling thread has begun to connect: whom the descriptor leads to is known before the kernel
 * knows it.  Whether that is so of fd. */
void peers_connect(int fd, const void *address, size_t bytes);
bool peers_connects(int fd);

/* The peer of a name: a path, a host. */
lock_id peers_named(const char *name);

#endif
