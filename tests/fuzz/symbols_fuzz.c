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

/* Ranges must be in order, and a name must be a text. */
static void check_table(const struct symtab *s)
{
    struct buf b = {0};
    for (size_t i = 0; i < s->n; i++) {
        need(s->ranges[i].begin < s->ranges[i].end);
        need(i == 0 || s->ranges[i - 1].end <= s->ranges[i].begin);
        need(symtab_find(s, s->ranges[i].begin) == &s->ranges[i]);
        buf_clear(&b);
        demangle(s->ranges[i].symbol->name, i & 1, &b);
        need(b.oom || b.len <= DEMANGLE_MAX);
    }
    buf_fini(&b);
}

static void look(struct elf_image *f)
{
    struct code_lines lines;
    struct code_lines_place places[CODE_LINES_DEPTH];
    struct symtab s;
    struct elf_image inner;
    symtab_init(&s);
    symtab_add_elf(&s, f->elf);
    bool packed = elf_image_open_inner(&inner, f, NULL) == 0;
    if (packed)
        symtab_add_elf(&s, inner.elf);
    plt_add(&s, f);
    if (symtab_build(&s) == 0)
        check_table(&s);
    if (code_lines_open(&lines, f) == 0)
        for (size_t i = 0; i < s.n && i < 200; i++)
            need(code_lines_find(&lines, s.ranges[i].begin + 1, places) <= CODE_LINES_DEPTH);
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
