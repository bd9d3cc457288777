/* compress.h - gzip, for long answers to clients that take it. */
#ifndef ORCA_SERVE_COMPRESS_H
#define ORCA_SERVE_COMPRESS_H

#include "base/buf.h"

#include <stdbool.h>

/* Whether a value of Accept-Encoding has gzip in it, and not with q=0. */
bool compress_accepted(const char *value);

/* Append n bytes, compressed.  -ENOMEM. */
int compress_gzip(const void *p, size_t n, struct buf *out);

#endif
