#include "analyze/takings.h"

#include "base/util.h"

#include <string.h>

enum { CHUNK = 1 << 16 };

/* Walks one thread's recording from its end to its beginning.  So a hold is met first at its end,
 * where its length is known, and again at its beginning. */
struct walker {
    struct takings *w;
    const struct line *line;
    uint32_t thread, hold, span; /* number of holds and spans that are left */
    uint64_t hold_end, span_end; /* of the last of them */
    bool fresh; /* the last taking of the chunk was met last: a wait may belong to it */
    taking_visitor *visit;
    void *self;
};

void takings_init(struct takings *w, const struct timeline *t, const struct sightings *sightings,
                  bool sampled)
{
    *w = (struct takings){.t = t, .sightings = sightings, .sampled = sampled};
}

void takings_fini(struct takings *w)
{
    buf_fini(&w->open);
    buf_fini(&w->chunk);
}

struct lock_order_place taking_place(const struct timeline *t, const struct taking *k)
{
    if (k->wait)
        return (struct lock_order_place){timeline_context(t, k->wait)->stack, LOCK_ORDER_WANTED};
    return (struct lock_order_place){timeline_context(t, k->hold)->stack, LOCK_ORDER_GIVEN_BACK};
}

static struct taking *takings_of(struct buf *b)
{
    return (void *)b->p;
}

static size_t count(const struct buf *b)
{
    return b->len / sizeof(struct taking);
}

/* --- a stretch, from its beginning ------------------------------------------------------------ */

enum { NOT_YET = UINT32_MAX };

/* The locks held, and since when there were more than fit. */
struct possession {
    struct held v[HELD_MAX];
    size_t n;
    uint64_t blind_until;
    uint32_t sighting; /* the first that belongs to what comes, or NOT_YET looked for */
};

static void drop_ended(struct possession *p, uint64_t now)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++)
        if (p->v[i].to > now)
            p->v[n++] = p->v[i];
    p->n = n;
}

static struct held *find(struct held *v, size_t n, lock_id lock)
{
    for (size_t i = 0; i < n; i++)
        if (v[i].lock.v == lock.v)
            return &v[i];
    return NULL;
}

static void take(struct possession *p, const struct timeline *t, const struct taking *k)
{
    if (k->to <= k->from)
        return;
    if (p->n == HELD_MAX) {
        p->blind_until = max_u64(p->blind_until, k->to);
        return;
    }
    p->v[p->n++] = (struct held){.from = k->from,
                                 .to = k->to,
                                 .lock = k->lock,
                                 .at = taking_place(t, k),
                                 .shared = timeline_context(t, k->hold)->mode == HOLD_SHARED};
}

/* The place where a lock was taken that the thread was seen to own during a wait. */
static struct lock_order_place seen_place(const struct walker *k, const struct sighting *s)
{
    const struct timeline *t = k->w->t;
    stack_id owning = timeline_context(t, s->context)->owner_stack;
    if (owning.v)
        return (struct lock_order_place){owning, LOCK_ORDER_OWNING};
    for (uint32_t i = s->span, n = TAKING_LOOK_BACK; i && n; i--, n--) {
        const struct context *x = timeline_context(t, line_span(k->line, i - 1)->context);
        bool on_it = is_lock_wait(x) || x->what == STATE_WAITING;
        if (on_it && x->lock.v == s->lock.v && x->stack.v)
            return (struct lock_order_place){x->stack, LOCK_ORDER_EARLIER};
    }
    return (struct lock_order_place){{0}, LOCK_ORDER_UNKNOWN};
}

/* Adds the locks that the thread was seen to own during the wait of a taking. */
static size_t add_seen(const struct walker *k, uint32_t *low, const struct taking *x,
                       struct held *v, size_t n)
{
    const struct sightings *all = k->w->sightings;
    if (!x->span || !all->n)
        return n;
    uint32_t end = all->first[k->thread + 1];
    if (*low == NOT_YET) {
        *low = all->first[k->thread];
        BISECT(*low, end, all->v[*low].span < x->span - 1);
    }
    while (*low < end && all->v[*low].span < x->span - 1)
        ++*low;
    for (uint32_t i = *low; i < end && all->v[i].span == x->span - 1 && n < HELD_MAX; i++) {
        const struct sighting *s = &all->v[i];
        const struct span *wait = line_span(k->line, s->span);
        if (s->lock.v == x->lock.v || find(v, n, s->lock))
            continue;
        v[n++] = (struct held){.from = wait->start,
                               .to = span_end(k->w->t, wait),
                               .lock = s->lock,
                               .at = seen_place(k, s),
                               .seen = true};
    }
    return n;
}

