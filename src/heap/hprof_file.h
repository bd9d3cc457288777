/* hprof_file.h - the bytes of a heap dump at any offset, compressed or not.
 *
 * Offsets are those of the dump as it is without compression.  A gzip file of any number of members
 * (the JVM's -gz=1 writes many, gzip one) is inflated as it is read; every few megabytes a place is
 * noted from which it can be inflated again, so that a read elsewhere costs a few milliseconds
 * instead of the whole file.  Such a place needs 32 kB, at the beginning of a member none.
 *
 * The file is shared; each thread reads through a cursor of its own. */
#ifndef ORCA_HEAP_HPROF_FILE_H
#define ORCA_HEAP_HPROF_FILE_H

#include "base/err.h"
#include "heap/xml_dump.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct hprof_file;
struct hprof_cursor;

/* Open for reading; errors name the file.  A gzip file is known by its first bytes. */
int hprof_file_open(struct hprof_file **out, const char *path, struct err *err);
void hprof_file_close(struct hprof_file *f);

const char *hprof_file_path(const struct hprof_file *f);
bool hprof_file_compressed(const struct hprof_file *f);

/* Whether it is a heap dump in XML, which has to be converted before anything is read of it;
 * whether it was one: then sizes are stated in it (xml_dump.h). */
bool hprof_file_is_xml(const struct hprof_file *f);
bool hprof_file_stated(const struct hprof_file *f);
int hprof_file_convert(struct hprof_file *f, struct xml_dump *out, xml_progress_fn progress,
                       void *ctx, struct err *err);

/* Bytes on disk, of what was opened. */
uint64_t hprof_file_disk_size(const struct hprof_file *f);

/* Bytes of the dump; of a compressed one UINT64_MAX until its end has been met. */
uint64_t hprof_file_size(const struct hprof_file *f);

/* What is wrong with the compressed data, "" for nothing; known when the damage has been met. */
const char *hprof_file_damage(const struct hprof_file *f);

/* NULL when memory is out. */
struct hprof_cursor *hprof_cursor_new(struct hprof_file *f);
void hprof_cursor_free(struct hprof_cursor *c);

/* Read n bytes at `offset`.  Returns how many there are, fewer only at the end of the dump or where
 * its compressed data is damaged; or a negative errno of the system. */
ssize_t hprof_cursor_read(struct hprof_cursor *c, uint64_t offset, void *p, size_t n);

#endif
