/* unzip.h - reading the files inside a ZIP, one after the other, as Eclipse's export is one.
 *
 * Nothing of the ZIP is believed: the directory lies inside the file and is no longer than
 * UNZIP_DIRECTORY_MAX; names have no control characters; what the entries take in the file is
 * together no more than the file, so that none overlap (and the whole inflates to a thousand times
 * the file at most, which deflate cannot pass); an entry ends where the directory says that it
 * does, with the checksum that it says.  Whatever differs is an error with the file, the entry and
 * the place, and what helps.
 *
 * Not here: ZIP64, encryption, several disks, other methods than stored and deflate. */
#ifndef ORCA_IMPORT_UNZIP_H
#define ORCA_IMPORT_UNZIP_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    UNZIP_DIRECTORY_MAX = 4 << 20, /* bytes */
    UNZIP_NAME_MAX = 1024,
};

struct unzip;

struct unzip_entry {
    const char *name;
    uint64_t size, packed; /* bytes, without and with compression */
    uint64_t at;           /* offset of its header in the file */
    uint32_t crc;
    uint16_t method, flags;
};

/* Whether a file that begins so is a ZIP. */
bool unzip_is(const char *head, size_t n);

/* Read the directory.  Borrows the descriptor; `path` is for messages, and copied.  -EINVAL: it is
 * damaged, or none; -ENOMEM; else as read(2). */
int unzip_open(struct unzip **out, int fd, const char *path, struct err *err);
void unzip_close(struct unzip *z);

/* The entries in the order of the directory; they live until unzip_close. */
size_t unzip_count(const struct unzip *z);
const struct unzip_entry *unzip_entry(const struct unzip *z, size_t i);

/* Go to the beginning of an entry. */
int unzip_begin(struct unzip *z, size_t i, struct err *err);

/* Bytes of the entry, 0 at its end, where size and checksum have been seen to be right. */
ssize_t unzip_read(struct unzip *z, void *p, size_t n, struct err *err);

#endif
