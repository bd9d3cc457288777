/* Who works while answers are on their way, where those who give them only pass them on: the way of
 * an answer from the end of a wait back to its beginning, from thread to thread.  A thread that is
 * woken from its wait for work works until it wakes the next one; what came before that is the time
 * of who woke it.  Many small steps between threads lead so to the one for whom all wait, which need
 * not be the last one. */
#include "analyze/io_calls.h"
#include "base/err.h"
#include "base/util.h"
#include "conclude/holders_parts.h"

enum {
    STEPS_OF_ONE = 4096,  /* of the way of one answer */
    KNOWN_PERMILLE = 500, /* of the time that is waited: else the ways say nothing */
};

/* Until when a thread was at a call that waits for whatever comes next; 0: unknown. */
static uint64_t last_select(const struct holder *h, uint32_t thread, uint64_t time)
{
    const struct still_line *l = stills_of(&h->a->stills, thread);
    uint32_t i = still_first(l, time), least = i - min_u32(i, LOOK_BACK);
    for (; i > least; i--)
        if (program_waits_for_work(&h->all->program, l->v[i - 1].stack) ||
            io_in_select(h->a->trace, l->v[i - 1].stack))
            return l->v[i - 1].to;
    return 0;
}

/* One step back from a time at which a thread woke another one: since when it had worked then, and
 * its wait before that, if a thread ended it.  Those who want such an answer themselves do not work
 * on it: they came with another request. */
static uint64_t step_back(const struct holder *h, uint32_t thread, uint64_t time,
                          const struct span **before)
{
    const struct span *idle = h->waits[thread] ? holder_last_wait(h, thread, time)
                                               : resource_last_idle(h->a, thread, time);
    uint64_t since = idle ? span_end(&h->a->timeline, idle) : h->a->threads.v[thread].from,
             select = last_select(h, thread, time);
    bool woken = idle && select <= since && idle->waker && idle->waker < h->a->timeline.n_lines;
    *before = woken ? idle : NULL;
    return max_u64(since, select);
}

struct ways {
    struct holder *h;
    bool account;
    uint64_t known; /* ns of waits */
};

static int go_back(void *self, struct resource *r, const struct resource_wait *w)
{
    struct ways *ways = self;
    struct holder *h = ways->h;
    UNUSED(r);
    struct give g = w->span->waker && w->span->waker < h->a->timeline.n_lines
                        ? holder_first_give(h, w->span)
                        : (struct give){.thread = 0};
    uint64_t time = min_u64(g.time, w->to);
    uint32_t thread = g.thread;
    for (int i = 0; i < STEPS_OF_ONE && thread && time > w->from && h->steps++ <= STEPS_MAX; i++) {
        const struct span *before;
        uint64_t from = max_u64(step_back(h, thread, time, &before), w->from);
        bool works = from < time && !h->waits[thread];
        ways->known += works ? time - from : 0;
        if (ways->account && works)
            TRY(holder_account(h, thread, from, time));
        if (!before)
            return 0;
        time = min_u64(span_wake_time(&h->a->timeline, before), from);
        thread = before->waker;
    }
    return 0;
}

bool holder_knows_ways(struct holder *h)
{
    struct ways ways = {h, false, 0};
    h->steps = 0;
    return resource_each_wait(h->r, h->a, go_back, &ways) == 0 &&
           1000 * (ways.known >> 10) >= KNOWN_PERMILLE * (h->r->given_ns >> 10);
}

int holder_take_ways(struct holder *h)
{
    struct ways ways = {h, true, 0};
    TRY(resource_each_wait(h->r, h->a, holder_note_waiter, h));
    TRY(resource_each_wait(h->r, h->a, go_back, &ways));
    h->r->queued_ns = 0;
    h->r->outside_ns = h->r->given_ns - min_u64(h->r->given_ns, ways.known);
    return 0;
}
