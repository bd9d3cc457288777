/* region.h - the shared memory of one recording: everything that must survive the JVM being killed.
 *
 * One file, mapped shared, in /dev/shm when there is room, else beside the trace.  Its pages are
 * reserved (fallocate) before they are touched, because a full tmpfs would otherwise kill the JVM
 * with SIGBUS.
 *
 *     header | definition ring | staging area | notes | ring controls | ring memory
 *
 * A recording goes on in its next file by one store to the id in the header (rotate.c).
 *
 * At every instant each committed event is in exactly one of: the trace file, the staging area, a
 * ring; or in two of them, and then the stream positions [pos, pos_end) tell that it is the same
 * one.  The JVM holds a POSIX lock on the file for as long as it lives (it is not inherited by a
 * fork); a process that gets the lock knows that the JVM is gone and may recover.  The file gets
 * its name only when it is complete and locked and the trace's header names it: a JVM that is
 * killed at its start leaves no unknown file, and no process meets a half-made region.
 *
 * This file: layout, creation, opening.  The writers are ring.h (application threads), recorder.h
 * (definitions, under a mutex) and drain.c (one thread).  No JVM. */
#ifndef ORCA_RECORD_REGION_H
#define ORCA_RECORD_REGION_H

#include "base/err.h"
#include "format/chunk.h"

#include <stdatomic.h>
#include <stdbool.h>

#define REGION_MAGIC 0x32676e6952617263u /* "craRing2" */

enum {
    REGION_DEFS_SIZE = 1 << 20,
    REGION_STAGE_RAW = 256 * 1024,
    REGION_STAGE_BLOCKS = 4096,
    RING_CTL_SIZE = 256,
    RING_SIZE_MIN = 2048,
};

/* A ring as the drain thread and a recovery see it.  Positions count the bytes of a stream from its
 * start; a stream goes on in a larger ring where it left the smaller one.
 *     base <= tail <= head <= tail + size; the byte of position p is at data + (p - base) % size */
struct ring_ctl {
    _Atomic uint32_t state; /* enum ring_state */
    uint32_t stream;        /* from 1 */
    uint32_t size;          /* a power of two */
    uint32_t reserved;
    uint64_t data; /* offset in the region */
    uint64_t base; /* position where this ring took the stream over */
    char pad0_[64 - 32];
    _Atomic uint64_t head; /* owner stores with release, drain loads with acquire */
    char pad1_[64 - 8];
    _Atomic uint64_t tail; /* drain stores with release, owner loads with acquire */
    char pad2_[RING_CTL_SIZE - 136];
};
_Static_assert(sizeof(struct ring_ctl) == RING_CTL_SIZE, "ring_ctl");

enum ring_state {
    RING_FREE,
    RING_OPEN,   /* a thread may write to it */
    RING_CLOSED, /* its thread left it: free once drained */
};

/* Where the drain thread collects encoded blocks until they make a chunk. */
struct stage {
    _Atomic uint32_t n_blocks; /* blocks [0, n) are whole; stored with release after their bytes */
    struct block blocks[REGION_STAGE_BLOCKS];
    uint8_t raw[REGION_STAGE_RAW];
};

/* Definitions, encoded; each behind a u32 length, padded to 8 bytes; length UINT32_MAX: skip to the
 * start. */
struct defs_ring {
    _Atomic uint64_t head; /* under the definition mutex; release, read by drain with acquire */
    char pad0_[64 - 8];
    _Atomic uint64_t tail; /* drain */
    char pad1_[64 - 8];
    uint8_t data[REGION_DEFS_SIZE];
};

/* What was lost before one of the recording's files began: not its losses. */
struct region_part {
    uint64_t id_file;
    uint64_t lost[LOSS_LIMIT];
};

struct region_header {
    uint64_t magic;
    uint64_t size; /* of the whole region */
    /* The two halves of the id of the trace that takes what is here.  A recording that goes on in
     * its next file does so by one store to the first; the second half stays. */
    _Atomic uint64_t id_file;
    uint64_t id_recording;
    struct region_part parts[2]; /* of the file now and the one before or to come */
    uint64_t ctl_offset, data_offset;
    uint32_t max_rings;
    _Atomic uint32_t used_rings; /* controls ever used: [0, used) */
    _Atomic uint64_t loss[LOSS_LIMIT];
    struct defs_ring defs;
    struct stage stage;
};

/* Further data for a process that finds the file; rings of earlier versions lack it. In a page of
 * its own behind the header. */
struct region_notes {
    /* Which trace this is of: the recording's file now, and the one before or to come. */
    struct region_trace {
        uint64_t id_file;
        uint64_t folder;          /* device of the folder that it is in */
        char path[RING_PATH_MAX]; /* absolute */
    } trace[2];
    /* While the trace cannot be written (unwritten.c): since when, 0: it can be. */
    _Atomic uint64_t unwritten_since;
    _Atomic uint64_t first_lost; /* when the first event was lost for that, 0: none was */
    uint64_t lost_before;        /* events lost for the same reason earlier */
    uint64_t times, ns;          /* how often that was over, in this file, how long in all */
    _Atomic uint64_t alive;      /* when the drain thread last looked at the rings */
};

