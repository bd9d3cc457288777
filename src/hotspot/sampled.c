#include "hotspot/sampled.h"

#include "base/util.h"
#include "hotspot/notes.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    TIDS = 1 << 22,   /* the kernel gives no larger id (pid_max) */
    PLACES = 1 << 16, /* threads that can be sampled at a time */
    WALL_UNIT = 1000, /* of a weight in a note, ns */
    WALL_BIT = 1u << 31,
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sampled *places;     /* [PLACES]; unused pages cost nothing */
static _Atomic uint32_t *place_of; /* [TIDS]: 1 + index, 0: not sampled */
static uint32_t n_places;          /* ever used */
static uint32_t first_free;        /* none below is free */
static uint64_t interval;          /* of processor time */
static enum sampled_clock clock_kind;
static struct {
    uint64_t perf, timers; /* that may be there at a time */
} limits;
static struct sampled_counts counts;
static _Atomic uint64_t cpu_weight;

/* --- in the handler --------------------------------------------------------------------------- */

static struct sampled *self(struct sample_subject *who)
{
    uint32_t tid = (uint32_t)syscall(SYS_gettid);
    /* acquire: pairs with sampled_add */
    uint32_t i = tid < TIDS ? atomic_load_explicit(&place_of[tid], memory_order_acquire) : 0;
    if (!i)
        return NULL;
    *who = places[i - 1].who;
    /* The place may just be given to another thread; then this one's entry has changed before.
     * acquire, to look after the copy: pairs with forget */
    atomic_thread_fence(memory_order_acquire);
    bool same =
        who->os_tid == tid && atomic_load_explicit(&place_of[tid], memory_order_relaxed) == i;
    return same ? &places[i - 1] : NULL;
}

/* A timer counts the ticks that came while its signal was pending. */
static void on_note(uint32_t payload, const siginfo_t *info, const void *ucontext)
{
    struct sample_subject who;
    struct sample_moment m = {.group = SAMPLE_CPU};
    if (payload & WALL_BIT) {
        m.group = SAMPLE_WALL;
        m.weight = (uint64_t)(payload & ~WALL_BIT) * WALL_UNIT;
    } else {
        uint64_t one = atomic_load_explicit(&cpu_weight, memory_order_relaxed);
        m.weight = one * (1 + (uint64_t)(info->si_overrun > 0 ? info->si_overrun : 0));
    }
    if (m.weight && self(&who))
        samples_take(&who, &m, ucontext);
}

/* Another thread may unmap the place's pages during that: they are read by guarded loads. */
static bool on_perf(const siginfo_t *info, const void *ucontext)
{
    struct sample_subject who;
    struct perf_moment now;
    struct sampled *t = self(&who);
    if (!t || t->perf.fd < 0 || t->perf.fd != info->si_fd)
        return false;
    uint64_t weight = atomic_load_explicit(&cpu_weight, memory_order_relaxed);
    if (!weight || !perf_clock_read(&t->perf, &now) || self(&who) != t)
        return true;
    struct sample_moment m = {.group = SAMPLE_CPU,
                              .weight = weight * now.periods,
                              .kernel = now.kernel,
                              .n_kernel = now.n};
    samples_take(&who, &m, ucontext);
    return true;
}

/* --- timers ----------------------------------------------------------------------------------- */

/* The kernel's clock of another thread's processor time: its number is in posix-timers_types.h. */
static clockid_t clock_of(uint32_t tid)
{
    enum { PER_THREAD = 4, SCHED = 2, SHIFT = 3 };
    return (clockid_t)(~tid << SHIFT | PER_THREAD | SCHED);
}

bool sampled_cpu_ns(uint32_t os_tid, uint64_t *ns)
{
    struct timespec t;
    if (syscall(SYS_clock_gettime, clock_of(os_tid), &t) != 0)
        return false;
    *ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    return true;
}

