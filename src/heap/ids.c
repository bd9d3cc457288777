#include "heap/ids.h"

#include "base/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    WORD_BITS = 6,
    PAGE_BITS = 6,
    REGION_BITS = 6,
    KEY_BITS = WORD_BITS + PAGE_BITS + REGION_BITS
};

void ids_init(struct ids *s, unsigned shift)
{
    *s = (struct ids){.shift = shift};
}

void ids_fini(struct ids *s)
{
    for (size_t i = 0; i < s->n_regions; i++) {
        for (int p = 0; p < IDS_REGION_PAGES; p++)
            free(s->regions[i]->pages[p]);
        free(s->regions[i]);
    }
    free(s->regions);
    free(s->slots);
    ids_init(s, s->shift);
}

static inline size_t slot_of(const struct ids *s, uint64_t key)
{
    return (size_t)hash_u64(key ^ s->drawn) & (s->n_slots - 1);
}

static inline struct ids_region *find_region(const struct ids *s, uint64_t key)
{
    if (!s->n_slots)
        return NULL;
    for (size_t i = slot_of(s, key); s->slots[i]; i = (i + 1) & (s->n_slots - 1))
        if (s->regions[s->slots[i] - 1]->key == key)
            return s->regions[s->slots[i] - 1];
    return NULL;
}

static int hash_regions(struct ids *s, size_t n_slots)
{
    uint32_t *slots = calloc(n_slots, sizeof *slots);
    if (!slots)
        return -ENOMEM;
    free(s->slots);
    s->slots = slots;
    s->n_slots = n_slots;
    s->drawn = hash_drawn();
    for (size_t k = 0; k < s->n_regions; k++) {
        size_t i = slot_of(s, s->regions[k]->key);
        while (slots[i])
            i = (i + 1) & (n_slots - 1);
        slots[i] = (uint32_t)k + 1;
    }
    return 0;
}

static struct ids_region *add_region(struct ids *s, uint64_t key)
{
    if (s->n_regions == s->cap) {
        size_t cap = s->cap ? 2 * s->cap : 64;
        struct ids_region **more = realloc(s->regions, cap * sizeof *more);
        if (!more)
            return NULL;
        s->regions = more;
        s->cap = cap;
        if (hash_regions(s, 2 * cap) < 0)
            return NULL;
    }
    struct ids_region *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->key = key;
    s->regions[s->n_regions++] = r;
    size_t i = slot_of(s, key);
    while (s->slots[i])
        i = (i + 1) & (s->n_slots - 1);
    s->slots[i] = (uint32_t)s->n_regions;
    return r;
}

static struct ids_region *make_region(struct ids *s, uint64_t key)
{
    struct ids_region *r = find_region(s, key);
    return r ? r : add_region(s, key);
}

int ids_add(struct ids *s, uint64_t id)
{
    uint64_t granule = id >> s->shift, key = granule >> KEY_BITS;
    if (granule << s->shift != id)
        return -ERANGE;
    struct ids_region *r = (struct ids_region *)(uintptr_t)s->last;
    if (!r || r->key != key) {
        r = make_region(s, key);
        if (!r)
            return -ENOMEM;
        s->last = r;
    }
    struct ids_word **page = &r->pages[granule >> (WORD_BITS + PAGE_BITS) & (IDS_REGION_PAGES - 1)];
    if (!*page) {
        *page = calloc(IDS_PAGE_WORDS, sizeof **page);
        if (!*page)
            return -ENOMEM;
    }
    (*page)[granule >> WORD_BITS & (IDS_PAGE_WORDS - 1)].bits |= UINT64_C(1) << (granule & 63);
    return 0;
}

static int merge_region(struct ids *s, struct ids_region *from)
{
    struct ids_region *to = make_region(s, from->key);
    if (!to)
        return -ENOMEM;
    for (int p = 0; p < IDS_REGION_PAGES; p++) {
        if (!to->pages[p]) {
            to->pages[p] = from->pages[p];
            from->pages[p] = NULL;
        } else if (from->pages[p]) {
            for (int w = 0; w < IDS_PAGE_WORDS; w++)
                to->pages[p][w].bits |= from->pages[p][w].bits;
        }
    }
    return 0;
}

