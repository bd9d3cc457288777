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

/* Where the next bytes are at or after `at` that are not in a hole, and where they end; `size` when
 * there are none before it.  Where the file system knows no holes, all of the file is there.
 * Moves the descriptor's offset. */
uint64_t fdio_next_data(int fd, uint64_t at, uint64_t size, uint64_t *end);

/* How many bytes of the file's first `size` are in no hole: what its author had to write.  (Blocks
 * would be of the disk: a file system that compresses has fewer.) */
uint64_t fdio_data_bytes(int fd, uint64_t size);

/* -EINVAL, with a sentence that names the path: the file is longer than FDIO_HOLES bytes, and more
 * than `times` as long as its data outside holes. Holes cost a reader, but not the writer; so no
 * file costs more than this multiple of its bytes. */
enum { FDIO_HOLES = 16 << 20 };
int fdio_check_holes(int fd, unsigned times, const char *path, struct err *err);

#endif
