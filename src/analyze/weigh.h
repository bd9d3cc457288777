/* weigh.h - to which of several keys (owners, places) a set of waits is due most.
 *
 * A wait weighs its time, but no more than a twentieth of what all of them weigh: one long wait
 * that was found once does not outweigh what was found each other time.  Where no such bound exists
 * (fewer than twenty waits, or hardly more) they say nothing about time, and each weighs the same.
 *
 *     at most WEIGH_LEAST - 1 waits are longer than the bound, so it is exact with the longest
 *     WEIGH_LEAST ones kept:  bound = (ns without the k longest) / (WEIGH_LEAST - k),  the least k
 *     for which no other wait is longer
 *
 * Zeroed it is empty. */
#ifndef ORCA_ANALYZE_WEIGH_H
#define ORCA_ANALYZE_WEIGH_H

#include <stdint.h>

enum { WEIGH_LEAST = 20 };

struct weighed {
    uint64_t ns;
    uint32_t key;
};

struct weigh {
    uint64_t n, ns;                      /* all waits */
    struct weighed longest[WEIGH_LEAST]; /* longest first */
};

void weigh_add(struct weigh *w, uint32_t key, uint64_t ns);

/* What the waits of a key weigh, ns: count and ns are their sums. */
uint64_t weigh_of(const struct weigh *w, uint32_t key, uint64_t count, uint64_t ns);

/* The same of 1000 that all of them weigh; 0 where there are none. */
unsigned weigh_permille(const struct weigh *w, uint32_t key, uint64_t count, uint64_t ns);

#endif
