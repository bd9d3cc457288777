/* library.h - the agent library where a JVM sees it.
 *
 * A JVM in a container has a root of its own.  When the library is not there under its own path, a
 * copy goes to /tmp/.orca-XXXXXX/liborca-HASH.so in that root, in a new folder of the JVM's user,
 * whose name no other user can take, and which no other user may enter; an equal copy in such a
 * folder is used again. */
#ifndef ORCA_ATTACH_LIBRARY_H
#define ORCA_ATTACH_LIBRARY_H

#include "attach/jvm.h"
#include "base/err.h"

#include <stddef.h>

/* The path by which the JVM can load the library `path`, of at most `room` bytes with its NUL. */
int library_place(const struct jvm *jvm, const char *path, char *seen, size_t room,
                  struct err *err);

#endif
