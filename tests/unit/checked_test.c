#include "base/checked.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* From here on stderr is this. */
static int stderr_kept(void)
{
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
    close(ends[1]);
    return ends[0];
}

static void read_told(int from, char *line, size_t size)
{
    close(STDERR_FILENO);
    ssize_t n = read(from, line, size - 1);
    cr_assert_geq(n, 0);
    line[n] = 0;
    close(from);
}

/* 16 bytes that are written to, and 16 that are another's. */
struct beside {
    char own[16], other[16];
};

static struct beside beside(void)
{
    struct beside b;
    memset(&b, 'x', sizeof b);
    return b;
}

static void cr_assert_other_kept(const struct beside *b)
{
    for (size_t i = 0; i < sizeof b->other; i++)
        cr_assert_eq(b->other[i], 'x');
}

static int said(char *to, size_t n, size_t room, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    int length = checked_vsnprintf(to, n, 1, room, format, ap);
    va_end(ap);
    return length;
}

Test(checked, what_fits_is_as_without_a_check)
{
    char line[256];
    int from = stderr_kept();
    struct beside b = beside();
    cr_assert_eq(checked_memcpy(b.own, "0123456789abcdef", 16, 16), b.own);
    cr_assert_eq(memcmp(b.own, "0123456789abcdef", 16), 0);
    cr_assert_eq(checked_memset(b.own, '-', 15, 16), b.own);
    cr_assert_eq(memcmp(b.own, "---------------f", 16), 0);
    cr_assert_eq(checked_strncpy(b.own, "short", 16, 16), b.own);
    cr_assert_eq(memcmp(b.own, "short\0\0\0\0\0\0\0\0\0\0", 16), 0);
    cr_assert_eq(checked_snprintf(b.own, 16, 1, 16, "%d %s", 4711, "threads"), 12);
    cr_assert_str_eq(b.own, "4711 threads");
    cr_assert_eq(said(b.own, 16, 16, "%s", "the whole of a long text"), 24, "cut as asked for");
    cr_assert_str_eq(b.own, "the whole of a ");
    char name[PATH_MAX];
    cr_assert_eq(checked_realpath("/proc/..", name, sizeof name), name);
    cr_assert_str_eq(name, "/");
    char *made = checked_realpath("/", NULL, SIZE_MAX);
    cr_assert_str_eq(made, "/");
    free(made);
    cr_assert_other_kept(&b);
    read_told(from, line, sizeof line);
    cr_assert_str_eq(line, "");
}

Test(checked, what_does_not_fit_is_cut_and_told_once)
{
    char line[256];
    int from = stderr_kept(), ends[2];
    struct beside b = beside();
    errno = EXDEV;
    cr_assert_eq(checked_memcpy(b.own, "0123456789abcdef0123456789", 26, 16), b.own);
    cr_assert_eq(memcmp(b.own, "0123456789abcdef", 16), 0);
    cr_assert_eq(errno, EXDEV);
    cr_assert_eq(checked_memset(b.own, '-', 17, 16), b.own);
    cr_assert_eq(memcmp(b.own, "----------------", 16), 0);
    cr_assert_eq(checked_strncpy(b.own, "more than sixteen", 32, 16), b.own);
    cr_assert_eq(memcmp(b.own, "more than sixtee", 16), 0);
    cr_assert_eq(checked_snprintf(b.own, 32, 1, 16, "%s", "more than sixteen characters"), 28);
    cr_assert_str_eq(b.own, "more than sixte");
    cr_assert_eq(said(b.own, 32, 16, "%s", "again more than sixteen"), 23);
    cr_assert_str_eq(b.own, "again more than");
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    cr_assert_eq(write(ends[1], "0123456789abcdef0123", 20), 20);
    cr_assert_eq(checked_recv(ends[0], b.own, 20, 16, 0), 16);
    errno = 0;
    cr_assert_eq(checked_realpath("/", b.own, 16), NULL);
    cr_assert_eq(errno, ENAMETOOLONG);
    cr_assert_other_kept(&b);
    read_told(from, line, sizeof line);
    const char *begin =
        "orca: a bug in Orca: a text or a copy was truncated for lack of space, at 0x";
    cr_assert_eq(strncmp(line, begin, strlen(begin)), 0, "%s", line);
    cr_assert_eq(strchr(line, '\n'), line + strlen(line) - 1, "one line: %s", line);
}

/* Not abort(), of which HotSpot writes no report. */
Test(checked, an_overwritten_stack_traps, .signal = SIGILL)
{
    checked_stack();
}
