/* recorder_parts.h - the recorder's inside, shared by recorder.c, pool.c, ring.c, drain.c,
 * snapshot.c, rotate.c and unwritten.c. */
#ifndef ORCA_RECORD_RECORDER_PARTS_H
#define ORCA_RECORD_RECORDER_PARTS_H

#include "format/writer.h"
#include "record/recorder.h"
#include "record/stage.h"

#include <sys/types.h>

enum { RING_CLASSES = 5 };

/* Who frees ring memory, who takes it.  Under `lock`. */
struct pool {
    pthread_mutex_t lock;
    uint64_t bump;                    /* ring memory below is in use or in a free list */
    uint32_t free_head[RING_CLASSES]; /* control index + 1 of rings of each size, 0: none */
    uint32_t *free_next;              /* [max_rings] */
    uint32_t n_classes;               /* sizes allowed by ring_max */
    uint32_t next_stream;
};

/* Sizes grow by eight: few moves for a busy thread, little memory for a quiet one. */
static inline uint32_t class_size(uint32_t size_class)
{
    return (uint32_t)RING_SIZE_MIN << (3 * size_class);
}

/* unwritten.c: the drain thread's own. */
struct unwritten {
    uint64_t times, ns; /* of those that are over */
    uint64_t since;     /* of the one that goes on */
    uint64_t said_at;   /* when a line was last printed about one, 0: never */
    bool said;          /* about this one */
    char why[128];
};

struct recorder {
    _Atomic bool on;
    _Atomic bool unwritten; /* the file cannot be written; drain stores it */
    bool block;
    bool turn_failed; /* no next file could be made, and this was reported; drain's */
    struct region region;
    struct pool pool;
    _Atomic uint64_t *dirty; /* one bit per ring control: it may have something to drain */
    uint32_t dirty_words;

    pthread_mutex_t defs_lock;
    struct buf defs_scratch; /* under defs_lock */

    /* The drain thread's own. */
    pthread_t thread;
    struct writer writer;
    struct stager stager;
    int fd;
    uint32_t own_stream;        /* for events of the recorder's own, 0: none yet */
    _Atomic uint64_t end_after; /* CLOCK_MONOTONIC ns, 0: no limit */
    _Atomic uint64_t ended_at;  /* likewise, when its last event was; 0: it has not been */
    struct loss_sums losses;
    struct unwritten gap;
    uint64_t lost_total[LOSS_LIMIT]; /* before and written, when the file was last updated */
    uint64_t flushed_at;
    struct recorder_files files;
    void (*tick)(uint64_t now, uint64_t events);
    uint64_t maxsize, keep, every, turn_at; /* turn_at: when the next file is due, 0: never */
    uint64_t started, started_real;
    uint64_t events_before, bytes_before; /* in the finished files */
    struct buf finished_files;            /* struct finished_file [], oldest first; with keep */
    char first_path[RING_PATH_MAX];

    /* Between the drain thread and others, under ctl_lock. */
    pthread_mutex_t ctl_lock;
    pthread_cond_t wake, done;
    bool stop, finished;
    uint32_t part; /* number of the file, from 1; with `path` read by drain without the lock */
    uint64_t flush_asked, flush_done;
    int flush_rc;          /* of the latest flush that is done */
    struct errand *errand; /* to be done at the next flush; NULL: none */
    struct recorder_status status;
    struct recorder_result result;
    char path[RING_PATH_MAX];
};

/* A file of this recording that is complete. */
struct finished_file {
    dev_t dev;
    ino_t ino;
    uint8_t id[TRACE_ID_SIZE];
    char path[RING_PATH_MAX];
};

/* pool.c: a ring of a size class for stream positions from `base` on (stream 0: a new one); its
 * control index, or UINT32_MAX when there is no room. */
int pool_init(struct recorder *rec, uint64_t ring_max);
uint32_t pool_take(struct recorder *rec, uint32_t size_class, uint32_t stream, uint64_t base);
void pool_give(struct recorder *rec, uint32_t index);
uint32_t pool_new_stream(struct recorder *rec);
void pool_fini(struct recorder *rec);

/* unwritten.c: while the file cannot be written. */
bool unwritten_passes(int rc); /* whether such an error may pass */
void unwritten_begin(struct recorder *rec, const struct err *why, uint64_t now);
int unwritten_end(struct recorder *rec, struct err *err); /* everything that waited is written */
void unwritten_tell(const struct recorder *rec, struct recorder_unwritten *out);
void unwritten_note_lost(struct recorder *rec); /* any thread */

/* drain.c: what is in the rings and in the stage goes to the file. */
int drain_all(struct recorder *rec, uint64_t now, struct err *err);

/* Asked for by recorder_snapshot and recorder_rotate, which wait for `done`. */
struct errand {
    const char *copy; /* where the snapshot goes; NULL: rotate */
    struct recorder_result *result;
    struct err *err;
    int rc;
    bool done;
};

/* snapshot.c: the file as it is now, as a file that is complete.  waiting: with what is staged,
 * which the file has no room for. */
int snapshot_write(struct recorder *rec, const char *path, bool waiting, struct err *err);

/* rotate.c: go on in the next file.  at: the moment where this one ends; everything committed
 * before it has been flushed.  When it fails nothing has changed. */
int rotate(struct recorder *rec, uint64_t at, struct recorder_result *finished, struct err *err);

/* rotate.c: a wait_open in the file that ends at that moment for each wait that goes on then. */
int rotate_note_waits(struct recorder *rec, uint64_t at, struct err *err);

/* Events lost while the file was written, as last reported. */
uint64_t losses_of_file(const struct recorder *rec);

/* drain.c: the drain thread. */
void *drain_main(void *recorder);

#endif
