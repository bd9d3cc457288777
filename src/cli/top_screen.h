/* top_screen.h - orca top on a terminal. */
#ifndef ORCA_CLI_TOP_SCREEN_H
#define ORCA_CLI_TOP_SCREEN_H

#include "cli/top_text.h"

#include <signal.h>

/* Show pictures until q, until *stop is set by a signal, or until the terminal is gone, and leave
 * the terminal as it was.  `first`: ns to wait for the first picture. */
int top_screen_run(struct top_view *v, uint64_t first, const volatile sig_atomic_t *stop,
                   struct err *err);

#endif
