/* screen.h - the standard output of every command: nothing that a name brings reaches a terminal
 * raw.
 *
 * From screen_begin on `stdout` is a stream that makes all text fit (base/printable.h), whichever
 * printf it comes from; so it is also where the output goes into a file or a pipe, which may be
 * shown later.  What must not be changed goes by another way: files that are exports
 * (export/out.h), and orca top's screen. */
#ifndef ORCA_CLI_SCREEN_H
#define ORCA_CLI_SCREEN_H

#include <stdbool.h>

void screen_begin(void);

/* Whether the terminal shows UTF-8, by the locale. */
bool screen_utf8(void);

/* What is printed is JSON: what does not fit is written as \\uXXXX, so that nothing is lost. */
void screen_json(void);

/* Begin a style that a page is printed in; 0: end it.  ESC by itself would not get through. */
enum { SCREEN_BOLD = 1, SCREEN_DIM = 2, SCREEN_RED = 31, SCREEN_YELLOW = 33 };
void screen_style(int style);

/* Columns of the terminal that stdout is, at least 60; 100 where it is none. */
unsigned screen_width(void);

/* As it was, for who draws on the terminal. */
void screen_end(void);

#endif
