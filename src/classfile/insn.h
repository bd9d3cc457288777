/* insn.h - the instruction set (JVMS chapter 6): one table row per opcode, and the questions a
 * rewriter asks about an instruction.  Bytes are from outside: insn_len says whether the whole
 * instruction fits; the other functions take instructions that insn_len accepted. */
#ifndef ORCA_CLASSFILE_INSN_H
#define ORCA_CLASSFILE_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum op {
    OP_NOP = 0x00,
    OP_ACONST_NULL = 0x01,
    OP_ICONST_0 = 0x03,
    OP_LCONST_0 = 0x09,
    OP_FCONST_0 = 0x0b,
    OP_DCONST_0 = 0x0e,
    OP_BIPUSH = 0x10,
    OP_SIPUSH = 0x11,
    OP_LDC = 0x12,
    OP_LDC_W = 0x13,
    OP_LDC2_W = 0x14,
    OP_ILOAD = 0x15,
    OP_ALOAD = 0x19,
    OP_ILOAD_0 = 0x1a,
    OP_ALOAD_0 = 0x2a,
    OP_ISTORE = 0x36,
    OP_ASTORE = 0x3a,
    OP_ISTORE_0 = 0x3b,
    OP_ASTORE_3 = 0x4e,
    OP_POP = 0x57,
    OP_DUP = 0x59,
    OP_DUP2 = 0x5c,
    OP_IINC = 0x84,
    OP_IFEQ = 0x99,
    OP_GOTO = 0xa7,
    OP_JSR = 0xa8,
    OP_RET = 0xa9,
    OP_TABLESWITCH = 0xaa,
    OP_LOOKUPSWITCH = 0xab,
    OP_IRETURN = 0xac,
    OP_ARETURN = 0xb0,
    OP_RETURN = 0xb1,
    OP_INVOKEVIRTUAL = 0xb6,
    OP_INVOKESPECIAL = 0xb7,
    OP_INVOKESTATIC = 0xb8,
    OP_INVOKEINTERFACE = 0xb9,
    OP_NEW = 0xbb,
    OP_NEWARRAY = 0xbc,
    OP_ANEWARRAY = 0xbd,
    OP_ATHROW = 0xbf,
    OP_MONITORENTER = 0xc2,
    OP_MONITOREXIT = 0xc3,
    OP_WIDE = 0xc4,
    OP_MULTIANEWARRAY = 0xc5,
    OP_IFNULL = 0xc6,
    OP_IFNONNULL = 0xc7,
    OP_GOTO_W = 0xc8,
    OP_JSR_W = 0xc9,
};

enum insn_kind {
    INSN_BAD, /* reserved, or no opcode */
    INSN_PLAIN,
    INSN_COND, /* if...: 16-bit offset, goes on when it does not branch */
    INSN_GOTO,
    INSN_JSR,
    INSN_GOTO_W,
    INSN_JSR_W,
    INSN_SWITCH,
    INSN_WIDE,
    INSN_RET,
    INSN_RETURN,
    INSN_THROW,
    INSN_STORE, /* xstore N and xstore_N */
    INSN_IINC,
};

/* Kind and length of an opcode; length 0: insn_len has to look at the operands. */
struct insn_op {
    uint8_t kind, len;
};
extern const struct insn_op insn_ops[256];

/* The length of the instruction at pc, or 0 when it is none or does not fit into len bytes. */
uint32_t insn_len(const uint8_t *code, uint32_t len, uint32_t pc);

/* Whether control may go from this instruction to the next one in the code. */
bool insn_falls_through(enum insn_kind kind);

/* Whether its operand is one branch offset. */
bool insn_is_branch(enum insn_kind kind);

/* The target of a branch; may be outside of the code. */
int64_t insn_target(const uint8_t *code, uint32_t pc);

/* A switch: `n` offsets of 4 bytes, the first (the default) at `def`, the others from `first` every
 * `stride` bytes; positions count from the start of the code. */
struct insn_switch {
    uint32_t def, first, stride, n;
};
struct insn_switch insn_switch_at(const uint8_t *code, uint32_t pc);
uint32_t insn_switch_padding(uint32_t pc);

/* The local variables that the instruction writes: the number of slots, 0 when it writes none. */
uint32_t insn_stores(const uint8_t *code, uint32_t pc, uint32_t *slot);

#endif
