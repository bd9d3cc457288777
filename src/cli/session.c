#include "cli/session.h"

#include "base/fdio.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST = 64 << 20 }; /* bytes; a thousand JVMs write less than one megabyte */

int session_open(struct session *s, struct err *err)
{
    *s = (struct session){.fd = -1};
    const char *tmp = getenv("TMPDIR");
    if (!tmp || tmp[0] != '/' || strlen(tmp) > sizeof s->path - 64)
        tmp = "/tmp";
    snprintf(s->path, sizeof s->path, "%s/orca-session-XXXXXX", tmp);
    s->fd = mkostemp(s->path, O_CLOEXEC);
    if (s->fd < 0)
        return err_set(err, -errno,
                       "%s: cannot create: %s; set TMPDIR to a folder that is writable", s->path,
                       strerror(errno));
    return 0;
}

static bool known(const struct session *s, const char *file)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->files[i], file) == 0)
            return true;
    return false;
}

/* How many there were. */
static size_t forget(struct session *s, const char *file)
{
    size_t to = 0;
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->files[i], file) != 0)
            s->files[to++] = s->files[i];
    size_t gone = s->n - to;
    s->n = to;
    return gone;
}

static void split(struct session *s)
{
    for (char *line = s->text, *end; *line; line = end + 1) {
        end = strchr(line, '\n');
        if (!end)
            break; /* a JVM died while it wrote this */
        *end = 0;
        char *tab = strchr(line, '\t');
        if (tab && tab[1] == '-')
            s->n_removed += forget(s, tab + 2);
        else if (tab && tab[1] == '!')
            forget(s, tab + 2);
        else if (tab && tab[1] && !known(s, tab + 1))
            s->files[s->n++] = tab + 1;
    }
}

int session_read(struct session *s, struct err *err)
{
    int64_t size = fdio_size(s->fd);
    if (size < 0 || size > LONGEST)
        return err_set(err, -EIO, "%s: cannot be read", s->path);
    s->text = calloc(1, (size_t)size + 1);
    s->n = 0;
    s->files = calloc((size_t)size / 3 + 1, sizeof *s->files);
    if (!s->text || !s->files)
        return err_set(err, -ENOMEM, "out of memory");
    ssize_t got = fdio_pread_some(s->fd, s->text, (size_t)size, 0);
    if (got < 0)
        return err_set(err, (int)got, "%s: cannot be read: %s", s->path, strerror((int)-got));
    split(s);
    return 0;
}

void session_close(struct session *s)
{
    if (s->fd >= 0) {
        close(s->fd);
        unlink(s->path);
    }
    free(s->text);
    free(s->files);
    *s = (struct session){.fd = -1};
}
