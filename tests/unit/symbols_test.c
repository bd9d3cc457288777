/* A trace of places in this very process, against dladdr; and what becomes of its stacks. */
#include "../counted.h"
#include "native_builder.h"

#include "base/util.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

static struct trace_builder b;
static struct trace *t;
static struct symbols_summary summary;

static void begin(void)
{
    builder_init(&b);
}

static void end(void)
{
    trace_close(t);
    t = NULL;
}

TestSuite(symbols, .init = begin, .fini = end);

static void resolve_with(const struct symbols_options *o)
{
    struct err err;
    t = builder_open(&b, 1000);
    cr_assert_eq(symbols_resolve(t, o, &summary, &err), 0, "%s", err.msg);
}

static void resolve(void)
{
    struct symbols_options o = native_nowhere();
    resolve_with(&o);
}

static stack_id one_frame(module_id in, uint64_t address)
{
    method_id m = native_place(&b, in, address);
    return native_stack(&b, &m, 1, NULL);
}

static const char *base_name(const char *path)
{
    return strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
}

/* --- libc ------------------------------------------------------------------------------------- */

struct library {
    const char *part;
    char path[4096];
    uint64_t bias;
};

static int find_library(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct library *l = arg;
    UNUSED(size);
    if (!strstr(info->dlpi_name, l->part))
        return 0;
    snprintf(l->path, sizeof l->path, "%s", info->dlpi_name);
    l->bias = info->dlpi_addr;
    return 1;
}

static struct library library(const char *part)
{
    struct library l = {.part = part};
    cr_assert_eq(dl_iterate_phdr(find_library, &l), 1);
    return l;
}

/* libc's own: a sanitizer has functions of the same names in front of it. */
static uint64_t in_libc(const char *name)
{
    void *c = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD), *f = c ? dlsym(c, name) : NULL;
    cr_assert(f, "%s", name);
    return (uint64_t)(uintptr_t)f;
}

Test(symbols, exported_functions_as_dladdr_names_them)
{
    static const char *const names[] = {"printf", "qsort",  "malloc",
                                        "getenv", "strtod", "realpath"};
    struct library c = library("libc.so");
    module_id in = native_module(&b, 1, c.path, native_build_id(c.path), c.bias);
    stack_id stacks[ARRAY_LEN(names)];
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        stacks[i] = one_frame(in, in_libc(names[i]) + 3 - c.bias);
    resolve();
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        char expected[8192];
        snprintf(expected, sizeof expected, "%s!%s", base_name(c.path), names[i]);
        cr_assert_str_eq(native_text(t, stacks[i], 0), expected);
    }
    cr_assert_eq(summary.n, 1);
    cr_assert_eq(summary.modules[0].places, ARRAY_LEN(names));
    cr_assert_eq(summary.modules[0].named, ARRAY_LEN(names));
}

/* A trace of that number of modules that are libc, each with more slashes before its name, and a
 * place in each. */
static void resolve_spellings(uint32_t n, const struct symbols_options *o)
{
    struct library c = library("libc.so");
    char path[4200];
    for (uint32_t i = 0; i < n; i++) {
        memset(path, '/', i);
        snprintf(path + i, sizeof path - i, "%s", c.path);
        one_frame(native_module(&b, i + 1, path, native_build_id(c.path), c.bias),
                  in_libc("printf") + 3 - c.bias);
    }
    resolve_with(o);
}

Test(symbols, a_file_by_many_names_is_one_file)
{
    enum { NAMES = 100 };
    struct symbols_options o = native_nowhere();
    resolve_spellings(NAMES, &o);
    cr_assert_eq(summary.n, 1);
    cr_assert_eq(summary.modules[0].places, NAMES);
    cr_assert_eq(summary.modules[0].named, NAMES);
}

