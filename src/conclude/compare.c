#include "conclude/compare.h"

#include "analyze/labels.h"
#include "base/hash.h"
#include "base/util.h"
#include "conclude/compare_parts.h"
#include "conclude/resource_names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *compare_kind_name(enum compare_kind k)
{
    static const char *const names[COMPARE_KINDS] = {
        "state",           "resource",     "place",       "allocated-class",
        "allocated-place", "growth-class", "growth-place"};
    return names[k];
}

const char *compare_verdict_name(enum compare_verdict v)
{
    static const char *const names[] = {"same",  "better", "worse", "noise",
                                        "other", "less",   "more"};
    return names[v];
}

/* --- one recording ---------------------------------------------------------------------------- */

struct maker {
    struct summary *out;
    struct analysis *a;
    double *sites; /* [sites.n * COMPARE_SLICES]: ns in which others held threads up */
    double states[STATE_LIMIT + 1]
                 [COMPARE_SLICES]; /* of the program's threads; the last: running */
    uint64_t from, width;
    struct row_maker rows;
};

static double *slices_of(const struct maker *m, uint32_t site)
{
    return m->sites + (size_t)site * COMPARE_SLICES;
}

static void spread(const struct maker *m, double *v, uint64_t start, uint64_t end, double sign)
{
    compare_spread(v, m->from, m->width, start, end, sign);
}

static void add_piece(struct maker *m, uint32_t context, unsigned state, uint64_t start,
                      uint64_t end, bool counted)
{
    if (purposes_held_up(&m->a->purposes, context, state))
        spread(m, slices_of(m, m->a->sites.of_context[context]), start, end, 1);
    if (!counted)
        return;
    spread(m, m->states[state], start, end, 1);
    spread(m, m->states[STATE_LIMIT], start, end, -1);
}

static void add_line(struct maker *m, uint32_t thread)
{
    const struct timeline *t = &m->a->timeline;
    const struct line *l = &t->lines[thread];
    const struct thread_stats *life = &m->a->threads.v[thread];
    bool counted = m->a->bottles.counted[thread];
    if (counted)
        spread(m, m->states[STATE_LIMIT], life->from, life->to, 1);
    for (uint32_t i = 0; i < l->spans.n; i++) {
        const struct span *s = line_span(l, i);
        const struct context *x = timeline_context(t, s->context);
        uint64_t until = span_waited_until(t, s), end = span_end(t, s);
        add_piece(m, s->context, x->what, s->start, until, counted);
        if (until < end)
            add_piece(m, s->context, STATE_REACQUIRING, until, end, counted);
    }
}

static void add_waits(struct maker *m, struct compare_side *to, struct wait_stats *w,
                      const double *slices)
{
    to->count += w->count;
    to->ns += w->ns;
    to->p50 = max_u64(to->p50, percentile_get(&w->times, 500));
    to->p99 = max_u64(to->p99, percentile_get(&w->times, 990));
    to->max = max_u64(to->max, w->max);
    for (int i = 0; i < COMPARE_SLICES; i++)
        to->slice[i] += slices[i] / (double)m->width;
    to->threads = m->out->length ? (double)to->ns / (double)m->out->length : 0;
}

static int add_states(struct maker *m)
{
    for (unsigned k = 0; k <= STATE_LIMIT; k++) {
        struct compare_row *r = summary_row(&m->rows, COMPARE_STATE, wait_state_name(k));
        if (!r)
            return -ENOMEM;
        for (int i = 0; i < COMPARE_SLICES; i++) {
            r->a.slice[i] = m->states[k][i] / (double)m->width;
            r->a.threads += r->a.slice[i] / COMPARE_SLICES;
        }
        r->a.count = k < STATE_LIMIT ? m->a->stats.total[k].count : 1;
        r->a.ns = (uint64_t)(r->a.threads * (double)m->out->length);
    }
    return 0;
}

static int add_site(struct maker *m, uint32_t site)
{
    const struct site *s = &m->a->sites.v[site];
    struct wait_stats *w = &m->a->stats.sites[site].state[HELD_UP];
    char name[2 * LABEL_MAX] = "";
    if (!w->count || !s->app.method.v)
        return 0;
    summary_put_place(m->a->trace, s->app, name, sizeof name);
    struct compare_row *r = summary_row(&m->rows, COMPARE_PLACE, name);
    if (!r)
        return -ENOMEM;
    add_waits(m, &r->a, w, slices_of(m, site));
    return 0;
}

