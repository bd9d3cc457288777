/* Rows and expressions of tables made by hand: each instruction, and what must be refused. */
#include "base/guarded.h"
#include "base/util.h"
#include "unwind/cfi.h"

#include <criterion/criterion.h>
#include <string.h>

enum { HDR = 0, FRAMES = 64, CODE = 512, CODE_BYTES = 256, IMAGE = 1024, FDE = FRAMES + 24 };
enum { RSP = 7, RBP = 6, RBX = 3 };

static _Alignas(16) uint8_t image[IMAGE];

static struct library library(void)
{
    return (struct library){.begin = (uintptr_t)image,
                            .end = (uintptr_t)image + IMAGE,
                            .frame_hdr = (uintptr_t)image,
                            .frame_hdr_end = (uintptr_t)image + 20};
}

static void put32(uint32_t at, uint32_t v)
{
    memcpy(image + at, &v, sizeof v);
}

/* One function, whose entry has these instructions; rsp + 8 and the return address at CFA - 8 are
 * there before. */
static void make(const uint8_t *code, size_t n)
{
    static const uint8_t hdr[] = {1, 0x1b, 0x03, 0x3b};
    static const uint8_t cie[] = {0x14, 0,    0,  0, 0,    0,    0, 0, 1,    'z', 'R', 0,
                                  1,    0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1,   0,   0};
    struct err err;
    guarded_open(&err);
    memset(image, 0, sizeof image);
    memcpy(image, hdr, sizeof hdr);
    put32(4, FRAMES - 4);
    put32(8, 1);
    put32(12, CODE);
    put32(16, FDE);
    memcpy(image + FRAMES, cie, sizeof cie);
    put32(FDE, (uint32_t)(13 + n));
    put32(FDE + 4, FDE + 4 - FRAMES);
    put32(FDE + 8, CODE - (FDE + 8));
    put32(FDE + 12, CODE_BYTES);
    memcpy(image + FDE + 17, code, n);
}

static enum cfi_result find(uint32_t offset, struct cfi_row *row)
{
    struct library lib = library();
    return cfi_find(&lib, (uintptr_t)image + CODE + offset, row);
}

#define MAKE(...)                                                                                  \
    do {                                                                                           \
        const uint8_t code_[] = {__VA_ARGS__};                                                     \
        make(code_, sizeof code_);                                                                 \
    } while (0)

static struct cfi_row row_at(uint32_t offset)
{
    struct cfi_row row;
    cr_assert_eq(find(offset, &row), CFI_FOUND);
    return row;
}

static void check_cfa(uint32_t offset, int64_t reg, int64_t distance)
{
    struct cfi_row row = row_at(offset);
    cr_assert_eq(row.cfa.how, CFI_IN_REGISTER);
    cr_assert_eq(row.cfa.n, reg);
    cr_assert_eq(row.cfa_offset, distance);
}

static void check_rule(uint32_t offset, uint32_t reg, enum cfi_how how, int64_t n)
{
    struct cfi_row row = row_at(offset);
    cr_assert_eq(row.registers[reg].how, how);
    if (how != CFI_SAME && how != CFI_UNDEFINED)
        cr_assert_eq(row.registers[reg].n, n);
}

Test(cfi, rows_of_a_usual_function)
{
    /* push rbp; mov rbp, rsp ...; the epilogue in the middle; the body again */
    MAKE(0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, RBP, 0x50, 0x0a, 0xc6, 0x0c, 7, 8, 0x41, 0x0b);
    check_cfa(0, RSP, 8);
    check_rule(0, RBP, CFI_SAME, 0);
    check_rule(0, CFI_RETURN, CFI_AT_CFA, -8);
    check_cfa(1, RSP, 16);
    check_rule(1, RBP, CFI_AT_CFA, -16);
    check_cfa(3, RSP, 16);
    check_cfa(4, RBP, 16);
    check_cfa(20, RSP, 8);
    check_rule(20, RBP, CFI_SAME, 0);
    check_cfa(21, RBP, 16);
    check_rule(CODE_BYTES - 1, RBP, CFI_AT_CFA, -16);
}

