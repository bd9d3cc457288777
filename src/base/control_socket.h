/* control_socket.h - where the agent in a JVM listens, and how a command gets there: both ends of
 * the connection are defined only here.
 *
 * The socket has no name.  It is made in a new folder, and both are removed before it listens; only
 * a descriptor of the JVM still leads to it,
 *
 *     /proc/PID/fd/N -> /run/user/1000/.orca-Xa81Lc/orca-control (deleted)
 *
 * So no one can take its name or put another socket in its place; it can be reached by those whom
 * the kernel lets inspect the process, whatever the process sees as its pid, its user's number,
 * /tmp or /run; it stays when the folder goes (the end of a login); and a JVM that is killed leaves
 * nothing behind.
 *
 * The folder is made in the first of these that will do: $XDG_RUNTIME_DIR, /run/user/UID, each only
 * as a folder of this user with mode 0700, and /tmp. */
#ifndef ORCA_BASE_CONTROL_SOCKET_H
#define ORCA_BASE_CONTROL_SOCKET_H

#include "base/err.h"

#include <stdbool.h>
#include <sys/types.h>

enum { CONTROL_SOCKET_PLACES = 3, CONTROL_SOCKET_PLACE_MAX = 108 /* as sun_path */ };
int control_socket_places(char places[CONTROL_SOCKET_PLACES][CONTROL_SOCKET_PLACE_MAX]);

#define CONTROL_SOCKET_FOLDER ".orca-XXXXXX" /* in one of the places above, for an instant */

struct control_socket {
    int fd;    /* it listens, without blocking; -1: there is none */
    int place; /* what leads to it (O_PATH) */
};

/* The agent's end.  On failure *s is {-1, -1}, and err names the places that were tried. */
int control_socket_open(struct control_socket *s, int backlog, struct err *err);

/* No client finds it any longer; connected clients stay so. */
void control_socket_hide(struct control_socket *s);
void control_socket_close(struct control_socket *s);

/* Whether the user at the other end of a connection may ask: our own, and root. */
bool control_socket_lets_in(int connection);

/* The command's end: a connection to the socket that process `pid` itself listens at, without
 * blocking.  proc: the folder /proc/PID, which goes on meaning that process.
 * -ENOENT: it has none; -EACCES: not for us. */
int control_socket_connect(int proc, pid_t pid);

#endif
