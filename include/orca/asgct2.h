/* asgct2.h - AsyncGetCallTrace2 (JDK-8284289) for the JDKs that people run: the stack of the
 * calling thread, from a signal handler at any instant, or synchronously.
 *
 * Link with libasgct2.so (or load liborca.so, which exports the same), call AsyncGetCallTrace2Init
 * once, then AsyncGetCallTrace2 as often as wanted.  docs/reference/asgct2.md says all of it, and
 * examples/sampler.c is a profiler made of it.  C11 and C++11. */
#ifndef ORCA_ASGCT2_H
#define ORCA_ASGCT2_H

#include <jni.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* CallTrace.num_frames when there are no frames. */
enum {
    NO_JAVA_FRAME = 0,
    NO_CLASS_LOAD = -1, /* AsyncGetCallTrace2Init has not done its work (yet) */
    GC_ACTIVE = -2,
    UNKNOWN_NOT_JAVA = -3,
    NOT_WALKABLE_NOT_JAVA = -4,
    UNKNOWN_JAVA = -5,
    UNKNOWN_STATE = -7,
    THREAD_EXIT = -8,
    DEOPT = -9,
    THREAD_NOT_JAVA = -10
};

#ifdef __cplusplus
enum FrameTypeId : uint8_t {
#else
typedef uint8_t FrameTypeId;
enum {
#endif
    FRAME_JAVA = 1,         /* interpreted, or the method of a compiled frame */
    FRAME_JAVA_INLINED = 2, /* inlined into the next frame that is FRAME_JAVA */
    FRAME_NATIVE = 3,       /* a native method, or the wrapper that calls it */
    FRAME_STUB = 4,         /* code of the VM */
    FRAME_CPP = 5           /* C, C++ ... */
};

typedef struct {
    FrameTypeId type;    /* FRAME_JAVA or FRAME_JAVA_INLINED */
    uint8_t comp_level;  /* 0: interpreted, 1 to 3: C1, 4: C2 */
    uint16_t bci;        /* 65535: not known */
    jmethodID method_id; /* NULL: the method has none (docs/reference/asgct2.md) */
} JavaFrame;

typedef struct {
    FrameTypeId type; /* any other */
    void *pc;         /* in this frame; of C a return address, but in an interrupted frame */
} NonJavaFrame;

typedef union {
    FrameTypeId type;
    JavaFrame java_frame;
    NonJavaFrame non_java_frame;
} CallFrame;

typedef struct {
    jint num_frames;   /* how many there are, or why there are none */
    CallFrame *frames; /* innermost first; the caller's, room for `depth` of them */
    void *frame_info;  /* NULL */
} CallTrace;

/* The stack of the calling thread, at most `depth` frames of it.  ucontext: what the signal handler
 * was given; NULL: the caller was called by the JVM.  options: 1: with C and C++ frames; other bits
 * do not count.  Any thread, any instant, also before the init and after the JVM's end: no lock, no
 * allocation, no system call but those that read the signal mask, errno stays.  While SIGSEGV or
 * SIGBUS is blocked the answer is UNKNOWN_STATE. */
JNIEXPORT void AsyncGetCallTrace2(CallTrace *trace, jint depth, void *ucontext, uint32_t options);

/* Prepare everything, once, outside of signal handlers: in Agent_OnLoad (it is done when the JVM
 * has started), in Agent_OnAttach, or from a native method of a running JVM.  0, also when that was
 * done before (then libraries that were loaded since are taken note of); or a negative errno, and
 * AsyncGetCallTrace2Error says why.  What goes wrong at the
 * JVM's start after Agent_OnLoad is printed, one line on stderr. */
JNIEXPORT int AsyncGetCallTrace2Init(JavaVM *vm);

/* One sentence about what went wrong last; "" when nothing did. */
JNIEXPORT const char *AsyncGetCallTrace2Error(void);

#ifdef __cplusplus
}
#endif
#endif
