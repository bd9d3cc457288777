/* left_sockets.h - control sockets without a listener, and their folders.
 *
 * Agents of earlier versions left a socket when their JVM was killed, /tmp/.orca-UID/PID.sock;
 * today's leave at most a folder, if the JVM was killed while making it.  Only folders of this user
 * that are closed to others are searched, and new ones are left alone. */
#ifndef ORCA_ATTACH_LEFT_SOCKETS_H
#define ORCA_ATTACH_LEFT_SOCKETS_H

#include <stdbool.h>

/* Each of them: a socket, or a folder that is empty (but for such sockets).  remove: and remove it
 * before. */
void left_sockets(bool remove, void (*each)(void *ctx, const char *path), void *ctx);

#endif
