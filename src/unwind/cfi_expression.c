/* cfi_expression.c - DWARF expressions in call-frame information: a stack machine, bounded in depth
 * and steps, whose reads are guarded. */
#include "unwind/cfi.h"

#include "unwind/reader.h"

/* --- the stack machine: DWARF 5, section 2.5 -------------------------------------------------- */

enum { DEEP = 32, OPERATIONS = 512, BITS = 64 };

enum {
    OP_ADDR = 0x03,
    OP_DEREF = 0x06,
    OP_CONST1U = 0x08, /* to const8s: sizes 1 2 4 8, each unsigned, signed */
    OP_CONST8S = 0x0f,
    OP_CONSTU,
    OP_CONSTS,
    OP_DUP,
    OP_DROP,
    OP_OVER,
    OP_PICK,
    OP_SWAP,
    OP_ROT,
    OP_ABS = 0x19,
    OP_AND,
    OP_DIV,
    OP_MINUS,
    OP_MOD,
    OP_MUL,
    OP_NEG,
    OP_NOT,
    OP_OR,
    OP_PLUS,
    OP_PLUS_UCONST,
    OP_SHL,
    OP_SHR,
    OP_SHRA,
    OP_XOR,
    OP_BRA,
    OP_EQ,
    OP_GE,
    OP_GT,
    OP_LE,
    OP_LT,
    OP_NE,
    OP_SKIP,
    OP_LIT0,
    OP_LIT31 = 0x4f,
    OP_BREG0 = 0x70,
    OP_BREG31 = 0x8f,
    OP_BREGX = 0x92,
    OP_DEREF_SIZE = 0x94,
    OP_NOP = 0x96,
};

struct machine {
    struct reader code;
    uintptr_t begin; /* of the expression: how far back a jump may go */
    uintptr_t stack[DEEP];
    uint32_t n;
};

static void push(struct machine *m, uintptr_t v)
{
    if (m->n == DEEP)
        m->code.failed = true;
    else
        m->stack[m->n++] = v;
}

static uintptr_t pop(struct machine *m)
{
    if (m->n > 0)
        return m->stack[--m->n];
    m->code.failed = true;
    return 0;
}

/* The value that many below the top. */
static uintptr_t pick(struct machine *m, uint32_t below)
{
    if (below < m->n)
        return m->stack[m->n - 1 - below];
    m->code.failed = true;
    return 0;
}

static void push_register(struct machine *m, const struct cfi_values *values, uint64_t number,
                          int64_t offset)
{
    if (number >= CFI_REGISTERS || !(values->known >> number & 1))
        m->code.failed = true;
    else
        push(m, values->value[number] + (uintptr_t)offset);
}

static void load(struct machine *m, uint32_t bytes)
{
    struct reader r = {.at = pop(m), .end = UINTPTR_MAX};
    uintptr_t v = read_sized(&r, bytes, false);
    m->code.failed |= r.failed;
    push(m, v);
}

static void jump(struct machine *m, bool taken)
{
    int16_t distance = (int16_t)read_u16(&m->code);
    if (!taken || m->code.failed)
        return;
    uintptr_t to = m->code.at + (uintptr_t)(intptr_t)distance;
    if (to < m->begin || to > m->code.end)
        m->code.failed = true;
    else
        m->code.at = to;
}

/* What works on the stack's top alone.  False: another operation. */
static bool unary(struct machine *m, uint8_t op)
{
    switch (op) {
    case OP_ABS: {
        intptr_t v = (intptr_t)pop(m);
        push(m, v < 0 ? 0 - (uintptr_t)v : (uintptr_t)v);
        return true;
    }
    case OP_NEG:
        push(m, 0 - pop(m));
        return true;
    case OP_NOT:
        push(m, ~pop(m));
        return true;
    case OP_PLUS_UCONST: {
        uintptr_t v = pop(m);
        push(m, v + read_uleb(&m->code));
        return true;
    }
    case OP_DEREF:
        load(m, sizeof(uintptr_t));
        return true;
    case OP_DEREF_SIZE:
        load(m, read_u8(&m->code));
        return true;
    default:
        return false;
    }
}

