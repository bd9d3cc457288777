/* walker.h - the stack of the calling thread, from HotSpot's own data structures: its Java frames,
 * and those of C around them where they are asked for.
 *
 * Works synchronously (in a JVMTI callback or a native method: from the thread's last Java frame
 * anchor) and in a signal handler at any instruction of that thread.  No JNI, no lock, no
 * allocation, no system call: async-signal-safe.  Every read is bounded or guarded
 * (guarded_x86_64.h), every frame is checked before it is believed; what does not fit is an error
 * code: a wrong stack is worse than none.
 *
 * Frames of C are unwound by the tables of the libraries that are mapped (unwind/libraries.h).  Who
 * has walks made must keep these up to date, in a thread of its own and not in a signal handler:
 *     libraries_refresh(walker_libraries(w), &err)    every now and then, and soon when
 *                                                     libraries_missing() says so
 *     libraries_next(walker_libraries(w), last)       each library once, to be named in a trace
 *     libraries_find(walker_libraries(w), pc - 1)     the library of a frame; in a handler, too
 *
 * A walk reads what keeps still while its own thread is in it: the thread's stack, the code it is
 * executing, and the methods of that code, which no collector frees as long as they are on a
 * stack. */
#ifndef ORCA_HOTSPOT_WALKER_H
#define ORCA_HOTSPOT_WALKER_H

#include "hotspot/vmstructs.h"

#include <stddef.h>

struct walker;
struct trail;

enum walk_kind {
    WALK_INTERPRETED = 1,
    WALK_COMPILED = 2,    /* the method of a compiled frame */
    WALK_INLINED = 3,     /* inlined into the next frame of kind WALK_COMPILED */
    WALK_NATIVE = 4,      /* a native method, interpreted or called through a wrapper */
    WALK_STUB = 5,        /* code of the VM; only with WALK_WITH_STUBS */
    WALK_NATIVE_CODE = 6, /* C and C++; only with WALK_WITH_NATIVE, and in walk_native() */
};

struct walk_frame {
    uintptr_t method; /* HotSpot's Method; 0: a stub, C */
    uintptr_t pc;     /* of the physical frame; of an interpreted one in the interpreter.  Of C: a
                       * return address, so pc - 1 is in the function; but the innermost frame of an
                       * interrupted thread has its pc itself */
    uint64_t stamp;   /* of the method (method_text.h), only with WALK_WITH_STAMPS; else 0 */
    int32_t bci;      /* -1: a native method, or not known */
    uint8_t kind;     /* enum walk_kind */
    uint8_t level;    /* 0 interpreted, 1-3 C1, 4 C2 */
    bool near;        /* bci is that of the next place, or the one before, that the compiler
                       * described: the one that WALK_NEAR is about */
};

/* Numbers as those of AsyncGetCallTrace where they mean the same. */
enum walk_error {
    WALK_NO_JAVA_FRAME = 0,
    WALK_UNKNOWN_NOT_JAVA =
        -3, /* outside Java, and the JVM does not record where the thread left Java */
    WALK_NOT_WALKABLE_NOT_JAVA = -4, /* the frames below the anchor are inconsistent */
    WALK_UNKNOWN_JAVA = -5,          /* in Java, in the middle of what has no describable frame */
    WALK_NOT_WALKABLE_JAVA = -6,     /* in Java; the frames are inconsistent */
    WALK_UNKNOWN_STATE = -7,
    WALK_THREAD_EXIT = -8,
    WALK_DEOPT = -9, /* frames are being replaced */
    WALK_THREAD_NOT_JAVA = -10,
};

const char *walk_error_text(int error);

