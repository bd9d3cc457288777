/* checked.h - what the compiler's checks call in liborca.so and libasgct2.so, in place of libc's
 * functions of the same arguments (Makefile: IN_JVM).
 *
 * Libc ends the process when a write would go beyond its object.  In a JVM the write is truncated
 * instead: what fits is written, one line reports the place, and the JVM continues.  Only a stack
 * that is already overwritten ends it: its return address is lost.
 *
 * Signals: as safe as what they stand for.  Thread-safe.  errno is preserved where the function
 * does not set it. */
#ifndef ORCA_BASE_CHECKED_H
#define ORCA_BASE_CHECKED_H

#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

/* room: the bytes of the object behind `to`. */
void *checked_memcpy(void *to, const void *from, size_t n, size_t room);
void *checked_memset(void *to, int byte, size_t n, size_t room);
char *checked_strncpy(char *to, const char *from, size_t n, size_t room);
ssize_t checked_recv(int fd, void *to, size_t n, size_t room, int flags);

/* flag: libc's, to refuse %n.  The formats here are literals, as the compiler sees. */
int checked_snprintf(char *to, size_t n, int flag, size_t room, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
int checked_vsnprintf(char *to, size_t n, int flag, size_t room, const char *format, va_list ap)
    __attribute__((format(printf, 5, 0)));
int checked_fprintf(FILE *to, int flag, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* NULL and ENAMETOOLONG when `to` has no room for each name. */
char *checked_realpath(const char *name, char *to, size_t room);

/* The canary of the calling function is gone.  Traps, so that HotSpot writes its report of a crash,
 * with the function in it; abort() would not. */
_Noreturn void checked_stack(void);

#endif
