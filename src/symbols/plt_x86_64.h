/* plt_x86_64.h - names for the stubs of a procedure linkage table, which no symbol table has.
 *
 * A stub jumps through a word that the dynamic linker fills; the relocation of that word names the
 * function.  Written for x86-64: of other files nothing is added. */
#ifndef ORCA_SYMBOLS_PLT_X86_64_H
#define ORCA_SYMBOLS_PLT_X86_64_H

#include "symbols/elf_image.h"
#include "symbols/symtab.h"

/* Names stay in the file.  -ENOMEM. */
int plt_add(struct symtab *s, const struct elf_image *f);

#endif
