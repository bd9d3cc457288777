/* interpreter_x86_64.h - frames of the template interpreter.
 *
 * A frame hangs on rbp: below it the caller's sp, the method, its constant pool's cache, the place
 * of the next bytecode; above it the caller's rbp and the return address.  While code runs, the
 * bytecode's place is in r13.  Each piece of the interpreter (codelet) is looked at once, when the
 * walker is opened: where a method entry begins to build its frame, and where a frame is
 * removed. */
#ifndef ORCA_HOTSPOT_INTERPRETER_X86_64_H
#define ORCA_HOTSPOT_INTERPRETER_X86_64_H

#include "hotspot/layout.h"
#include "hotspot/method_cache.h"
#include "hotspot/stack.h"
#include "hotspot/walker.h"

enum { INTERPRETER_ENTRIES = 64, INTERPRETER_EXITS = 128 };

/* A method entry: [begin, end), its frame is begun at `enter` (push rbp; mov rbp, rsp); 0:
 * never. */
struct interpreter_entry {
    uintptr_t begin, end, enter;
};

/* Where a frame is removed: after the instruction at `leave` the return address is popped at `pop`
 * into `reg`, rsp set to the caller's, which is in `sp_reg`, at `sp`; `end`: the jump to the return
 * address, 0: none. */
struct interpreter_exit {
    uintptr_t leave, pop, sp, end;
    uint8_t reg, sp_reg;
};

struct interpreter {
    struct interpreter_entry entries[INTERPRETER_ENTRIES];
    struct interpreter_exit exits[INTERPRETER_EXITS];
    uint32_t n_entries, n_exits;
};

/* The registers of an interrupted thread that the interpreter uses. */
struct interpreter_registers {
    uintptr_t by_number[16]; /* rax rcx rdx rbx rsp rbp rsi rdi r8 ... r15, as in instructions */
};

int interpreter_open(struct interpreter *in, const struct layout *l, struct err *err);

struct interpreted_in {
    const struct layout *l;
    const struct stack *s;
    struct method_cache *known; /* NULL: nothing is remembered */
};

/* The frame at c->fp, its pc in the interpreter; with its stamp where that is remembered.  regs: of
 * the interrupted thread, whose youngest frame this is; else NULL.  False: no frame. */
bool interpreted_frame(const struct interpreted_in *in, const struct cursor *c,
                       const struct interpreter_registers *regs, struct walk_frame *f);

bool interpreted_caller(const struct stack *s, const struct cursor *c, struct cursor *caller);

/* The words that these two read, when the caller's was not interrupted in it. */
void interpreted_trail(struct trail *t, const struct stack *s, const struct cursor *c);

enum interpreter_part {
    INTERPRETER_FRAME, /* the frame at rbp is that of the code at pc */
    INTERPRETER_ENTRY, /* the frame of the method in rbx is not built; `caller` is the caller */
    INTERPRETER_BEGUN, /* it is linked, not filled; `caller` too */
    INTERPRETER_EXIT,  /* the frame is gone; `caller` is the caller */
    INTERPRETER_UNKNOWN,
};

/* What exists of the youngest frame of an interrupted thread.  ENTRY leaves the return address out:
 * one of tries[0..1] is. */
enum interpreter_part interpreter_part_at(const struct interpreter *in, const struct stack *s,
                                          uintptr_t pc, const struct interpreter_registers *regs,
                                          struct cursor *caller, uintptr_t tries[2]);

/* Whether `pc` is in the entry of a method that never gets a frame (of java.lang.Math): rbp is its
 * caller's, or anything. */
bool interpreter_has_no_frame(const struct interpreter *in, uintptr_t pc);

#endif
