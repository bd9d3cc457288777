/* holes_test.c - files that are holes but for a few bytes: no reader does, or holds, more than a
 * multiple of what is there, and each says what is wrong. */
#include "../counted.h"
#include "base/buf.h"
#include "base/fdio.h"
#include "import/import.h"
#include "symbols/elf_image.h"
#include "symbols/module_files.h"

#include <criterion/criterion.h>
#include <elf.h>
#include <fcntl.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WORK = 20000000, MEMORY = 64 << 20 };
static const off_t long_one = (off_t)1 << 36; /* 64 GiB: its checksum alone would take minutes */

static char folder[64];

static void begin(void)
{
    snprintf(folder, sizeof folder, "/tmp/orca-holes-XXXXXX");
    cr_assert(mkdtemp(folder));
}

static void end(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    cr_assert_eq(system(command), 0); // NOLINT
}

TestSuite(holes, .init = begin, .fini = end, .timeout = 300);

static const char *path_of(const char *name)
{
    static char path[4][128];
    static unsigned next;
    char *p = path[next++ % 4];
    snprintf(p, sizeof path[0], "%s/%s", folder, name);
    return p;
}

/* Bytes at the beginning and at the end, nothing between. */
static void make(const char *name, const void *head, size_t n, off_t size)
{
    int fd = open(path_of(name), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    cr_assert(fd >= 0 && write(fd, head, n) == (ssize_t)n);
    cr_assert_eq(ftruncate(fd, size > (off_t)n ? size : (off_t)n), 0);
    close(fd);
}

static void put_end(const char *name, const void *p, size_t n)
{
    int fd = open(path_of(name), O_WRONLY | O_APPEND | O_CLOEXEC);
    cr_assert(fd >= 0 && write(fd, p, n) == (ssize_t)n);
    close(fd);
}

#ifdef ORCA_COUNT_WORK
static void stays_small(void)
{
    struct counted c = counted_end();
    cr_assert_lt(c.work, (uint64_t)WORK, "%lu blocks", (unsigned long)c.work);
    cr_assert_lt(c.bytes, (uint64_t)MEMORY, "%lu bytes", (unsigned long)c.bytes);
}
#else
#define counted_begin() ((void)0)
#define stays_small() ((void)WORK, (void)MEMORY)
#endif

static void is_refused(const char *name)
{
    struct err err = {""};
    struct trace *t;
    counted_begin();
    int rc = import_file(&t, path_of(name), NULL, &err);
    stays_small();
    cr_assert_eq(rc, -EINVAL);
    cr_assert(strstr(err.msg, "is a hole"), "%s: %s", name, err.msg);
}

/* --- texts ------------------------------------------------------------------------------------ */

static const char log_text[] = "0000000001,00000001,1.0000000000,00000002,ThreadStart\n";

static void companions(const char *hole)
{
    static const char *const names[] = {"a.orca", "a.methods", "a.classtable"};
    for (size_t i = 0; i < 3; i++)
        make(names[i], i ? "" : log_text, i ? 0 : sizeof log_text - 1,
             strcmp(names[i], hole) == 0 ? long_one : 0);
    is_refused("a.orca");
}

Test(holes, text_log)
{
    companions("a.orca");
}

Test(holes, text_methods)
{
    companions("a.methods");
}

Test(holes, text_classes)
{
    companions("a.classtable");
}

Test(holes, xml)
{
    static const char head[] = "<?xml version=\"1.0\"?>\n<TRACE>\n";
    make("a.trcxml", head, sizeof head - 1, long_one);
    is_refused("a.trcxml");
}

static void put16(struct buf *b, unsigned v)
{
    buf_putc(b, (char)v);
    buf_putc(b, (char)(v >> 8));
}

static void put32(struct buf *b, uint32_t v)
{
    put16(b, v & 0xffff);
    put16(b, v >> 16);
}

/* One entry, stored as it is: nothing but zeros. */
Test(holes, zip)
{
    const uint32_t size = UINT32_C(0xf0000000);
    struct buf head = {0}, tail = {0};
    buf_puts(&head, "PK\3\4");
    put16(&head, 20), put16(&head, 0), put16(&head, 0), put32(&head, 0), put32(&head, 0);
    put32(&head, size), put32(&head, size), put16(&head, 8), put16(&head, 0);
    buf_puts(&head, "a.trcxml");
    buf_puts(&tail, "PK\1\2");
    put16(&tail, 20), put16(&tail, 20), put16(&tail, 0), put16(&tail, 0), put32(&tail, 0);
    put32(&tail, 0), put32(&tail, size), put32(&tail, size), put16(&tail, 8), put16(&tail, 0);
    put16(&tail, 0), put16(&tail, 0), put16(&tail, 0), put32(&tail, 0), put32(&tail, 0);
    buf_puts(&tail, "a.trcxml");
    uint32_t directory = (uint32_t)tail.len;
    buf_puts(&tail, "PK\5\6");
    put16(&tail, 0), put16(&tail, 0), put16(&tail, 1), put16(&tail, 1), put32(&tail, directory);
    put32(&tail, (uint32_t)head.len + size), put16(&tail, 0);
    make("a.zip", head.p, head.len, (off_t)head.len + (off_t)size);
    put_end("a.zip", tail.p, tail.len);
    is_refused("a.zip");
    buf_fini(&head);
    buf_fini(&tail);
}

/* --- native code ------------------------------------------------------------------------------ */

enum { SECTIONS = 3, NAMES_AT = sizeof(Elf64_Ehdr) + SECTIONS * sizeof(Elf64_Shdr) };

/* A file with a section of that name, whose bytes are `body`. */
static void elf(struct buf *b, const char *section, const void *body, size_t n)
{
    static const char names[] = "\0.shstrtab\0";
    Elf64_Ehdr h = {.e_type = ET_DYN,
                    .e_machine = EM_X86_64,
                    .e_version = EV_CURRENT,
                    .e_shoff = sizeof h,
                    .e_ehsize = sizeof h,
                    .e_shentsize = sizeof(Elf64_Shdr),
                    .e_shnum = SECTIONS,
                    .e_shstrndx = 1};
    memcpy(h.e_ident, ELFMAG, SELFMAG);
    h.e_ident[EI_CLASS] = ELFCLASS64;
    h.e_ident[EI_DATA] = ELFDATA2LSB;
    h.e_ident[EI_VERSION] = EV_CURRENT;
    size_t n_names = sizeof names + strlen(section);
    const Elf64_Shdr s[SECTIONS] = {
        [1] = {.sh_name = 1, .sh_type = SHT_STRTAB, .sh_offset = NAMES_AT, .sh_size = n_names},
        [2] = {.sh_name = sizeof names - 1,
               .sh_type = SHT_PROGBITS,
               .sh_offset = NAMES_AT + n_names,
               .sh_size = n,
               .sh_addralign = 1}};
    buf_put(b, &h, sizeof h);
    buf_put(b, s, sizeof s);
    buf_put(b, names, sizeof names - 1);
    buf_put(b, section, strlen(section) + 1);
    buf_put(b, body, n);
}

static void image_is_refused(const char *name)
{
    struct elf_image f;
    struct err err = {""};
    counted_begin();
    int rc = elf_image_open(&f, path_of(name), &err);
    stays_small();
    cr_assert_eq(rc, -EINVAL);
    cr_assert(strstr(err.msg, "is a hole"), "%s", err.msg);
}

Test(holes, native_code_and_dwarf)
{
    struct buf b = {0};
    elf(&b, ".debug_info", "x", 1);
    make("a.so", b.p, b.len, long_one);
    image_is_refused("a.so");
    buf_fini(&b);
}

/* A file's own link to its debug file, which is read to its end for the checksum. */
Test(holes, debug_link)
{
    struct buf b = {0}, hole = {0};
    struct module_files files;
    struct err err = {""};
    elf(&b, ".gnu_debuglink", "b.debug\0\1\2\3\4", 12);
    elf(&hole, ".debug_info", "x", 1);
    make("b.so", b.p, b.len, 0);
    make("b.debug", hole.p, hole.len, long_one);
    const struct trace t = {.header = {.start_real = UINT64_MAX}};
    const struct trace_module m = {.path = path_of("b.so"), .build_id = ""};
    const struct symbols_options o = {.dirs = "", .debug_root = "/nonexistent"};
    counted_begin();
    cr_assert_eq(module_files_open(&files, &t, &m, &o, &err), 0, "%s", err.msg);
    stays_small();
    cr_assert(files.main.elf);
    cr_assert_not(files.debug.elf);
    module_files_close(&files);
    buf_fini(&b);
    buf_fini(&hole);
}

/* Its own small symbols, packed: 200 MB of nothing in 30 kB. */
Test(holes, packed_symbols)
{
    enum { BOMB = 200 << 20 };
    struct buf b = {0};
    struct elf_image f, inner;
    struct err err = {""};
    uint8_t *zeros = calloc(1, BOMB), *packed = malloc(1 << 20);
    size_t n = 0;
    cr_assert_eq(
        lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, NULL, zeros, BOMB, packed, &n, 1 << 20),
        LZMA_OK);
    free(zeros);
    elf(&b, ".gnu_debugdata", packed, n);
    free(packed);
    make("c.so", b.p, b.len, 0);
    cr_assert_eq(elf_image_open(&f, path_of("c.so"), &err), 0, "%s", err.msg);
    counted_begin();
    cr_assert_neq(elf_image_open_inner(&inner, &f, &err), 0);
    stays_small();
    elf_image_close(&f);
    buf_fini(&b);
}
