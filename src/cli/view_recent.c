#include "cli/view_recent.h"

#include "base/fdio.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LONGEST = RECENT_MAX * PATH_MAX };

/* --- the list --------------------------------------------------------------------------------- */

void recent_fini(struct recent *r)
{
    for (size_t i = 0; i < r->n; i++)
        free(r->v[i]);
    r->n = 0;
}

static bool is_path(const char *line, size_t n)
{
    if (n < 2 || n >= PATH_MAX || line[0] != '/')
        return false;
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
            return false;
    return true;
}

static bool has(const struct recent *r, const char *line, size_t n)
{
    for (size_t i = 0; i < r->n; i++)
        if (strlen(r->v[i]) == n && memcmp(r->v[i], line, n) == 0)
            return true;
    return false;
}

void recent_parse(struct recent *r, const char *text, size_t n)
{
    for (const char *end = text + n; text < end && r->n < RECENT_MAX;) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        if (!stop)
            break; /* cut: who knows where */
        size_t len = (size_t)(stop - text);
        char *path = is_path(text, len) && !has(r, text, len) ? strndup(text, len) : NULL;
        if (path)
            r->v[r->n++] = path;
        text = stop + 1;
    }
}

void recent_add(struct recent *r, const char *path)
{
    size_t at = 0;
    char *mine = is_path(path, strlen(path)) ? strdup(path) : NULL;
    if (!mine)
        return;
    while (at < r->n && strcmp(r->v[at], path) != 0)
        at++;
    if (at == RECENT_MAX)
        at--;
    if (at < r->n)
        free(r->v[at]);
    else
        r->n++;
    for (size_t i = at; i > 0; i--)
        r->v[i] = r->v[i - 1];
    r->v[0] = mine;
}

void recent_put(const struct recent *r, struct buf *out)
{
    for (size_t i = 0; i < r->n; i++)
        buf_printf(out, "%s\n", r->v[i]);
}

/* --- its file --------------------------------------------------------------------------------- */

/* The specification has relative ones ignored. */
static const char *folder_of(const char *variable)
{
    const char *v = getenv(variable);
    return v && v[0] == '/' ? v : NULL;
}

bool recent_place(char *out, size_t n)
{
    const char *state = folder_of("XDG_STATE_HOME"), *home = folder_of("HOME");
    int len = state  ? snprintf(out, n, "%s/orca/recent", state)
              : home ? snprintf(out, n, "%s/.local/state/orca/recent", home)
                     : -1;
    return len > 0 && (size_t)len < n;
}

void recent_load(struct recent *r)
{
    char path[PATH_MAX];
    *r = (struct recent){.n = 0};
    char *text = recent_place(path, sizeof path) ? malloc(LONGEST) : NULL;
    int fd = text ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    ssize_t n = fd >= 0 ? fdio_read_some(fd, text, LONGEST) : 0;
    if (n > 0)
        recent_parse(r, text, (size_t)n);
    if (fd >= 0)
        close(fd);
    free(text);
}

/* The folders of a file, each 0700 when it is made. */
static void make_folders(char *path)
{
    for (char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
        *p = 0;
        mkdir(path, 0700);
        *p = '/';
    }
}

/* Whole or not at all: a new file takes the old one's place. */
static void store(char *path, const struct buf *text)
{
    char other[PATH_MAX + 8];
    snprintf(other, sizeof other, "%s.XXXXXX", path);
    make_folders(path);
    int fd = mkostemp(other, O_CLOEXEC); /* 0600 */
    if (fd < 0)
        return;
    bool ok = fdio_write_all(fd, text->p, text->len) == 0;
    if (close(fd) < 0 || !ok || rename(other, path) < 0)
        unlink(other);
}

void recent_note(const char *path)
{
    struct recent r;
    struct buf text;
    char place[PATH_MAX];
    if (!recent_place(place, sizeof place))
        return;
    recent_load(&r);
    recent_add(&r, path);
    buf_init(&text);
    recent_put(&r, &text);
    if (text.len && !text.oom)
        store(place, &text);
    buf_fini(&text);
    recent_fini(&r);
}