#ifdef ORCA_COUNT_WORK
Test(symbols, a_file_by_many_names_is_read_once)
{
    struct symbols_options o = native_nowhere();
    counted_begin();
    resolve_spellings(1, &o);
    uint64_t one = counted_end().work;
    end();
    begin();
    counted_begin();
    resolve_spellings(1000, &o);
    uint64_t many = counted_end().work;
    if (getenv("ORCA_WORK"))
        printf("libc by one name: %lu blocks, by 1,000: %lu\n", (unsigned long)one,
               (unsigned long)many);
    cr_assert_lt(many, one + UINT64_C(1000) * 10000, "%lu, and %lu", (unsigned long)one,
                 (unsigned long)many);
}
#endif

/* Different files, and a trace that may have one of them read. */
Test(symbols, no_more_is_read_than_a_trace_may_have_read)
{
    struct library libraries[] = {library("libc.so"), library("libm.so")};
    struct symbols_options o = native_nowhere();
    for (uint32_t i = 0; i < ARRAY_LEN(libraries); i++)
        one_frame(
            native_module(&b, i + 1, libraries[i].path, native_build_id(libraries[i].path), 0),
            0x30000);
    o.most = 1000;
    resolve_with(&o);
    cr_assert_eq(summary.n, 2);
    int left_out = 0;
    for (size_t i = 0; i < summary.n; i++)
        left_out += strstr(summary.modules[i].why, "more files of native code") != NULL;
    cr_assert_geq(left_out, 1);
}

/* Everywhere in libc's code: dladdr finds a function where we do, and it is the same one. */
Test(symbols, every_address_as_dladdr_has_it)
{
    enum { STEP = 0x140, PLACES = 4000 };
    struct library c = library("libc.so");
    module_id in = native_module(&b, 1, c.path, native_build_id(c.path), c.bias);
    uint64_t from = in_libc("abort") - c.bias;
    static stack_id stacks[PLACES];
    for (size_t i = 0; i < PLACES; i++)
        stacks[i] = one_frame(in, from + i * STEP);
    resolve();
    size_t known = 0;
    for (size_t i = 0; i < PLACES; i++) {
        Dl_info info;
        const struct trace_method *m = trace_method(t, trace_stack(t, stacks[i])->frames[0].method);
        bool there = dladdr((void *)(uintptr_t)(c.bias + from + i * STEP), &info) &&
                     info.dli_sname && strcmp(info.dli_fname, c.path) == 0;
        /* A stripped file has its exports only; any other has more functions than dladdr. */
        if (!there || !*m->name)
            continue;
        known++;
        cr_assert_geq(m->address + c.bias, (uint64_t)(uintptr_t)info.dli_saddr, "%s %s", m->name,
                      info.dli_sname);
        if (summary.modules[0].state == SYMBOLS_EXPORTED)
            cr_assert_eq(m->address + c.bias, (uint64_t)(uintptr_t)info.dli_saddr, "%s %s", m->name,
                         info.dli_sname);
    }
    cr_assert_gt(known, 100);
}

Test(symbols, the_vdso)
{
    const char *at = (const char *)getauxval(AT_SYSINFO_EHDR);
    ElfW(Ehdr) head;
    struct library v = {.part = ""};
    if (!at)
        return;
    memcpy(&head, at, sizeof head);
    v.bias = (uint64_t)(uintptr_t)at;
    /* Its own table of symbols tells where its functions are; the build id is found the same way
     * as a recording does: by its notes. */
    const ElfW(Phdr) *p = (const void *)(at + head.e_phoff);
    char id[129] = "";
    for (int i = 0; i < head.e_phnum; i++)
        for (uint64_t k = 0; p[i].p_type == PT_NOTE && k + 12 <= p[i].p_filesz;) {
            const ElfW(Nhdr) *n = (const void *)(at + p[i].p_offset + k);
            const unsigned char *d = (const unsigned char *)(n + 1) + ((n->n_namesz + 3) & ~3u);
            for (unsigned j = 0; n->n_type == 3 && j < n->n_descsz; j++)
                snprintf(id + 2 * j, 3, "%02x", d[j]);
            k += sizeof *n + ((n->n_namesz + 3) & ~3u) + ((n->n_descsz + 3) & ~3u);
        }
    const ElfW(Shdr) *s = (const void *)(at + head.e_shoff);
    const ElfW(Sym) *sym = NULL;
    const char *name = NULL;
    for (int i = 0; i < head.e_shnum; i++)
        for (uint64_t k = 0; s[i].sh_type == SHT_DYNSYM && k < s[i].sh_size / sizeof *sym; k++) {
            const ElfW(Sym) *x = (const ElfW(Sym) *)(const void *)(at + s[i].sh_offset) + k;
            const char *is = at + s[s[i].sh_link].sh_offset + x->st_name;
            if (strcmp(is, "__vdso_getcpu") == 0) {
                sym = x;
                name = is;
            }
        }
    cr_assert(sym && *id);
    module_id in = native_module(&b, 1, "[vdso]", id, v.bias);
    stack_id good = one_frame(in, sym->st_value + 1);
    stack_id other = one_frame(native_module(&b, 2, "[vdso]", "00112233", v.bias), sym->st_value);
    resolve();
    /* getcpu and __vdso_getcpu are one function. */
    cr_assert(strcmp(native_text(t, good, 0), "[vdso]!getcpu") == 0 ||
                  strcmp(native_text(t, good, 0), "[vdso]!__vdso_getcpu") == 0,
              "%s, %s", native_text(t, good, 0), name);
    cr_assert_eq(strncmp(native_text(t, other, 0), "[vdso]+0x", 9), 0);
}

