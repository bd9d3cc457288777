/* The loop around a safepoint poll is known by the jump behind the poll. */
#include "base/guarded.h"
#include "base/util.h"
#include "hotspot/poll_x86_64.h"

#include <criterion/criterion.h>
#include <string.h>

enum { POLL = 200 };

/* Code with the poll's instructions at POLL. */
static uint8_t code[256];

static bool has(const uint8_t *poll, size_t n, size_t pc)
{
    struct err err;
    const struct blob b = {.code_begin = (uintptr_t)code,
                           .code_end = (uintptr_t)(code + sizeof code)};
    cr_assert_eq(guarded_open(&err), 0);
    memset(code, 0x90, sizeof code);
    memcpy(code + POLL, poll, n);
    return poll_loop_has(&b, (uintptr_t)(code + POLL), (uintptr_t)(code + pc));
}

/* test [r10], eax; cmp ebx, [rsp]; jl, to 112 */
static const uint8_t c2_loop[] = {0x41, 0x85, 0x02, 0x3b, 0x1c, 0x24,
                                  0x0f, 0x8c, 0x9c, 0xff, 0xff, 0xff};
enum { HEAD = POLL + 12 - 100 };

Test(poll, code_of_its_loop)
{
    cr_assert(has(c2_loop, sizeof c2_loop, HEAD));
    cr_assert(has(c2_loop, sizeof c2_loop, POLL - 1));
}

Test(poll, code_before_the_loop)
{
    cr_assert_not(has(c2_loop, sizeof c2_loop, HEAD - 1));
}

Test(poll, code_behind_the_poll)
{
    cr_assert_not(has(c2_loop, sizeof c2_loop, POLL));
}

/* test [r13+0], eax; a jump forward; mov r8, [rsp+8]; cmp r8, 1000; jge, back by 90 */
Test(poll, short_jump_behind_others)
{
    const uint8_t loop[] = {0x41, 0x85, 0x45, 0x00, 0x74, 0x05, 0x4c, 0x8b, 0x44, 0x24,
                            0x08, 0x49, 0x81, 0xf8, 0xe8, 0x03, 0x00, 0x00, 0x7d, 0xa6};
    cr_assert(has(loop, sizeof loop, POLL + sizeof loop - 90));
    cr_assert_not(has(loop, sizeof loop, POLL + sizeof loop - 91));
}

/* The outer of two nested loops that C2 makes of one: the head of the inner one is behind the poll.
 * test [r10], eax; cmp; jge, forward; mov; sub; cmp; cmovl; cmp; cmova; add; jmp, back by 125 */
static uint8_t rotated[] = {0x41, 0x85, 0x02, 0x41, 0x3b, 0xc9, 0x7d, 0x19, 0x41, 0x8b, 0xf1,
                            0x2b, 0xf1, 0x44, 0x3b, 0xc9, 0x0f, 0x4c, 0xf3, 0x81, 0xfe, 0xe8,
                            0x03, 0x00, 0x00, 0x41, 0x0f, 0x47, 0xf0, 0x03, 0xf1, 0xeb, 0x83};

Test(poll, head_behind_the_poll)
{
    cr_assert(has(rotated, sizeof rotated, POLL + sizeof rotated - 125));
    cr_assert_not(has(rotated, sizeof rotated, POLL + sizeof rotated - 126));
}

/* C1 evaluates the whole condition there: test [r10], eax; mov; mov, 64 bits; mov, a number; cmp eax,
 * a number; jne; xor; cmp; je; cdq; idiv; cmp; jl, back by 83 */
Test(poll, long_condition)
{
    const uint8_t loop[] = {0x41, 0x85, 0x02, 0x8b, 0x54, 0x24, 0x44, 0x48, 0x8b, 0xc2, 0xbf,
                            0x08, 0x00, 0x00, 0x00, 0x3d, 0x00, 0x00, 0x00, 0x80, 0x0f, 0x85,
                            0x0b, 0x00, 0x00, 0x00, 0x33, 0xd2, 0x83, 0xff, 0xff, 0x0f, 0x84,
                            0x03, 0x00, 0x00, 0x00, 0x99, 0xf7, 0xff, 0x3b, 0xf0, 0x7c, 0xad};
    cr_assert(has(loop, sizeof loop, POLL + sizeof loop - 83));
    cr_assert_not(has(loop, sizeof loop, POLL + sizeof loop - 84));
}

/* What is behind a jump that is always taken is other code. */
Test(poll, jump_forward)
{
    uint8_t other[sizeof rotated];
    memcpy(other, rotated, sizeof other);
    other[6] = 0xeb;
    cr_assert_not(has(other, sizeof other, POLL - 1));
}

/* test eax, eax behind a call is not a poll. */
Test(poll, call)
{
    const uint8_t call[] = {0x85, 0xc0, 0x0f, 0x8c, 0x9c, 0xff, 0xff, 0xff};
    cr_assert_not(has(call, sizeof call, POLL - 1));
}

Test(poll, unknown_instruction)
{
    uint8_t loop[sizeof c2_loop + 1] = {0x41, 0x85, 0x02, 0xf1};
    memcpy(loop + 4, c2_loop + 3, sizeof c2_loop - 3);
    cr_assert_not(has(loop, sizeof loop, POLL - 1));
}

/* test [r10], eax; test eax, a number whose bytes would be a jump back */
Test(poll, number_that_looks_like_a_jump)
{
    const uint8_t other[] = {0x41, 0x85, 0x02, 0xf7, 0xc0, 0x7c, 0x90, 0x00, 0x00};
    cr_assert_not(has(other, sizeof other, POLL - 1));
}

Test(poll, no_jump_before_the_end)
{
    const uint8_t poll[] = {0x85, 0x00};
    cr_assert_not(has(poll, sizeof poll, POLL - 1));
}
