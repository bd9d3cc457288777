#include "base/fdio.h"

#include "base/human.h"
#include "base/testpoint.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int fdio_write_all(int fd, const void *p, size_t n)
{
    const char *at = p;
    while (n > 0) {
        ssize_t w = write(fd, at, n);
        if (w < 0 && errno == EINTR)
            continue;
        if (w < 0)
            return -errno;
        at += w;
        n -= (size_t)w;
    }
    return 0;
}

int fdio_pwrite_all(int fd, const void *p, size_t n, uint64_t offset)
{
    const char *at = p;
#ifdef ORCA_TEST_POINTS
    int fails = test_write_hook ? test_write_hook(fd) : 0;
    if (fails < 0)
        return pwrite(fd, p, n / 2, (off_t)offset) < 0 ? -errno : fails;
#endif
    while (n > 0) {
        ssize_t w = pwrite(fd, at, n, (off_t)offset);
        if (w < 0 && errno == EINTR)
            continue;
        if (w < 0)
            return -errno;
        at += w;
        offset += (uint64_t)w;
        n -= (size_t)w;
    }
    return 0;
}

ssize_t fdio_pread_some(int fd, void *p, size_t n, uint64_t offset)
{
    size_t got = 0;
    while (got < n) {
        ssize_t r = pread(fd, (char *)p + got, n - got, (off_t)(offset + got));
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return -errno;
        if (r == 0)
            break;
        got += (size_t)r;
    }
    return (ssize_t)got;
}

ssize_t fdio_read_some(int fd, void *p, size_t n)
{
    size_t got = 0;
    while (got < n) {
        ssize_t r = read(fd, (char *)p + got, n - got);
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return -errno;
        if (r == 0)
            break;
        got += (size_t)r;
    }
    return (ssize_t)got;
}

int fdio_open_private(const char *path, int flags, struct err *err)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | flags, 0600);
    if (fd < 0)
        return err_set(err, -errno, "%s: cannot create: %s", path, strerror(errno));
    return fd;
}

int64_t fdio_size(int fd)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return -errno;
    return st.st_size;
}

uint64_t fdio_next_data(int fd, uint64_t at, uint64_t size, uint64_t *end)
{
    TEST_WORK(100 * 16); /* two calls of the system */
    *end = size;
    if (at >= size)
        return size;
    off_t from = lseek(fd, (off_t)at, SEEK_DATA);
    if (from < 0)
        return errno == ENXIO ? size : at;
    off_t upto = lseek(fd, from, SEEK_HOLE);
    *end = upto < 0 || (uint64_t)upto > size ? size : (uint64_t)upto;
    return (uint64_t)from < size ? (uint64_t)from : size;
}

uint64_t fdio_data_bytes(int fd, uint64_t size)
{
    uint64_t sum = 0, end;
    for (uint64_t at = 0; (at = fdio_next_data(fd, at, size, &end)) < size; at = end)
        sum += end - at;
    return sum;
}

int fdio_check_holes(int fd, unsigned times, const char *path, struct err *err)
{
    int64_t size = fdio_size(fd);
    if (size <= FDIO_HOLES)
        return size < 0 ? err_set(err, (int)size, "%s: %s", path, strerror((int)-size)) : 0;
    uint64_t there = fdio_data_bytes(fd, (uint64_t)size);
    if (there > (uint64_t)size / times)
        return 0;
    return err_set(
        err, -EINVAL,
        "%s: %s long, but all except %s of it is a hole: it was not completely written or "
        "copied; copy it again",
        path, human_bytes((uint64_t)size).text, human_bytes(there).text);
}
