/* doings.h - what is known of each enum holder_does: its name, its words, and what would help. */
#ifndef ORCA_CONCLUDE_DOINGS_H
#define ORCA_CONCLUDE_DOINGS_H

#include "conclude/resource.h"

struct doing {
    const char *name;  /* stable: "computes", "input", ... */
    const char *words; /* of a holder: "computing" */
    /* What would help where holders do this for half of the time or more, of a lock, of things, of
     * permits, of a database's locks, and consumers of a queue (or more of them); or the one thread
     * that serves others does it.  NULL: nothing to say.  docs/concepts/findings.md */
    const char *of_lock, *of_things, *of_permits, *of_transaction, *of_queue, *of_thread;
    bool nowhere; /* the code of the holder has no part in it: no line is named, none is needed */
};

extern const struct doing doings[DOES_LIMIT];

/* Whether one is a kind of the other: who syncs a file writes output. */
bool doing_is(enum holder_does does, enum holder_does what);

/* What a thread does in a recorded stretch of halts.h; DOES_UNKNOWN: its stack says so. */
enum holder_does does_of_halt(const struct still *s);

#endif
