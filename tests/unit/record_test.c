/* record_test.c - rings, drain and file together: nothing lost, in order, or counted. */
#include "../patience.h"
#include "base/testpoint.h"
#include "format/trace.h"
#include "record/recorder.h"
#include "record/recover.h"
#include "record/region.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_THREADS = 16 };

static char dir[64], path[128], rings[64];

static void set_up(void)
{
    strcpy(dir, "/tmp/orca-record-XXXXXX");
    cr_assert(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/t.otrace", dir);
    strcpy(rings, dir);
}

static void tear_down(void)
{
    char cmd[128];
    snprintf(cmd, sizeof cmd, "rm -rf %s", dir);
    cr_assert_eq(system(cmd), 0);
}

static int files_in(const char *where)
{
    int n = 0;
    DIR *d = opendir(where);
    for (struct dirent *e; d && (e = readdir(d));)
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

/* Thread i writes `count` events whose owner field counts up from 1. */
struct producer {
    struct recorder *rec;
    uint32_t id, count, pause_every;
    uint64_t written;
};

static void *produce(void *arg)
{
    struct producer *p = arg;
    struct ring *r = ring_attach(p->rec);
    for (uint32_t i = 1; r && i <= p->count; i++) {
        struct event *e =
            ring_begin(r, EV_monitor_contended_enter, (thread_id){p->id}, clock_mono_ns());
        if (e) {
            e->monitor_contended_enter.lock.v = i % 17;
            e->monitor_contended_enter.owner.v = i;
            e->monitor_contended_enter.stack.v = i % 5;
            ring_commit(r, e);
            p->written++;
        }
        if (p->pause_every && i % p->pause_every == 0)
            clock_sleep_ns(20000);
    }
    ring_detach(r);
    return NULL;
}

static void define_thread(struct recorder *rec, uint32_t id)
{
    char name[16];
    snprintf(name, sizeof name, "t%u", id);
    struct def d = {.kind = DEF_thread, .thread = {.id = {id}, .name = {name, strlen(name)}}};
    cr_assert(recorder_define(rec, &d));
}

static void run_producers(struct recorder *rec, struct producer *p, int n)
{
    pthread_t t[MAX_THREADS];
    for (int i = 0; i < n; i++) {
        p[i].rec = rec;
        p[i].id = (uint32_t)i + 1;
        define_thread(rec, p[i].id);
        pthread_create(&t[i], NULL, produce, &p[i]);
    }
    for (int i = 0; i < n; i++)
        pthread_join(t[i], NULL);
}

static struct recorder *open_rec(struct recorder_opts o)
{
    struct err err = {""};
    struct recorder *rec;
    o.path = path;
    o.ringdir = rings;
    cr_assert_eq(recorder_open(&rec, &o, &err), 0, "%s", err.msg);
    return rec;
}

struct seen {
    uint64_t events, noted_lost, open_waits;
    uint64_t per_thread[MAX_THREADS + 1];
    uint32_t last[MAX_THREADS + 1];
};

/* Read the trace: in order over all, each thread's numbers rising; `gapless`: by one. */
static struct seen check_trace(bool gapless)
{
    struct err err = {""};
    struct trace *t;
    struct trace_iter *it;
    struct event e;
    struct seen s = {0};
    uint64_t time = 0;
    cr_assert_eq(trace_open(&t, path, &err), 0, "%s", err.msg);
    cr_assert_eq(t->n_damaged, 0, "%s", t->n_problems ? t->problems[0].text : "");
    cr_assert_eq(trace_iter_open(&it, t, &err), 0);
    while (trace_iter_next(it, &e, NULL, &err) > 0) {
        cr_assert(e.time >= time, "time goes back");
        time = e.time;
        if (e.kind == EV_lost) {
            s.noted_lost += e.lost.count;
            continue;
        }
        if (e.kind == EV_wait_open) {
            s.open_waits++;
            continue;
        }
        uint32_t id = e.thread.v, n = e.monitor_contended_enter.owner.v;
        cr_assert(id >= 1 && id <= MAX_THREADS);
        cr_assert_eq(e.monitor_contended_enter.lock.v, n % 17);
        cr_assert_eq(e.monitor_contended_enter.stack.v, n % 5);
        cr_assert(n > s.last[id], "thread %u: %u after %u", id, n, s.last[id]);
        if (gapless)
            cr_assert_eq(n, s.last[id] + 1);
        s.last[id] = n;
        s.events++;
        s.per_thread[id]++;
    }
    trace_iter_close(it);
    cr_assert_eq(t->n_damaged, 0, "%s", t->n_problems ? t->problems[0].text : "");
    cr_assert(s.events <= t->n_events);
    cr_assert(s.noted_lost || s.events + s.open_waits == t->n_events);
    for (uint32_t i = 1; i <= MAX_THREADS; i++)
        if (s.per_thread[i])
            cr_assert_eq(trace_thread(t, (thread_id){i})->name[0], 't');
    trace_close(t);
    return s;
}

Test(record, nothing_is_lost_when_threads_wait, .init = set_up, .fini = tear_down)
{
    struct recorder *rec = open_rec((struct recorder_opts){.block = true, .ring_max = 2048});
    struct producer p[4] = {{.count = 50000}, {.count = 50000}, {.count = 10}, {.count = 1}};
    struct recorder_result res;
    run_producers(rec, p, 4);
    recorder_close(rec, &res);
    struct seen s = check_trace(true);
    cr_assert_eq(s.events, 100011);
    cr_assert_eq(res.events, 100011);
    cr_assert_eq(res.lost, 0);
    cr_assert_eq(res.state, TRACE_CLOSED);
    cr_assert_eq(files_in(dir), 1, "the rings are gone");
    recorder_free(rec);
}

/* Where its last event is, not where its file is closed. */
Test(record, a_recording_ends_where_nothing_more_is_recorded, .init = set_up, .fini = tear_down)
{
    struct recorder *rec = open_rec((struct recorder_opts){0});
    struct producer p[1] = {{.count = 10}};
    struct recorder_result res;
    struct trace *t;
    struct err err;
    run_producers(rec, p, 1);
    recorder_ends_here(rec);
    uint64_t later = clock_mono_ns();
    recorder_close(rec, &res);
    cr_assert_eq(trace_open(&t, path, &err), 0);
    cr_assert_leq(t->header.end_mono, later);
    cr_assert_geq(t->header.end_mono, t->last);
    cr_assert_eq(res.duration_ns, t->header.end_mono - t->header.start_mono);
    trace_close(t);
    recorder_free(rec);
}

Test(record, losses_are_counted_exactly, .init = set_up, .fini = tear_down)
{
    /* One ring of 2 KiB that cannot grow: a burst must lose. */
    struct recorder *rec = open_rec((struct recorder_opts){.ring_max = 2048});
    struct producer p[2] = {{.count = 200000}, {.count = 200000, .pause_every = 5000}};
    struct recorder_result res;
    run_producers(rec, p, 2);
    recorder_close(rec, &res);
    struct seen s = check_trace(false);
    cr_assert(res.lost > 0, "the test has lost its point");
    cr_assert_eq(s.events, p[0].written + p[1].written);
    cr_assert_eq(s.events + res.lost, 400000);
    cr_assert(s.noted_lost <= res.lost);
    struct err err;
    struct trace *t;
    cr_assert_eq(trace_open(&t, path, &err), 0);
    cr_assert_eq(trace_lost(t), res.lost);
    cr_assert_eq(t->loss[LOSS_ring_full], res.lost);
    trace_close(t);
    recorder_free(rec);
}

Test(record, rings_grow_with_the_need, .init = set_up, .fini = tear_down)
{
    struct recorder *rec = open_rec((struct recorder_opts){0});
    struct producer p[3] = {{.count = 200000}, {.count = 300}, {.count = 30}};
    struct recorder_result res;
    run_producers(rec, p, 3);
    recorder_close(rec, &res);
    struct seen s = check_trace(true);
    cr_assert_eq(s.events, 200330);
    cr_assert_eq(res.lost, 0);
    recorder_free(rec);
}

static void *one_event(void *arg)
{
    struct producer p = {.rec = arg, .id = 1, .count = 1};
    return produce(&p);
}

Test(record, threads_that_come_and_go_share_memory, .init = set_up, .fini = tear_down)
{
    /* 3,000 threads through a megabyte of rings: 512 at a time. */
    struct recorder *rec = open_rec((struct recorder_opts){.ring_mem = 1 << 20, .block = true});
    define_thread(rec, 1);
    struct recorder_result res;
    for (int round = 0; round < 30; round++) {
        pthread_t t[100];
        for (int i = 0; i < 100; i++)
            pthread_create(&t[i], NULL, one_event, rec);
        for (int i = 0; i < 100; i++)
            pthread_join(t[i], NULL);
        recorder_flush(rec);
    }
    recorder_close(rec, &res);
    cr_assert_eq(res.events, 3000);
    cr_assert_eq(res.lost, 0);
    recorder_free(rec);
}

Test(record, no_ring_is_a_counted_loss, .init = set_up, .fini = tear_down)
{
    struct recorder *rec = open_rec((struct recorder_opts){.ring_mem = 8192});
    struct ring *r[5];
    struct recorder_result res;
    for (int i = 0; i < 5; i++)
        r[i] = ring_attach(rec);
    cr_assert(r[3] && !r[4]);
    for (int i = 0; i < 4; i++)
        ring_detach(r[i]);
    recorder_close(rec, &res);
    cr_assert_eq(res.lost, 1);
    recorder_free(rec);
}

Test(record, a_growing_trace_can_be_read, .init = set_up, .fini = tear_down)
{
    struct recorder *rec = open_rec((struct recorder_opts){0});
    struct producer p[1] = {{.count = 1000}};
    struct err err;
    run_producers(rec, p, 1);
    uint64_t before = clock_mono_ns();
    cr_assert_eq(recorder_flush(rec), 0);
    cr_assert_eq(check_trace(true).events, 1000);
    struct trace *t;
    cr_assert_eq(trace_open(&t, path, &err), 0);
    cr_assert(t->last < before, "nothing has happened since then");
    cr_assert(trace_end(t) >= before, "and that is known");
    trace_close(t);
    pid_t child = fork(); /* the lock is the process's: ask from another one */
    if (child == 0)
        _exit(recover_trace(path, &err) == RECOVER_LIVE ? 0 : 1);
    int status;
    waitpid(child, &status, 0);
    cr_assert_eq(status, 0, "a live recording must be left alone");
    p[0] = (struct producer){.count = 500};
    recorder_close(rec, NULL);
    cr_assert_eq(check_trace(true).events, 1000);
    cr_assert_eq(recorder_flush(rec), -ESHUTDOWN);
    recorder_free(rec);
}

Test(record, a_full_disk_stops_the_recording_only, .init = set_up, .fini = tear_down)
{
    /* RLIMIT_FSIZE stands for the disk: EFBIG comes from the same write. */
    signal(SIGXFSZ, SIG_IGN);
    strcpy(rings, "/dev/shm"); /* the rings need more than the limit, made before it */
    struct recorder *rec = open_rec((struct recorder_opts){.block = true});
    struct rlimit old, small = {100000, RLIM_INFINITY};
    getrlimit(RLIMIT_FSIZE, &old);
    struct producer warm[1] = {{.count = 1000}};
    run_producers(rec, warm, 1);
    recorder_flush(rec);
    setrlimit(RLIMIT_FSIZE, &small);
    struct producer p[2] = {{.count = 400000}, {.count = 400000}};
    struct recorder_result res;
    run_producers(rec, p, 2); /* must come back although draining has ended */
    recorder_close(rec, &res);
    setrlimit(RLIMIT_FSIZE, &old);
    cr_assert_eq(res.state, TRACE_STOPPED);
    struct err err = {""};
    struct trace *t;
    cr_assert_eq(trace_open(&t, path, &err), 0, "%s", err.msg);
    cr_assert_eq(t->header.state, TRACE_STOPPED);
    cr_assert(t->n_events >= 1000);
    cr_assert(t->loss[LOSS_write] > 0);
    cr_assert_eq(t->n_events, res.events);
    cr_assert_eq(t->n_damaged, 0, "%s", t->n_problems ? t->problems[0].text : "");
    trace_close(t);
    recorder_free(rec);
}

static void one_wait(void *ctx, struct buf *events)
{
    (void)ctx;
    struct event e = {.kind = EV_wait_open, .size = event_kinds[EV_wait_open].size, .thread = {2}};
    e.wait_open.kind = EV_monitor_contended_enter;
    buf_put(events, &e, sizeof e);
}

/* The file says which waits go on at the end, as at the end of any. */
Test(record, duration_ends_it, .init = set_up, .fini = tear_down)
{
    struct recorder *rec = open_rec((struct recorder_opts){.files = {.open_waits = one_wait}});
    struct producer p[1] = {{.count = 10}};
    struct recorder_result res;
    run_producers(rec, p, 1);
    recorder_end_after(rec, 1);
    cr_assert_happens(!recorder_on(rec));
    recorder_close(rec, &res);
    cr_assert_eq(res.state, TRACE_CLOSED);
    struct seen s = check_trace(true);
    cr_assert_eq(s.events, 10);
    cr_assert_eq(s.open_waits, 1);
    cr_assert_eq(res.events, 11);
    recorder_free(rec);
}

Test(record, the_circle_keeps_the_newest_part, .init = set_up, .fini = tear_down)
{
    struct recorder *rec = open_rec((struct recorder_opts){.block = true, .maxsize = 4 << 20});
    struct producer p[3] = {{.count = 2500000}, {.count = 2500000}, {.count = 2500000}};
    struct recorder_result res;
    run_producers(rec, p, 3);
    recorder_close(rec, &res);
    struct seen s = check_trace(false);
    struct err err;
    struct trace *t;
    struct stat st;
    cr_assert_eq(stat(path, &st), 0);
    cr_assert(st.st_size <= 4 << 20, "%ld bytes", (long)st.st_size);
    cr_assert_eq(trace_open(&t, path, &err), 0);
    cr_assert(t->header.evicted_events > 0, "the test has lost its point");
    cr_assert_eq(s.events + t->header.evicted_events, 7500000);
    int ended = 0;
    for (uint32_t i = 1; i <= 3; i++) {
        ended += s.last[i] == 2500000; /* a thread that ended early may be overwritten whole */
        cr_assert_str_neq(trace_thread(t, (thread_id){i})->name, "?");
    }
    cr_assert(ended >= 1, "the newest are there");
    trace_close(t);
    recorder_free(rec);
}

/* --- killed ----------------------------------------------------------------------------------- */

#ifdef ORCA_TEST_POINTS
static const char *kill_at;
static int kill_after;

static void killer(const char *name)
{
    if (kill_at && strcmp(name, kill_at) == 0 && kill_after-- == 0)
        kill(getpid(), SIGKILL);
}
#endif

/* In a child: record, writing each thread's committed count to `progress` before each commit... and
 * die: at a test point, or after everything was committed (name NULL).  A circle needs enough
 * events to go around that small rings would wait for its writer most of the time. */
static void child_dies(volatile uint64_t *progress, uint32_t count, uint64_t maxsize,
                       const char *point, int after)
{
    pid_t pid = fork();
    if (pid == 0) {
        struct recorder *rec = open_rec((struct recorder_opts){
            .block = true, .maxsize = maxsize, .ring_max = maxsize ? 262144 : 16384});
        define_thread(rec, 1);
        struct ring *r = ring_attach(rec);
#ifdef ORCA_TEST_POINTS
        kill_at = point;
        kill_after = after;
        test_point_hook = killer;
#endif
        for (uint32_t i = 1; i <= count; i++) {
            struct event *e =
                ring_begin(r, EV_monitor_contended_enter, (thread_id){1}, clock_mono_ns());
            if (!e)
                _exit(9);
            e->monitor_contended_enter.lock.v = i % 17;
            e->monitor_contended_enter.owner.v = i;
            e->monitor_contended_enter.stack.v = i % 5;
            ring_commit(r, e);
            *progress = i;
        }
        if (point)
            recorder_flush(rec);
        kill(getpid(), SIGKILL);
    }
    int status;
    waitpid(pid, &status, 0);
    cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "%s: status %x", point, status);
    (void)after;
}

static volatile uint64_t *shared_counter(void)
{
    void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(p, MAP_FAILED);
    return p;
}

static void recover_and_check(uint64_t committed, const char *point, int after)
{
    struct err err = {""};
    cr_assert_eq(recover_trace(path, &err), RECOVER_DONE, "%s/%d: %s", point, after, err.msg);
    struct seen s = check_trace(true);
    /* The counter is written after the commit: the child may have committed one more. */
    cr_assert(s.events == committed || s.events == committed + 1, "%s/%d: %lu of %lu", point, after,
              (unsigned long)s.events, (unsigned long)committed);
    struct trace *t;
    cr_assert_eq(trace_open(&t, path, &err), 0, "%s", err.msg);
    cr_assert_eq(t->n_put, s.events, "%s/%d: the file says %lu, has %lu", point, after,
                 (unsigned long)t->n_put, (unsigned long)s.events);
    trace_close(t);
    cr_assert_eq(recover_trace(path, &err), RECOVER_NOTHING);
    cr_assert_eq(files_in(dir), 1, "%s: the rings are gone", point);
}

Test(recover, everything_committed_is_there, .init = set_up, .fini = tear_down)
{
    volatile uint64_t *progress = shared_counter();
    child_dies(progress, 100, 0, NULL, 0);
    cr_assert_eq(*progress, 100);
    recover_and_check(100, "end", 0);
}

#ifdef ORCA_TEST_POINTS
static const char *const points[] = {
    "stage:encoded", "stage:committed", "stage:freed", "defs:written", "flush:written",
    "flush:emptied", "writer:before",   "writer:torn", "ring:grown",   "ring:left"};

Test(recover, killed_at_every_point, .init = set_up, .fini = tear_down)
{
    volatile uint64_t *progress = shared_counter();
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++)
        for (int after = 0; after < 3; after++) {
            if (strncmp(points[i], "ring:", 5) == 0 && after > 0)
                continue; /* the ring grows once: 2k -> 16k */
            if (strcmp(points[i], "defs:written") == 0 && after > 0)
                continue; /* there is one definition */
            *progress = 0;
            unlink(path);
            child_dies(progress, 60000, 0, points[i], after);
            recover_and_check(*progress, points[i], after);
        }
}

