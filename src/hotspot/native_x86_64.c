#include "hotspot/native_x86_64.h"

#include "base/util.h"

#include <string.h>

#define WORD sizeof(uintptr_t)

/* A return address stands behind the call; so that pc - 1 is in the function of every frame but the
 * innermost, that of an interrupted one further out is moved, too. */
static enum step emit(struct run *r, const struct unwind_frame *f, bool first)
{
    struct walk_frame frame = {.pc = f->registers.value[UNWIND_PC] + (f->interrupted && !first),
                               .bci = -1,
                               .kind = WALK_NATIVE_CODE};
    return r->out->options & WALK_WITH_NATIVE ? run_emit(r, &frame) : STEP_MORE;
}

enum native_end native_frames(struct run *r, struct unwind_frame *f, uintptr_t limit)
{
    enum { FRAMES_MAX = 4096 };
    bool uncached = r->out->options & WALK_UNCACHED;
    const struct libraries *libraries = unwinder_libraries(r->unwinder);
    bool first = r->n == 0;
    for (int i = 0; i < FRAMES_MAX; i++, first = false) {
        uintptr_t pc = f->registers.value[UNWIND_PC], sp = f->registers.value[UNWIND_RSP];
        if (codecache_contains(r->l, pc)) /* a guess may have passed over a frame of Java */
            return sp <= limit && !f->by_link ? NATIVE_GENERATED : NATIVE_LOST;
        if (sp >= limit || (f->by_link && !libraries_find(libraries, pc)))
            return NATIVE_LOST;
        if (emit(r, f, first) == STEP_END)
            return NATIVE_FULL;
        switch (unwind_step(r->unwinder, r->s.high, uncached, f)) {
        case UNWIND_CALLER:
            break;
        case UNWIND_END:
            return NATIVE_BOTTOM;
        case UNWIND_LOST:
            return NATIVE_LOST;
        }
    }
    return NATIVE_LOST;
}

/* DWARF's number of each register, by its number in instructions. */
static const uint8_t dwarf_number[] = {
    UNWIND_RAX, UNWIND_RCX, UNWIND_RDX, UNWIND_RBX, UNWIND_RSP, UNWIND_RBP, UNWIND_RSI, UNWIND_RDI,
    8,          9,          10,         11,         12,         13,         14,         15};

void native_from_registers(const struct interpreter_registers *regs, uintptr_t pc,
                           struct unwind_frame *f)
{
    for (size_t i = 0; i < ARRAY_LEN(dwarf_number); i++)
        f->registers.value[dwarf_number[i]] = regs->by_number[i];
    f->registers.value[UNWIND_PC] = pc;
    f->registers.known = (1u << CFI_REGISTERS) - 1;
    f->interrupted = true;
    f->by_link = false;
}

void native_to_registers(const struct unwind_frame *f, struct interpreter_registers *regs,
                         struct cursor *c)
{
    const struct cfi_values *v = &f->registers;
    for (size_t i = 0; i < ARRAY_LEN(dwarf_number); i++)
        regs->by_number[i] = v->known >> dwarf_number[i] & 1 ? v->value[dwarf_number[i]] : 0;
    *c = (struct cursor){v->value[UNWIND_PC], v->value[UNWIND_RSP], v->value[UNWIND_RBP]};
}

bool native_entry_saves(uintptr_t call_stub_return)
{
    enum { NEAR_BYTES = 256 };
    /* mov r15, [rbp-0x58] ... mov rbx, [rbp-0x38] */
    static const uint8_t restore[] = {0x4c, 0x8b, 0x7d, 0xa8, 0x4c, 0x8b, 0x75, 0xb0, 0x4c, 0x8b,
                                      0x6d, 0xb8, 0x4c, 0x8b, 0x65, 0xc0, 0x48, 0x8b, 0x5d, 0xc8};
    uint8_t code[NEAR_BYTES];
    return guarded_bytes(call_stub_return, code, sizeof code) &&
           memmem(code, sizeof code, restore, sizeof restore);
}

/* The registers that an entry frame has saved, in words from rbp; those after the first two only
 * where they are known to be there. */
static bool read_entry(struct run *r, uintptr_t fp, struct unwind_frame *f)
{
    static const struct {
        int32_t slot;
        uint8_t number;
    } saved[] = {{0, UNWIND_RBP},  {1, UNWIND_PC},    {-7, UNWIND_RBX}, {-8, UNWIND_R12},
                 {-9, UNWIND_R13}, {-10, UNWIND_R14}, {-11, UNWIND_R15}};
    size_t n = r->l->entry_saves ? ARRAY_LEN(saved) : 2;
    unwind_start(f, 0, fp + 2 * WORD, 0);
    for (size_t i = 0; i < n; i++) {
        if (!stack_slot(&r->s, fp, saved[i].slot, &f->registers.value[saved[i].number]))
            return false;
        f->registers.known |= 1u << saved[i].number;
    }
    return true;
}

enum step native_below_entry(struct run *r, uintptr_t fp, uintptr_t limit)
{
    struct unwind_frame f;
    if (!(r->out->options & WALK_WITH_NATIVE))
        return STEP_MORE;
    enum native_end end =
        r->unwinder && read_entry(r, fp, &f) ? native_frames(r, &f, limit) : NATIVE_LOST;
    /* Above the end of the stack there is no Java. */
    bool complete = limit == r->s.high ? end == NATIVE_BOTTOM : end == NATIVE_GENERATED;
    if (end == NATIVE_FULL)
        return STEP_END;
    if (!complete)
        r->out->flags |= WALK_CUT_NATIVE;
    return STEP_MORE;
}
