#include "analyze/alloc_pairs.h"
#include "analyze/alloc_tables.h"
#include "analyze/labels.h"
#include "base/err.h"
#include "base/util.h"
#include "conclude/compare_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARM_UP = 4, NAME = 3 * LABEL_MAX }; /* the first quarter of the points is not looked at */

/* What one pair of class and stack allocated. */
struct made {
    struct alloc_amount amount;
    double slice[COMPARE_SLICES]; /* bytes */
};

struct maker {
    struct row_maker *rows;
    struct analysis *a;
    struct alloc_pairs pairs;
    struct made *made; /* [pairs.n] */
    double seconds;
    uint64_t width; /* ns of a slice */
};

static bool is_estimate(const struct analysis *a)
{
    return allocs_source(&a->allocs) == ALLOC_SAMPLED;
}

/* --- what was allocated ----------------------------------------------------------------------- */

static uint64_t slice_at(const struct maker *m, uint64_t time)
{
    uint64_t from = m->a->window.from;
    return time <= from ? 0 : min_u64((time - from) / m->width, COMPARE_SLICES - 1);
}

/* Evenly over its time. */
static void spread(const struct maker *m, const struct alloc_part *p, double *slices)
{
    uint64_t first = slice_at(m, p->since), last = slice_at(m, p->until);
    double length = (double)(p->until - p->since);
    for (uint64_t i = first; i <= last; i++) {
        uint64_t from = m->a->window.from + i * m->width;
        double start = (double)max_u64(from, p->since),
               end = (double)min_u64(from + m->width, p->until);
        if (i == first)
            start = (double)p->since;
        if (i == last)
            end = (double)p->until;
        slices[i] += (double)p->amount.bytes * (length > 0 ? (end - start) / length : 1);
    }
}

static int add_part(void *self, const struct alloc_part *p)
{
    struct maker *m = self;
    if (p->what != ALLOC_ALLOCATED)
        return 0;
    struct made *x = &m->made[m->pairs.of[p->context]];
    alloc_amount_add(&x->amount, &p->amount);
    alloc_amount_add(&m->rows->out->allocated, &p->amount);
    spread(m, p, x->slice);
    return 0;
}

static double error_of(const struct maker *m, uint64_t bytes, uint64_t samples)
{
    return samples ? (double)bytes / sqrt((double)samples) / m->seconds : 0;
}

static int add_made(const struct maker *m, enum compare_kind kind, const char *name,
                    const struct made *x)
{
    struct compare_row *r = summary_row(m->rows, kind, name);
    if (!r)
        return -ENOMEM;
    r->a.count += x->amount.thousandths; /* rounded once all are added */
    r->a.bytes += x->amount.bytes;
    r->a.samples += is_estimate(m->a) ? x->amount.records : 0;
    r->a.rate = (double)r->a.bytes / m->seconds;
    r->a.error = error_of(m, r->a.bytes, r->a.samples);
    for (int i = 0; i < COMPARE_SLICES; i++)
        r->a.slice[i] += x->slice[i] / ((double)m->width / 1e9);
    return 0;
}

static void name_place(const struct maker *m, class_id class_, struct place at, char name[NAME])
{
    label_class(trace_class(m->a->trace, class_)->signature, name, NAME);
    snprintf(name + strlen(name), NAME - strlen(name), " at ");
    summary_put_place(m->a->trace, at, name, NAME);
}

static int add_pair(const struct maker *m, size_t pair)
{
    const struct alloc_pair *x = &m->pairs.v[pair];
    char name[NAME];
    struct place top, app;
    if (!m->made[pair].amount.thousandths)
        return 0;
    label_class(trace_class(m->a->trace, x->class_)->signature, name, sizeof name);
    TRY(add_made(m, COMPARE_ALLOCATED_CLASS, name, &m->made[pair]));
    sites_name(m->a->trace, x->stack, &top, &app);
    if (!app.method.v)
        return 0;
    name_place(m, x->class_, app, name);
    return add_made(m, COMPARE_ALLOCATED_PLACE, name, &m->made[pair]);
}

static int add_allocated(struct maker *m)
{
    const struct selection all = selection_all();
    struct summary *s = m->rows->out;
    uint64_t unmatched;
    m->made = calloc(m->pairs.n + 1, sizeof *m->made);
    if (!m->made)
        return -ENOMEM;
    TRY(alloc_visit(m->a, &all, add_part, m, &unmatched));
    for (size_t i = 0; i < m->pairs.n; i++)
        TRY(add_pair(m, i));
    for (size_t i = 0; i < s->n_rows; i++)
        if (compare_is_of_allocs(s->rows[i].kind))
            s->rows[i].a.count = (s->rows[i].a.count + 500) / 1000;
    s->is_estimate = is_estimate(m->a);
    return 0;
}

/* --- growth ----------------------------------------------------------------------------------- */

