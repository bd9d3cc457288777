/* perfetto_parts.h - what the files of the Perfetto exporter share
 * (docs/reference/export-formats.md).
 *
 *   perfetto.c          the sweep: waits, acts, arrows, queues
 *   perfetto_tracks.c   what the tracks are, and those without threads
 *   perfetto_turns.c    waits that turn into others
 *   perfetto_packets.c  the format */
#ifndef ORCA_EXPORT_PERFETTO_PARTS_H
#define ORCA_EXPORT_PERFETTO_PARTS_H

#include "export/perfetto_packets.h"
#include "export/waits.h"

struct lock_queue {
    uint32_t now, longest, waits; /* since it was empty last */
    bool has_track;
};

struct perfetto {
    struct model_export *x;
    const struct analysis *a;
    struct waits waits;
    struct packets p;
    uint8_t *state;           /* [threads.n]: the state whose slice is open, or NO_STATE */
    size_t n_open;            /* slices of threads that have begun and not ended */
    struct lock_queue *queue; /* [trace->n_locks] */
    struct buf turns;         /* struct turn [] */
    size_t next_handover;
    uint64_t done, total; /* items of the sweep */
};

/* The process, every selected thread, the groups, the pauses of the collector.  -ENOMEM. */
int perfetto_put_tracks(struct perfetto *f);

/* The track of a lock, and that of its queue's length. */
void perfetto_put_lock(struct perfetto *f, lock_id lock);

#endif