static void recovery_dies(const char *point)
{
    pid_t pid = fork();
    if (pid == 0) {
        kill_at = point;
        kill_after = 0;
        test_point_hook = killer;
        recover_trace(path, NULL);
        _exit(0);
    }
    int status;
    waitpid(pid, &status, 0);
    cr_assert(WIFSIGNALED(status), "%s was not reached", point);
}

/* A recovery that dies is completed by the next one. */
Test(recover, killed_while_recovering, .init = set_up, .fini = tear_down)
{
    static const char *const in_recovery[] = {"stage:committed", "stage:freed",   "flush:written",
                                              "flush:emptied",   "writer:before", "writer:torn",
                                              "close:indexed"};
    volatile uint64_t *progress = shared_counter();
    for (size_t i = 0; i < sizeof in_recovery / sizeof in_recovery[0]; i++) {
        *progress = 0;
        unlink(path);
        child_dies(progress, 100000, 0, "stage:encoded", 20);
        recovery_dies(in_recovery[i]);
        recover_and_check(*progress, in_recovery[i], 0);
    }
}

static void replace_trace(const char *name)
{
    char other[160], real[160];
    snprintf(other, sizeof other, "%s.other", path);
    snprintf(real, sizeof real, "%s.real", path);
    if (strcmp(name, "recover:taken") == 0 && rename(path, real) == 0)
        cr_assert_eq(symlink(other, path), 0);
}