/* A writer that became a reader of the same lock holds it in both ways: exclusively, that is. */
static size_t add_held(struct held *v, size_t n, const struct held *h)
{
    struct held *known = find(v, n, h->lock);
    if (!known)
        v[n++] = *h;
    else if (known->shared)
        *known = *h;
    return n;
}

static int visit_one(struct walker *k, struct possession *p, const struct taking *x)
{
    struct held held[HELD_MAX];
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++) {
        if (p->v[i].lock.v == x->lock.v)
            return 0; /* it has the lock already */
        if (p->v[i].from < x->from)
            n = add_held(held, n, &p->v[i]);
    }
    n = add_seen(k, &p->sighting, x, held, n);
    if (!n)
        return 0;
    if (p->blind_until > x->from) {
        k->w->deep++;
        return 0;
    }
    if (x->timed) {
        k->w->timed++;
        return 0;
    }
    return k->visit(k->self, k->thread, x, held, n);
}

static int flush(struct walker *k)
{
    const struct taking *v = takings_of(&k->w->chunk);
    struct possession p = {.sighting = NOT_YET};
    for (size_t i = count(&k->w->chunk); i-- > 0;) {
        drop_ended(&p, v[i].from);
        if (p.n || k->w->sightings->n)
            TRY(visit_one(k, &p, &v[i]));
        take(&p, k->w->t, &v[i]);
    }
    buf_clear(&k->w->chunk);
    k->fresh = false;
    return 0;
}

/* --- from the end to the beginning ------------------------------------------------------------ */

static void add(struct walker *k, const struct taking *x)
{
    buf_put(&k->w->chunk, x, sizeof *x);
    k->fresh = true;
}

static void next_hold(struct walker *k)
{
    k->hold_end = k->hold ? span_end(k->w->t, line_hold(k->line, k->hold - 1)) : 0;
}

static void next_span(struct walker *k)
{
    k->span_end = k->span ? span_end(k->w->t, line_span(k->line, k->span - 1)) : 0;
}

/* A hold's end: it is open from here on, among the others by their beginnings. */
static void open_hold(struct walker *k)
{
    struct buf *open = &k->w->open;
    const struct span *h = line_hold(k->line, --k->hold);
    const struct context *x = timeline_context(k->w->t, h->context);
    struct taking y = {.wanted = h->start,
                       .from = h->start,
                       .to = k->hold_end,
                       .lock = x->lock,
                       .hold = h->context,
                       .shared = x->mode == HOLD_SHARED};
    next_hold(k);
    k->fresh = false;
    buf_put(open, &y, sizeof y);
    if (open->oom)
        return;
    struct taking *v = takings_of(open);
    size_t i = count(open) - 1;
    for (; i && v[i - 1].from > y.from; i--)
        v[i] = v[i - 1];
    v[i] = y;
}

/* The beginning of the open hold that began last. */
static void close_hold(struct walker *k)
{
    struct buf *open = &k->w->open;
    struct taking x = takings_of(open)[count(open) - 1];
    open->len -= sizeof x;
    if (x.lock.v)
        add(k, &x);
}

/* The hold to which a wait for a lock led: the taking met just before. */
static struct taking *led_to(const struct walker *k, const struct context *x, uint64_t end)
{
    if (!k->fresh)
        return NULL;
    struct taking *y = takings_of(&k->w->chunk) + count(&k->w->chunk) - 1;
    uint64_t most = k->w->sampled ? TAKING_MATCH_SAMPLED_NS : TAKING_MATCH_NS;
    bool same = y->lock.v == x->lock.v && y->hold && y->wanted - end <= most;
    return same && !(x->flags & INTERVAL_OPEN) ? y : NULL;
}

static bool may_hold(const struct walker *k)
{
    const struct sightings *s = k->w->sightings;
    return k->w->open.len || (s->n && s->first[k->thread + 1] > s->first[k->thread]);
}

