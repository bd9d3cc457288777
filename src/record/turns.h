/* turns.h - from the kernel's single switches to turns: stretches in which a thread was on a
 * processor.
 *
 *     since <= until; the turns of a thread do not overlap, and between them it was on none
 *
 * unless `gap`: then records are missing since the turn before, and nothing is known of the time
 * between the two.  A turn of which one end is missing does not count.  Pure; one thread. */
#ifndef ORCA_RECORD_TURNS_H
#define ORCA_RECORD_TURNS_H

#include "base/map.h"
#include "format/event.h"
#include "record/switches.h"

struct turn {
    uint64_t since, until;
    uint32_t os_tid;
    uint32_t *user; /* the caller's, of the thread: 0 at first, kept until it dies */
    enum turn_end end;
    bool gap;
    bool fault; /* before it the thread waited for a page to be read */
};

struct turns {
    struct map index;      /* os_tid -> place in v, + 1 */
    struct turn_thread *v; /* [cap] */
    size_t n, cap, free;   /* places used at some time; a list of the free ones, + 1 */
    uint64_t began;        /* a thread that is met leaving has run since then */
    uint64_t lost;         /* records, until now */
    void (*put)(void *ctx, const struct turn *t);
    void *ctx;
};

void turns_init(struct turns *t, uint64_t began, void (*put)(void *ctx, const struct turn *t),
                void *ctx);
void turns_fini(struct turns *t);

/* Records in the order of time.  lost: how many are missing until now, of whatever thread. */
void turns_take(struct turns *t, const struct switch_record *r, uint64_t lost);

/* Cut the turns that go on and are so old at least: every record until then was taken. */
void turns_cut(struct turns *t, uint64_t now, uint64_t age);

#endif
