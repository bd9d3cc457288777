/* unwritten_test.c - a disk that is full, and may be free again: what is in the trace then. */
#include "base/testpoint.h"
#include "base/util.h"
#include "cases.h"
#include "format/trace.h"
#include "record/recorder.h"
#include "record/recover.h"
#include "record/region.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[64], path[128];
static struct recorder *rec;
static struct ring *ring;
static uint32_t number;         /* of the latest event */
static uint64_t dropped, times; /* how often the disk was full, and free again */
static struct rlimit unlimited;
static uint64_t now, seed = 1, spread = 2;

/* RLIMIT_FSIZE stands for the disk: EFBIG comes from the same write.  The rings are made before. */
static void disk_is_full(void)
{
    struct stat st;
    struct rlimit small = unlimited;
    cr_assert_eq(stat(path, &st), 0);
    small.rlim_cur = (rlim_t)st.st_size;
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
}

static void disk_is_free(void)
{
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &unlimited), 0);
}

static void set_up(void)
{
    strcpy(dir, "/tmp/orca-unwritten-XXXXXX");
    cr_assert(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/t.otrace", dir);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &unlimited);
    number = 0;
    dropped = 0;
    times = 0;
}

static void tear_down(void)
{
    char cmd[128];
    disk_is_free();
    snprintf(cmd, sizeof cmd, "rm -rf %s", dir);
    cr_assert_eq(system(cmd), 0);
}

TestSuite(unwritten, .init = set_up, .fini = tear_down);

static void begin(struct recorder_opts o)
{
    struct err err = {""};
    struct def d = {.kind = DEF_thread, .thread = {.id = {1}, .name = {"t1", 2}}};
    o.path = path;
    cr_assert_eq(recorder_open(&rec, &o, &err), 0, "%s", err.msg);
    cr_assert(recorder_define(rec, &d));
    ring = ring_attach(rec);
    cr_assert(ring);
    now = clock_mono_ns();
}

/* Events with the numbers that follow; those that find no room are left out. */
static void put(uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        /* Times that are far apart, and do not compress: they are most of the file. */
        now += 1 + (seed = seed * 6364136223846793005u + 1442695040888963407u) % spread;
        struct event *e = ring_begin(ring, EV_monitor_contended_enter, (thread_id){1}, now);
        number++;
        if (!e) {
            dropped++;
            continue;
        }
        e->monitor_contended_enter.lock.v = number % 17;
        e->monitor_contended_enter.owner.v = number;
        e->monitor_contended_enter.stack.v = number % 5;
        ring_commit(ring, e);
    }
}

static struct recorder_unwritten told(void)
{
    struct recorder_status s;
    recorder_status(rec, &s);
    return s.unwritten;
}

static struct recorder_result end(void)
{
    struct recorder_result r;
    ring_detach(ring);
    recorder_close(rec, &r);
    recorder_free(rec);
    times = r.unwritten.times - r.unwritten.now;
    return r;
}

struct seen {
    uint64_t events, lost_noted, notes, lost_by_notes, first_lost, last_note;
    uint32_t gaps; /* places where numbers are left out */
};

