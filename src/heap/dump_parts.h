/* dump_parts.h - what dump*.c and object_size.c share, private to them.
 *
 *   dump.c          open, close, pieces, passes
 *   dump_scan.c     the first pass: what a worker finds in its pieces
 *   dump_build.c    what all found, put together: names, classes, threads
 *   dump_classes.c  classes by what they are called, which is above which, and their fields */
#ifndef ORCA_HEAP_DUMP_PARTS_H
#define ORCA_HEAP_DUMP_PARTS_H

#include "base/buf.h"
#include "base/map.h"
#include "heap/dump.h"

struct scan_string {
    uint64_t id;
    uint64_t at; /* in scan.texts */
    uint32_t worker;
};

struct scan_load {
    uint64_t class_id, name;
    uint32_t serial;
};

struct scan_frame {
    uint64_t id, method, signature, source;
    uint32_t class_serial;
    int32_t line;
};

struct scan_trace {
    uint32_t serial, thread, n_frames;
    uint64_t at; /* of its frames' ids in scan.trace_frames, bytes */
    uint32_t worker;
};

struct scan_class { /* a class dump, as its bytes in scan.class_bodies */
    uint64_t id, at, len, stated, offset;
    uint32_t worker;
};

struct scan_name { /* of a thread */
    uint64_t name;
    uint32_t serial;
};

struct scan_count {
    uint64_t class_id, count, bytes;
    uint32_t n; /* 0: instances; else an array class */
};

/* What one worker found.  The buffers are vectors of the structs above. */
struct scan {
    struct dump *d;
    uint32_t worker;
    struct buf strings, texts, loads, frames, traces, trace_frames, classes, class_bodies;
    struct buf roots;        /* struct dump_root */
    struct buf thread_names; /* struct scan_name */
    struct buf threads;      /* struct dump_thread; trace: serial number */
    struct buf counts;       /* struct scan_count */
    struct buf cuts;         /* struct dump_piece: where a long piece can be divided */
    struct map by_class;     /* class id -> number in counts */
    struct {
        uint64_t class_id;
        uint32_t number;
        bool used;
    } recent[256]; /* of by_class */
    struct scan_count primitive[HPROF_TYPES];
    struct ids ids;
    bool unaligned; /* an id is not a multiple of what was assumed */
    bool end_seen;
    uint64_t cut; /* of the current piece, the last one */
    int rc;
};

#define VEC(buf_, type) ((type *)(void *)(buf_).p)
#define VEC_LEN(buf_, type) ((buf_).len / sizeof(type))

void scan_init(struct scan *s, struct dump *d, uint32_t worker, unsigned shift);
void scan_fini(struct scan *s);

/* An item of the first pass. */
int scan_item(struct scan *s, struct hprof *h, const struct hprof_item *it);

/* The number of a text among d->names, which it comes to when it is new; UINT32_MAX: memory is
 * out. */
uint32_t dump_name(struct dump *d, const char *text, size_t n);

/* The super classes of all classes, from their ids (0: none); what is described twice, circles and
 * what is too deep is cut.  -ENOMEM. */
int dump_link_supers(struct dump *d, const uint64_t *supers);

/* Make d's tables from what the workers found.  Errors: memory. */
int dump_build(struct dump *d, struct scan *scans, unsigned n, struct err *err);

/* Keep what is wrong; thread-safe only under the caller's lock.  is_end: nothing follows, as the
 * file was truncated short; else something is damaged there. */
void dump_add_problem(struct dump *d, uint64_t offset, const char *text, bool is_end);

/* Read a piece; a damaged heap-dump segment is left out from the damage on, and what follows it is
 * read.  note: called for each problem, may be NULL. */
int dump_read_piece(const struct dump *d, struct hprof *h, const struct dump_piece *piece,
                    int (*fn)(void *ctx, struct hprof *h, const struct hprof_item *it), void *ctx,
                    void (*note)(void *ctx, const struct hprof *h));

#endif
