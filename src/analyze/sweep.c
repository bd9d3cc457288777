#include "analyze/sweep.h"

#include "base/util.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    WINDOW_ITEMS = 1 << 15, /* aimed at: two arrays of them stay in a second-level cache */
#ifdef ORCA_DEBUG
    MANY = 1000,
#else
    MANY = 1000000, /* spans and acts for which a second thread is worth its start */
#endif
    DIGIT_BITS = 11,
    DIGITS = 1 << DIGIT_BITS,
    FEW = 32,    /* sorted by insertion */
    BATCH = 256, /* handed to each sink: what they look at is then in the first-level cache */
};

/* The position of the sweep in one thread.  Times are keys.  In a backward sweep the keys are
 * inverted, so that the latest comes first, and entries are counted from their end. */
struct cursor {
    uint64_t next;      /* of its next item; UINT64_MAX: none is left */
    uint64_t span_time; /* when the next span begins, or the one it is in ends */
    uint64_t act_time, hold_time;
    uint32_t thread, span, act, hold;
    bool born, inside;
};

struct sweeper {
    const struct timeline *t;
    const struct thread_set *threads;
    bool back;                 /* from the end to the beginning */
    unsigned over;             /* 1 << type: what no sink looks at */
    struct cursor *cursors;    /* [n_cursors], by the time of their first item */
    size_t n_cursors, n_begun; /* those before n_begun have begun, */
    size_t first_live;         /* those before this are at their end */
};

/* The items of a stretch of time. */
struct window {
    struct sweep_item *items, *other; /* [cap]; other: for sorting */
    size_t n, cap;
};

/* --- one thread ------------------------------------------------------------------------------- */

static const struct line no_line;

static const struct line *line_at(const struct sweeper *w, uint32_t thread)
{
    return thread < w->t->n_lines ? &w->t->lines[thread] : &no_line;
}

/* A time as a key, and a key as a time. */
static uint64_t turned(const struct sweeper *w, uint64_t time)
{
    return w->back ? ~time : time;
}

static uint32_t index_of(const struct sweeper *w, const struct run *r, uint32_t i)
{
    return w->back ? r->n - 1 - i : i;
}

static void find_span(const struct sweeper *w, struct cursor *c, const struct line *l)
{
    if (c->span == l->spans.n) {
        c->span_time = UINT64_MAX;
        return;
    }
    const struct span *s = line_span(l, index_of(w, &l->spans, c->span));
    c->span_time = turned(w, c->inside != w->back ? span_end(w->t, s) : s->start);
}

static void find_act(const struct sweeper *w, struct cursor *c, const struct line *l)
{
    c->act_time = UINT64_MAX;
    if (c->act < l->acts.n)
        c->act_time = turned(w, line_act(l, index_of(w, &l->acts, c->act))->time);
}

static void find_hold(const struct sweeper *w, struct cursor *c, const struct line *l)
{
    c->hold_time = UINT64_MAX;
    if (c->hold < l->holds.n)
        c->hold_time = turned(w, span_end(w->t, line_hold(l, index_of(w, &l->holds, c->hold))));
}

/* The first and the last moment of the thread's life, as the sweep comes by. */
static uint64_t first_of(const struct sweeper *w, uint32_t thread)
{
    const struct thread_stats *s = &w->threads->v[thread];
    return turned(w, w->back ? s->to : s->from);
}

static uint64_t last_of(const struct sweeper *w, uint32_t thread)
{
    const struct thread_stats *s = &w->threads->v[thread];
    return turned(w, w->back ? s->from : s->to);
}

static void find_next(const struct sweeper *w, struct cursor *c)
{
    c->next = min_u64(c->span_time, min_u64(c->act_time, c->hold_time));
    if (c->next == UINT64_MAX && c->born)
        c->next = last_of(w, c->thread);
}