/* Reads the trace: each number at most once, in order. */
static struct seen read_trace(void)
{
    struct err err = {""};
    struct trace *t;
    struct trace_iter *it;
    struct event e;
    struct seen s = {0};
    uint32_t last = 0;
    cr_assert_eq(trace_open(&t, path, &err), 0, "%s", err.msg);
    cr_assert_eq(t->n_damaged, 0, "%s", t->n_problems ? t->problems[0].text : "");
    cr_assert_eq(trace_iter_open(&it, t, &err), 0);
    while (trace_iter_next(it, &e, NULL, &err) > 0) {
        if (e.kind == EV_lost) {
            cr_assert_eq(e.lost.cause, LOSS_write);
            s.lost_noted += e.lost.count;
        } else if (e.kind == EV_unwritten) {
            cr_assert(e.unwritten.since <= e.unwritten.first_lost);
            cr_assert(e.unwritten.first_lost <= e.time);
            cr_assert_eq(e.unwritten.lost > 0, e.unwritten.first_lost < e.time);
            s.first_lost = e.unwritten.first_lost;
            s.last_note = e.time;
            s.lost_by_notes += e.unwritten.lost;
            s.notes++;
        } else {
            uint32_t n = e.monitor_contended_enter.owner.v;
            cr_assert_eq(e.monitor_contended_enter.lock.v, n % 17);
            cr_assert(n > last, "%u after %u", n, last);
            s.gaps += n != last + 1;
            last = n;
            s.events++;
        }
    }
    trace_iter_close(it);
    uint64_t evicted = t->header.evicted_events - (times - s.notes); /* events that were put */
    cr_assert_eq(s.events + trace_lost(t) + evicted, number, "%lu and %lu lost and %lu of %u",
                 s.events, trace_lost(t), evicted, number);
    for (int i = 0; i < LOSS_LIMIT; i++)
        cr_assert(i == LOSS_write || !t->loss[i], "%s", loss_causes[i].name);
    cr_assert_str_eq(trace_thread(t, (thread_id){1})->name, "t1");
    trace_close(t);
    return s;
}

/* The disk is found to be full: what is asked for says so. */
static void fill(void)
{
    char none[80]; /* its own: other tests of the suite are run at the same time */
    struct err err = {""};
    struct recorder_result r;
    snprintf(none, sizeof none, "%s/none", dir);
    disk_is_full();
    put(100);
    cr_assert_eq(recorder_flush(rec), -EFBIG);
    struct recorder_unwritten u = told();
    cr_assert(u.now);
    cr_assert_eq(u.times, 1);
    cr_assert(strstr(u.why, "File too large"), "%s", u.why);
    cr_assert_eq(recorder_rotate(rec, &r, &err), -EFBIG);
    cr_assert(strstr(err.msg, "File too large"), "%s", err.msg);
    err.msg[0] = 0;
    cr_assert_eq(recorder_snapshot(rec, none, &r, &err), -EFBIG);
    cr_assert(strstr(err.msg, none), "%s", err.msg); /* what waits finds no room there, too */
    cr_assert_neq(access(none, F_OK), 0);
}

#ifdef ORCA_TEST_POINTS
static ino_t full_file;

static int is_full(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && st.st_ino == full_file ? -ENOSPC : 0;
}

/* The copy has what waits, and it goes on waiting. */
static void copy_elsewhere(uint64_t maxsize)
{
    char copy[160];
    struct err err = {""};
    struct recorder_result r;
    struct stat st;
    struct trace *t;
    snprintf(copy, sizeof copy, "%s/copy.otrace", dir);
    begin((struct recorder_opts){.maxsize = maxsize});
    put(1000);
    cr_assert_eq(recorder_flush(rec), 0);
    cr_assert_eq(stat(path, &st), 0);
    full_file = st.st_ino;
    test_write_hook = is_full;
    put(1500);
    struct def d = {.kind = DEF_thread, .thread = {.id = {2}, .name = {"late", 4}}};
    cr_assert(recorder_define(rec, &d));
    cr_assert_eq(recorder_flush(rec), -ENOSPC);
    for (int twice = 0; twice < 2; twice++) {
        unlink(copy);
        cr_assert_eq(recorder_snapshot(rec, copy, &r, &err), 0, "%s", err.msg);
        cr_assert_eq(r.events, 2500);
        cr_assert_eq(trace_open(&t, copy, &err), 0, "%s", err.msg);
        cr_assert_eq(t->n_events, 2500);
        cr_assert_eq(t->header.state, TRACE_CLOSED);
        cr_assert_eq(t->n_damaged, 0);
        cr_assert_str_eq(trace_thread(t, (thread_id){2})->name, "late");
        trace_close(t);
    }
    test_write_hook = NULL;
    cr_assert_eq(recorder_flush(rec), 0);
    put(100);
    cr_assert_eq(end().lost, 0);
    cr_assert_eq(read_trace().events, 2600);
}

Test(unwritten, a_copy_on_another_disk)
{
    copy_elsewhere(0);
}

