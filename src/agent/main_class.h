/* main_class.h - the class whose main method started the program: what the program is, if
 * no stack shows that method (after an attach to a server) and the command line names a jar. */
#ifndef ORCA_AGENT_MAIN_CLASS_H
#define ORCA_AGENT_MAIN_CLASS_H

#include "record/recorder.h"

#include <jvmti.h>

/* Define what is known of it by now, and has not been defined in this recording: infos "main.class"
 * and, of a jar of Spring Boot, "start.class", the program's behind the launcher.  Nothing of a JVM
 * that was not started by the java command.  On a Java thread, of any but the first
 * moments of the JVM. */
void main_class_define(JNIEnv *jni, jvmtiEnv *ti, struct recorder *rec);

/* A recording begins. */
void main_class_reset(void);

#endif
