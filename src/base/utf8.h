/* utf8.h - reading text that should be UTF-8 and may be anything.  Thread-safe. */
#ifndef ORCA_BASE_UTF8_H
#define ORCA_BASE_UTF8_H

#include "base/buf.h"

#include <stdint.h>

/* The replacement for bytes that are not text: U+FFFD. */
#define UTF8_REPLACEMENT "\xef\xbf\xbd"

/* The character at *p, which is moved behind it; UINT32_MAX for bytes that are not UTF-8 (one is
 * skipped), 0 at the end of the text. */
uint32_t utf8_next(const char **p);

/* Append the text with a replacement for each byte that is not UTF-8. */
void utf8_put(struct buf *b, const char *text);

#endif
