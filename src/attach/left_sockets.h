/* left_sockets.h - control sockets that nobody listens at any more, and their folders.
 *
 * Agents of earlier versions left a socket when their JVM was killed, /tmp/.orca-UID/PID.sock;
 * today's leave at most a folder, of a JVM that was killed while it made it.  Only folders of this
 * user that are closed to others are looked into, and what is new is left alone. */
#ifndef ORCA_ATTACH_LEFT_SOCKETS_H
#define ORCA_ATTACH_LEFT_SOCKETS_H

#include <stdbool.h>

/* Each of them: a socket, or a folder that is empty (but for such sockets).  remove: and remove it
 * before. */
void left_sockets(bool remove, void (*each)(void *ctx, const char *path), void *ctx);

#endif
