/* heap_live.h - what lives of the objects that are recorded, summed up (orca heap live). */
#ifndef ORCA_AGENT_HEAP_LIVE_H
#define ORCA_AGENT_HEAP_LIVE_H

#include "agent/agent.h"
#include "base/buf.h"

/* full: a collection comes first, so that what is only not collected yet is not counted.
 * The reply: for each class, site and age a line
 *     group CLASS STACK AGE COUNT BYTES SAMPLES COUNT BYTES
 * with ids of the recording, AGE collections outlived (of 4 and more the next lower power of two);
 * of the objects that were followed because all are, and of samples: how many there are, and how
 * many objects and bytes they stand for.  Then "left_out N" objects that have no group because
 * memory is bounded.  -ENODATA: nothing is recorded; -ENOMSG: no objects are. */
int heap_live_put(JNIEnv *jni, bool full, struct buf *reply, struct err *err);

#endif
