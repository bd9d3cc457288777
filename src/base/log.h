/* log.h - one line on stderr, "orca: <text>", in a single write(2) so that lines of several threads
 * do not mix.  Used by the agent inside a foreign process and by the commands alike; keeps errno.
 *
 * Thread-safe.  Not async-signal-safe (vsnprintf). */
#ifndef ORCA_BASE_LOG_H
#define ORCA_BASE_LOG_H

#include <stdarg.h>

void log_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_vline(const char *fmt, va_list ap);

#endif
