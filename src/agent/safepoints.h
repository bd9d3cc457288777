/* safepoints.h - the group safepoints: when the JVM stopped all threads, for which operation, how
 * long it took until all of them had stopped.
 *
 * JVMTI does not report them.  The JVM's log does (tag safepoint): one more output is configured
 * for it, a file in memory (record/safepoint_log.h), by the JVM's own command VM.log, and is
 * removed when the recording ends or the group is switched off.  The user's own outputs do not
 * change.  The JVM writes the lines when the threads are running again; the drain thread reads
 * them. */
#ifndef ORCA_AGENT_SAFEPOINTS_H
#define ORCA_AGENT_SAFEPOINTS_H

#include "record/recorder.h"

#include <jni.h>

/* What it needs of the recording. */
struct safepoints_setup {
    JavaVM *vm;
    struct recorder *rec;
    uint64_t started;
    int java_version;
    const char *java_home;
    gc_name_id (*name)(const char *text); /* of an operation; any thread */
};

/* A recording begins, or the group is switched on.  On a Java thread.  Where it cannot work it says
 * so (lacks.h). */
void safepoints_start(JNIEnv *jni, const struct safepoints_setup *setup);

bool safepoints_run(void);

/* The recording ends: all lines are events when this returns.  Before the recorder is closed. */
void safepoints_stop(JNIEnv *jni);

/* Now and then, on the drain thread. */
void safepoints_tick(uint64_t now);

#endif
