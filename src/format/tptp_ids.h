/* tptp_ids.h - the ids that objects of the heap profiler have in TPTP's XML (docs/tptp.md): what
 * the exporter writes and the importer turns back.
 *
 * Lock n is 2n and the Thread object of thread n is 2n + 1, which 33 bits hold; object n is above.
 */
#ifndef ORCA_FORMAT_TPTP_IDS_H
#define ORCA_FORMAT_TPTP_IDS_H

#include <stdint.h>

#define TPTP_HEAP_OBJECTS (UINT64_C(1) << 33)

/* An object that goes by another id, being a thread, has this and that id as its number in an
 * import. */
#define TPTP_IMPORTED_ID (UINT64_C(1) << 62)

/* The number of an object of our own files by its id. */
static inline uint64_t tptp_object_number(uint64_t id)
{
    return id > TPTP_HEAP_OBJECTS ? id - TPTP_HEAP_OBJECTS : TPTP_IMPORTED_ID + id;
}

#endif
