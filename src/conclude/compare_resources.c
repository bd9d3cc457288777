/* compare_resources.c - the resources that threads wait for, in a comparison: each resource of the
 * findings by its key, which is the same in both recordings. */
#include "analyze/labels.h"
#include "base/err.h"
#include "base/util.h"
#include "conclude/compare_parts.h"
#include "conclude/doings.h"
#include "conclude/resource_names.h"
#include "conclude/resource_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct slicer {
    const struct resources *all;
    double *slices; /* [n * COMPARE_SLICES]: ns */
    uint64_t from, width;
};

static int add_wait(void *self, struct resource *r, const struct resource_wait *w)
{
    const struct slicer *s = self;
    compare_spread(s->slices + (size_t)(r - s->all->v) * COMPARE_SLICES, s->from, s->width, w->from,
                   w->to, 1);
    return 0;
}

/* The line of its finding that says who has it, and what those do; "": there is none. */
static void put_holders(const struct resource *r, const struct rule_finding *v, size_t n, char *out)
{
    *out = 0;
    for (size_t i = 0; i < n && !*out; i++)
        for (uint32_t k = 0; k < v[i].n_lines && v[i].resource == r && !*out; k++) {
            enum card_label label = v[i].lines[k].label;
            if (label <= CARD_WAIT_IN || label > CARD_BUSY)
                continue;
            finding_line(&v[i], k, out);
            size_t len = strlen(out);
            snprintf(out + len, FINDING_TEXT - len, "%s", k + 1 < v[i].n_lines ? ": " : "");
            if (k + 1 < v[i].n_lines && v[i].lines[k + 1].label == CARD_MORE)
                finding_line(&v[i], k + 1, out + strlen(out)); /* both of one text: it fits */
            else
                out[len] = 0;
        }
}

/* What holders do most, and where: what must agree for it to be the same. */
static void put_doing(const struct trace *t, const struct resource *r, char *out, size_t n)
{
    const struct activity *x = r->doing;
    *out = 0;
    if (!r->n_doing || x->does == DOES_UNKNOWN)
        return;
    snprintf(out, n, "%s ", doings[x->does].name);
    if (x->at.method.v)
        label_method(t, x->at.method, out + strlen(out), n - strlen(out));
}

/* Of several by one key the one with the most time says who has it: it comes first. */
static int add_row(struct row_maker *m, const struct analysis *a, const struct resource *r,
                   const double *slices, uint64_t width, const struct rule_finding *v, size_t n)
{
    char text[FINDING_TEXT];
    resource_key(r, a, text, sizeof text);
    struct compare_row *row = summary_row(m, COMPARE_RESOURCE, text);
    struct compare_side *s = row ? &row->a : NULL;
    if (!row)
        return -ENOMEM;
    if (!s->count) {
        put_holders(r, v, n, text);
        s->holders = arena_strndup(&m->out->arena, text, strlen(text));
        put_doing(a->trace, r, text, LABEL_MAX);
        s->doing = arena_strndup(&m->out->arena, text, strlen(text));
        if (!s->holders || !s->doing)
            return -ENOMEM;
    }
    s->count += r->count;
    s->ns += r->ns;
    s->max = max_u64(s->max, r->max);
    s->base = max_u64(s->base, max_u64(r->base, r->ns));
    for (int i = 0; i < COMPARE_SLICES; i++)
        s->slice[i] += slices[i] / (double)width;
    s->threads = m->out->length ? (double)s->ns / (double)m->out->length : 0;
    return 0;
}

int summary_add_resources(struct row_maker *m, const struct analysis *a, struct resources *all,
                          const struct rule_finding *v, size_t n)
{
    struct slicer s = {.all = all,
                       .slices = calloc(all->n * COMPARE_SLICES + 1, sizeof *s.slices),
                       .from = a->window.from,
                       .width = m->out->length / COMPARE_SLICES + 1};
    int rc = s.slices ? resources_each(all, a, add_wait, &s) : -ENOMEM;
    for (size_t i = 0; i < all->n && rc == 0; i++)
        rc = add_row(m, a, &all->v[i], s.slices + i * COMPARE_SLICES, s.width, v, n);
    free(s.slices);
    return rc;
}
