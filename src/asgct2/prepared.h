/* prepared.h - what AsyncGetCallTrace2Init leaves for the signal handlers.
 *
 * Written once, before `phase` says PHASE_READY; never freed, because a handler may be in it at any
 * time. */
#ifndef ORCA_ASGCT2_PREPARED_H
#define ORCA_ASGCT2_PREPARED_H

#include "hotspot/current_thread.h"
#include "hotspot/layout.h"
#include "hotspot/method_ids.h"

#include <stdatomic.h>

enum phase {
    PHASE_NONE,
    PHASE_WAITING, /* for the JVM's start */
    PHASE_READY,
    PHASE_ENDED, /* the JVM ends */
};

struct prepared {
    _Atomic int phase; /* stored with release, loaded with acquire: the rest is there */
    struct walker *walker;
    struct method_ids *ids;
    struct current_thread thread;
    uintptr_t gc_active; /* where the JVM says that a collector has stopped all threads */
};

extern struct prepared prepared __attribute__((visibility("hidden")));

#endif
