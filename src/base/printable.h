/* printable.h - names from a trace, made fit for a terminal or for JSON.
 *
 * A name may hold anything: control characters that would move a terminal's cursor, broken UTF-8
 * that no JSON reader takes. */
#ifndef ORCA_BASE_PRINTABLE_H
#define ORCA_BASE_PRINTABLE_H

#include "base/utf8.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Valid UTF-8 with U+FFFD for what was not; at most n bytes with the NUL, cut between characters.
 */
void printable_utf8(const char *in, char *out, size_t n);

/* For a terminal: controls and, unless it shows UTF-8, everything beyond ASCII become '?'. */
void printable_text(const char *in, bool utf8, char *out, size_t n);

/* Append a name as one word of a line: blanks, controls and what changes the direction of text
 * become '_'; of nothing "-". */
void printable_word(struct buf *b, const char *text);

/* A line for a terminal, in place: harmful characters become '?'. */
void printable_line(char *text);

/* The same of a text of several lines: they stay. */
void printable_lines(char *text);

/* Write text of whatever length as printable_line has it. */
void printable_put(FILE *to, const char *text);

/* Columns that text made by printable_text takes. */
size_t printable_width(const char *text);

/* Cut text to `width` columns, with "..." in the middle: both ends of a name tell something. */
void printable_cut(char *text, size_t width);

#endif
