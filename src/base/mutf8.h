/* mutf8.h - the JVM's modified UTF-8 (class files, JVMTI names) as real UTF-8.
 *
 * The two differ in NUL (C0 80) and in characters beyond U+FFFF (two surrogates of three bytes
 * each). */
#ifndef ORCA_BASE_MUTF8_H
#define ORCA_BASE_MUTF8_H

#include <stddef.h>

/* Convert the C string `in` in place; the result is never longer.  A NUL character becomes U+FFFD's
 * stand-in '?', a lone surrogate or a broken sequence as well.  Returns the new length. */
size_t mutf8_to_utf8(char *in);

#endif