Test(cfi, other_instructions)
{
    MAKE(0x05, 3, 4, 0x09, 12, 13, 0x07, 14, 0x14, 15, 2, 0x11, 6, 0x7d, 0x2e, 16, 0x05, 33, 1);
    check_rule(0, RBX, CFI_AT_CFA, -32);
    check_rule(0, 12, CFI_IN_REGISTER, 13);
    check_rule(0, 14, CFI_UNDEFINED, 0);
    check_rule(0, 15, CFI_IS_CFA, -16);
    check_rule(0, RBP, CFI_AT_CFA, 24);
    MAKE(0x02, 200, 0x12, 6, 0x7e, 0x03, 10, 0, 0x13, 0x7c, 0x04, 10, 0, 0, 0, 0x08, 3);
    check_cfa(199, RSP, 8);
    check_cfa(200, RBP, 16);
    check_cfa(210, RBP, 32);
    check_cfa(220, RBP, 32);
    MAKE(0x0f, 2, 0x77, 0, 0x10, 3, 1, 0x96, 0x16, 12, 1, 0x96);
    struct cfi_row row = row_at(0);
    cr_assert_eq(row.cfa.how, CFI_IS_EXPRESSION);
    cr_assert_eq(row.registers[RBX].how, CFI_AT_EXPRESSION);
    cr_assert_eq(row.registers[12].how, CFI_IS_EXPRESSION);
    cr_assert_eq(row.registers[12].n, (int64_t)(uintptr_t)image + FDE + 17 + 10);
}

Test(cfi, refuses_what_is_broken)
{
    struct cfi_row row;
    MAKE(0x3f); /* no instruction */
    cr_assert_eq(find(0, &row), CFI_BAD);
    MAKE(0x0b); /* nothing remembered */
    cr_assert_eq(find(0, &row), CFI_BAD);
    MAKE(0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a); /* more than is reasonable */
    cr_assert_eq(find(0, &row), CFI_BAD);
    MAKE(0x0d, 40); /* the CFA in no general register */
    cr_assert_eq(find(0, &row), CFI_BAD);
    MAKE(0x10, 3, 100); /* a block beyond the entry */
    cr_assert_eq(find(0, &row), CFI_BAD);
    MAKE(0x0e, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1);
    cr_assert_eq(find(0, &row), CFI_BAD);
    MAKE(0);
    put32(8, 2); /* more pairs than there is room for */
    cr_assert_eq(find(0, &row), CFI_BAD);
    MAKE(0);
    put32(FDE, 0x7fffffff); /* longer than the library */
    cr_assert_eq(find(0, &row), CFI_BAD);
    MAKE(0);
    put32(FDE + 4, 0x7fffffff); /* its CIE before the library */
    cr_assert_eq(find(0, &row), CFI_BAD);
    MAKE(0);
    image[FRAMES + 14] = 17; /* another return column */
    cr_assert_eq(find(0, &row), CFI_BAD);
    MAKE(0);
    image[0] = 2; /* another version of the table */
    cr_assert_eq(find(0, &row), CFI_BAD);
}

Test(cfi, knows_where_it_knows_nothing)
{
    struct cfi_row row;
    MAKE(0);
    cr_assert_eq(find(CODE_BYTES, &row), CFI_NONE);
    cr_assert_eq(find(-1u, &row), CFI_NONE);
    struct library lib = library();
    lib.frame_hdr = lib.frame_hdr_end = 0;
    cr_assert_eq(cfi_find(&lib, (uintptr_t)image + CODE, &row), CFI_NONE);
}

Test(cfi, marks_frames_of_signals)
{
    MAKE(0);
    cr_assert_not(row_at(0).signal);
    /* "zRS", one letter more, one padding byte less */
    static const uint8_t cie[] = {1, 'z',  'R',  'S', 0, 1,    0x78, 16,
                                  1, 0x1b, 0x0c, 7,   8, 0x90, 1,    0};
    memcpy(image + FRAMES + 8, cie, sizeof cie);
    cr_assert(row_at(0).signal);
    check_cfa(0, RSP, 8);
}

/* --- expressions ------------------------------------------------------------------------------ */

static bool compute(const uint8_t *code, size_t n, const uintptr_t *first, uintptr_t *v)
{
    static uint64_t word = 0x1122334455667788;
    struct err err;
    struct cfi_values values = {.known = 1u << RSP | 1u << RBP | 1u << CFI_RETURN};
    struct library lib = library();
    guarded_open(&err);
    values.value[RSP] = 1000;
    values.value[RBP] = (uintptr_t)&word;
    values.value[CFI_RETURN] = 0x4b;
    image[0] = (uint8_t)n;
    memcpy(image + 1, code, n);
    *v = 0xbad;
    return cfi_evaluate(&lib, (uintptr_t)image, &values, first, v);
}

