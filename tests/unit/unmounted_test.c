/* unmounted_test.c - what virtual threads say that they own while they are away. */
#include "hotspot/unmounted.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>

static struct unmounted *u;

static void set_up(void)
{
    cr_assert_eq(unmounted_new(&u), 0);
}

static void tear_down(void)
{
    unmounted_free(u);
}

TestSuite(unmounted, .init = set_up, .fini = tear_down);

static uint64_t owner(uint32_t hash)
{
    struct unmounted_owner o;
    return unmounted_find(u, hash, &o) ? o.java_tid : 0;
}

Test(unmounted, an_owner_is_found_while_it_is_away)
{
    cr_assert_eq(owner(11), 0);
    cr_assert(unmounted_leave(u, 100, (const uint32_t[]){11, 12}, 2));
    cr_assert(unmounted_leave(u, 200, (const uint32_t[]){13}, 1));
    cr_assert_eq(owner(11), 100);
    cr_assert_eq(owner(12), 100);
    cr_assert_eq(owner(13), 200);
    unmounted_return(u, 100);
    cr_assert_eq(owner(11), 0);
    cr_assert_eq(owner(12), 0);
    cr_assert_eq(owner(13), 200);
}

Test(unmounted, what_was_said_last_holds)
{
    unmounted_leave(u, 100, (const uint32_t[]){11, 12}, 2);
    unmounted_leave(u, 100, (const uint32_t[]){12}, 1);
    cr_assert_eq(owner(11), 0);
    cr_assert_eq(owner(12), 100);
    unmounted_leave(u, 100, NULL, 0);
    cr_assert_eq(owner(12), 0);
    unmounted_return(u, 300); /* it never said anything */
}

Test(unmounted, two_owners_of_one_hash_are_none)
{
    unmounted_leave(u, 100, (const uint32_t[]){11}, 1);
    unmounted_leave(u, 200, (const uint32_t[]){11}, 1);
    cr_assert_eq(owner(11), 0);
    unmounted_return(u, 100);
    cr_assert_eq(owner(11), 200);
}

Test(unmounted, who_has_been_back_is_not_the_same)
{
    struct unmounted_owner o;
    unmounted_leave(u, 100, (const uint32_t[]){11}, 1);
    cr_assert(unmounted_find(u, 11, &o));
    cr_assert(unmounted_is_same(u, &o));
    unmounted_return(u, 100);
    cr_assert(!unmounted_is_same(u, &o));
    unmounted_leave(u, 100, (const uint32_t[]){11}, 1);
    cr_assert(!unmounted_is_same(u, &o));
    cr_assert(unmounted_find(u, 11, &o));
    unmounted_leave(u, 100, (const uint32_t[]){11}, 1);
    cr_assert(!unmounted_is_same(u, &o));
}

Test(unmounted, what_is_forgotten_is_said_anew)
{
    unmounted_leave(u, 100, (const uint32_t[]){11}, 1);
    unmounted_forget(u);
    cr_assert_eq(owner(11), 0);
    unmounted_leave(u, 100, (const uint32_t[]){11}, 1);
    cr_assert_eq(owner(11), 100);
}

/* What finds no room is not known; what is known is right; and room comes back. */
Test(unmounted, more_threads_than_there_is_room_for)
{
    enum { MANY = 100000 };
    size_t known = 0;
    for (uint32_t i = 1; i <= MANY; i++)
        unmounted_leave(u, i, &i, 1);
    for (uint32_t i = 1; i <= MANY; i++) {
        uint64_t o = owner(i);
        cr_assert(o == 0 || o == i);
        known += o == i;
    }
    cr_assert_gt(known, 25000);
    for (uint32_t i = 1; i <= MANY; i++)
        unmounted_return(u, i);
    for (uint32_t i = 1; i <= 1000; i++) {
        cr_assert(unmounted_leave(u, i + MANY, &i, 1));
        cr_assert_eq(owner(i), i + MANY);
    }
}

/* Each lock is somebody's turn after turn, who leaves with it and comes back; askers compare. */
enum { LOCKS = 4, ANSWERS = 1000 };
static _Atomic uint64_t owns[LOCKS]; /* the truth: changed only by who is mounted */
static _Atomic size_t answers;       /* that were believed */

static void *leave_and_return(void *arg)
{
    uint64_t me = (uintptr_t)arg;
    for (uint32_t i = 0; atomic_load(&answers) < ANSWERS; i++) {
        uint32_t k = (i + (uint32_t)me) % LOCKS, hash = k + 1;
        uint64_t free_ = 0;
        if (!atomic_compare_exchange_strong(&owns[k], &free_, me))
            continue;
        unmounted_leave(u, me, &hash, 1);
        unmounted_return(u, me);
        atomic_store(&owns[k], 0);
    }
    return NULL;
}

static void *ask(void *arg)
{
    (void)arg;
    while (atomic_load(&answers) < ANSWERS)
        for (uint32_t k = 0; k < LOCKS; k++) {
            struct unmounted_owner o;
            if (!unmounted_find(u, k + 1, &o))
                continue;
            uint64_t truth = atomic_load(&owns[k]);
            if (!unmounted_is_same(u, &o))
                continue;
            cr_assert_eq(o.java_tid, truth);
            atomic_fetch_add(&answers, 1);
        }
    return NULL;
}

Test(unmounted, an_answer_that_is_the_same_after_a_look_is_true)
{
    enum { THREADS = 3 };
    pthread_t t[THREADS], asker;
    pthread_create(&asker, NULL, ask, NULL);
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, leave_and_return, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    pthread_join(asker, NULL);
}
