/* code_lines.h - source lines and inlined functions of addresses, from a file's DWARF (libdw).
 *
 * Nothing is looked for elsewhere: no debuginfod, no search by libdwfl.  What DWARF says is
 * believed as far as it goes; where it contradicts itself an address has no line. */
#ifndef ORCA_SYMBOLS_CODE_LINES_H
#define ORCA_SYMBOLS_CODE_LINES_H

#include "symbols/elf_image.h"

#include <elfutils/libdw.h>

enum { CODE_LINES_DEPTH = 32 }; /* inlined into each other; deeper ones are left out */

struct code_lines_range;

struct code_lines {
    Dwarf *dwarf; /* NULL: the file has none */
    struct code_lines_range *units;
    struct code_lines_range *functions; /* of one unit */
    size_t n_units, n_functions, unit_of_functions;
};

/* What an address is in, innermost first; the last one is the function itself. */
struct code_lines_place {
    const char *name;   /* of an inlined function, as the linker would call it; NULL: the last */
    const char *source; /* file without its folders, or "" */
    uint32_t line;      /* 0: not known */
};

/* Without DWARF in the file `lines` answers nothing.  -ENOMEM. */
int code_lines_open(struct code_lines *l, const struct elf_image *f);
void code_lines_close(struct code_lines *l);

/* How many places; 0: nothing is known of the address.  Texts live until code_lines_close. */
size_t code_lines_find(struct code_lines *l, uint64_t address,
                       struct code_lines_place out[CODE_LINES_DEPTH]);

#endif
