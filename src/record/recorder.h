/* recorder.h - one recording: its file, its shared memory, its drain thread.
 *
 * Life: recorder_open -> (attach, write, define from any thread) -> recorder_close.  The structure
 * and the mapping are never freed by recorder_close: a thread that was just writing must find them;
 * `on` tells it that nothing is kept any more.
 *
 * The drain thread is a plain thread with all signals blocked that makes no JVM call, so that
 * neither a safepoint nor the JVM's death can stop it while application threads wait for room
 * (full=block). */
#ifndef ORCA_RECORD_RECORDER_H
#define ORCA_RECORD_RECORDER_H

#include "record/ring.h"

#include <pthread.h>

struct recorder_opts {
    const char *path;    /* absolute; must not exist */
    const char *ringdir; /* NULL: /dev/shm, else beside the trace */
    uint64_t ring_max;   /* bytes of a thread's ring at most; 0: default */
    uint64_t ring_mem;   /* bytes of all rings at most; 0: default */
    uint64_t maxsize;    /* bytes of the file at most, the newest part is kept; 0: no limit */
    uint64_t duration;   /* ns after which the recording ends by itself; 0: never */
    bool block;          /* wait for room instead of losing events */
};

enum {
    RING_MAX_DEFAULT = 8 << 20,
    RING_MEM_DEFAULT = 64 << 20,
};

struct recorder_result {
    uint64_t events, lost, bytes, duration_ns;
    int state; /* enum trace_state */
};

/* Create file and rings, start the drain thread.  On failure *out is NULL, nothing is left behind
 * and err says what to do. */
int recorder_open(struct recorder **out, const struct recorder_opts *o, struct err *err);

/* Whether events are kept.  One relaxed load; any thread. */
bool recorder_on(const struct recorder *rec);

/* Write a definition.  False when it is lost: its id must then not be used in events.
 * Any thread; takes a mutex; with full=block waits for room. */
bool recorder_define(struct recorder *rec, const struct def *d);

/* Count a loss that no ring could note.  Any thread. */
void recorder_count_loss(struct recorder *rec, enum loss_cause cause, uint64_t n);

/* Everything committed before the call is in the file when it returns.  Any thread but drain. */
int recorder_flush(struct recorder *rec);

/* End: no event is taken any more, everything committed is written, the file is closed.  Waits for
 * the drain thread.  Any thread; later calls change nothing and give the same result. */
void recorder_close(struct recorder *rec, struct recorder_result *result);

/* Tests only: free a closed recorder. */
void recorder_free(struct recorder *rec);

#endif
