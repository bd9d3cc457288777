/* producers.c - the rings, the drain thread and the file without a JVM: how many events a second
 * are recorded without loss.
 *
 *     producers THREADS SECONDS [RATE]
 *         RATE: events a second of all threads together; 0: flat out
 *
 * Each thread writes what contention writes: an enter (lock, owner, stack) and an entered, over 50
 * locks and 200 stacks chosen at random.  Prints "events_per_s N lost N bytes_per_event X". */
#include "base/util.h"
#include "record/recorder.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct producer {
    struct recorder *rec;
    uint32_t id;
    uint64_t until, rate; /* events a second, 0: no limit */
    uint64_t written, refused;
};

static uint64_t next(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    return *s ^= *s << 17;
}

static void pair(struct producer *p, struct ring *r, uint64_t *seed)
{
    uint64_t x = next(seed);
    thread_id self = {p->id};
    struct event *e = ring_begin(r, EV_monitor_contended_enter, self, clock_mono_ns());
    lock_id lock = {(uint32_t)(1 + x % 50)};
    if (e) {
        e->monitor_contended_enter.lock = lock;
        e->monitor_contended_enter.owner.v = (uint32_t)(1 + (x >> 8) % 8);
        e->monitor_contended_enter.stack.v = (uint32_t)(1 + (x >> 16) % 200);
        ring_commit(r, e);
    }
    p->written += e != NULL;
    p->refused += e == NULL;
    e = ring_begin(r, EV_monitor_contended_entered, self, clock_mono_ns());
    if (e) {
        e->monitor_contended_entered.lock = lock;
        ring_commit(r, e);
    }
    p->written += e != NULL;
    p->refused += e == NULL;
}

static void *produce(void *arg)
{
    struct producer *p = arg;
    struct ring *r = ring_attach(p->rec);
    uint64_t seed = 88172645463325252u + p->id, start = clock_mono_ns(), now = start;
    while (r && now < p->until) {
        for (int i = 0; i < 50; i++)
            pair(p, r, &seed);
        now = clock_mono_ns();
        uint64_t due = p->rate ? (p->written + p->refused) * 1000000000u / p->rate : 0;
        if (due > now - start)
            clock_sleep_ns(due - (now - start));
    }
    ring_detach(r);
    return NULL;
}

int main(int argc, char **argv)
{
    enum { MAX = 64 };
    int n = argc > 1 ? atoi(argv[1]) : 1;
    double seconds = argc > 2 ? atof(argv[2]) : 2;
    uint64_t rate = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    char path[128];
    struct err err = {""};
    struct recorder_result res;
    struct producer p[MAX];
    pthread_t t[MAX];
    if (n < 1 || n > MAX || seconds <= 0)
        return fprintf(stderr, "usage: producers THREADS SECONDS [RATE]\n"), 2;
    snprintf(path, sizeof path, "%s/producers-%d.otrace",
             getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (int)getpid());
    struct recorder *rec;
    if (recorder_open(&rec, &(struct recorder_opts){.path = path}, &err) < 0)
        return fprintf(stderr, "producers: %s\n", err.msg), 1;
    uint64_t start = clock_mono_ns(), until = start + (uint64_t)(seconds * 1e9);
    for (int i = 0; i < n; i++) {
        p[i] = (struct producer){rec, (uint32_t)i + 1, until, rate / (uint64_t)n, 0, 0};
        pthread_create(&t[i], NULL, produce, &p[i]);
    }
    uint64_t written = 0;
    for (int i = 0; i < n; i++) {
        pthread_join(t[i], NULL);
        written += p[i].written;
    }
    double took = (double)(clock_mono_ns() - start) / 1e9;
    recorder_close(rec, &res);
    unlink(path);
    printf("events_per_s %.0f lost %llu bytes_per_event %.2f\n", (double)written / took,
           (unsigned long long)res.lost, (double)res.bytes / (double)max_u64(res.events, 1));
    return 0;
}