/* Whoever may write to the folder could have another file written to. */
Test(recover, the_trace_is_replaced_meanwhile, .init = set_up, .fini = tear_down)
{
    volatile uint64_t *progress = shared_counter();
    char other[160], real[160], content[64] = "";
    struct err err = {""};
    snprintf(other, sizeof other, "%s.other", path);
    snprintf(real, sizeof real, "%s.real", path);
    child_dies(progress, 100, 0, NULL, 0);
    FILE *f = fopen(other, "w");
    fputs("precious", f);
    fclose(f);
    test_point_hook = replace_trace;
    int rc = recover_trace(path, &err);
    test_point_hook = NULL;
    cr_assert_eq(rc, -ESTALE, "%d %s", rc, err.msg);
    f = fopen(other, "r");
    cr_assert(fgets(content, sizeof content, f));
    fclose(f);
    cr_assert_str_eq(content, "precious");
    unlink(other);
    cr_assert_eq(rename(real, path), 0);
    recover_and_check(100, "replaced", 0);
}

/* The trace is whole by then, and the next reader removes what is left beside it. */
Test(recover, killed_before_the_rings_were_removed, .init = set_up, .fini = tear_down)
{
    volatile uint64_t *progress = shared_counter();
    child_dies(progress, 100000, 0, "stage:encoded", 20);
    recovery_dies("recover:closed");
    cr_assert_eq(files_in(dir), 2, "the trace and its rings");
    cr_assert_eq(recover_trace(path, NULL), RECOVER_NOTHING);
    cr_assert_eq(files_in(dir), 1, "the rings are gone");
    check_trace(true);
}

