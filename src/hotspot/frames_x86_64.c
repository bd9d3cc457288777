#include "hotspot/frames_x86_64.h"

#include "base/util.h"

#include <string.h>

/* --- instructions
 * --------------------------------------------------------------------------------- The few that
 * HotSpot's compilers set up and tear down frames with. */

enum { CODE_BYTES = 40, STEPS = 12, LINK_WORDS = 2 };

struct code {
    uint8_t bytes[CODE_BYTES];
    uint32_t n;
};

static void read_code(uintptr_t at, uintptr_t end, struct code *c)
{
    memset(c, 0, sizeof *c);
    while (c->n < CODE_BYTES && at + c->n < end && guarded_u8(at + c->n, &c->bytes[c->n]))
        c->n++;
}

enum op {
    OP_OTHER,
    OP_PUSH_RBP,
    OP_POP_RBP,
    OP_GROW,
    OP_SHRINK,
    OP_SAVE_RBP,
    OP_NEUTRAL,
    OP_POLL,
    OP_LEAVE,
    OP_RET,
    OP_JMP
};

/* Patterns: mask 0 matches any byte.  size: of the whole instruction. */
static const struct pattern {
    uint8_t bytes[4];
    uint8_t prefix, size;
    enum op op;
} patterns[] = {
    {{0x55}, 1, 1, OP_PUSH_RBP},
    {{0x5d}, 1, 1, OP_POP_RBP},
    {{0xc9}, 1, 1, OP_LEAVE},
    {{0xc3}, 1, 1, OP_RET},
    {{0xc2}, 1, 3, OP_RET},
    {{0xe9}, 1, 5, OP_JMP},
    {{0xeb}, 1, 2, OP_JMP},
    {{0xff, 0xe0}, 2, 2, OP_JMP},                  /* jmp rax */
    {{0x41, 0xff, 0xe2}, 3, 3, OP_JMP},            /* jmp r10 */
    {{0x41, 0xff, 0xe3}, 3, 3, OP_JMP},            /* jmp r11 */
    {{0x48, 0x83, 0xec}, 3, 4, OP_GROW},           /* sub rsp, imm8 */
    {{0x48, 0x81, 0xec}, 3, 7, OP_GROW},           /* sub rsp, imm32 */
    {{0x48, 0x83, 0xc4}, 3, 4, OP_SHRINK},         /* add rsp, imm8 */
    {{0x48, 0x81, 0xc4}, 3, 7, OP_SHRINK},         /* add rsp, imm32 */
    {{0x48, 0x89, 0x6c, 0x24}, 4, 5, OP_SAVE_RBP}, /* mov [rsp+d8], rbp */
    {{0x48, 0x89, 0xac, 0x24}, 4, 8, OP_SAVE_RBP}, /* mov [rsp+d32], rbp */
    {{0x89, 0x84, 0x24}, 3, 7, OP_NEUTRAL},        /* mov [rsp+d32], eax: stack banging */
    {{0x48, 0x8b, 0xec}, 3, 3, OP_NEUTRAL},        /* mov rbp, rsp */
    {{0x48, 0x89, 0xe5}, 3, 3, OP_NEUTRAL},
    {{0xc5, 0xf8, 0x77}, 3, 3, OP_NEUTRAL},       /* vzeroupper */
    {{0xf3, 0x0f, 0x1e, 0xfa}, 4, 4, OP_NEUTRAL}, /* endbr64 */
    {{0x90}, 1, 1, OP_NEUTRAL},
    {{0x66, 0x90}, 2, 2, OP_NEUTRAL},
    {{0x66, 0x66, 0x90}, 3, 3, OP_NEUTRAL},
    {{0x66, 0x66, 0x66, 0x90}, 4, 4, OP_NEUTRAL},
    {{0x0f, 0x1f, 0x00}, 3, 3, OP_NEUTRAL}, /* nops of 3 to 8 bytes */
    {{0x0f, 0x1f, 0x40}, 3, 4, OP_NEUTRAL},
    {{0x0f, 0x1f, 0x44}, 3, 5, OP_NEUTRAL},
    {{0x66, 0x0f, 0x1f, 0x44}, 4, 6, OP_NEUTRAL},
    {{0x0f, 0x1f, 0x80}, 3, 7, OP_NEUTRAL},
    {{0x0f, 0x1f, 0x84}, 3, 8, OP_NEUTRAL},
    /* the poll of a return: compare rsp with the thread's limit, go to a stub */
    {{0x49, 0x3b, 0x67}, 3, 4, OP_POLL},
    {{0x49, 0x3b, 0xa7}, 3, 7, OP_POLL},
    {{0x0f, 0x87}, 2, 6, OP_POLL},
    /* a native wrapper's look for an exception: cmp [r15+d], 0; jne */
    {{0x49, 0x83, 0x7f}, 3, 5, OP_POLL},
    {{0x49, 0x83, 0xbf}, 3, 8, OP_POLL},
    {{0x49, 0x81, 0x7f}, 3, 8, OP_POLL},
    {{0x49, 0x81, 0xbf}, 3, 11, OP_POLL},
    {{0x0f, 0x85}, 2, 6, OP_POLL},
    /* that stub: lea r10, [rip+d]; mov [r15+d], r10; jmp */
    {{0x4c, 0x8d, 0x15}, 3, 7, OP_POLL},
    {{0x4d, 0x89, 0x97}, 3, 7, OP_POLL},
    /* a native wrapper's poll, since JDK 25: test [r15+d8], 1; jz; mov r10, its end; as above */
    {{0x41, 0xf6, 0x47}, 3, 5, OP_POLL},
    {{0x74}, 1, 2, OP_POLL},
    {{0x49, 0xba}, 2, 10, OP_POLL},
};

