/* elf_image.h - an ELF file, or what of one is in memory, open for reading its tables.
 *
 * Files are read, not mapped: one that is cut while it is read gives an error and no SIGBUS.  Only
 * the tables that are asked for are read. */
#ifndef ORCA_SYMBOLS_ELF_IMAGE_H
#define ORCA_SYMBOLS_ELF_IMAGE_H

#include "base/err.h"

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BUILD_ID_TEXT = 2 * 64 + 1 }; /* GNU ld writes 20 bytes, others 8, 16 or 32 */

struct elf_image {
    Elf *elf; /* NULL: not open */
    int fd;
    void *memory;                 /* owned; NULL: a file */
    char build_id[BUILD_ID_TEXT]; /* lower-case hexadecimal, "" for none */
    uint64_t size;
};

/* Errors name the file: -ENOENT and others of open(2); -EINVAL: no 64-bit ELF file. */
int elf_image_open(struct elf_image *f, const char *path, struct err *err);

/* From memory (malloc'ed), which elf_image_close frees; also on failure.  `name`: for messages. */
int elf_image_take(struct elf_image *f, void *memory, size_t n, const char *name, struct err *err);

/* What is inside .gnu_debugdata, the symbols that a distribution leaves in a stripped file.
 * -ENOENT: there is none. */
int elf_image_open_inner(struct elf_image *inner, const struct elf_image *f, struct err *err);

void elf_image_close(struct elf_image *f);

/* The section of a name into *header, or NULL. */
Elf_Scn *elf_image_section(const struct elf_image *f, const char *name, GElf_Shdr *header);

#endif
