#include "cli/screen.h"

#include "base/fdio.h"
#include "base/printable.h"

#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static struct printable_stream shown;
static FILE *raw; /* NULL: stdout is what it was */

/* 0: it failed, and errno says why. */
static ssize_t put(void *unused, const char *text, size_t n)
{
    (void)unused;
    struct buf out;
    buf_init(&out);
    printable_feed(&shown, text, n, &out);
    int rc = out.oom ? -ENOMEM : fdio_write_all(STDOUT_FILENO, out.p, out.len);
    buf_fini(&out);
    errno = rc < 0 ? -rc : errno;
    return rc < 0 ? 0 : (ssize_t)n;
}

/* A character that was begun and not ended. */
static int close_it(void *unused)
{
    (void)unused;
    struct buf out;
    buf_init(&out);
    printable_flush(&shown, &out);
    int rc = out.oom ? -ENOMEM : fdio_write_all(STDOUT_FILENO, out.p, out.len);
    buf_fini(&out);
    return rc < 0 ? -1 : 0;
}

void screen_begin(void)
{
    FILE *f =
        raw ? NULL
            : fopencookie(NULL, "w", (cookie_io_functions_t){.write = put, .close = close_it});
    if (!f)
        return;
    fflush(stdout);
    setvbuf(f, NULL, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, 1 << 16);
    raw = stdout;
    stdout = f;
    shown.ascii = !screen_utf8();
}

bool screen_utf8(void)
{
    setlocale(LC_CTYPE, "");
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

void screen_end(void)
{
    if (!raw)
        return;
    fclose(stdout);
    stdout = raw;
    raw = NULL;
}

unsigned screen_width(void)
{
    enum { WIDTH = 100, LEAST = 60, MOST = 400 };
    const char *asked = getenv("COLUMNS");
    struct winsize size = {0};
    if (!isatty(STDOUT_FILENO))
        return WIDTH;
    unsigned long n = asked ? strtoul(asked, NULL, 10) : 0;
    if (!n && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        n = size.ws_col;
    return !n ? WIDTH : n < LEAST ? LEAST : n > MOST ? MOST : (unsigned)n;
}

void screen_json(void)
{
    shown.json = true;
    shown.ascii = false;
}

void screen_style(int style)
{
    char text[16];
    int n = snprintf(text, sizeof text, "\033[%dm", style);
    if (!raw) {
        fputs(text, stdout);
        return;
    }
    fflush(stdout);
    fdio_write_all(STDOUT_FILENO, text,
                   (size_t)n); /* what comes next fails, too, and is looked at */
}