/* Findings outlive the analysis they were made from, and the resources that they are about. */
static int keep_findings(struct maker *m, struct err *err)
{
    const struct resources *all;
    struct rule_finding *v;
    size_t n;
    TRY(rules_apply(m->a, &v, &n, &all, err));
    struct resources resources = *all;
    if (summary_add_resources(&m->rows, m->a, &resources, v, n) < 0)
        return err_set(err, -ENOMEM, "out of memory");
    m->out->findings = arena_alloc(&m->out->arena, n * sizeof *v);
    m->out->about = arena_alloc(&m->out->arena, n * sizeof *m->out->about);
    if (!m->out->findings || !m->out->about)
        return err_set(err, -ENOMEM, "out of memory");
    for (size_t i = 0; i < n; i++) {
        char key[FINDING_TEXT] = "";
        if (v[i].resource)
            resource_key(v[i].resource, m->a, key, sizeof key);
        m->out->about[i] = arena_strndup(&m->out->arena, key, strlen(key));
        if (!m->out->about[i])
            return err_set(err, -ENOMEM, "out of memory");
        m->out->findings[i] = v[i];
        m->out->findings[i].resource = NULL;
        m->out->findings[i].resources = NULL;
    }
    m->out->n_findings = n;
    return 0;
}

static int make(struct maker *m)
{
    const struct analysis *a = m->a;
    m->sites = calloc((size_t)a->sites.n * COMPARE_SLICES + 1, sizeof *m->sites);
    if (!m->sites)
        return -ENOMEM;
    for (uint32_t i = 1; i < a->threads.n && i < a->timeline.n_lines; i++)
        add_line(m, i);
    TRY(add_states(m));
    for (uint32_t i = 0; i < a->sites.n; i++)
        TRY(add_site(m, i));
    return summary_add_allocs(&m->rows, m->a);
}

int summary_make(struct summary *out, struct analysis *a, struct err *err)
{
    struct maker m = {.out = out, .a = a, .from = a->window.from, .rows.out = out};
    memset(out, 0, sizeof *out);
    arena_init(&out->arena, 0);
    map_init(&m.rows.known);
    out->length = a->window.to - a->window.from;
    out->program = a->path.n ? a->path.to - a->path.from : 0;
    out->tasks = a->bindings.handovers.len / sizeof(struct handover);
    m.width = out->length / COMPARE_SLICES + 1;
    int rc = make(&m);
    rc = rc < 0 ? err_set(err, rc, "out of memory") : keep_findings(&m, err);
    map_fini(&m.rows.known);
    free(m.sites);
    if (rc < 0)
        summary_fini(out);
    return rc;
}

void summary_fini(struct summary *s)
{
    free(s->rows);
    arena_fini(&s->arena);
    memset(s, 0, sizeof *s);
}

bool summary_has_finding(const struct summary *s, const char *rule, const char *about)
{
    for (size_t i = 0; i < s->n_findings; i++)
        if (strcmp(s->about[i], about) == 0 && (*about || strcmp(s->findings[i].rule, rule) == 0))
            return true;
    return false;
}

/* --- two -------------------------------------------------------------------------------------- */

struct ranked {
    double v;
    bool of_a;
};

static int ascending(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    return (x->v > y->v) - (x->v < y->v);
}

double compare_ranks(const double *a, const double *b, size_t n)
{
    struct ranked all[2 * COMPARE_SLICES];
    double sum = 0, ties = 0, count = (double)n, both = 2 * count;
    if (n == 0 || n > COMPARE_SLICES)
        return 1;
    for (size_t i = 0; i < n; i++) {
        all[i] = (struct ranked){a[i], true};
        all[n + i] = (struct ranked){b[i], false};
    }
    qsort(all, 2 * n, sizeof *all, ascending);
    for (size_t i = 0, k; i < 2 * n; i = k) {
        for (k = i + 1; k < 2 * n && all[k].v <= all[i].v; k++)
            ;
        double rank = (double)(i + k + 1) / 2, equal = (double)(k - i);
        for (size_t j = i; j < k; j++)
            sum += all[j].of_a ? rank : 0;
        ties += equal * equal * equal - equal;
    }
    double u = sum - count * (count + 1) / 2, mean = count * count / 2;
    double variance = count * count / 12 * (both + 1 - ties / (both * (both - 1)));
    if (variance <= 0)
        return 1;
    double z = (fabs(u - mean) - 0.5) / sqrt(variance);
    return z <= 0 ? 1 : erfc(z / sqrt(2));
}