Test(recover, a_circle_killed_in_mid_write, .init = set_up, .fini = tear_down)
{
    volatile uint64_t *progress = shared_counter();
    struct err err = {""};
    for (int after = 20; after < 250; after += 90) {
        *progress = 0;
        unlink(path);
        child_dies(progress, 40000000, 4 << 20, "writer:torn", after);
        cr_assert_eq(recover_trace(path, &err), RECOVER_DONE, "%s", err.msg);
        struct seen s = check_trace(false);
        cr_assert(s.last[1] == *progress || s.last[1] == *progress + 1, "%d: %u of %lu", after,
                  s.last[1], (unsigned long)*progress);
        cr_assert(s.events > 1000);
        struct trace *t;
        cr_assert_eq(trace_open(&t, path, &err), 0, "%s", err.msg);
        uint64_t all = s.events + t->header.evicted_events;
        cr_assert(all == *progress || all == *progress + 1, "%d: %lu of %lu", after,
                  (unsigned long)all, (unsigned long)*progress);
        trace_close(t);
    }
}
#endif

Test(recover, without_the_rings_the_file_is_read_as_it_is, .init = set_up, .fini = tear_down)
{
    volatile uint64_t *progress = shared_counter();
    char cmd[128];
    struct err err;
    child_dies(progress, 100, 0, NULL, 0);
    snprintf(cmd, sizeof cmd, "rm %s/*.rings", dir);
    cr_assert_eq(system(cmd), 0);
    cr_assert_eq(recover_trace(path, &err), RECOVER_GONE);
    struct trace *t;
    cr_assert_eq(trace_open(&t, path, &err), 0);
    cr_assert_not(t->complete);
    trace_close(t);
}

