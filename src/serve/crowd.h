/* crowd.h - connections of one kind, whose number is limited, and which of them is closed at the
 * limit.
 *
 * It is the oldest one of the user with the most connections: a user who opens many loses
 * his own, and one with few keeps them.  Of a single user the oldest goes, which is the
 * slowest.
 *
 *     n <= max <= CROWD_MAX;  v in the order in which they came;  no fd twice
 *
 * Pure, except for the caller's use of descriptors.  Not thread-safe. */
#ifndef ORCA_SERVE_CROWD_H
#define ORCA_SERVE_CROWD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CROWD_MAX = 256 };

struct guest {
    int fd;
    uint32_t uid;   /* of the other end (peers.h) */
    uint64_t since; /* ns of CLOCK_MONOTONIC */
    bool taken;     /* libmicrohttpd has it */
};

struct crowd {
    struct guest v[CROWD_MAX];
    size_t n, max;
};

/* False: there is no room. */
bool crowd_add(struct crowd *c, const struct guest *g);

/* Who it is, until the crowd changes; NULL: it is not here. */
struct guest *crowd_find(struct crowd *c, int fd);

/* *out: who it was; may be NULL.  False: it was not here. */
bool crowd_remove(struct crowd *c, int fd, struct guest *out);

/* Who has to go where there is no room; NULL of an empty one. */
const struct guest *crowd_last_choice(const struct crowd *c);

/* The oldest if it came before then, else NULL. */
const struct guest *crowd_before(const struct crowd *c, uint64_t then);

#endif
