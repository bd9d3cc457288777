#include "base/guard.h"

#include "base/clock.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

_Atomic bool guard_is_open;
bool guard_fences;
__thread struct guard *guard_self __attribute__((tls_model("initial-exec")));

static struct {
    pthread_mutex_t lock;
    struct guard *all;
    pthread_once_t once;
    pthread_key_t key; /* its destructor takes a thread that ends out of the list */
} list = {.lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT};

static void remove_guard(void *arg)
{
    struct guard *g = arg;
    pthread_mutex_lock(&list.lock);
    if (g->prev)
        g->prev->next = g->next;
    else
        list.all = g->next;
    if (g->next)
        g->next->prev = g->prev;
    pthread_mutex_unlock(&list.lock);
    guard_self = NULL;
    free(g);
}

static void init(void)
{
    long can = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
    guard_fences = pthread_key_create(&list.key, remove_guard) != 0 || can < 0 ||
                   !(can & MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

/* Every other thread of the process has passed a fence when it returns.  To register takes the
 * kernel 10 to 20 ms in a process of several threads, so that is left until it is needed. */
static bool fence_all(void)
{
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0 &&
           syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}

struct guard *guard_new(void)
{
    int saved = errno;
    pthread_once(&list.once, init);
    struct guard *g = calloc(1, sizeof *g);
    if (g && pthread_setspecific(list.key, g) != 0) {
        free(g);
        g = NULL;
    }
    if (g) {
        pthread_mutex_lock(&list.lock);
        g->next = list.all;
        if (list.all)
            list.all->prev = g;
        list.all = g;
        pthread_mutex_unlock(&list.lock);
        guard_self = g;
    }
    errno = saved;
    return g;
}

void guard_open(void)
{
    pthread_once(&list.once, init);
    /* release: pairs with guard_enter */
    atomic_store_explicit(&guard_is_open, true, memory_order_release);
}

static bool all_out(void)
{
    bool out = true;
    pthread_mutex_lock(&list.lock);
    for (struct guard *g = list.all; g && out; g = g->next)
        /* acquire: pairs with guard_leave */
        out = g == guard_self || atomic_load_explicit(&g->inside, memory_order_acquire) == 0;
    pthread_mutex_unlock(&list.lock);
    return out;
}

enum { PAUSE_NS = 100 * 1000 };

static void shut(void)
{
    atomic_store_explicit(&guard_is_open, false, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
}

static bool wait_for_all(uint64_t until)
{
    while (!all_out()) {
        if (clock_mono_ns() >= until)
            return false;
        clock_sleep_ns(PAUSE_NS);
    }
    return true;
}

bool guard_close(uint64_t timeout)
{
    uint64_t until = clock_mono_ns() + timeout;
    shut();
    return (guard_fences || fence_all()) && wait_for_all(until);
}

void guard_shut(uint64_t timeout)
{
    uint64_t until = clock_mono_ns() + timeout;
    shut();
    clock_sleep_ns(PAUSE_NS); /* longer than any store stays unseen */
    wait_for_all(until);
}