static void begin(const struct sweeper *w, struct cursor *c, uint32_t thread)
{
    const struct line *l = line_at(w, thread);
    *c = (struct cursor){.thread = thread,
                         .act = w->over & 1U << SWEEP_ACT ? l->acts.n : 0,
                         .hold = w->over & 1U << SWEEP_HOLD ? l->holds.n : 0};
    find_span(w, c, l);
    find_act(w, c, l);
    find_hold(w, c, l);
    find_next(w, c);
    c->next = min_u64(c->next, first_of(w, thread));
}

/* Take the cursor's next item. */
static struct sweep_item advance(const struct sweeper *w, struct cursor *c)
{
    const struct line *l = line_at(w, c->thread);
    struct sweep_item item = {.time = c->next, .thread = c->thread};
    uint64_t others = min_u64(c->act_time, c->hold_time);
    enum sweep_type type;
    uint32_t index = 0;
    if (!c->born) {
        type = w->back ? SWEEP_DIED : SWEEP_BORN;
        c->born = true;
        find_next(w, c);
        c->next = max_u64(c->next, item.time);
        item.what = (uint32_t)type << SWEEP_TYPE_SHIFT;
        return item;
    }
    if (c->span_time == UINT64_MAX && others == UINT64_MAX) {
        item.what = (uint32_t)(w->back ? SWEEP_BORN : SWEEP_DIED) << SWEEP_TYPE_SHIFT;
        c->next = UINT64_MAX;
        return item;
    }
    if (c->span_time < others || (c->span_time == others && c->inside)) {
        type = c->inside != w->back ? SWEEP_END : SWEEP_BEGIN;
        index = index_of(w, &l->spans, c->span);
        c->span += c->inside;
        c->inside = !c->inside;
        find_span(w, c, l);
    } else if (c->act_time <= c->hold_time) {
        type = SWEEP_ACT;
        index = index_of(w, &l->acts, c->act++);
        find_act(w, c, l);
    } else {
        type = SWEEP_HOLD;
        index = index_of(w, &l->holds, c->hold++);
        find_hold(w, c, l);
    }
    item.what = (uint32_t)type << SWEEP_TYPE_SHIFT | index;
    find_next(w, c);
    c->next = max_u64(c->next, item.time);
    return item;
}

/* --- one window ------------------------------------------------------------------------------- */

static int reserve(struct window *v)
{
    if (v->n < v->cap)
        return 0;
    size_t cap = v->cap ? v->cap * 2 : (size_t)2 * WINDOW_ITEMS;
    struct sweep_item *items = realloc(v->items, cap * sizeof *items);
    if (items)
        v->items = items;
    struct sweep_item *other = items ? realloc(v->other, cap * sizeof *other) : NULL;
    if (!other)
        return -ENOMEM;
    v->other = other;
    v->cap = cap;
    return 0;
}

/* Collect what lies before `end`, thread by thread; *next: the earliest time behind. */
static int collect(struct sweeper *w, struct window *v, uint64_t end, uint64_t *next)
{
    v->n = 0;
    *next = UINT64_MAX;
    while (w->n_begun < w->n_cursors && w->cursors[w->n_begun].next < end)
        w->n_begun++;
    if (w->n_begun < w->n_cursors)
        *next = w->cursors[w->n_begun].next;
    for (size_t i = w->first_live; i < w->n_begun; i++) {
        struct cursor *c = &w->cursors[i];
        while (c->next < end) {
            TRY(reserve(v));
            v->items[v->n++] = advance(w, c);
        }
        *next = min_u64(*next, c->next);
    }
    while (w->first_live < w->n_begun && w->cursors[w->first_live].next == UINT64_MAX)
        w->first_live++;
    return 0;
}

static void sort_few(struct sweep_item *v, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct sweep_item x = v[i];
        size_t k = i;
        for (; k && v[k - 1].time > x.time; k--)
            v[k] = v[k - 1];
        v[k] = x;
    }
}

