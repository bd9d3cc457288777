/* imports.h - functions of the C library in front of which a library of native methods may be given
 * others, by its import table: the words that the dynamic linker has filled in.
 *
 * Only libraries that define JNI_OnLoad are changed: they hold native methods of Java, the JDK's
 * own among them.  One that defines Agent_OnLoad is left alone, and so is an import that somebody
 * else has changed.  A word is changed by one store, so callers see the old or the new function. */
#ifndef ORCA_BASE_IMPORTS_H
#define ORCA_BASE_IMPORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct import {
    const char *name;
    void *to;   /* what is called instead */
    void *from; /* what the library calls otherwise; set by imports_find, NULL: not found */
};

void imports_find(struct import *v, size_t n);

/* Change what was loaded since the last call with the same *seen (0 at first; counts the loader's
 * changes): nothing new costs a call of dl_iterate_phdr that stops at once.  How many imports were
 * changed.  Any thread; takes the loader's lock, allocates nothing. */
size_t imports_change(const struct import *v, size_t n, uint64_t *seen);

/* Put all back that imports_change has changed. */
size_t imports_restore(const struct import *v, size_t n);

#endif
