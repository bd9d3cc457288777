/* agct.h - HotSpot's AsyncGetCallTrace: exported, but declared by none of its headers
 * (forte.cpp). */
#ifndef ORCA_TESTS_AGCT_H
#define ORCA_TESTS_AGCT_H

#include <jni.h>
#include <stdint.h>

enum { AGCT_NATIVE = -3 }; /* the bci of a native method */

typedef struct {
    jint bci;
    jmethodID method;
} agct_frame;

typedef struct {
    JNIEnv *env;
    jint n; /* frames, or an error */
    agct_frame *frames;
} agct_trace;

typedef void (*agct_function)(agct_trace *trace, jint depth, void *ucontext);

/* The Method that a jmethodID names.  AsyncGetCallTrace gives none of a method whose class was not
 * prepared before the agent listened. */
static inline uintptr_t agct_method(jmethodID id)
{
    return id ? *(uintptr_t *)id : 0;
}

#endif