enum {
    /* Options.  Where WALK_NEAR, the inlined methods are those of the loop around the place, if that
     * has a poll, else those in which the places before and after agree (one or two stacks in a
     * hundred name a method that was not there), if an option does not say otherwise. */
    WALK_WITH_STUBS = 1,
    WALK_GUESS_INLINED = 2, /* those of the place after, as AsyncGetCallTrace has
                             * them: after a leaf's call often wrong */
    WALK_UNCACHED = 4,      /* decode every frame anew */
    WALK_WITH_STAMPS = 8,
    WALK_ONLY_CERTAIN = 16, /* none there: methods are never wrong */
    WALK_WITH_NATIVE = 32, /* frames of C, too: below Java's, between them, and, interrupted, above.
                            * The Java frames are the same as without */
    /* What a walk says of its result. */
    WALK_CUT_DEPTH = 1,    /* there are more frames than room */
    WALK_CUT_UNTHAWED = 2, /* a virtual thread's older frames are still in the heap */
    WALK_NEAR = 4,         /* the first compiled frame stands at a place for which the compiler
                            * recorded nothing (C2 does so for calls): its innermost bci is that of
                            * the next place, and innermost inlined methods may be missing */
    WALK_VIRTUAL = 8,      /* the frames are those of the virtual thread that is mounted */
    WALK_CUT_NATIVE = 16,  /* there are frames of C that are missing: they could not be unwound */
    WALK_RUNS_JAVA = 32,   /* by its state it executes Java; not that it is on a processor */
    WALK_FROM_HEAP = 64,   /* a virtual thread's older frames were found in the heap */
};

/* With walk.take: the room that one step may need, all methods inlined at one place included. */
enum { WALK_ROOM = 128 };

struct walk {
    struct walk_frame *frames; /* innermost first */
    int32_t max;               /* room for that many; with `take` more than WALK_ROOM */
    uint32_t options;
    uint32_t flags; /* out */
    /* Takes the n frames so far, when less than WALK_ROOM is left, so that a small buffer does for
     * a deep stack.  False: no more are wanted.  NULL: the walk is cut where the room ends. */
    bool (*take)(struct walk *w, int32_t n);
    struct trail *trail; /* what is read, too (trail.h); NULL: not wanted.  Without ucontext only */
};

/* After the JVM's start (VMInit).  -ENOTSUP with one sentence when this JVM's data are not laid out
 * as the walker knows them.  Puts up a handler for faults (guarded.h). */
int walker_open(struct walker **out, const struct vmstructs *vs, struct err *err);

/* From now on a virtual thread's older frames are looked for in the heap, where these fields say;
 * NULL: no more.  Any thread, at any time; the fields stay. */
struct chunks;
void walker_use_chunks(struct walker *w, const struct chunks *chunks);

/* No thread may be in a walk. */
void walker_close(struct walker *w);

/* The bounds of a Java thread's stack, guard zones included.  Async-signal-safe. */
bool walker_stack(const struct walker *w, uintptr_t java_thread, uintptr_t *low, uintptr_t *high);

/* The name of the VM's code at a pc, "" when that is none: of a frame of kind WALK_STUB.
 * Async-signal-safe; what it reads stays as long as the JVM. */
void walker_stub_name(const struct walker *w, uintptr_t pc, char *out, size_t n);

/* The libraries whose C the walker can unwind; see above. */
struct libraries *walker_libraries(const struct walker *w);

/* The stack of the calling thread, whose JavaThread this is.  ucontext: what the signal handler was
 * given; NULL: the caller was called by the JVM.  Returns the number of frames or an error;
 * out->flags as above.  The number counts what was taken, too: the rest is in out->frames.  An
 * error is of the Java frames: of C alone there may still be some (walk_native).  A thread without
 * Java frames has those of C, with WALK_WITH_NATIVE.  SIGSEGV and SIGBUS not blocked.  Only the
 * calling thread; or, with ucontext NULL, a thread of which the caller finds out afterwards that it
 * did not run during the walk: otherwise the result means nothing (and does no harm). */
int walk(const struct walker *w, uintptr_t java_thread, const void *ucontext, struct walk *out);

/* The frames of C alone, of a thread that HotSpot may not know (collectors, compilers), where a
 * signal handler was given `ucontext`; up to generated code, if there is any.  Returns the number
 * of frames, at least 1 if there is room; options: WALK_UNCACHED. */
int walk_native(const struct walker *w, const void *ucontext, struct walk *out);

#endif
