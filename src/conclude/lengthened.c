/* What makes the waits for a resource longer, by what is recorded of those who wait. */
#include "conclude/lengthened.h"

#include "base/err.h"
#include "base/util.h"
#include "conclude/resource_parts.h"

#include <stdlib.h>

enum {
    THIRDS = 3,
    LEAST = 10,           /* tasks, or holds, of each third */
    RISE_PERMILLE = 1500, /* of the first third, at least, in the last; */
    MORE_PERMILLE = 1100, /* and of its tasks, at most */
};

/* A thread got it. */
struct got {
    uint32_t lock;
    uint64_t from, to; /* of its wait */
};

struct counted {
    uint64_t n, ns;
};

struct look {
    const struct analysis *a;
    const struct heap_stretch *s;
    bool *waits; /* [n_lines]: for it */
    struct buf got;
    uint64_t waited, paused; /* ns, in the stretch; of them in pauses */
};

/* --- pauses ----------------------------------------------------------------------------------- */

/* ns of pauses in a stretch of time. */
static uint64_t paused_in(const struct analysis *a, uint64_t from, uint64_t to)
{
    const struct pause *v = (const void *)a->decoded.pauses.p;
    size_t n = a->decoded.pauses.len / sizeof *v, low = 0;
    BISECT(low, n, v[low].end <= from);
    uint64_t ns = 0;
    for (; low < n && v[low].start < to; low++)
        ns += common_u64(v[low].start, v[low].end, from, to);
    return ns;
}

static bool is_in_pauses(const struct look *l)
{
    uint64_t length = l->s->to - l->s->from, paused = paused_in(l->a, l->s->from, l->s->to);
    uint64_t outside = l->waited - l->paused;
    return 2 * l->paused >= l->waited && l->paused && paused < length &&
           (double)l->paused * (double)(length - paused) >= 2. * (double)outside * (double)paused;
}

/* --- growth ----------------------------------------------------------------------------------- */

static uint64_t border(const struct heap_stretch *s, unsigned third)
{
    return s->from + (s->to - s->from) / THIRDS * third;
}

static void count_in(struct counted *of, const struct heap_stretch *s, uint64_t time, uint64_t ns)
{
    unsigned third = 0;
    while (third + 1 < THIRDS && time >= border(s, third + 1))
        third++;
    of[third].n++;
    of[third].ns += ns;
}

/* Each third has more than the one before it, on average, and enough to say so. */
static bool rises(const struct counted *v, struct lengthened *out)
{
    uint64_t mean[THIRDS];
    for (unsigned i = 0; i < THIRDS; i++) {
        if (v[i].n < LEAST)
            return false;
        mean[i] = v[i].ns / v[i].n;
        if (i && mean[i] <= mean[i - 1])
            return false;
    }
    out->first = mean[0];
    out->last = mean[THIRDS - 1];
    return out->last * 1000 >= out->first * RISE_PERMILLE;
}

/* What a thread did for its tasks: its life without its waits; a task begins where a wait for work
 * ends. */
static void count_tasks(const struct look *l, uint32_t thread, struct counted *of)
{
    const struct heap_stretch *s = l->s;
    const struct thread_stats *life = &l->a->threads.v[thread];
    const struct run *v = &l->a->timeline.lines[thread].spans;
    struct counted own[THIRDS] = {{0}};
    uint64_t tasks = 0;
    for (unsigned k = 0; k < THIRDS; k++)
        own[k].ns = common_u64(life->from, life->to, border(s, k), border(s, k + 1));
    for (uint32_t i = 0, n; i < v->n; i += n) {
        const struct span *x = run_stretch(v, sizeof *x, i, &n);
        for (uint32_t j = 0; j < n; j++) {
            uint64_t end = span_end(&l->a->timeline, &x[j]);
            for (unsigned k = 0; k < THIRDS; k++)
                own[k].ns -=
                    min_u64(own[k].ns, common_u64(x[j].start, end, border(s, k), border(s, k + 1)));
            if (wait_is_for_work(l->a, x[j].context) && end >= s->from && end < s->to) {
                count_in(own, s, end, 0);
                tasks++;
            }
        }
    }
    for (unsigned k = 0; k < THIRDS && tasks; k++) {
        of[k].n += own[k].n;
        of[k].ns += own[k].ns;
    }
}

