#include "hotspot/stack_room.h"

#include <string.h>
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

static uintptr_t word_of(uintptr_t thread, long offset)
{
    uintptr_t word;
    memcpy(&word, (const char *)thread + offset, sizeof word);
    return word;
}

uintptr_t stack_room_end(const struct vm_layout *l, uintptr_t java_thread)
{
    if (l->stack_base < 0 || l->stack_size < 0)
        return 0;
    uintptr_t base = word_of(java_thread, l->stack_base);
    uintptr_t size = word_of(java_thread, l->stack_size);
    return base > size && size > l->stack_guard ? base - size + l->stack_guard : 0;
}
