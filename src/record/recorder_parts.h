/* recorder_parts.h - the recorder's inside, shared by recorder.c, pool.c, ring.c, defs.c and
 * drain.c. */
#ifndef ORCA_RECORD_RECORDER_PARTS_H
#define ORCA_RECORD_RECORDER_PARTS_H

#include "format/writer.h"
#include "record/recorder.h"
#include "record/stage.h"

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

struct recorder {
    _Atomic bool on;
    bool block;
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
    uint64_t end_after; /* CLOCK_MONOTONIC ns, 0: no limit */
    uint64_t loss_written[LOSS_LIMIT];
    uint64_t flushed_at;
    struct err failure;

    /* Between the drain thread and others, under ctl_lock. */
    pthread_mutex_t ctl_lock;
    pthread_cond_t wake, done;
    bool stop, finished;
    uint64_t flush_asked, flush_done;
    struct recorder_result result;
    char path[RING_PATH_MAX];
};

/* pool.c: a ring of a size class for stream positions from `base` on (stream 0: a new one); its
 * control index, or UINT32_MAX when there is no room. */
int pool_init(struct recorder *rec, uint64_t ring_max);
uint32_t pool_take(struct recorder *rec, uint32_t size_class, uint32_t stream, uint64_t base);
void pool_give(struct recorder *rec, uint32_t index);
void pool_fini(struct recorder *rec);

/* drain.c: the drain thread. */
void *drain_main(void *recorder);

#endif
