#include "import/source.h"

#include "base/fdio.h"
#include "base/util.h"
#include "format/chunk.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPEN_FLAGS = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK };

bool source_ends_with(const char *path, const char *suffix)
{
    size_t n = strlen(path), m = strlen(suffix);
    return n >= m && strcmp(path + n - m, suffix) == 0;
}

int source_open(struct text_source *s, const char *path, struct err *err)
{
    struct stat st;
    *s = (struct text_source){NULL, -1, NULL, 0};
    int fd = open(path, OPEN_FLAGS);
    if (fd < 0)
        return err_set(err, -errno, "%s: %s", path, strerror(errno));
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return err_set(err, -EINVAL, "%s: not a regular file", path);
    }
    /* In texts there are no zeros. */
    enum { TIMES = 2 };
    int rc = fdio_check_holes(fd, TIMES, path, err);
    if (rc < 0) {
        close(fd);
        return rc;
    }
    s->name = path;
    s->fd = fd;
    return 0;
}

void source_close(const struct text_source *s)
{
    if (s->fd >= 0)
        close(s->fd);
}

static void read_head(int fd, char *out, size_t n)
{
    ssize_t got = fdio_pread_some(fd, out, n - 1, 0);
    out[got > 0 ? got : 0] = 0;
}

void source_head(const char *path, char *out, size_t n)
{
    int fd = open(path, OPEN_FLAGS);
    out[0] = 0;
    if (fd < 0)
        return;
    read_head(fd, out, n);
    close(fd);
}

int source_refuse_foreign(const struct text_source *s, const char *what, struct err *err)
{
    static const struct {
        const char *magic, *is;
        bool packed; /* what is wanted may be inside */
    } known[] = {{FILE_MAGIC, "a binary Orca trace (.otrace)", false},
                 {"<?xml", SOURCE_XML, false},
                 {"\x28\xb5\x2f\xfd", "compressed with zstd", true},
                 {"\x1f\x8b", "compressed with gzip", true}};
    char head[16];
    read_head(s->fd, head, sizeof head);
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (strncmp(head, known[i].magic, strlen(known[i].magic)) != 0 ||
            strcmp(known[i].is, what) == 0)
            continue;
        return err_set(err, -EINVAL, "%s: this is %s%s%s", s->name, known[i].is,
                       known[i].packed ? ": decompress it first" : ", not ",
                       known[i].packed ? "" : what);
    }
    return 0;
}
