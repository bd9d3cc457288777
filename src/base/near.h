/* near.h - how far two names are apart, to suggest the one that was meant.
 * No heap.  Thread-safe. */
#ifndef ORCA_BASE_NEAR_H
#define ORCA_BASE_NEAR_H

#include <stdbool.h>
#include <stddef.h>

/* Insertions, deletions, replacements and swaps of neighbours between the two; names longer than 63
 * bytes count as far apart (SIZE_MAX). */
size_t near_distance(const char *a, size_t a_len, const char *b, size_t b_len);

/* Whether that distance is small enough, for names of this length, to be worth a suggestion. */
bool near_close(size_t distance, size_t len);

#endif
