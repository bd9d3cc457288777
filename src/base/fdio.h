/* fdio.h - whole reads and writes on file descriptors, and private files.
 * EINTR is retried; a short read is an error only where the name says "exact". */
#ifndef ORCA_BASE_FDIO_H
#define ORCA_BASE_FDIO_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* All of it, or a negative errno. */
int fdio_write_all(int fd, const void *p, size_t n);
int fdio_pwrite_all(int fd, const void *p, size_t n, uint64_t offset);

/* Bytes read, less than n only at the end of the file; or a negative errno. */
ssize_t fdio_pread_some(int fd, void *p, size_t n, uint64_t offset);
ssize_t fdio_read_some(int fd, void *p, size_t n);

/* Open for reading and writing, mode 0600, O_CLOEXEC; `flags` adds O_EXCL, O_TRUNC, ...
 * Returns the descriptor or a negative errno with the path in err. */
int fdio_open_private(const char *path, int flags, struct err *err);

/* The file's size in bytes, or a negative errno. */
int64_t fdio_size(int fd);

#endif
