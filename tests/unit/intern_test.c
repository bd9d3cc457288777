/* intern_test.c - one id per key, also when many threads meet the same keys at once. */
#include "record/intern.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>

enum { THREADS = 4, KEYS = 20000 };

static struct intern set;
static _Atomic uint32_t defined[KEYS + 2];

static struct hash128 key(uint32_t i)
{
    return (struct hash128){hash_u64(i), i};
}

static bool define(void *arg, uint32_t id)
{
    (void)arg;
    atomic_fetch_add(&defined[id], 1);
    return true;
}

static void *meet(void *arg)
{
    uint32_t *ids = arg;
    for (uint32_t i = 0; i < KEYS; i++)
        ids[i] = intern_get(&set, key(i), define, NULL);
    return NULL;
}

Test(intern, ids_are_unique_and_agree)
{
    static uint32_t ids[THREADS][KEYS];
    pthread_t t[THREADS];
    memset(defined, 0, sizeof defined);
    cr_assert_eq(intern_init(&set, KEYS), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, meet, ids[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    for (uint32_t k = 0; k < KEYS; k++) {
        cr_assert(ids[0][k] >= 1 && ids[0][k] <= KEYS);
        cr_assert_eq(atomic_load(&defined[ids[0][k]]), 1, "id %u", ids[0][k]);
        for (int i = 1; i < THREADS; i++)
            cr_assert_eq(ids[i][k], ids[0][k]);
        cr_assert_eq(intern_find(&set, key(k)), ids[0][k]);
    }
    cr_assert_eq(intern_get(&set, key(KEYS), define, NULL), 0, "the limit is kept");
    intern_fini(&set);
}

static bool refuse(void *arg, uint32_t id)
{
    *(uint32_t *)arg = id;
    return false;
}

Test(intern, an_undefined_key_has_no_id)
{
    uint32_t asked = 0;
    cr_assert_eq(intern_init(&set, 10), 0);
    cr_assert_eq(intern_get(&set, key(1), refuse, &asked), 0);
    cr_assert_eq(asked, 1);
    cr_assert_eq(intern_find(&set, key(1)), 0);
    cr_assert_eq(intern_get(&set, key(2), define, NULL), 1, "the id was not used up");
    intern_fini(&set);
}
