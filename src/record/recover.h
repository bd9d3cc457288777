/* recover.h - complete the trace of a JVM that was killed, from the shared memory that it left.
 *
 * Nothing that was committed to a ring is lost: staged blocks and ring contents that are not in the
 * file yet are appended, then the file is closed as TRACE_RECOVERED and the shared memory removed.
 * A recovery that is itself killed is completed by the next one: at the latest moment only the
 * shared memory of a finished trace is left to be removed. */
#ifndef ORCA_RECORD_RECOVER_H
#define ORCA_RECORD_RECOVER_H

#include "base/err.h"

#include <stdint.h>

enum recover_outcome {
    RECOVER_NOTHING, /* the trace ended in good order, or is not an Orca trace */
    RECOVER_DONE,    /* completed just now */
    RECOVER_LIVE,    /* the JVM is still recording */
    RECOVER_GONE,    /* killed, and its shared memory is gone (reboot, container removed): the file
                      * ends with its last chunk */
    RECOVER_CLOSED,  /* killed between this file of a recording and the next: it is complete, or
                      * was never begun; closed just now */
};

/* Returns an outcome, or a negative errno when the trace needs recovery and it failed (for example
 * a file that may not be written); the trace can be read as it is all the same. */
int recover_trace(const char *path, struct err *err);

/* The same question without changing anything: RECOVER_DONE means "would recover", and a trace that
 * would only be closed is RECOVER_NOTHING. */
int recover_probe(const char *path, struct err *err);

#endif
