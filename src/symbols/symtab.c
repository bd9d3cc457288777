#include "symbols/symtab.h"

#include "base/util.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_MAX = 1 << 30 }; /* bytes of one section */

void symtab_init(struct symtab *s)
{
    memset(s, 0, sizeof *s);
}

void symtab_fini(struct symtab *s)
{
    buf_fini(&s->added);
    free(s->ranges);
    memset(s, 0, sizeof *s);
}

void symtab_add(struct symtab *s, const struct symtab_entry *e)
{
    buf_put(&s->added, e, sizeof *e);
}

/* --- from an ELF file ------------------------------------------------------------------------- */

/* A table of symbols and what it refers to. */
struct table {
    Elf *elf;
    Elf_Data *symbols;
    const char *names;
    size_t n_names; /* bytes; the last one is a NUL */
    GElf_Shdr *sections;
    size_t n_sections;
};

static bool is_code(const struct table *t, const GElf_Sym *sym, uint64_t *section_end)
{
    int type = GELF_ST_TYPE(sym->st_info);
    if (sym->st_shndx == SHN_UNDEF || sym->st_shndx >= t->n_sections)
        return false;
    const GElf_Shdr *in = &t->sections[sym->st_shndx];
    if (type != STT_FUNC && type != STT_GNU_IFUNC &&
        (type != STT_NOTYPE || !(in->sh_flags & SHF_EXECINSTR)))
        return false;
    *section_end = in->sh_addr + in->sh_size;
    return sym->st_value >= in->sh_addr && sym->st_value < *section_end;
}

static void add_symbols(struct symtab *s, const struct table *t, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        GElf_Sym sym;
        uint64_t end;
        if (!gelf_getsym(t->symbols, (int)i, &sym) || sym.st_name >= t->n_names ||
            !t->names[sym.st_name] || !is_code(t, &sym, &end))
            continue;
        bool sized = sym.st_size > 0 && sym.st_size <= UINT64_MAX - sym.st_value;
        symtab_add(
            s, &(struct symtab_entry){
                   .begin = sym.st_value,
                   .end = sized ? sym.st_value + sym.st_size : end,
                   .name = t->names + sym.st_name,
                   .sized = sized,
                   .rank = GELF_ST_BIND(sym.st_info) == STB_LOCAL ? SYMTAB_LOCAL : SYMTAB_GLOBAL,
               });
    }
}

/* Read the table whose header is t->sections[index]. */
static bool add_table(struct symtab *s, struct table *t, size_t index)
{
    const GElf_Shdr *h = &t->sections[index];
    if (h->sh_link >= t->n_sections || h->sh_size > TABLE_MAX ||
        t->sections[h->sh_link].sh_type != SHT_STRTAB ||
        t->sections[h->sh_link].sh_size > TABLE_MAX)
        return false;
    t->symbols = elf_getdata(elf_getscn(t->elf, index), NULL);
    Elf_Data *names = elf_getdata(elf_getscn(t->elf, h->sh_link), NULL);
    size_t each = gelf_fsize(t->elf, ELF_T_SYM, 1, EV_CURRENT);
    if (!t->symbols || !t->symbols->d_buf || !names || !names->d_buf || !each || !names->d_size)
        return false;
    t->names = names->d_buf;
    t->n_names = names->d_size;
    if (t->names[t->n_names - 1])
        return false;
    add_symbols(s, t, t->symbols->d_size / each);
    return true;
}

bool symtab_add_elf(struct symtab *s, Elf *elf)
{
    struct table t = {.elf = elf};
    bool whole = true;
    if (elf_getshdrnum(elf, &t.n_sections) < 0 || t.n_sections == 0)
        return false;
    t.sections = calloc(t.n_sections, sizeof *t.sections);
    if (!t.sections) {
        s->added.oom = true;
        return false;
    }
    for (size_t i = 1; i < t.n_sections; i++)
        if (!gelf_getshdr(elf_getscn(elf, i), &t.sections[i]))
            t.sections[i] = (GElf_Shdr){0};
    for (size_t i = 1; i < t.n_sections; i++)
        if (t.sections[i].sh_type == SHT_SYMTAB || t.sections[i].sh_type == SHT_DYNSYM)
            whole &= add_table(s, &t, i);
    free(t.sections);
    return whole;
}

/* --- ranges ----------------------------------------------------------------------------------- */

