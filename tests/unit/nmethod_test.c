/* Code of which the compiler described calls alone is told from code that is described everywhere:
 * there the next place says what runs. */
#include "base/guarded.h"
#include "hotspot/nmethod.h"

#include <criterion/criterion.h>
#include <string.h>

enum { CODE = 0x100000, CALL = 10, NEXT = 40, BETWEEN = 25, LOCALS = 9, NONE = 0, MOST = 4 };

struct constants {
    uint16_t max_locals;
};

struct method {
    uintptr_t vtable;
    struct constants *constants;
};

static const struct layout l = {.major = 17, .pc_desc_size = 16, .m_const = 8, .cm_max_locals = 0};

/* An nmethod's description: outer at CALL, and inner, inlined into outer, at NEXT. */
static struct {
    int32_t pcs[2][4];
    uint8_t scopes[64];
    uint32_t used;
    struct constants constants[2];
    struct method methods[2];
    uintptr_t metadata[2];
    struct nmethod nm;
} w;

static uint32_t put_scope(uint32_t caller, unsigned method, unsigned bci, unsigned locals)
{
    const uint8_t bytes[] = {(uint8_t)caller, (uint8_t)(method + 1), (uint8_t)(bci + 1),
                             (uint8_t)locals};
    memcpy(w.scopes + w.used, bytes, sizeof bytes);
    w.used += sizeof bytes;
    return w.used - (uint32_t)sizeof bytes;
}

static struct nmethod_near near_of(const struct layout *layout, unsigned locals_before,
                                   unsigned locals_after)
{
    struct err err;
    cr_assert_eq(guarded_open(&err), 0);
    w.used = 1;
    for (int i = 0; i < 2; i++) {
        w.methods[i].constants = &w.constants[i];
        w.metadata[i] = (uintptr_t)&w.methods[i];
    }
    uint32_t outer = put_scope(0, 0, 5, locals_before), caller = put_scope(0, 0, 7, NONE);
    uint32_t inner = put_scope(caller, 1, 3, locals_after);
    w.pcs[0][0] = CALL, w.pcs[0][1] = (int32_t)outer;
    w.pcs[1][0] = NEXT, w.pcs[1][1] = (int32_t)inner;
    w.nm = (struct nmethod){.blob = {.code_begin = CODE},
                            .method = w.metadata[0],
                            .pcs_begin = (uintptr_t)w.pcs,
                            .pcs_end = (uintptr_t)(w.pcs + 2),
                            .scopes_begin = (uintptr_t)w.scopes,
                            .scopes_end = (uintptr_t)(w.scopes + w.used),
                            .meta_begin = (uintptr_t)w.metadata,
                            .meta_end = (uintptr_t)(w.metadata + 2)};
    return nmethod_near(layout, &w.nm, CODE + BETWEEN);
}

static void begin(void)
{
    w.constants[0].max_locals = w.constants[1].max_locals = 2;
}

TestSuite(nmethod, .init = begin);

Test(nmethod, next_place_where_all_are_described)
{
    struct nmethod_near near = near_of(&l, LOCALS, NONE);
    struct walk_frame f[MOST];
    cr_assert(near.all);
    cr_assert_eq(nmethod_frames(&l, &w.nm, near.after, f, MOST), 2);
    cr_assert_eq(f[0].method, w.metadata[1]);
    cr_assert_eq(f[0].bci, 3);
    cr_assert_eq(f[1].method, w.metadata[0]);
    cr_assert_eq(f[1].bci, 7);
}

Test(nmethod, place_before_says_so_too)
{
    cr_assert(near_of(&l, NONE, LOCALS).all);
}

Test(nmethod, calls_alone)
{
    cr_assert_not(near_of(&l, LOCALS, LOCALS).all);
}

/* A call in a method without locals looks the same. */
Test(nmethod, methods_without_locals_tell_nothing)
{
    w.constants[0].max_locals = w.constants[1].max_locals = 0;
    cr_assert_not(near_of(&l, NONE, NONE).all);
}

Test(nmethod, jvm_that_does_not_say_how_many_locals)
{
    struct layout without = l;
    without.cm_max_locals = -1;
    cr_assert_not(near_of(&without, NONE, NONE).all);
}
