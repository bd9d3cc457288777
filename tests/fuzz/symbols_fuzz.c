/* symbols_fuzz.c - a file that a trace names as native code: whatever is in it, its symbols are
 * looked up, with lines and inlined functions where it has DWARF. */
#include "format/trace.h"
#include "symbols/code_lines.h"
#include "symbols/demangle.h"
#include "symbols/plt_x86_64.h"
#include "symbols/symtab.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool ok)
{
    if (!ok)
        abort();
}

enum { ADDRESSES = 4096, STEP = 8 };

/* An address's symbol reaches over it, its name is a text, and its number of lines is limited. */
static void check_table(const struct symtab *s, struct code_lines *lines)
{
    struct buf b = {0};
    struct code_lines_place places[CODE_LINES_DEPTH];
    for (uint64_t i = 0; i < ADDRESSES; i++) {
        const struct symtab_entry *e = symtab_find(s, i * STEP);
        if (!e)
            continue;
        need(e->begin <= i * STEP && i * STEP < e->end);
        buf_clear(&b);
        demangle(e->name, i & 1, &b);
        need(b.oom || b.len <= DEMANGLE_MAX);
        if (lines)
            need(code_lines_find(lines, i * STEP, places) <= CODE_LINES_DEPTH);
    }
    buf_fini(&b);
}

static void look(struct elf_image *f)
{
    struct code_lines lines;
    struct symtab s;
    struct elf_image inner;
    symtab_init(&s);
    for (uint64_t i = 0; i < ADDRESSES; i++)
        symtab_want(&s, i * STEP);
    symtab_add_elf(&s, f->elf);
    bool packed = elf_image_open_inner(&inner, f, NULL) == 0;
    if (packed)
        symtab_add_elf(&s, inner.elf);
    plt_add(&s, f);
    bool known = code_lines_open(&lines, f) == 0;
    if (symtab_build(&s) == 0)
        check_table(&s, known ? &lines : NULL);
    code_lines_close(&lines);
    symtab_fini(&s);
    elf_image_close(&inner);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct elf_image f;
    void *copy = malloc(size ? size : 1);
    if (!copy)
        return 0;
    memcpy(copy, data, size);
    if (elf_image_take(&f, copy, size, "fuzz", NULL) == 0)
        look(&f);
    elf_image_close(&f);
    return 0;
}
