/* suspect_words.h - what heap/suspects.h has found, in sentences: for the terminal and for the
 * page. */
#ifndef ORCA_HEAP_SUSPECT_WORDS_H
#define ORCA_HEAP_SUSPECT_WORDS_H

#include "heap/suspects.h"

/* Append what one suspect is, which share of what is alive it keeps, and what has come together
 * there.  Names are as in the dump: the code that shows the text makes them printable. */
void suspect_words_put(const struct suspect *x, const struct retained *r,
                       struct object_reader *reader, struct buf *b);

#endif