int ids_merge(struct ids *s, struct ids *from)
{
    int rc = 0;
    for (size_t i = 0; i < from->n_regions && rc == 0; i++)
        rc = merge_region(s, from->regions[i]);
    ids_fini(from);
    return rc;
}

static int by_key(const void *a, const void *b)
{
    uint64_t x = (*(struct ids_region *const *)a)->key, y = (*(struct ids_region *const *)b)->key;
    return x < y ? -1 : x > y;
}

int ids_seal(struct ids *s)
{
    uint64_t n = 0;
    s->last = NULL;
    if (s->n_regions == 0)
        return 0;
    qsort(s->regions, s->n_regions, sizeof *s->regions, by_key);
    for (size_t i = 0; i < s->n_regions; i++)
        for (int p = 0; p < IDS_REGION_PAGES; p++)
            for (int w = 0; s->regions[i]->pages[p] && w < IDS_PAGE_WORDS; w++) {
                s->regions[i]->pages[p][w].before = n;
                n += (uint64_t)__builtin_popcountll(s->regions[i]->pages[p][w].bits);
            }
    if (n >= IDS_NONE)
        return -EOVERFLOW;
    s->n = n;
    return hash_regions(s, s->n_slots);
}

uint32_t ids_find(const struct ids *s, uint64_t id)
{
    uint64_t granule = id >> s->shift;
    const struct ids_region *r = find_region(s, granule >> KEY_BITS);
    if (!r || granule << s->shift != id)
        return IDS_NONE;
    const struct ids_word *page =
        r->pages[granule >> (WORD_BITS + PAGE_BITS) & (IDS_REGION_PAGES - 1)];
    if (!page)
        return IDS_NONE;
    const struct ids_word *w = &page[granule >> WORD_BITS & (IDS_PAGE_WORDS - 1)];
    uint64_t bit = UINT64_C(1) << (granule & 63);
    if (!(w->bits & bit))
        return IDS_NONE;
    return (uint32_t)(w->before + (uint64_t)__builtin_popcountll(w->bits & (bit - 1)));
}

/* The first id of a region's first page; pages are never empty. */
static uint64_t before_region(const struct ids_region *r)
{
    for (int p = 0; p < IDS_REGION_PAGES; p++)
        if (r->pages[p])
            return r->pages[p][0].before;
    return 0;
}

static uint64_t id_in(const struct ids *s, const struct ids_region *r, int page, uint64_t number)
{
    const struct ids_word *words = r->pages[page];
    int lo = 0, hi = IDS_PAGE_WORDS;
    while (hi - lo > 1) {
        int mid = lo + (hi - lo) / 2;
        if (words[mid].before <= number)
            lo = mid;
        else
            hi = mid;
    }
    uint64_t bits = words[lo].bits;
    for (uint64_t skip = number - words[lo].before; skip > 0; skip--)
        bits &= bits - 1;
    uint64_t granule = r->key << KEY_BITS | (uint64_t)page << (WORD_BITS + PAGE_BITS) |
                       (uint64_t)lo << WORD_BITS | (uint64_t)__builtin_ctzll(bits);
    return granule << s->shift;
}

uint64_t ids_at(const struct ids *s, uint32_t number)
{
    size_t lo = 0, hi = s->n_regions;
    while (hi - lo > 1) {
        size_t mid = lo + (hi - lo) / 2;
        if (before_region(s->regions[mid]) <= number)
            lo = mid;
        else
            hi = mid;
    }
    const struct ids_region *r = s->regions[lo];
    int page = -1;
    for (int p = 0; p < IDS_REGION_PAGES; p++)
        if (r->pages[p] && r->pages[p][0].before <= number)
            page = p;
    return id_in(s, r, page, number);
}
