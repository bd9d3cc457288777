/* hash.h - the one place that includes xxHash, inlined, so that no binary links it; and the number
 * that is drawn for each process. */
#ifndef ORCA_BASE_HASH_H
#define ORCA_BASE_HASH_H

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <stddef.h>
#include <stdint.h>

struct hash128 {
    uint64_t lo, hi;
};

static inline uint64_t hash_bytes(const void *p, size_t n, uint64_t seed)
{
    return XXH3_64bits_withSeed(p, n, seed);
}

/* A number that is another one in each process; where the system gives none, always the same. */
uint64_t hash_drawn(void);

/* Where something lies in a table of this process.  As hash_bytes, but no file can be written whose
 * keys all lie in one place: for tables that go on at the next place, what a file holds must not
 * decide how far.  Not for what leaves the process. */
static inline uint64_t hash_place(const void *p, size_t n, uint64_t seed)
{
    return XXH3_64bits_withSeed(p, n, seed ^ hash_drawn());
}

static inline struct hash128 hash_place128(const void *p, size_t n)
{
    XXH128_hash_t h = XXH3_128bits_withSeed(p, n, hash_drawn());
    return (struct hash128){h.low64, h.high64};
}

/* The checksum of files: XXH64, which has a written specification. */
static inline uint64_t hash_checksum(const void *p, size_t n, uint64_t seed)
{
    return p ? XXH64(p, n, seed) : XXH64("", 0, seed);
}

static inline struct hash128 hash_bytes128(const void *p, size_t n)
{
    XXH128_hash_t h = XXH3_128bits(p, n);
    return (struct hash128){h.low64, h.high64};
}

/* A bijective mix for integer keys (the finaliser of MurmurHash3). */
static inline uint64_t hash_u64(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdu;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53u;
    x ^= x >> 33;
    return x;
}

#endif
