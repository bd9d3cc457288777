/* orca_ids.h - the numbers under which objects appear in a text file.
 *
 * An object goes by its identity hash.  The formats take that for unique, which it is not, and it
 * may be unknown (0): of the objects of one table with the same hash the one defined first keeps
 * it, the others get numbers that no object of the table has.  Those start beyond 31 bits, where
 * HotSpot has no hashes, so that such a number is never mistaken for one. */
#ifndef ORCA_EXPORT_ORCA_IDS_H
#define ORCA_EXPORT_ORCA_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ORCA_IDS_FREE UINT32_C(0x80000001)

struct orca_ids {
    uint32_t *number; /* [n], by dense id */
    size_t n;
};

/* The hash of object i of a table; false when i has no definition. */
typedef bool orca_ids_hash(const void *table, size_t i, uint32_t *hash);

/* Number the objects below n.  -ENOMEM. */
int orca_ids_init(struct orca_ids *ids, size_t n, orca_ids_hash *hash, const void *table);
void orca_ids_fini(struct orca_ids *ids);

/* 0, which stands for "unknown", for ids that have no definition. */
static inline uint32_t orca_ids_get(const struct orca_ids *ids, uint32_t id)
{
    return id < ids->n ? ids->number[id] : 0;
}

#endif
