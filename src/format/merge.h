/* merge.h - the events of blocks that come piece by piece, handed out in the order of time.
 *
 * Each stream has a queue of blocks, by position in the stream; a heap holds the streams by the
 * time of their next event.  A block is decoded when its turn comes, so that what waits here takes
 * the bytes that it has in the file.  Bytes of a stream are handed out once:
 *     pos_end of what a stream handed out only grows
 *
 * A merge belongs to one thread. */
#ifndef ORCA_FORMAT_MERGE_H
#define ORCA_FORMAT_MERGE_H

#include "base/map.h"
#include "format/chunk.h"

#include <stdbool.h>

struct merge_stream;

struct merge {
    struct codec_schema schema;
    struct map ids; /* number of a stream -> index + 1 */
    struct merge_stream **streams;
    size_t n_streams, cap_streams;
    struct merge_stream **heap;
    size_t n_heap;
    uint64_t undecodable; /* blocks that ended early because their bytes are no events */
};

enum merge_what {
    MERGE_NONE,  /* nothing, or nothing that early */
    MERGE_EVENT, /* *e */
    MERGE_GAP,   /* before e->time events of the stream are missing; only thread and time are set */
};

void merge_init(struct merge *m, const struct codec_schema *schema);
void merge_fini(struct merge *m);

/* Add a block; `bytes`: b->len of them, copied.  -ENOMEM. */
int merge_put(struct merge *m, const struct block *b, const uint8_t *bytes);

/* The next event that is not later than `until`.  *stream: its number. */
enum merge_what merge_next(struct merge *m, uint64_t until, struct event *e, uint32_t *stream);

#endif
