/* id_space.h - the ids that an importer gives to definitions of one kind: those of the file where a
 * trace allows them (trace_id_limit) and they are free, else other free ones. */
#ifndef ORCA_IMPORT_ID_SPACE_H
#define ORCA_IMPORT_ID_SPACE_H

#include "base/buf.h"

struct id_space {
    struct buf taken; /* a bit an id */
    uint32_t n;       /* taken */
    uint32_t next;    /* where free ones are looked for; a caller may begin it anywhere */
};

void id_space_init(struct id_space *s);
void id_space_fini(struct id_space *s);

/* `want`, or when it cannot be had (0 never can), a free id.  0 when memory is out. */
uint32_t id_space_take(struct id_space *s, uint64_t want);

#endif
