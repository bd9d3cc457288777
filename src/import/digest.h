/* digest.h - equal byte strings get one number, counted from 1.
 *
 * Only 128-bit hashes are kept, so that memory does not grow with the strings; two different
 * strings with the same hash are not expected in the life of the universe. */
#ifndef ORCA_IMPORT_DIGEST_H
#define ORCA_IMPORT_DIGEST_H

#include "base/map.h"

struct digest {
    struct map map; /* low half of the hash (plus a step when taken) -> number */
    uint64_t *high; /* [cap], by number */
    size_t cap;
    uint32_t count;
};

void digest_init(struct digest *d);
void digest_fini(struct digest *d);

/* The number of the string; *fresh: it is new.  0 when memory is out. */
uint32_t digest_get(struct digest *d, const void *p, size_t n, bool *fresh);

#endif