/* A program that gets more to do needs longer, too. */
static bool tasks_lengthen(const struct look *l, struct lengthened *out)
{
    struct counted of[THIRDS] = {{0}};
    for (uint32_t i = 1; i < l->a->timeline.n_lines && i < l->a->threads.n; i++)
        if (l->waits[i])
            count_tasks(l, i, of);
    return rises(of, out) && of[THIRDS - 1].n * 1000 <= of[0].n * MORE_PERMILLE;
}

static int by_lock_and_time(const void *x, const void *y)
{
    const struct got *a = x, *b = y;
    if (a->lock != b->lock)
        return a->lock < b->lock ? -1 : 1;
    return (a->to > b->to) - (a->to < b->to);
}

/* A thread that got it while the next one waited had it until the next one got it. */
static bool holds_lengthen(struct look *l, struct lengthened *out)
{
    struct counted of[THIRDS] = {{0}};
    struct got *v = (void *)l->got.p;
    size_t n = l->got.len / sizeof *v;
    if (n)
        qsort(v, n, sizeof *v, by_lock_and_time);
    for (size_t i = 1; i < n; i++)
        if (v[i].lock == v[i - 1].lock && v[i].from <= v[i - 1].to)
            count_in(of, l->s, v[i - 1].to, v[i].to - v[i - 1].to);
    return rises(of, out);
}

/* Whether what takes long is in the program's hands, and no other side's. */
static bool computes(const struct resource *r)
{
    uint64_t ns = 0;
    for (size_t i = 0; i < r->n_doing; i++) {
        enum holder_does does = r->doing[i].does;
        if (does == DOES_COMPUTE || does == DOES_STOPPED || does == DOES_READY)
            ns += r->doing[i].ns;
    }
    return ns && 2 * ns >= r->held;
}

/* --- all -------------------------------------------------------------------------------------- */

static int take(void *self, struct resource *r, const struct resource_wait *w)
{
    struct look *l = self;
    const struct context *x = timeline_context(&l->a->timeline, w->span->context);
    UNUSED(r);
    l->waits[w->thread] = true;
    l->waited += common_u64(w->from, w->to, l->s->from, l->s->to);
    l->paused += paused_in(l->a, max_u64(w->from, l->s->from), min_u64(w->to, l->s->to));
    struct got got = {x->lock.v, w->from, w->to};
    if (!w->open && !span_is_summed(&l->a->timeline, w->span) && w->from >= l->s->from &&
        w->to <= l->s->to)
        buf_put(&l->got, &got, sizeof got);
    return l->got.oom ? -ENOMEM : 0;
}

static enum lengthened_by decide(struct look *l, const struct resource *r, struct lengthened *out)
{
    if (2 * l->waited < r->ns) /* most of it is of another time */
        return LENGTHENED_NOT;
    out->permille = (unsigned)(1000 * (l->paused >> 10) / max_u64(l->waited >> 10, 1));
    if (is_in_pauses(l))
        return LENGTHENED_PAUSES;
    if (!l->s->grows || !computes(r))
        return LENGTHENED_NOT;
    return tasks_lengthen(l, out)   ? LENGTHENED_TASKS
           : holds_lengthen(l, out) ? LENGTHENED_HOLDS
                                    : LENGTHENED_NOT;
}

int lengthened_find(struct resource *r, const struct analysis *a, const struct heap_stretch *s,
                    struct lengthened *out)
{
    struct look l = {.a = a, .s = s, .waits = calloc(a->timeline.n_lines + 1, sizeof *l.waits)};
    *out = (struct lengthened){0};
    int rc = l.waits && s->from < s->to ? resource_each_wait(r, a, take, &l) : 0;
    rc = l.waits ? rc : -ENOMEM;
    if (rc == 0 && l.waited)
        out->by = decide(&l, r, out);
    buf_fini(&l.got);
    free(l.waits);
    return rc;
}