Test(recover, damaged_rings_cost_their_content_only, .init = set_up, .fini = tear_down)
{
    volatile uint64_t *progress = shared_counter();
    struct err err = {""};
    uint64_t seed = 12345;
    for (int round = 0; round < 40; round++) {
        *progress = 0;
        unlink(path);
        child_dies(progress, 200, 0, NULL, 0);
        char name[512] = "";
        DIR *d = opendir(dir);
        for (struct dirent *e; (e = readdir(d));)
            if (strstr(e->d_name, ".rings"))
                snprintf(name, sizeof name, "%s/%s", dir, e->d_name);
        closedir(d);
        FILE *f = fopen(name, "r+");
        for (int i = 0; i < 64; i++) { /* garbage into header, stage counters, controls, data */
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            struct stat st;
            stat(name, &st);
            long span = i % 2 ? 4096 : 4 << 20;
            long base = i % 3 ? 0 : (long)sizeof(struct region_header) / 4096 * 4096;
            fseek(f, base + (long)(seed >> 33) % span, SEEK_SET);
            fputc((int)(seed >> 56), f);
        }
        fclose(f);
        int rc =
            recover_trace(path, &err); /* may fail, may recover: must come back and keep the file */
        cr_assert(rc <= RECOVER_GONE);
        struct trace *t;
        cr_assert_eq(trace_open(&t, path, &err), 0, "%s", err.msg);
        trace_close(t);
        unlink(name);
    }
}