static bool shuffle(struct machine *m, uint8_t op)
{
    uintptr_t a, b, c;
    switch (op) {
    case OP_DUP:
        push(m, pick(m, 0));
        return true;
    case OP_DROP:
        pop(m);
        return true;
    case OP_OVER:
        push(m, pick(m, 1));
        return true;
    case OP_PICK:
        push(m, pick(m, read_u8(&m->code)));
        return true;
    case OP_SWAP:
        a = pop(m), b = pop(m);
        push(m, a), push(m, b);
        return true;
    case OP_ROT:
        a = pop(m), b = pop(m), c = pop(m);
        push(m, a), push(m, c), push(m, b);
        return true;
    default:
        return false;
    }
}

/* Of the second value and the top. */
static bool binary(uint8_t op, uintptr_t a, uintptr_t b, uintptr_t *v)
{
    intptr_t sa = (intptr_t)a, sb = (intptr_t)b;
    bool divisible = b != 0 && !(sb == -1 && sa == INTPTR_MIN);
    switch (op) {
    case OP_AND:
        *v = a & b;
        return true;
    case OP_DIV:
        *v = divisible ? (uintptr_t)(sa / sb) : 0;
        return divisible;
    case OP_MINUS:
        *v = a - b;
        return true;
    case OP_MOD:
        *v = b != 0 ? a % b : 0;
        return b != 0;
    case OP_MUL:
        *v = a * b;
        return true;
    case OP_OR:
        *v = a | b;
        return true;
    case OP_PLUS:
        *v = a + b;
        return true;
    case OP_SHL:
        *v = b < BITS ? a << b : 0;
        return true;
    case OP_SHR:
        *v = b < BITS ? a >> b : 0;
        return true;
    case OP_SHRA:
        *v = (uintptr_t)(sa >> (b < BITS ? b : BITS - 1));
        return true;
    case OP_XOR:
        *v = a ^ b;
        return true;
    case OP_EQ:
        *v = a == b;
        return true;
    case OP_GE:
        *v = sa >= sb;
        return true;
    case OP_GT:
        *v = sa > sb;
        return true;
    case OP_LE:
        *v = sa <= sb;
        return true;
    case OP_LT:
        *v = sa < sb;
        return true;
    case OP_NE:
        *v = a != b;
        return true;
    default:
        return false;
    }
}

/* Constants, registers, jumps.  False: another operation. */
static bool source(struct machine *m, const struct cfi_values *values, uint8_t op)
{
    if (op >= OP_LIT0 && op <= OP_LIT31) {
        push(m, op - OP_LIT0);
    } else if (op >= OP_BREG0 && op <= OP_BREG31) {
        push_register(m, values, op - OP_BREG0, read_sleb(&m->code));
    } else if (op == OP_BREGX) {
        uint64_t number = read_uleb(&m->code);
        push_register(m, values, number, read_sleb(&m->code));
    } else if (op >= OP_CONST1U && op <= OP_CONST8S) {
        uint32_t which = op - OP_CONST1U;
        push(m, read_sized(&m->code, 1u << which / 2, which & 1));
    } else if (op == OP_CONSTU) {
        push(m, read_uleb(&m->code));
    } else if (op == OP_CONSTS) {
        push(m, (uintptr_t)read_sleb(&m->code));
    } else if (op == OP_ADDR) {
        push(m, read_u64(&m->code));
    } else if (op == OP_SKIP) {
        jump(m, true);
    } else if (op == OP_BRA) {
        jump(m, pop(m) != 0);
    } else {
        return op == OP_NOP;
    }
    return true;
}

static void operate(struct machine *m, const struct cfi_values *values, uint8_t op)
{
    if (source(m, values, op) || unary(m, op) || shuffle(m, op))
        return;
    uintptr_t b = pop(m), a = pop(m), v = 0;
    if (!binary(op, a, b, &v))
        m->code.failed = true;
    push(m, v);
}

bool cfi_evaluate(const struct library *lib, uintptr_t block, const struct cfi_values *values,
                  const uintptr_t *first, uintptr_t *result)
{
    struct machine m = {.code = {.at = block, .end = lib->end, .failed = block < lib->begin}};
    uint64_t bytes = read_uleb(&m.code);
    if (m.code.failed || bytes > m.code.end - m.code.at)
        return false;
    m.begin = m.code.at;
    m.code.end = m.code.at + bytes;
    if (first)
        push(&m, *first);
    for (int i = 0; i < OPERATIONS && !m.code.failed; i++) {
        if (m.code.at == m.code.end) {
            *result = pop(&m);
            return !m.code.failed;
        }
        operate(&m, values, read_u8(&m.code));
    }
    return false;
}
