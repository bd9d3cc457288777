/* query_files.h - the source files of what a thread executes, which management does not report for
 * frames that began before their class was changed. */
#ifndef ORCA_AGENT_QUERY_FILES_H
#define ORCA_AGENT_QUERY_FILES_H

#include <jvmti.h>

/* orca.probe.Query.filesOf: class and file of each frame; null: not known.  ti: the recording's
 * environment; NULL: there is none. */
jobjectArray query_files_of(JNIEnv *jni, jvmtiEnv *ti, jthread thread);

#endif
