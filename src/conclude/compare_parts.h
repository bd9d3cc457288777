/* compare_parts.h - what the files of the comparison share; nothing else includes it.
 *
 *   compare.c          waits; two recordings       compare_alloc.c    allocations */
#ifndef ORCA_CONCLUDE_COMPARE_PARTS_H
#define ORCA_CONCLUDE_COMPARE_PARTS_H

#include "base/map.h"
#include "conclude/compare.h"

/* A summary whose rows are being made. */
struct row_maker {
    struct summary *out;
    struct map known; /* hash of kind and name -> 1 + row */
    size_t cap;
};

/* The row of a name, new ones with its kind; valid until the next one.  NULL: memory is out. */
struct compare_row *summary_row(struct row_maker *m, enum compare_kind kind, const char *name);

/* "shop.Order.submit (Order.java:88)", behind what stands in `name` already. */
void summary_put_place(const struct trace *t, struct place at, char *name, size_t size);

/* Spread a stretch of time over the slices, which begin at `from`. */
void compare_spread(double *v, uint64_t from, uint64_t width, uint64_t start, uint64_t end,
                    double sign);

/* The rows of resources; v: the findings about them.  -ENOMEM. */
int summary_add_resources(struct row_maker *m, const struct analysis *a, struct resources *all,
                          const struct rule_finding *v, size_t n);

/* The rows of allocations, if any were recorded.  -ENOMEM. */
int summary_add_allocs(struct row_maker *m, struct analysis *a);

/* The side of a row of allocations that a recording does not have. */
struct compare_side compare_no_allocs(const struct summary *s, enum compare_kind kind);

/* p and verdict of a row of allocations. */
void compare_judge_allocs(struct compare_row *r);

#endif
