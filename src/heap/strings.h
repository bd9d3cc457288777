/* strings.h - Strings of equal value: how many, what they waste, who refers to them.
 *
 * Values are distinguished by their bytes: by a 64-bit hash, and those that are shown also byte by
 * byte (up to STRINGS_KEPT of each).  What is wasted is all but one String and one array:
 *
 *     wasted = (strings - 1) * size of a String + (arrays - 1) * size of the array
 *
 * Strings that share one array (the JVM's own deduplication) waste only themselves.  Both layouts:
 * char[] (JDK 8) and byte[] with a coder.  Up to JDK 6 a String may be a part of an array: such
 * dumps are refused.
 *
 * Four passes over the dump.  Memory: 20 bytes an array of a String; of the values that are shown
 * 16 bytes an array and 16 to 32 a String; a few bits an object.  A dump has 57 bytes or more for a
 * String with its array. */
#ifndef ORCA_HEAP_STRINGS_H
#define ORCA_HEAP_STRINGS_H

#include "heap/holders.h"

enum {
    STRINGS_MOST = 1000,     /* values that can be asked for; fewer than HOLDERS_GROUPS */
    STRINGS_KEPT = 64 << 10, /* bytes of a value that are compared */
    STRINGS_TEXT = 256,      /* and that are kept for a reader */
    STRINGS_HOLDERS = 5,     /* of each value */
};

struct equal_strings {
    uint64_t strings, arrays; /* of this value */
    uint64_t array_size;      /* in the heap */
    uint64_t wasted;
    uint64_t length;                        /* characters (UTF-16) */
    const char *text;                       /* the beginning, in UTF-8 */
    bool cut;                               /* and there is more */
    uint32_t n_holders, all;                /* kept here; how many there are */
    struct holder holders[STRINGS_HOLDERS]; /* most first */
};

struct strings_found {
    uint64_t strings, arrays; /* in the dump */
    uint64_t values;          /* different ones */
    uint64_t duplicated;      /* of them, those that are there more than once */
    uint64_t wasted;          /* by all of them */
    uint64_t string_size;     /* of one, without its array */
    struct equal_strings *v;  /* the most wasted first */
    size_t n;
    struct arena arena;
};

/* most: values in *out, at most STRINGS_MOST.  -ENOTSUP for Strings that are parts of arrays,
 * -ENOMEM, errors of the system. */
int strings_find(struct strings_found *out, const struct dump *d, size_t most, struct err *err);
void strings_fini(struct strings_found *s);

#endif
