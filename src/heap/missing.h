/* missing.h - what Orca can say of an incomplete dump, and in which words.
 *
 * dump_open knows what is missing (struct dump_missing).  What follows from that is decided here,
 * for all answers:
 *
 *     what keeps memory alive: dominators,      of a whole dump only: one reference or one root
 *     retained sizes, suspects, what no root    that is missing makes others seem to keep what they
 *     leads to                                  do not keep alone
 *     a path from a root to an object           true when there is one; that there is none is not
 *                                               known.  None where names are missing: weak
 *                                               references are known by them
 *     instances, bytes, equal strings,          at least
 *     collections, threads, referrers
 *     growth since another dump                 a class has grown when the earlier dump is whole,
 *                                               has shrunk when the later one is */
#ifndef ORCA_HEAP_MISSING_H
#define ORCA_HEAP_MISSING_H

#include "heap/dump.h"

/* Whether dominators and all that hangs from them can be found. */
static inline bool missing_knows_keepers(const struct dump *d)
{
    return !d->partial;
}

/* Whether a path that is found is one. */
static inline bool missing_knows_paths(const struct dump *d)
{
    return d->missing.names == 0;
}

/* Whether it has more than references: values, texts of Strings, lengths of arrays.  XML has
 * not. */
static inline bool missing_knows_contents(const struct dump *d)
{
    return !d->stated;
}

/* What is missing, a line each: "its end: the file stops at offset 0x1000, before the dump
 * does". */
enum { MISSING_LINES = 5 };

struct missing_lines {
    char v[MISSING_LINES][256];
    size_t n;
};

void missing_tell(const struct dump *d, struct missing_lines *out);

/* Why the dump does not show what keeps memory alive, and how to get one that does. Sentences. */
extern const char missing_why[], missing_remedy[];

/* What a dump whose contents are not known does not have; a sentence. */
extern const char missing_contents[];

#endif
