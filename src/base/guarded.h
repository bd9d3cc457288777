/* guarded.h - the handler behind guarded loads (guarded_x86_64.h).
 *
 * It comes before the existing one (HotSpot's, which needs SIGSEGV for null checks and safepoints)
 * and passes it every fault that is not of a guarded load, with the same signal mask and on the
 * same stack.  It is never removed, because a later handler may call it.  Known cost: a JVM run
 * with -Xcheck:jni reports that its handler was replaced. */
#ifndef ORCA_BASE_GUARDED_H
#define ORCA_BASE_GUARDED_H

#include "base/err.h"
#include "base/guarded_x86_64.h"

/* Once the JVM has put up its own handlers (VMInit).  May be called again. */
int guarded_open(struct err *err);

#endif
