#include "analyze/lock_line.h"

#include "analyze/time_sort.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

/* --- collecting ------------------------------------------------------------------------------- */

/* The facts collected about one lock. */
struct collected {
    struct buf waits, holds; /* struct lock_item [] */
    struct lock_evidence evidence;
};

struct collector {
    const struct analysis *a;
    const struct timeline *t;
    uint16_t *slot; /* [contexts.n]: 1 + index into v; 0: of no lock that is asked for */
    struct collected *v;
};

static void put(struct buf *b, const struct lock_item *item)
{
    buf_put(b, item, sizeof *item);
}

static void take_wait(struct collector *c, struct collected *to, uint32_t thread, uint32_t index,
                      const struct span *s)
{
    struct wait_part v[2];
    unsigned n = span_parts(c->t, s, v);
    for (unsigned i = 0; i < n; i++) {
        const struct lock_item item = {
            .from = v[i].from,
            .to = v[i].to,
            .thread = thread,
            .index = index,
            .state = v[i].state,
            .flags = v[i].flags,
            .summed = span_is_summed(c->t, s),
            .queued = purposes_held_up(&c->a->purposes, s->context, v[i].state)};
        put(&to->waits, &item);
        lock_evidence_add(&to->evidence, c->a, &item, s);
    }
}

/* Whether a thread that has the lock can only be in this wait because it gave it back before. */
static bool has_given_back(const struct context *x)
{
    return x->what == STATE_WAITING || x->what == STATE_REACQUIRING || x->what == STATE_BLOCKED;
}

/* A recorded hold, without the time from each Object.wait of its thread on the lock until the
 * thread has reacquired it.  A thread that was not notified takes the lock like any other thread,
 * in a wait of its own. */
static void take_hold(const struct collector *c, struct collected *to, uint32_t thread,
                      const struct span *h)
{
    const struct line *l = &c->t->lines[thread];
    uint64_t end = span_end(c->t, h);
    struct lock_item item = {.from = h->start, .thread = thread, .sure = true};
    uint32_t first = h->start ? line_spans_until(l, h->start - 1) : 0;
    uint32_t behind = end ? line_spans_until(l, end - 1) : 0;
    for (uint32_t i = first; i < behind; i++) {
        const struct span *s = line_span(l, i);
        const struct context *w = timeline_context(c->t, s->context);
        if (!has_given_back(w) || c->slot[s->context] != c->slot[h->context])
            continue;
        item.to = s->start;
        if (w->what == STATE_WAITING && item.from < item.to)
            put(&to->holds, &item);
        item.from = max_u64(item.from, span_end(c->t, s));
    }
    item.to = end;
    if (item.from < item.to)
        put(&to->holds, &item);
}

static void collect_line(struct collector *c, uint32_t thread)
{
    const struct line *l = &c->t->lines[thread];
    for (uint32_t i = 0, n; i < l->spans.n; i += n) {
        const struct span *s = run_stretch(&l->spans, sizeof *s, i, &n);
        for (uint32_t k = 0; k < n; k++)
            if (c->slot[s[k].context])
                take_wait(c, &c->v[c->slot[s[k].context] - 1], thread, i + k, &s[k]);
    }
    for (uint32_t i = 0; i < l->holds.n; i++) {
        const struct span *h = line_hold(l, i);
        if (c->slot[h->context])
            take_hold(c, &c->v[c->slot[h->context] - 1], thread, h);
    }
}

/* Find which contexts are of the locks. */
static int choose(struct collector *c, const uint32_t *locks, size_t n)
{
    const struct contexts *x = &c->t->contexts;
    size_t n_locks = c->a->locks.n_objects;
    uint16_t *of_lock = calloc(n_locks + 1, sizeof *of_lock);
    c->slot = calloc((size_t)x->n + 1, sizeof *c->slot);
    c->v = calloc(n + 1, sizeof *c->v);
    for (size_t i = 0; of_lock && c->v && i < n; i++)
        of_lock[locks[i]] = (uint16_t)(i + 1);
    for (uint32_t i = 1; of_lock && c->slot && i < x->n; i++) {
        bool wait = x->v[i].what < STATE_LIMIT || x->v[i].what == EV_hold;
        c->slot[i] = wait && x->v[i].lock.v < n_locks ? of_lock[x->v[i].lock.v] : 0;
    }
    free(of_lock);
    return of_lock && c->slot && c->v ? 0 : -ENOMEM;
}

