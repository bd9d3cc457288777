/* prove_ids.h - jmethodIDs that are numbers (JDK 26 and later), against JVMTI, before one is given
 * away. */
#ifndef ORCA_ASGCT2_PROVE_IDS_H
#define ORCA_ASGCT2_PROVE_IDS_H

#include "base/err.h"
#include "hotspot/method_ids.h"

#include <jvmti.h>

/* Of all methods of two classes of the JDK.  -ENOTSUP: one differs, or a collector was at work all
 * the time.  0 where ids are addresses: each use proves those. */
int prove_ids(struct method_ids *ids, jvmtiEnv *ti, JNIEnv *jni, struct err *err);

#endif
