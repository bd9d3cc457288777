#include "export/out.h"

#include "base/fdio.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *joined(const char *a, const char *b, const char *c)
{
    size_t n = strlen(a) + strlen(b) + strlen(c) + 1;
    char *s = malloc(n);
    if (s)
        snprintf(s, n, "%s%s%s", a, b, c);
    return s;
}

static void release(struct out *o)
{
    free(o->path);
    free(o->temp);
    free(o->buf);
    memset(o, 0, sizeof *o);
    o->fd = -1;
}

/* Nothing but a file is replaced - no folder, and no device or pipe either, which could be; better
 * known now than after everything was written. */
static int check_replaceable(const char *path, struct err *err)
{
    struct stat st;
    if (stat(path, &st) < 0 || S_ISREG(st.st_mode))
        return 0;
    if (S_ISDIR(st.st_mode))
        return err_set(err, -EISDIR, "%s: cannot create: %s", path, strerror(EISDIR));
    return err_set(err, -EEXIST, "%s: not a file that can be replaced; name another one", path);
}

static int create(struct out *o, struct err *err)
{
    TRY(check_replaceable(o->path, err));
    o->fd = mkostemp(o->temp, O_CLOEXEC);
    return o->fd >= 0 ? 0 : err_set(err, -errno, "%s: cannot create: %s", o->path, strerror(errno));
}

int out_open(struct out *o, const char *prefix, const char *suffix, struct err *err)
{
    memset(o, 0, sizeof *o);
    o->fd = -1;
    o->path = joined(prefix, suffix, "");
    o->temp = joined(prefix, suffix, ".tmp-XXXXXX");
    o->buf = malloc(OUT_BUFFER);
    int rc = 0;
    if (!o->path || !o->temp || !o->buf)
        rc = err_set(err, -ENOMEM, "%s%s: out of memory", prefix, suffix);
    else
        rc = create(o, err);
    if (rc < 0)
        release(o);
    return rc;
}

int out_create(struct out *o, const char *path, struct err *err)
{
    memset(o, 0, sizeof *o);
    o->path = joined(path, "", "");
    o->temp = joined(path, "", "");
    o->buf = malloc(OUT_BUFFER);
    o->fd = o->path && o->temp && o->buf ? fdio_open_private(path, O_CREAT | O_EXCL, err)
                                         : err_set(err, -ENOMEM, "%s: out of memory", path);
    int rc = o->fd < 0 ? o->fd : 0;
    if (rc < 0)
        release(o);
    return rc;
}

int out_open_stdout(struct out *o, struct err *err)
{
    memset(o, 0, sizeof *o);
    o->path = joined("the standard output", "", "");
    o->buf = malloc(OUT_BUFFER);
    o->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    int rc = 0;
    if (!o->path || !o->buf)
        rc = err_set(err, -ENOMEM, "out of memory");
    else if (o->fd < 0)
        rc = err_set(err, -errno, "%s: cannot write: %s", o->path, strerror(errno));
    o->shown = rc == 0 && isatty(o->fd);
    if (rc < 0 && o->fd >= 0)
        close(o->fd);
    if (rc < 0)
        release(o);
    return rc;
}

/* last: nothing comes behind. */
static int show(struct out *o, bool last)
{
    struct buf text;
    buf_init(&text);
    printable_feed(&o->screen, (const char *)o->buf, o->len, &text);
    if (last)
        printable_flush(&o->screen, &text);
    int rc = text.oom ? -ENOMEM : fdio_write_all(o->fd, text.p, text.len);
    buf_fini(&text);
    return rc;
}

static void write_out(struct out *o, bool last)
{
    if (o->rc == 0)
        o->rc = o->shown ? show(o, last) : fdio_write_all(o->fd, o->buf, o->len);
    o->len = 0;
}

void out_flush(struct out *o)
{
    write_out(o, false);
}

int out_finish(struct out *o, struct err *err)
{
    write_out(o, true);
    /* Some file systems (NFS, quotas) say only now that there was no room. */
    if (close(o->fd) < 0 && o->rc == 0)
        o->rc = -errno;
    o->fd = -1;
    return o->rc < 0 ? err_set(err, o->rc, "%s: cannot write: %s", o->path, strerror(-o->rc)) : 0;
}

int out_publish(struct out *o, struct err *err)
{
    if (o->temp && rename(o->temp, o->path) < 0)
        return err_set(err, -errno, "%s: cannot replace: %s", o->path, strerror(errno));
    release(o);
    return 0;
}

void out_withdraw(struct out *o)
{
    unlink(o->temp);
    unlink(o->path);
    release(o);
}

void out_discard(struct out *o)
{
    if (!o->path)
        return;
    if (o->fd >= 0)
        close(o->fd);
    if (o->temp)
        unlink(o->temp);
    release(o);
}

/* --- text and numbers ------------------------------------------------------------------------- */

void out_bytes(struct out *o, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    while (n > 0) {
        size_t part = n < OUT_BUFFER ? n : OUT_BUFFER;
        memcpy(out_room(o, part), p, part);
        o->len += part;
        p += part;
        n -= part;
    }
}

void out_text(struct out *o, const char *s)
{
    out_bytes(o, s, strlen(s));
}

void out_text_without(struct out *o, const char *s, const char *reserved)
{
    for (;;) {
        size_t n = strcspn(s, reserved), line = strcspn(s, "\r\n");
        n = line < n ? line : n;
        out_bytes(o, s, n);
        s += n;
        if (!*s++)
            return;
        out_char(o, '_');
    }
}

/* `v` at p with at least `width` digits; returns how many. */
static size_t put_decimal(uint8_t *p, uint64_t v, size_t width)
{
    uint8_t reversed[20];
    size_t n = 0;
    do
        reversed[n++] = (uint8_t)('0' + v % 10);
    while ((v /= 10) || n < width);
    for (size_t i = 0; i < n; i++)
        p[i] = reversed[n - 1 - i];
    return n;
}

void out_decimal(struct out *o, uint64_t v)
{
    o->len += put_decimal(out_room(o, 20), v, 1);
}

void out_seconds_9(struct out *o, uint64_t ns)
{
    uint8_t *p = out_room(o, 40);
    size_t n = put_decimal(p, ns / 1000000000u, 1);
    p[n++] = '.';
    n += put_decimal(p + n, ns % 1000000000u, 9);
    o->len += n;
}

void out_seconds(struct out *o, uint64_t ns)
{
    out_seconds_9(o, ns);
    out_char(o, '0');
}
