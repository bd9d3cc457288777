/* writer.h - writing a trace file, chunk by chunk.
 *
 * The recorder's drain thread, the recovery of a killed JVM's rings and the importers all write
 * through this.  Every write puts whole chunks at one place; a file cut anywhere loses at most the
 * chunk that was being written.
 *
 * With a capacity the file is a circle: the oldest chunks of events are overwritten, definitions
 * are copied forward before their place is reached, so that at every instant the file holds each
 * definition that was ever written to it.
 *
 * One thread at a time.  Allocates; makes system calls. */
#ifndef ORCA_FORMAT_WRITER_H
#define ORCA_FORMAT_WRITER_H

#include "base/buf.h"
#include "format/chunk.h"

#include <stdbool.h>

enum {
    WRITER_CHUNK_RAW = 256 * 1024, /* the largest raw payload that callers put into a chunk, */
    WRITER_DEF_MAX = 256 * 1024,   /* and no definition is longer than this */
    WRITER_CAPACITY_MIN = 4 << 20, /* bytes */
};

struct writer_ref {
    uint64_t offset, seq;
    uint32_t len, events;
    uint8_t type;
};

struct defs_span {
    uint64_t pos, pos_end;
};

struct writer {
    int fd; /* borrowed */
    struct file_header header;
    uint64_t at;             /* where the next chunk goes */
    uint64_t size;           /* of the file: nothing was ever written beyond */
    uint64_t seq;            /* of the next chunk */
    struct writer_ref *refs; /* live chunks, oldest first: refs[head .. n_refs) */
    size_t head, n_refs, cap_refs;
    uint64_t defs_bytes; /* of live chunks of definitions */
    uint64_t events;     /* put so far, overwritten ones included */
    void *zstd;
    struct buf scratch;
    uint64_t chunks, bytes; /* written so far, for statistics */
};

/* Begin a trace on an empty descriptor: writes the file header.  `header` is copied; id, schema and
 * start times must be set (writer_header_init).  On failure nothing needs writer_fini. */
int writer_init(struct writer *w, int fd, const struct file_header *header, struct err *err);

/* A header with a random id, this Orca's schema, this process and the current times. */
void writer_header_init(struct file_header *h);

/* Go on with a trace that was cut: `header` as read, `at` behind its last good chunk, `seq` beyond
 * every chunk's.  The refs of the chunks that are there are added with writer_add_ref, oldest
 * first; w->events is the caller's to set. */
int writer_resume(struct writer *w, int fd, const struct file_header *header, uint64_t at,
                  uint64_t seq, struct err *err);
int writer_add_ref(struct writer *w, const struct writer_ref *ref);

void writer_fini(struct writer *w);

/* Append a chunk of definitions (codec_put_def, `count` of them; at most WRITER_CHUNK_RAW bytes, or
 * one definition).  span: the bytes of the definition ring it holds, {0, 0} when there is none.
 * Errors: of pwrite(2); the file is then cut back to what it was. */
int writer_put_defs(struct writer *w, const void *raw, size_t len, uint32_t count,
                    struct defs_span span, struct err *err);

/* Append a chunk of blocks.  blocks[n] in the order of their bytes in raw; at least one. */
int writer_put_events(struct writer *w, const struct block *blocks, size_t n, const void *raw,
                      size_t len, struct err *err);

/* Which of a file's definitions another one takes over; may change it.  False: leave it out. */
typedef bool (*writer_take_fn)(void *ctx, struct def *d);

/* Put the definitions of `from`, a file that is being written and stays as it is, into `to`, in as
 * few chunks as they need.  (writer_defs.c) */
int writer_take_defs(struct writer *to, const struct writer *from, writer_take_fn take, void *ctx,
                     struct err *err);

/* Write w->header again after a change. */
int writer_put_header(struct writer *w, struct err *err);

/* Note in the header that everything up to `now` is in the file. */
void writer_note_flushed(struct writer *w, uint64_t now);

/* Write the index, set state and end time.  Nothing may be put afterwards. */
int writer_close(struct writer *w, enum trace_state state, uint64_t end_mono, struct err *err);

#endif