/* One pass of a radix sort by the digit at `shift`; stable. */
static void distribute(struct window *v, uint64_t base, unsigned shift)
{
    uint32_t first[DIGITS] = {0}, sum = 0;
    for (size_t i = 0; i < v->n; i++)
        first[(v->items[i].time - base) >> shift & (DIGITS - 1)]++;
    for (size_t i = 0; i < DIGITS; i++) {
        uint32_t count = first[i];
        first[i] = sum;
        sum += count;
    }
    for (size_t i = 0; i < v->n; i++)
        v->other[first[(v->items[i].time - base) >> shift & (DIGITS - 1)]++] = v->items[i];
    struct sweep_item *sorted = v->other;
    v->other = v->items;
    v->items = sorted;
}

static void sort(struct window *v, uint64_t base, uint64_t end)
{
    if (v->n <= FEW) {
        sort_few(v->items, v->n);
        return;
    }
    for (unsigned shift = 0; shift < 64 && (end - 1 - base) >> shift; shift += DIGIT_BITS)
        distribute(v, base, shift);
}

/* --- all of them ------------------------------------------------------------------------------ */

static int by_next(const void *a, const void *b)
{
    const struct cursor *x = a, *y = b;
    if (x->next != y->next)
        return x->next < y->next ? -1 : 1;
    return (x->thread > y->thread) - (x->thread < y->thread);
}

static int begin_all(struct sweeper *w, struct err *err)
{
    w->cursors = malloc((w->threads->n + 1) * sizeof *w->cursors);
    if (!w->cursors)
        return err_set(err, -ENOMEM, "out of memory");
    for (uint32_t i = 1; i < w->threads->n; i++) {
        const struct line *l = line_at(w, i);
        if (l->spans.n > SWEEP_INDEX_MAX || l->acts.n > SWEEP_INDEX_MAX ||
            l->holds.n > SWEEP_INDEX_MAX)
            return err_set(err, -EOVERFLOW,
                           "thread %u has more than %u waits: that is more than can be analysed",
                           w->threads->v[i].id.v, (unsigned)SWEEP_INDEX_MAX);
        begin(w, &w->cursors[w->n_cursors++], i);
    }
    qsort(w->cursors, w->n_cursors, sizeof *w->cursors, by_next);
    return 0;
}

/* How wide a window is next: by how many items the last one had. */
static uint64_t adapt(uint64_t width, size_t got)
{
    if (got > WINDOW_ITEMS)
        return max_u64(width / (got / WINDOW_ITEMS + 1), 1);
    if (got < WINDOW_ITEMS / 2)
        return min_u64(width * 2, UINT64_C(1) << 40);
    return width;
}

/* --- one window after the other --------------------------------------------------------------- */

/* Where the sweep is. */
struct progress {
    struct sweeper *w;
    uint64_t base, width; /* of the next window; base UINT64_MAX: there is none */
};

/* The next window, sorted.  -ENOMEM. */
static int fill(struct progress *p, struct window *v)
{
    uint64_t end = p->base + min_u64(p->width, UINT64_MAX - p->base), next;
    TRY(collect(p->w, v, end, &next));
    sort(v, p->base, end);
    for (size_t i = 0; p->w->back && i < v->n; i++)
        v->items[i].time = ~v->items[i].time;
    p->width = adapt(p->width, v->n);
    p->base = next;
    return 0;
}

struct sinks {
    const struct timeline *t;
    const struct sweep_sink *v;
    size_t n;
};

static const struct span *span_of(const struct timeline *t, const struct sweep_item *i)
{
    enum sweep_type type = sweep_type(i);
    if (type != SWEEP_BEGIN && type != SWEEP_END)
        return NULL;
    return line_span(&t->lines[i->thread], sweep_index(i));
}

/* Prefetches the memory that every sink reads: spans and contexts are scattered over the heap. */
static void warm(const struct timeline *t, const struct sweep_item *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct span *s = span_of(t, &v[i]);
        if (s)
            __builtin_prefetch(s, 1);
    }
    for (size_t i = 0; i < n; i++) {
        const struct span *s = span_of(t, &v[i]);
        if (s)
            __builtin_prefetch(timeline_context(t, s->context));
    }
}