/* Least squares: bytes a second, and the standard error by what lies off the line. */
static double slope(const struct alloc_points *p, const uint64_t *v, double *error)
{
    size_t from = p->n / WARM_UP;
    double n = (double)(p->n - from), x = 0, y = 0, xx = 0, xy = 0, yy = 0;
    for (size_t i = from; i < p->n; i++) {
        double at = (double)(p->end[i] - p->end[from]) / 1e9, is = (double)v[i] - (double)v[from];
        x += at;
        y += is;
        xx += at * at;
        xy += at * is;
        yy += is * is;
    }
    double sxx = xx - x * x / n, sxy = xy - x * y / n, syy = yy - y * y / n;
    double rest = sxx > 0 ? fmax(syy - sxy * sxy / sxx, 0) : 0;
    *error = sxx > 0 ? sqrt(rest / (n - 2) / sxx) : 0;
    return sxx > 0 ? sxy / sxx : 0;
}

static int add_growth_row(const struct maker *m, const struct alloc_tables *t,
                          enum compare_kind kind, const char *name, const struct alloc_row *from)
{
    const struct alloc_amount *live = &from->of[ALLOC_KEPT];
    struct compare_row *r = summary_row(m->rows, kind, name);
    double error;
    if (!r)
        return -ENOMEM;
    r->a.count += alloc_objects(live);
    r->a.bytes += live->bytes;
    r->a.rate += slope(&t->points, from->survivors, &error);
    double all = r->a.error * r->a.error + error * error;
    if (t->ends == ALLOC_SAMPLED) {
        double chance = error_of(m, live->bytes, live->records);
        r->a.samples += live->records;
        all += chance * chance;
    }
    r->a.error = sqrt(all);
    return 0;
}

static int add_growth(struct maker *m)
{
    const struct alloc_tables *t = alloc_tables_whole(m->a);
    struct summary *s = m->rows->out;
    char name[NAME];
    if (!t)
        return -ENOMEM;
    s->collections = t->points.n;
    s->has_growth = t->has_ends && t->points.n >= COMPARE_LEAST_POINTS;
    const struct alloc_list *classes = &t->of[ALLOC_BY_CLASS], *places = &t->of[ALLOC_BY_PLACE];
    for (size_t i = 0; i < classes->n && s->has_growth; i++) {
        label_class(trace_class(m->a->trace, classes->v[i].class_)->signature, name, sizeof name);
        TRY(add_growth_row(m, t, COMPARE_GROWTH_CLASS, name, &classes->v[i]));
    }
    for (size_t i = 0; i < places->n && s->has_growth; i++) {
        if (!places->v[i].app.method.v)
            continue;
        name_place(m, places->v[i].class_, places->v[i].app, name);
        TRY(add_growth_row(m, t, COMPARE_GROWTH_PLACE, name, &places->v[i]));
    }
    const struct alloc_amount *live =
        &t->all.of[t->source == t->ends ? ALLOC_ALLOCATED : ALLOC_KEPT];
    if (t->ends == ALLOC_SAMPLED && live->records)
        s->weight = (double)live->bytes / (double)live->records;
    return 0;
}

/* --- both ------------------------------------------------------------------------------------- */

int summary_add_allocs(struct row_maker *rows, struct analysis *a)
{
    struct summary *s = rows->out;
    struct maker m = {.rows = rows, .a = a, .seconds = (double)s->length / 1e9};
    s->has_allocs = allocs_any(&a->allocs) && s->length > 0;
    if (!s->has_allocs)
        return 0;
    m.width = s->length / COMPARE_SLICES + 1;
    TRY(alloc_pairs_init(&m.pairs, a));
    int rc = add_allocated(&m);
    rc = rc ? rc : add_growth(&m);
    alloc_pairs_fini(&m.pairs);
    free(m.made);
    return rc;
}

/* Nothing was seen of it, which an estimate knows to one sample. */
struct compare_side compare_no_allocs(const struct summary *s, enum compare_kind kind)
{
    bool estimate = s->is_estimate || compare_is_growth(kind);
    return (struct compare_side){.error = estimate ? s->weight / ((double)s->length / 1e9) : 0};
}

/* Chance that estimates differ so much without a difference, two-sided. */
static double chance_of(const struct compare_row *r)
{
    double error = hypot(r->a.error, r->b.error), change = fabs(r->b.rate - r->a.rate);
    return error > 0 ? erfc(change / error / sqrt(2)) : change == 0;
}

static enum compare_verdict verdict_of(const struct compare_row *r)
{
    double change = r->b.rate - r->a.rate;
    double most = fmax(fabs(r->a.rate), fabs(r->b.rate));
    if (fabs(change) < COMPARE_LEAST_RATE || fabs(change) * 1000 < most * COMPARE_LEAST_PERMILLE)
        return COMPARE_SAME;
    if (r->p > COMPARE_P)
        return COMPARE_NOISE;
    if (compare_is_growth(r->kind))
        return change < 0 ? COMPARE_BETTER : COMPARE_WORSE;
    return change < 0 ? COMPARE_LESS : COMPARE_MORE;
}

void compare_judge_allocs(struct compare_row *r)
{
    r->p = chance_of(r);
    if (!compare_is_growth(r->kind))
        r->p = fmax(r->p, compare_ranks(r->a.slice, r->b.slice, COMPARE_SLICES));
    r->verdict = verdict_of(r);
}
