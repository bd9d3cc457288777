#include "hotspot/heap_use.h"

#include "base/guarded_x86_64.h"
#include "base/util.h"

#include <string.h>

/* --- where the books are ---------------------------------------------------------------------- */

/* A place: words "TYPE::FIELD" from the CollectedHeap on.  A `*` behind one: a pointer, to be
 * followed; without: the next type lies in there.  A `@` in front: a static field, so the way
 * begins there.  A leading `-` subtracts.  What is in use and what is committed is the sum of the
 * places.
 *
 * The spaces of Serial and Parallel that are counted as committed leave out the empty survivor
 * space, as the JVM itself does: no object can be in it between collections. */
struct books {
    const char *flag, *collector;
    bool concurrent;
    const char *used[HEAP_TERMS + 1], *committed[HEAP_TERMS + 1];
};

/* The objects in a space, and the room that it has. */
#define FILLED(to_space, space, bottom)                                                            \
    to_space "* " space "::_top", "-" to_space "* " bottom "::_bottom"
#define ROOM(to_space, bottom) to_space "* " bottom "::_end", "-" to_space "* " bottom "::_bottom"

#define EDEN17 "GenCollectedHeap::_young_gen* DefNewGeneration::_eden_space"
#define FROM17 "GenCollectedHeap::_young_gen* DefNewGeneration::_from_space"
#define OLD17 "GenCollectedHeap::_old_gen* TenuredGeneration::_the_space"
#define EDEN "SerialHeap::_young_gen* DefNewGeneration::_eden_space"
#define FROM "SerialHeap::_young_gen* DefNewGeneration::_from_space"
#define OLD "SerialHeap::_old_gen* TenuredGeneration::_the_space"
#define PS_EDEN "@ParallelScavengeHeap::_young_gen* PSYoungGen::_eden_space"
#define PS_FROM "@ParallelScavengeHeap::_young_gen* PSYoungGen::_from_space"
#define PS_OLD "@ParallelScavengeHeap::_old_gen* PSOldGen::_object_space"
#define G1_17 "G1CollectedHeap::_g1mm* G1MonitoringSupport::"
#define G1_25 "G1CollectedHeap::_monitoring_support* G1MonitoringSupport::"
#define G1_COMMITTED(support)                                                                      \
    support "_eden_space_committed", support "_survivor_space_committed",                          \
        support "_old_gen_committed"
#define Z_PAGES "ZCollectedHeap::_heap ZHeap::_page_allocator "
#define Z_PARTITION Z_PAGES "ZPageAllocator::_partitions ZPerNUMAZPartition::_addr* ZPartition::"

static const struct books all_books[] = {
    {"UseSerialGC",
     "Serial",
     false,
     {FILLED(EDEN, "ContiguousSpace", "ContiguousSpace"),
      FILLED(FROM, "ContiguousSpace", "ContiguousSpace"),
      FILLED(OLD, "ContiguousSpace", "ContiguousSpace")},
     {ROOM(EDEN, "ContiguousSpace"), ROOM(FROM, "ContiguousSpace"), ROOM(OLD, "ContiguousSpace")}},
    {"UseSerialGC", /* 17 to 21 */
     "Serial",
     false,
     {FILLED(EDEN17, "ContiguousSpace", "Space"), FILLED(FROM17, "ContiguousSpace", "Space"),
      FILLED(OLD17, "ContiguousSpace", "Space")},
     {ROOM(EDEN17, "Space"), ROOM(FROM17, "Space"), ROOM(OLD17, "Space")}},
    {"UseParallelGC",
     "Parallel",
     false,
     {FILLED(PS_EDEN, "MutableSpace", "MutableSpace"),
      FILLED(PS_FROM, "MutableSpace", "MutableSpace"),
      FILLED(PS_OLD, "MutableSpace", "MutableSpace")},
     {ROOM(PS_EDEN, "MutableSpace"), ROOM(PS_FROM, "MutableSpace"), ROOM(PS_OLD, "MutableSpace")}},
    {"UseG1GC", "G1", false, {"G1CollectedHeap::_summary_bytes_used"}, {G1_COMMITTED(G1_25)}},
    {"UseG1GC", "G1", false, {"G1CollectedHeap::_summary_bytes_used"}, {G1_COMMITTED(G1_17)}},
    {"UseZGC", "ZGC", true, {Z_PARTITION "_used"}, {Z_PARTITION "_capacity"}},
    {"UseZGC", /* 17 to 23 */
     "ZGC",
     true,
     {Z_PAGES "ZPageAllocator::_used"},
     {Z_PAGES "ZPageAllocator::_capacity"}},
    {"UseShenandoahGC",
     "Shenandoah",
     true,
     {"ShenandoahHeap::_global_generation* ShenandoahGeneration::_used"},
     {"ShenandoahHeap::_committed"}},
    {"UseShenandoahGC",
     "Shenandoah",
     true,
     {"ShenandoahHeap::_used"},
     {"ShenandoahHeap::_committed"}},
};

