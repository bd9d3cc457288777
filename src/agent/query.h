/* query.h - what is going on in the JVM now: threads, locks, objects, as JSON (orca query).
 *
 * The JVM's own management answers, through the class orca.probe.Query, which is defined when the
 * first question comes.  Questions by Orca's ids need a recording, which gave them. */
#ifndef ORCA_AGENT_QUERY_H
#define ORCA_AGENT_QUERY_H

#include "agent/agent.h"

/* A question as request.h has it.  -EINVAL: no such question; -ENOENT: nothing of this name or id;
 * -ENODATA: needs a recording; -ENOTSUP: this JVM has no management. */
int query_run(JNIEnv *jni, const char *text, struct buf *reply, struct err *err);

/* What threads (Thread.getId()) block on or wait for at this moment: a line "ID STATE HASH OWNER
 * CLASS" for each that does; HASH in hex, OWNER a Thread.getId() or -1.  -ENOTSUP as above. */
int query_waits(JNIEnv *jni, const jlong *ids, jint n, struct buf *lines, struct err *err);

/* Have open_waits_virtual and open_waits_owner called for virtual threads that wait (JDK 21 to 23,
 * 25 and later): of more than `most` virtual threads those that may be stuck are looked at.  Returns
 * how many are not.  -ENOTSUP as above. */
int query_virtual_waits(JNIEnv *jni, jint most, struct err *err);

#endif