#define GIVES(want, ...)                                                                           \
    do {                                                                                           \
        const uint8_t code_[] = {__VA_ARGS__};                                                     \
        uintptr_t v_;                                                                              \
        cr_assert(compute(code_, sizeof code_, NULL, &v_));                                        \
        cr_assert_eq(v_, (uintptr_t)(want), "%lx", v_);                                            \
    } while (0)

#define FAILS(...)                                                                                 \
    do {                                                                                           \
        const uint8_t code_[] = {__VA_ARGS__};                                                     \
        uintptr_t v_;                                                                              \
        cr_assert_not(compute(code_, sizeof code_, NULL, &v_));                                    \
    } while (0)

Test(cfi, expressions_compute)
{
    GIVES(31, 0x4f);
    GIVES(0xfe, 0x08, 0xfe);
    GIVES(-2, 0x09, 0xfe);
    GIVES(0xfffe, 0x0a, 0xfe, 0xff);
    GIVES(-2, 0x0b, 0xfe, 0xff);
    GIVES(0xfffffffe, 0x0c, 0xfe, 0xff, 0xff, 0xff);
    GIVES(-2, 0x0d, 0xfe, 0xff, 0xff, 0xff);
    GIVES(300, 0x10, 0xac, 2);
    GIVES(-3, 0x11, 0x7d);
    GIVES(1008, 0x77, 8);
    GIVES(992, 0x92, 7, 0x78);
    GIVES(0x1122334455667788, 0x76, 0, 0x06);
    GIVES(0x7788, 0x76, 0, 0x94, 2);
    GIVES(6, 0x34, 0x32, 0x22);        /* 4 + 2 */
    GIVES(2, 0x34, 0x32, 0x1c);        /* 4 - 2 */
    GIVES(8, 0x34, 0x32, 0x1e);        /* 4 * 2 */
    GIVES(-2, 0x34, 0x1f, 0x32, 0x1b); /* -4 / 2 */
    GIVES(1, 0x37, 0x32, 0x1d);        /* 7 % 2 */
    GIVES(4, 0x34, 0x1f, 0x19);        /* |-4| */
    GIVES(2, 0x36, 0x33, 0x1a);        /* 6 & 3 */
    GIVES(7, 0x36, 0x33, 0x21);
    GIVES(5, 0x36, 0x33, 0x27);
    GIVES(-1, 0x30, 0x20);
    GIVES(9, 0x34, 0x23, 5);
    GIVES(16, 0x34, 0x32, 0x24);
    GIVES(1, 0x34, 0x32, 0x25);
    GIVES(-1, 0x34, 0x1f, 0x32, 0x26);
    GIVES(1, 0x34, 0x32, 0x2b); /* 4 > 2 */
    GIVES(0, 0x34, 0x32, 0x2d); /* 4 < 2 */
    GIVES(8, 0x34, 0x12, 0x22); /* dup */
    GIVES(4, 0x34, 0x32, 0x13); /* drop */
    GIVES(4, 0x34, 0x32, 0x14); /* over */
    GIVES(4, 0x34, 0x32, 0x31, 0x15, 2);
    GIVES(-2, 0x34, 0x32, 0x16, 0x1c); /* swap */
    GIVES(2, 0x34, 0x32, 0x31, 0x17);  /* rot: 1 4 2 */
    GIVES(4, 0x34, 0x32, 0x31, 0x17, 0x13);
    GIVES(2, 0x31, 0x28, 1, 0, 0x34, 0x32); /* a branch over one byte */
    GIVES(2, 0x34, 0x2f, 0, 0, 0x32, 0x96);
    GIVES(1016, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22); /* a PLT's CFA */
    uintptr_t first = 40, v;
    cr_assert(compute((const uint8_t[]){0x23, 2}, 2, &first, &v));
    cr_assert_eq(v, 42);
}

Test(cfi, expressions_fail)
{
    FAILS(0x22);             /* nothing to add */
    FAILS(0x73, 0);          /* rbx is not known */
    FAILS(0x30, 0x06);       /* nothing is there */
    FAILS(0x31, 0x30, 0x1b); /* division by 0 */
    FAILS(0x31, 0x30, 0x1d);
    FAILS(0x0e, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x31, 0x1f, 0x1b); /* overflow */
    FAILS(0x2f, 0xfd, 0xff);                                  /* for ever */
    FAILS(0x2f, 100, 0);                                      /* out of the block */
    FAILS(0xf0);                                              /* no operation */
    FAILS(0x30, 0x12, 0x2f, 0xfc, 0xff);                      /* more than the stack holds */
    FAILS(0x76, 0, 0x94, 3);
    uintptr_t v;
    cr_assert_not(compute((const uint8_t *)"", 0, NULL, &v));
}
