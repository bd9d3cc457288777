/* stage.h - from rings to chunks: encode what the rings hold into the staging area of the region,
 * and write the staging area and the definition ring out as chunks.
 *
 * The drain thread does this while the JVM lives, a recovery does the same after its death; killed
 * in between, the next one goes on, because each step leaves every event somewhere:
 *     encode a block behind the staged ones; commit it (n_blocks); only then free the ring (tail)
 *     write the chunk; only then empty the stage (n_blocks = 0)
 * One thread at a time. */
#ifndef ORCA_RECORD_STAGE_H
#define ORCA_RECORD_STAGE_H

#include "format/writer.h"
#include "record/region.h"

struct stager {
    struct region_header *h;
    uint32_t raw_len;  /* of the committed blocks */
    uint64_t events;   /* in the stage */
    struct buf defs;   /* scratch */
    bool notes_ends;   /* keep `ended` */
    struct buf ended;  /* one bit for each thread id: its thread_end has come by */
    uint64_t note_pos; /* of the stream of stage_note */
};

/* Start from whatever the stage holds.  -EINVAL when its blocks do not fit (a damaged region). */
int stager_init(struct stager *s, struct region_header *h);
void stager_fini(struct stager *s);

enum stage_status {
    STAGE_EMPTIED, /* the ring was drained up to the head seen */
    STAGE_FULL,    /* flush, then call again */
    STAGE_DAMAGED, /* a record makes no sense: the ring's content was given up (LOSS_damaged) */
};

/* Move one ring's records to the stage; *events grows by what was moved. */
enum stage_status stage_ring(struct stager *s, struct ring_ctl *c, uint64_t *events);

/* A ring up to `head` makes no sense: it counts as damaged, and as drained. */
void stage_give_up(struct stager *s, struct ring_ctl *c, uint64_t head);

/* Write all definitions committed so far. */
int stage_flush_defs(struct stager *s, struct writer *w, struct err *err);

/* Write the staged blocks, and before them the definitions that they may name. */
int stage_flush(struct stager *s, struct writer *w, struct err *err);

/* Write what a stage_flush would, into another file; here all of it stays. */
int stage_copy(struct stager *s, struct writer *w, struct err *err);

/* Write events of the recorder's own (`stream`: theirs alone) behind all that is staged.  No
 * definition is written: what has come since the last flush belongs to the next file.  When that
 * fails they are forgotten. */
int stage_note(struct stager *s, struct writer *w, uint32_t stream, const struct event *events,
               size_t n, struct err *err);

/* Write the stretches in which the file could not be written, as one fact about it. */
int stage_write_unwritten(struct writer *w, uint64_t times, uint64_t ns, struct err *err);

/* Whether a thread's end has come by. */
bool stage_has_ended(const struct stager *s, thread_id thread);

/* The loss counters of a file: what was lost before it began, and what it says. */
struct loss_sums {
    uint64_t before[LOSS_LIMIT], written[LOSS_LIMIT];
};

/* Write those that have changed; `sums` is brought up to date. */
int stage_write_losses(struct stager *s, struct writer *w, struct loss_sums *sums, struct err *err);

#endif
