#include "hotspot/poll_x86_64.h"

#include "base/guarded.h"
#include "base/util.h"

#include <string.h>

enum { CODE_BYTES = 80, STEPS = 16, LONGEST = 12, REGISTER = 3, BY_SIB = 4, RIP_OR_RBP = 5 };

/* --- instructions ----------------------------------------------------------------------------- */

enum { REX_W = 8, CDQ = 0x99, UNARY = 0xf7 };

/* Of one byte, with a ModRM byte: compare, move, add and the like, between registers and memory. */
static const struct {
    uint8_t opcode, immediate; /* bytes of it */
} known[] = {
    {0x01, 0},  {0x03, 0}, {0x29, 0}, {0x2b, 0}, {0x31, 0}, {0x33, 0}, {0x39, 0},
    {0x3b, 0},  {0x63, 0}, {0x85, 0}, {0x89, 0}, {0x8b, 0}, {0x8d, 0}, {0xff, 0},
    {UNARY, 0}, {0x83, 1}, {0xc1, 1}, {0x6b, 1}, {0x81, 4}, {0xc7, 4}, {0x69, 4},
};

/* ModRM, SIB and displacement. */
static size_t operand_size(const uint8_t *modrm)
{
    uint8_t mod = *modrm >> 6, rm = *modrm & 7;
    size_t size = 1;
    if (mod == REGISTER)
        return size;
    bool base_only = rm == BY_SIB ? (modrm[1] & 7) == RIP_OR_RBP : rm == RIP_OR_RBP;
    size += rm == BY_SIB;
    return size + (mod == 1 ? 1 : mod == 2 || base_only ? 4 : 0);
}

static bool has_rex(const uint8_t *c)
{
    return (*c & 0xf0) == 0x40;
}

/* Of two bytes: a conditional move, a product, a byte or short made wider. */
static bool is_known_wide(const uint8_t *c)
{
    return c[0] == 0x0f && ((c[1] & 0xf0) == 0x40 || c[1] == 0xaf || (c[1] & 0xf6) == 0xb6);
}

/* Of one byte, without: an operation of eax with a number, a number into a register.  0: another. */
static size_t plain_size(const uint8_t *c)
{
    size_t rex = has_rex(c);
    if ((c[rex] & 0xf8) == 0xb8)
        return rex + 1 + (rex && *c & REX_W ? sizeof(uint64_t) : sizeof(uint32_t));
    if ((c[rex] & 0xc7) == 0x05)
        return rex + 1 + sizeof(uint32_t);
    return c[rex] == CDQ ? rex + 1 : 0;
}

/* 0: unknown. */
static size_t size_of(const uint8_t *c)
{
    size_t rex = has_rex(c);
    if (is_known_wide(c + rex))
        return rex + 2 + operand_size(c + rex + 2);
    if (c[rex] == UNARY && (c[rex + 1] & 0x30) == 0)
        return 0; /* test, with a number */
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (c[rex] == known[i].opcode)
            return rex + 1 + operand_size(c + rex + 1) + known[i].immediate;
    return plain_size(c);
}

/* test [register], eax (NativeInstruction::is_safepoint_poll in nativeInst_x86.hpp).  0: it is
 * another. */
static size_t poll_size(const uint8_t *c)
{
    size_t rex = has_rex(c);
    const uint8_t *modrm = c + rex + 1;
    bool is = c[rex] == 0x85 && (*modrm & 0x38) == 0 && *modrm >> 6 != REGISTER;
    return is ? rex + 1 + operand_size(modrm) : 0;
}

/* A jump, and how far; 0: it is another instruction.  No jump goes by 0. */
static size_t jump_size(const uint8_t *c, int32_t *distance)
{
    bool wide = c[0] == 0x0f && (c[1] & 0xf0) == 0x80;
    if ((c[0] & 0xf0) == 0x70 || c[0] == 0xeb) {
        *distance = (int8_t)c[1];
        return 2;
    }
    if (!wide && c[0] != 0xe9)
        return 0;
    memcpy(distance, c + 1 + wide, sizeof *distance);
    return 1 + wide + sizeof *distance;
}

static bool is_unconditional(const uint8_t *jump)
{
    return jump[0] == 0xeb || jump[0] == 0xe9;
}

/* --- loops ------------------------------------------------------------------------------------ */

bool poll_loop_has(const struct blob *b, uintptr_t poll, uintptr_t pc)
{
    uint8_t code[CODE_BYTES + LONGEST] = {0};
    size_t n = 0;
    while (n < CODE_BYTES && poll + n < b->code_end && guarded_u8(poll + n, &code[n]))
        n++;
    size_t at = poll_size(code), size = at;
    for (int step = 0; step < STEPS && size && at < n; step++) {
        int32_t distance = 0;
        size = jump_size(code + at, &distance);
        uintptr_t target = poll + at + size + (uintptr_t)(intptr_t)distance;
        if (distance < 0)
            return target >= b->code_begin && target <= pc && pc < poll;
        if (size && is_unconditional(code + at))
            return false;
        size = size ? size : size_of(code + at);
        at += size;
    }
    return false;
}
