/* origin.h - where the objects come from that an instruction takes: the one that monitorenter
 * locks, the receiver and the arguments of a call.
 *
 * The code is gone through once, from its beginning to the instruction, with what is known of each
 * place of the operand stack and of each variable.  Of variables: what was stored since the last
 * place that a branch leads to, and of one that is stored once, or a parameter that never is, that
 * in any case.  Of the stack: on the ways that meet, what is the same.  Uncertain origins are left
 * open: no name is better than a wrong one.
 *
 * The bytes are from outside.  Work and memory are in proportion to the code's length. */
#ifndef ORCA_CLASSFILE_ORIGIN_H
#define ORCA_CLASSFILE_ORIGIN_H

#include "classfile/cf.h"

struct origin_method {
    const struct cf_class *c; /* its constants are enough */
    const uint8_t *code;
    uint32_t len;
    bool is_static;
    struct cf_text desc;
};

enum { ORIGIN_OPERANDS = 8, ORIGIN_TEXT_MAX = 1000 };

/* Append the instruction's line, as DEF site has it: "lock;fshop/Stock.guard".  False, and nothing
 * is appended: it is neither monitorenter nor a call, or nothing is known of its operands.  Scratch
 * memory is the arena's.  The text is modified UTF-8 without a NUL. */
bool origin_put(const struct origin_method *m, uint32_t pc, struct arena *a, struct buf *out);

#endif
