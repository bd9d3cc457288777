/* code.h - one Code attribute (JVMS 4.7.3), taken apart: its instructions by number, its exception
 * table, where its attributes are.
 *
 *     insns[at[pc]].pc == pc  where an instruction starts;  at[pc] == CODE_NONE elsewhere
 *     insns[n_insns].pc == len                              the end counts as a boundary
 *
 * Every branch target and exception range was checked to be an instruction's start.  The second
 * half of struct code_insn is what the rewriter decided: the code at a boundary becomes
 *
 *     trampolines | after-code of the previous instruction | before-code | the instruction
 *     ^off          ^off_after                               ^off_before   ^off_insn
 *
 * A jump to the instruction goes to off_before. */
#ifndef ORCA_CLASSFILE_CODE_H
#define ORCA_CLASSFILE_CODE_H

#include "classfile/cf.h"
#include "classfile/insn.h"

#define CODE_NONE UINT32_MAX

/* Bytes of inserted code in the method's buffer of inserted code. */
struct code_piece {
    uint32_t at, len;
};

/* Which exception ranges hold the after-code at a boundary, beside those around both sides. */
enum code_side {
    CODE_WITH_PREVIOUS, /* those of the instruction before */
    CODE_WITH_NEXT,     /* those that start at the boundary */
    CODE_ALONE,         /* none of them */
};

/* Of a constructor's `this`, before the instruction. */
enum code_this {
    CODE_THIS_UNSEEN, /* not reached */
    CODE_THIS_UNINIT,
    CODE_THIS_READY,
    CODE_THIS_MIXED, /* either, or not known */
};

/* How a branch is written. */
enum code_form { CODE_AS_IS, CODE_WIDE, CODE_VIA };

struct code_insn {
    uint32_t pc;
    uint32_t target; /* of a branch: number of an instruction */
    uint8_t op, kind;
    bool is_target; /* of a branch, a switch or an exception table entry */
    bool has_frame;

    uint8_t this_state; /* enum code_this; ready in methods that are not constructors */
    uint8_t side;       /* enum code_side, of the after-code at this boundary */
    uint8_t form;       /* enum code_form */
    uint32_t via;       /* CODE_VIA: number of the trampoline */
    struct code_piece after, before, replaced; /* replaced.len 0: the instruction stays */
    uint32_t off, off_after, off_before, off_insn;
};

struct code_handler {
    uint32_t start, end, handler; /* numbers of instructions; end may be n_insns */
    uint32_t type;                /* constant of the class, 0: any */
};

struct code {
    const struct cf_class *c;
    const struct cf_method *m;
    const uint8_t *bytes;
    uint32_t len, max_stack, max_locals;
    bool old_layout; /* before 45.3: u1 max_stack, u1 max_locals, u2 code_length */

    struct code_insn *insns;
    uint32_t n_insns;
    uint32_t *at;
    struct code_handler *handlers;
    uint32_t n_handlers;
    uint32_t attrs, end; /* offset of attributes_count, and of the attribute's end */
};

/* -EINVAL: not valid code, with the pc in the message; -ENOMEM. */
int code_parse(struct code *code, const struct cf_class *c, const struct cf_method *m,
               struct arena *a, struct err *err);

#endif
