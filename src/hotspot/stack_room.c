#include "hotspot/stack_room.h"

#include <ucontext.h>

static size_t above(uintptr_t here, uintptr_t limit)
{
    return here > limit ? here - limit : 0;
}

size_t stack_room(uintptr_t low, uintptr_t high, size_t guard, const void *ucontext,
                  size_t elsewhere)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    if (here >= low && here < high)
        return above(here, low + guard);
    if (!ucontext)
        return elsewhere;
    const stack_t *alternate = &((const ucontext_t *)ucontext)->uc_stack;
    uintptr_t other = (uintptr_t)alternate->ss_sp;
    return here >= other && here - other < alternate->ss_size ? here - other : elsewhere;
}
