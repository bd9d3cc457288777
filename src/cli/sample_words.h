/* sample_words.h - words about samples without a stack. */
#ifndef ORCA_CLI_SAMPLE_WORDS_H
#define ORCA_CLI_SAMPLE_WORDS_H

#include "base/buf.h"
#include "format/event.h"

/* Append "; without a stack 12: in Java, inconsistent frames, 3: not a Java thread"; nothing
 * where all have one.  failed: how many, by enum sample_error. */
void put_without_stack(struct buf *b, const uint64_t failed[SAMPLE_ERRORS]);

#endif
