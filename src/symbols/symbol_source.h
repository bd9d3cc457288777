/* symbol_source.h - where the names of one module's code come from: its files or the kernel's
 * list. */
#ifndef ORCA_SYMBOLS_SYMBOL_SOURCE_H
#define ORCA_SYMBOLS_SYMBOL_SOURCE_H

#include "symbols/code_lines.h"
#include "symbols/module_files.h"
#include "symbols/symtab.h"

struct symbol_source {
    struct module_files files;
    struct elf_image inner; /* .gnu_debugdata */
    struct symtab symtab;
    struct code_lines lines;
    struct arena names; /* of the kernel's */
};

/* Empty; from now on s->symtab learns which addresses will be asked for. */
void symbol_source_init(struct symbol_source *s);

/* Open what there is of out->module, and say in *out what came of it (texts in t's arena).  Where
 * nothing is found the source answers nothing.  -ENOMEM. */
int symbol_source_open(struct symbol_source *s, struct trace *t, const struct symbols_options *o,
                       struct symbols_module *out, struct err *err);
/* The same of nothing: no symbol is known, for that reason. */
int symbol_source_none(struct trace *t, struct symbols_module *out, const char *why);

void symbol_source_close(struct symbol_source *s);

#endif
