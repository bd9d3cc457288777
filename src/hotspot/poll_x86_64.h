/* poll_x86_64.h - the loop whose safepoint poll is known.
 *
 * Compiled loops look now and then whether the JVM wants to stop them, and that place is described
 * even where the compilers describe calls alone.  Behind it the loop jumps back to its beginning,
 * so what lies between is code of that loop, or was inlined into it. */
#ifndef ORCA_HOTSPOT_POLL_X86_64_H
#define ORCA_HOTSPOT_POLL_X86_64_H

#include "hotspot/codecache.h"

/* Whether there is a poll at `poll`, and `pc` is before it in the same loop.  False also where the
 * instructions behind the poll are not among the few that are known. */
bool poll_loop_has(const struct blob *b, uintptr_t poll, uintptr_t pc);

#endif