/* --- stacks ----------------------------------------------------------------------------------- */

Test(symbols, a_trace_of_java_alone_is_left_as_it_is)
{
    stack_id java = builder_stack(&b, "shop.Order.submit:88 shop.Main.main:12");
    t = builder_open(&b, 1000);
    const struct trace_frame *before = trace_stack(t, java)->frames;
    const struct trace_method *methods = t->methods;
    struct symbols_options o = native_nowhere();
    cr_assert_eq(symbols_resolve(t, &o, &summary, NULL), 0);
    cr_assert_eq(trace_stack(t, java)->frames, before);
    cr_assert_eq(t->methods, methods);
    cr_assert_eq(summary.n, 0);
    cr_assert_str_eq(native_text(t, java, 0), "shop.Order.submit");
}

Test(symbols, places_of_one_function_are_one_method)
{
    struct library c = library("libc.so");
    uint64_t at = in_libc("qsort_r") - c.bias;
    const char *id = native_build_id(c.path);
    module_id in = native_module(&b, 1, c.path, id, c.bias);
    /* Loaded a second time, elsewhere. */
    module_id again = native_module(&b, 2, c.path, id, c.bias + 0x10000);
    stack_id x = one_frame(in, at + 1), y = one_frame(in, at + 9), z = one_frame(again, at + 4);
    resolve();
    uint32_t method = trace_stack(t, x)->frames[0].method.v;
    cr_assert_eq(trace_stack(t, y)->frames[0].method.v, method);
    cr_assert_eq(trace_stack(t, z)->frames[0].method.v, method);
    cr_assert_eq(trace_stack(t, x)->frames[0].bci, -1);
    cr_assert_eq(trace_method(t, (method_id){method})->address, at);
    size_t left = 0;
    for (size_t i = 0; i < t->n_methods; i++)
        left += t->methods[i].id.v != 0;
    cr_assert_eq(left, 1);
    cr_assert_eq(summary.n, 1);
}

Test(symbols, kinds_stay_with_their_frames)
{
    static const uint8_t kinds[] = {FRAMEKIND_KERNEL, FRAMEKIND_NATIVE_CODE, FRAMEKIND_STUB};
    struct library c = library("libc.so");
    uint64_t at = in_libc("qsort_r") - c.bias;
    module_id in = native_module(&b, 1, c.path, native_build_id(c.path), c.bias);
    module_id kernel = native_module(&b, 2, "[kernel]", "", 0);
    method_id frames[] = {native_place(&b, kernel, 0xffff0), native_place(&b, in, at),
                          native_place(&b, in, at + 1)};
    stack_id s = native_stack(&b, frames, 3, kinds);
    resolve();
    cr_assert_str_eq(native_text(t, s, 0), "[kernel]+0xffff0");
    cr_assert_eq(memcmp(trace_stack(t, s)->kinds, kinds, 3), 0);
    cr_assert_eq(trace_stack(t, s)->frames[1].method.v, trace_stack(t, s)->frames[2].method.v);
}