Test(unwritten, a_copy_of_a_circle_on_another_disk)
{
    copy_elsewhere(1 << 20);
}
#endif

Test(unwritten, goes_on_and_nothing_is_lost)
{
    begin((struct recorder_opts){0});
    put(1000);
    cr_assert_eq(recorder_flush(rec), 0);
    fill();
    put(20000);
    cr_assert_eq(recorder_flush(rec), -EFBIG);
    cr_assert_eq(dropped, 0, "there is room in the rings");
    disk_is_free();
    cr_assert_eq(recorder_flush(rec), 0);
    struct recorder_unwritten u = told();
    cr_assert_not(u.now);
    cr_assert_eq(u.times, 1);
    cr_assert(u.ns > 0);
    put(1000);
    struct recorder_result r = end();
    cr_assert_eq(r.state, TRACE_CLOSED);
    cr_assert_eq(r.lost, 0);
    cr_assert_eq(r.unwritten.times, 1);
    struct seen s = read_trace();
    cr_assert_eq(s.events, 22100);
    cr_assert_eq(s.notes, 1);
    cr_assert_eq(s.lost_by_notes, 0);
}

static void lose(bool block)
{
    begin((struct recorder_opts){.ring_max = 16384, .block = block});
    put(200);
    cr_assert_eq(recorder_flush(rec), 0);
    fill();
    put(20000); /* comes back, though nobody empties the rings */
    cr_assert(dropped > 10000);
    disk_is_free();
    cr_assert_eq(recorder_flush(rec), 0);
    put(100);
    struct recorder_result r = end();
    cr_assert_eq(r.state, TRACE_CLOSED);
    cr_assert_eq(r.lost, dropped);
    cr_assert_eq(r.unwritten.times, 1);
    struct seen s = read_trace();
    cr_assert_eq(s.gaps, 1);
    cr_assert_eq(s.notes, 1);
    cr_assert_eq(s.lost_by_notes, dropped);
    cr_assert_eq(s.lost_noted, dropped);
}

Test(unwritten, what_is_lost_is_counted)
{
    lose(false);
}

Test(unwritten, nobody_waits_for_a_full_disk)
{
    lose(true);
}

Test(unwritten, nobody_waits_to_define_anything)
{
    static char name[10000];
    uint32_t id = 2, defined = 0;
    struct def d = {.kind = DEF_thread, .thread = {.name = {name, sizeof name}}};
    memset(name, 'x', sizeof name);
    begin((struct recorder_opts){.block = true});
    fill();
    for (; id < 200; id++) {
        d.thread.id.v = id;
        defined += recorder_define(rec, &d);
    }
    cr_assert(defined > 90 && defined < 110, "%u in a ring of a megabyte", defined);
    disk_is_free();
    cr_assert_eq(recorder_flush(rec), 0);
    cr_assert(recorder_define(rec, &d));
    end();
}

/* Twice; a definition that is met in that time is there. */
Test(unwritten, again_and_again)
{
    struct err err = {""};
    struct trace *t;
    begin((struct recorder_opts){.ring_max = 16384});
    for (uint32_t i = 2; i < 5; i++) {
        char name[8];
        put(100);
        cr_assert_eq(recorder_flush(rec), 0);
        disk_is_full();
        snprintf(name, sizeof name, "t%u", i);
        struct def d = {.kind = DEF_thread, .thread = {.id = {i}, .name = {name, strlen(name)}}};
        cr_assert(recorder_define(rec, &d));
        put(1);
        cr_assert_eq(recorder_flush(rec), -EFBIG);
        put(2000);
        disk_is_free();
        cr_assert_eq(recorder_flush(rec), 0);
    }
    struct recorder_result r = end();
    cr_assert_eq(r.unwritten.times, 3);
    struct seen s = read_trace();
    cr_assert_eq(s.notes, 3);
    cr_assert_eq(s.lost_by_notes, dropped);
    cr_assert_eq(trace_open(&t, path, &err), 0, "%s", err.msg);
    cr_assert_str_eq(trace_thread(t, (thread_id){4})->name, "t4");
    trace_close(t);
}

