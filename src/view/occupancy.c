#include "view/occupancy.h"

#include "base/util.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* --- spans ------------------------------------------------------------------------------------ */

/* 1 + the index of the last span before the n-th that has a length; 0: none. */
static uint32_t last_with_length(const struct timeline *t, const struct line *l, uint32_t n)
{
    while (n && span_len(t, line_span(l, n - 1)) == 0)
        n--;
    return n;
}

/* The number of spans that begin before a time. */
static uint32_t spans_before(const struct line *l, uint64_t time)
{
    return time ? line_spans_until(l, time - 1) : 0;
}

/* The same where it is known to be at least n: near n is found first. */
static uint32_t gallop(const struct line *l, uint32_t n, uint64_t time)
{
    uint32_t step = 1, high;
    while (step < l->spans.n - n && line_span(l, n + step - 1)->start < time) {
        n += step;
        step *= 2;
    }
    high = step < l->spans.n - n ? n + step : l->spans.n;
    BISECT(n, high, line_span(l, n)->start < time);
    return n;
}

struct touching spans_touching(const struct timeline *t, const struct line *l, uint64_t from,
                               uint64_t to)
{
    struct touching x = {0, 0, 0};
    if (from >= to)
        return x;
    x.first = spans_before(l, from);
    x.end = gallop(l, x.first, to);
    uint32_t last = last_with_length(t, l, x.first);
    if (last && span_end(t, line_span(l, last - 1)) > from)
        x.over = last;
    return x;
}

/* --- sums of one thread ----------------------------------------------------------------------- */

/* The spans before the n-th of a line, whole. */
struct cursor {
    const struct occupancy *o;
    const struct line *l;
    const struct mark *marks; /* NULL: there are none */
    uint64_t ns[COLUMNS];
    uint32_t n, last;
};

static void add_split(const struct timeline *t, const struct span *s, uint64_t *ns)
{
    uint64_t until = span_waited_until(t, s);
    ns[STATE_WAITING] += until - s->start;
    ns[STATE_REACQUIRING] += span_end(t, s) - until;
}

/* Add the spans up to before the n-th. */
static void go_through(struct cursor *c, uint32_t n)
{
    const struct timeline *t = &c->o->a->timeline;
    uint32_t stretch;
    for (uint32_t i = c->n; i < n; i += stretch) {
        const struct span *s = run_stretch(&c->l->spans, sizeof *s, i, &stretch);
        stretch = stretch < n - i ? stretch : n - i;
        for (uint32_t k = 0; k < stretch; k++) {
            uint8_t column = c->o->column[s[k].context];
            uint64_t len = span_len(t, &s[k]);
            c->last = len ? i + k + 1 : c->last;
            if (column == STATE_WAITING && s[k].waker)
                add_split(t, &s[k], c->ns);
            else
                c->ns[column] += len;
        }
    }
    c->n = n;
}

static void go_to(struct cursor *c, uint32_t n)
{
    uint32_t mark = n / MARK_EVERY;
    if (c->marks && mark * MARK_EVERY > c->n && n - c->n > MARK_EVERY / 2) {
        memcpy(c->ns, c->marks[mark].ns, sizeof c->ns);
        c->last = c->marks[mark].last;
        c->n = mark * MARK_EVERY;
    }
    go_through(c, n);
}

/* Go on to the spans that begin before a time: where they are near, to look at each is faster than
 * to search. */
static void go_on(struct cursor *c, uint64_t time)
{
    uint32_t room, n = 0;
    if (c->n == c->l->spans.n)
        return;
    const struct span *s = run_stretch(&c->l->spans, sizeof *s, c->n, &room);
    room = room < MARK_EVERY ? room : MARK_EVERY;
    while (n < room && s[n].start < time)
        n++;
    go_through(c, c->n + n);
    if (n == room)
        go_to(c, gallop(c->l, c->n, time));
}

/* Take off what the last span has behind a time. */
static void cut(const struct cursor *c, uint64_t time, uint64_t *ns)
{
    const struct timeline *t = &c->o->a->timeline;
    const struct span *s = c->last ? line_span(c->l, c->last - 1) : NULL;
    uint64_t end = s ? span_end(t, s) : 0;
    if (!s || end <= time)
        return;
    uint8_t column = c->o->column[s->context];
    if (column != STATE_WAITING || !s->waker) {
        ns[column] -= end - time;
        return;
    }
    uint64_t until = max_u64(span_waited_until(t, s), time);
    ns[STATE_REACQUIRING] -= end - until;
    ns[STATE_WAITING] -= until - time;
}

/* The time in each column before a moment, which is not before that of the call before. */
static void evaluate(struct cursor *c, uint64_t time, uint64_t ns[COLUMNS])
{
    go_on(c, time);
    memcpy(ns, c->ns, sizeof c->ns);
    cut(c, time, ns);
}

