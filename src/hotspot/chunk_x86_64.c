#include "hotspot/chunk_x86_64.h"

#include "base/guarded.h"

#define WORD sizeof(uintptr_t)

/* --- objects ------------------------------------------------------------------------------------
 */

/* A reference as the JVM itself keeps it: 64 bits. */
static bool read_wide(const struct chunks *c, uintptr_t at, uintptr_t *object)
{
    uintptr_t v, bad, shift;
    if (!guarded_word(at, &v))
        return false;
    *object = v;
    if (!c->z_bad)
        return true;
    if (!guarded_word(c->z_bad, &bad) || !guarded_word(c->z_shift, &shift) || v & bad)
        return false;
    *object = v >> (shift % 64);
    return true;
}

bool chunks_object(const struct chunks *c, uintptr_t at, uintptr_t *object)
{
    uint32_t v;
    if (!c->narrow)
        return read_wide(c, at, object);
    if (!guarded_u32(at, &v))
        return false;
    *object = v ? c->narrow_base + ((uintptr_t)v << c->narrow_shift) : 0;
    return true;
}

bool chunks_thread(const struct chunks *c, uintptr_t java_thread, uintptr_t *thread)
{
    uintptr_t handle;
    return guarded_word(java_thread + (uintptr_t)c->vthread, &handle) && handle &&
           read_wide(c, handle, thread) && *thread;
}

/* --- what a collector may have done meanwhile ---------------------------------------------------
 */

/* False: objects are being moved. */
static bool count_of(const struct chunks *c, bool first, uint64_t *count)
{
    uint8_t stopped = 1;
    uint32_t pauses = 0;
    if (c->z_bad)
        return guarded_u64(c->z_bad, count);
    /* A pause is announced, counted, and over: whoever sees the same number at both ends, and none
     * under way, has seen no part of one. */
    bool known = first ? guarded_u32(c->pauses, &pauses) && guarded_u8(c->stopped, &stopped)
                       : guarded_u8(c->stopped, &stopped) && guarded_u32(c->pauses, &pauses);
    *count = pauses;
    return known && !stopped;
}

static bool look(const struct chunks *c, uintptr_t java_thread, bool first, struct chunk_moment *m)
{
    const struct chunk_fields *f = &c->fields;
    return (!first || count_of(c, first, &m->count)) && chunks_thread(c, java_thread, &m->thread) &&
           chunks_object(c, m->thread + (uintptr_t)f->cont, &m->cont) && m->cont &&
           chunks_object(c, m->cont + (uintptr_t)f->tail, &m->tail) && m->tail &&
           (first || count_of(c, first, &m->count));
}

static bool is_same(const struct chunk_moment *a, const struct chunk_moment *b)
{
    return a->thread == b->thread && a->cont == b->cont && a->tail == b->tail &&
           a->count == b->count;
}

/* --- chunks -------------------------------------------------------------------------------------
 */

/* 1; 0: it has no frames; -1: what is there fits no chunk. */
static int words_of(const struct chunk_fields *f, uintptr_t chunk, struct stack *s,
                    struct cursor *youngest)
{
    enum { WORDS_MAX = 1 << 24, LINK_WORDS = 2 };
    int32_t size, sp, bottom;
    if (!guarded_i32(chunk + (uintptr_t)f->size, &size) ||
        !guarded_i32(chunk + (uintptr_t)f->sp, &sp) ||
        !guarded_i32(chunk + (uintptr_t)f->bottom, &bottom) || size < 0 || size > WORDS_MAX)
        return -1;
    if (bottom < 0 || bottom > size || sp < LINK_WORDS)
        return -1;
    if (sp >= bottom)
        return 0;
    uintptr_t begin = chunk + (uintptr_t)f->stack;
    *youngest = (struct cursor){.sp = begin + (uintptr_t)sp * WORD};
    *s = (struct stack){youngest->sp - LINK_WORDS * WORD, begin + (uintptr_t)bottom * WORD, true};
    return stack_slot(s, youngest->sp, -1, &youngest->pc) &&
                   stack_link(s, youngest->sp, -LINK_WORDS, &youngest->fp)
               ? 1
               : -1;
}

bool chunks_begin(struct chunk_walk *w, const struct chunks *c, uintptr_t java_thread)
{
    *w = (struct chunk_walk){.c = c, .java_thread = java_thread};
    bool known = look(c, java_thread, true, &w->begin);
    w->chunk = w->begin.tail;
    return known;
}

int chunks_next(struct chunk_walk *w, struct stack *s, struct cursor *youngest)
{
    enum { CHUNKS_MAX = 4096 };
    const struct chunk_fields *f = &w->c->fields;
    int rc = 0;
    for (int i = 0; i < CHUNKS_MAX && w->chunk && rc == 0; i++) {
        rc = words_of(f, w->chunk, s, youngest);
        if (rc >= 0 && !chunks_object(w->c, w->chunk + (uintptr_t)f->parent, &w->chunk))
            rc = -1;
    }
    return w->chunk && rc == 0 ? -1 : rc;
}

bool chunks_end(const struct chunk_walk *w)
{
    struct chunk_moment now;
    return look(w->c, w->java_thread, false, &now) && is_same(&w->begin, &now);
}

/* --- what the JVM describes ---------------------------------------------------------------------
 */

static bool read_z(struct chunks *c, const struct vmstructs *vs)
{
    uintptr_t globals;
    long bad = vmstructs_offset(vs, "ZGlobalsForVMStructs", "_ZPointerLoadBadMask", NULL);
    long shift = vmstructs_offset(vs, "ZGlobalsForVMStructs", "_ZPointerLoadShift", NULL);
    return bad >= 0 && shift >= 0 &&
           vmstructs_word(vs, "ZGlobalsForVMStructs", "_instance_p", &globals) && globals &&
           guarded_word(globals + (uintptr_t)bad, &c->z_bad) &&
           guarded_word(globals + (uintptr_t)shift, &c->z_shift) && c->z_bad && c->z_shift;
}

static bool read_pauses(struct chunks *c, const struct vmstructs *vs)
{
    uintptr_t heap;
    long stopped = vmstructs_offset(vs, "CollectedHeap", "_is_stw_gc_active", NULL);
    long pauses = vmstructs_offset(vs, "CollectedHeap", "_total_collections", NULL);
    if (stopped < 0)
        stopped = vmstructs_offset(vs, "CollectedHeap", "_is_gc_active", NULL);
    if (stopped < 0 || pauses < 0 || !vmstructs_word(vs, "Universe", "_collectedHeap", &heap) ||
        !heap)
        return false;
    c->stopped = heap + (uintptr_t)stopped;
    c->pauses = heap + (uintptr_t)pauses;
    return true;
}

bool chunks_open(struct chunks *c, const struct vmstructs *vs)
{
    static const char *const others[] = {"UseShenandoahGC", "UseEpsilonGC"};
    *c = (struct chunks){.vthread = vmstructs_offset(vs, "JavaThread", "_vthread", NULL)};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (vmstructs_flag(vs, others[i], false))
            return false;
    c->narrow = vmstructs_flag(vs, "UseCompressedOops", false);
    return c->vthread >= 0 &&
           (!c->narrow || vmstructs_narrow_oop(vs, &c->narrow_base, &c->narrow_shift)) &&
           (vmstructs_flag(vs, "UseZGC", false) ? read_z(c, vs) : read_pauses(c, vs));
}
