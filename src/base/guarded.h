/* guarded.h - the handler behind guarded loads (guarded_x86_64.h).
 *
 * It stands in front of the one that was there (HotSpot's, which needs SIGSEGV for null checks and
 * safepoints) and hands it every fault that is not of a guarded load, with the same signal mask and
 * on the same stack.  It is never taken away: whoever came later may call it.  Known price: a JVM
 * run with -Xcheck:jni says that its handler was replaced. */
#ifndef ORCA_BASE_GUARDED_H
#define ORCA_BASE_GUARDED_H

#include "base/err.h"
#include "base/guarded_x86_64.h"

/* Once the JVM has put up its own handlers (VMInit).  May be called again. */
int guarded_open(struct err *err);

#endif
