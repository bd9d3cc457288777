#include "analyze/sightings.h"

#include "base/err.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

struct sighter {
    const struct timeline *t;
    bool any;       /* an owner was read */
    uint32_t *now;  /* [n_lines]: 1 + index of the span that a thread is in; 0: it runs */
    uint32_t *last; /* [n_lines]: 1 + index of the latest sighting of a thread */
    struct buf found;
    uint64_t passed_over;
};

static struct sighting *sighting_at(const struct sighter *f, uint32_t i)
{
    return (struct sighting *)(void *)f->found.p + i;
}

/* Many threads queue behind one owner: the first of them says it all. */
static bool is_known(const struct sighter *f, const struct sighting *s)
{
    uint32_t last = f->last[s->thread];
    const struct sighting *x = last ? sighting_at(f, last - 1) : NULL;
    return x && x->span == s->span && x->lock.v == s->lock.v;
}

static void add(struct sighter *f, const struct sighting *s)
{
    if (is_known(f, s))
        return;
    size_t n = f->found.len / sizeof *s;
    if (n == SIGHTINGS_MAX) {
        f->passed_over++;
        return;
    }
    buf_put(&f->found, s, sizeof *s);
    f->last[s->thread] = (uint32_t)n + 1;
}

/* A thread begins to wait: looks at the owner that it saw. */
static void on_begin(struct sighter *f, const struct span *s)
{
    const struct context *x = timeline_context(f->t, s->context);
    if (!is_lock_wait(x) || x->what == STATE_REACQUIRING || !x->other || !f->now[x->other])
        return;
    uint32_t index = f->now[x->other] - 1;
    const struct span *wait = line_span(&f->t->lines[x->other], index);
    const struct context *wanted = timeline_context(f->t, wait->context);
    if (!is_lock_wait(wanted) || wanted->lock.v == x->lock.v)
        return;
    uint64_t until = span_end(f->t, wait);
    bool gave_up = x->flags & (INTERVAL_TIMED | INTERVAL_LIMIT_UNKNOWN | INTERVAL_INTERRUPTED);
    if (s->start + SIGHTING_LATE_NS > until || (!gave_up && span_end(f->t, s) < until))
        return;
    add(f, &(struct sighting){x->other, index, x->lock, s->context});
}

static void take(void *self, const struct sweep_item *v, size_t n)
{
    struct sighter *f = self;
    for (size_t i = 0; i < n && f->any; i++) {
        if (sweep_type(&v[i]) == SWEEP_BEGIN) {
            const struct span *s = line_span(&f->t->lines[v[i].thread], sweep_index(&v[i]));
            bool summed = span_is_summed(f->t, s); /* between its waits the thread ran */
            f->now[v[i].thread] = summed ? 0 : sweep_index(&v[i]) + 1;
            if (!summed)
                on_begin(f, s);
        } else if (sweep_type(&v[i]) == SWEEP_END) {
            f->now[v[i].thread] = 0;
        }
    }
}

/* Sorts by thread, and keeps the order of time within a thread. */
static int sort(struct sightings *out, const struct sighter *f)
{
    const struct sighting *v = (const void *)f->found.p;
    size_t n_lines = f->t->n_lines;
    out->n = f->found.len / sizeof *v;
    out->v = malloc((out->n + 1) * sizeof *v);
    out->first = calloc(n_lines + 2, sizeof *out->first);
    if (!out->v || !out->first)
        return -ENOMEM;
    uint32_t *next = out->first + 1;
    for (size_t i = 0; i < out->n; i++)
        next[v[i].thread + 1]++;
    for (size_t i = 0; i < n_lines; i++)
        next[i + 1] += next[i];
    for (size_t i = 0; i < out->n; i++)
        out->v[next[v[i].thread]++] = v[i];
    return 0;
}

static bool any_owners(const struct timeline *t)
{
    for (uint32_t i = 1; i < t->contexts.n; i++)
        if (is_lock_wait(&t->contexts.v[i]) && t->contexts.v[i].other)
            return true;
    return false;
}

int sighter_new(struct sighter **out, const struct timeline *t)
{
    struct sighter *f = *out = calloc(1, sizeof *f);
    if (!f)
        return -ENOMEM;
    *f = (struct sighter){.t = t,
                          .any = any_owners(t),
                          .now = calloc(t->n_lines + 1, sizeof *f->now),
                          .last = calloc(t->n_lines + 1, sizeof *f->last)};
    if (f->now && f->last)
        return 0;
    sighter_free(f);
    *out = NULL;
    return -ENOMEM;
}

void sighter_free(struct sighter *f)
{
    if (!f)
        return;
    free(f->now);
    free(f->last);
    buf_fini(&f->found);
    free(f);
}

struct sweep_sink sighter_sink(struct sighter *f)
{
    return (struct sweep_sink){take, f, 1U << SWEEP_ACT | 1U << SWEEP_HOLD};
}

int sighter_finish(struct sighter *f, struct sightings *out)
{
    *out = (struct sightings){.passed_over = f->passed_over};
    int rc = f->found.oom ? -ENOMEM : sort(out, f);
    if (rc < 0)
        sightings_fini(out);
    return rc;
}

void sightings_fini(struct sightings *s)
{
    free(s->v);
    free(s->first);
    *s = (struct sightings){0};
}
