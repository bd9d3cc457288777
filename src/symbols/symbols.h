/* symbols.h - names for the places in native code of a trace, found offline.
 *
 * A recording holds addresses, and of each file of native code its build id.  Here the file is
 * looked for, its symbols are read, and the places become functions: `libjvm.so!JVM_Sleep`.  A file
 * that is not the recorded one is never used.  The network is not asked.
 *
 *   symbols.c        places become functions      symtab.c     address -> symbol
 *   natives.c        the trace's stacks           plt_x86_64.c stubs, which have none
 *   symbol_source.c  module -> symbols, lines     code_lines.c DWARF: lines, inlined functions
 *   module_files.c   where its files are          kernel.c     /proc/kallsyms
 *   same_files.c     modules that are one file    demangle.c   C++, Rust
 *   elf_image.c      opening one */
#ifndef ORCA_SYMBOLS_SYMBOLS_H
#define ORCA_SYMBOLS_SYMBOLS_H

#include "format/trace.h"

/* Where to look.  All are borrowed. */
struct symbols_options {
    const char *dirs;         /* of debug files, joined by ':' (ORCA_SYMBOLS); "" for none */
    const char *debug_root;   /* ORCA_DEBUG_ROOT, or /usr/lib/debug */
    const char *kallsyms;     /* /proc/kallsyms */
    const char *kernel_notes; /* /sys/kernel/notes */
    uint64_t most;            /* symbols to be read for any trace; one more for each of its bytes */
};

struct symbols_options symbols_options_default(void);

enum symbols_state {
    SYMBOLS_WHOLE,    /* the file's own table of symbols */
    SYMBOLS_EXPORTED, /* only what the file exports: other functions have no name */
    SYMBOLS_NONE,
};

/* What came of a module that stacks name. */
struct symbols_module {
    const struct trace_module *module;
    enum symbols_state state;
    uint32_t places, named; /* addresses met; of these, those in a known function */
    bool lines;             /* source lines, too */
    const char *from;       /* the file that the names are from, "" for none */
    const char *why;        /* in plain words what is missing, "" for nothing */
    const char *remedy;     /* what to do about it, "" for nothing */
    bool worth_a_line;      /* `why` is of a file that is there and cannot be used */
};

struct symbols_summary {
    const struct symbols_module *modules; /* [n], most places first */
    size_t n;
    uint32_t nowhere; /* addresses in no file */
};

/* Give names to the native code in t's stacks.  After it
 *   - a method of native code is a function: its name, its address that of its first byte;
 *   - all frames in one function name one method; a frame's bci is its source line or -1;
 *   - functions that the compiler inlined have frames of their own;
 *   - methods that no frame names any longer are gone.
 * What is not found keeps an empty name (trace_method_text).  A trace without native code is left
 * as it is, without any file being opened.
 * For a whole trace, before anybody else reads its stacks; not for one that is followed.
 * *out (may be NULL) lives as long as the trace.  -ENOMEM. */
int symbols_resolve(struct trace *t, const struct symbols_options *o, struct symbols_summary *out,
                    struct err *err);

#endif
