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
    buf_fini(&s->slots);
    buf_fini(&s->sized);
    memset(s, 0, sizeof *s);
}

/* --- what may answer -------------------------------------------------------------------------- */

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

/* By address, the outer before the inner, the better name last. */
static int by_place(const void *x, const void *y)
{
    const struct symtab_entry *a = x, *b = y;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    if (a->end != b->end)
        return a->end > b->end ? -1 : 1;
    return by_name(b, a);
}

static struct symtab_slot *slots(const struct symtab *s, size_t *n)
{
    *n = s->slots.len / sizeof(struct symtab_slot);
    return (struct symtab_slot *)(void *)s->slots.p;
}

/* The first slot at or behind an address; NULL: none. */
static struct symtab_slot *slot_at(const struct symtab *s, uint64_t address)
{
    size_t n, i = 0;
    struct symtab_slot *slot = slots(s, &n);
    BISECT(i, n, slot[i].address < address);
    return i < n ? &slot[i] : NULL;
}

void symtab_want(struct symtab *s, uint64_t address)
{
    buf_put(&s->slots, &(struct symtab_slot){.address = address}, sizeof(struct symtab_slot));
}

void symtab_add(struct symtab *s, const struct symtab_entry *e)
{
    struct symtab_slot *slot = slot_at(s, e->begin);
    s->n++;
    if (!slot)
        return;
    if (!e->sized) {
        if (!slot->unsized.name || by_place(&slot->unsized, e) < 0)
            slot->unsized = *e;
        return;
    }
    slot->covered = max_u64(slot->covered, e->end);
    if (slot->address < e->end)
        buf_put(&s->sized, e, sizeof *e);
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
        s->sized.oom = true;
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

/* --- answers ---------------------------------------------------------------------------------- */

/* `open`: the symbols that begin before the slot, by place; the last one that reaches over it hides
 * the others.  One that does not is never asked for again, as the slots ascend. */
static void answer(struct symtab *s, const struct symtab_entry **open)
{
    const struct symtab_entry *sized = (const struct symtab_entry *)(const void *)s->sized.p;
    const struct symtab_entry *last = NULL; /* of those without a size */
    size_t n, n_sized = s->sized.len / sizeof *sized, next = 0, depth = 0;
    struct symtab_slot *slot = slots(s, &n), *end = slot + n;
    for (uint64_t covered = 0; slot < end; slot++) {
        covered = max_u64(covered, slot->covered);
        if (slot->unsized.name)
            last = &slot->unsized;
        while (next < n_sized && sized[next].begin <= slot->address)
            open[depth++] = &sized[next++];
        while (depth && open[depth - 1]->end <= slot->address)
            depth--;
        if (depth)
            slot->found = open[depth - 1];
        else if (last && last->begin >= covered && slot->address < last->end)
            slot->found = last;
    }
}

int symtab_build(struct symtab *s)
{
    size_t n = s->sized.len / sizeof(struct symtab_entry);
    const struct symtab_entry **open = calloc(n + 1, sizeof *open);
    int rc = open && !s->slots.oom && !s->sized.oom ? 0 : -ENOMEM;
    if (rc == 0) {
        if (n)
            qsort(s->sized.p, n, sizeof(struct symtab_entry), by_place);
        answer(s, open);
    }
    free(open);
    return rc;
}

const struct symtab_entry *symtab_find(const struct symtab *s, uint64_t address)
{
    const struct symtab_slot *slot = slot_at(s, address);
    return slot && slot->address == address ? slot->found : NULL;
}
