/* rotate_test.c - a recording of several files: each event is in exactly one of them, each file is
 * a trace by itself, whatever is killed when. */
#include "../patience.h"
#include "base/testpoint.h"
#include "cases.h"
#include "format/trace.h"
#include "record/place.h"
#include "record/recorder.h"
#include "record/recover.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, FILES_MAX = 64 };
#define MS UINT64_C(1000000)

static char dir[64], path[128];

static void set_up(void)
{
    strcpy(dir, "/tmp/orca-rotate-XXXXXX");
    cr_assert(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/t.otrace", dir);
}

static void tear_down(void)
{
    char cmd[128];
    snprintf(cmd, sizeof cmd, "rm -rf %s", dir);
    cr_assert_eq(system(cmd), 0);
}

static const char *part_path(uint32_t part)
{
    static char name[160];
    if (part == 1)
        return path;
    snprintf(name, sizeof name, "%s/t.%03u.otrace", dir, part);
    return name;
}

static bool is_there(uint32_t part)
{
    return access(part_path(part), F_OK) == 0;
}

static struct recorder *open_rec(struct recorder_opts o)
{
    struct err err = {""};
    struct recorder *rec;
    o.path = path;
    o.ringdir = dir;
    cr_assert_eq(recorder_open(&rec, &o, &err), 0, "%s", err.msg);
    return rec;
}

static void define_thread(struct recorder *rec, uint32_t id)
{
    char name[16];
    snprintf(name, sizeof name, "t%u", id);
    struct def d = {.kind = DEF_thread, .thread = {.id = {id}, .name = {name, strlen(name)}}};
    cr_assert(recorder_define(rec, &d));
}

static void put_numbered(struct ring *r, uint32_t thread, uint32_t number, uint32_t lock)
{
    struct event *e =
        ring_begin(r, EV_monitor_contended_enter, (thread_id){thread}, clock_mono_ns());
    if (!e)
        return;
    e->monitor_contended_enter.lock.v = lock;
    e->monitor_contended_enter.owner.v = number;
    e->monitor_contended_enter.stack.v = 0;
    ring_commit(r, e);
}

static void put_number(struct ring *r, uint32_t thread, uint32_t number)
{
    put_numbered(r, thread, number, 0);
}

/* --- reading ---------------------------------------------------------------------------------- */

/* What the files hold together: each thread's numbers rise by one over all of them. */
struct seen {
    uint32_t last[THREADS + 1];
    uint64_t events, lost, notes;
    uint32_t files;
};

static void look(struct seen *s, uint32_t part, bool gapless)
{
    struct err err = {""};
    struct trace *t;
    struct trace_iter *it;
    struct event e;
    cr_assert_eq(trace_open(&t, part_path(part), &err), 0, "%s", err.msg);
    cr_assert_eq(t->n_problems, 0, "part %u: %s", part, t->problems[0].text);
    cr_assert(t->complete);
    cr_assert_eq(trace_iter_open(&it, t, &err), 0);
    while (trace_iter_next(it, &e, NULL, &err) > 0) {
        uint32_t id = e.thread.v, n = e.monitor_contended_enter.owner.v;
        s->notes += e.kind == EV_wait_open;
        if (e.kind != EV_monitor_contended_enter)
            continue;
        cr_assert(id >= 1 && id <= THREADS);
        cr_assert(n > s->last[id], "part %u, thread %u: %u after %u", part, id, n, s->last[id]);
        if (gapless)
            cr_assert_eq(n, s->last[id] + 1, "part %u: %u after %u", part, n, s->last[id]);
        cr_assert_eq(trace_thread(t, (thread_id){id})->name[0], 't', "part %u", part);
        lock_id lock = e.monitor_contended_enter.lock;
        cr_assert_eq(trace_lock(t, lock)->id.v, lock.v, "part %u: lock %u", part, lock.v);
        s->last[id] = n;
        s->events++;
    }
    cr_assert_eq(t->n_damaged, 0);
    s->lost += trace_lost(t);
    s->files++;
    trace_iter_close(it);
    trace_close(t);
}

static struct seen look_at_all(bool gapless)
{
    struct seen s = {.files = 0};
    for (uint32_t part = 1; part < FILES_MAX && is_there(part); part++)
        look(&s, part, gapless);
    return s;
}

/* A wait that goes on all the time. */
static void one_wait(void *ctx, struct buf *events)
{
    struct event e = {.kind = EV_wait_open, .size = event_kinds[EV_wait_open].size, .thread = {2}};
    e.wait_open.kind = EV_monitor_contended_enter;
    e.wait_open.since = *(uint64_t *)ctx;
    buf_put(events, &e, sizeof e);
}

/* --- without a kill --------------------------------------------------------------------------- */

struct producer {
    struct recorder *rec;
    uint32_t id, count;
    _Atomic uint32_t written;
};

/* A definition now and then, and the events that name it. */
static void *produce(void *arg)
{
    enum { EVERY = 64 };
    struct producer *p = arg;
    struct ring *r = ring_attach(p->rec);
    uint32_t lock = 0;
    for (uint32_t i = 1; r && i <= p->count; i++) {
        if (i % EVERY == 1) {
            struct def d = {.kind = DEF_lock, .lock = {.id = {i / EVERY * THREADS + p->id}}};
            lock = recorder_define(p->rec, &d) ? d.lock.id.v : 0;
        }
        put_numbered(r, p->id, i, lock);
        atomic_store_explicit(&p->written, i, memory_order_relaxed);
    }
    ring_detach(r);
    return NULL;
}

static uint64_t written_by(const struct producer *p)
{
    uint64_t n = 0;
    for (int i = 0; i < THREADS; i++)
        n += p[i].written;
    return n;
}

/* Four threads write; the files change in equal parts of the first `within` events of each. */
static struct recorder_result under_writers(struct recorder_opts o, uint32_t count, uint32_t within,
                                            int rotations)
{
    struct recorder *rec = open_rec(o);
    struct producer p[THREADS];
    struct recorder_result one, all;
    struct err err = {""};
    pthread_t t[THREADS];
    for (uint32_t i = 0; i < THREADS; i++) {
        p[i] = (struct producer){.rec = rec, .id = i + 1, .count = count};
        define_thread(rec, i + 1);
        pthread_create(&t[i], NULL, produce, &p[i]);
    }
    for (int i = 0; i < rotations; i++) {
        uint64_t part = (uint64_t)within * THREADS / (uint64_t)(rotations + 1);
        cr_assert_happens(written_by(p) >= part * (uint64_t)(i + 1));
        cr_assert_eq(recorder_rotate(rec, &one, &err), 0, "%s", err.msg);
        cr_assert_eq(one.parts, (uint32_t)i + 1);
        cr_assert_str_eq(one.path, part_path((uint32_t)i + 1));
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    recorder_close(rec, &all);
    recorder_free(rec);
    return all;
}

Test(rotate, every_event_is_in_one_file, .init = set_up, .fini = tear_down)
{
    uint64_t since = clock_mono_ns();
    struct recorder_result r = under_writers(
        (struct recorder_opts){
            .block = true, .ring_max = 16384, .files = {.ctx = &since, .open_waits = one_wait}},
        100000, 100000, 12);
    struct seen s = look_at_all(true);
    cr_assert_eq(r.parts, 13);
    cr_assert_eq(s.files, 13);
    cr_assert_eq(s.events, 4 * 100000);
    cr_assert_eq(s.notes, 12);
    cr_assert_eq(r.events, s.events + s.notes);
    cr_assert_eq(r.lost + s.lost, 0);
    cr_assert_str_eq(r.path, part_path(13));
}

#ifdef ORCA_TEST_POINTS
static void slow_down(const char *name)
{
    if (strcmp(name, "stage:freed") == 0)
        clock_sleep_ns(20000);
}
#endif

/* A thread that goes on in a larger ring: what it left in the smaller one comes first. */
Test(rotate, rings_that_grow, .init = set_up, .fini = tear_down)
{
#ifdef ORCA_TEST_POINTS
    test_point_hook = slow_down;
#endif
    for (int round = 0; round < cases(60); round++) {
        struct recorder_result r =
            under_writers((struct recorder_opts){.block = true}, 20000, 4000, 8);
        struct seen s = look_at_all(true);
        cr_assert_eq(s.events, 4 * 20000);
        cr_assert_eq(r.events, s.events);
        for (uint32_t part = 1; part <= 9; part++)
            unlink(part_path(part));
    }
}

Test(rotate, losses_are_of_one_file, .init = set_up, .fini = tear_down)
{
    struct recorder_result r =
        under_writers((struct recorder_opts){.ring_max = 2048}, 200000, 200000, 8);
    struct seen s = look_at_all(false);
    cr_assert(r.lost > 0, "the test has lost its point");
    cr_assert_eq(s.lost, r.lost);
    cr_assert_eq(s.events + s.lost, 4 * 200000);
}

Test(rotate, in_its_time, .init = set_up, .fini = tear_down)
{
    struct recorder *rec = open_rec((struct recorder_opts){.every = 40 * MS});
    struct recorder_result r;
    define_thread(rec, 1);
    struct ring *ring = ring_attach(rec);
    uint32_t n = 0;
    while (n < 300 || !is_there(3)) {
        put_number(ring, 1, ++n);
        patience_pause();
    }
    ring_detach(ring);
    recorder_close(rec, &r);
    recorder_free(rec);
    struct seen s = look_at_all(true);
    cr_assert_eq(s.files, r.parts);
    cr_assert_eq(s.events, n);
}

Test(rotate, keeps_the_newest, .init = set_up, .fini = tear_down)
{
    struct recorder *rec = open_rec((struct recorder_opts){.keep = 3});
    struct recorder_result r;
    struct err err = {""};
    for (int i = 0; i < 2; i++)
        cr_assert_eq(recorder_rotate(rec, &r, &err), 0, "%s", err.msg);
    /* Somebody puts a trace of their own in the place of the second file. */
    char other[128], cmd[600];
    snprintf(other, sizeof other, "%s/other.otrace", dir);
    snprintf(cmd, sizeof cmd, "cp %s %s && mv %s %s", part_path(2), other, other, part_path(2));
    cr_assert_eq(system(cmd), 0);
    for (int i = 0; i < 3; i++)
        cr_assert_eq(recorder_rotate(rec, &r, &err), 0, "%s", err.msg);
    recorder_close(rec, NULL);
    recorder_free(rec);
    cr_assert(!is_there(1) && is_there(2) && !is_there(3));
    cr_assert(is_there(4) && is_there(5) && is_there(6) && !is_there(7));
}

Test(rotate, goes_on_in_the_old_file, .init = set_up, .fini = tear_down)
{
    struct recorder *rec = open_rec((struct recorder_opts){.keep = 0});
    struct recorder_result r;
    struct err err = {""};
    define_thread(rec, 1);
    struct ring *ring = ring_attach(rec);
    put_number(ring, 1, 1);
    cr_assert_eq(mkdir(part_path(2), 0700), 0);
    cr_assert_eq(recorder_rotate(rec, &r, &err), -EEXIST);
    cr_assert(strstr(err.msg, "t.002.otrace exists and is not an Orca trace"), "%s", err.msg);
    put_number(ring, 1, 2);
    cr_assert_eq(rmdir(part_path(2)), 0);
    cr_assert_eq(recorder_rotate(rec, &r, &err), 0, "%s", err.msg);
    cr_assert_eq(r.events, 2);
    put_number(ring, 1, 3);
    ring_detach(ring);
    recorder_close(rec, &r);
    recorder_free(rec);
    cr_assert_eq(look_at_all(true).events, 3);
}

/* A file says which one it is; who had ended before is marked; waits that go on are in each. */
Test(rotate, a_file_says_what_it_is, .init = set_up, .fini = tear_down)
{
    uint64_t since = clock_mono_ns();
    struct recorder *rec =
        open_rec((struct recorder_opts){.files = {.ctx = &since, .open_waits = one_wait}});
    struct recorder_result r;
    struct err err = {""};
    struct trace *t;
    define_thread(rec, 1);
    define_thread(rec, 2);
    struct ring *ring = ring_attach(rec);
    ring_commit(ring, ring_begin(ring, EV_thread_end, (thread_id){1}, clock_mono_ns()));
    cr_assert_eq(recorder_rotate(rec, &r, &err), 0);
    cr_assert_eq(recorder_rotate(rec, &r, &err), 0);
    ring_detach(ring);
    recorder_close(rec, NULL);
    recorder_free(rec);
    cr_assert_eq(trace_open(&t, part_path(1), &err), 0);
    cr_assert_str_eq(trace_info(t, "orca.part", ""), "1");
    cr_assert_str_eq(trace_info(t, "orca.next", ""), part_path(2));
    cr_assert_str_eq(trace_info(t, "orca.previous", ""), "");
    cr_assert_eq(trace_thread(t, (thread_id){1})->flags & THREAD_ENDED, 0);
    uint8_t id[TRACE_ID_SIZE];
    memcpy(id, t->header.id, sizeof id);
    trace_close(t);
    cr_assert_eq(trace_open(&t, part_path(2), &err), 0);
    cr_assert_str_eq(trace_info(t, "orca.part", ""), "2");
    cr_assert_str_eq(trace_info(t, "orca.previous", ""), path);
    cr_assert_str_eq(trace_info(t, "orca.next", ""), part_path(3));
    cr_assert_neq(trace_thread(t, (thread_id){1})->flags & THREAD_ENDED, 0);
    cr_assert_eq(trace_thread(t, (thread_id){2})->flags & THREAD_ENDED, 0);
    cr_assert_eq(memcmp(id + 8, t->header.id + 8, 8), 0, "of one recording");
    cr_assert_neq(memcmp(id, t->header.id, 8), 0);
    trace_close(t);
    cr_assert_eq(trace_open(&t, part_path(3), &err), 0);
    cr_assert_str_eq(trace_info(t, "orca.next", ""), "");
    cr_assert_str_eq(trace_info(t, "orca.part", ""), "3");
    trace_close(t);
    cr_assert_eq(look_at_all(true).notes, 2);
}

/* More than the four files can hold, however the events are spread over them. */
Test(rotate, each_file_is_a_circle, .init = set_up, .fini = tear_down)
{
    struct recorder_result r = under_writers(
        (struct recorder_opts){.block = true, .maxsize = 4 << 20}, 3500000, 1000000, 3);
    struct err err;
    struct trace *t;
    uint64_t evicted = 0;
    for (uint32_t part = 1; part <= 4; part++) {
        struct stat st;
        cr_assert_eq(stat(part_path(part), &st), 0);
        cr_assert(st.st_size <= 4 << 20);
        cr_assert_eq(trace_open(&t, part_path(part), &err), 0);
        evicted += t->header.evicted_events;
        trace_close(t);
    }
    cr_assert(evicted > 0, "the test has lost its point");
    cr_assert_eq(look_at_all(false).events + evicted, r.events);
}

/* --- names ------------------------------------------------------------------------------------ */

Test(rotate, names_of_files, .init = set_up, .fini = tear_down)
{
    char name[200];
    struct err err = {""};
    strcpy(name, path);
    cr_assert_eq(place_next(name, sizeof name, 2, 0, &err), 0);
    cr_assert_str_eq(name, part_path(2));
    snprintf(name, sizeof name, "%s/no.suffix/app", dir);
    cr_assert_eq(place_next(name, sizeof name, 1234, 0, &err), 0);
    cr_assert(strstr(name, "/no.suffix/app.1234"), "%s", name);
    cr_assert_eq(place_next(name, strlen(name) + 2, 2, 0, &err), -ENAMETOOLONG);
    /* a complete trace stays when it ended after the recording began, and is replaced when
     * before */
    struct recorder *rec = open_rec((struct recorder_opts){.keep = 0});
    struct recorder_result r;
    cr_assert_eq(recorder_rotate(rec, &r, &err), 0);
    recorder_close(rec, NULL);
    recorder_free(rec);
    strcpy(name, path);
    cr_assert_eq(place_next(name, sizeof name, 2, 1, &err), 0);
    cr_assert(strstr(name, "t.002-"), "%s", name);
    strcpy(name, path);
    cr_assert_eq(place_next(name, sizeof name, 2, clock_real_ns(), &err), 0);
    cr_assert_str_eq(name, part_path(2));
    cr_assert(!is_there(2));
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

static const char *const points[] = {"rotate:created", "rotate:copied",   "writer:before",
                                     "writer:torn",    "rotate:noted",    "rotate:turning",
                                     "flush:written",  "rotate:switched", "close:indexed",
                                     "rotate:closed",  "rotate:begun"};

/* Rotate twice, and die at the point's `after`th time once the first file is begun. */
static void child_dies(volatile uint32_t *progress, const char *point, int after)
{
    pid_t pid = fork();
    if (pid == 0) {
        kill_at = point;
        kill_after = after;
        test_point_hook = killer;
        uint64_t since = clock_mono_ns();
        struct recorder *rec = open_rec((struct recorder_opts){
            .block = true, .files = {.ctx = &since, .open_waits = one_wait}});
        struct recorder_result r;
        struct err err;
        define_thread(rec, 1);
        struct ring *ring = ring_attach(rec);
        uint32_t n = 0;
        for (int i = 0; i < 3; i++) {
            for (int k = 0; k < 500; k++) {
                put_number(ring, 1, ++n);
                *progress = n;
            }
            recorder_rotate(rec, &r, &err);
        }
        put_number(ring, 1, ++n);
        *progress = n;
        kill(getpid(), SIGKILL);
    }
    int status;
    waitpid(pid, &status, 0);
    cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "%s: status %x", point, status);
}

/* The files are looked at from the first one on, or from the last: it must make no difference. */
static void complete_all(bool backwards, const char *point)
{
    struct err err = {""};
    uint32_t n = 0, done = 0;
    while (is_there(n + 1))
        n++;
    for (uint32_t i = 1; i <= n; i++) {
        int rc = recover_trace(part_path(backwards ? n + 1 - i : i), &err);
        cr_assert(rc == RECOVER_NOTHING || rc == RECOVER_DONE || rc == RECOVER_CLOSED,
                  "%s: file %u of %u: %d %s", point, i, n, rc, err.msg);
        done += rc == RECOVER_DONE;
    }
    cr_assert_eq(done, 1, "%s: the rings are of one file, not of %u", point, done);
    for (uint32_t i = 1; i <= n; i++)
        cr_assert_eq(recover_trace(part_path(i), &err), RECOVER_NOTHING);
}

Test(rotate, killed_at_every_point, .init = set_up, .fini = tear_down, .timeout = 120)
{
    volatile uint32_t *progress =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++)
        for (int after = 0; after < 12; after++) {
            if (after >= 3 && strncmp(points[i], "writer:", 7) != 0)
                break;
            *progress = 0;
            child_dies(progress, points[i], after);
            complete_all(after % 2, points[i]);
            struct seen s = look_at_all(true);
            cr_assert(s.events == *progress || s.events == *progress + 1, "%s/%d: %lu of %u",
                      points[i], after, (unsigned long)s.events, *progress);
            char cmd[256];
            snprintf(cmd, sizeof cmd, "rm %s/*.otrace && [ -z \"$(ls %s)\" ]", dir, dir);
            cr_assert_eq(system(cmd), 0, "%s: the rings are gone", points[i]);
        }
}

/* Losses before a file began are not its own, also when a recovery counts them. */
Test(rotate, losses_after_a_kill, .init = set_up, .fini = tear_down)
{
    pid_t pid = fork();
    if (pid == 0) {
        struct recorder *rec = open_rec((struct recorder_opts){.keep = 0});
        struct recorder_result r;
        struct err err;
        recorder_count_loss(rec, LOSS_no_ring, 5);
        recorder_rotate(rec, &r, &err);
        recorder_count_loss(rec, LOSS_no_ring, 2);
        recorder_rotate(rec, &r, &err);
        recorder_count_loss(rec, LOSS_no_ring, 1);
        kill(getpid(), SIGKILL);
    }
    int status;
    waitpid(pid, &status, 0);
    cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    complete_all(false, "losses");
    static const uint64_t lost[] = {5, 2, 1};
    for (uint32_t part = 1; part <= 3; part++) {
        struct seen s = {.files = 0};
        look(&s, part, true);
        cr_assert_eq(s.lost, lost[part - 1], "part %u: %lu", part, (unsigned long)s.lost);
    }
}

/* What was copied before the kill cannot take what came later. */
Test(rotate, a_copy_of_a_file_says_what_it_is, .init = set_up, .fini = tear_down)
{
    char copy[128], cmd[600];
    snprintf(copy, sizeof copy, "%s/copy", dir);
    pid_t pid = fork();
    if (pid == 0) {
        struct recorder *rec = open_rec((struct recorder_opts){.keep = 0});
        struct recorder_result r;
        struct err err;
        snprintf(cmd, sizeof cmd, "cp %s %s", path, copy);
        if (system(cmd) != 0 || recorder_rotate(rec, &r, &err) < 0)
            _exit(1);
        kill(getpid(), SIGKILL);
    }
    int status;
    struct err err = {""};
    waitpid(pid, &status, 0);
    cr_assert(WIFSIGNALED(status));
    cr_assert_eq(recover_trace(copy, &err), -ESTALE);
    cr_assert(strstr(err.msg, "a later file of this recording"), "%s", err.msg);
    complete_all(true, "copy");
}
#endif
