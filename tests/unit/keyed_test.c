#include "base/keyed.h"

#include <criterion/criterion.h>

struct key {
    uint32_t a, b;
};

struct entry {
    struct key key;
    uint64_t sum;
};

static struct entry *put(struct keyed *k, uint32_t a, uint32_t b)
{
    const struct key key = {a, b};
    return keyed_put(k, &key);
}

Test(keyed, an_entry_begins_with_its_key_and_zeros)
{
    struct keyed k;
    keyed_init(&k, sizeof(struct key), sizeof(struct entry));
    struct entry *e = put(&k, 3, 4);
    cr_assert_eq(e->key.a, 3);
    cr_assert_eq(e->key.b, 4);
    cr_assert_eq(e->sum, 0);
    cr_assert_eq(keyed_find(&k, &(struct key){3, 4}), e);
    cr_assert_null(keyed_find(&k, &(struct key){4, 3}));
    keyed_fini(&k);
    cr_assert_eq(k.n, 0);
}

Test(keyed, each_key_has_one_entry_in_the_order_of_their_first)
{
    enum { N = 3000, TIMES = 3 };
    struct keyed k;
    keyed_init(&k, sizeof(struct key), sizeof(struct entry));
    for (uint32_t i = 0; i < TIMES * N; i++)
        put(&k, i % N, 7)->sum += i;
    cr_assert_eq(k.n, N);
    const struct entry *e = k.v;
    for (uint32_t i = 0; i < N; i++) {
        cr_assert_eq(e[i].key.a, i);
        cr_assert_eq(e[i].sum, 3 * (i + N));
    }
    keyed_fini(&k);
}

/* The first entry is made to look like that of another key with the same hash. */
Test(keyed, keys_are_compared_and_not_their_hashes_alone)
{
    struct keyed k;
    keyed_init(&k, sizeof(struct key), sizeof(struct entry));
    struct entry *first = put(&k, 1, 1);
    first->key.b = 2;
    first->sum = 5;
    cr_assert_null(keyed_find(&k, &(struct key){1, 1}));
    cr_assert_eq(put(&k, 1, 1)->sum, 0);
    cr_assert_eq(put(&k, 1, 1), keyed_find(&k, &(struct key){1, 1}));
    cr_assert_eq(k.n, 2);
    keyed_fini(&k);
}
