/* inflated.h - a gzip file as though it were not compressed, at any offset.
 *
 * Whoever inflates beyond what has been inflated before notes a place now and then, at the end of a
 * block of the deflate stream (zlib's examples/zran.c shows the way): the offset in the file with
 * its bit, the offset in the output, and the 32 kB before it; every megabyte at first, in a large
 * file as often as 32 MB of memory allow.  The JVM's own files are many members of 1 MB, whose
 * beginnings need nothing but their offset.
 *
 *     places are sorted by both offsets; the first is the beginning of the file
 *
 * Threads: the places are shared under a mutex; a cursor belongs to one thread. */
#ifndef ORCA_HEAP_INFLATED_H
#define ORCA_HEAP_INFLATED_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct inflated;
struct inflated_cursor;

/* Borrows the descriptor.  NULL when memory is out. */
struct inflated *inflated_new(int fd, uint64_t disk_size);
void inflated_free(struct inflated *z);

/* Bytes without compression, or UINT64_MAX while the end has not been met. */
uint64_t inflated_size(const struct inflated *z);

/* "" or what is wrong, with the offset in the compressed file. */
const char *inflated_damage(const struct inflated *z);

struct inflated_cursor *inflated_cursor_new(struct inflated *z);
void inflated_cursor_free(struct inflated_cursor *c);

/* Bytes got, fewer than n at the end or at damage; or a negative errno, -ETIME when the cursor has
 * unpacked 64 times the dump on its ways here and there: such a file is made to stall its
 * readers. */
ssize_t inflated_read(struct inflated_cursor *c, uint64_t offset, void *p, size_t n);

#endif