Test(symbols, java_frames_between_stay)
{
    struct library c = library("libc.so");
    uint64_t at = in_libc("qsort_r") - c.bias;
    module_id in = native_module(&b, 1, c.path, native_build_id(c.path), c.bias);
    class_id of = builder_class(&b, "Lshop/Order;");
    method_id submit = builder_method(&b, of, "submit", 0);
    stack_id s = native_stack(
        &b, (method_id[]){native_place(&b, in, at + 1), submit, native_place(&b, in, at + 20)}, 3,
        NULL);
    resolve();
    cr_assert_eq(trace_stack(t, s)->n_frames, 3);
    cr_assert_eq(trace_stack(t, s)->frames[1].method.v, submit.v);
    cr_assert_str_eq(native_text(t, s, 1), "shop.Order.submit");
    cr_assert_eq(trace_java_frames(t, trace_stack(t, s)), 1);
}

Test(symbols, what_the_jvm_made)
{
    method_id id = {++b.n_methods};
    builder_def(&b, &(struct def){.kind = DEF_method,
                                  .method = {.id = id,
                                             .name = {"Interpreter", 11},
                                             .signature = {"", 0},
                                             .flags = METHOD_STUB}});
    stack_id s = native_stack(&b, &id, 1, NULL);
    resolve();
    cr_assert_str_eq(native_text(t, s, 0), "[Interpreter]");
}

/* --- files that are not there, or others ------------------------------------------------------ */

Test(symbols, nothing_known)
{
    stack_id gone = one_frame(native_module(&b, 1, "/nonexistent/libfoo.so", "00ff", 0), 0x1a2b);
    stack_id nowhere = one_frame((module_id){0}, 0x7f00123456);
    stack_id undefined = one_frame((module_id){77}, 0x1234);
    resolve();
    cr_assert_str_eq(native_text(t, gone, 0), "libfoo.so+0x1a2b");
    cr_assert_str_eq(native_text(t, nowhere, 0), "0x7f00123456");
    cr_assert_str_eq(native_text(t, undefined, 0), "0x1234");
    cr_assert_eq(summary.n, 1);
    cr_assert_eq(summary.nowhere, 2);
    cr_assert_eq(summary.modules[0].state, SYMBOLS_NONE);
    cr_assert(!summary.modules[0].worth_a_line);
    cr_assert(strstr(summary.modules[0].remedy, "00ff"));
}

Test(symbols, another_build_is_not_used)
{
    struct library c = library("libc.so");
    stack_id s = one_frame(native_module(&b, 1, c.path, "0011223344", c.bias), 0x40000);
    resolve();
    cr_assert(strstr(native_text(t, s, 0), "+0x40000"));
    cr_assert(summary.modules[0].worth_a_line);
    cr_assert(strstr(summary.modules[0].why, "its build id differs"), "%s", summary.modules[0].why);
}

static void broken_file(const void *p, size_t n, const char *why)
{
    char path[] = "/tmp/orca-symbols-XXXXXX";
    int fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, p, n), (ssize_t)n);
    close(fd);
    begin();
    stack_id s = one_frame(native_module(&b, 1, path, "00ff", 0), 0x10);
    resolve();
    cr_assert(strstr(native_text(t, s, 0), "+0x10"));
    cr_assert(summary.modules[0].worth_a_line);
    cr_assert(strstr(summary.modules[0].why, why), "%s", summary.modules[0].why);
    end();
    unlink(path);
}

Test(symbols, damaged_files_are_said)
{
    broken_file("", 0, "not a 64-bit ELF file");
    broken_file("#!/bin/sh\n", 10, "not a 64-bit ELF file");
    broken_file("\177ELF\2\1\1", 7, "not a 64-bit ELF file");
    begin();
    stack_id s = one_frame(native_module(&b, 1, "/dev/null", "00ff", 0), 0x10);
    resolve();
    cr_assert(strstr(native_text(t, s, 0), "null+0x10"));
    cr_assert(strstr(summary.modules[0].why, "not a regular file"));
}