static void hand_out(const struct window *v, struct sinks sinks)
{
    for (size_t i = 0; i < v->n; i += BATCH) {
        size_t n = min_u64(BATCH, v->n - i);
        warm(sinks.t, v->items + i, n);
        for (size_t k = 0; k < sinks.n; k++)
            sinks.v[k].take(sinks.v[k].self, v->items + i, n);
    }
}

static int run_alone(struct progress *p, struct sinks sinks)
{
    struct window v = {NULL, NULL, 0, 0};
    int rc = 0;
    while (p->base != UINT64_MAX && (rc = fill(p, &v)) == 0)
        hand_out(&v, sinks);
    free(v.items);
    free(v.other);
    return rc;
}

/* Two threads: while the sinks work on one window, the next is made.  The sinks write what bind.h
 * finds into spans and acts, the maker reads times and contexts of them: no field is both. */
struct pipe {
    struct progress *p;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct window v[2];
    bool full[2];
    int rc; /* of the maker */
    bool done;
};

static void *make_windows(void *arg)
{
    struct pipe *q = arg;
    int rc = 0;
    for (unsigned i = 0; rc == 0 && q->p->base != UINT64_MAX; i ^= 1) {
        pthread_mutex_lock(&q->lock);
        while (q->full[i])
            pthread_cond_wait(&q->changed, &q->lock);
        pthread_mutex_unlock(&q->lock);
        rc = fill(q->p, &q->v[i]);
        pthread_mutex_lock(&q->lock);
        q->full[i] = rc == 0;
        pthread_cond_signal(&q->changed);
        pthread_mutex_unlock(&q->lock);
    }
    pthread_mutex_lock(&q->lock);
    q->rc = rc;
    q->done = true;
    pthread_cond_signal(&q->changed);
    pthread_mutex_unlock(&q->lock);
    return NULL;
}

static void take_windows(struct pipe *q, struct sinks sinks)
{
    for (unsigned i = 0;; i ^= 1) {
        pthread_mutex_lock(&q->lock);
        while (!q->full[i] && !q->done)
            pthread_cond_wait(&q->changed, &q->lock);
        bool full = q->full[i];
        pthread_mutex_unlock(&q->lock);
        if (!full)
            return;
        hand_out(&q->v[i], sinks);
        pthread_mutex_lock(&q->lock);
        q->full[i] = false;
        pthread_cond_signal(&q->changed);
        pthread_mutex_unlock(&q->lock);
    }
}

static int run_beside(struct progress *p, struct sinks sinks)
{
    struct pipe q = {
        .p = p, .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    pthread_t maker;
    if (pthread_create(&maker, NULL, make_windows, &q) != 0)
        return run_alone(p, sinks);
    take_windows(&q, sinks);
    pthread_join(maker, NULL);
    for (int i = 0; i < 2; i++) {
        free(q.v[i].items);
        free(q.v[i].other);
    }
    return q.rc;
}

static int start(const struct timeline *t, const struct thread_set *threads, bool back,
                 struct sinks sinks, struct err *err)
{
    struct sweeper w = {.t = t, .threads = threads, .back = back, .over = ~0U};
    for (size_t i = 0; i < sinks.n; i++)
        w.over &= sinks.v[i].passes_over;
    int rc = begin_all(&w, err);
    if (rc == 0) {
        struct progress p = {&w, w.n_cursors ? w.cursors[0].next : UINT64_MAX, 1 << 16};
        bool many = t->n_spans + t->n_acts + t->n_holds >= MANY;
        rc = many ? run_beside(&p, sinks) : run_alone(&p, sinks);
        if (rc < 0)
            err_set(err, rc, "out of memory");
    }
    free(w.cursors);
    return rc;
}

int sweep(const struct timeline *t, const struct thread_set *threads,
          const struct sweep_sink *sinks, size_t n_sinks, struct err *err)
{
    return start(t, threads, false, (struct sinks){t, sinks, n_sinks}, err);
}

int sweep_back(const struct timeline *t, const struct thread_set *threads,
               const struct sweep_sink *sinks, size_t n_sinks, struct err *err)
{
    return start(t, threads, true, (struct sinks){t, sinks, n_sinks}, err);
}
