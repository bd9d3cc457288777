/* What is remembered of a method is believed only as long as its jmethodID's word names it. */
#include "base/guarded.h"
#include "hotspot/method_cache.h"
#include "hotspot/methods.h"

#include <criterion/criterion.h>
#include <string.h>

enum { WORD = sizeof(uintptr_t), NUMBER = 3, CODE_SIZE = 40, HEADER = 64, ACCESS = 0x0008 };

static const struct layout l = {.m_const = 1 * WORD,
                                .m_access = 2 * WORD,
                                .cm_constants = 1 * WORD,
                                .cm_code_size = 2 * WORD,
                                .cm_idnum = 3 * WORD,
                                .cm_header = HEADER,
                                .pool_holder = 1 * WORD,
                                .pool_cache = 2 * WORD,
                                .klass_constants = 1 * WORD,
                                .klass_method_ids = 2 * WORD};

static struct {
    uintptr_t method[8], constants[16], other_constants[16], pool[8], klass[8], ids[8];
    uintptr_t id; /* the jmethodID's word */
    struct method_cache *cache;
} w;

static uintptr_t at(const void *p)
{
    return (uintptr_t)p;
}

static void begin(void)
{
    struct err err;
    struct method_view v;
    cr_assert_eq(guarded_open(&err), 0);
    cr_assert_eq(method_cache_new(&w.cache), 0);
    w.method[1] = at(w.constants);
    w.method[2] = ACCESS;
    w.constants[1] = at(w.pool);
    w.constants[2] = CODE_SIZE;
    w.constants[3] = NUMBER;
    memcpy(w.other_constants, w.constants, sizeof w.constants);
    w.pool[1] = at(w.klass);
    w.pool[2] = 0x5678;
    w.klass[1] = at(w.pool);
    w.klass[2] = at(w.ids);
    w.ids[0] = NUMBER + 1;
    w.ids[1 + NUMBER] = at(&w.id);
    w.id = at(w.method);
    cr_assert(method_view(&l, at(w.method), &v));
    method_cache_put(w.cache, &l, &v);
}

static void end(void)
{
    method_cache_free(w.cache);
}

TestSuite(method_cache, .init = begin, .fini = end);

static bool found(void)
{
    struct method_known k;
    return method_cache_find(w.cache, &l, at(w.method), &k);
}

Test(method_cache, says_what_the_method_says)
{
    struct method_known k;
    cr_assert(method_cache_find(w.cache, &l, at(w.method), &k));
    cr_assert_eq(k.pool_cache, 0x5678);
    cr_assert_eq(k.code, at(w.constants) + HEADER);
    cr_assert_eq(k.code_size, CODE_SIZE);
    cr_assert_eq(k.access, ACCESS);
    cr_assert_eq(k.stamp, method_stamp_at(&l, at(w.method)));
    cr_assert(k.stamp & METHOD_STAMP_LASTS);
}

Test(method_cache, nothing_of_another_method)
{
    struct method_known k;
    cr_assert_not(method_cache_find(w.cache, &l, at(w.klass), &k));
}

Test(method_cache, an_unloaded_class_has_none)
{
    w.id = 0;
    cr_assert_not(found());
}

Test(method_cache, an_id_that_names_a_newer_version_is_not_its_own)
{
    w.id = at(w.klass);
    cr_assert_not(found());
}

Test(method_cache, other_code_at_the_same_place_is_another_method)
{
    w.method[1] = at(w.other_constants);
    cr_assert_not(found());
}

Test(method_cache, without_an_id_nothing_is_remembered)
{
    struct method_cache *fresh;
    struct method_known k;
    struct method_view v;
    w.id = 0;
    cr_assert_eq(method_cache_new(&fresh), 0);
    cr_assert(method_view(&l, at(w.method), &v));
    method_cache_put(fresh, &l, &v);
    w.id = at(w.method);
    cr_assert_not(method_cache_find(fresh, &l, at(w.method), &k));
    method_cache_free(fresh);
}