/* --- the kernel ------------------------------------------------------------------------------- */

static char *file_of(const void *p, size_t n)
{
    char *path = strdup("/tmp/orca-symbols-XXXXXX");
    int fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, p, n), (ssize_t)n);
    close(fd);
    return path;
}

static void recorded_now(void)
{
    struct timespec real, mono;
    clock_gettime(CLOCK_REALTIME, &real);
    clock_gettime(CLOCK_MONOTONIC, &mono);
    b.header.start_real = (uint64_t)real.tv_sec * 1000000000u;
    b.header.start_mono = (uint64_t)mono.tv_sec * 1000000000u;
}

static const char kallsyms[] = "ffffffff81000000 T _text\n"
                               "ffffffff81000100 t local_one\n"
                               "ffffffff81000100 T do_syscall_64\n"
                               "ffffffff81000200 D jiffies\n"
                               "ffffffff81000300 W weak_one\n"
                               "nonsense\n"
                               "ffffffff81000400\n"
                               "ffffffffc0000000 t ext4_write\t[ext4]\n"
                               "0000000000000000 T nowhere";

static const unsigned char notes[] = {4, 0, 0,   0,   2,   0, 0,    0,    3, 0,
                                      0, 0, 'G', 'N', 'U', 0, 0xab, 0xcd, 0, 0};

Test(symbols, the_kernel)
{
    struct symbols_options o = native_nowhere();
    char *list = file_of(kallsyms, sizeof kallsyms - 1), *id = file_of(notes, sizeof notes);
    o.kallsyms = list;
    o.kernel_notes = id;
    recorded_now();
    module_id in = native_module(&b, 1, "[kernel]", "abcd", 0);
    module_id other = native_module(&b, 2, "[kernel]", "abce", 0);
    stack_id stacks[] = {one_frame(in, 0xffffffff81000150), one_frame(in, 0xffffffff810002ff),
                         one_frame(in, 0xffffffff81000300), one_frame(in, 0xffffffffc0000042),
                         one_frame(in, 0xffffffff80ffffff), one_frame(other, 0xffffffff81000150)};
    static const char *const expected[] = {
        "[kernel]!do_syscall_64",     "[kernel]!do_syscall_64",      "[kernel]!weak_one",
        "[kernel]!ext4_write [ext4]", "[kernel]+0xffffffff80ffffff", "[kernel]+0xffffffff81000150"};
    resolve_with(&o);
    for (size_t i = 0; i < ARRAY_LEN(stacks); i++)
        cr_assert_str_eq(native_text(t, stacks[i], 0), expected[i]);
    unlink(list);
    unlink(id);
    free(list);
    free(id);
}

static const char *kernel_without(const char *list)
{
    struct symbols_options o = native_nowhere();
    o.kallsyms = list;
    one_frame(native_module(&b, 1, "[kernel]", "", 0), 0xffffffff81000150);
    resolve_with(&o);
    cr_assert_eq(summary.modules[0].state, SYMBOLS_NONE);
    cr_assert(*summary.modules[0].remedy);
    return summary.modules[0].why;
}

Test(symbols, the_kernels_addresses_are_hidden)
{
    static const char zeroed[] = "0000000000000000 T _text\n0000000000000000 T do_syscall_64\n";
    char *list = file_of(zeroed, sizeof zeroed - 1);
    recorded_now();
    cr_assert(strstr(kernel_without(list), "hides"));
    unlink(list);
    free(list);
}

Test(symbols, the_kernels_list_cannot_be_read)
{
    recorded_now();
    cr_assert(strstr(kernel_without("/nonexistent"), "No such file"));
}

/* The machine was started anew: the same kernel is elsewhere. */
Test(symbols, the_kernel_of_another_boot)
{
    char *list = file_of(kallsyms, sizeof kallsyms - 1);
    recorded_now();
    b.header.start_real -= UINT64_C(3600) * 24 * 1000 * 1000000000;
    cr_assert(strstr(kernel_without(list), "before this one was started"));
    unlink(list);
    free(list);
}
