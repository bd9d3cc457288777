/* listener.h - the JVM's end of the attach protocol: the socket /tmp/.java_pidN. */
#ifndef ORCA_ATTACH_LISTENER_H
#define ORCA_ATTACH_LISTENER_H

#include "attach/jvm.h"
#include "base/buf.h"
#include "base/err.h"

#include <stdint.h>

/* A connection to the JVM, which is known to be the one meant, or a negative errno.
 * tmp: the folder /tmp of the JVM.  -ENOENT, without a message: it does not listen (no socket, or
 * one that a dead JVM left); -EAGAIN, without a message: too many wait in line. */
int listener_connect(const struct jvm *jvm, int tmp, struct err *err);

/* Connect the socket `fd` to the one of this name in a folder.  -ENOENT: no listener. */
int listener_connect_in(int fd, int folder, const char *name);

/* All of it before the deadline (CLOCK_MONOTONIC).  -ETIMEDOUT and others, without a message. */
int listener_send(int fd, const void *p, size_t n, uint64_t deadline);

/* Until the JVM closes, at most `most` bytes: what comes behind them is left out. */
int listener_receive(int fd, size_t most, uint64_t deadline, struct buf *out);

#endif
