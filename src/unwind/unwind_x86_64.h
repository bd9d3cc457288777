/* unwind_x86_64.h - from a frame of C to its caller: registers in, registers out.
 *
 * By the call-frame information of the library that the pc is in (cfi.h); without it,
 * by the link at rbp, and the caller learns that.  The rules of known places are
 * kept.
 *     rsp of the caller > rsp of the frame         so every walk ends
 * Works at any instruction, also in a function's prologue and epilogue.  No lock, no allocation, no
 * system call: async-signal-safe.  Every read is guarded (guarded_open must have been called). */
#ifndef ORCA_UNWIND_UNWIND_X86_64_H
#define ORCA_UNWIND_UNWIND_X86_64_H

#include "unwind/cfi.h"

/* By DWARF's numbers. */
enum {
    UNWIND_RAX,
    UNWIND_RDX,
    UNWIND_RCX,
    UNWIND_RBX,
    UNWIND_RSI,
    UNWIND_RDI,
    UNWIND_RBP,
    UNWIND_RSP,
    UNWIND_R8,
    UNWIND_R12 = 12,
    UNWIND_R13,
    UNWIND_R14,
    UNWIND_R15,
    UNWIND_PC = CFI_RETURN,
};

/* Those that a function gives back as it found them, and rsp and the pc: known in every frame. */
enum {
    UNWIND_KEPT =
        1 << UNWIND_RBX | 1 << UNWIND_RBP | 1 << UNWIND_RSP | 0xf << UNWIND_R12 | 1 << UNWIND_PC
};

struct unwind_frame {
    struct cfi_values registers;
    bool interrupted; /* the instruction at the pc has not run; else the pc is a return address */
    bool by_link;     /* found by rbp, without a call that says so: a guess */
};

struct unwinder;

/* With the libraries of now. */
int unwinder_new(struct unwinder **out, struct err *err);
void unwinder_free(struct unwinder *u);

/* Which the owner of the unwinder keeps up to date. */
struct libraries *unwinder_libraries(const struct unwinder *u);

/* The frame that a signal handler's ucontext was taken in. */
void unwind_context(const void *ucontext, struct unwind_frame *f);

/* A frame of which nothing but these is known, its pc a return address. */
void unwind_start(struct unwind_frame *f, uintptr_t pc, uintptr_t sp, uintptr_t fp);

enum unwind_result {
    UNWIND_CALLER, /* f is the caller */
    UNWIND_END,    /* it was the thread's first function; f is as it was */
    UNWIND_LOST,   /* what leads on is not known, or is not there; f is as it was */
};

/* `high`: the stack's end; words from f's rsp (below it the red zone) up to there are read.
 * uncached: neither look at what is remembered nor add to it. */
enum unwind_result unwind_step(struct unwinder *u, uintptr_t high, bool uncached,
                               struct unwind_frame *f);

/* The same by the tables of one library (NULL: by rbp's link), with nothing remembered. */
enum unwind_result unwind_by_library(const struct library *lib, uintptr_t high,
                                     struct unwind_frame *f);

#endif