static enum compare_verdict judge(const struct compare_row *r)
{
    double change = r->b.threads - r->a.threads;
    double most = fmax(r->a.threads, r->b.threads);
    if (fabs(change) * 1000 < COMPARE_LEAST_QUEUE ||
        fabs(change) * 1000 < most * COMPARE_LEAST_PERMILLE)
        return COMPARE_SAME;
    if (r->p > COMPARE_P)
        return COMPARE_NOISE;
    bool contention = r->kind != COMPARE_STATE ||
                      strcmp(r->name, wait_state_name(STATE_BLOCKED)) == 0 ||
                      strcmp(r->name, wait_state_name(STATE_REACQUIRING)) == 0;
    if (!contention)
        return COMPARE_OTHER;
    return change < 0 ? COMPARE_BETTER : COMPARE_WORSE;
}

static double level(const struct compare_row *r, const struct compare_side *s)
{
    return compare_is_of_allocs(r->kind) ? s->rate : s->threads;
}

static int most_change(const void *a, const void *b)
{
    const struct compare_row *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    double p = fabs(level(x, &x->b) - level(x, &x->a));
    double q = fabs(level(y, &y->b) - level(y, &y->a));
    return p != q ? (p < q) - (p > q) : strcmp(x->name, y->name);
}

static uint64_t key_of(const struct compare_row *r)
{
    return hash_place(r->name, strlen(r->name), r->kind);
}

static struct compare_side none_of(const struct summary *s, enum compare_kind kind)
{
    return compare_is_of_allocs(kind) ? compare_no_allocs(s, kind) : (struct compare_side){0};
}

/* What one recording alone knows of cannot be compared: it is neither new nor gone. */
static bool is_comparable(const struct summary *a, const struct summary *b, enum compare_kind kind)
{
    if (compare_is_growth(kind))
        return a->has_growth && b->has_growth;
    return !compare_is_of_allocs(kind) || (a->has_allocs && b->has_allocs);
}

static int join(const struct summary *a, const struct summary *b, struct compare_row *v, size_t *n,
                struct map *known)
{
    for (size_t i = 0; i < a->n_rows; i++) {
        if (!is_comparable(a, b, a->rows[i].kind))
            continue;
        uint64_t *place = map_put(known, key_of(&a->rows[i]));
        if (!place)
            return -ENOMEM;
        v[*n] = a->rows[i];
        v[*n].b = none_of(b, v[*n].kind);
        *place = ++*n;
    }
    for (size_t i = 0; i < b->n_rows; i++) {
        if (!is_comparable(a, b, b->rows[i].kind))
            continue;
        uint64_t *place = map_put(known, key_of(&b->rows[i]));
        if (!place)
            return -ENOMEM;
        if (*place) {
            v[*place - 1].b = b->rows[i].a;
            continue;
        }
        v[*n] = b->rows[i];
        v[*n].b = b->rows[i].a;
        v[*n].a = none_of(a, v[*n].kind);
        *place = ++*n;
    }
    return 0;
}

int compare(const struct summary *a, const struct summary *b, struct arena *arena,
            struct compare_row **out, size_t *n)
{
    struct map known;
    *n = 0;
    *out = arena_alloc(arena, (a->n_rows + b->n_rows) * sizeof **out);
    if (!*out)
        return -ENOMEM;
    map_init(&known);
    int rc = join(a, b, *out, n, &known);
    map_fini(&known);
    for (size_t i = 0; i < *n && rc == 0; i++) {
        struct compare_row *r = &(*out)[i];
        if (compare_is_of_allocs(r->kind)) {
            compare_judge_allocs(r);
            continue;
        }
        r->p = compare_ranks(r->a.slice, r->b.slice, COMPARE_SLICES);
        r->verdict = judge(r);
    }
    if (rc == 0 && *n)
        qsort(*out, *n, sizeof **out, most_change);
    return rc;
}
