/* run.h - one walk under way: from a frame to its caller, frame by frame.
 *
 * Internal to the walker.  Each step checks that the frame is one (run_step); a frame that is not
 * ends the walk with an error.  The stack pointer only grows, so every walk ends. */
#ifndef ORCA_HOTSPOT_RUN_H
#define ORCA_HOTSPOT_RUN_H

#include "hotspot/frames_x86_64.h"
#include "hotspot/interpreter_x86_64.h"
#include "hotspot/pc_cache.h"

struct unwinder;

struct run {
    const struct layout *l;
    const struct interpreter *in;
    struct method_cache *methods; /* NULL: none */
    struct pc_cache *cache;       /* NULL: none */
    struct unwinder *unwinder;    /* of C; NULL: none */
    const struct chunks *chunks;  /* of virtual threads; NULL: not known */
    struct stack s;
    struct walk *out;
    uintptr_t thread; /* the JavaThread */
    bool in_java;     /* by its state */
    bool fp_told;     /* c->fp is in the trail already, or is the anchor's */
    int32_t n;        /* frames so far, without those */
    int32_t taken;    /* that were taken (walk.take) */
};

/* STEP_END: the last frame, or no room for more. */
enum step { STEP_MORE, STEP_END, STEP_FAILED };

/* Add a frame; only with WALK_WITH_STUBS: one of the VM's code. */
enum step run_emit(struct run *r, const struct walk_frame *f);
enum step run_emit_stub(struct run *r, uintptr_t pc);

/* The stamps of the frames from that frame on, when they are wanted. */
void run_stamp(struct run *r, int32_t from);

/* The method of a compiled frame alone, or with all that is inlined at the place.  STEP_FAILED: what
 * should be its method is not one. */
enum step run_emit_method(struct run *r, const struct nmethod *nm, uintptr_t pc, int32_t bci);
enum step run_emit_scopes(struct run *r, const struct nmethod *nm, uintptr_t pc,
                          enum pc_match match);

/* An interpreted frame; *c becomes its caller.  regs: see interpreted_frame. */
enum step run_interpreted(struct run *r, struct cursor *c,
                          const struct interpreter_registers *regs);

/* All frames from *c on, which called something.  match: how its place is described, when it is
 * compiled.  vm: it called the VM.  Returns how many frames there are now, or `failed`. */
int run_all(struct run *r, struct cursor *c, enum pc_match match, bool vm, int failed);

/* Whether the blob is the code that runs a continuation: what is below are its carrier's frames. */
bool run_enters_continuation(const struct run *r, const struct blob *b);

/* Whether `c` can be the place after a call of Java code or of a described stub. */
bool run_believable(const struct run *r, const struct cursor *c);

/* The caller of a compiled method that is interrupted, or called a leaf.  Registers may be pushed
 * below its frame for a while: then the frame is that much further up. */
bool run_pushed_caller(const struct run *r, const struct blob *b, enum frame_part part,
                       const struct cursor *c, struct cursor *caller);

/* In code that HotSpot generated, or in C that it called without leaving Java; `c` and regs: what
 * the thread was interrupted with.  Returns like walk(). */
int run_interrupted(struct run *r, struct cursor *c, const struct interpreter_registers *regs,
                    bool generated);

/* What a walker has: method_cache.h; chunks of virtual threads, NULL: not known. */
const struct method_cache *walker_methods(const struct walker *w);
const struct chunks *walker_chunks(const struct walker *w);

/* What walker_open makes of a JVM, from a layout and an interpreter that are known: the
 * fuzzer's. */
int walker_new(struct walker **out, const struct layout *l, const struct interpreter *in);

#endif
