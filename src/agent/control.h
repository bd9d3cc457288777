/* control.h - the control socket of a JVM: how orca attach, status, dump and detach talk to the
 * agent in it.
 *
 * base/control_socket.h says where it is; the same user and root are listened to.  One plain thread
 * serves up to CONTROL_CLIENTS at a time, each of which has CONTROL_SECONDS for its one line and
 * for taking the answer; who is slower is cut off.
 *
 *     client: VERB [ARGUMENT] LF            agent: "ok" LF text  |  "error CODE TEXT" LF
 *
 * A verb that needs the JVM attaches the thread as a daemon, "orca control", for as long as it
 * takes. docs/reference/control-protocol.md has the verbs. */
#ifndef ORCA_AGENT_CONTROL_H
#define ORCA_AGENT_CONTROL_H

#include "base/err.h"

#include <jni.h>

enum { CONTROL_CLIENTS = 8, CONTROL_SECONDS = 5 };

/* Listen; nothing happens when it does already.  On failure the JVM goes on without. */
int control_start(JavaVM *vm, struct err *err);

/* Begin a recording in this running JVM, on a Java thread: options as those of -agentpath. */
int control_attach(JavaVM *vm, const char *options, struct err *err);

/* The JVM ends: no client finds the socket any longer.  Does not wait. */
void control_end(void);

#endif