struct region {
    struct region_header *h; /* the mapping */
    int fd;
    uint64_t size;
    uint64_t reserved_ctl, reserved_data; /* bytes with pages behind them, from their offsets */
    bool named;                           /* the file is at `path`, not only to be there */
    int dir;                              /* of a dead JVM's: the folder that it is in; else -1 */
    struct region_extent {
        uint64_t from, upto;
    } * extents; /* of a dead JVM's: what is in no hole, in order */
    size_t n_extents;
    char path[RING_PATH_MAX];
};

static inline struct ring_ctl *region_ctl(const struct region_header *h, uint32_t i)
{
    return (struct ring_ctl *)((char *)h + h->ctl_offset) + i;
}

/* Of a dead JVM's region, the first control from `i` on that is in no hole, or `n`: there may be
 * 2^32 of them in a file that has one page. */
uint32_t region_next_ctl(const struct region *r, uint32_t i, uint32_t n);

/* Of the same, how many bytes behind the controls are in no hole. */
uint64_t region_ring_bytes(const struct region *r);

/* Data of a stretch, now over, in which the file could not be written. */
struct event unwritten_event(struct region_header *h, uint64_t now);

/* NULL: there are none. */
struct region_notes *region_notes(struct region_header *h);

/* The recorder lives; and when it last said so, 0: it did not, or that is damaged. */
void region_note_alive(struct region_header *h, uint64_t now);
uint64_t region_alive(struct region_header *h);

/* Note where the trace of this id is, before it is the recording's file. */
void region_note_trace(struct region_header *h, const uint8_t id[TRACE_ID_SIZE], const char *path);

/* Make a region for `mem` bytes of rings: in `dir`, or when dir is NULL in /dev/shm and, when that
 * has no room, beside `trace_path`.  Locked and private; its name is in r->path and does not exist
 * before region_publish (a file system without nameless files: it does).  Errors name the places
 * that were tried. */
int region_create(struct region *r, const char *dir, const char *trace_path, uint64_t mem,
                  const uint8_t trace_id[TRACE_ID_SIZE], struct err *err);
int region_publish(struct region *r, struct err *err);

/* Which region a trace names. */
struct region_of {
    const char *trace; /* the trace's path: a relative region is beside it */
    const char *path;  /* as its header has it */
    const uint8_t *id; /* [TRACE_ID_SIZE] */
    uint32_t owner;    /* uid of the trace's owner */
};

/* Take the lock of a dead JVM's region, and a copy of what is in it: no other process can change it
 * from then on, and all of it is input from outside.  The file must be a regular one of the trace's
 * owner, or our own, that no other user may read or write, with a name as regions have; links are
 * not followed. -EBUSY: the JVM lives (or another recovery runs); -ENOENT: no such file; -ESTALE:
 * of another file of the same recording; -EINVAL: not the region of this trace; -EPERM: not its
 * owner's. */
int region_open_dead(struct region *r, const struct region_of *of, struct err *err);

/* What a rings' file says of itself, when no JVM records into it. */
struct region_left {
    uint64_t id_file, id_recording; /* of its trace */
    struct region_trace trace;      /* path "": it does not say */
};

/* Take the lock of such a file in the folder `dir` (borrowed; `folder` is its name), without what
 * is in it: it must be a regular file of our own that no other user may read or write.  Errors as
 * of region_open_dead; -EINVAL: not rings.  region_unlink and region_close as there. The lock goes
 * when any other descriptor of the file is closed in this process. */
int region_open_left(struct region *r, int dir, const char *folder, const char *name,
                     struct region_left *left);

/* The two halves of a trace's id. */
void region_id_halves(const uint8_t id[TRACE_ID_SIZE], uint64_t *file, uint64_t *recording);

/* Note what was lost before the file of this id begins (region_header.parts), and ask for it. */
void region_note_lost(struct region_header *h, const uint8_t id[TRACE_ID_SIZE],
                      const uint64_t lost[LOSS_LIMIT]);
void region_lost_before(const struct region_header *h, const uint8_t id[TRACE_ID_SIZE],
                        uint64_t lost[LOSS_LIMIT]);

/* Put pages behind the first `len` bytes of controls or of ring memory.  -ENOSPC when there are
 * none. */
int region_reserve_ctl(struct region *r, uint64_t len);
int region_reserve_data(struct region *r, uint64_t len);

/* Remove the file; of a dead JVM only the very one that was opened.  The mapping stays until the
 * process ends, for threads that still write to it. */
void region_unlink(struct region *r);

/* Unmap and close; only where no other thread uses it (tests, recovery). */
void region_close(struct region *r);

#endif
