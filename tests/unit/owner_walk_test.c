/* The question to a lock's owner: who answers, who is silent, who is gone; many at a time.  The
 * walk itself needs a JVM (tests/jvm/test_owner_stacks.sh): here the owner says that it owns
 * nothing. */
#include "../patience.h"
#include "base/clock.h"
#include "hotspot/owner_walk.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MS = 1000000 };

struct owner_thread {
    pthread_t thread;
    struct owner_place place;
    _Atomic bool ready, stop;
    _Atomic uint32_t asked;
    bool deaf;
};

static void *own(void *arg)
{
    struct owner_thread *t = arg;
    pthread_attr_t attr;
    void *low;
    size_t size;
    sigset_t urgent;
    sigemptyset(&urgent);
    sigaddset(&urgent, SIGURG);
    if (t->deaf)
        pthread_sigmask(SIG_BLOCK, &urgent, NULL);
    pthread_getattr_np(pthread_self(), &attr);
    pthread_attr_getstack(&attr, &low, &size);
    pthread_attr_destroy(&attr);
    t->place = (struct owner_place){.java_thread = (uintptr_t)t,
                                    .stack_low = (uintptr_t)low,
                                    .stack_high = (uintptr_t)low + size,
                                    .os_tid = (uint32_t)syscall(SYS_gettid)};
    atomic_store(&t->ready, true);
    while (!atomic_load(&t->stop))
        patience_pause();
    return NULL;
}

static void start(struct owner_thread *t, bool deaf)
{
    struct err err;
    cr_assert_eq(owner_walk_open(&err), 0);
    t->deaf = deaf;
    atomic_store(&t->ready, false);
    atomic_store(&t->stop, false);
    cr_assert_eq(pthread_create(&t->thread, NULL, own, t), 0);
    cr_assert_happens(atomic_load(&t->ready));
}

static void stop(struct owner_thread *t)
{
    atomic_store(&t->stop, true);
    pthread_join(t->thread, NULL);
}

/* On the owner's thread, in the handler. */
static bool owns_nothing(const struct owner_question *q)
{
    struct owner_thread *t = (struct owner_thread *)q->place.java_thread;
    cr_assert_eq((uint32_t)syscall(SYS_gettid), t->place.os_tid);
    atomic_fetch_add(&t->asked, 1);
    return false;
}

static int ask(struct owner_thread *t, uint64_t timeout)
{
    struct owner_question q = {
        .place = t->place, .owns = owns_nothing, .timeout = timeout, .depth = 4};
    const struct owner_answer *a;
    int result = owner_walk(&q, &a);
    cr_assert_null(a);
    return result;
}

Test(owner_walk, answers)
{
    struct owner_thread t = {.deaf = false};
    start(&t, false);
    for (int i = 0; i < 100; i++) {
        errno = 1234;
        cr_assert_eq(ask(&t, UINT64_C(10000) * MS), OWNER_WALK_GONE);
    }
    cr_assert_eq(atomic_load(&t.asked), 100);
    stop(&t);
}

Test(owner_walk, nobody_to_ask)
{
    struct owner_thread t = {.deaf = false};
    cr_assert_eq(ask(&t, MS), OWNER_WALK_NONE);
    start(&t, false);
    stop(&t);
    cr_assert_eq(ask(&t, MS), OWNER_WALK_NO_SIGNAL);
}

/* Who blocks the signal gets it when the question is long gone. */
Test(owner_walk, silent)
{
    struct owner_thread t = {.deaf = true};
    start(&t, true);
    for (int i = 0; i < 20; i++)
        cr_assert_eq(ask(&t, MS), OWNER_WALK_SILENT);
    stop(&t);
    cr_assert_eq(atomic_load(&t.asked), 0);
}

Test(owner_walk, another_thread_of_that_number)
{
    struct owner_thread t = {.deaf = false};
    start(&t, false);
    t.place.stack_high = t.place.stack_low + 4096; /* not the stack that the answer comes from */
    cr_assert_eq(ask(&t, UINT64_C(10000) * MS), OWNER_WALK_NO_SIGNAL);
    cr_assert_eq(atomic_load(&t.asked), 0);
    stop(&t);
}

static _Atomic uint32_t foreign;

static void on_foreign(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)info, (void)context;
    atomic_fetch_add(&foreign, 1);
}

Test(owner_walk, signals_of_others)
{
    struct owner_thread t = {.deaf = false};
    struct sigaction a = {.sa_flags = SA_SIGINFO};
    a.sa_sigaction = on_foreign;
    cr_assert_eq(sigaction(SIGURG, &a, NULL), 0);
    start(&t, false);
    raise(SIGURG);
    cr_assert_eq(atomic_load(&foreign), 1);
    union sigval forged = {.sival_ptr = (void *)(UINT64_C(0x4f726300) << 32 | 0xff)};
    cr_assert_eq(sigqueue(getpid(), SIGURG, forged), 0); /* no such question */
    cr_assert_eq(ask(&t, UINT64_C(10000) * MS), OWNER_WALK_GONE);
    stop(&t);
}

/* --- many at a time --------------------------------------------------------------------------- */

enum { OWNERS = 4, ASKERS = 24, QUESTIONS = 300 };

static struct owner_thread owners[OWNERS];
static _Atomic uint32_t results[4];

static void *ask_many(void *arg)
{
    uintptr_t seed = (uintptr_t)arg;
    for (uintptr_t i = 0; i < QUESTIONS; i++) {
        int result = ask(&owners[(seed + i) % OWNERS], i % 3 == 0 ? 0 : UINT64_C(5) * MS);
        atomic_fetch_add(&results[result == OWNER_WALK_GONE     ? 0
                                  : result == OWNER_WALK_SILENT ? 1
                                  : result == OWNER_WALK_BUSY   ? 2
                                                                : 3],
                         1);
    }
    return NULL;
}

Test(owner_walk, many_at_a_time)
{
    pthread_t askers[ASKERS];
    uint32_t asked = 0;
    for (int i = 0; i < OWNERS; i++)
        start(&owners[i], i == 3);
    for (uintptr_t i = 0; i < ASKERS; i++)
        cr_assert_eq(pthread_create(&askers[i], NULL, ask_many, (void *)i), 0);
    for (int i = 0; i < ASKERS; i++)
        pthread_join(askers[i], NULL);
    for (int i = 0; i < OWNERS; i++) {
        asked += atomic_load(&owners[i].asked);
        stop(&owners[i]);
    }
    cr_assert_eq(atomic_load(&results[3]), 0);
    cr_assert_gt(atomic_load(&results[0]), 0);
    cr_assert_gt(atomic_load(&results[1]), 0);
    /* Whoever was answered was asked, and nobody twice. */
    cr_assert_eq(asked, atomic_load(&results[0]));
    cr_assert_eq(atomic_load(&owners[3].asked), 0);
}