/* --- rings that somebody else wrote ----------------------------------------------------------- */

/* The rings of the killed recording in `dir`. */
static void find_rings(char name[512])
{
    *name = 0;
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));)
        if (strstr(e->d_name, ".rings"))
            snprintf(name, 512, "%s/%s", dir, e->d_name);
    closedir(d);
    cr_assert(*name);
}

/* Change the region of a killed recording. */
static void change(void (*how)(struct region_header *h))
{
    char name[512];
    find_rings(name);
    int fd = open(name, O_RDWR);
    struct stat st;
    cr_assert_eq(fstat(fd, &st), 0);
    void *p = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    cr_assert_neq(p, MAP_FAILED);
    how(p);
    munmap(p, (size_t)st.st_size);
    close(fd);
}

static void many_blocks(struct region_header *h)
{
    atomic_store(&h->stage.n_blocks, UINT32_MAX);
}

static void long_blocks(struct region_header *h)
{
    atomic_store(&h->stage.n_blocks, REGION_STAGE_BLOCKS);
    for (int i = 0; i < REGION_STAGE_BLOCKS; i++)
        h->stage.blocks[i] = (struct block){.stream = 1, .pos = 0, .pos_end = 1, .len = UINT32_MAX};
}

/* Their sum is a little number in 32 bits. */
static void blocks_that_wrap(struct region_header *h)
{
    atomic_store(&h->stage.n_blocks, 2);
    h->stage.blocks[0] = (struct block){.stream = 1, .pos_end = 1, .len = 0xfffffff0};
    h->stage.blocks[1] = (struct block){.stream = 2, .pos_end = 1, .len = 0x20};
}

