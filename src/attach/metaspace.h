/* metaspace.h - how much space is left in a JVM's metaspace, if its command line limits it.
 *
 * A recording's additions to classes use it, and a class of the program that no longer fits is an
 * OutOfMemoryError in the program. */
#ifndef ORCA_ATTACH_METASPACE_H
#define ORCA_ATTACH_METASPACE_H

#include "attach/jvm.h"

#include <stdbool.h>
#include <stdint.h>

struct metaspace {
    uint64_t committed, most; /* bytes; most: UINT64_MAX without a bound */
};

/* Asks the JVM (VM.metaspace), which takes no safepoint for it.  -ENOTSUP: it does not say; others
 * as of attach_command. */
int metaspace_ask(const struct jvm *jvm, uint64_t timeout_ns, struct metaspace *m, struct err *err);

/* Pure, for tests: what "VM.metaspace basic scale=1" answers (metaspaceReporter.cpp,
 * print_basic_report). */
bool metaspace_parse(const char *answer, struct metaspace *m);

#endif
