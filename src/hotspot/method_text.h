/* method_text.h - the names behind a frame, and an identity for its method that outlives its
 * address.
 *
 * HotSpot gives a Method's memory to another method once its class is unloaded or redefined.  Two
 * answers to that:
 *
 * The stamp, 64 bits, costs a few loads: unequal when the address has come to mean another method.
 * To be kept beside the address in a table of (address, stamp) -> id.  It lasts when the method has
 * a jmethodID, which HotSpot gives to no other method ever.  Before that, a class that is loaded
 * again at the same addresses, its loader's data too, with the same names in the same places, has
 * the same stamp; it reads the same.  A method's stamp changes when it gets its jmethodID.
 *
 * The key, 128 bits, is made of what a reader would see: names, signature, lines, class loader. The
 * identity to intern by.  The bytecodes are not in it: the interpreter rewrites them.
 *
 * No JNI, no lock, no allocation, no system call: async-signal-safe. */
#ifndef ORCA_HOTSPOT_METHOD_TEXT_H
#define ORCA_HOTSPOT_METHOD_TEXT_H

#include "hotspot/walker.h"

#include <stddef.h>

struct method_key {
    uint64_t lo, hi;
};

struct method_text {
    const char *class_name;                /* a/b/C; not terminated, in HotSpot's modified UTF-8 */
    const char *name, *signature, *source; /* source: of the class, may be empty */
    uint16_t class_name_len, name_len, signature_len, source_len;
    uint16_t access;      /* JVM access flags */
    uint32_t code_size;   /* bytes of its code */
    const uint8_t *lines; /* compressed line numbers: method_lines_next */
    uint32_t lines_len;   /* 0: none */
    uint32_t size;        /* bytes of the buffer that are used */
    uintptr_t loader;     /* identity of the class loader; may be reused */
    uint64_t stamp;       /* to be compared with the frame's, when that was walked before */
    struct method_key key;
};

/* One that a walk met, described. */
struct method_met {
    uintptr_t method;
    uint64_t stamp;
    struct method_text text;
};

/* This bit of a stamp: it is of a method that has its jmethodID. */
#define METHOD_STAMP_LASTS UINT64_C(1)

/* 0: not a method. */
uint64_t method_stamp(const struct walker *w, uintptr_t method);

/* The byte at a bci as HotSpot keeps it (operands may be rewritten); -1: there is none. */
int32_t method_bytecode(const struct walker *w, uintptr_t method, int32_t bci);

/* Describe a method that a walk returned.  The texts are copied into `buf`.  0, -EFAULT (no method
 * at that address), -ENOSPC (`buf` is too small). */
int method_describe(const struct walker *w, uintptr_t method, char *buf, size_t size,
                    struct method_text *out);

/* Go through a compressed line table: start with {0}; false at its end (or where it is damaged). */
struct method_lines {
    uint32_t at;
    int32_t bci, line;
};

bool method_lines_next(const struct walker *w, const struct method_text *t, struct method_lines *l);

#endif
