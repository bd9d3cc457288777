/* owner_walk.h - what a monitor's owner is executing, reported by the owner itself.
 *
 * A thread that is about to block on the monitor sends its owner a signal and waits.  The owner's
 * signal handler looks whether it still owns the monitor, and only then walks its own stack.  So
 * the stack is that of a thread which held the lock while it was taken, without any doubt; and no
 * thread is stopped that could be in another one's way.  An owner that has released the lock, does
 * not run, or blocks the signal gives no stack.
 *
 * How it is sent: notes.h. */
#ifndef ORCA_HOTSPOT_OWNER_WALK_H
#define ORCA_HOTSPOT_OWNER_WALK_H

#include "hotspot/method_text.h"
#include "hotspot/owner.h"

enum owner_walk_result {
    /* a negative enum walk_error: the owner could not walk its stack */
    OWNER_WALK_NONE = -100,      /* who runs the owner is not known */
    OWNER_WALK_BUSY = -101,      /* too many ask at this moment, or there is no memory */
    OWNER_WALK_NO_SIGNAL = -102, /* it could not be sent: the thread is gone */
    OWNER_WALK_SILENT = -103,    /* no answer in time: it does not run, or blocks the signal */
    OWNER_WALK_GONE = -104,      /* it no longer owned the monitor */
    OWNER_WALK_STACK_END = -105, /* it is too near to its stack's end */
    OWNER_WALK_NATIVE = -107, /* it is in native code, whose system calls a signal could cut short
                               * (of who asks: here every thread is asked) */
    OWNER_WALK_NEW = -106,    /* too many methods that are not known yet; they are now */
};

/* A word for a result below 0, for statistics; static text. */
const char *owner_walk_text(int result);

struct owner_frame {
    uint32_t id; /* as `known` says; 0: it is methods[unknown] */
    int32_t bci; /* -1: a native method, or not known */
    uint32_t unknown : 31;
    bool near : 1; /* bci is of a place near by (struct walk_frame) */
};

struct owner_question {
    const struct walker *walker;
    struct owner_place place;
    /* Whether the owner, which runs this, still owns the lock; it does until it goes on.
     * Async-signal-safe. */
    bool (*owns)(const struct owner_question *q);
    const struct vm_layout *layout; /* for owner_walk_owns_monitor */
    const void *lock;               /* for `owns`; there: as `oop` of owner_find */
    uint64_t timeout;               /* ns to wait for the owner to begin */
    uint32_t depth;                 /* frames at most; the same in every question */
    /* The id of a method at an address, 0: none.  Async-signal-safe. */
    uint32_t (*known)(uintptr_t method, uint64_t stamp);
};

/* `owns` for a monitor.  Only inside its MonitorContendedEnter, on the thread that is about to
 * block: that keeps the monitor alive. */
bool owner_walk_owns_monitor(const struct owner_question *q);

struct owner_answer {
    struct owner_frame *frames; /* innermost first, n of them */
    struct method_met *methods; /* those that `known` did not know */
    uint32_t n, n_methods;
    uint32_t flags; /* WALK_CUT_DEPTH, ... */
    uint64_t time;  /* CLOCK_MONOTONIC, when the stack was taken */
};

/* Put up the handler, once; it stays. */
int owner_walk_open(struct err *err);

/* Ask.  0, or one of the above; with 0 and OWNER_WALK_NEW *answer is valid until owner_walk_done,
 * which must follow.  Only inside MonitorContendedEnter of the monitor, on the thread that is about
 * to block: that keeps the monitor alive.  Allocates at its first uses. */
int owner_walk(const struct owner_question *question, const struct owner_answer **answer);
void owner_walk_done(const struct owner_answer *answer);

#endif
