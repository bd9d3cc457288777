#include "hotspot/unmounted.h"

#include "base/hash.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#define HASH_SHIFT 32 /* of a place */

enum {
    WAYS = 8, /* a line of the cache */
    SETS = 4096,
    RECORDS = SETS * WAYS, /* threads at a time */
    PLACES = 16384,        /* sets of hashes */
};

/* What a thread says.  The serial is odd while it is being written. */
struct record {
    _Atomic uint32_t serial, epoch, n;
    _Atomic uint32_t hashes[UNMOUNTED_LOCKS];
};

/* From a thread to its record: records[set * WAYS + way] is of the thread tids[set][way].  From a
 * hash to records: a place is (hash, 1 + record), and counts only if the record has the hash. */
struct unmounted {
    _Atomic uint32_t epoch;
    _Atomic uint64_t tids[SETS][WAYS];
    _Atomic uint64_t places[PLACES][WAYS];
    struct record records[RECORDS];
};

int unmounted_new(struct unmounted **out)
{
    *out = calloc(1, sizeof **out); /* 2.8 MB, of which the kernel gives what is used */
    return *out ? 0 : -ENOMEM;
}

void unmounted_free(struct unmounted *u)
{
    free(u);
}

/* --- records ---------------------------------------------------------------------------------- */

static _Atomic uint64_t *set_of(struct unmounted *u, uint64_t java_tid)
{
    return u->tids[hash_u64(java_tid) % SETS];
}

/* The place of the thread's number, NULL when it has none. */
static _Atomic uint64_t *find_tid(struct unmounted *u, uint64_t java_tid)
{
    _Atomic uint64_t *set = set_of(u, java_tid);
    for (int i = 0; i < WAYS; i++)
        /* relaxed: only the thread itself writes its number */
        if (atomic_load_explicit(&set[i], memory_order_relaxed) == java_tid)
            return &set[i];
    return NULL;
}

static _Atomic uint64_t *take_record(struct unmounted *u, uint64_t java_tid)
{
    _Atomic uint64_t *set = set_of(u, java_tid);
    for (int i = 0; i < WAYS; i++) {
        uint64_t none = 0;
        /* acquire: pairs with unmounted_return of the record's last thread */
        if (atomic_load_explicit(&set[i], memory_order_relaxed) == 0 &&
            atomic_compare_exchange_strong_explicit(&set[i], &none, java_tid, memory_order_acquire,
                                                    memory_order_relaxed))
            return &set[i];
    }
    return NULL;
}

static uint32_t index_of(const struct unmounted *u, const _Atomic uint64_t *tid)
{
    return (uint32_t)(tid - &u->tids[0][0]);
}

/* Whether the record says so; *serial: in which version. */
static bool says(const struct unmounted *u, const struct record *r, uint32_t hash, uint32_t *serial)
{
    bool has = false;
    *serial = atomic_load(&r->serial);
    uint32_t n = atomic_load(&r->n);
    for (uint32_t i = 0; i < n && i < UNMOUNTED_LOCKS; i++)
        has |= atomic_load(&r->hashes[i]) == hash;
    has &= atomic_load(&r->epoch) == atomic_load(&u->epoch);
    return has && *serial % 2 == 0 && atomic_load(&r->serial) == *serial;
}

/* --- places ----------------------------------------------------------------------------------- */

static uint64_t place_word(uint32_t hash, uint32_t record)
{
    return (uint64_t)hash << HASH_SHIFT | (record + 1);
}

static bool is_used(const struct unmounted *u, uint64_t word)
{
    uint32_t serial;
    if (!word)
        return false;
    /* A record that is being written may be about to say it. */
    const struct record *r = &u->records[(uint32_t)word - 1];
    return atomic_load(&r->serial) % 2 != 0 || says(u, r, (uint32_t)(word >> HASH_SHIFT), &serial);
}

/* While the record is being written: others leave its places alone then. */
static bool put_place(struct unmounted *u, uint32_t hash, uint32_t record)
{
    _Atomic uint64_t *set = u->places[hash_u64(hash) % PLACES];
    uint64_t mine = place_word(hash, record);
    for (int i = 0; i < WAYS; i++)
        if (atomic_load(&set[i]) == mine)
            return true;
    for (int i = 0; i < WAYS; i++) {
        uint64_t old = atomic_load(&set[i]);
        if (!is_used(u, old) && atomic_compare_exchange_strong(&set[i], &old, mine))
            return true;
    }
    return false;
}

/* --- what threads say ---------------------------------------------------------------------------
 *
 * seq_cst throughout: who reads a record between two looks at its serial must not be shown words of
 * another version. */

static bool write_record(struct unmounted *u, uint32_t index, const uint32_t *hashes, size_t n)
{
    struct record *r = &u->records[index];
    uint32_t serial = atomic_load_explicit(&r->serial, memory_order_relaxed);
    uint32_t said = 0;
    atomic_store(&r->serial, serial + 1);
    for (size_t i = 0; i < n && i < UNMOUNTED_LOCKS; i++)
        if (put_place(u, hashes[i], index))
            atomic_store(&r->hashes[said++], hashes[i]);
    atomic_store(&r->n, said);
    atomic_store(&r->epoch, atomic_load(&u->epoch));
    atomic_store(&r->serial, serial + 2);
    return said == n;
}

bool unmounted_leave(struct unmounted *u, uint64_t java_tid, const uint32_t *hashes, size_t n)
{
    if (n == 0) {
        unmounted_return(u, java_tid);
        return true;
    }
    const _Atomic uint64_t *tid = find_tid(u, java_tid);
    if (!tid)
        tid = take_record(u, java_tid);
    return tid && write_record(u, index_of(u, tid), hashes, n);
}

void unmounted_return(struct unmounted *u, uint64_t java_tid)
{
    _Atomic uint64_t *tid = find_tid(u, java_tid);
    if (!tid)
        return;
    write_record(u, index_of(u, tid), NULL, 0);
    /* release: pairs with take_record; the record is the next one's as it is now */
    atomic_store_explicit(tid, 0, memory_order_release);
}

void unmounted_forget(struct unmounted *u)
{
    atomic_fetch_add(&u->epoch, 1);
}

/* --- who asks --------------------------------------------------------------------------------- */

bool unmounted_find(const struct unmounted *u, uint32_t hash, struct unmounted_owner *found)
{
    const _Atomic uint64_t *set = u->places[hash_u64(hash) % PLACES];
    uint32_t n = 0, serial;
    for (int i = 0; i < WAYS; i++) {
        uint64_t word = atomic_load(&set[i]);
        uint32_t index = (uint32_t)word - 1;
        if (!word || word >> HASH_SHIFT != hash || !says(u, &u->records[index], hash, &serial))
            continue;
        *found =
            (struct unmounted_owner){.java_tid = atomic_load(&u->tids[index / WAYS][index % WAYS]),
                                     .record = index,
                                     .serial = serial};
        n++;
    }
    return n == 1 && found->java_tid;
}

bool unmounted_is_same(const struct unmounted *u, const struct unmounted_owner *found)
{
    return atomic_load(&u->records[found->record].serial) == found->serial;
}