/* The instruction at c->bytes[*at]; *at moves behind it.  *amount: what OP_GROW and OP_SHRINK
 * add. */
static enum op decode(const struct code *c, uint32_t *at, uint32_t *amount)
{
    for (size_t i = 0; i < ARRAY_LEN(patterns); i++) {
        const struct pattern *p = &patterns[i];
        if (*at + p->size > c->n || memcmp(c->bytes + *at, p->bytes, p->prefix) != 0)
            continue;
        *amount = 0;
        memcpy(amount, c->bytes + *at + p->prefix, min_u64(p->size - p->prefix, sizeof *amount));
        *at += p->size;
        return p->op;
    }
    return OP_OTHER;
}

/* --- which part of a frame exists ------------------------------------------------------------- */

/* The first instruction of an nmethod that must no longer be entered is overwritten with a jump of
 * five bytes.  What it was: a stack bang of 7 bytes (its displacement is negative), a nop of 5, or
 * a sub of 7 that makes the whole frame. */
static bool skip_patch(const struct code *c, uint32_t *size, bool *whole)
{
    enum { JUMP = 0xe9, JUMP_BYTES = 5, LONG_BYTES = 7, PUSH_RBP = 0x55 };
    if (c->n < LONG_BYTES || c->bytes[0] != JUMP)
        return false;
    *whole = c->bytes[LONG_BYTES - 1] != 0xff && c->bytes[JUMP_BYTES] != PUSH_RBP;
    *size = c->bytes[LONG_BYTES - 1] != 0xff && !*whole ? JUMP_BYTES : LONG_BYTES;
    return true;
}

/* Follow the prologue from the entry to `pc`; its first unknown instruction ends it. */
static enum frame_part in_prologue(const struct blob *b, uintptr_t entry, uintptr_t pc)
{
    int32_t words = 1;
    bool linked = false;
    uintptr_t from = entry;
    for (int step = 0; step < STEPS && from < pc; step++) {
        struct code c;
        uint32_t size = 0, amount;
        bool whole = false;
        read_code(from, b->code_end, &c);
        if (from == entry && skip_patch(&c, &size, &whole)) {
            words = whole ? b->frame_words : words;
            from += size;
            continue;
        }
        enum op op = decode(&c, &size, &amount);
        if (op == OP_PUSH_RBP)
            words++, linked = true;
        else if (op == OP_GROW)
            words += (int32_t)(amount / sizeof(uintptr_t));
        else if (op == OP_SAVE_RBP)
            linked = true;
        else if (op != OP_NEUTRAL)
            break;
        from += size;
    }
    if (from > pc)
        return FRAME_UNKNOWN;
    if (words == b->frame_words && words > LINK_WORDS - 1)
        return linked || words == 1 ? FRAME_WHOLE : FRAME_NO_LINK;
    if (from < pc) /* beyond a prologue that made no frame of the known size */
        return FRAME_UNKNOWN;
    return words == 1 ? FRAME_RETURN : words == LINK_WORDS && linked ? FRAME_PUSHED : FRAME_UNKNOWN;
}

/* From `pc` on nothing but the end of an epilogue? */
static enum frame_part in_epilogue(const struct blob *b, uintptr_t pc)
{
    struct code c;
    uint32_t at = 0, amount;
    read_code(pc, b->code_end, &c);
    enum op op = decode(&c, &at, &amount);
    if (op == OP_POP_RBP)
        return FRAME_PUSHED;
    if (op == OP_RET)
        return FRAME_RETURN;
    uint8_t before = 0;
    if (op == OP_JMP) {
        /* pop rbp; jmp, or the end of a poll's stub */
        uint8_t poll[3];
        if (guarded_u8(pc - 1, &before) && before == 0x5d)
            return FRAME_RETURN;
        if (guarded_bytes(pc - 7, poll, sizeof poll) && memcmp(poll, "\x4d\x89\x97", 3) == 0)
            return FRAME_RETURN;
        return FRAME_WHOLE;
    }
    for (int step = 0; step < STEPS && op == OP_POLL; step++)
        op = decode(&c, &at, &amount);
    if (at > 0 && op == OP_RET)
        return FRAME_RETURN;
    if (op == OP_JMP && at > 5 && memcmp(c.bytes + at - 12, "\x4d\x89\x97", 3) == 0)
        return FRAME_RETURN;
    return FRAME_WHOLE;
}

