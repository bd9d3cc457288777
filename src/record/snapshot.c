/* snapshot.c - a copy of the trace as it is now, complete in itself: for a recording that keeps the
 * newest part and continues.
 *
 * On the drain thread, when everything committed is in the file: no thread writes to it during
 * that, and what the threads record waits in their rings. */
#include "base/clock.h"
#include "base/fdio.h"
#include "base/util.h"
#include "record/recorder_parts.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PART = 1 << 20 };

static int copy_plainly(int from, int to, uint64_t at, uint64_t size)
{
    int rc = 0;
    char *part = malloc(PART);
    if (!part)
        return -ENOMEM;
    while (rc == 0 && at < size) {
        ssize_t n = fdio_pread_some(from, part, (size_t)min_u64(PART, size - at), at);
        if (n == 0) /* past the end: a hole that was cut off */
            break;
        rc = n < 0 ? (int)n : fdio_pwrite_all(to, part, (size_t)n, at);
        at += n > 0 ? (uint64_t)n : 0;
    }
    free(part);
    return rc;
}

/* The kernel copies where it can; some file systems share the blocks then. */
static int copy(int from, int to, uint64_t size)
{
    uint64_t done = 0;
    while (done < size) {
        loff_t a = (loff_t)done, b = (loff_t)done;
        ssize_t n = copy_file_range(from, &a, to, &b, (size_t)(size - done), 0);
        if (n <= 0)
            return copy_plainly(from, to, done, size);
        done += (uint64_t)n;
    }
    return 0;
}

/* staged: NULL, or what comes behind the file. */
static int close_copy(const struct writer *w, int fd, struct stager *staged, struct err *err)
{
    struct writer c;
    struct file_header header = w->header;
    header.ring_path[0] = 0;
    TRY(writer_resume(&c, fd, &header, w->at, w->seq, err));
    int rc = 0;
    for (size_t i = w->head; i < w->n_refs && rc == 0; i++)
        rc = writer_add_ref(&c, &w->refs[i]);
    c.defs_bytes = w->defs_bytes;
    c.events = w->events;
    if (rc < 0)
        err_set(err, rc, "out of memory");
    else if (staged)
        rc = stage_copy(staged, &c, err);
    if (rc == 0)
        rc = writer_close(&c, TRACE_CLOSED, clock_mono_ns(), err);
    writer_fini(&c);
    return rc;
}

int snapshot_write(struct recorder *rec, const char *path, bool waiting, struct err *err)
{
    int fd = fdio_open_private(path, O_EXCL, err);
    TRY(fd);
    int rc = copy(rec->fd, fd, rec->writer.size);
    if (rc < 0)
        err_set(err, rc, "%s: %s", path, strerror(-rc));
    else if ((rc = close_copy(&rec->writer, fd, waiting ? &rec->stager : NULL, err)) < 0)
        err_prefix(err, rc, "%s", path);
    if (close(fd) < 0 && rc == 0)
        rc = err_set(err, -errno, "%s: %s", path, strerror(errno));
    if (rc < 0)
        unlink(path);
    return rc;
}
