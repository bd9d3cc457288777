/* chunk.h - the two fixed structures of a trace file: the file header and the chunk header.
 *
 *     file  = header (one page) chunk chunk chunk ...
 *     chunk = chunk header (64 bytes), directory, payload, padding to a multiple of 8
 *
 * All integers are little-endian.  A chunk header carries a checksum of itself, seeded with the
 * trace's id and the chunk's offset, one of the directory and one of the payload: bytes that only
 * look like a chunk, or a chunk of another file, are not taken for one.
 *     64 + dir_len + stored_len <= total_len <= CHUNK_TOTAL_MAX
 * Pure functions; thread- and signal-safe. */
#ifndef ORCA_FORMAT_CHUNK_H
#define ORCA_FORMAT_CHUNK_H

#include "base/err.h"
#include "format/codec.h"

#include <stdint.h>

enum {
    FORMAT_VERSION = 1,
    FILE_HEADER_SIZE = 4096,
    FLUSHED_SIZE = 24, /* time, seq, checksum */
    FLUSHED_OFFSET = FILE_HEADER_SIZE - 8 - FLUSHED_SIZE,
    CHUNK_HEADER_SIZE = 64,
    CHUNK_RAW_MAX = 1 << 20,   /* readers refuse more */
    CHUNK_TOTAL_MAX = 4 << 20, /* only a filler is longer */
    CHUNK_RATIO_MAX = 256, /* raw_len / total_len: what reading a file costs stays in proportion to
                            * its length; recordings reach 13 */
    RING_PATH_MAX = 1024,
    TRACE_ID_SIZE = 16,
};

#define FILE_MAGIC "ORCATRC\n"
#define CHUNK_MAGIC 0x4b48434fu /* "OCHK" */

enum trace_state {
    TRACE_RECORDING = 0, /* or killed while it was */
    TRACE_CLOSED = 1,    /* ended in good order */
    TRACE_RECOVERED = 2, /* completed from the rings of a killed JVM */
    TRACE_STOPPED = 3,   /* the file could not be written further */
    TRACE_TURNING = 4, /* complete, unless the rings that it names are this trace's: for an instant
                        * while a recording goes on in its next file (record/rotate.c) */
};

struct file_header {
    uint8_t id[TRACE_ID_SIZE]; /* random; of a recording's files the second half is the same */
    uint32_t state;            /* enum trace_state */
    uint32_t pid;              /* of the recorded JVM */
    uint64_t pid_start;        /* field 22 of /proc/pid/stat, clock ticks after boot */
    uint64_t start_mono;       /* ns of CLOCK_MONOTONIC when the recording began */
    uint64_t start_real;       /* ns of CLOCK_REALTIME at the same moment */
    uint64_t end_mono;         /* 0 while recording */
    uint64_t capacity;     /* the file's limit when it keeps the newest part (maxsize), else 0 */
    uint64_t index_offset; /* of the index chunk, 0: none */
    uint64_t
        evicted_events; /* overwritten to keep the newest part; in the file valid once closed */
    uint64_t unwritten_events; /* lost when the file could not be written further, */
    uint64_t unwritten_since;  /* which was then; 0: not said */
    /* While recording: everything up to then is in the file, in the chunks before this one; 0: not
     * said.  Rewritten every two seconds, so it has a place and a checksum of its own. */
    uint64_t flushed_mono, flushed_seq;
    struct codec_schema schema;
    char ring_path[RING_PATH_MAX]; /* shared memory of the recording, "" when there is none */
};

enum chunk_type {
    CHUNK_DEFS = 1,   /* definitions */
    CHUNK_EVENTS = 2, /* directory of blocks; payload: the blocks */
    CHUNK_INDEX = 3,  /* where the other chunks are; last */
    CHUNK_FILL = 4,   /* no content */
};
enum { CHUNK_ZSTD = 1 };

struct chunk_header {
    uint8_t type, flags;
    uint32_t dir_len, stored_len, raw_len, total_len;
    uint32_t events;                 /* CHUNK_EVENTS: how many; CHUNK_DEFS: how many definitions */
    uint64_t seq;                    /* counts up by one per chunk written */
    uint64_t first, last;            /* CHUNK_EVENTS: times of the earliest and latest event */
    uint32_t dir_hash, payload_hash; /* of the bytes as stored */
};

void file_header_pack(const struct file_header *h, uint8_t out[FILE_HEADER_SIZE]);
int file_header_unpack(struct file_header *h, const uint8_t *in, size_t len, struct err *err);

/* The part of the header at FLUSHED_OFFSET. */
void file_header_pack_flushed(const struct file_header *h, uint8_t out[FLUSHED_SIZE]);

void chunk_header_pack(const struct chunk_header *h, const uint8_t id[TRACE_ID_SIZE],
                       uint64_t offset, uint8_t out[CHUNK_HEADER_SIZE]);

/* 0, or -EINVAL when the bytes are not a chunk header of this trace at this offset. */
int chunk_header_unpack(struct chunk_header *h, const uint8_t id[TRACE_ID_SIZE], uint64_t offset,
                        const uint8_t in[CHUNK_HEADER_SIZE]);

/* The checksum of a directory or of a payload: XXH64, folded to 32 bits. */
uint32_t chunk_body_hash(const void *p, size_t n);

/* One block of a CHUNK_EVENTS directory: events of one stream (OS thread), in time order. */
struct block {
    uint32_t stream;       /* number of the OS thread's stream, from 1 */
    uint32_t thread;       /* the codec starts with this thread */
    uint64_t pos, pos_end; /* the ring bytes that it holds, counted from the stream's start */
    uint64_t first, last;  /* times; the codec starts with `first` */
    uint32_t events;
    uint32_t len; /* bytes in the raw payload; blocks follow each other without gaps */
};

void block_put(struct buf *dir, const struct block *b, uint64_t chunk_first);
const uint8_t *block_get(const uint8_t *p, const uint8_t *end, struct block *b,
                         uint64_t chunk_first);

/* CHUNK_DEFS directory: the bytes of the definition ring that it holds. */
void defs_dir_put(struct buf *dir, uint64_t pos, uint64_t pos_end);

#endif