/* The system calls themselves: libc's timer_create has no way to name another thread before 2.40's
 * sigev_notify_thread_id, and keeps an object of its own. */
static void start_timer(struct sampled *t)
{
    struct sigevent event;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = NOTES_SIGNAL;
    event.sigev_value = note_value(NOTE_SAMPLE, 0);
    event._sigev_un._tid = (pid_t)t->who.os_tid;
    if (counts.timers_now >= limits.timers) {
        counts.refused++;
        return;
    }
    if (syscall(SYS_timer_create, clock_of(t->who.os_tid), &event, &t->timer) != 0) {
        counts.refused += errno != EINVAL; /* else it is gone */
        return;
    }
    t->has_timer = true;
    counts.timers++, counts.timers_now++;
    struct timespec each = {(time_t)(interval / 1000000000u), (long)(interval % 1000000000u)};
    struct itimerspec spec = {.it_interval = each, .it_value = each};
    syscall(SYS_timer_settime, t->timer, 0, &spec, NULL);
}

static bool start_perf(struct sampled *t)
{
    int rc = counts.perf_now < limits.perf
                 ? perf_clock_open(&t->perf, t->who.os_tid, interval, NOTES_SIGNAL)
                 : -EMFILE;
    if (rc == 0) {
        counts.perf++, counts.perf_now++;
        perf_clock_start(&t->perf);
    } else if (rc != -ESRCH) {
        counts.perf_error = -rc;
    }
    return rc == 0 || rc == -ESRCH;
}

static void start_clock(struct sampled *t)
{
    if (t->has_timer || t->perf.fd >= 0 || !interval)
        return;
    if (clock_kind != SAMPLED_TIMER && start_perf(t))
        return;
    if (clock_kind != SAMPLED_PERF)
        start_timer(t);
    else
        counts.refused++;
}

static void stop_clock(struct sampled *t)
{
    if (t->has_timer)
        syscall(SYS_timer_delete, t->timer);
    counts.timers_now -= t->has_timer;
    t->has_timer = false;
    counts.perf_now -= t->perf.fd >= 0;
    perf_clock_close(&t->perf);
}

struct sampled_counts sampled_counts(void)
{
    pthread_mutex_lock(&lock);
    struct sampled_counts c = counts;
    pthread_mutex_unlock(&lock);
    return c;
}

/* A program's descriptors and signals are its own: no more than a part of what it may have.  (A
 * timer keeps room for one pending signal of the user's.) */
static uint64_t part_of(__rlimit_resource_t what, uint64_t max)
{
    enum { PART = 4 };
    struct rlimit l;
    return getrlimit(what, &l) == 0 ? min_u64(l.rlim_cur / PART, max) : 0;
}

static void set_limits(void)
{
    enum { PERF_MAX = 4096 };
    limits.perf = part_of(RLIMIT_NOFILE, PERF_MAX);
    limits.timers = part_of(RLIMIT_SIGPENDING, PLACES);
}

/* --- the table -------------------------------------------------------------------------------- */

