/* layout.h - where everything of an edited method comes to lie, and its new bytes.
 *
 * Branches of 16 bits that no longer reach: goto and jsr become goto_w and jsr_w; a conditional
 * branch goes to a trampoline, a `goto_w target` at a boundary that nothing falls into. Trampolines
 * only get more and branches only wider, so the rounds end.  Switches are padded anew in each
 * round. */
#ifndef ORCA_CLASSFILE_LAYOUT_H
#define ORCA_CLASSFILE_LAYOUT_H

#include "classfile/code.h"

enum { LAYOUT_MAX_CODE = 65535, LAYOUT_TRAMPOLINE = 5 };

struct trampoline {
    uint32_t spot;   /* the boundary before this instruction */
    uint32_t order;  /* among those of the spot */
    uint32_t target; /* number of an instruction */
};

struct layout {
    struct code *code;
    const uint8_t *inserted; /* what struct code_piece is about */
    uint32_t tail;           /* bytes of handlers that follow the code */
    struct trampoline *trampolines;
    uint32_t n_trampolines, cap;
    uint32_t *spots, n_spots;
    uint32_t *at_spot; /* trampolines at each boundary */
    uint32_t end;      /* of the code, where the tail starts */
};

/* -E2BIG: more than 65535 bytes; -ENOSPC: a branch cannot be made to reach; -ENOMEM. */
int layout_run(struct layout *l, struct arena *a, struct err *err);

uint32_t layout_trampoline_off(const struct layout *l, const struct trampoline *t);

/* The code without the tail. */
void layout_write(const struct layout *l, struct buf *out);

#endif
