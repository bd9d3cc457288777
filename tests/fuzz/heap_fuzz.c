/* heap_fuzz.c - heap dumps of arbitrary bytes: everything that `orca heap` reads of them.
 *
 * The first byte chooses: bit 0, ids of 4 bytes; bit 1, one worker; bit 2, all of the rest is the
 * file (a gzip file, another header); else the rest follows a right header. */
#include "heap/collections.h"
#include "heap/diff.h"
#include "heap/histogram.h"
#include "heap/links.h"
#include "heap/retained.h"
#include "heap/strings.h"
#include "heap/suspects.h"
#include "heap/threads.h"

#include "base/fdio.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void name_holders(const struct dump *d, const struct holder *h, size_t n)
{
    struct buf name = {0};
    for (size_t i = 0; i < n; i++)
        holder_name(d, &h[i], &name);
    buf_fini(&name);
}

static void read_contents(const struct dump *d)
{
    struct strings_found s;
    struct collections_found c;
    if (strings_find(&s, d, 3, NULL) == 0) {
        for (size_t i = 0; i < s.n; i++)
            name_holders(d, s.v[i].holders, s.v[i].n_holders);
        strings_fini(&s);
    }
    if (collections_find(&c, d, NULL) == 0) {
        name_holders(d, c.holders, c.n_holders);
        collections_fini(&c);
    }
}

static void read_threads(const struct retained *r, struct object_reader *reader)
{
    struct threads_seen t;
    if (threads_find(&t, r->d, r, reader, NULL) == 0)
        threads_fini(&t);
}

static void read_growth(const struct retained *r)
{
    struct suspects s;
    struct diff diff;
    const struct suspects_options o = {.paths = true, .least_percent = 5};
    if (suspects_find(&s, r, &o, NULL) == 0)
        suspects_fini(&s);
    diff_init(&diff);
    if (diff_add(&diff, r->d, r->class_bytes, false, NULL) == 0 &&
        diff_add(&diff, r->d, NULL, true, NULL) == 0)
        diff_order(&diff);
    diff_fini(&diff);
}

static void read_objects(const struct retained *r)
{
    struct object_reader reader;
    struct buf text = {0};
    if (object_reader_open(&reader, &r->objects, NULL) < 0)
        return;
    for (uint32_t i = 0; i < r->d->n_objects && i < 64; i++) {
        links_describe(&reader, i, &text);
        links_name(&reader, i, (i + 1) % r->d->n_objects, &text);
        buf_clear(&text);
    }
    for (size_t p = 0; p < r->paths.n; p++)
        for (size_t i = 1; i < r->paths.v[p].n; i++)
            links_name(&reader, r->paths.v[p].v[i - 1], r->paths.v[p].v[i], &text);
    buf_fini(&text);
    read_threads(r, &reader);
    object_reader_close(&reader);
}

static void read_everything(const struct dump *d)
{
    struct big_object big[4];
    struct retained r;
    uint32_t top[4];
    uint64_t all;
    size_t n;
    free(histogram_classes(d, &n));
    histogram_biggest(d, big, 4, NULL);
    read_contents(d);
    const struct retained_options o = {
        .classes = true, .path_to = d->n_objects ? ids_at(&d->ids, d->n_objects / 2) : 0};
    if (retained_find(&r, d, &o, NULL) < 0)
        return;
    retained_top(&r, RETAINED_ROOT, top, 4, &all);
    read_objects(&r);
    read_growth(&r);
    retained_fini(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    struct dump *d;
    struct err err;
    if (size == 0)
        return 0;
    uint8_t how = *data;
    const uint8_t header[] = "JAVA PROFILE 1.0.2\0\0\0\0\10\0\0\0\0\0\0\0";
    uint8_t head[sizeof header];
    for (size_t i = 0; i < sizeof header; i++)
        head[i] = header[i];
    head[22] = how & 1 ? 4 : 8;
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (!(how & 4))
        fdio_write_all(fd, head, sizeof head);
    fdio_write_all(fd, data + 1, size - 1);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const struct dump_options o = {.workers = how & 2 ? 1 : 2};
    if (dump_open(&d, path, &o, &err) == 0) {
        read_everything(d);
        dump_close(d);
    }
    close(fd);
    return 0;
}
