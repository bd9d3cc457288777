/* leavers.h - waits that may have ended by themselves, in texts that do not say how a wait ended.
 *
 * Who times out leaves the wait set, and only then says that its wait is over.  A notify between
 * the two is for the next one of the set, but by the order of the text for this one.  What a text
 * tells of time-outs is how long those waits of the same place were that no notify ended: of a wait
 * whose notify came at least so late, and not much later, it is not known who ended it. */
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
