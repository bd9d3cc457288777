#include "base/imports.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What the program headers of a library lead to. */
struct image {
    uintptr_t bias, begin, end; /* begin, end: of what is mapped of it */
    uintptr_t relro, relro_end; /* read-only since the linker has filled it in */
    const ElfW(Sym) * symbols;
    const char *strings;
    const uint32_t *gnu_hash;
    const ElfW(Rela) * relocations[2];
    size_t bytes[2];
};

/* glibc has added the bias to these; another C library, and the kernel's own library, have not. */
static uintptr_t address(const struct image *m, uintptr_t v)
{
    return v < m->bias ? m->bias + v : v;
}

static void read_dynamic(struct image *m, const ElfW(Dyn) * d)
{
    for (; d->d_tag != DT_NULL; d++) {
        uintptr_t at = address(m, d->d_un.d_ptr);
        switch (d->d_tag) {
        case DT_SYMTAB:
            m->symbols = (const void *)at;
            break;
        case DT_STRTAB:
            m->strings = (const void *)at;
            break;
        case DT_GNU_HASH:
            m->gnu_hash = (const void *)at;
            break;
        case DT_JMPREL:
            m->relocations[0] = (const void *)at;
            break;
        case DT_PLTRELSZ:
            m->bytes[0] = d->d_un.d_val;
            break;
        case DT_RELA:
            m->relocations[1] = (const void *)at;
            break;
        case DT_RELASZ:
            m->bytes[1] = d->d_un.d_val;
            break;
        default:
            break;
        }
    }
}

static bool read_image(struct image *m, const struct dl_phdr_info *info)
{
    const ElfW(Dyn) *dynamic = NULL;
    *m = (struct image){.bias = info->dlpi_addr, .begin = UINTPTR_MAX};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t at = m->bias + p->p_vaddr;
        if (p->p_type == PT_DYNAMIC)
            dynamic = (const void *)at;
        if (p->p_type == PT_GNU_RELRO)
            m->relro = at, m->relro_end = at + p->p_memsz;
        if (p->p_type == PT_LOAD) {
            m->begin = at < m->begin ? at : m->begin;
            m->end = at + p->p_memsz > m->end ? at + p->p_memsz : m->end;
        }
    }
    if (dynamic)
        read_dynamic(m, dynamic);
    return m->symbols && m->strings && m->gnu_hash;
}

/* DT_GNU_HASH: https://sourceware.org/gnu-gabi/program-loading-and-dynamic-linking.txt */
static bool defines(const struct image *m, const char *name)
{
    const uint32_t *h = m->gnu_hash;
    uint32_t n_buckets = h[0], first = h[1], bloom_words = h[2], hash = 5381;
    const uint32_t *buckets = h + 4 + bloom_words * (sizeof(uintptr_t) / sizeof *h);
    const uint32_t *chain = buckets + n_buckets;
    for (const char *p = name; *p; p++)
        hash = hash * 33 + (unsigned char)*p;
    uint32_t i = n_buckets ? buckets[hash % n_buckets] : 0;
    if (i < first)
        return false;
    for (;; i++) {
        uint32_t c = chain[i - first];
        if ((c | 1) == (hash | 1) && strcmp(m->strings + m->symbols[i].st_name, name) == 0)
            return true;
        if (c & 1)
            return false;
    }
}

/* The loader's lock is held, so no other thread changes the page's rights.  Of a page at the end
 * that is read-only in part the linker has protected nothing, and neither do we. */
static bool put(const struct image *m, uintptr_t *slot, uintptr_t value)
{
    uintptr_t size = (uintptr_t)sysconf(_SC_PAGESIZE), page = (uintptr_t)slot & ~(size - 1);
    bool fixed = (uintptr_t)slot >= m->relro && page + size <= m->relro_end;
    if (fixed && mprotect((void *)page, size, PROT_READ | PROT_WRITE) != 0)
        return false;
    /* relaxed: a concurrent caller calls the one or the other */
    __atomic_store_n(slot, value, __ATOMIC_RELAXED);
    if (fixed)
        (void)mprotect((void *)page, size, PROT_READ);
    return true;
}

/* --- all libraries ---------------------------------------------------------------------------- */

struct job {
    const struct import *v;
    size_t n;
    uint64_t *seen; /* NULL: put back */
    size_t changed;
};

/* Not bound yet: it leads into the library's own code, which has the linker look it up. */
static bool is_ours(const struct image *m, const struct import *i, uintptr_t now, bool back)
{
    return back ? now == (uintptr_t)i->to
                : now == (uintptr_t)i->from || (now >= m->begin && now < m->end);
}

static void look_at(struct job *job, const struct image *m, const ElfW(Rela) * r)
{
    uint32_t type = ELF64_R_TYPE(r->r_info);
    const ElfW(Sym) *symbol = &m->symbols[ELF64_R_SYM(r->r_info)];
    if ((type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) || symbol->st_shndx != SHN_UNDEF)
        return;
    const char *name = m->strings + symbol->st_name;
    uintptr_t *slot = (uintptr_t *)(m->bias + r->r_offset);
    bool back = !job->seen;
    for (size_t i = 0; i < job->n; i++) {
        const struct import *f = &job->v[i];
        if (f->from && strcmp(f->name, name) == 0 && is_ours(m, f, *slot, back))
            job->changed += put(m, slot, (uintptr_t)(back ? f->from : f->to));
    }
}

static int visit(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct job *job = arg;
    struct image m;
    (void)size;
    if (job->seen && *job->seen == info->dlpi_adds)
        return 1;
    if (!read_image(&m, info) || !defines(&m, "JNI_OnLoad") || defines(&m, "Agent_OnLoad"))
        return 0;
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; m.relocations[k] && i < m.bytes[k] / sizeof(ElfW(Rela)); i++)
            look_at(job, &m, &m.relocations[k][i]);
    return 0;
}

static int count_adds(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    *(uint64_t *)arg = info->dlpi_adds;
    return 1;
}

void imports_find(struct import *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        v[i].from = dlsym(RTLD_DEFAULT, v[i].name);
}

size_t imports_change(const struct import *v, size_t n, uint64_t *seen)
{
    struct job job = {.v = v, .n = n, .seen = seen};
    uint64_t adds = *seen;
    dl_iterate_phdr(count_adds, &adds); /* what comes behind this is seen the next time */
    if (adds == *seen)
        return 0;
    dl_iterate_phdr(visit, &job);
    *seen = adds;
    return job.changed;
}

size_t imports_restore(const struct import *v, size_t n)
{
    struct job job = {.v = v, .n = n};
    dl_iterate_phdr(visit, &job);
    return job.changed;
}
