#include "record/switches.h"

#include "base/tasks.h"
#include "base/util.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    CPUS_MAX = 1024,
    RING_MOST = 512 << 10, /* 516 KiB a processor is what perf_event_mlock_kb allows by default */
    RING_LEAST = 16 << 10,
    RINGS_BYTES = 16 << 20, /* of all of them, where there are many processors */
    FDS_SHARE = 4,          /* one in N of the descriptors that the process may have */
};

struct cpu {
    uint32_t number;
    struct perf_event_mmap_page *page;
    const char *data;
    size_t size;         /* of data, a power of two */
    uint64_t tail, head; /* what is read, and what there is, positions that only grow */
    int fd;
};

struct switches {
    struct cpu *cpus;
    size_t n_cpus, bytes; /* of a ring */
    struct buf fds;       /* int [], those of the rings included */
    struct buf tids;      /* tasks_list: covered by events of their own */
    struct pollfd *polls; /* [n_cpus + 1] */
    uint64_t lost;
    int wake;
    bool whole_family; /* the kernel (before 5.13) lets child processes inherit, too */
    uint32_t pid;
};

/* --- opening ---------------------------------------------------------------------------------- */

static int open_event(struct switches *s, uint32_t tid, uint32_t cpu)
{
    struct perf_event_attr a;
    memset(&a, 0, sizeof a);
    a.size = sizeof a;
    a.type = PERF_TYPE_SOFTWARE;
    a.config = PERF_COUNT_SW_PAGE_FAULTS_MAJ;
    a.sample_period = 1;
    a.context_switch = 1;
    a.task = 1;
    a.sample_id_all = 1;
    a.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
    a.use_clockid = 1;
    a.clockid = CLOCK_MONOTONIC;
    a.exclude_kernel = 1;
    a.inherit = 1;
    a.inherit_thread = !s->whole_family;
    a.watermark = 1;
    a.wakeup_watermark = (uint32_t)(s->bytes / 2);
    long fd = syscall(SYS_perf_event_open, &a, (pid_t)tid, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0 && (errno == EINVAL || errno == E2BIG) && !s->whole_family) {
        s->whole_family = true;
        return open_event(s, tid, cpu);
    }
    if (fd < 0)
        return -errno;
    int as_int = (int)fd;
    buf_put(&s->fds, &as_int, sizeof as_int);
    if (!s->fds.oom)
        return as_int;
    close(as_int);
    return -ENOMEM;
}

/* An event that writes to the ring of its processor.  A thread that is gone needs none. */
static int add_event(struct switches *s, uint32_t tid, const struct cpu *c)
{
    int fd = open_event(s, tid, c->number);
    if (fd < 0)
        return fd == -ESRCH || fd == -ENODEV ? 0 : fd;
    return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, c->fd) < 0 ? -errno : 0;
}

/* 0: this processor is not there. */
static int add_cpu(struct switches *s, uint32_t number)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int fd = open_event(s, (uint32_t)syscall(SYS_gettid), number);
    void *p = MAP_FAILED;
    if (fd < 0)
        return fd == -ENODEV ? 0 : fd;
    for (;; s->bytes /= 2) {
        p = mmap(NULL, page + s->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (p != MAP_FAILED || s->bytes == RING_LEAST)
            break;
    }
    if (p == MAP_FAILED)
        return -errno;
    s->cpus[s->n_cpus++] = (struct cpu){
        .number = number, .page = p, .data = (char *)p + page, .size = s->bytes, .fd = fd};
    return 1;
}

static bool has_cpu(const struct switches *s, uint32_t number)
{
    for (size_t i = 0; i < s->n_cpus; i++)
        if (s->cpus[i].number == number)
            return true;
    return false;
}

static int check_budget(const struct switches *s, struct err *err)
{
    struct rlimit l;
    size_t fds = s->fds.len / sizeof(int) + s->n_cpus;
    if (getrlimit(RLIMIT_NOFILE, &l) == 0 && l.rlim_cur != RLIM_INFINITY &&
        fds > l.rlim_cur / FDS_SHARE)
        return err_set(err, -EMFILE, "%zu descriptors and more are needed, and the limit is %lu",
                       fds, (unsigned long)l.rlim_cur);
    return 0;
}

static int cover_thread(struct switches *s, uint32_t tid, size_t from_cpu, struct err *err)
{
    TRY(check_budget(s, err));
    for (size_t c = from_cpu; c < s->n_cpus && tid != (uint32_t)syscall(SYS_gettid); c++) {
        int rc = add_event(s, tid, &s->cpus[c]);
        if (rc < 0)
            return err_set(err, rc, "%s", strerror(-rc));
    }
    return 0;
}