/* --- lists ------------------------------------------------------------------------------------ */

static int fill_items(struct lock_items *s, const struct buf *from, struct time_sort *k)
{
    const struct lock_item *v = (const void *)from->p;
    s->n = (uint32_t)(from->len / sizeof *v);
    s->v = malloc(((size_t)s->n + 1) * sizeof *s->v);
    if (!s->v)
        return -ENOMEM;
    for (uint32_t i = 0; i < s->n; i++)
        k->v[i] = (struct time_key){v[i].from, i};
    const struct time_key *sorted = time_sort(k, s->n);
    for (uint32_t i = 0; i < s->n; i++)
        s->v[i] = v[sorted[i].at];
    return 0;
}

/* When they are over. */
static int fill_ends(struct lock_items *s, struct time_sort *k)
{
    s->ends = malloc(((size_t)s->n + 1) * sizeof *s->ends);
    s->last = calloc((size_t)s->n / LOCK_BLOCK + 1, sizeof *s->last);
    if (!s->ends || !s->last)
        return -ENOMEM;
    for (uint32_t i = 0; i < s->n; i++) {
        uint64_t over = lock_item_over(&s->v[i]), *last = &s->last[i / LOCK_BLOCK];
        *last = max_u64(*last, over);
        k->v[i].time = over;
    }
    const struct time_key *sorted = time_sort(k, s->n);
    for (uint32_t i = 0; i < s->n; i++)
        s->ends[i] = sorted[i].time;
    return 0;
}

static int make_items(struct lock_items *s, const struct buf *from, bool read)
{
    struct time_sort k;
    if (from->oom)
        return -ENOMEM;
    TRY(time_sort_init(&k, from->len / sizeof(struct lock_item)));
    int rc = fill_items(s, from, &k);
    if (rc == 0 && read)
        rc = fill_ends(s, &k);
    time_sort_fini(&k);
    return rc;
}

static void free_items(struct lock_items *s)
{
    free(s->v);
    free(s->ends);
    free(s->last);
}

/* --- steps ------------------------------------------------------------------------------------ */

static void add_steps(struct lock_line *l, const struct time_key *k, size_t n)
{
    struct lock_step now = {0, 0, 0};
    for (size_t i = 0; i < n; i++) {
        const struct lock_item *w = &l->waits.v[k[i].at >> 1];
        uint32_t one = k[i].at & 1 ? UINT32_MAX : 1; /* less one, or more */
        now.queued += w->queued ? one : 0;
        now.others += w->queued ? 0 : one;
        now.time = k[i].time;
        if (i + 1 == n || k[i + 1].time != now.time)
            l->steps[l->n_steps++] = now;
    }
}

static int make_steps(struct lock_line *l)
{
    struct time_sort k;
    size_t n = 0;
    TRY(time_sort_init(&k, 2 * (size_t)l->waits.n));
    for (uint32_t i = 0; i < l->waits.n; i++) {
        const struct lock_item *w = &l->waits.v[i];
        if (w->from == w->to)
            continue;
        k.v[n++] = (struct time_key){w->from, i << 1};
        k.v[n++] = (struct time_key){w->to, i << 1 | 1};
    }
    l->steps = calloc(n + 1, sizeof *l->steps);
    if (l->steps)
        add_steps(l, time_sort(&k, n), n);
    time_sort_fini(&k);
    return l->steps ? 0 : -ENOMEM;
}

/* Add a step that lasts until a time. */
static void add_step(struct lock_mark *m, const struct lock_step *s, uint64_t until)
{
    uint64_t ns = until - s->time;
    m->busy += s->queued ? ns : 0;
    m->area += ns * s->queued;
    m->others_busy += s->others ? ns : 0;
}

