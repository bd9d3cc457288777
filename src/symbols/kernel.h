/* kernel.h - the functions of the running kernel and its modules, from /proc/kallsyms.
 *
 * The addresses count for this boot only: the kernel chooses new ones each time. */
#ifndef ORCA_SYMBOLS_KERNEL_H
#define ORCA_SYMBOLS_KERNEL_H

#include "base/arena.h"
#include "symbols/symbols.h"
#include "symbols/symtab.h"

/* Add them to s, names in `names`.  -ENOENT: they cannot be had or are another kernel's, err says
 * why; -ENOMEM. */
int kernel_add(struct symtab *s, struct arena *names, const struct trace *t,
               const struct trace_module *m, const struct symbols_options *o, struct err *err);

#endif
