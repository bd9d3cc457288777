/* samples.h - the stacks that threads take of themselves in a signal handler, and the way from
 * there to the one thread that collects them.
 *
 *     handler:    take a bag's lock (try; the next bag if it is taken), walk the stack straight
 *                 into the bag, name the methods that have no name yet, close the record
 *     collector:  take the lock, turn the bag over, give the lock back; read what was filled
 *
 * A bag has two halves: one is filled, the other is read.  No thread waits: a handler that finds no
 * bag counts its sample as lost, the collector comes back later.  So a handler never stands in
 * another one's way, and the event rings of the interrupted thread, which it may be about to write
 * to, are not touched at all.
 *
 * A method is described in the first record that meets it, while it is certainly alive: it is on
 * the stack.  What was described is remembered by a hash of it, not for ever. */
#ifndef ORCA_HOTSPOT_SAMPLES_H
#define ORCA_HOTSPOT_SAMPLES_H

#include "hotspot/method_text.h"
#include "hotspot/owner.h"

#include <stdbool.h>

enum sample_group { SAMPLE_CPU, SAMPLE_WALL, SAMPLE_GROUPS };

/* Whom to walk. */
struct sample_subject {
    uint32_t os_tid, id;   /* of the kernel; the trace's, 0: none yet */
    uintptr_t java_thread; /* 0: a thread of the JVM itself, or unknown */
};

struct sample_frame {
    uintptr_t method; /* 0: stub or native code */
    uint64_t stamp;   /* of the method; or the pc, where there is none */
    int32_t bci;
    uint8_t kind, level; /* enum walk_kind */
    uint8_t near;        /* bci is of a place near by (struct walk_frame) */
    uint8_t pad;
};

struct sample {
    uint32_t size;    /* bytes of the whole record */
    uint32_t session; /* of the opening that it belongs to */
    uint8_t group;    /* enum sample_group */
    bool still;       /* the thread did not run, */
    bool ready;       /* though it would, on a processor */
    uint16_t n_met;
    struct sample_subject subject;
    uint64_t java_tid; /* Thread.getId() of the mounted virtual thread, else 0 */
    uint64_t time, weight;
    int32_t n; /* frames, or an enum walk_error */
    uint32_t flags;
    /* n struct sample_frame, then n_met struct method_met */
};

static inline const struct sample_frame *sample_frames(const struct sample *s)
{
    return (const struct sample_frame *)(s + 1);
}

static inline const struct method_met *sample_met(const struct sample *s)
{
    return (const struct method_met *)(sample_frames(s) + (s->n > 0 ? s->n : 0));
}

struct samples_setup {
    const struct walker *walker;
    struct vm_layout layout;
    uint32_t depth;
};

/* Make the bags, once for the process; set up what the next samples are taken with, forget which
 * methods were described, throw away what was not collected.  Closed before.  -ENOMEM. */
int samples_open(const struct samples_setup *setup);

/* No further sample is taken, and those under way are done when this returns. A sample whose thread
 * was stopped in the middle for longer than 100 ms is thrown away. */
void samples_close(void);

/* Flags of a sample: */
struct sample_moment {
    enum sample_group group;
    uint64_t weight;
    /* The walk is of another thread than the calling one, which does not execute Java and is not
     * running; whether it did not run until now, asked when the walk is done: else no sample is
     * taken.  *ready: though it would, on a processor.  NULL: the calling thread walks itself. */
    bool (*stands_still)(const struct sample_subject *who, void *ctx, bool *ready);
    void *ctx;
    const uintptr_t *kernel; /* where in the kernel the thread is, innermost first */
    uint32_t n_kernel;
};

/* A frame of these, above those of enum walk_kind. */
enum { SAMPLE_KERNEL = 15 };

/* Take one.  ucontext: of the signal handler; NULL: from the thread's last frame in Java.  False:
 * there is none (lost, and counted; or the thread was running).  Async-signal-safe. */
bool samples_take(const struct sample_subject *who, const struct sample_moment *m,
                  const void *ucontext);

/* Give all that were taken to `visit`, in no order; what a sample points to stays until the next
 * call.  One thread. */
void samples_collect(void (*visit)(void *ctx, const struct sample *s), void *ctx);

/* Samples that found no room since the process began. */
uint64_t samples_lost(void);

#endif
