/* collections.h - the garbage collections of a recording: pauses, and cycles with their pauses.
 *
 * A collection that stops the world is its pause.  One that works while the threads run is a cycle;
 * its pauses belong to it.  If the trace has the pauses of a cycle, but not the cycle (G1's
 * marking; a JVM without its management), each pause is listed as a PART: the number and length of
 * the cycles is then unknown.
 *
 * Sizes are bytes; 0 is "unknown".  Lists are the caller's arena's. */
#ifndef ORCA_ANALYZE_COLLECTIONS_H
#define ORCA_ANALYZE_COLLECTIONS_H

#include "base/arena.h"
#include "base/buf.h"
#include "format/trace.h"

#include <stdbool.h>

/* What a collection did to the heap, and whose it was. */
struct gc_facts {
    gc_name_id collector, cause;
    uint64_t before, used, committed; /* in use before; in use and committed behind it */
};

struct pause {
    uint64_t start, end; /* all threads were paused for the collector */
    struct gc_facts gc;
};

struct cycle {
    uint64_t start, end; /* it worked beside the threads */
    struct gc_facts gc;
};

enum collection_kind { COLLECTION_PAUSE, COLLECTION_CYCLE, COLLECTION_PART, COLLECTION_KINDS };

/* "pause", "cycle", "part" */
extern const char *const collection_kind_names[COLLECTION_KINDS];

struct collection {
    enum collection_kind kind;
    uint64_t start, end;
    struct gc_facts gc;
    uint64_t pauses, pause_ns, pause_max;
    uint32_t made; /* its place before the list was sorted */
};

/* The collections of one kind, collector and cause. */
struct collection_sum {
    enum collection_kind kind;
    const char *collector, *cause; /* "?": not known */
    uint64_t count, ns;            /* ns: of cycles, the time that they took */
    uint64_t pauses, pause_ns, pause_max;
    uint64_t sized, freed; /* how many have both sizes, parts apart; bytes less in their end */
};

struct collections {
    struct collection *v; /* by start */
    size_t n;
    uint32_t *of_pause;         /* by pause: its collection, an index into v */
    struct collection_sum *sum; /* most time paused first */
    size_t n_sums;
    /* Between collections, where the sizes on both sides are known: what the threads allocated, and
     * in what time. */
    uint64_t allocated, allocated_ns;
};

struct collection_source {
    const struct trace *trace;
    const struct pause *pauses; /* by start */
    size_t n_pauses;
    const struct cycle *cycles;
    size_t n_cycles;
};

/* -ENOMEM. */
int collections_make(struct collections *out, const struct collection_source *from,
                     struct arena *arena);

/* What the threads allocated in a second; 0: not known. */
uint64_t collections_rate(const struct collections *c);

/* The cause of a pause, or of the cycle that it is of; "?": not known. */
const char *collections_cause(const struct collections *c, const struct trace *t, size_t pause);

#endif
