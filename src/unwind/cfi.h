/* cfi.h - how the caller's registers are found at a place in compiled C: the call-frame information
 * of .eh_frame, found through the sorted table of .eh_frame_hdr, read where the loader put both.
 *
 * Nothing is copied or kept.  Every read is bounded by the library and guarded, the work is bounded
 * by CFI_STEPS, nothing recurses: broken tables give CFI_BAD.  Async-signal-safe.
 *
 * Format: Linux Standard Base 5.0, "Exception Frames"; DWARF 5, section 6.4. */
#ifndef ORCA_UNWIND_CFI_H
#define ORCA_UNWIND_CFI_H

#include "unwind/libraries.h"

enum {
    CFI_RETURN = 16,    /* the return address; below it the general registers by their numbers */
    CFI_REGISTERS = 17, /* others, of vectors, are passed over */
    CFI_STEPS = 16384,  /* instructions of one row */
};

enum cfi_how {
    CFI_SAME, /* registers without a rule */
    CFI_UNDEFINED,
    CFI_AT_CFA,        /* saved at CFA + n */
    CFI_IS_CFA,        /* CFA + n */
    CFI_IN_REGISTER,   /* in register n */
    CFI_AT_EXPRESSION, /* saved at what the block at n computes */
    CFI_IS_EXPRESSION, /* what the block at n computes */
};

struct cfi_rule {
    int64_t n;
    enum cfi_how how;
};

/* The rules at one place.  CFA ("canonical frame address"): the caller's rsp before the call. */
struct cfi_row {
    struct cfi_rule cfa; /* CFI_IN_REGISTER: register + cfa_offset; or CFI_IS_EXPRESSION */
    int64_t cfa_offset;
    struct cfi_rule registers[CFI_REGISTERS];
    bool signal;          /* the frame of a signal: the caller was interrupted, it did not call */
    uintptr_t begin, end; /* the code that the entry is of */
};

enum cfi_result {
    CFI_FOUND,
    CFI_NONE, /* the tables have no entry for the place, or there are no tables */
    CFI_BAD,
};

/* The row of the instruction that `place` is in: an interrupted frame's pc; of a caller the return
 * address - 1, since a call that does not return may be its function's last instruction. */
enum cfi_result cfi_find(const struct library *lib, uintptr_t place, struct cfi_row *row);

/* Registers as an expression reads them; bit n of known: value[n] is. */
struct cfi_values {
    uintptr_t value[CFI_REGISTERS];
    uint32_t known;
};

/* What the block (length, expression) at `block` computes from the registers; first: NULL, or what
 * is on its stack before. */
bool cfi_evaluate(const struct library *lib, uintptr_t block, const struct cfi_values *values,
                  const uintptr_t *first, uintptr_t *result);

#endif
