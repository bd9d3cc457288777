/* whole_gc.h - collections that looked through the whole heap: only these prove that an object
 * lives.
 *
 * An object that was not found freed is live, or the collector has not looked at it yet: not at
 * objects allocated since its last collection, and a young collection not at old objects (the
 * generational ZGC's reports no end at all).  So liveness is known at the last collection of the
 * whole heap, for objects allocated before it began.
 *
 * These collections are known by the JVM's names for them; other names do not count (Shenandoah has
 * one name for young and whole cycles). */
#ifndef ORCA_ANALYZE_WHOLE_GC_H
#define ORCA_ANALYZE_WHOLE_GC_H

#include "analyze/collections.h"

/* What was allocated before `since`, and has no end at `told`, was live at a moment between `since`
 * and `end`. */
struct whole_gc {
    uint64_t since, end, told;
};

/* HotSpot reports the ends of objects on a thread of its own, soon after the collection, or when
 * that thread gets a processor: within this time from the first one, or, where none is reported,
 * after such a silence. */
#define WHOLE_GC_TOLD_NS UINT64_C(1000000000)
#define WHOLE_GC_SILENT_NS UINT64_C(9000000000)

/* Put all of a recording, struct whole_gc [] by their ends, into `out`; all are reported after a
 * silence.  -ENOMEM. */
int whole_gc_find(struct buf *out, const struct collection_source *gc);

/* An end was reported at that time. */
void whole_gc_hear(struct buf *wholes, uint64_t time);

/* `since` of the last one that was reported before a moment; 0: none. */
uint64_t whole_gc_before(const struct buf *wholes, uint64_t time);

/* Whether one ended in a stretch. */
bool whole_gc_within(const struct buf *wholes, uint64_t from, uint64_t to);

#endif
