#include "heap/hprof_file.h"

#include "base/fdio.h"
#include "base/util.h"
#include "heap/inflated.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct hprof_file {
    int fd;
    char *path;
    uint64_t size, disk_size;
    struct inflated *inflated; /* NULL: not compressed */
    bool is_xml;               /* until hprof_file_replace */
    bool stated;               /* it was */
};

struct hprof_cursor {
    struct hprof_file *file;
    struct inflated_cursor *inflated;
};

static int open_fd(struct hprof_file *f, struct err *err)
{
    struct stat st;
    f->fd = open(f->path, O_RDONLY | O_CLOEXEC);
    if (f->fd < 0)
        return err_set(err, -errno, "%s: %s", f->path, strerror(errno));
    if (fstat(f->fd, &st) < 0)
        return err_set(err, -errno, "%s: %s", f->path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return err_set(err, -EINVAL,
                       "%s: not a regular file; a heap dump is read more than once, so copy it to "
                       "a file first",
                       f->path);
    f->size = f->disk_size = (uint64_t)st.st_size;
    /* Holes count as what gzip could have made of nothing. */
    enum { GZIP_TIMES = 1032 };
    return fdio_check_holes(f->fd, GZIP_TIMES, f->path, err);
}

/* In XML the first elements may be far from the beginning. */
static int look_for_xml(struct hprof_file *f)
{
    uint8_t *begin = malloc(XML_LOOK);
    ssize_t n = begin ? fdio_pread_some(f->fd, begin, XML_LOOK, 0) : -ENOMEM;
    f->is_xml = n > 0 && xml_dump_is(begin, (size_t)n);
    free(begin);
    return n < 0 ? (int)n : 0;
}

static int look(struct hprof_file *f, struct err *err)
{
    uint8_t magic[2] = {0};
    ssize_t n = fdio_pread_some(f->fd, magic, sizeof magic, 0);
    if (n >= 0 && magic[0] != 'J' && magic[0] != 0x1f)
        n = look_for_xml(f);
    if (n < 0)
        return err_set(err, (int)n, "%s: %s", f->path, strerror((int)-n));
    if (magic[0] != 0x1f || magic[1] != 0x8b)
        return 0;
    f->inflated = inflated_new(f->fd, f->size);
    return f->inflated ? 0 : err_set(err, -ENOMEM, "%s: out of memory", f->path);
}

int hprof_file_open(struct hprof_file **out, const char *path, struct err *err)
{
    struct hprof_file *f = calloc(1, sizeof *f);
    if (!f)
        return err_set(err, -ENOMEM, "%s: out of memory", path);
    f->fd = -1;
    f->path = strdup(path);
    int rc = f->path ? open_fd(f, err) : err_set(err, -ENOMEM, "%s: out of memory", path);
    if (rc == 0)
        rc = look(f, err);
    if (rc < 0) {
        hprof_file_close(f);
        return rc;
    }
    *out = f;
    return 0;
}

void hprof_file_close(struct hprof_file *f)
{
    if (!f)
        return;
    inflated_free(f->inflated);
    if (f->fd >= 0)
        close(f->fd);
    free(f->path);
    free(f);
}

const char *hprof_file_path(const struct hprof_file *f)
{
    return f->path;
}

bool hprof_file_compressed(const struct hprof_file *f)
{
    return f->inflated != NULL;
}

uint64_t hprof_file_disk_size(const struct hprof_file *f)
{
    return f->disk_size;
}

bool hprof_file_is_xml(const struct hprof_file *f)
{
    return f->is_xml;
}

bool hprof_file_stated(const struct hprof_file *f)
{
    return f->stated;
}

int hprof_file_convert(struct hprof_file *f, struct xml_dump *out, xml_progress_fn progress,
                       void *ctx, struct err *err)
{
    TRY(xml_dump_convert(out, f->fd, f->path, progress, ctx, err));
    close(f->fd);
    f->fd = out->fd;
    f->is_xml = false;
    f->stated = true;
    int64_t size = fdio_size(f->fd);
    f->size = size > 0 ? (uint64_t)size : 0;
    return size < 0 ? err_set(err, (int)size, "%s: %s", f->path, strerror((int)-size)) : 0;
}

uint64_t hprof_file_size(const struct hprof_file *f)
{
    return f->inflated ? inflated_size(f->inflated) : f->size;
}

const char *hprof_file_damage(const struct hprof_file *f)
{
    return f->inflated ? inflated_damage(f->inflated) : "";
}

struct hprof_cursor *hprof_cursor_new(struct hprof_file *f)
{
    struct hprof_cursor *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->file = f;
    if (f->inflated) {
        c->inflated = inflated_cursor_new(f->inflated);
        if (!c->inflated) {
            free(c);
            return NULL;
        }
    }
    return c;
}

void hprof_cursor_free(struct hprof_cursor *c)
{
    if (!c)
        return;
    inflated_cursor_free(c->inflated);
    free(c);
}

ssize_t hprof_cursor_read(struct hprof_cursor *c, uint64_t offset, void *p, size_t n)
{
    if (c->inflated)
        return inflated_read(c->inflated, offset, p, n);
    return fdio_pread_some(c->file->fd, p, n, offset);
}
