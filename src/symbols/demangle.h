/* demangle.h - linker symbols as their language writes them: C++ (Itanium), Rust (legacy and v0).
 *
 * A symbol comes from a file of somebody else's.  The demanglers of libiberty write through a
 * callback, which is left as soon as the text is longer than DEMANGLE_MAX: a short symbol can be
 * the abbreviation of a text that no memory holds. */
#ifndef ORCA_SYMBOLS_DEMANGLE_H
#define ORCA_SYMBOLS_DEMANGLE_H

#include "base/buf.h"

enum {
    DEMANGLE_MAX = 4096,       /* bytes of text; what is longer is cut */
    DEMANGLE_SYMBOL_MAX = 8192 /* a longer symbol stays what it is, cut to DEMANGLE_MAX */
};

/* Append "os::elapsed_counter" for "_ZN2os15elapsed_counterEv", with `parameters`
 * "os::elapsed_counter()"; of Rust's names the hash is left out.  Any other name is appended as it
 * is, all without a version ("@GLIBC_2.2.5"). */
void demangle(const char *symbol, bool parameters, struct buf *out);

#endif
