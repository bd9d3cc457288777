/* Functions that the checks call are not checked: each would call itself. */
#undef _FORTIFY_SOURCE

#include "base/checked.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Where the file begins in memory, by the name that the linker gives it. */
extern const char file_begin[] __asm__("__ehdr_start") __attribute__((visibility("hidden")));

static char *put_text(char *to, const char *text)
{
    while (*text)
        *to++ = *text++;
    return to;
}

static char *put_hex(char *to, uintptr_t v)
{
    int digits = 1;
    while (digits < 16 && v >> 4 * digits)
        digits++;
    while (digits-- > 0)
        *to++ = "0123456789abcdef"[v >> 4 * digits & 15];
    return to;
}

/* No printf: this may be a signal handler. */
static void tell(const char *what, const void *where, const char *then)
{
    char line[256], *end = line;
    int saved = errno;
    end = put_text(put_text(end, "orca: a bug in Orca: "), what);
    end = put_hex(put_text(end, ", at 0x"), (uintptr_t)where - (uintptr_t)file_begin);
    end = put_text(put_text(end, then), "\n");
    if (write(STDERR_FILENO, line, (size_t)(end - line)) < 0)
        errno = 0; /* no one is left to inform */
    errno = saved;
}

/* Whatever fits. Only the first cut of a process is reported: later ones would be of the same
 * mistake. */
static size_t held(size_t n, size_t room, const void *where)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    if (n <= room)
        return n;
    if (!atomic_flag_test_and_set_explicit(&told, memory_order_relaxed))
        tell("a text or a copy was truncated for lack of space", where, "; please report it");
    return room;
}

#define HELD(n, room) held(n, room, __builtin_return_address(0))

void *checked_memcpy(void *to, const void *from, size_t n, size_t room)
{
    return memcpy(to, from, HELD(n, room));
}

void *checked_memset(void *to, int byte, size_t n, size_t room)
{
    return memset(to, byte, HELD(n, room));
}

char *checked_strncpy(char *to, const char *from, size_t n, size_t room)
{
    return strncpy(to, from, HELD(n, room));
}

ssize_t checked_recv(int fd, void *to, size_t n, size_t room, int flags)
{
    return recv(fd, to, HELD(n, room), flags);
}

int checked_snprintf(char *to, size_t n, int flag, size_t room, const char *format, ...)
{
    (void)flag;
    va_list ap;
    va_start(ap, format);
    int length = vsnprintf(to, HELD(n, room), format, ap);
    va_end(ap);
    return length;
}

int checked_vsnprintf(char *to, size_t n, int flag, size_t room, const char *format, va_list ap)
{
    (void)flag;
    return vsnprintf(to, HELD(n, room), format, ap);
}

int checked_fprintf(FILE *to, int flag, const char *format, ...)
{
    (void)flag;
    va_list ap;
    va_start(ap, format);
    int length = vfprintf(to, format, ap);
    va_end(ap);
    return length;
}

char *checked_realpath(const char *name, char *to, size_t room)
{
    if (!to || HELD(PATH_MAX, room) == PATH_MAX)
        return realpath(name, to);
    errno = ENAMETOOLONG;
    return NULL;
}

void checked_stack(void)
{
    tell("a thread's stack was overwritten", __builtin_return_address(0),
         "; the process ends; please report it");
    __builtin_trap();
}
