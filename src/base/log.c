#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void log_vline(const char *fmt, va_list ap)
{
    int saved = errno;
    char line[1024] = "orca: ";
    int n = vsnprintf(line + 6, sizeof line - 7, fmt, ap);
    if (n < 0)
        n = 0;
    size_t len = 6 + ((size_t)n < sizeof line - 8 ? (size_t)n : sizeof line - 8);
    line[len++] = '\n';
    if (write(STDERR_FILENO, line, len) < 0)
        errno = 0; /* nobody is left to tell */
    errno = saved;
}

void log_line(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    log_vline(fmt, ap);
    va_end(ap);
}