/* A thread that started while we looked may be covered twice, by inheritance and here: who reads
 * the records sees that.  None is left out: whatever started it was looked at before, or after. */
static int cover_threads(struct switches *s, size_t from_cpu, struct err *err)
{
    bool any;
    do {
        struct buf had = s->tids;
        buf_init(&s->tids);
        tasks_list(&s->tids);
        any = false;
        int rc = 0;
        for (uint32_t i = 0; i < tasks_count(&s->tids) && rc == 0; i++)
            if (!tasks_has(&had, tasks_at(&s->tids, i))) {
                any = true;
                rc = cover_thread(s, tasks_at(&s->tids, i), from_cpu, err);
            }
        buf_fini(&had);
        TRY(rc);
    } while (any);
    return 0;
}

/* Those that are not covered yet, for all threads. */
static int cover_cpus(struct switches *s, struct err *err)
{
    size_t from = s->n_cpus;
    long n = sysconf(_SC_NPROCESSORS_CONF);
    for (uint32_t c = 0; c < (uint32_t)n && s->n_cpus < CPUS_MAX; c++) {
        int rc = has_cpu(s, c) ? 0 : add_cpu(s, c);
        if (rc < 0)
            return err_set(err, rc, "%s", strerror(-rc));
    }
    if (s->n_cpus == from)
        return from ? 0 : err_set(err, -ENODEV, "no processor can be watched");
    buf_clear(&s->tids);
    int rc = cover_threads(s, from, err);
    struct pollfd *polls = realloc(s->polls, (s->n_cpus + 1) * sizeof *polls);
    if (!polls)
        return rc < 0 ? rc : err_set(err, -ENOMEM, "out of memory");
    s->polls = polls;
    for (size_t i = 0; i <= s->n_cpus; i++)
        polls[i] = (struct pollfd){i ? s->cpus[i - 1].fd : s->wake, POLLIN, 0};
    return rc;
}

static size_t ring_bytes(void)
{
    size_t n = (size_t)max_u64(1, (uint64_t)sysconf(_SC_NPROCESSORS_CONF)), bytes = RING_MOST;
    while (bytes > RING_LEAST && bytes * n > RINGS_BYTES)
        bytes /= 2;
    return bytes;
}

int switches_open(struct switches **out, struct err *err)
{
    struct switches *s = *out = calloc(1, sizeof *s);
    if (!s)
        return err_set(err, -ENOMEM, "out of memory");
    s->pid = (uint32_t)getpid();
    s->bytes = ring_bytes();
    s->cpus = calloc(CPUS_MAX, sizeof *s->cpus);
    s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int rc = !s->cpus      ? err_set(err, -ENOMEM, "out of memory")
             : s->wake < 0 ? err_set(err, -errno, "%s", strerror(errno))
                           : cover_cpus(s, err);
    if (rc < 0) {
        switches_close(s);
        *out = NULL;
    }
    return rc;
}

void switches_cover(struct switches *s)
{
    if (sysconf(_SC_NPROCESSORS_ONLN) > (long)s->n_cpus)
        cover_cpus(s, NULL);
}

void switches_close(struct switches *s)
{
    const int *fds = (const int *)(const void *)s->fds.p;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t i = 0; i < s->n_cpus; i++)
        munmap(s->cpus[i].page, page + s->cpus[i].size);
    for (size_t i = 0; i < s->fds.len / sizeof *fds; i++)
        close(fds[i]);
    if (s->wake >= 0)
        close(s->wake);
    buf_fini(&s->fds);
    buf_fini(&s->tids);
    free(s->polls);
    free(s->cpus);
    free(s);
}

void switches_wait(struct switches *s, unsigned ms)
{
    uint64_t n;
    if (poll(s->polls, s->n_cpus + 1, (int)ms) <= 0)
        return;
    if (s->polls[0].revents)
        (void)!read(s->wake, &n, sizeof n);
    for (size_t i = 1; i <= s->n_cpus; i++)
        if (s->polls[i].revents & (POLLHUP | POLLERR)) /* the thread that opened it is gone */
            s->polls[i].fd = -1;
}

void switches_wake(struct switches *s)
{
    uint64_t one = 1;
    (void)!write(s->wake, &one, sizeof one);
}

/* --- reading ---------------------------------------------------------------------------------- */

