/* printable.h - names from a trace, made fit for a terminal or for JSON.
 *
 * A name may hold anything: control characters that would move a terminal's cursor, others that
 * turn the text around them, broken UTF-8 that no JSON reader takes.  All output of commands goes
 * through struct printable_stream (cli/screen.h, export/out.c). */
#ifndef ORCA_BASE_PRINTABLE_H
#define ORCA_BASE_PRINTABLE_H

#include "base/utf8.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* C0 and C1 controls, DEL, what changes the direction of text (Bidi_Control) or its lines,
 * characters that cannot be seen (formats, tags, variation selectors of no glyph), and UINT32_MAX:
 * no UTF-8. */
bool printable_is_harmful(uint32_t c);

/* Valid UTF-8 with U+FFFD for what was not; at most n bytes with the NUL, cut between
 * characters. */
void printable_utf8(const char *in, char *out, size_t n);

/* For a terminal: controls and, unless it shows UTF-8, everything beyond ASCII become '?', but µ
 * an u. */
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

/* Text in pieces, cut anywhere: harmful characters but line breaks become '?', or in JSON, where
 * they are in strings, \\uXXXX. */
struct printable_stream {
    bool json;
    bool ascii;  /* the terminal does not show UTF-8: µs is printed as us */
    char cut[4]; /* the beginning of a character */
    size_t n_cut;
};
void printable_feed(struct printable_stream *s, const char *text, size_t n, struct buf *out);
void printable_flush(struct printable_stream *s, struct buf *out); /* nothing comes behind */

/* Columns that text made by printable_text takes. */
size_t printable_width(const char *text);

/* Cut text to `width` columns, with "..." in the middle: both ends of a name are informative. */
void printable_cut(char *text, size_t width);

#endif
