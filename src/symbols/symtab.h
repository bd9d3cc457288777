/* symtab.h - which symbol an address is in.
 *
 * Symbols are added in any order, from several tables; building makes of them ranges that do not
 * overlap, in the order of addresses.  Each address belongs to the symbol that begins nearest
 * before it and reaches over it; of several names of one range to the one that a reader knows best.
 * A symbol without a size (assembler) reaches up to the next symbol or to the end of its section,
 * and only over what no symbol with a size covers. */
#ifndef ORCA_SYMBOLS_SYMTAB_H
#define ORCA_SYMBOLS_SYMTAB_H

#include "base/buf.h"

#include <libelf.h>

enum symtab_rank { SYMTAB_LOCAL, SYMTAB_GLOBAL }; /* ascending: better known */

struct symtab_entry {
    uint64_t begin, end; /* end: of the section where `sized` is false */
    const char *name;    /* borrowed */
    bool sized;
    bool plt; /* the stub through which other code of the file calls `name` */
    uint8_t rank;
};

struct symtab_range {
    uint64_t begin, end;
    const struct symtab_entry *symbol;
};

struct symtab {
    struct buf added; /* struct symtab_entry [] */
    struct symtab_entry *entries;
    struct symtab_range *ranges;
    size_t n_entries, n;
};

void symtab_init(struct symtab *s);
void symtab_fini(struct symtab *s);

void symtab_add(struct symtab *s, const struct symtab_entry *e);

/* The functions in .symtab and .dynsym; names stay in `elf`, which must live as long.  What is
 * damaged is passed over; false: a table was. */
bool symtab_add_elf(struct symtab *s, Elf *elf);

/* Make the ranges of what was added.  Once.  -ENOMEM. */
int symtab_build(struct symtab *s);

/* NULL: in no symbol. */
const struct symtab_range *symtab_find(const struct symtab *s, uint64_t address);

#endif
