/* query_files.h - the source files of what a thread executes, which management does not tell of
 * frames that began before their class was changed. */
#ifndef ORCA_AGENT_QUERY_FILES_H
#define ORCA_AGENT_QUERY_FILES_H

#include "agent/agent.h"

/* orca.probe.Query.filesOf: class and file of each frame; null: not known. */
jobjectArray JNICALL query_files_of(JNIEnv *jni, jclass c, jthread thread);

#endif
