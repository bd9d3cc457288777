/* Files built here by the compiler, in every shape that a library may have; the truth is what nm
 * and addr2line say. */
#include "native_builder.h"

#include "base/util.h"
#include "symbols/elf_image.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[32];

static const char program[] =
    "#include <stdio.h>\n"
    "#include <string.h>\n"
    "#define OUT __attribute__((noinline, used))\n"
    "volatile int sink;\n"
    "static inline __attribute__((always_inline)) void inner(int x)\n"
    "{\n"
    "    sink += x;\n" /* line 7 */
    "}\n"
    "static inline __attribute__((always_inline)) void middle(int x)\n"
    "{\n"
    "    inner(x + 1);\n" /* line 11 */
    "}\n"
    "OUT void with_inlined(void)\n"
    "{\n"
    "    middle(2);\n" /* line 15 */
    "}\n"
    "OUT static void hidden(void) { sink++; puts(\"x\"); }\n"
    "OUT void shown(void) { hidden(); sink--; }\n"
    "OUT void alias_of(void) { sink = 3; }\n"
    "void alias(void) __attribute__((alias(\"alias_of\")));\n"
    "static void one(void) { sink = 1; }\n"
    "static void *choose(void) { return one; }\n"
    "void chosen(void) __attribute__((ifunc(\"choose\")));\n"
    "__asm__(\".text\\n.type asm_one,@function\\nasm_one: nop\\nnop\\nasm_two: nop\\nnop\\n\"\n"
    "        \".size asm_one, 0\\n\");\n"
    "__asm__(\".text\\n.globl _ZN3app5Order6submitEi\\n.type "
    "_ZN3app5Order6submitEi,@function\\n\"\n"
    "        \"_ZN3app5Order6submitEi: nop\\nret\\n.size _ZN3app5Order6submitEi, 2\\n\"\n"
    "        \".globl _ZN3app4main17h0123456789abcdefE\\n\"\n"
    "        \".type _ZN3app4main17h0123456789abcdefE,@function\\n\"\n"
    "        \"_ZN3app4main17h0123456789abcdefE: nop\\nret\\n\"\n"
    "        \".size _ZN3app4main17h0123456789abcdefE, 2\\n\"\n"
    "        \".globl _RNvCskwGfYPst2Cb_3foo16example_function\\n\"\n"
    "        \".type _RNvCskwGfYPst2Cb_3foo16example_function,@function\\n\"\n"
    "        \"_RNvCskwGfYPst2Cb_3foo16example_function: nop\\nret\\n\"\n"
    "        \".size _RNvCskwGfYPst2Cb_3foo16example_function, 2\\n\");\n"
    "int main(void) { shown(); with_inlined(); alias(); chosen(); return sink == 12345; }\n";

