#include "../patience.h"
#include "base/guard.h"

#include "base/clock.h"
#include "base/util.h"
#include "cases.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* What is protected: valid while it is open, poisoned before it is "freed". */
static struct thing {
    _Atomic uint64_t value;
} * thing;

enum { THREADS = 4, ROUNDS = 300 };
#define VALID UINT64_C(0x1234567812345678)

static _Atomic bool stop;
static _Atomic uint64_t used, refused, wrong;

static void *user(void *arg)
{
    UNUSED(arg);
    while (!atomic_load(&stop)) {
        if (!guard_enter()) {
            atomic_fetch_add(&refused, 1);
            continue;
        }
        struct thing *t = thing;
        bool nested = guard_enter(); /* refused when it was closed in that time */
        if (!t || atomic_load_explicit(&t->value, memory_order_relaxed) != VALID)
            atomic_fetch_add(&wrong, 1);
        if (nested)
            guard_leave();
        atomic_fetch_add(&used, 1);
        guard_leave();
    }
    return NULL;
}

static void open_and_close(void)
{
    thing = malloc(sizeof *thing);
    atomic_init(&thing->value, VALID);
    uint64_t before = atomic_load(&used);
    guard_open();
    while (atomic_load(&used) < before + 10)
        ;
    cr_assert(guard_close(UINT64_C(600000000000))); /* ends a hang */
    atomic_store(&thing->value, 0);
    free(thing);
    thing = NULL;
}

static void stress(void)
{
    pthread_t t[THREADS];
    for (int i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&t[i], NULL, user, NULL), 0);
    for (int i = 0; i < cases(ROUNDS); i++)
        open_and_close();
    atomic_store(&stop, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    cr_assert_eq(atomic_load(&wrong), 0);
    cr_assert_gt(atomic_load(&refused), 0);
}

Test(guard, nobody_is_inside_once_it_is_closed, .timeout = 60)
{
    stress();
}

Test(guard, with_fences_too, .timeout = 60)
{
    guard_open(); /* finds out whether the kernel can do without */
    cr_assert(guard_close(0));
    guard_fences = true;
    stress();
}

static void *stay_inside(void *arg)
{
    _Atomic int *step = arg;
    cr_assert(guard_enter());
    atomic_store(step, 1);
    while (atomic_load(step) != 2)
        patience_pause();
    guard_leave();
    return NULL;
}

Test(guard, says_when_somebody_does_not_leave, .timeout = 60)
{
    pthread_t t;
    _Atomic int step = 0;
    guard_open();
    cr_assert(guard_enter()); /* the closer itself does not count */
    pthread_create(&t, NULL, stay_inside, &step);
    while (atomic_load(&step) != 1)
        ;
    cr_assert(!guard_close(20000000));
    cr_assert(!guard_enter());
    guard_leave();
    atomic_store(&step, 2);
    pthread_join(t, NULL);
    cr_assert(guard_close(UINT64_C(600000000000))); /* ends a hang */
}

/* A thread that has ended counts no more, whatever it left behind. */
static void *enter_and_die(void *arg)
{
    UNUSED(arg);
    cr_assert(guard_enter());
    return NULL;
}

Test(guard, a_thread_that_ended_is_out, .timeout = 60)
{
    pthread_t t;
    guard_open();
    pthread_create(&t, NULL, enter_and_die, NULL);
    pthread_join(t, NULL);
    cr_assert(guard_close(UINT64_C(600000000000))); /* ends a hang */
}
