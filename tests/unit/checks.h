/* checks.h - an analysis held against what is true of the simulated program, part by part.
 *
 * Each stops the test at the first difference, with the seed that makes the same program again
 * (ORCA_SEED=n runs only this seed) and what differs. */
#ifndef ORCA_TESTS_CHECKS_H
#define ORCA_TESTS_CHECKS_H

#include "analyze/analysis.h"
#include "oracle.h"

#include <criterion/criterion.h>
#include <inttypes.h>

/* What every message begins with. */
extern char check_name[64];

#define CHECK(condition, format, ...)                                                              \
    cr_assert(condition, "%s: " format "\n  in %s", check_name, ##__VA_ARGS__, #condition)
#define CHECK_EQ(got, want, format, ...)                                                           \
    check_eq((uint64_t)(got), (uint64_t)(want), __FILE__, __LINE__, "%s: %s: " format, check_name, \
             #got, ##__VA_ARGS__)

void check_eq(uint64_t got, uint64_t want, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* A text for messages: "parked 5012-5040 of thread 3"; one of a few buffers in turn. */
const char *check_span_text(const struct true_span *x);

/* Whether it is not known what a thread did outside of its waits: one of the JVM's own, or a
 * virtual one of which nothing was seen. */
bool check_unseen(const struct oracle *o, const struct analysis *a, uint32_t thread);

/* Waits on objects with a wait that is reported as timed out and was notified, or may have been: of
 * how many it is known what ended them. */
struct check_races {
    uint64_t certain, unknown;
};
extern struct check_races check_races;

/* Take from the truth what the analysis says is unknown there.  First of all. */
void check_forgive(struct oracle *o, struct sim *s, const struct analysis *a);

/* Lives, spans, acts, holds, and the order of the sweep. */
void check_model(const struct oracle *o, const struct analysis *a);

/* Hand-offs of monitors that were certain with and without holds, and of those whose giver was not,
 * how many named who it was not. */
struct check_handoffs {
    uint64_t certain[2], wrong;
};
extern struct check_handoffs check_handoffs;

/* Who ended each wait by what, and the sums of that. */
void check_bindings(const struct oracle *o, const struct analysis *a);

/* Every table, of a part of the recording. */
void check_tables(const struct oracle *o, const struct analysis *a,
                  const struct selection *selection);

void check_bottles(const struct oracle *o, const struct analysis *a);

/* The path to a thread at a time, and its sums. */
void check_path(const struct oracle *o, struct analysis *a, uint32_t thread, uint64_t to,
                uint64_t from);

void check_deadlocks(const struct oracle *o, const struct analysis *a);

#endif
