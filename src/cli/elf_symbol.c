#include "cli/elf_symbol.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct file {
    const uint8_t *p;
    size_t size;
};

/* Whether [offset, offset + n * each) lies in the file. */
static bool inside(const struct file *f, uint64_t offset, uint64_t n, uint64_t each)
{
    uint64_t bytes;
    return !__builtin_mul_overflow(n, each, &bytes) && offset <= f->size &&
           bytes <= f->size - offset;
}

static bool name_is(const struct file *f, const Elf64_Shdr *names, uint32_t at, const char *symbol)
{
    size_t len = strlen(symbol) + 1;
    return at < names->sh_size && len <= names->sh_size - at &&
           memcmp(f->p + names->sh_offset + at, symbol, len) == 0;
}

static int search(const struct file *f, const Elf64_Shdr *symbols, const Elf64_Shdr *names,
                  const char *symbol)
{
    uint64_t n = symbols->sh_size / sizeof(Elf64_Sym);
    if (!inside(f, symbols->sh_offset, n, sizeof(Elf64_Sym)) ||
        !inside(f, names->sh_offset, names->sh_size, 1))
        return -EINVAL;
    for (uint64_t i = 0; i < n; i++) {
        Elf64_Sym s;
        memcpy(&s, f->p + symbols->sh_offset + i * sizeof s, sizeof s);
        if (s.st_shndx != SHN_UNDEF && name_is(f, names, s.st_name, symbol))
            return 1;
    }
    return 0;
}

int elf_symbol_in(const uint8_t *p, size_t size, const char *symbol)
{
    struct file f = {p, size};
    Elf64_Ehdr head;
    if (size < sizeof head)
        return -EINVAL;
    memcpy(&head, p, sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
        head.e_shentsize != sizeof(Elf64_Shdr) ||
        !inside(&f, head.e_shoff, head.e_shnum, sizeof(Elf64_Shdr)))
        return -EINVAL;
    for (unsigned i = 0; i < head.e_shnum; i++) {
        Elf64_Shdr symbols, names;
        memcpy(&symbols, p + head.e_shoff + i * sizeof symbols, sizeof symbols);
        if (symbols.sh_type != SHT_DYNSYM || symbols.sh_link >= head.e_shnum)
            continue;
        memcpy(&names, p + head.e_shoff + symbols.sh_link * sizeof names, sizeof names);
        return search(&f, &symbols, &names, symbol);
    }
    return -EINVAL;
}

int elf_symbol_exported(const char *path, const char *symbol, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_set(err, -errno, "%s: %s", path, strerror(errno));
    struct stat st;
    void *p = fstat(fd, &st) == 0 && st.st_size > 0
                  ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)
                  : MAP_FAILED;
    close(fd);
    if (p == MAP_FAILED)
        return err_set(err, -EIO, "%s: cannot be read", path);
    int rc = elf_symbol_in(p, (size_t)st.st_size, symbol);
    munmap(p, (size_t)st.st_size);
    return rc < 0 ? err_set(err, rc, "%s: not a 64-bit ELF library", path) : rc;
}