/* --- marks ------------------------------------------------------------------------------------ */

static struct mark *make_marks(const struct occupancy *o, const struct line *l)
{
    uint32_t n = l->spans.n / MARK_EVERY + 1;
    struct mark *marks = malloc(n * sizeof *marks);
    struct cursor c = {.o = o, .l = l};
    for (uint32_t i = 0; marks && i < n; i++) {
        go_through(&c, i * MARK_EVERY);
        memcpy(marks[i].ns, c.ns, sizeof c.ns);
        marks[i].last = c.last;
    }
    return marks;
}

/* The marks of a line; NULL: memory is out. */
static const struct mark *marks_of(struct occupancy *o, uint32_t thread)
{
    _Atomic(struct mark *) *place = &o->marks[thread];
    /* acquire: the marks, which the release below publishes */
    struct mark *marks = atomic_load_explicit(place, memory_order_acquire);
    if (marks)
        return marks;
    pthread_mutex_lock(&o->making);
    marks = atomic_load_explicit(place, memory_order_relaxed); /* written under the mutex */
    if (!marks) {
        marks = make_marks(o, &o->a->timeline.lines[thread]);
        atomic_store_explicit(place, marks, memory_order_release); /* to the load above */
    }
    pthread_mutex_unlock(&o->making);
    return marks;
}

/* Before the first of that number of spans that will be gone through; without marks the sums also
 * begin there: only their differences matter.  -ENOMEM. */
static int cursor_init(struct cursor *c, struct occupancy *o, uint32_t thread, uint32_t first,
                       uint32_t spans)
{
    const struct line *l = &o->a->timeline.lines[thread];
    *c = (struct cursor){.o = o, .l = l};
    if (spans >= 4 * MARK_EVERY) {
        c->marks = marks_of(o, thread);
        if (!c->marks)
            return -ENOMEM;
        go_to(c, first);
        return 0;
    }
    c->n = first;
    c->last = last_with_length(&o->a->timeline, l, first);
    return 0;
}

int occupancy_between(struct occupancy *o, uint32_t thread, uint64_t from, uint64_t to,
                      uint64_t ns[STATE_LIMIT])
{
    uint64_t before[COLUMNS], after[COLUMNS];
    struct cursor c;
    memset(ns, 0, STATE_LIMIT * sizeof *ns);
    if (thread >= o->n_lines || from >= to)
        return 0;
    const struct line *l = &o->a->timeline.lines[thread];
    struct touching x = spans_touching(&o->a->timeline, l, from, to);
    TRY(cursor_init(&c, o, thread, x.first, x.end - x.first));
    evaluate(&c, from, before);
    evaluate(&c, to, after);
    for (unsigned i = 0; i < COLUMNS; i++)
        ns[i == COLUMN_HELD_UP ? STATE_PARKED : i] += after[i] - before[i];
    return 0;
}

/* --- life ------------------------------------------------------------------------------------- */

/* What the spans of each context are added to. */
static void fill_columns(struct occupancy *o)
{
    const struct contexts *c = &o->a->timeline.contexts;
    for (uint32_t i = 1; i < c->n; i++) {
        const struct context *x = &c->v[i];
        bool held_up = x->what == STATE_PARKED && purposes_held_up(&o->a->purposes, i, x->what);
        o->column[i] = held_up ? COLUMN_HELD_UP : x->what < STATE_LIMIT ? x->what : 0;
    }
}

int occupancy_init(struct occupancy *o, const struct analysis *a)
{
    *o = (struct occupancy){.a = a, .n_lines = a->timeline.n_lines};
    pthread_mutex_init(&o->making, NULL);
    o->column = calloc(a->timeline.contexts.n + 1, sizeof *o->column);
    o->marks = calloc(o->n_lines + 1, sizeof *o->marks);
    if (!o->column || !o->marks) {
        occupancy_fini(o);
        return -ENOMEM;
    }
    fill_columns(o);
    return 0;
}

void occupancy_fini(struct occupancy *o)
{
    for (size_t i = 0; o->marks && i < o->n_lines; i++)
        free(atomic_load_explicit(&o->marks[i], memory_order_relaxed)); /* no other thread left */
    free(o->marks);
    free(o->column);
    pthread_mutex_destroy(&o->making);
    memset(o, 0, sizeof *o);
}

/* --- piles ------------------------------------------------------------------------------------ */

int pile_init(struct pile *p, const uint64_t *edges, unsigned n)
{
    uint64_t length = edges[n] - edges[0];
    *p = (struct pile){.edges = edges, .n = n, .per_ns = length ? (double)n / (double)length : 0};
    p->cells = calloc((size_t)n + 1, sizeof *p->cells);
    return p->cells ? 0 : -ENOMEM;
}

void pile_fini(struct pile *p)
{
    free(p->cells);
    p->cells = NULL;
}

