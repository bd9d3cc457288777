#include "base/log.h"

#include "base/printable.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void log_vline(const char *fmt, va_list ap)
{
    int saved = errno;
    char line[1024] = "orca: ";
    if (vsnprintf(line + 6, sizeof line - 7, fmt, ap) < 0)
        line[6] = 0;
    printable_line(line + 6); /* names of files and what others said may hold anything */
    size_t len = strlen(line);
    line[len++] = '\n';
    if (write(STDERR_FILENO, line, len) < 0)
        errno = 0; /* no one is left to inform */
    errno = saved;
}

void log_line(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    log_vline(fmt, ap);
    va_end(ap);
}
