/* Unwinding tables that are anything: an image of a small library at a fixed address, with its
 * table of entries and two entries, words of it replaced by the input; and a stack to read from.
 * Whatever they say, looking a place up and unwinding from it end, and read nothing that is not
 * there.
 *
 * Input: byte 0, bit 0: which entry (a plain function, one with expressions); bit 1: how it goes
 * on, 1 with patches of the image (4 bytes offset, 8 bytes value), 0 with the instructions of that
 * entry.  Bytes 1 and 2: the place in the code.  Registers point into the stack. */
#include "base/guarded.h"
#include "base/util.h"
#include "unwind/unwind_x86_64.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define BASE ((uintptr_t)0x210000000000)

/* Places in the image. */
enum {
    HDR = 0x000,
    FRAMES = 0x100,
    CIE = FRAMES,
    FDE = FRAMES + 0x20,
    SECOND_FDE = FRAMES + 0x220,
    CODE = 0x1000,
    STACK = 0x2000,
    IMAGE = 0x4000,
};

enum { CODE_BYTES = 0x100, ROOM = 0x200 - 32, HDR_BYTES = 12 + 2 * 8 };

static uint8_t *image;
static uint8_t clean[IMAGE];

static void put32(uint32_t at, uint32_t v)
{
    memcpy(image + at, &v, sizeof v);
}

static const uint8_t cie[] = {
    0x14, 0,    0,   0,    0,    0, 0, 0, /* length, id */
    1,    'z',  'R', 0,                   /* version, letters */
    1,    0x78, 16,  1,    0x1b, /* code and data factors, return column, addresses: pcrel sdata4 */
    0x0c, 7,    8,   0x90, 1,    0, 0, /* CFA rsp + 8; return address at CFA - 8 */
};

/* push rbp; mov rbp, rsp; push rbx ... leave; ret */
static const uint8_t plain[] = {0x41, 0x0e, 0x10, 0x86, 2,    0x43, 0x0d, 6,
                                0x41, 0x83, 3,    0x0a, 0x50, 0x0c, 7,    8};

/* CFA: rsp + 8 + (pc & 15 >= 11) * 8; rbx at what rbp - 8 points to */
static const uint8_t with_expressions[] = {0x0f, 0x0b, 0x77, 0x08, 0x80, 0x00, 0x3f,
                                           0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22, 0x10,
                                           0x03, 0x03, 0x76, 0x78, 0x06};

static void put_fde(uint32_t at, uint32_t code, const uint8_t *instructions, size_t n)
{
    enum { HEAD = 4 + 4 + 4 + 1 };
    put32(at, HEAD + ROOM);
    put32(at + 4, at + 4 - CIE);
    put32(at + 8, CODE + code - (at + 8));
    put32(at + 12, CODE_BYTES);
    image[at + 16] = 0;
    memset(image + at + 17, 0, ROOM);
    memcpy(image + at + 17, instructions, n < ROOM ? n : ROOM);
}

static void make(void)
{
    static const uint8_t hdr[] = {1, 0x1b, 0x03, 0x3b};
    memset(image, 0, IMAGE);
    memcpy(image + HDR, hdr, sizeof hdr);
    put32(HDR + 4, FRAMES - (HDR + 4));
    put32(HDR + 8, 2);
    put32(HDR + 12, CODE - HDR);
    put32(HDR + 16, FDE - HDR);
    put32(HDR + 20, CODE + CODE_BYTES - HDR);
    put32(HDR + 24, SECOND_FDE - HDR);
    memcpy(image + CIE, cie, sizeof cie);
    put_fde(FDE, 0, plain, sizeof plain);
    put_fde(SECOND_FDE, CODE_BYTES, with_expressions, sizeof with_expressions);
    /* Addresses of the stack and of the code in turn. */
    for (uint32_t at = STACK; at < IMAGE; at += 8) {
        uint64_t v = BASE + (at % 16 ? CODE + at / 16 % (2 * CODE_BYTES) : at + 8);
        memcpy(image + at, &v, sizeof v);
    }
}

static const struct library library = {.begin = BASE,
                                       .end = BASE + IMAGE,
                                       .frame_hdr = BASE + HDR,
                                       .frame_hdr_end = BASE + HDR + HDR_BYTES};

