/* zip.h - zlib, as the exports use it: a file that is one gzip stream, and blocks by themselves.
 *
 * Not linked into the agent. */
#ifndef ORCA_EXPORT_ZIP_H
#define ORCA_EXPORT_ZIP_H

#include "base/buf.h"
#include "export/out.h"

#include <zlib.h>

enum zip_format { ZIP_GZIP, ZIP_ZLIB };

struct zip {
    z_stream z;
};

/* level: zlib's, 1 to 9.  -ENOMEM. */
int zip_open(struct zip *z, enum zip_format format, int level);
void zip_close(struct zip *z);

/* Compress into the file. */
void zip_write(struct zip *z, struct out *o, const void *p, size_t n);

/* The end of the stream. */
void zip_finish(struct zip *z, struct out *o);

/* A whole stream into `to`, which is emptied before; to->oom when memory is out. */
void zip_block(struct zip *z, const void *p, size_t n, struct buf *to);

#endif
