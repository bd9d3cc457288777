#include "record/turns.h"

#include "base/util.h"

#include <stdlib.h>
#include <string.h>

/* The kernel counts a page fault when it is served, right behind the switch that brings the thread
 * back. */
enum { FAULT_SERVED_NS = 100000 };

struct turn_thread {
    uint64_t since; /* of the turn that goes on */
    uint64_t lost;  /* turns.lost when it was last heard of */
    uint32_t os_tid, user;
    uint32_t next; /* free places */
    bool on, gap, fault, used;
};

void turns_init(struct turns *t, uint64_t began, void (*put)(void *ctx, const struct turn *t),
                void *ctx)
{
    *t = (struct turns){.began = began, .put = put, .ctx = ctx};
    map_init(&t->index);
}

void turns_fini(struct turns *t)
{
    map_fini(&t->index);
    free(t->v);
    *t = (struct turns){.n = 0};
}

static struct turn_thread *new_place(struct turns *t)
{
    enum { AT_FIRST = 64 };
    if (t->free) {
        struct turn_thread *w = &t->v[t->free - 1];
        t->free = w->next;
        return w;
    }
    if (t->n == t->cap) {
        size_t cap = t->cap ? 2 * t->cap : AT_FIRST;
        struct turn_thread *v = realloc(t->v, cap * sizeof *v);
        if (!v)
            return NULL;
        t->v = v;
        t->cap = cap;
    }
    return &t->v[t->n++];
}

/* A thread that leaves without having come was there all the time. */
static struct turn_thread *thread_of(struct turns *t, const struct switch_record *r)
{
    uint64_t *at = map_find(&t->index, r->os_tid);
    if (at)
        return &t->v[*at - 1];
    struct turn_thread *w = new_place(t);
    at = w ? map_put(&t->index, r->os_tid) : NULL;
    if (!at)
        return NULL;
    *at = (uint64_t)(w - t->v) + 1;
    *w = (struct turn_thread){.os_tid = r->os_tid,
                              .since = t->began,
                              .used = true,
                              .lost = r->what == SWITCH_BORN ? t->lost : 0,
                              .on = r->what != SWITCH_IN && r->what != SWITCH_BORN};
    return w;
}

static void end_turn(struct turns *t, struct turn_thread *w, uint64_t until, enum turn_end end)
{
    const struct turn turn = {.since = min_u64(w->since, until),
                              .until = until,
                              .os_tid = w->os_tid,
                              .user = &w->user,
                              .end = end,
                              .gap = w->gap,
                              .fault = w->fault};
    t->put(t->ctx, &turn);
    w->gap = w->fault = false;
    w->since = until;
}

static void forget(struct turns *t, struct turn_thread *w)
{
    map_remove(&t->index, w->os_tid);
    *w = (struct turn_thread){.next = (uint32_t)t->free};
    t->free = (size_t)(w - t->v) + 1;
}

void turns_take(struct turns *t, const struct switch_record *r, uint64_t lost)
{
    static const enum turn_end ends[] = {
        [SWITCH_OUT] = TURN_WAITS, [SWITCH_PREEMPTED] = TURN_PREEMPTED, [SWITCH_DIED] = TURN_DIES};
    t->lost = lost;
    struct turn_thread *w = thread_of(t, r);
    if (!w)
        return;
    if (w->lost != lost) {
        w->gap = true;
        w->on = false;
        w->lost = lost;
    }
    if (r->what == SWITCH_FAULT) {
        w->fault |= w->on && r->time - w->since <= FAULT_SERVED_NS;
        return;
    }
    bool comes = r->what == SWITCH_IN;
    /* Twice the same is of a thread that two events cover. */
    if (comes && !w->on)
        w->since = r->time;
    else if (!comes && w->on && r->what != SWITCH_BORN)
        end_turn(t, w, r->time, ends[r->what]);
    w->on = comes;
    if (r->what == SWITCH_DIED)
        forget(t, w);
}

void turns_cut(struct turns *t, uint64_t now, uint64_t age)
{
    for (size_t i = 0; i < t->n; i++) {
        struct turn_thread *w = &t->v[i];
        if (w->used && w->on && w->lost == t->lost && now > w->since && now - w->since >= age)
            end_turn(t, w, now, TURN_STAYS);
    }
}