/* Negative: a is the better name of one place. */
static int by_name(const struct symtab_entry *a, const struct symtab_entry *b)
{
    if (a->rank != b->rank)
        return a->rank > b->rank ? -1 : 1;
    bool versioned = strchr(a->name, '@') != NULL;
    if (versioned != (strchr(b->name, '@') != NULL))
        return versioned ? 1 : -1;
    size_t x = strlen(a->name), y = strlen(b->name);
    return x != y ? (x < y ? -1 : 1) : strcmp(a->name, b->name);
}

/* Those with a size first; by address, the outer before the inner, the better name last. */
static int by_place(const void *x, const void *y)
{
    const struct symtab_entry *a = x, *b = y;
    if (a->sized != b->sized)
        return a->sized ? -1 : 1;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    if (a->end != b->end)
        return a->end > b->end ? -1 : 1;
    return by_name(b, a);
}

static int by_begin(const void *x, const void *y)
{
    const struct symtab_range *a = x, *b = y;
    return (a->begin > b->begin) - (a->begin < b->begin);
}

static void emit(struct symtab *s, uint64_t *from, uint64_t to, const struct symtab_entry *e)
{
    if (*from >= to)
        return;
    s->ranges[s->n++] = (struct symtab_range){*from, to, e};
    *from = to;
}

/* The symbols with a size, `open` being those that reach over `from`: the last one hides the
 * others.  Each symbol begins and ends a range once, so there are at most twice as many. */
static void add_sized(struct symtab *s, size_t n, const struct symtab_entry **open)
{
    size_t depth = 0;
    uint64_t from = 0;
    for (size_t i = 0; i <= n; i++) {
        uint64_t next = i < n ? s->entries[i].begin : UINT64_MAX;
        for (; depth && open[depth - 1]->end <= next; depth--)
            emit(s, &from, open[depth - 1]->end, open[depth - 1]);
        if (depth)
            emit(s, &from, next, open[depth - 1]);
        if (i < n) {
            from = next;
            open[depth++] = &s->entries[i];
        }
    }
}

/* The ranges [0, n) are sorted; the first one that ends behind `address`, or n. */
static size_t first_behind(const struct symtab *s, size_t n, uint64_t address)
{
    size_t i = 0;
    BISECT(i, n, s->ranges[i].end <= address);
    return i;
}

/* The symbols without a size, entries[first ..], in what the ranges so far leave free. */
static void add_unsized(struct symtab *s, size_t first)
{
    size_t sized = s->n;
    for (size_t i = first; i < s->n_entries; i++) {
        const struct symtab_entry *e = &s->entries[i];
        if (i + 1 < s->n_entries && s->entries[i + 1].begin == e->begin)
            continue; /* the last of one place has the best name */
        size_t next = first_behind(s, sized, e->begin);
        uint64_t from = e->begin, to = e->end;
        if (next < sized && s->ranges[next].begin <= from)
            continue;
        if (next < sized && s->ranges[next].begin < to)
            to = s->ranges[next].begin;
        if (i + 1 < s->n_entries && s->entries[i + 1].begin < to)
            to = s->entries[i + 1].begin;
        emit(s, &from, to, e);
    }
    qsort(s->ranges, s->n, sizeof *s->ranges, by_begin);
}

int symtab_build(struct symtab *s)
{
    size_t sized = 0;
    s->n_entries = s->added.len / sizeof *s->entries;
    s->entries = (struct symtab_entry *)(void *)s->added.p;
    if (s->added.oom)
        return -ENOMEM;
    if (s->n_entries == 0)
        return 0;
    qsort(s->entries, s->n_entries, sizeof *s->entries, by_place);
    while (sized < s->n_entries && s->entries[sized].sized)
        sized++;
    const struct symtab_entry **open = calloc(s->n_entries, sizeof *open);
    s->ranges = calloc(2 * s->n_entries, sizeof *s->ranges);
    int rc = open && s->ranges ? 0 : -ENOMEM;
    if (rc == 0) {
        add_sized(s, sized, open);
        add_unsized(s, sized);
    }
    free(open);
    return rc;
}

const struct symtab_range *symtab_find(const struct symtab *s, uint64_t address)
{
    size_t i = first_behind(s, s->n, address);
    return i < s->n && s->ranges[i].begin <= address ? &s->ranges[i] : NULL;
}
