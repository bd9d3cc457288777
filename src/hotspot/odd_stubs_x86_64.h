/* odd_stubs_x86_64.h - stubs that are not called like others: jumped to when a frame is gone, with
 * the return address in a register for a while, or with a frame that other code has made.
 *
 * Internal to the walker.  Each is recognised by the instruction that comes next, and what is found
 * must be a place that the compiler has described, or the handler of a method whose own caller is
 * one. */
#ifndef ORCA_HOTSPOT_ODD_STUBS_X86_64_H
#define ORCA_HOTSPOT_ODD_STUBS_X86_64_H

#include "hotspot/run.h"

struct odd_caller {
    struct cursor at;
    enum pc_match match;
    bool vm;  /* as if it had called the VM: native methods call nothing else */
    bool cut; /* C's frames are between, and not known */
};

/* In a stub that is interrupted; regs: what it was interrupted with. */
bool odd_stub_caller(const struct run *r, const struct blob *b, const struct cursor *c,
                     const struct interpreter_registers *regs, struct odd_caller *caller);

#endif
