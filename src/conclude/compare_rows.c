/* compare_rows.c - the rows of one recording, as each kind of them is made. */
#include "analyze/labels.h"
#include "base/hash.h"
#include "base/util.h"
#include "conclude/compare_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void compare_spread(double *v, uint64_t from, uint64_t width, uint64_t start, uint64_t end,
                    double sign)
{
    start = max_u64(start, from);
    while (start < end) {
        uint64_t i = min_u64((start - from) / width, COMPARE_SLICES - 1);
        uint64_t edge = i == COMPARE_SLICES - 1 ? end : from + (i + 1) * width;
        uint64_t to = min_u64(end, edge);
        v[i] += sign * (double)(to - start);
        start = to;
    }
}

struct compare_row *summary_row(struct row_maker *m, enum compare_kind kind, const char *name)
{
    struct summary *s = m->out;
    for (uint64_t key = hash_place(name, strlen(name), kind);; key++) {
        uint64_t *place = map_put(&m->known, key);
        if (!place)
            return NULL;
        if (*place && s->rows[*place - 1].kind == kind &&
            strcmp(s->rows[*place - 1].name, name) == 0)
            return &s->rows[*place - 1];
        if (*place)
            continue;
        if (s->n_rows == m->cap) {
            size_t cap = m->cap ? m->cap * 2 : 64;
            struct compare_row *rows = realloc(s->rows, cap * sizeof *rows);
            if (!rows)
                return NULL;
            s->rows = rows;
            m->cap = cap;
        }
        struct compare_row *r = &s->rows[s->n_rows];
        *r = (struct compare_row){.kind = kind,
                                  .name = arena_strndup(&s->arena, name, strlen(name))};
        if (!r->name)
            return NULL;
        *place = ++s->n_rows;
        return r;
    }
}

void summary_put_place(const struct trace *t, struct place at, char *name, size_t size)
{
    char text[LABEL_MAX];
    size_t n = strlen(name);
    label_method(t, at.method, text, sizeof text);
    n += (size_t)snprintf(name + n, size - n, "%s", text);
    label_line(t, at, text, sizeof text);
    if (*text && n < size)
        snprintf(name + n, size - n, " (%s)", text);
}
