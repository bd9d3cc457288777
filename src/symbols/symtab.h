/* symtab.h - which symbols the addresses that are asked for are in.
 *
 * First the addresses, then the symbols, in any order and from several tables; then the answers.  A
 * library has a hundred thousand symbols and a trace some ten addresses in it, so only what may
 * answer is kept and sorted.  Each address belongs to the symbol that begins nearest before it and
 * reaches over it; of several names of one place to the one that a reader knows best.  A symbol
 * without a size (assembler) reaches up to the next symbol or to the end of its section, and only
 * over what no symbol with a size covers. */
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

/* One address, and those of the symbols behind the address before that may name it. */
struct symtab_slot {
    uint64_t address;
    uint64_t covered;            /* how far those with a size reach */
    struct symtab_entry unsized; /* the last of those without; no name: none */
    const struct symtab_entry *found;
};

struct symtab {
    struct buf slots; /* struct symtab_slot [], by address */
    struct buf sized; /* struct symtab_entry []: each reaches over an address */
    size_t n;         /* symbols that were added */
};

void symtab_init(struct symtab *s);
void symtab_fini(struct symtab *s);

/* Ask for an address: in ascending order (one may come again), before the first symbol. */
void symtab_want(struct symtab *s, uint64_t address);

void symtab_add(struct symtab *s, const struct symtab_entry *e);

/* The functions in .symtab and .dynsym; names stay in `elf`, which must live as long.  What is
 * damaged is passed over; false: a table was. */
bool symtab_add_elf(struct symtab *s, Elf *elf);

/* Find the answers.  Once.  -ENOMEM. */
int symtab_build(struct symtab *s);

/* NULL: in no symbol, or not asked for. */
const struct symtab_entry *symtab_find(const struct symtab *s, uint64_t address);

#endif
