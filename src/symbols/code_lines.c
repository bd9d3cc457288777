#include "symbols/code_lines.h"

#include "base/buf.h"
#include "base/util.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum {
    UNITS_MAX = 1 << 20,     /* ranges of compilation units */
    FUNCTIONS_MAX = 1 << 20, /* of one unit */
    NESTED_MAX = 64,         /* namespaces and classes around a function */
    RANGES_MAX = 4096,       /* of one entry */
};

/* One of the ranges of a unit or a function. */
struct code_lines_range {
    uint64_t begin, end;
    Dwarf_Die die;
};

static int by_begin(const void *x, const void *y)
{
    uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return (a > b) - (a < b);
}

/* Append an entry {begin, end, die} for each range of a DIE. */
static void add_ranges(struct buf *to, Dwarf_Die *die, size_t max)
{
    struct code_lines_range e = {.die = *die};
    Dwarf_Addr base, begin, end;
    ptrdiff_t at = 0;
    for (int i = 0; i < RANGES_MAX && to->len / sizeof e < max; i++) {
        at = dwarf_ranges(die, at, &base, &begin, &end);
        if (at <= 0)
            return;
        e.begin = begin;
        e.end = end;
        if (begin && begin < end) /* 0: the linker dropped it */
            buf_put(to, &e, sizeof e);
    }
}

/* What was gathered, in the order of addresses. */
static struct code_lines_range *sorted(struct buf *b, size_t *n)
{
    *n = b->oom ? 0 : b->len / sizeof(struct code_lines_range);
    if (*n)
        qsort(b->p, *n, sizeof(struct code_lines_range), by_begin);
    return (struct code_lines_range *)(void *)b->p;
}

static const struct code_lines_range *find_in(const struct code_lines_range *v, size_t n,
                                              uint64_t address)
{
    size_t i = 0;
    BISECT(i, n, v[i].begin <= address);
    return i && address < v[i - 1].end ? &v[i - 1] : NULL;
}

/* --- open, close ------------------------------------------------------------------------------ */

int code_lines_open(struct code_lines *l, const struct elf_image *f)
{
    struct buf units = {0};
    Dwarf_CU *cu = NULL;
    Dwarf_Die die;
    *l = (struct code_lines){.unit_of_functions = SIZE_MAX};
    l->dwarf = dwarf_begin_elf(f->elf, DWARF_C_READ, NULL);
    if (!l->dwarf)
        return 0;
    while (dwarf_get_units(l->dwarf, cu, &cu, NULL, NULL, &die, NULL) == 0 &&
           units.len / sizeof(struct code_lines_range) < UNITS_MAX)
        if (dwarf_tag(&die) == DW_TAG_compile_unit)
            add_ranges(&units, &die, UNITS_MAX);
    bool oom = units.oom;
    l->units = sorted(&units, &l->n_units);
    return oom ? -ENOMEM : 0;
}

void code_lines_close(struct code_lines *l)
{
    if (l->dwarf)
        dwarf_end(l->dwarf);
    free(l->units);
    free(l->functions);
    memset(l, 0, sizeof *l);
}

/* --- functions of a unit ---------------------------------------------------------------------- */

static bool holds_functions(int tag)
{
    return tag == DW_TAG_namespace || tag == DW_TAG_class_type || tag == DW_TAG_structure_type ||
           tag == DW_TAG_module;
}

static void add_functions(struct buf *to, Dwarf_Die *parent)
{
    Dwarf_Die way[NESTED_MAX];
    int depth = 0;
    if (dwarf_child(parent, &way[0]) != 0)
        return;
    while (depth >= 0 && to->len / sizeof(struct code_lines_range) < FUNCTIONS_MAX) {
        int tag = dwarf_tag(&way[depth]);
        if (tag == DW_TAG_subprogram)
            add_ranges(to, &way[depth], FUNCTIONS_MAX);
        if (holds_functions(tag) && depth + 1 < NESTED_MAX &&
            dwarf_child(&way[depth], &way[depth + 1]) == 0) {
            depth++;
            continue;
        }
        while (depth >= 0 && dwarf_siblingof(&way[depth], &way[depth]) != 0)
            depth--;
    }
}