void pile_clear(struct pile *p)
{
    memset(p->cells, 0, ((size_t)p->n + 1) * sizeof *p->cells);
}

/* The bucket of a moment that lies in the pile. */
static unsigned bucket_of(const struct pile *p, uint64_t time)
{
    unsigned k = (unsigned)((double)(time - p->edges[0]) * p->per_ns);
    k = k < p->n ? k : p->n - 1;
    while (k && p->edges[k] > time)
        k--;
    while (k + 1 < p->n && p->edges[k + 1] <= time)
        k++;
    return k;
}

/* Add a stretch, which is cut to the pile. */
static void pile_stretch(struct pile *p, uint64_t from, uint64_t to, unsigned column)
{
    from = max_u64(from, p->edges[0]);
    to = min_u64(to, p->edges[p->n]);
    if (from >= to)
        return;
    unsigned first = bucket_of(p, from), last = bucket_of(p, to - 1);
    struct pile_cell *c = p->cells;
    if (first == last) {
        c[first].ns[column] += to - from;
        return;
    }
    c[first].ns[column] += p->edges[first + 1] - from;
    c[last].ns[column] += to - p->edges[last];
    c[first + 1].whole[column]++;
    c[last].whole[column]--;
}

static void pile_wait(struct pile *p, const struct occupancy *o, const struct span *s)
{
    const struct timeline *t = &o->a->timeline;
    uint64_t end = span_end(t, s), until = end;
    uint64_t from = max_u64(s->start, p->edges[0]);
    uint64_t last = min_u64(end > s->start ? end - 1 : end, p->edges[p->n] - 1);
    uint8_t column = o->column[s->context];
    p->cells[bucket_of(p, from)].waits++;
    p->cells[bucket_of(p, last) + 1].waits--;
    if (column == STATE_WAITING && s->waker)
        until = span_waited_until(t, s);
    pile_stretch(p, s->start, until, column);
    pile_stretch(p, until, end, STATE_REACQUIRING);
}

/* Where the spans are many: bucket by bucket. */
static int pile_many(struct pile *p, struct occupancy *o, uint32_t thread, const struct touching *x)
{
    uint64_t before[COLUMNS], after[COLUMNS];
    const struct timeline *t = &o->a->timeline;
    struct cursor c;
    TRY(cursor_init(&c, o, thread, x->first, x->end - x->first));
    evaluate(&c, p->edges[0], before);
    for (unsigned k = 0; k < p->n; k++) {
        uint32_t n = c.n;
        bool over = c.last && span_end(t, line_span(c.l, c.last - 1)) > p->edges[k];
        evaluate(&c, p->edges[k + 1], after);
        int64_t waits = (int64_t)(c.n - n) + (over && p->edges[k] < p->edges[k + 1]);
        for (unsigned i = 0; i < COLUMNS; i++)
            p->cells[k].ns[i] += after[i] - before[i];
        p->cells[k].waits += waits;
        p->cells[k + 1].waits -= waits;
        memcpy(before, after, sizeof before);
    }
    return 0;
}

static void pile_halts(struct pile *p, const struct still_line *l)
{
    uint32_t first, n = still_touching(l, p->edges[0], p->edges[p->n], &first);
    for (uint32_t i = first; i < first + n; i++)
        pile_stretch(p, l->v[i].from, l->v[i].to, COLUMN_HALTED + halt_of(&l->v[i]));
}

int pile_add(struct pile *p, struct occupancy *o, uint32_t thread)
{
    const struct thread_stats *s = &o->a->threads.v[thread];
    pile_stretch(p, s->from, s->to, COLUMN_LIFE);
    pile_halts(p, stills_of(&o->a->halts, thread));
    if (thread >= o->n_lines)
        return 0;
    const struct line *l = &o->a->timeline.lines[thread];
    struct touching x = spans_touching(&o->a->timeline, l, p->edges[0], p->edges[p->n]);
    if (x.end - x.first > p->n)
        return pile_many(p, o, thread, &x);
    if (x.over)
        pile_wait(p, o, line_span(l, x.over - 1));
    for (uint32_t i = x.first; i < x.end; i++)
        pile_wait(p, o, line_span(l, i));
    return 0;
}

void pile_finish(struct pile *p)
{
    int64_t whole[PILE_COLUMNS] = {0}, waits = 0;
    for (unsigned k = 0; k < p->n; k++) {
        struct pile_cell *c = &p->cells[k];
        uint64_t width = p->edges[k + 1] - p->edges[k];
        for (unsigned i = 0; i < PILE_COLUMNS; i++) {
            whole[i] += c->whole[i];
            c->ns[i] += whole[i] ? (uint64_t)whole[i] * width : 0;
            c->whole[i] = 0;
        }
        waits += c->waits;
        c->waits = waits;
    }
}
