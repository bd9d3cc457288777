#include "cli/elf_symbol.h"

#include <criterion/criterion.h>
#include <elf.h>
#include <string.h>

/* A library of three sections: nothing, symbols, names. */
static struct image {
    Elf64_Ehdr head;
    Elf64_Shdr sections[3];
    Elf64_Sym symbols[3];
    char names[32];
} image;

static void make(void)
{
    memset(&image, 0, sizeof image);
    memcpy(image.head.e_ident, ELFMAG, SELFMAG);
    image.head.e_ident[EI_CLASS] = ELFCLASS64;
    image.head.e_shoff = offsetof(struct image, sections);
    image.head.e_shnum = 3;
    image.head.e_shentsize = sizeof(Elf64_Shdr);
    image.sections[1] = (Elf64_Shdr){.sh_type = SHT_DYNSYM, .sh_link = 2};
    image.sections[1].sh_offset = offsetof(struct image, symbols);
    image.sections[1].sh_size = sizeof image.symbols;
    image.sections[2] = (Elf64_Shdr){.sh_type = SHT_STRTAB};
    image.sections[2].sh_offset = offsetof(struct image, names);
    image.sections[2].sh_size = sizeof image.names;
    memcpy(image.names, "\0here\0there\0", 12);
    image.symbols[1] = (Elf64_Sym){.st_name = 1, .st_shndx = 5};
    image.symbols[2] = (Elf64_Sym){.st_name = 6, .st_shndx = SHN_UNDEF};
}

static int look(const char *symbol)
{
    return elf_symbol_in((const uint8_t *)&image, sizeof image, symbol);
}

Test(elf_symbol, defined_and_undefined, .init = make)
{
    cr_assert_eq(look("here"), 1);
    cr_assert_eq(look("there"), 0);
    cr_assert_eq(look("her"), 0);
    cr_assert_eq(look("nowhere"), 0);
}

Test(elf_symbol, other_files_are_refused, .init = make)
{
    image.head.e_ident[EI_CLASS] = ELFCLASS32;
    cr_assert_eq(look("here"), -EINVAL);
    make();
    image.head.e_ident[0] = 0;
    cr_assert_eq(look("here"), -EINVAL);
    make();
    cr_assert_eq(elf_symbol_in((const uint8_t *)&image, sizeof(Elf64_Ehdr) - 1, "here"), -EINVAL);
    image.sections[1].sh_type = SHT_SYMTAB;
    cr_assert_eq(look("here"), -EINVAL);
}

Test(elf_symbol, offsets_outside_the_file_are_refused, .init = make)
{
    image.head.e_shoff = UINT64_MAX - 8;
    cr_assert_eq(look("here"), -EINVAL);
    make();
    image.head.e_shnum = UINT16_MAX;
    cr_assert_eq(look("here"), -EINVAL);
    make();
    image.sections[1].sh_size = UINT64_MAX;
    cr_assert_eq(look("here"), -EINVAL);
    make();
    image.sections[2].sh_size = 4096;
    cr_assert_eq(look("here"), -EINVAL);
    make();
    image.sections[1].sh_link = 3;
    cr_assert_eq(look("here"), -EINVAL);
    make();
    image.symbols[1].st_name = UINT32_MAX;
    cr_assert_eq(look("here"), 0);
    make();
    image.sections[2].sh_size = 4; /* cuts the name */
    cr_assert_eq(look("here"), 0);
}

Test(elf_symbol, a_real_library)
{
    struct err err;
    cr_assert_eq(elf_symbol_exported("/proc/self/exe", "no_such_symbol_anywhere", &err), 0);
    cr_assert_eq(elf_symbol_exported("/nonexistent", "x", &err), -ENOENT);
    cr_assert_eq(elf_symbol_exported("/dev/null", "x", &err), -EIO);
    cr_assert_eq(elf_symbol_exported("/proc/self/cmdline", "x", &err), -EIO);
}