static void load_functions(struct code_lines *l, size_t unit)
{
    struct buf functions = {0};
    if (l->unit_of_functions == unit)
        return;
    free(l->functions);
    Dwarf_Die die = l->units[unit].die;
    add_functions(&functions, &die);
    l->functions = sorted(&functions, &l->n_functions);
    l->unit_of_functions = unit;
}

/* --- an address ------------------------------------------------------------------------------- */

static const char *file_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path ? path : "";
}

static uint32_t number_of(Dwarf_Die *die, unsigned attribute)
{
    Dwarf_Attribute a;
    Dwarf_Word v;
    return dwarf_formudata(dwarf_attr(die, attribute, &a), &v) == 0 && v <= INT32_MAX ? (uint32_t)v
                                                                                      : 0;
}

static const char *name_of(Dwarf_Die *die)
{
    Dwarf_Attribute a;
    const char *name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &a));
    return name ? name : dwarf_diename(die);
}

static const char *call_file(Dwarf_Die *unit, Dwarf_Die *inlined)
{
    Dwarf_Files *files;
    size_t n;
    uint32_t i = number_of(inlined, DW_AT_call_file);
    return dwarf_getsrcfiles(unit, &files, &n) == 0 && i < n
               ? file_name(dwarf_filesrc(files, i, NULL, NULL))
               : "";
}

/* The chain of scopes around an address in a function, from outside; only inlined ones count. */
static size_t inlined_at(Dwarf_Die *function, uint64_t address, Dwarf_Die out[CODE_LINES_DEPTH])
{
    size_t n = 0;
    Dwarf_Die at;
    int more = dwarf_child(function, &at);
    while (more == 0 && n + 1 < CODE_LINES_DEPTH) {
        int tag = dwarf_tag(&at);
        bool in = (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block) &&
                  dwarf_haspc(&at, address) == 1;
        if (in && tag == DW_TAG_inlined_subroutine)
            out[n++] = at;
        more = in ? dwarf_child(&at, &at) : dwarf_siblingof(&at, &at);
    }
    return n;
}

/* The line of the address itself. */
static struct code_lines_place innermost(Dwarf_Die *unit, uint64_t address)
{
    Dwarf_Line *row = dwarf_getsrc_die(unit, address);
    int line;
    if (!row)
        return (struct code_lines_place){.source = ""};
    return (struct code_lines_place){
        .source = file_name(dwarf_linesrc(row, NULL, NULL)),
        .line = dwarf_lineno(row, &line) == 0 && line > 0 ? (uint32_t)line : 0};
}

size_t code_lines_find(struct code_lines *l, uint64_t address,
                       struct code_lines_place out[CODE_LINES_DEPTH])
{
    const struct code_lines_range *u = find_in(l->units, l->n_units, address);
    if (!u)
        return 0;
    Dwarf_Die unit = u->die, inlined[CODE_LINES_DEPTH];
    size_t n = 1, depth = 0;
    load_functions(l, (size_t)(u - l->units));
    out[0] = innermost(&unit, address);
    const struct code_lines_range *f = find_in(l->functions, l->n_functions, address);
    if (f) {
        Dwarf_Die function = f->die;
        depth = inlined_at(&function, address, inlined);
    }
    /* What is inlined has the line of the address; who it is inlined into, that of the call. */
    for (; depth-- > 0; n++) {
        const char *name = name_of(&inlined[depth]);
        out[n - 1].name = name ? name : "?";
        out[n] = (struct code_lines_place){.source = call_file(&unit, &inlined[depth]),
                                           .line = number_of(&inlined[depth], DW_AT_call_line)};
    }
    return n;
}