/* --- finding them ----------------------------------------------------------------------------- */

/* One "TYPE::FIELD" of n bytes; -1 when it is not described. */
static long offset_of(const struct vmstructs *vs, const char *word, size_t n)
{
    char type[64], field[64];
    const char *colons = memmem(word, n, "::", 2);
    size_t head = colons ? (size_t)(colons - word) : 0;
    if (!colons || head >= sizeof type || n - head - 2 >= sizeof field)
        return -1;
    memcpy(type, word, head);
    type[head] = 0;
    memcpy(field, colons + 2, n - head - 2);
    field[n - head - 2] = 0;
    return vmstructs_offset(vs, type, field, NULL);
}

static bool find_term(struct heap_term *t, uintptr_t heap, const struct vmstructs *vs,
                      const char *place)
{
    uint32_t at = 0;
    *t = (struct heap_term){.from = heap, .minus = *place == '-'};
    for (const char *p = place + t->minus; *p;) {
        bool is_static = *p == '@';
        p += is_static;
        size_t n = strcspn(p, "* ");
        long offset = offset_of(vs, p, n);
        bool follow = p[n] == '*', last = !p[n];
        if (offset < 0 || t->n == HEAP_HOPS)
            return false;
        if (is_static)
            t->from = (uintptr_t)offset;
        else
            at += (uint32_t)offset;
        if (follow || last) {
            t->hops[t->n++] = at;
            at = 0;
        }
        p += n + follow;
        p += *p == ' ';
    }
    return true;
}

static bool find_terms(struct heap_term *t, uintptr_t heap, const struct vmstructs *vs,
                       const char *const *places)
{
    memset(t, 0, HEAP_TERMS * sizeof *t);
    for (size_t i = 0; places[i]; i++)
        if (!find_term(&t[i], heap, vs, places[i])) {
            memset(t, 0, HEAP_TERMS * sizeof *t);
            return false;
        }
    return true;
}

/* Where the books look right and are not: a second kind of ZGC with types of its own (21 to 23),
 * memory in a partition for each node of a machine, spaces in parts for each node. */
static bool is_misleading(const struct vmstructs *vs)
{
    long nodes = vmstructs_offset(vs, "ZNUMA", "_count", NULL);
    uint32_t n = 1;
    if (vmstructs_flag(vs, "UseParallelGC", false))
        return vmstructs_flag(vs, "UseNUMA", false);
    if (!vmstructs_flag(vs, "UseZGC", false))
        return false;
    if (nodes != -1 && (!guarded_u32((uintptr_t)nodes, &n) || n != 1))
        return true;
    return vmstructs_sizeof(vs, "XCollectedHeap") > 0 && !vmstructs_flag(vs, "ZGenerational", true);
}

void heap_use_open(struct heap_use *h, const struct vmstructs *vs)
{
    long at = vmstructs_offset(vs, "Universe", "_collectedHeap", NULL);
    uintptr_t heap = 0;
    memset(h, 0, sizeof *h);
    bool known = at != -1 && guarded_word((uintptr_t)at, &heap) && heap && !is_misleading(vs);
    for (size_t i = 0; i < ARRAY_LEN(all_books); i++) {
        const struct books *b = &all_books[i];
        if (!vmstructs_flag(vs, b->flag, false))
            continue;
        h->collector = b->collector;
        h->concurrent = b->concurrent;
        if (!known)
            return;
        bool committed = find_terms(h->committed, heap, vs, b->committed);
        if (find_terms(h->used, heap, vs, b->used) && committed)
            return;
    }
}

void heap_use_close(struct heap_use *h)
{
    memset(h->used, 0, sizeof h->used);
    memset(h->committed, 0, sizeof h->committed);
}

/* --- reading ---------------------------------------------------------------------------------- */

static bool read_term(const struct heap_term *t, uintptr_t *value)
{
    uintptr_t p = t->from;
    for (int i = 0; i < t->n; i++)
        if (!guarded_word(p + t->hops[i], &p))
            return false;
    *value = p;
    return true;
}

static uint64_t sum(const struct heap_term *t)
{
    static const uint64_t impossible = UINT64_C(1) << 46; /* bytes: what no heap can have */
    uint64_t total = 0, v;
    for (size_t i = 0; i < HEAP_TERMS && t[i].n; i++) {
        if (!read_term(&t[i], &v))
            return 0;
        total += t[i].minus ? -v : v;
    }
    return total < impossible ? total : 0;
}

uint64_t heap_use_used(const struct heap_use *h)
{
    return sum(h->used);
}

uint64_t heap_use_committed(const struct heap_use *h)
{
    return sum(h->committed);
}