/* Until the end: what is not in the file is counted, and since when. */
Test(unwritten, until_the_end)
{
    struct err err = {""};
    struct trace *t;
    begin((struct recorder_opts){.ring_max = 16384});
    put(200);
    cr_assert_eq(recorder_flush(rec), 0);
    uint64_t before = clock_mono_ns();
    fill();
    put(5000);
    uint64_t after = clock_mono_ns();
    struct recorder_result r = end();
    cr_assert_eq(r.state, TRACE_STOPPED);
    cr_assert_eq(r.events, 200);
    cr_assert_eq(r.lost, 5100);
    struct seen s = read_trace();
    cr_assert_eq(s.events, 200);
    cr_assert_eq(s.notes, 0);
    cr_assert_eq(trace_open(&t, path, &err), 0, "%s", err.msg);
    cr_assert_eq(t->header.state, TRACE_STOPPED);
    cr_assert(t->header.unwritten_since > before && t->header.unwritten_since < after);
    cr_assert_eq(t->loss[LOSS_write], 5100);
    trace_close(t);
}

/* The JVM is killed in that time: what waited is there, and the rest is counted. */
Test(unwritten, killed_meanwhile)
{
    uint64_t *lost = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct err err = {""};
    pid_t pid = fork();
    if (pid == 0) {
        begin((struct recorder_opts){.ring_max = 16384, .ringdir = "/dev/shm"});
        put(200);
        cr_assert_eq(recorder_flush(rec), 0);
        fill();
        put(5000);
        *lost = dropped;
        kill(getpid(), SIGKILL);
    }
    int status;
    waitpid(pid, &status, 0);
    cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    disk_is_full(); /* still */
    cr_assert_eq(recover_trace(path, &err), -EFBIG, "%s", err.msg);
    disk_is_free();
    cr_assert_eq(recover_trace(path, &err), RECOVER_DONE, "%s", err.msg);
    cr_assert_eq(recover_trace(path, &err), RECOVER_NOTHING, "%s", err.msg);
    number = 5300;
    times = 1;
    struct seen s = read_trace();
    cr_assert_eq(s.events, 5300 - *lost);
    cr_assert_eq(s.notes, 1);
    cr_assert_eq(s.lost_by_notes, *lost);
}

#ifdef ORCA_TEST_POINTS
static int fail_at, fail_again, n_writes;

static int failing(int fd)
{
    (void)fd;
    n_writes++;
    return n_writes == fail_at || n_writes == fail_again ? -ENOSPC : 0;
}

/* Each write of a recording fails, and one of those that follow; of a circle that goes around,
 * too. */
static void each_write_fails(uint64_t maxsize, uint32_t events)
{
    int reached = 0, met = 1;
    cr_assert(freopen("/dev/null", "w", stderr));
    spread = maxsize ? UINT64_C(1) << 32 : 2;
    for (int at = 3; met; at += cases_step()) { /* without its first writes there is no file */
        number = 0;
        n_writes = 0;
        fail_at = at;
        fail_again = at + at % 5;
        test_write_hook = failing;
        begin((struct recorder_opts){.maxsize = maxsize, .block = true});
        for (uint32_t i = 0; i < 20; i++) {
            put(events / 20);
            while (recorder_flush(rec) < 0)
                ;
        }
        met = n_writes >= fail_again;
        fail_at = fail_again = 0; /* the end is another test's */
        struct recorder_result r = end();
        test_write_hook = NULL;
        cr_assert_eq(r.state, TRACE_CLOSED);
        cr_assert_eq(r.lost, dropped);
        struct seen s = read_trace();
        cr_assert(s.gaps == (maxsize > 0) || dropped, "%d: %u gaps", at, s.gaps);
        unlink(path);
        dropped = 0;
        reached += met;
    }
    cr_assert(reached >= 10, "%d", reached);
}

Test(unwritten, each_write_fails_once)
{
    each_write_fails(0, 2000);
}

Test(unwritten, each_write_of_a_circle_fails_once)
{
    each_write_fails(4 << 20, 1000000);
}
#endif
