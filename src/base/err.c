#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int err_set(struct err *e, int code, const char *fmt, ...)
{
    if (e) {
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(e->msg, sizeof e->msg, fmt, ap);
        va_end(ap);
    }
    return code;
}

int err_prefix(struct err *e, int code, const char *fmt, ...)
{
    if (!e)
        return code;
    char inner[sizeof e->msg];
    memcpy(inner, e->msg, sizeof inner);
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(e->msg, sizeof e->msg, fmt, ap);
    va_end(ap);
    if (n >= 0 && (size_t)n + 2 < sizeof e->msg) {
        size_t room = sizeof e->msg - (size_t)n - 3; /* the rest of a message too long is cut */
        snprintf(e->msg + n, sizeof e->msg - (size_t)n, ": %.*s", (int)room, inner);
    }
    return code;
}