static int make_marks(struct lock_line *l)
{
    struct lock_mark sum = {0, 0, 0, 0, 0};
    l->marks = calloc((size_t)l->n_steps / LOCK_BLOCK + 1, sizeof *l->marks);
    if (!l->marks)
        return -ENOMEM;
    for (uint32_t i = 0; i < l->n_steps; i++) {
        const struct lock_step *s = &l->steps[i];
        struct lock_mark *m = &l->marks[i / LOCK_BLOCK];
        if (i % LOCK_BLOCK == 0)
            *m = sum;
        m->queued_most = m->queued_most > s->queued ? m->queued_most : s->queued;
        m->others_most = m->others_most > s->others ? m->others_most : s->others;
        add_step(&sum, s, i + 1 < l->n_steps ? s[1].time : s->time);
    }
    return 0;
}

/* --- holds ------------------------------------------------------------------------------------ */

static int join_holds(struct lock_line *l)
{
    l->held = calloc((size_t)l->holds.n + 1, sizeof *l->held);
    if (!l->held)
        return -ENOMEM;
    uint64_t before = 0;
    for (uint32_t i = 0; i < l->holds.n; i++) {
        const struct lock_item *h = &l->holds.v[i];
        struct lock_held *last = l->n_held ? &l->held[l->n_held - 1] : NULL;
        if (last && h->from <= last->to) {
            before += max_u64(h->to, last->to) - last->to;
            last->to = max_u64(h->to, last->to);
            continue;
        }
        l->held[l->n_held++] = (struct lock_held){h->from, h->to, before};
        before += h->to - h->from;
    }
    return 0;
}

static int make_holds(struct lock_line *l, struct collected *from, bool read)
{
    struct buf all = {0}, *recorded = &from->holds;
    lock_items_sort((void *)recorded->p, recorded->len / sizeof(struct lock_item));
    buf_put(&all, recorded->p, recorded->len);
    int rc = recorded->oom ? -ENOMEM : lock_holds_conclude(l, &from->evidence, recorded, &all);
    rc = rc < 0 ? rc : make_items(&l->holds, &all, read);
    buf_fini(&all);
    return rc == 0 && read ? join_holds(l) : rc;
}

/* --- a history's life ------------------------------------------------------------------------- */

void lock_line_free(struct lock_line *l)
{
    if (!l)
        return;
    free_items(&l->waits);
    free_items(&l->holds);
    free(l->steps);
    free(l->marks);
    free(l->held);
    free(l);
}

static int fill_line(struct lock_line *l, struct collected *from, bool read)
{
    TRY(make_items(&l->waits, &from->waits, read));
    if (read) {
        TRY(make_steps(l));
        TRY(make_marks(l));
    }
    TRY(make_holds(l, from, read));
    size_t items = (size_t)l->waits.n + l->holds.n;
    l->bytes = sizeof *l + items * (sizeof(struct lock_item) + sizeof(uint64_t)) +
               l->n_steps * sizeof *l->steps + l->n_held * sizeof *l->held;
    return 0;
}

static struct lock_line *make_line(uint32_t lock, struct collected *from, bool read)
{
    struct lock_line *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->lock = lock;
    if (fill_line(l, from, read) < 0) {
        lock_line_free(l);
        return NULL;
    }
    return l;
}

int lock_lines_make(const struct analysis *a, const uint32_t *locks, size_t n, bool read,
                    struct lock_line **out)
{
    struct collector c = {.a = a, .t = &a->timeline};
    int rc = choose(&c, locks, n);
    for (uint32_t i = 1; rc == 0 && i < c.t->n_lines; i++)
        collect_line(&c, i);
    for (size_t i = 0; i < n; i++) {
        out[i] = rc == 0 ? make_line(locks[i], &c.v[i], read) : NULL;
        rc = out[i] ? rc : -ENOMEM;
    }
    for (size_t i = 0; c.v && i < n; i++) {
        buf_fini(&c.v[i].waits);
        buf_fini(&c.v[i].holds);
        buf_fini(&c.v[i].evidence.v);
    }
    free(c.v);
    free(c.slot);
    for (size_t i = 0; rc < 0 && i < n; i++) {
        lock_line_free(out[i]);
        out[i] = NULL;
    }
    return rc;
}
