/* root.h - the file system as another process sees it: /proc/PID/root.
 *
 * In a container a link in a path would lead out of the root of that process into ours; these
 * functions resolve every link inside of it (openat2, Linux 5.6). */
#ifndef ORCA_ATTACH_ROOT_H
#define ORCA_ATTACH_ROOT_H

#include "base/buf.h"
#include "base/err.h"

#include <sys/types.h>

/* The root directory of a process, as an O_PATH descriptor. */
int root_open(pid_t pid, struct err *err);

/* Why that can be forbidden, and what to do: the end of a sentence about the process. */
const char *root_remedy(void);

/* A path in that root; flags as for open(2), O_CLOEXEC added.  No message. */
int root_open_in(int root, const char *path, int flags);

/* A new folder of mode 0700 that belongs to this user, in the folder `parent`: as a descriptor.
 * name: a pattern that ends with XXXXXX, and then the name.  No message. */
int root_make_folder(int parent, char *name, uid_t uid, gid_t gid);

/* At most `most` bytes of a regular file in that root.  No message. */
int root_read_file(int root, const char *path, size_t most, struct buf *out);

#endif