/* What a record of each type has, its header included. */
struct sample_id {
    uint32_t pid, tid;
    uint64_t time;
};
struct switch_body { /* PERF_RECORD_SWITCH, PERF_RECORD_SAMPLE */
    struct perf_event_header h;
    struct sample_id id;
};
struct task_body { /* PERF_RECORD_FORK, PERF_RECORD_EXIT */
    struct perf_event_header h;
    uint32_t pid, ppid, tid, ptid;
    uint64_t time;
    struct sample_id id;
};
struct lost_body {
    struct perf_event_header h;
    uint64_t event, lost;
    struct sample_id id;
};
union body {
    struct perf_event_header h;
    struct switch_body sw;
    struct task_body task;
    struct lost_body lost;
    char bytes[64];
};

/* A copy of the record at the tail, which may go over the ring's end. */
static bool peek(const struct cpu *c, union body *b)
{
    memset(b, 0, sizeof *b);
    size_t at = c->tail & (c->size - 1), left = c->size - at;
    if (c->head - c->tail < sizeof b->h)
        return false;
    size_t n = min_u64(c->head - c->tail, sizeof *b);
    memcpy(b, c->data + at, min_u64(n, left));
    if (n > left)
        memcpy(b->bytes + left, c->data, n - left);
    return b->h.size >= sizeof b->h && b->h.size <= c->head - c->tail;
}

/* False: it is not about a thread. */
static bool understand(const struct switches *s, const union body *b, struct switch_record *r)
{
    uint32_t pid = b->sw.id.pid;
    *r = (struct switch_record){.os_tid = b->sw.id.tid, .time = b->sw.id.time};
    switch (b->h.type) {
    case PERF_RECORD_SWITCH:
        r->what = !(b->h.misc & PERF_RECORD_MISC_SWITCH_OUT)        ? SWITCH_IN
                  : b->h.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? SWITCH_PREEMPTED
                                                                    : SWITCH_OUT;
        break;
    case PERF_RECORD_SAMPLE:
        r->what = SWITCH_FAULT;
        break;
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
        *r = (struct switch_record){.os_tid = b->task.tid,
                                    .time = b->task.time,
                                    .what =
                                        b->h.type == PERF_RECORD_FORK ? SWITCH_BORN : SWITCH_DIED};
        pid = b->task.pid;
        break;
    case PERF_RECORD_LOST:
        r->time = b->lost.id.time;
        return false;
    default:
        r->time = 0;
        return false;
    }
    return pid == s->pid;
}

/* The ring whose next record is the earliest one, and the time up to which it stays so. */
static struct cpu *next_cpu(struct switches *s, uint64_t until, uint64_t *stays)
{
    struct cpu *first = NULL;
    uint64_t least = until;
    *stays = until;
    for (size_t i = 0; i < s->n_cpus; i++) {
        union body b;
        struct switch_record r;
        if (!peek(&s->cpus[i], &b))
            continue;
        understand(s, &b, &r);
        if (r.time < least) {
            *stays = least;
            least = r.time;
            first = &s->cpus[i];
        } else if (r.time < *stays) {
            *stays = r.time;
        }
    }
    return first;
}

static void read_cpu(struct switches *s, struct cpu *c, uint64_t stays,
                     void (*take)(void *ctx, const struct switch_record *r), void *ctx)
{
    union body b;
    struct switch_record r;
    while (peek(c, &b)) {
        bool tells = understand(s, &b, &r);
        if (r.time > stays)
            return;
        c->tail += b.h.size;
        if (b.h.type == PERF_RECORD_LOST)
            s->lost += b.lost.lost;
        if (tells)
            take(ctx, &r);
    }
}

void switches_read(struct switches *s, uint64_t until,
                   void (*take)(void *ctx, const struct switch_record *r), void *ctx)
{
    uint64_t stays;
    for (size_t i = 0; i < s->n_cpus; i++) /* acquire: the kernel's records come before its head */
        s->cpus[i].head = __atomic_load_n(&s->cpus[i].page->data_head, __ATOMIC_ACQUIRE);
    for (struct cpu *c; (c = next_cpu(s, until, &stays));)
        read_cpu(s, c, stays, take, ctx);
    for (size_t i = 0; i < s->n_cpus; i++) /* release: we have read what the kernel overwrites */
        __atomic_store_n(&s->cpus[i].page->data_tail, s->cpus[i].tail, __ATOMIC_RELEASE);
}

uint64_t switches_lost(const struct switches *s)
{
    return s->lost;
}
