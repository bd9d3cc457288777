/* call_trace.c - AsyncGetCallTrace2: the walker's frames and errors in the API's words.
 *
 * Runs in signal handlers.  The frames are translated a buffer at a time, so that a deep stack
 * needs no more of the interrupted thread's own than a shallow one. */
#include "asgct2/prepared.h"
#include "base/guarded.h"
#include "hotspot/stack_room.h"
#include "orca/asgct2.h"

#include <signal.h>
#include <ucontext.h>

enum {
    BUFFER = WALK_ROOM + 32,
    BCI_UNKNOWN = UINT16_MAX,
};

struct prepared prepared;

/* --- errors ----------------------------------------------------------------------------------- */

/* The walker has AsyncGetCallTrace's numbers; the API has all of them but one. */
static jint error_of(int rc)
{
    switch (rc) {
    case WALK_NO_JAVA_FRAME:
        return NO_JAVA_FRAME;
    case WALK_UNKNOWN_NOT_JAVA:
        return UNKNOWN_NOT_JAVA;
    case WALK_NOT_WALKABLE_NOT_JAVA:
        return NOT_WALKABLE_NOT_JAVA;
    case WALK_UNKNOWN_JAVA:
    case WALK_NOT_WALKABLE_JAVA:
        return UNKNOWN_JAVA;
    case WALK_THREAD_EXIT:
        return THREAD_EXIT;
    case WALK_DEOPT:
        return DEOPT;
    case WALK_THREAD_NOT_JAVA:
        return THREAD_NOT_JAVA;
    default:
        return UNKNOWN_STATE;
    }
}

/* --- frames ----------------------------------------------------------------------------------- */

/* A walk into a caller's trace.  skip: frames of ours that come first.  `walk` first: what the
 * walker gives back is this. */
struct translation {
    struct walk walk;
    CallFrame *to;
    int32_t n, max, skip;
};

static CallFrame java_frame(FrameTypeId type, const struct walk_frame *f)
{
    CallFrame to = {.java_frame = {.type = type, .comp_level = f->level}};
    to.java_frame.bci = f->bci >= 0 && f->bci < BCI_UNKNOWN ? (uint16_t)f->bci : BCI_UNKNOWN;
    to.java_frame.method_id = (jmethodID)method_ids_find(prepared.ids, f->method);
    return to;
}

static CallFrame other_frame(FrameTypeId type, const struct walk_frame *f)
{
    return (CallFrame){.non_java_frame = {.type = type, .pc = (void *)f->pc}};
}

static CallFrame translated(const struct walk_frame *f)
{
    switch (f->kind) {
    case WALK_INTERPRETED:
    case WALK_COMPILED:
        return java_frame(FRAME_JAVA, f);
    case WALK_INLINED:
        return java_frame(FRAME_JAVA_INLINED, f);
    case WALK_NATIVE:
        return other_frame(FRAME_NATIVE, f);
    case WALK_NATIVE_CODE:
        return other_frame(FRAME_CPP, f);
    default:
        return other_frame(FRAME_STUB, f);
    }
}

static bool take(struct walk *w, int32_t n)
{
    struct translation *t = (struct translation *)w;
    for (int32_t i = 0; i < n && t->n < t->max; i++)
        if (t->skip > 0 && w->frames[i].kind == WALK_NATIVE_CODE)
            t->skip--;
        else
            t->to[t->n++] = translated(&w->frames[i]);
    return t->n < t->max;
}

/* Where a walk begins: in the registers of the handler's ucontext or, without one, of
 * AsyncGetCallTrace2 itself, whose frame does not count; NULL: where Java code was left. */
enum { WITH_C = 1 };
struct begin {
    const void *registers;
    bool own;
    uint32_t options;
};

/* Not inlined: its frame is made only where there is room for it. */
static __attribute__((noinline)) jint walk_into(CallFrame *to, jint depth, uintptr_t thread,
                                                const struct begin *begin)
{
    struct walk_frame frames[BUFFER];
    struct translation t = {
        .walk = {.frames = frames,
                 .max = BUFFER,
                 .options = WALK_WITH_STUBS | (begin->options & WITH_C ? WALK_WITH_NATIVE : 0u)},
        .to = to,
        .max = depth,
        .skip = begin->own};
    if (depth > BUFFER - t.skip)
        t.walk.take = take;
    else
        t.walk.max = depth + t.skip;
    int rc = walk(prepared.walker, thread, begin->registers, &t.walk);
    if (rc <= 0)
        return error_of(rc);
    take(&t.walk, rc - t.n);
    return t.n;
}

/* --- what may be walked ----------------------------------------------------------------------- */

/* A stack that is neither the thread's nor the handler's is the caller's affair. */
static bool has_room(uintptr_t thread, const void *ucontext)
{
    uintptr_t low, high;
    return walker_stack(prepared.walker, thread, &low, &high) &&
           stack_room(low, high, STACK_GUARD_ZONE, ucontext, SIZE_MAX) >= STACK_NEEDED;
}

/* A thread that has not run Java code yet. */
static bool is_new(uintptr_t thread)
{
    const struct layout *l = walker_layout(prepared.walker);
    uint32_t state;
    return guarded_u32(thread + (uintptr_t)l->thread_state, &state) &&
           thread_state_is(&l->states, THREAD_FRESH, state);
}

/* As AsyncGetCallTrace: while a collector has stopped all threads, no frames. */
static bool collecting(void)
{
    uint8_t active;
    return guarded_u8(prepared.gc_active, &active) && active;
}

/* What is read may have gone away.  A fault of a thread that blocks its signal would end the
 * process. */
static bool catches_faults(void)
{
    sigset_t blocked;
    return pthread_sigmask(SIG_BLOCK, NULL, &blocked) == 0 && !sigismember(&blocked, SIGSEGV) &&
           !sigismember(&blocked, SIGBUS);
}

static jint trace_of(CallFrame *frames, jint depth, const void *ucontext, const struct begin *begin)
{
    /* acquire: pairs with the release in setup.c */
    int phase = atomic_load_explicit(&prepared.phase, memory_order_acquire);
    if (phase != PHASE_READY)
        return phase == PHASE_ENDED ? THREAD_EXIT : NO_CLASS_LOAD;
    if (!catches_faults())
        return UNKNOWN_STATE;
    uintptr_t thread = current_thread(&prepared.thread);
    if (!thread)
        return THREAD_NOT_JAVA;
    if (collecting())
        return GC_ACTIVE;
    if (depth <= 0 || !frames || is_new(thread))
        return NO_JAVA_FRAME;
    return has_room(thread, ucontext) ? walk_into(frames, depth, thread, begin) : UNKNOWN_STATE;
}

void AsyncGetCallTrace2(CallTrace *trace, jint depth, void *ucontext, uint32_t options)
{
    if (!trace)
        return;
    ucontext_t own;
    struct begin begin = {.registers = ucontext, .options = options};
    begin.own = !ucontext && options & WITH_C && getcontext(&own) == 0;
    if (begin.own)
        begin.registers = &own;
    trace->frame_info = NULL;
    trace->num_frames = trace_of(trace->frames, depth, ucontext, &begin);
}
