/* guarded_x86_64.h - loads from addresses that may not be mapped: a wrong guess costs `false`, not
 * the process.
 *
 * Each load is one plain mov, entered in a table of (place of the mov, place to go on).  When it
 * faults, the handler of guarded.c finds it there and goes on at the second place.  So a load that
 * does not fault costs nothing, and no system call is needed.  Alignment does not matter.  Works in
 * any context in which SIGSEGV and SIGBUS are not blocked, after guarded_open. */
#ifndef ORCA_BASE_GUARDED_X86_64_H
#define ORCA_BASE_GUARDED_X86_64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An entry of the table; both are relative to their own place. */
struct guarded_site {
    int32_t load, otherwise;
};

/* Not asm goto: GCC before 14 miscompiles it when it has outputs (PR 113921). */
#define GUARDED_LOAD(name, type, mov, reg)                                                         \
    static inline bool name(uintptr_t from, type *to)                                              \
    {                                                                                              \
        type value;                                                                                \
        uint32_t there;                                                                            \
        __asm__ volatile("movl $1, %k1\n"                                                          \
                         "1: " mov " (%2), %" reg "0\n"                                            \
                         "2:\n\t"                                                                  \
                         ".pushsection .text.unlikely, \"ax\"\n"                                   \
                         "3: xorl %k0, %k0\n\t"                                                    \
                         "xorl %k1, %k1\n\t"                                                       \
                         "jmp 2b\n\t"                                                              \
                         ".popsection\n\t"                                                         \
                         ".pushsection orca_guarded, \"a\"\n\t"                                    \
                         ".balign 4\n\t"                                                           \
                         ".long 1b - ., 3b - .\n\t"                                                \
                         ".popsection"                                                             \
                         : "=&r"(value), "=&r"(there)                                              \
                         : "r"(from)                                                               \
                         : "memory", "cc");                                                        \
        if (there)                                                                                 \
            *to = value;                                                                           \
        return there != 0;                                                                         \
    }

GUARDED_LOAD(guarded_u64, uint64_t, "movq", "")
GUARDED_LOAD(guarded_u32, uint32_t, "movl", "k")
GUARDED_LOAD(guarded_u16, uint16_t, "movw", "w")
GUARDED_LOAD(guarded_u8, uint8_t, "movb", "b")

#undef GUARDED_LOAD

static inline bool guarded_i32(uintptr_t from, int32_t *to)
{
    return guarded_u32(from, (uint32_t *)to);
}

static inline bool guarded_word(uintptr_t from, uintptr_t *to)
{
    _Static_assert(sizeof(uintptr_t) == sizeof(uint64_t), "64 bits");
    uint64_t v;
    if (!guarded_u64(from, &v))
        return false;
    *to = v;
    return true;
}

/* Copy n bytes; false when not all of them are there. */
static inline bool guarded_bytes(uintptr_t from, void *to, size_t n)
{
    uint8_t *out = (uint8_t *)to;
    for (; n >= 8; n -= 8, from += 8, out += 8) {
        uint64_t v;
        if (!guarded_u64(from, &v))
            return false;
        __builtin_memcpy(out, &v, sizeof v);
    }
    for (; n > 0; n--, from++, out++)
        if (!guarded_u8(from, out))
            return false;
    return true;
}

#endif
