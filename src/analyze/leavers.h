/* leavers.h - waits that may have ended by themselves, in texts that do not say how a wait ended.
 *
 * A thread that times out leaves the wait set, and only then reports the end of its wait.  A notify
 * between the two is for the next thread of the set, but by the order of the text for this one.  A
 * text shows timeouts only by the length of waits at the same call site that no notify ended: if a
 * wait's notify came at that time or a little later, the cause of its end is unknown. */
#ifndef ORCA_ANALYZE_LEAVERS_H
#define ORCA_ANALYZE_LEAVERS_H

#include "analyze/bind.h"

/* A notify is not known to have ended a wait after all; that it woke somebody is not taken from it,
 * for who it was instead is not known.  ended: the wait has an end. */
void leavers_unbind(struct timeline *tl, struct bindings *out, uint32_t thread, uint32_t span,
                    bool ended);

/* After the sweep.  -ENOMEM. */
int leavers_doubt(const struct trace *t, struct timeline *tl, struct bindings *out);

#endif