static void lock_wait(struct walker *k, const struct span *s, const struct context *x)
{
    struct taking *y = led_to(k, x, k->span_end);
    bool timed = x->flags & INTERVAL_TIMED;
    if (y && y->wait) { /* it parked several times */
        y->wanted = s->start;
        y->timed |= timed;
    } else if (y) {
        y->wanted = s->start;
        y->wait = s->context;
        y->span = k->span + 1;
        y->timed = timed;
    } else if (may_hold(k)) {
        add(k, &(struct taking){.wanted = s->start,
                                .from = k->span_end,
                                .to = k->span_end,
                                .lock = x->lock,
                                .wait = s->context,
                                .span = k->span + 1,
                                .shared = x->what == STATE_PARKED,
                                .timed = timed,
                                .open = x->flags & INTERVAL_OPEN});
    }
}

/* An Object.wait, over at `again->from`: the monitor is taken again then, and was not held
 * before. */
static void object_wait(struct walker *k, const struct span *s, struct taking *again)
{
    struct taking *v = takings_of(&k->w->open);
    again->lock = timeline_context(k->w->t, s->context)->lock;
    again->to = again->from;
    again->wait = s->context;
    for (size_t i = count(&k->w->open); i-- > 0;) {
        if (v[i].lock.v != again->lock.v || v[i].shared)
            continue;
        again->to = max_u64(v[i].to, again->from);
        again->hold = v[i].hold;
        v[i].to = max_u64(s->start, v[i].from);
        break;
    }
    if (may_hold(k))
        add(k, again);
}

/* The monitor is taken again: all spans of that and of the wait are one; k->span is the last. */
static void reacquired(struct walker *k, const struct span *s, const struct context *x)
{
    struct taking again = {.wanted = s->start, .from = k->span_end, .span = k->span + 1};
    again.open = x->flags & INTERVAL_OPEN;
    while (k->span) {
        const struct span *before = line_span(k->line, k->span - 1);
        const struct context *y = timeline_context(k->w->t, before->context);
        if (y->lock.v != x->lock.v || y->flags & INTERVAL_UNKNOWN)
            break;
        if (y->what == STATE_WAITING) {
            k->span--;
            object_wait(k, before, &again);
            return;
        }
        if (y->what != STATE_REACQUIRING)
            break;
        again.wanted = before->start;
        again.span = k->span--;
    }
    lock_wait(k, s, x);
}

static void take_span(struct walker *k)
{
    const struct span *s = line_span(k->line, --k->span);
    const struct context *x = timeline_context(k->w->t, s->context);
    bool known = x->lock.v && !(x->flags & (INTERVAL_UNKNOWN | INTERVAL_REACQUIRED));
    if (known && x->what == STATE_REACQUIRING) {
        reacquired(k, s, x);
    } else if (known && (x->what == STATE_BLOCKED || x->what == STATE_PARKED)) {
        lock_wait(k, s, x);
    } else if (known && x->what == STATE_WAITING && !(x->flags & INTERVAL_OPEN)) {
        struct taking again = {.wanted = span_waited_until(k->w->t, s), .from = k->span_end};
        object_wait(k, s, &again);
    } else {
        k->fresh = false;
    }
    next_span(k);
}

/* Takes the latest remaining item; at one time first a hold that begins, then a hold that ends,
 * then a wait. */
static int step(struct walker *k)
{
    size_t n = count(&k->w->open);
    bool full = count(&k->w->chunk) >= CHUNK && !n;
    uint64_t begins = n ? takings_of(&k->w->open)[n - 1].from : 0;
    bool hold_next = k->hold && (!k->span || k->hold_end >= k->span_end);
    uint64_t ends = hold_next ? k->hold_end : k->span_end;
    if (n && (begins >= ends || (!k->hold && !k->span))) {
        close_hold(k);
        return 0;
    }
    if (full && (hold_next || !k->fresh))
        TRY(flush(k));
    if (hold_next)
        open_hold(k);
    else
        take_span(k);
    return 0;
}

int takings_walk(struct takings *w, uint32_t thread, taking_visitor *visit, void *self)
{
    const struct line *l = &w->t->lines[thread];
    struct walker k = {.w = w,
                       .line = l,
                       .thread = thread,
                       .hold = l->holds.n,
                       .span = l->spans.n,
                       .visit = visit,
                       .self = self};
    buf_clear(&w->open);
    buf_clear(&w->chunk);
    next_hold(&k);
    next_span(&k);
    while (k.hold || k.span || w->open.len) {
        TRY(step(&k));
        if (w->open.oom || w->chunk.oom)
            return -ENOMEM;
    }
    return flush(&k);
}
