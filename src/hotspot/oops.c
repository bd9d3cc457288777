#include "hotspot/oops.h"

#include "base/guarded.h"
#include "base/util.h"
#include "hotspot/vmstructs.h"

bool oops_handle(const struct oops *o, uintptr_t handle, uintptr_t *object)
{
    uintptr_t v, bad, shift = 0;
    *object = 0;
    if (!handle)
        return true;
    if (!guarded_word(handle, &v))
        return false;
    if (o->z_bad && (!guarded_word(o->z_bad, &bad) || v & bad ||
                     (o->z_shift && !guarded_word(o->z_shift, &shift))))
        return false;
    *object = v >> (shift % 64);
    return true;
}

bool oops_field(const struct oops *o, uintptr_t at, uintptr_t *object)
{
    uint32_t v;
    if (!o->narrow)
        return oops_handle(o, at, object);
    if (!guarded_u32(at, &v))
        return false;
    *object = v ? o->narrow_base + ((uintptr_t)v << o->narrow_shift) : 0;
    return true;
}

bool oops_count(const struct oops *o, bool first, uint64_t *count)
{
    uint8_t stopped = 1;
    uint32_t pauses = 0;
    if (o->z_bad)
        return guarded_u64(o->z_bad, count);
    /* A pause is announced, counted, and over: a reader that sees the same number at both ends, and
     * none under way, has seen no part of one. */
    bool known =
        o->known && (first ? guarded_u32(o->pauses, &pauses) && guarded_u8(o->stopped, &stopped)
                           : guarded_u8(o->stopped, &stopped) && guarded_u32(o->pauses, &pauses));
    *count = pauses;
    return known && !stopped;
}

/* --- what the JVM describes ------------------------------------------------------------------- */

/* Generational ZGC, and the one before, whose references are addresses as they are (JDK 22 and
 * before; a part of 23). */
static const struct z_names {
    bool generational;
    const char *type, *bad, *shift;
} z_names[] = {
    {true, "ZGlobalsForVMStructs", "_ZPointerLoadBadMask", "_ZPointerLoadShift"},
    {false, "XGlobalsForVMStructs", "_XAddressBadMask", NULL},
};

static bool read_z(struct oops *o, const struct vmstructs *vs)
{
    bool generational = vmstructs_flag(vs, "ZGenerational", true);
    const struct z_names *z = &z_names[0];
    while (z->generational != generational)
        z++;
    uintptr_t globals;
    long bad = vmstructs_offset(vs, z->type, z->bad, NULL);
    long shift = z->shift ? vmstructs_offset(vs, z->type, z->shift, NULL) : 0;
    return bad >= 0 && shift >= 0 && vmstructs_word(vs, z->type, "_instance_p", &globals) &&
           globals && guarded_word(globals + (uintptr_t)bad, &o->z_bad) && o->z_bad &&
           (!z->shift || (guarded_word(globals + (uintptr_t)shift, &o->z_shift) && o->z_shift));
}

static bool read_pauses(struct oops *o, const struct vmstructs *vs)
{
    uintptr_t heap;
    long stopped = vmstructs_offset(vs, "CollectedHeap", "_is_stw_gc_active", NULL);
    long pauses = vmstructs_offset(vs, "CollectedHeap", "_total_collections", NULL);
    if (stopped < 0)
        stopped = vmstructs_offset(vs, "CollectedHeap", "_is_gc_active", NULL);
    if (stopped < 0 || pauses < 0 || !vmstructs_word(vs, "Universe", "_collectedHeap", &heap) ||
        !heap)
        return false;
    o->stopped = heap + (uintptr_t)stopped;
    o->pauses = heap + (uintptr_t)pauses;
    return true;
}

void oops_open(struct oops *o, const struct vmstructs *vs)
{
    static const char *const others[] = {"UseShenandoahGC", "UseEpsilonGC"};
    *o = (struct oops){.narrow = vmstructs_flag(vs, "UseCompressedOops", false)};
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (vmstructs_flag(vs, others[i], false))
            return;
    o->known = (!o->narrow || vmstructs_narrow_oop(vs, &o->narrow_base, &o->narrow_shift)) &&
               (vmstructs_flag(vs, "UseZGC", false) ? read_z(o, vs) : read_pauses(o, vs));
}
