/* frames_x86_64.h - from a frame to its caller, for code that HotSpot generated: compiled methods,
 * stubs, entry frames.
 *
 * A compiled frame is `frame_words` long, return address and saved rbp at its top.  In its prologue
 * and epilogue it is shorter; the instructions themselves show which part of it exists. */
#ifndef ORCA_HOTSPOT_FRAMES_X86_64_H
#define ORCA_HOTSPOT_FRAMES_X86_64_H

#include "hotspot/nmethod.h"
#include "hotspot/stack.h"

/* Slots of frames, in words from rbp. */
enum {
    ENTRY_WRAPPER = -6, /* an entry frame's JavaCallWrapper */
};

/* What of a frame exists at an instruction. */
enum frame_part {
    FRAME_WHOLE,
    FRAME_NO_LINK, /* as long as whole, rbp not saved yet */
    FRAME_PUSHED,  /* return address and rbp */
    FRAME_RETURN,  /* the return address only */
    FRAME_UNKNOWN,
};

/* At `pc`, for code that was entered at `entry` (0: not looked at). */
enum frame_part frame_part_at(const struct blob *b, uintptr_t entry, uintptr_t pc);

/* The caller of a frame of which that part exists. */
bool frame_caller(const struct stack *s, const struct blob *b, enum frame_part part,
                  const struct cursor *c, struct cursor *caller);

/* The target of the direct call before a return address; 0: that is none. */
uintptr_t call_target(uintptr_t return_pc);

/* Whether code at `entry` begins with push rbp; mov rbp, rsp; and how long that is. */
uint32_t frame_setup_bytes(uintptr_t entry);

/* Whether it does, and then makes room for the rest of a frame of `words` words. */
bool frame_setup_makes(uintptr_t entry, int32_t words);

/* Whether there is a jump at `pc` that leaves the blob. */
bool jumps_out(const struct blob *b, uintptr_t pc);

/* The same for what a C compiler made, which puts other instructions between the two. */
bool frame_setup_in_c(uintptr_t entry);

#endif