enum frame_part frame_part_at(const struct blob *b, uintptr_t entry, uintptr_t pc)
{
    enum { PROLOGUE_BYTES = 64 };
    if (entry && pc < entry)
        return FRAME_RETURN; /* the check of the receiver's class */
    if (entry && pc - entry < PROLOGUE_BYTES) {
        enum frame_part p = in_prologue(b, entry, pc);
        if (p != FRAME_WHOLE)
            return p;
    }
    return in_epilogue(b, pc);
}

bool frame_caller(const struct stack *s, const struct blob *b, enum frame_part part,
                  const struct cursor *c, struct cursor *caller)
{
    int32_t words = part == FRAME_RETURN ? 1 : part == FRAME_PUSHED ? LINK_WORDS : b->frame_words;
    if (part == FRAME_UNKNOWN || words < 1 || (part == FRAME_WHOLE && words < LINK_WORDS))
        return false;
    caller->fp = c->fp;
    if ((part == FRAME_WHOLE || part == FRAME_PUSHED) &&
        !stack_link(s, c->sp, words - LINK_WORDS, &caller->fp))
        return false;
    caller->sp = c->sp + (uintptr_t)words * sizeof(uintptr_t);
    return caller->sp <= s->high && stack_slot(s, caller->sp, -1, &caller->pc);
}

/* call rel32, or mov r10, imm64; call r10 */
uintptr_t call_target(uintptr_t return_pc)
{
    enum { CALL = 0xe8, CALL_BYTES = 5, FAR_BYTES = 13, IMMEDIATE = 2 };
    static const uint8_t mov[] = {0x49, 0xba}, call[] = {0x41, 0xff, 0xd2};
    uint8_t c[FAR_BYTES];
    if (!guarded_bytes(return_pc - FAR_BYTES, c, sizeof c))
        return 0;
    if (memcmp(c, mov, sizeof mov) == 0 &&
        memcmp(c + FAR_BYTES - sizeof call, call, sizeof call) == 0) {
        uintptr_t target;
        memcpy(&target, c + IMMEDIATE, sizeof target);
        return target;
    }
    int32_t distance;
    memcpy(&distance, c + FAR_BYTES - sizeof distance, sizeof distance);
    return c[FAR_BYTES - CALL_BYTES] == CALL ? return_pc + (uintptr_t)(intptr_t)distance : 0;
}

uint32_t frame_setup_bytes(uintptr_t entry)
{
    struct code c;
    uint32_t at = 0, amount;
    read_code(entry, entry + CODE_BYTES, &c);
    enum op op = decode(&c, &at, &amount);
    if (op == OP_NEUTRAL) /* endbr64 */
        op = decode(&c, &at, &amount);
    uint32_t pushed = at;
    if (op != OP_PUSH_RBP || decode(&c, &at, &amount) != OP_NEUTRAL || at != pushed + 3)
        return 0;
    return at;
}

bool frame_setup_makes(uintptr_t entry, int32_t words)
{
    struct code c;
    uint32_t at = frame_setup_bytes(entry), amount = 0;
    read_code(entry, entry + CODE_BYTES, &c);
    return at && decode(&c, &at, &amount) == OP_GROW &&
           (int32_t)(amount / sizeof(uintptr_t)) == words - LINK_WORDS;
}

bool jumps_out(const struct blob *b, uintptr_t pc)
{
    enum { JMP = 0xe9, BYTES = 5 };
    uint8_t op;
    int32_t distance;
    if (!guarded_u8(pc, &op) || op != JMP || !guarded_i32(pc + 1, &distance))
        return false;
    uintptr_t to = pc + BYTES + (uintptr_t)(intptr_t)distance;
    return to < b->code_begin || to >= b->code_end;
}

bool frame_setup_in_c(uintptr_t entry)
{
    enum { PUSH_RBP = 0x55, ENDBR_BYTES = 4, NEAR = 24 };
    static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa}, mov[] = {0x48, 0x89, 0xe5};
    struct code c;
    read_code(entry, entry + NEAR, &c);
    size_t at = memcmp(c.bytes, endbr, sizeof endbr) == 0 ? ENDBR_BYTES : 0;
    return c.bytes[at] == PUSH_RBP && memmem(c.bytes + at, c.n - at, mov, sizeof mov);
}
