/* stack_room.h - how much of its stack a thread has left: a signal handler for a walk, a callback
 * or a native method for what it puts there.
 *
 * At the end of a Java thread's stack are pages that HotSpot protects.  A fault there it takes for
 * the program's stack overflow, or cannot even handle: then the process ends without a word. */
#ifndef ORCA_HOTSPOT_STACK_ROOM_H
#define ORCA_HOTSPOT_STACK_ROOM_H

#include "hotspot/vmstructs.h"

#include <stddef.h>
#include <stdint.h>

enum {
    STACK_GUARD_ZONE = 32 * 1024, /* the yellow, red and reserved zones: 16 KiB by default */
    STACK_NEEDED = 24 * 1024,     /* by a walk, with a fault on the way */
    STACK_ROOM_LEAST = 60 * 1024, /* where a callback or a native method begins: HotSpot sees to
                                   * 80 KiB (StackShadowPages), of which it takes a part itself;
                                   * measured 68 KB at least (17, 25), in a StackOverflowError */
};

/* Bytes left of the stack that the caller runs on: the thread's own [low, high) without the `guard`
 * bytes at its end, or the alternate one that the handler's `ucontext` names (NULL: none);
 * `elsewhere` when it is neither.  Async-signal-safe. */
size_t stack_room(uintptr_t low, uintptr_t high, size_t guard, const void *ucontext,
                  size_t elsewhere);

/* The address above the protected pages of a live thread's stack; 0: not known. */
uintptr_t stack_room_end(const struct vm_layout *l, uintptr_t java_thread);

#endif
