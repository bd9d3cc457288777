/* tptp_ids.h - the ids that objects have in TPTP's XML (docs/reference/tptp.md): what the exporter
 * writes and the importer turns back.
 *
 * Lock n is 2n and the Thread object of thread n is 2n + 1; object n of the heap profiler is
 * base + n, where the base is above both and the file's option TPTP_BASE_OPTION says it.  So ids
 * count from 2 without large gaps: readers take them for 32-bit numbers. */
#ifndef ORCA_FORMAT_TPTP_IDS_H
#define ORCA_FORMAT_TPTP_IDS_H

#include <stdint.h>

#define TPTP_BASE_OPTION "orca.objects"

/* The base of files that do not say it. */
#define TPTP_BASE_UNTOLD (UINT64_C(1) << 33)

/* An object that goes by another id, being a thread, has this and that id as its number in an
 * import. */
#define TPTP_IMPORTED_ID (UINT64_C(1) << 62)

/* The number of an object of our own files by its id. */
static inline uint64_t tptp_object_number(uint64_t base, uint64_t id)
{
    return id > base ? id - base : TPTP_IMPORTED_ID + id;
}

#endif
