/* What is remembered of a return address is believed only as long as the nmethod that it was of
 * stands there. */
#include "base/guarded.h"
#include "base/util.h"
#include "hotspot/pc_cache.h"

#include <criterion/criterion.h>
#include <string.h>

enum { BLOCK = 16, USED = 8, ID = 24, METHOD = 32, WORDS = 4, BCI = 7 };

static const struct layout l = {
    .block_size = BLOCK, .block_used = USED, .nm_compile_id = ID, .nm_method = METHOD};

/* A block of the code cache with an nmethod in it, and the stack of who called it. */
static struct {
    _Alignas(16) unsigned char block[256];
    uintptr_t stack[64];
    struct pc_cache *cache;
} w;

static uintptr_t blob(void)
{
    return (uintptr_t)w.block + BLOCK;
}

static uintptr_t pc(void)
{
    return blob() + 100;
}

static void put_u32(uintptr_t at, uint32_t v)
{
    memcpy((void *)at, &v, sizeof v);
}

static void put_word(uintptr_t at, uintptr_t v)
{
    memcpy((void *)at, &v, sizeof v);
}

static void begin(void)
{
    struct err err;
    cr_assert_eq(guarded_open(&err), 0);
    cr_assert_eq(pc_cache_new(&w.cache), 0);
    w.block[USED] = 1;
    put_u32(blob() + ID, 77);
    put_word(blob() + METHOD, 0x7f0000001000);
    w.stack[WORDS - 1] = 0x1234; /* the caller: not in the cache */
    const struct nmethod nm = {
        .blob = {.at = blob(), .frame_words = WORDS}, .method = 0x7f0000001000, .compile_id = 77};
    const struct walk_frame f = {
        .method = nm.method, .pc = pc(), .stamp = 5, .bci = BCI, .kind = WALK_COMPILED, .level = 4};
    pc_cache_put(w.cache, &nm, pc(), &f, 1);
}

static void end(void)
{
    pc_cache_free(w.cache);
}

TestSuite(pc_cache, .init = begin, .fini = end);

static int32_t found(void)
{
    struct walk_frame out[4];
    const struct pc_cache_room room = {out, ARRAY_LEN(out), true, NULL};
    const struct stack s = {(uintptr_t)w.stack, (uintptr_t)(w.stack + ARRAY_LEN(w.stack)), false};
    struct cursor at = {pc(), (uintptr_t)w.stack, 0};
    bool vm = false;
    int32_t n = pc_cache_walk(w.cache, &l, &s, &at, &room, &vm);
    if (n) {
        cr_assert_eq(n, 1);
        cr_assert_eq(out[0].bci, BCI);
        cr_assert_eq(at.pc, 0x1234);
        cr_assert_eq(at.sp, (uintptr_t)(w.stack + WORDS));
    }
    return n;
}

Test(pc_cache, what_was_put_is_found)
{
    cr_assert_eq(found(), 1);
}

Test(pc_cache, another_compilation_is_not)
{
    put_u32(blob() + ID, 78);
    cr_assert_eq(found(), 0);
}

Test(pc_cache, another_method_is_not)
{
    put_word(blob() + METHOD, 0x7f0000002000);
    cr_assert_eq(found(), 0);
}

/* Freed; its words are still there, and new code may stand at the place. */
Test(pc_cache, a_freed_block_is_not)
{
    w.block[USED] = 0;
    cr_assert_eq(found(), 0);
}
