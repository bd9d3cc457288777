/* time_sort.h - many things in the order of time, by radix: the bytes in which the times differ.
 *
 *     time_sort_init(&s, n); fill s.v[0 .. n - 1]; sorted = time_sort(&s, n); time_sort_fini(&s) */
#ifndef ORCA_ANALYZE_TIME_SORT_H
#define ORCA_ANALYZE_TIME_SORT_H

#include <stddef.h>
#include <stdint.h>

struct time_key {
    uint64_t time;
    uint32_t at; /* the caller's */
};

struct time_sort {
    struct time_key *v, *spare, *all;
};

/* Room for n keys.  -ENOMEM. */
int time_sort_init(struct time_sort *s, size_t n);
void time_sort_fini(struct time_sort *s);

/* The keys by time, those of one time in their order; s->v is this, too. */
struct time_key *time_sort(struct time_sort *s, size_t n);

#endif
