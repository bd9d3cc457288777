/* ids.h - the objects of a dump: ids (addresses) as dense numbers, 0..n-1 in the order of ids.
 *
 * A set of bits, one for each possible address, in pages that exist where objects are; beside each
 * 64 bits stands how many are set before them, so that an id's number costs one look into memory.
 * It takes a 32nd of the heap's size, about a byte an object.
 *
 *     region (64 pages) -> page (64 words) -> word (64 addresses)
 *
 * First ids_add, by one thread for each set; then ids_merge; then ids_seal; from there on it is
 * read only, by any number of threads. */
#ifndef ORCA_HEAP_IDS_H
#define ORCA_HEAP_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { IDS_PAGE_WORDS = 64, IDS_REGION_PAGES = 64 };

#define IDS_NONE UINT32_MAX

struct ids_word {
    uint64_t bits;
    uint64_t before; /* ids in lower words; set by ids_seal */
};

struct ids_region {
    uint64_t key; /* address >> (shift + 18) */
    struct ids_word *pages[IDS_REGION_PAGES];
};

struct ids {
    unsigned shift;              /* addresses are multiples of 1 << shift */
    struct ids_region **regions; /* after ids_seal in the order of keys */
    size_t n_regions, cap;
    uint32_t *slots; /* hash of keys -> index of region + 1 */
    size_t n_slots;
    uint64_t drawn; /* by the process: where keys stand among them */
    uint64_t n;     /* ids; set by ids_seal */
    const struct ids_region *last;
};

void ids_init(struct ids *s, unsigned shift);
void ids_fini(struct ids *s);

/* -ENOMEM, or -ERANGE when the id is not a multiple of 1 << shift. */
int ids_add(struct ids *s, uint64_t id);

/* Add all of `from`, which is empty afterwards.  -ENOMEM. */
int ids_merge(struct ids *s, struct ids *from);

/* Count.  -EOVERFLOW for more than IDS_NONE - 1 objects, -ENOMEM. */
int ids_seal(struct ids *s);

/* The number of an id, or IDS_NONE. */
uint32_t ids_find(const struct ids *s, uint64_t id);

/* The id of a number < n. */
uint64_t ids_at(const struct ids *s, uint32_t number);

#endif
