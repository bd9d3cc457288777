#include "unwind/libraries.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

/* A small library of libc's that no program is linked with. */
#define SELDOM "libBrokenLocale.so.1"

static struct libraries *open_libraries(void)
{
    struct libraries *l;
    cr_assert_eq(libraries_new(&l, NULL), 0);
    cr_assert_null(libraries_find(l, (uintptr_t)open_libraries));
    cr_assert_eq(libraries_refresh(l, NULL), 1);
    return l;
}

Test(libraries, say_what_the_loader_says)
{
    struct libraries *l = open_libraries();
    const uintptr_t code[] = {(uintptr_t)open_libraries,
                              (uintptr_t)dlsym(dlopen("libc.so.6", RTLD_NOW), "qsort")};
    for (int i = 0; i < 2; i++) {
        Dl_info info;
        struct link_map *map = NULL;
        const struct library *lib = libraries_find(l, code[i]);
        cr_assert(dladdr1((void *)code[i], &info, (void **)&map, RTLD_DL_LINKMAP));
        cr_assert_not_null(lib);
        cr_assert_eq(lib->begin, (uintptr_t)info.dli_fbase);
        cr_assert_eq(lib->bias, map->l_addr);
        cr_assert(lib->begin <= code[i] && code[i] < lib->end);
        cr_assert(lib->frame_hdr >= lib->begin && lib->frame_hdr_end <= lib->end);
        cr_assert_eq(lib->path[0], '/');
    }
    cr_assert_str_eq(
        libraries_find(l, code[1])->path + strlen(libraries_find(l, code[1])->path) - 6, "c.so.6");
    cr_assert_gt(libraries_find(l, code[1])->build_id_bytes, 7);
    cr_assert_null(libraries_find(l, 0));
    cr_assert_null(libraries_find(l, UINTPTR_MAX));
    cr_assert_null(libraries_find(l, (uintptr_t)&l));
    libraries_free(l);
}

Test(libraries, have_the_vdso)
{
    uintptr_t vdso = getauxval(AT_SYSINFO_EHDR);
    if (!vdso)
        cr_skip("this kernel maps no vdso");
    struct libraries *l = open_libraries();
    const struct library *lib = libraries_find(l, vdso);
    cr_assert_not_null(lib);
    cr_assert_str_eq(lib->path, "[vdso]");
    cr_assert_neq(lib->frame_hdr, 0);
    libraries_free(l);
}

Test(libraries, come_and_go)
{
    struct libraries *l = open_libraries();
    uint64_t changes = libraries_changes(l);
    cr_assert_eq(libraries_refresh(l, NULL), 0);
    cr_assert_eq(libraries_changes(l), changes);
    void *handle = dlopen(SELDOM, RTLD_NOW);
    if (!handle)
        cr_skip("no " SELDOM);
    struct link_map *map;
    cr_assert_eq(dlinfo(handle, RTLD_DI_LINKMAP, &map), 0);
    uintptr_t inside = (uintptr_t)map->l_ld;
    cr_assert_null(libraries_find(l, inside));
    cr_assert_eq(libraries_refresh(l, NULL), 1);
    const struct library *lib = libraries_find(l, inside);
    cr_assert_not_null(lib);
    cr_assert_not_null(strstr(lib->path, SELDOM));
    cr_assert_gt(libraries_changes(l), changes);
    dlclose(handle);
    cr_assert_eq(libraries_refresh(l, NULL), 1);
    cr_assert_null(libraries_find(l, inside));
    cr_assert_not_null(strstr(lib->path, SELDOM)); /* the record stays */
    libraries_free(l);
}

Test(libraries, are_listed_once)
{
    struct libraries *l = open_libraries();
    const struct library *last = NULL;
    uint32_t n = 0;
    for (const struct library *lib = NULL; (lib = libraries_next(l, lib)); last = lib)
        cr_assert_eq(lib->id, ++n);
    cr_assert_gt(n, 2);
    for (int i = 0; i < 3; i++) { /* at the same place, most likely: then it is the same record */
        void *handle = dlopen(SELDOM, RTLD_NOW);
        if (!handle)
            cr_skip("no " SELDOM);
        libraries_refresh(l, NULL);
        dlclose(handle);
        libraries_refresh(l, NULL);
    }
    const struct library *added = libraries_next(l, last);
    cr_assert_not_null(added);
    cr_assert_eq(added->id, n + 1);
    libraries_free(l);
}

Test(libraries, tell_that_one_is_missing)
{
    struct libraries *l = open_libraries();
    cr_assert_not(libraries_missing(l));
    libraries_note_missing(l);
    cr_assert(libraries_missing(l));
    cr_assert_not(libraries_missing(l));
    libraries_free(l);
}

static _Atomic bool stop;

static void *come_and_go(void *arg)
{
    struct libraries *l = arg;
    for (int i = 0; i < 300; i++) {
        void *handle = dlopen(SELDOM, RTLD_NOW);
        libraries_refresh(l, NULL);
        if (handle)
            dlclose(handle);
        libraries_refresh(l, NULL);
    }
    atomic_store(&stop, true);
    return NULL;
}

/* Whatever comes and goes: who is not concerned is found, or, between two changes at once,
 * nothing. */
Test(libraries, are_found_while_others_change)
{
    struct libraries *l = open_libraries();
    uintptr_t code = (uintptr_t)open_libraries;
    const struct library *mine = libraries_find(l, code);
    pthread_t thread;
    pthread_create(&thread, NULL, come_and_go, l);
    bool wrong = false;
    long found = 0;
    do {
        const struct library *lib = libraries_find(l, code);
        wrong |= lib && lib != mine;
        found += lib != NULL;
    } while (!atomic_load(&stop));
    pthread_join(thread, NULL);
    cr_assert_not(wrong);
    cr_assert_gt(found, 0);
    cr_assert_eq(libraries_find(l, code), mine);
    libraries_free(l);
}
