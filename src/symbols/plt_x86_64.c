#include "symbols/plt_x86_64.h"

#include "base/map.h"
#include "base/util.h"

#include <string.h>

enum { TABLE_MAX = 64 << 20, STUB_BYTES = 16 };

/* Where the functions' words are: address -> name. */
static int add_relocations(struct map *words, const struct elf_image *f, Elf_Scn *section,
                           const GElf_Shdr *h)
{
    GElf_Shdr of_symbols;
    Elf_Scn *linked = elf_getscn(f->elf, h->sh_link);
    if (h->sh_type != SHT_RELA || h->sh_size > TABLE_MAX || !linked ||
        !gelf_getshdr(linked, &of_symbols) || of_symbols.sh_type != SHT_DYNSYM ||
        of_symbols.sh_size > TABLE_MAX)
        return 0;
    Elf_Data *data = elf_getdata(section, NULL), *symbols = elf_getdata(linked, NULL);
    size_t n = data && symbols ? data->d_size / sizeof(Elf64_Rela) : 0;
    for (size_t i = 0; i < n; i++) {
        GElf_Rela r;
        GElf_Sym sym;
        if (!gelf_getrela(data, (int)i, &r) || GELF_R_SYM(r.r_info) == 0 ||
            (GELF_R_TYPE(r.r_info) != R_X86_64_JUMP_SLOT &&
             GELF_R_TYPE(r.r_info) != R_X86_64_GLOB_DAT) ||
            !gelf_getsym(symbols, (int)GELF_R_SYM(r.r_info), &sym))
            continue;
        const char *name = elf_strptr(f->elf, of_symbols.sh_link, sym.st_name);
        uint64_t *word = name && *name ? map_put(words, r.r_offset) : NULL;
        if (name && *name && !word)
            return -ENOMEM;
        if (word)
            *word = (uintptr_t)name;
    }
    return 0;
}

/* The address of the word through which the stub of `n` bytes jumps: jmp *disp32(%rip), perhaps
 * behind endbr64 or with a bnd prefix. */
static bool jumps_through(const uint8_t *stub, size_t n, uint64_t address, uint64_t *word)
{
    for (size_t i = 0; i + 6 <= n; i++) {
        int32_t distance;
        if (stub[i] != 0xff || stub[i + 1] != 0x25)
            continue;
        memcpy(&distance, stub + i + 2, sizeof distance);
        *word = address + i + 6 + (uint64_t)(int64_t)distance;
        return true;
    }
    return false;
}

static void add_stubs(struct symtab *s, const struct map *words, Elf_Scn *section,
                      const GElf_Shdr *h)
{
    Elf_Data *data = h->sh_size <= TABLE_MAX ? elf_rawdata(section, NULL) : NULL;
    size_t each = h->sh_entsize == 8 ? 8 : STUB_BYTES;
    if (!data || !data->d_buf)
        return;
    for (size_t at = 0; at + each <= data->d_size; at += each) {
        uint64_t begin = h->sh_addr + at, word;
        const uint64_t *name = jumps_through((const uint8_t *)data->d_buf + at, each, begin, &word)
                                   ? map_find(words, word)
                                   : NULL;
        if (name && *name)
            symtab_add(s, &(struct symtab_entry){.begin = begin,
                                                 .end = begin + each,
                                                 .name = (const char *)(uintptr_t)*name,
                                                 .sized = true,
                                                 .plt = true,
                                                 .rank = SYMTAB_LOCAL});
    }
}

int plt_add(struct symtab *s, const struct elf_image *f)
{
    static const char *const tables[] = {".plt", ".plt.sec", ".plt.got"};
    struct map words;
    GElf_Ehdr head;
    GElf_Shdr h;
    int rc = 0;
    if (!gelf_getehdr(f->elf, &head) || head.e_machine != EM_X86_64)
        return 0;
    map_init(&words);
    for (Elf_Scn *scn = NULL; rc == 0 && (scn = elf_nextscn(f->elf, scn)) != NULL;)
        if (gelf_getshdr(scn, &h))
            rc = add_relocations(&words, f, scn, &h);
    for (size_t i = 0; rc == 0 && i < ARRAY_LEN(tables); i++) {
        Elf_Scn *section = elf_image_section(f, tables[i], &h);
        if (section)
            add_stubs(s, &words, section, &h);
    }
    map_fini(&words);
    return rc;
}