static void many_rings(struct region_header *h)
{
    h->max_rings = UINT32_MAX;
    atomic_store(&h->used_rings, UINT32_MAX);
}

static void far_rings(struct region_header *h)
{
    struct ring_ctl *c = region_ctl(h, 0);
    c->data = UINT64_MAX - 4096;
    c->size = 1u << 31;
    atomic_store(&c->head, UINT64_MAX - 7);
}

static void far_controls(struct region_header *h)
{
    h->ctl_offset = h->size - 4096;
}

/* Over the header, whose rings lie where it is. */
static void near_controls(struct region_header *h)
{
    h->ctl_offset = 0;
}

static void odd_controls(struct region_header *h)
{
    h->ctl_offset += 8;
}

Test(recover, what_rings_claim_is_checked, .init = set_up, .fini = tear_down)
{
    static void (*const hows[])(struct region_header *) = {
        many_blocks, long_blocks,  blocks_that_wrap, many_rings,
        far_rings,   far_controls, near_controls,    odd_controls};
    volatile uint64_t *progress = shared_counter();
    for (size_t i = 0; i < sizeof hows / sizeof *hows; i++) {
        struct err err = {""};
        struct trace *t;
        unlink(path);
        child_dies(progress, 200, 0, NULL, 0);
        change(hows[i]);
        int rc = recover_trace(path, &err);
        cr_assert(rc <= RECOVER_GONE && (rc >= 0 || err.msg[0]), "%zu: %d", i, rc);
        cr_assert(hows[i] == far_rings || rc < 0, "%zu: taken for sound", i);
        cr_assert_eq(trace_open(&t, path, &err), 0, "%zu: %s", i, err.msg);
        trace_close(t);
        char name[512];
        snprintf(name, sizeof name, "rm -f %s/*.rings", dir);
        cr_assert_eq(system(name), 0);
    }
}

