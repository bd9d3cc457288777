/* What the rings of a killed recording may cost: in proportion to the pages that they have, however
 * long they are and whatever they say of themselves. */
#include "work.h"

#ifdef ORCA_COUNT_WORK

#include "format/trace.h"
#include "record/recorder.h"
#include "record/recover.h"
#include "record/ring.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EVENTS = 500, RING = RING_SIZE_MIN, MEMORY = 1 << 20 };

static char dir[64], path[128], rings[512];

static void record_and_die(void)
{
    struct recorder *rec;
    struct err err = {""};
    const struct recorder_opts o = {
        .path = path, .ringdir = dir, .block = true, .ring_max = RING, .ring_mem = MEMORY};
    if (recorder_open(&rec, &o, &err) < 0)
        _exit(1);
    struct ring *r = ring_attach(rec);
    for (uint32_t i = 1; i <= EVENTS; i++) {
        struct event *e = ring_begin(r, EV_notify, (thread_id){1}, clock_mono_ns());
        if (!e)
            _exit(1);
        ring_commit(r, e);
    }
    kill(getpid(), SIGKILL);
}

static void set_up(void)
{
    int status;
    strcpy(dir, "/tmp/orca-work-XXXXXX");
    cr_assert(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/t.otrace", dir);
    pid_t pid = fork();
    if (pid == 0)
        record_and_die();
    waitpid(pid, &status, 0);
    cr_assert(WIFSIGNALED(status));
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));)
        if (strstr(e->d_name, ".rings"))
            snprintf(rings, sizeof rings, "%s/%s", dir, e->d_name);
    closedir(d);
    cr_assert(rings[0]);
}

static void tear_down(void)
{
    char cmd[128];
    snprintf(cmd, sizeof cmd, "rm -rf %s", dir);
    cr_assert_eq(system(cmd), 0);
}

TestSuite(work_recover, .init = set_up, .fini = tear_down, .timeout = 120);

/* The file of that size, mapped. */
static struct region_header *open_rings(uint64_t size)
{
    int fd = open(rings, O_RDWR);
    struct stat st;
    cr_assert(fd >= 0 && fstat(fd, &st) == 0);
    if (size)
        cr_assert_eq(ftruncate(fd, (off_t)size), 0);
    else
        size = (uint64_t)st.st_size;
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    cr_assert_neq(p, MAP_FAILED);
    close(fd);
    ((struct region_header *)p)->size = size;
    return p;
}

static uint64_t bytes_on_disk(const char *file)
{
    struct stat st;
    cr_assert_eq(stat(file, &st), 0);
    return (uint64_t)st.st_blocks * 512;
}

/* Recover within what tests/limits.def allows for what both files have; the events that there
 * are. */
static uint64_t recover(void)
{
    struct err err = {""};
    struct trace *t;
    char why[200];
    uint64_t bytes = bytes_on_disk(path) + bytes_on_disk(rings);
    counted_begin();
    int rc = recover_trace(path, &err);
    struct counted c = counted_end();
    if (getenv("ORCA_WORK"))
        printf("%lu bytes: %lu blocks, %.1f a byte\n", (unsigned long)bytes, (unsigned long)c.work,
               (double)c.work / (double)bytes);
    cr_assert_eq(rc, RECOVER_DONE, "%s", err.msg);
    cr_expect(limit_holds(limit_find("recover"), c, bytes, why), "%s", why);
    cr_assert_eq(trace_open(&t, path, &err), 0, "%s", err.msg);
    uint64_t events = t->n_events;
    trace_close(t);
    return events;
}

/* As many controls as can be, in a terabyte that has no pages. */
Test(work_recover, of_holes)
{
    const uint64_t size = UINT64_C(1) << 40;
    struct region_header *h = open_rings(size + RING);
    struct ring_ctl *c = region_ctl(h, 0);
    memcpy((char *)h + size, (char *)h + c->data, c->size);
    c->data = size;
    h->data_offset = size;
    h->max_rings = (uint32_t)((size - h->ctl_offset) / RING_CTL_SIZE);
    atomic_store(&h->used_rings, h->max_rings);
    munmap(h, size + RING);
    cr_assert_eq(recover(), EVENTS);
}

/* Many rings that all lie at the same bytes. */
Test(work_recover, of_rings_over_each_other)
{
    struct region_header *h = open_rings(0);
    struct ring_ctl *all = region_ctl(h, 0);
    char *memory = (char *)h + h->data_offset;
    uint32_t most = h->max_rings;
    struct event e;
    memcpy(&e, (char *)h + all->data, sizeof e);
    for (size_t at = 0; at + e.size <= MEMORY; at += e.size)
        memcpy(memory + at, &e, e.size);
    for (uint32_t i = 0; i < most; i++) {
        all[i] = (struct ring_ctl){.stream = i + 2, .size = MEMORY, .data = h->data_offset};
        atomic_store(&all[i].state, RING_OPEN);
        atomic_store(&all[i].head, MEMORY / e.size * e.size);
    }
    atomic_store(&h->used_rings, most);
    munmap(h, h->size);
    uint64_t events = recover(), in_one = MEMORY / e.size;
    cr_assert(events >= in_one && events < in_one * 3, "%lu of %u rings of %lu",
              (unsigned long)events, most, (unsigned long)in_one);
}

#else
typedef int work_of_recovery_is_counted_in_the_variant_test;
#endif
