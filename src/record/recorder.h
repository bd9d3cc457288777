/* recorder.h - one recording: its file, its shared memory, its drain thread.
 *
 * Life: recorder_open -> (attach, write, define from any thread) -> recorder_close ->
 * recorder_free.  The structure and the mapping are not freed by recorder_close: a thread that was
 * just writing must find them; `on` shows it that nothing is kept from then on.
 *
 * The drain thread is a plain thread with all signals blocked that makes no JVM call, so that
 * neither a safepoint nor the JVM's death can stop it while application threads wait for room
 * (full=block). */
#ifndef ORCA_RECORD_RECORDER_H
#define ORCA_RECORD_RECORDER_H

#include "record/ring.h"

#include <pthread.h>

/* What a recording of several files asks of its opener: on the drain thread, so without a call to
 * the JVM, and not for long.  Each may be NULL. */
struct recorder_files {
    void *ctx;
    /* Where file `part` (from 2) goes: a name that is free.  path: the first one's, to be changed;
     * n bytes of room.  NULL: place_next. */
    int (*next_path)(void *ctx, uint32_t part, char *path, size_t n, struct err *err);
    /* A file is about to be the recording's; one was removed because of keep. */
    void (*begins)(void *ctx, const char *path);
    void (*removed)(void *ctx, const char *path);
    /* Append a struct event (wait_open, the time left out) for each wait that goes on. */
    void (*open_waits)(void *ctx, struct buf *events);
};

struct recorder_opts {
    const char *path;    /* absolute; must not exist */
    const char *ringdir; /* NULL: /dev/shm, else beside the trace */
    uint64_t ring_max;   /* bytes of a thread's ring at most; 0: default */
    uint64_t ring_mem;   /* bytes of all rings at most; 0: default */
    uint64_t maxsize;    /* bytes of the file at most, the newest part is kept; 0: no limit */
    uint64_t duration;   /* recorder_end_after */
    bool block;          /* wait for room instead of losing events */
    uint64_t every;      /* ns after which it goes on in a new file; 0: never */
    uint64_t keep;       /* files at most, the oldest finished ones are removed; 0: all; or >= 2 */
    struct recorder_files files;
    /* Called by the drain thread between two looks at the rings, NULL: nothing is.  events: how
     * many were recorded until now. */
    void (*tick)(uint64_t now, uint64_t events);
};

enum {
    RING_MAX_DEFAULT = 8 << 20,
    RING_MEM_DEFAULT = 64 << 20,
};

/* Stretches in which the file could not be written, because its disk was full. */
struct recorder_unwritten {
    uint64_t times, ns; /* how often, how long in all: also the one that goes on */
    bool now;           /* one goes on; then why */
    char why[128];
};

struct recorder_result {
    uint64_t events, lost, bytes, duration_ns; /* of all files */
    int state;                                 /* of the last file, enum trace_state */
    uint32_t parts;                            /* files that there were */
    struct recorder_unwritten unwritten;
    char path[RING_PATH_MAX]; /* of the last one */
};

/* The state of a recording that goes on. */
struct recorder_status {
    uint64_t events;           /* of all files */
    uint64_t bytes;            /* of the file now */
    uint64_t cpu_ns;           /* processor time of the drain thread */
    uint64_t loss[LOSS_LIMIT]; /* by cause, of all files */
    uint32_t part;             /* number of the file now, from 1 */
    struct recorder_unwritten unwritten;
    char path[RING_PATH_MAX]; /* its name */
};

/* Create file and rings, start the drain thread.  On failure *out is NULL, nothing is left behind
 * and err says what to do. */
int recorder_open(struct recorder **out, const struct recorder_opts *o, struct err *err);

/* Whether events are kept.  One relaxed load; any thread. */
bool recorder_on(const struct recorder *rec);

/* Whether the file cannot be written now: nothing waits for that.  One relaxed load; any thread. */
bool recorder_unwritten(const struct recorder *rec);

/* Write a definition.  False when it is lost: its id must then not be used in events.
 * Any thread; takes a mutex; with full=block waits for room. */
bool recorder_define(struct recorder *rec, const struct def *d);

/* The definition of one fact about the recording; a later one of the same key replaces it. */
bool recorder_put_info(struct recorder *rec, const char *key, const char *value);

/* Count a loss that no ring could note.  Any thread. */
void recorder_count_loss(struct recorder *rec, enum loss_cause cause, uint64_t n);

/* Everything committed before the call is in the file when it returns.  Any thread but drain.
 * -ESHUTDOWN: the recording has ended; others: the file cannot be written now. */
int recorder_flush(struct recorder *rec);

void recorder_status(struct recorder *rec, struct recorder_status *status);

/* Write what is recorded until now as a trace of its own; the recording goes on.  path: must not
 * exist.  *result: what is in it, of the file now.  Any thread but drain. */
int recorder_snapshot(struct recorder *rec, const char *path, struct recorder_result *result,
                      struct err *err);

/* End the file that is being written, and go on in a new one.  *finished: the ended one; parts is
 * its number.  When no new file can be made the recording goes on in the old one.  Any thread but
 * drain. */
int recorder_rotate(struct recorder *rec, struct recorder_result *finished, struct err *err);

/* It ends by itself that number of ns after it began; 0: never.  Any thread. */
void recorder_end_after(struct recorder *rec, uint64_t duration);

/* Its last event is written: the recording ends there, though its file is closed later.  Any thread. */
void recorder_ends_here(struct recorder *rec);

/* End: no further event is taken, everything committed is written, the file is closed.  Waits for
 * the drain thread.  Any thread; later calls change nothing and give the same result. */
void recorder_close(struct recorder *rec, struct recorder_result *result);

/* Free a closed recorder: no thread may still have a ring of it. */
void recorder_free(struct recorder *rec);

#endif
