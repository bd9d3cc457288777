#include "classfile/insn.h"

#include "classfile/be.h"

const struct insn_op insn_ops[256] = {
    [0x00 ... 0x0f] = {INSN_PLAIN, 1},  /* nop, constants */
    [0x10] = {INSN_PLAIN, 2},           /* bipush */
    [0x11] = {INSN_PLAIN, 3},           /* sipush */
    [0x12] = {INSN_PLAIN, 2},           /* ldc */
    [0x13 ... 0x14] = {INSN_PLAIN, 3},  /* ldc_w, ldc2_w */
    [0x15 ... 0x19] = {INSN_PLAIN, 2},  /* iload .. aload */
    [0x1a ... 0x35] = {INSN_PLAIN, 1},  /* iload_0 .. saload */
    [0x36 ... 0x3a] = {INSN_STORE, 2},  /* istore .. astore */
    [0x3b ... 0x4e] = {INSN_STORE, 1},  /* istore_0 .. astore_3 */
    [0x4f ... 0x83] = {INSN_PLAIN, 1},  /* iastore .. lxor */
    [0x84] = {INSN_IINC, 3},            /* iinc */
    [0x85 ... 0x98] = {INSN_PLAIN, 1},  /* i2l .. dcmpg */
    [0x99 ... 0xa6] = {INSN_COND, 3},   /* ifeq .. if_acmpne */
    [0xa7] = {INSN_GOTO, 3},            /* goto */
    [0xa8] = {INSN_JSR, 3},             /* jsr */
    [0xa9] = {INSN_RET, 2},             /* ret */
    [0xaa ... 0xab] = {INSN_SWITCH, 0}, /* tableswitch, lookupswitch */
    [0xac ... 0xb1] = {INSN_RETURN, 1}, /* ireturn .. return */
    [0xb2 ... 0xb8] = {INSN_PLAIN, 3},  /* getstatic .. invokestatic */
    [0xb9 ... 0xba] = {INSN_PLAIN, 5},  /* invokeinterface, invokedynamic */
    [0xbb] = {INSN_PLAIN, 3},           /* new */
    [0xbc] = {INSN_PLAIN, 2},           /* newarray */
    [0xbd] = {INSN_PLAIN, 3},           /* anewarray */
    [0xbe] = {INSN_PLAIN, 1},           /* arraylength */
    [0xbf] = {INSN_THROW, 1},           /* athrow */
    [0xc0 ... 0xc1] = {INSN_PLAIN, 3},  /* checkcast, instanceof */
    [0xc2 ... 0xc3] = {INSN_PLAIN, 1},  /* monitorenter, monitorexit */
    [0xc4] = {INSN_WIDE, 0},            /* wide */
    [0xc5] = {INSN_PLAIN, 4},           /* multianewarray */
    [0xc6 ... 0xc7] = {INSN_COND, 3},   /* ifnull, ifnonnull */
    [0xc8] = {INSN_GOTO_W, 5},          /* goto_w */
    [0xc9] = {INSN_JSR_W, 5},           /* jsr_w */
};

uint32_t insn_switch_padding(uint32_t pc)
{
    return 3 - (pc & 3);
}

static uint32_t switch_len(const uint8_t *code, uint32_t len, uint32_t pc)
{
    uint64_t at = (uint64_t)pc + 1 + insn_switch_padding(pc);
    bool table = code[pc] == OP_TABLESWITCH;
    uint32_t head = table ? 12 : 8;
    if (at + head > len)
        return 0;
    int64_t first = (int32_t)be_get4(code + at + 4);
    int64_t n = table ? (int32_t)be_get4(code + at + 8) - first + 1 : first;
    if (n < 0 || n > len || at + head + (uint64_t)n * (table ? 4 : 8) > len)
        return 0;
    return (uint32_t)(at + head + (uint64_t)n * (table ? 4 : 8) - pc);
}

static uint32_t wide_len(const uint8_t *code, uint32_t len, uint32_t pc)
{
    if (len - pc < 2)
        return 0;
    uint8_t op = code[pc + 1];
    bool has_slot =
        (op >= OP_ILOAD && op <= OP_ALOAD) || (op >= OP_ISTORE && op <= OP_ASTORE) || op == OP_RET;
    return op == OP_IINC ? 6 : has_slot ? 4 : 0;
}

uint32_t insn_len(const uint8_t *code, uint32_t len, uint32_t pc)
{
    if (pc >= len)
        return 0;
    struct insn_op op = insn_ops[code[pc]];
    uint32_t n = op.kind == INSN_SWITCH ? switch_len(code, len, pc)
                 : op.kind == INSN_WIDE ? wide_len(code, len, pc)
                                        : op.len;
    return n <= len - pc ? n : 0;
}

bool insn_falls_through(enum insn_kind kind)
{
    return kind != INSN_GOTO && kind != INSN_GOTO_W && kind != INSN_SWITCH && kind != INSN_RET &&
           kind != INSN_RETURN && kind != INSN_THROW;
}

bool insn_is_branch(enum insn_kind kind)
{
    return kind >= INSN_COND && kind <= INSN_JSR_W;
}

int64_t insn_target(const uint8_t *code, uint32_t pc)
{
    bool wide = insn_ops[code[pc]].len == 5;
    return (int64_t)pc + (wide ? (int32_t)be_get4(code + pc + 1) : (int16_t)be_get2(code + pc + 1));
}

struct insn_switch insn_switch_at(const uint8_t *code, uint32_t pc)
{
    uint32_t at = pc + 1 + insn_switch_padding(pc);
    int64_t x = (int32_t)be_get4(code + at + 4);
    if (code[pc] == OP_LOOKUPSWITCH)
        return (struct insn_switch){at, at + 12, 8, (uint32_t)x};
    int64_t high = (int32_t)be_get4(code + at + 8);
    return (struct insn_switch){at, at + 12, 4, (uint32_t)(high - x + 1)};
}

uint32_t insn_stores(const uint8_t *code, uint32_t pc, uint32_t *slot)
{
    uint8_t op = code[pc];
    bool wide = op == OP_WIDE;
    if (wide)
        op = code[pc + 1];
    if (op == OP_IINC || (op >= OP_ISTORE && op <= OP_ASTORE)) {
        *slot = wide ? be_get2(code + pc + 2) : code[pc + 1];
        uint32_t type =
            op == OP_IINC ? 0 : op - (uint32_t)OP_ISTORE; /* int long float double ref */
        return type == 1 || type == 3 ? 2 : 1;
    }
    if (op < OP_ISTORE_0 || op > OP_ASTORE_3)
        return 0;
    *slot = (op - (uint32_t)OP_ISTORE_0) % 4;
    uint32_t type = (op - (uint32_t)OP_ISTORE_0) / 4;
    return type == 1 || type == 3 ? 2 : 1;
}