static void check_clean(void)
{
    struct cfi_row row;
    if (cfi_find(&library, BASE + CODE + 20, &row) != CFI_FOUND || row.cfa.n != 6 ||
        row.cfa_offset != 16 || row.registers[3].n != -24 || row.registers[CFI_RETURN].n != -8)
        abort();
    if (cfi_find(&library, BASE + CODE + CODE_BYTES + 7, &row) != CFI_FOUND ||
        row.cfa.how != CFI_IS_EXPRESSION || row.registers[3].how != CFI_AT_EXPRESSION)
        abort();
    if (cfi_find(&library, BASE + CODE + 2 * CODE_BYTES, &row) != CFI_NONE ||
        cfi_find(&library, BASE + CODE - 1, &row) != CFI_NONE)
        abort();
}

static void prepare(void)
{
    struct err err;
    if (image)
        return;
    image = mmap((void *)BASE, IMAGE, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (image != (uint8_t *)BASE || guarded_open(&err) < 0)
        abort();
    make();
    check_clean();
    memcpy(clean, image, IMAGE);
}

static bool take(const uint8_t **data, size_t *size, void *to, size_t n)
{
    if (*size < n)
        return false;
    memcpy(to, *data, n);
    *data += n;
    *size -= n;
    return true;
}

/* Every expression of a row is computed, as unwinding would. */
static void check_row(const struct cfi_row *row, uintptr_t place)
{
    struct cfi_values values = {.known = (1u << CFI_REGISTERS) - 1};
    uintptr_t v, cfa = BASE + STACK + 64;
    for (uint32_t i = 0; i < CFI_RETURN; i++)
        values.value[i] = BASE + STACK + i * 16;
    values.value[CFI_RETURN] = place;
    if (row->cfa.how != CFI_IN_REGISTER && row->cfa.how != CFI_IS_EXPRESSION)
        abort();
    if (row->cfa.how == CFI_IN_REGISTER && (uint64_t)row->cfa.n >= CFI_RETURN)
        abort();
    if (place < row->begin || place >= row->end)
        abort();
    if (row->cfa.how == CFI_IS_EXPRESSION)
        cfi_evaluate(&library, (uintptr_t)row->cfa.n, &values, NULL, &cfa);
    for (uint32_t i = 0; i < CFI_REGISTERS; i++) {
        const struct cfi_rule *r = &row->registers[i];
        if (r->how == CFI_AT_EXPRESSION || r->how == CFI_IS_EXPRESSION)
            cfi_evaluate(&library, (uintptr_t)r->n, &values, &cfa, &v);
        if (r->how == CFI_IN_REGISTER && (uint64_t)r->n >= CFI_REGISTERS)
            abort();
    }
}

/* Frames one after the other; each is further up in the stack. */
static void check_steps(uintptr_t place)
{
    enum { STEPS = 64 };
    struct unwind_frame f = {.interrupted = true};
    for (uint32_t i = 0; i < CFI_RETURN; i++)
        f.registers.value[i] = BASE + STACK + i * 16;
    f.registers.value[UNWIND_RSP] = BASE + STACK;
    f.registers.value[UNWIND_PC] = place;
    f.registers.known = (1u << CFI_REGISTERS) - 1;
    for (int i = 0; i < STEPS; i++) {
        uintptr_t sp = f.registers.value[UNWIND_RSP];
        if (unwind_by_library(&library, BASE + IMAGE, &f) != UNWIND_CALLER)
            return;
        if (f.registers.value[UNWIND_RSP] <= sp || !(f.registers.known >> UNWIND_PC & 1))
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t how;
    uint16_t offset;
    uint32_t at;
    uint64_t value;
    struct cfi_row row;
    prepare();
    if (!take(&data, &size, &how, sizeof how) || !take(&data, &size, &offset, sizeof offset))
        return 0;
    memcpy(image, clean, IMAGE);
    if (how & 2) {
        while (take(&data, &size, &at, sizeof at) && take(&data, &size, &value, sizeof value))
            memcpy(image + at % (IMAGE - sizeof value), &value, sizeof value);
    } else {
        put_fde(how & 1 ? SECOND_FDE : FDE, how & 1 ? CODE_BYTES : 0, data, size);
    }
    uintptr_t place = BASE + CODE + offset % (2 * CODE_BYTES + 2) - 1;
    if (cfi_find(&library, place, &row) == CFI_FOUND)
        check_row(&row, place);
    check_steps(place);
    return 0;
}
