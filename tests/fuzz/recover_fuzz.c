/* recover_fuzz.c - the recovery of a killed recording of which somebody has changed the trace, its
 * rings, or both.
 *
 * One recording is made, in a child that dies; each input describes what is changed in its two
 * files, in pieces: where (1: high bit the trace, else a part of the rings, below), offset (2,
 * times 4), length (1, of 16), bytes.  Afterwards the trace must open, and every event be read. */
#include "base/clock.h"
#include "record/recorder.h"
#include "record/recover.h"
#include "record/region.h"
#include "record/ring.h"

#include "format/trace.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct made {
    char path[512];
    struct buf bytes;
};

static struct made trace, rings;
static char folder[] = "/tmp/orca-fuzz-recover-XXXXXX";

static void check(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "recover_fuzz: %s\n", what);
    abort();
}

static void record_and_die(void)
{
    struct err err = {""};
    struct recorder *rec;
    const struct recorder_opts o = {
        .path = trace.path, .ringdir = folder, .block = true, .ring_max = 4096, .ring_mem = 65536};
    if (recorder_open(&rec, &o, &err) < 0)
        _exit(1);
    struct ring *r = ring_attach(rec);
    for (uint32_t i = 1; r && i <= 2000; i++) {
        struct def d = {.kind = DEF_thread, .thread = {.id = {i}, .name = {"t", 1}}};
        if (i <= 20)
            recorder_define(rec, &d);
        struct event *e = ring_begin(r, EV_notify, (thread_id){i % 20 + 1}, clock_mono_ns());
        if (e)
            ring_commit(r, e);
        if (i == 1000)
            recorder_flush(rec);
    }
    kill(getpid(), SIGKILL);
}

static void read_file(struct made *m)
{
    uint8_t piece[65536];
    int fd = open(m->path, O_RDONLY);
    check(fd >= 0, m->path);
    for (ssize_t n; (n = read(fd, piece, sizeof piece)) > 0;)
        buf_put(&m->bytes, piece, (size_t)n);
    close(fd);
    unlink(m->path);
}

static void remove_folder(void)
{
    unlink(trace.path);
    unlink(rings.path);
    rmdir(folder);
}

static void make(void)
{
    int status;
    check(mkdtemp(folder) != NULL, "no folder");
    atexit(remove_folder);
    snprintf(trace.path, sizeof trace.path, "%s/t.otrace", folder);
    pid_t pid = fork();
    if (pid == 0)
        record_and_die();
    waitpid(pid, &status, 0);
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));)
        if (strstr(e->d_name, ".rings"))
            snprintf(rings.path, sizeof rings.path, "%s/%s", folder, e->d_name);
    closedir(d);
    check(rings.path[0], "the child left no rings");
    read_file(&trace);
    read_file(&rings);
}

static size_t take(const uint8_t **p, const uint8_t *end, int bytes)
{
    size_t v = 0;
    for (int i = 0; i < bytes && *p < end; i++)
        v = v << 8 | *(*p)++;
    return v;
}

static void change(uint8_t *t, uint8_t *r, const uint8_t *p, const uint8_t *end)
{
    const struct region_header *h = (const void *)rings.bytes.p;
    const size_t parts[] = {0,
                            offsetof(struct region_header, parts),
                            offsetof(struct region_header, loss),
                            offsetof(struct region_header, defs),
                            offsetof(struct region_header, stage),
                            offsetof(struct region_header, stage.raw),
                            h->ctl_offset,
                            h->data_offset};
    while (end - p > 4) {
        size_t where = take(&p, end, 1), offset = take(&p, end, 2) * 4;
        size_t n = take(&p, end, 1) % 16 + 1;
        uint8_t *to = where & 0x80 ? t : r;
        size_t len = where & 0x80 ? trace.bytes.len : rings.bytes.len;
        size_t at = (where & 0x80 ? 0 : parts[where % 8]) + offset;
        n = n > (size_t)(end - p) ? (size_t)(end - p) : n;
        if (at < len)
            memcpy(to + at, p, n < len - at ? n : len - at);
        p += n;
    }
}

static void write_file(const char *path, const uint8_t *p, size_t n)
{
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    check(fd >= 0 && write(fd, p, n) == (ssize_t)n, path);
    close(fd);
}

static void read_all(void)
{
    struct err err = {""};
    struct trace *t;
    struct trace_iter *it;
    struct event e;
    if (trace_open(&t, trace.path, &err) < 0)
        return;
    if (trace_iter_open(&it, t, &err) == 0) {
        while (trace_iter_next(it, &e, NULL, &err) > 0)
            ;
        trace_iter_close(it);
    }
    trace_close(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = {""};
    if (!rings.path[0])
        make();
    uint8_t *t = malloc(trace.bytes.len), *r = malloc(rings.bytes.len);
    memcpy(t, trace.bytes.p, trace.bytes.len);
    memcpy(r, rings.bytes.p, rings.bytes.len);
    change(t, r, data, data + size);
    write_file(trace.path, t, trace.bytes.len);
    write_file(rings.path, r, rings.bytes.len);
    free(t);
    free(r);
    recover_probe(trace.path, &err);
    recover_trace(trace.path, &err);
    read_all();
    return 0;
}