static void *map(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

int sampled_open(struct err *err)
{
    int rc = 0;
    pthread_mutex_lock(&lock);
    if (!places)
        places = map(PLACES * sizeof *places);
    if (!place_of)
        place_of = map(TIDS * sizeof *place_of);
    if (!places || !place_of)
        rc = err_set(err, -ENOMEM, "out of memory");
    pthread_mutex_unlock(&lock);
    TRY(rc);
    notes_open_fd(on_perf);
    return notes_open(NOTE_SAMPLE, on_note, err);
}

static struct sampled *find(uint32_t os_tid)
{
    bool can_be = place_of && os_tid < TIDS;
    uint32_t i = can_be ? atomic_load_explicit(&place_of[os_tid], memory_order_relaxed) : 0;
    return i ? &places[i - 1] : NULL;
}

static struct sampled *free_place(void)
{
    while (first_free < n_places && places[first_free].who.os_tid)
        first_free++;
    if (first_free < n_places)
        return &places[first_free];
    return n_places < PLACES ? &places[n_places++] : NULL;
}

static void forget(struct sampled *t)
{
    stop_clock(t);
    atomic_store_explicit(&place_of[t->who.os_tid], 0, memory_order_relaxed);
    /* release: pairs with self */
    atomic_thread_fence(memory_order_release);
    memset(t, 0, sizeof *t);
    first_free = min_u32(first_free, (uint32_t)(t - places));
}

static void add(const struct sample_subject *who, bool replace)
{
    if (!who->os_tid || who->os_tid >= TIDS || !places || !place_of)
        return;
    pthread_mutex_lock(&lock);
    struct sampled *t = find(who->os_tid);
    if (t && replace)
        forget(t);
    t = t && !replace ? NULL : free_place();
    if (t) {
        *t = (struct sampled){.who = *who, .perf.fd = -1};
        /* release: a handler that sees the place sees who is there */
        atomic_store_explicit(&place_of[who->os_tid], (uint32_t)(t - places) + 1,
                              memory_order_release);
        start_clock(t);
    }
    pthread_mutex_unlock(&lock);
}

void sampled_add(const struct sample_subject *who)
{
    add(who, true);
}

void sampled_add_new(const struct sample_subject *who)
{
    add(who, false);
}

void sampled_remove(uint32_t os_tid)
{
    pthread_mutex_lock(&lock);
    struct sampled *t = find(os_tid);
    if (t)
        forget(t);
    pthread_mutex_unlock(&lock);
}

static void each(uint32_t from, uint32_t to, void (*visit)(void *ctx, struct sampled *t), void *ctx)
{
    for (uint32_t i = from; i < to && i < n_places; i++)
        if (places[i].who.os_tid)
            visit(ctx, &places[i]);
}

static void forget_one(void *ctx, struct sampled *t)
{
    UNUSED(ctx);
    forget(t);
}

void sampled_remove_all(void)
{
    pthread_mutex_lock(&lock);
    each(0, n_places, forget_one, NULL);
    n_places = first_free = 0;
    pthread_mutex_unlock(&lock);
}

void sampled_each(void (*visit)(void *ctx, struct sampled *t), void *ctx)
{
    enum { SLICE = 16 };
    bool more = true;
    for (uint32_t from = 0; more; from += SLICE) {
        pthread_mutex_lock(&lock);
        each(from, from + SLICE, visit, ctx);
        more = from + SLICE < n_places;
        pthread_mutex_unlock(&lock);
    }
}

static void restart_one(void *ctx, struct sampled *t)
{
    UNUSED(ctx);
    stop_clock(t);
    start_clock(t);
}

void sampled_cpu(uint64_t ns, enum sampled_clock clock)
{
    pthread_mutex_lock(&lock);
    interval = ns;
    if (ns)
        counts =
            (struct sampled_counts){.perf_now = counts.perf_now, .timers_now = counts.timers_now};
    clock_kind = clock;
    set_limits();
    atomic_store_explicit(&cpu_weight, ns, memory_order_relaxed);
    each(0, n_places, restart_one, NULL);
    pthread_mutex_unlock(&lock);
}

bool sampled_has(uint32_t os_tid)
{
    return find(os_tid) != NULL;
}

void sampled_with(uint32_t os_tid, void (*use)(void *ctx, struct sampled *t), void *ctx)
{
    pthread_mutex_lock(&lock);
    struct sampled *t = find(os_tid);
    if (t)
        use(ctx, t);
    pthread_mutex_unlock(&lock);
}

int sampled_ask(const struct sampled *t, uint64_t weight)
{
    uint64_t units = min_u64(weight / WALL_UNIT, WALL_BIT - 1);
    return note_send(t->who.os_tid, NOTE_SAMPLE, WALL_BIT | (uint32_t)units);
}
