/* native_x86_64.h - the C frames of a walk: above the youngest Java frame, between an entry frame
 * and the Java that called C, and below the oldest.
 *
 * Internal to the walker.  They are unwound by the tables of their libraries (unwind/); what is
 * found is believed only as far as it stays below the Java frame that is known to come next. */
#ifndef ORCA_HOTSPOT_NATIVE_X86_64_H
#define ORCA_HOTSPOT_NATIVE_X86_64_H

#include "hotspot/run.h"
#include "unwind/unwind_x86_64.h"

enum native_end {
    NATIVE_GENERATED, /* f is in code that HotSpot generated, and is not a frame of C */
    NATIVE_BOTTOM,    /* the thread's first function */
    NATIVE_LOST,      /* cannot go on */
    NATIVE_FULL,      /* no room for more frames */
};

/* From the frame `f` of C on; with WALK_WITH_NATIVE its frames are added.  limit: no frame of C
 * reaches so far up. */
enum native_end native_frames(struct run *r, struct unwind_frame *f, uintptr_t limit);

/* The frame of an interrupted thread, and back. */
void native_from_registers(const struct interpreter_registers *regs, uintptr_t pc,
                           struct unwind_frame *f);
void native_to_registers(const struct unwind_frame *f, struct interpreter_registers *regs,
                         struct cursor *c);

/* Whether the code behind an entry frame's return address restores C's registers from the slots
 * that native_below_entry reads. */
bool native_entry_saves(uintptr_t call_stub_return);

/* The frames of C that an entry frame, whose rbp is `fp`, was called by, below `limit`; STEP_END:
 * no room.  What cannot be unwound is left out, and WALK_CUT_NATIVE says so. */
enum step native_below_entry(struct run *r, uintptr_t fp, uintptr_t limit);

#endif
