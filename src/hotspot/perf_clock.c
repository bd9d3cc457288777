#include "hotspot/perf_clock.h"

#include "base/guarded.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { DATA_PAGES = 2 };

static size_t page(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t mapped_bytes(void)
{
    return (1 + DATA_PAGES) * page();
}

static int set_signal(int fd, uint32_t os_tid, int signal)
{
    struct f_owner_ex owner = {F_OWNER_TID, (pid_t)os_tid};
    if (fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK) < 0 || fcntl(fd, F_SETSIG, signal) < 0 ||
        fcntl(fd, F_SETOWN_EX, &owner) < 0)
        return -errno;
    return 0;
}

int perf_clock_open(struct perf_clock *c, uint32_t os_tid, uint64_t interval, int signal)
{
    struct perf_event_attr a;
    *c = (struct perf_clock){.fd = -1, .os_tid = os_tid};
    memset(&a, 0, sizeof a);
    a.size = sizeof a;
    a.type = PERF_TYPE_SOFTWARE;
    a.config = PERF_COUNT_SW_CPU_CLOCK;
    a.sample_period = interval;
    a.sample_type = PERF_SAMPLE_CALLCHAIN;
    a.disabled = 1;
    a.exclude_callchain_user = 1;
    a.exclude_hv = 1;
    a.exclude_guest = 1;
    a.wakeup_events = 1;
    a.write_backward = 1;
    long fd = syscall(SYS_perf_event_open, &a, (pid_t)os_tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return -errno;
    int rc = set_signal((int)fd, os_tid, signal);
    void *p = rc == 0 ? mmap(NULL, mapped_bytes(), PROT_READ, MAP_SHARED, (int)fd, 0) : MAP_FAILED;
    if (p == MAP_FAILED) {
        rc = rc < 0 ? rc : -errno;
        close((int)fd);
        return rc;
    }
    c->fd = (int)fd;
    c->pages = (uintptr_t)p;
    return 0;
}

void perf_clock_start(const struct perf_clock *c)
{
    ioctl(c->fd, PERF_EVENT_IOC_ENABLE, 0);
}

void perf_clock_close(struct perf_clock *c)
{
    if (c->fd < 0)
        return;
    ioctl(c->fd, PERF_EVENT_IOC_DISABLE, 0);
    munmap((void *)c->pages, mapped_bytes());
    close(c->fd);
    c->fd = -1;
    c->pages = 0;
}

/* --- in the handler --------------------------------------------------------------------------- */

/* The word at a position of the data pages, which are a circle. */
static bool data_word(const struct perf_clock *c, uint64_t at, uint64_t *v)
{
    uint64_t bytes = DATA_PAGES * page();
    return guarded_u64(c->pages + page() + (at & (bytes - 1)), v);
}

/* Of the call chain of the record at `at`, what is of the kernel. */
static void read_chain(const struct perf_clock *c, uint64_t at, struct perf_moment *m)
{
    uint64_t n, ip;
    bool kernel = false;
    if (!data_word(c, at + sizeof(struct perf_event_header), &n))
        return;
    for (uint64_t i = 0; i < n && i < UINT64_C(2) * PERF_CLOCK_FRAMES && m->n < PERF_CLOCK_FRAMES;
         i++) {
        if (!data_word(c, at + sizeof(struct perf_event_header) + (1 + i) * sizeof ip, &ip))
            return;
        if (ip >= (uint64_t)PERF_CONTEXT_MAX) /* what follows is of: */
            kernel = ip == (uint64_t)PERF_CONTEXT_KERNEL;
        else if (kernel)
            m->kernel[m->n++] = (uintptr_t)ip;
    }
}

bool perf_clock_read(struct perf_clock *c, struct perf_moment *m)
{
    enum { SIZE_SHIFT = 48, MAX = 1000 };
    uint64_t head, header, bytes = DATA_PAGES * page();
    m->n = 0;
    m->periods = 0;
    if (!c->pages ||
        !guarded_u64(c->pages + offsetof(struct perf_event_mmap_page, data_head), &head))
        return false;
    /* Positions fall: the newest record is at the head, older ones are behind it. */
    for (uint64_t at = head; at != c->head && at - head < bytes && m->periods < MAX;) {
        if (!data_word(c, at, &header))
            return false;
        uint64_t size = header >> SIZE_SHIFT; /* type, misc, size: 32, 16, 16 bits */
        if (size < sizeof(struct perf_event_header) || size % sizeof(uint64_t) != 0)
            break;
        if ((uint32_t)header == PERF_RECORD_SAMPLE && m->periods++ == 0)
            read_chain(c, at, m);
        at += size;
    }
    c->head = head;
    return m->periods > 0;
}
