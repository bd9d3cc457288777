/* elf_symbol.h - whether a shared library exports a symbol, without loading it.
 * Reads a file from outside: every offset is checked. */
#ifndef ORCA_CLI_ELF_SYMBOL_H
#define ORCA_CLI_ELF_SYMBOL_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

/* 1: defined among the dynamic symbols, 0: not, or a negative errno: cannot be read, no 64-bit
 * ELF. */
int elf_symbol_exported(const char *path, const char *symbol, struct err *err);

/* The same for a file that is already in memory. */
int elf_symbol_in(const uint8_t *file, size_t size, const char *symbol);

#endif