/* Not a link, not a file that others may write, not another user's, and of no other name. */
Test(recover, only_the_owners_own_file_is_taken, .init = set_up, .fini = tear_down)
{
    volatile uint64_t *progress = shared_counter();
    char name[512], other[520];
    struct err err = {""};
    child_dies(progress, 200, 0, NULL, 0);
    find_rings(name);
    cr_assert_eq(chmod(name, 0640), 0);
    cr_assert_eq(recover_trace(path, &err), -EPERM);
    cr_assert(strstr(err.msg, "other users may have written to it"), "%s", err.msg);
    cr_assert_eq(chmod(name, 0600), 0);
    if (geteuid() == 0) {
        cr_assert_eq(chown(name, 12345, 12345), 0);
        cr_assert_eq(recover_trace(path, &err), -EPERM);
        cr_assert_eq(chown(name, 0, 0), 0);
    }
    snprintf(other, sizeof other, "%s.away", name);
    cr_assert_eq(link(name, other), 0);
    cr_assert_eq(recover_trace(path, &err), -EPERM, "a second name");
    cr_assert_eq(unlink(name), 0);
    cr_assert_eq(symlink(other, name), 0);
    cr_assert_eq(recover_trace(path, &err), -EINVAL, "a link");
    cr_assert_eq(access(other, F_OK), 0, "what a link leads to stays");
    cr_assert_eq(unlink(name), 0);
    cr_assert_eq(rename(other, name), 0);
    recover_and_check(*progress, "at last", 0);
}

/* Somebody puts another file in its place while it is read. */
Test(recover, only_what_was_opened_is_removed, .init = set_up, .fini = tear_down)
{
    volatile uint64_t *progress = shared_counter();
    char name[512], away[520];
    struct err err = {""};
    struct region r;
    struct trace *t;
    child_dies(progress, 200, 0, NULL, 0);
    find_rings(name);
    cr_assert_eq(trace_open(&t, path, &err), 0);
    const struct region_of of = {path, t->header.ring_path, t->header.id, geteuid()};
    cr_assert_eq(region_open_dead(&r, &of, &err), 0, "%s", err.msg);
    snprintf(away, sizeof away, "%s.away", name);
    cr_assert_eq(rename(name, away), 0);
    close(open(name, O_CREAT | O_WRONLY, 0600));
    region_unlink(&r);
    cr_assert_eq(access(name, F_OK), 0, "another file of that name stays");
    region_close(&r);
    trace_close(t);
}

/* A program that names its trace by a relative path: its rings are beside it, wherever we are. */
Test(recover, relative_rings_are_beside_the_trace, .init = set_up, .fini = tear_down)
{
    volatile uint64_t *progress = shared_counter();
    char before[512], whole[128];
    cr_assert(getcwd(before, sizeof before));
    cr_assert_eq(chdir(dir), 0);
    strcpy(whole, path);
    strcpy(path, "t.otrace");
    strcpy(rings, ".");
    child_dies(progress, 200, 0, NULL, 0);
    cr_assert_eq(chdir(before), 0);
    strcpy(path, whole);
    recover_and_check(*progress, "relative", 0);
}
