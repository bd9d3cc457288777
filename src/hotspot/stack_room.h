/* stack_room.h - how much of its stack a signal handler has left for a walk.
 *
 * At the end of a Java thread's stack are pages that HotSpot protects.  A fault there, in a
 * handler, it would take for the program's stack overflow. */
#ifndef ORCA_HOTSPOT_STACK_ROOM_H
#define ORCA_HOTSPOT_STACK_ROOM_H

#include <stddef.h>
#include <stdint.h>

enum {
    STACK_GUARD_ZONE = 32 * 1024, /* the yellow, red and reserved zones: 16 KiB by default */
    STACK_NEEDED = 24 * 1024,     /* by a walk, with a fault on the way */
};

/* Bytes left of the stack that the caller runs on: the thread's own [low, high) without the `guard`
 * bytes at its end, or the alternate one that the handler's `ucontext` names (NULL: none);
 * `elsewhere` when it is neither.  Async-signal-safe. */
size_t stack_room(uintptr_t low, uintptr_t high, size_t guard, const void *ucontext,
                  size_t elsewhere);

#endif