/* Run a command in the folder; its first line. */
static const char *run(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static const char *run(const char *fmt, ...)
{
    static char line[4096];
    char command[8192];
    int n = snprintf(command, sizeof command, "cd %s && ", dir);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(command + n, sizeof command - (size_t)n, fmt, ap);
    va_end(ap);
    FILE *f = popen(command, "r"); // NOLINT
    cr_assert(f);
    if (!fgets(line, sizeof line, f))
        line[0] = 0;
    while (fgetc(f) != EOF)
        ;
    cr_assert_eq(pclose(f), 0, "%s", command);
    line[strcspn(line, "\n")] = 0;
    return line;
}

static void begin(void)
{
    strcpy(dir, "/tmp/orca-elf-XXXXXX");
    cr_assert(mkdtemp(dir));
    char path[256];
    snprintf(path, sizeof path, "%s/p.c", dir);
    FILE *f = fopen(path, "w");
    cr_assert(f);
    fputs(program, f);
    fclose(f);
}

static void end(void)
{
    run("rm -f *.debug */*.debug */*/*.debug; cd / && rm -rf %s", dir);
}

TestSuite(symbols_elf, .init = begin, .fini = end);

static void compile(const char *flags)
{
    run("gcc -O1 -Wl,--build-id %s -o p p.c", flags);
}

static uint64_t address_of(const char *file, const char *symbol)
{
    uint64_t a = strtoull(run("nm %s | grep -E ' [a-zA-Z] %s$'", file, symbol), NULL, 16);
    cr_assert_neq(a, 0, "%s", symbol);
    return a;
}

static const char *path_of(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

/* The name at an address of dir/p, without the file's. */
static const char *name_at(uint64_t address, const struct symbols_options *o)
{
    static char *name;
    struct symbols_options nowhere = native_nowhere();
    free(name);
    native_names(path_of("p"), NULL, o ? o : &nowhere, &address, 1, &name);
    cr_assert_eq(name[0], 'p');
    return name + 1;
}

#define SAYS(address, name) cr_assert_str_eq(name_at(address, NULL), name)

static void every_shape(void)
{
    uint64_t a = address_of("p", "asm_one"), two = address_of("p", "asm_two");
    SAYS(address_of("p", "shown") + 2, "!shown");
    SAYS(address_of("p", "hidden") + 1, "!hidden");
    SAYS(address_of("p", "alias_of") + 1, "!alias");
    SAYS(address_of("p", "choose") + 1, "!chosen"); /* an IFUNC's own code is what chooses */
    SAYS(a, "!asm_one");
    SAYS(a + 1, "!asm_one");
    SAYS(two, "!asm_two");
    SAYS(two + 1, "!asm_two");
    SAYS(address_of("p", "_ZN3app5Order6submitEi"), "!app::Order::submit");
    SAYS(address_of("p", "_ZN3app4main17h0123456789abcdefE"), "!app::main");
    SAYS(address_of("p", "_RNvCskwGfYPst2Cb_3foo16example_function") + 1, "!foo::example_function");
    cr_assert_eq(strncmp(name_at(0x10, NULL), "+0x10", 5), 0);
}

Test(symbols_elf, position_independent)
{
    compile("-pie");
    every_shape();
}

Test(symbols_elf, not_position_independent)
{
    compile("-no-pie");
    every_shape();
}

/* The stubs as objdump names them. */
static void stubs(const char *flags)
{
    compile(flags);
    uint64_t a = strtoull(run("objdump -d p | grep 'puts@plt>:$'"), NULL, 16);
    cr_assert_neq(a, 0);
    SAYS(a, "!puts@plt");
    SAYS(a + 5, "!puts@plt");
}

Test(symbols_elf, stubs_of_the_plt)
{
    stubs("-pie -Wl,-z,lazy");
    stubs("-pie -Wl,-z,now");
    stubs("-no-pie -Wl,-z,lazy");
    stubs("-pie -fcf-protection=full -Wl,-z,ibtplt");
}

Test(symbols_elf, stripped)
{
    compile("-pie -rdynamic");
    uint64_t shown = address_of("p", "shown"), hidden = address_of("p", "hidden");
    run("strip p");
    SAYS(shown + 2, "!shown"); /* exported */
    cr_assert_eq(strncmp(name_at(hidden + 1, NULL), "+0x", 3), 0);
}

/* hidden's name, which only the debug file has, from each place where one may be. */
static void finds(uint64_t hidden, const struct symbols_options *o, bool found)
{
    const char *name = name_at(hidden + 1, o);
    cr_assert_eq(strcmp(name, "!hidden") == 0, found, "%s", name);
}

Test(symbols_elf, separate_debug_files)
{
    struct symbols_options o = native_nowhere();
    char user[512], root[256], below[256];
    compile("-pie -g");
    uint64_t hidden = address_of("p", "hidden");
    run("objcopy --only-keep-debug p p.full && strip p");
    const char *id = native_build_id(path_of("p"));
    snprintf(below, sizeof below, "root/.build-id/%.2s", id);
    snprintf(root, sizeof root, "%s/root", dir);
    finds(hidden, &o, false);
    run("mkdir -p %s user && cp p.full %s/%s.debug", below, below, id + 2);
    setenv("ORCA_DEBUG_ROOT", root, 1);
    o.debug_root = symbols_options_default().debug_root;
    finds(hidden, &o, true);
    unsetenv("ORCA_DEBUG_ROOT");
    o.debug_root = "/nonexistent";
    snprintf(user, sizeof user, ":/nonexistent::%s/user", dir);
    o.dirs = user;
    finds(hidden, &o, false);
    run("cp p.full user/p.debug");
    finds(hidden, &o, true);
    snprintf(user, sizeof user, "%s/root", dir);
    finds(hidden, &o, true);
}

Test(symbols_elf, the_debug_file_that_a_program_names)
{
    struct symbols_options o = native_nowhere();
    compile("-pie -g");
    uint64_t hidden = address_of("p", "hidden");
    run("objcopy --only-keep-debug p p.dbg && strip p && objcopy --add-gnu-debuglink=p.dbg p");
    finds(hidden, &o, true);
    run("mkdir .debug && mv p.dbg .debug");
    finds(hidden, &o, true);
    run("gcc -O2 -g -Wl,--build-id -pie -DX -o q p.c && cp q .debug/p.dbg");
    finds(hidden, &o, strcmp(run("cmp -s p .debug/p.dbg && echo same; true"), "same") == 0);
}

/* Without build ids a file counts as long as nobody changed it, a debug file by its checksum. */
Test(symbols_elf, no_build_id)
{
    struct symbols_options o = native_nowhere();
    run("gcc -O1 -g -Wl,--build-id=none -pie -o p p.c");
    uint64_t hidden = address_of("p", "hidden");
    run("objcopy --only-keep-debug p p.dbg && strip p && objcopy --add-gnu-debuglink=p.dbg p");
    run("touch -d 2020-01-01 p p.dbg");
    finds(hidden, &o, true);
    run("printf x >>p.dbg && touch -d 2020-01-01 p.dbg"); /* another checksum */
    finds(hidden, &o, false);
    run("touch -d 2035-01-01 p");
    struct trace_builder b;
    struct symbols_summary s;
    builder_init(&b);
    method_id m = native_place(&b, native_module(&b, 1, path_of("p"), "", 0), hidden);
    native_stack(&b, &m, 1, NULL);
    struct trace *t = builder_open(&b, 1);
    cr_assert_eq(symbols_resolve(t, &o, &s, NULL), 0);
    cr_assert(strstr(s.modules[0].why, "changed after the recording"), "%s", s.modules[0].why);
    trace_close(t);
}

Test(symbols_elf, symbols_packed_into_the_file)
{
    struct symbols_options o = native_nowhere();
    if (strcmp(run("command -v xz >/dev/null && echo yes; true"), "yes") != 0) {
        end(); /* which is not called then */
        cr_skip_test("no xz here");
    }
    compile("-pie");
    uint64_t hidden = address_of("p", "hidden");
    run("objcopy --only-keep-debug p mini && strip p && xz mini && "
        "objcopy --add-section .gnu_debugdata=mini.xz p");
    finds(hidden, &o, true);
    run("printf garbage >mini.xz && objcopy --update-section .gnu_debugdata=mini.xz p");
    finds(hidden, &o, false);
}

/* A chain of inlined functions as addr2line -i shows it: functions, files, lines. */
static void inlined(const char *flags)
{
    struct symbols_options o = native_nowhere();
    compile(flags);
    uint64_t from = address_of("p", "with_inlined");
    size_t chains = 0;
    for (uint64_t a = from; a < from + 12; a++) {
        struct trace_builder b;
        builder_init(&b);
        method_id m = native_place(
            &b, native_module(&b, 1, path_of("p"), native_build_id(path_of("p")), 0), a);
        stack_id id = native_stack(&b, &m, 1, NULL);
        struct trace *t = builder_open(&b, 1);
        cr_assert_eq(symbols_resolve(t, &o, NULL, NULL), 0);
        const struct trace_stack *s = trace_stack(t, id);
        for (uint32_t i = 0; i < s->n_frames; i++) {
            char function[256], place[300], expected[256];
            snprintf(expected, sizeof expected, "%s",
                     run("addr2line -i -f -s -e p 0x%" PRIx64 " | sed -n '%up'", a, 2 * i + 1));
            snprintf(function, sizeof function, "%s", native_text(t, id, i) + 2);
            if (strcmp(native_text(t, id, i), "p!with_inlined") != 0 || i + 1 < s->n_frames)
                cr_assert_str_eq(function, expected);
            snprintf(place, sizeof place, "%s:%d", trace_method_source(t, s->frames[i].method),
                     trace_line(t, s->frames[i]));
            snprintf(expected, sizeof expected, "%s",
                     run("addr2line -i -f -s -e p 0x%" PRIx64 " | sed -n '%up' | sed 's/ .*//'", a,
                         2 * i + 2));
            cr_assert_str_eq(place, expected);
        }
        chains += s->n_frames == 3;
        trace_close(t);
    }
    cr_assert_gt(chains, 0);
}

Test(symbols_elf, inlined_functions_and_lines)
{
    inlined("-pie -g -gdwarf-5");
    inlined("-pie -g -gdwarf-4");
    inlined("-no-pie -g -gz");
}
