#include "analyze/samples.h"

#include "analyze/lines.h"
#include "base/err.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(struct sample) == 24, "ten million of them are kept");

const char *const sample_kind_names[SAMPLE_LISTS] = {"cpu", "wall", "looks"};

void samples_init(struct samples *s)
{
    memset(s, 0, sizeof *s);
    arena_init(&s->arena, 0);
}

void samples_fini(struct samples *s)
{
    free(s->lines);
    arena_fini(&s->arena);
    memset(s, 0, sizeof *s);
}

/* --- keeping ---------------------------------------------------------------------------------- */

static struct sample_line *line_of(struct samples *s, uint32_t thread)
{
    struct sample_line *lines = lines_reach(s->lines, &s->n_lines, sizeof *lines, thread);
    if (!lines)
        return NULL;
    s->lines = lines;
    return &lines[thread];
}

/* Both kinds have the same fields. */
#define MAKE(e, of)                                                                                \
    (struct sample)                                                                                \
    {                                                                                              \
        .time = (e)->of.taken, .weight = (e)->of.weight, .stack = (e)->of.stack,                   \
        .error = (uint16_t)sample_error_of((e)->of.error), .flags = (uint8_t)(e)->of.flags         \
    }

int samples_add(struct samples *s, uint32_t thread, const struct event *e)
{
    enum sample_kind kind = e->kind != EV_wall_sample            ? SAMPLE_CPU
                            : e->wall_sample.flags & SAMPLE_LOOK ? SAMPLE_LOOKS
                                                                 : SAMPLE_WALL;
    struct sample_line *l = line_of(s, thread);
    struct sample *to = l ? run_push(&l->of[kind], &s->arena, sizeof *to) : NULL;
    if (!to)
        return -ENOMEM;
    *to = kind == SAMPLE_CPU ? MAKE(e, cpu_sample) : MAKE(e, wall_sample);
    s->n[kind]++;
    return 0;
}

/* --- order ------------------------------------------------------------------------------------ */

static bool is_sorted(const struct run *r)
{
    for (uint32_t i = 1; i < r->n; i++)
        if (sample_at(r, i)->time < sample_at(r, i - 1)->time)
            return false;
    return true;
}

static int by_time(const void *a, const void *b)
{
    const struct sample *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (x->stack.v != y->stack.v)
        return x->stack.v < y->stack.v ? -1 : 1;
    return (x->weight > y->weight) - (x->weight < y->weight);
}

static int sort(const struct run *r)
{
    struct sample *v = malloc(r->n * sizeof *v);
    if (!v)
        return -ENOMEM;
    for (uint32_t i = 0; i < r->n; i++)
        v[i] = *sample_at(r, i);
    qsort(v, r->n, sizeof *v, by_time);
    for (uint32_t i = 0; i < r->n; i++)
        *(struct sample *)run_at(r, sizeof *v, i) = v[i];
    free(v);
    return 0;
}

int samples_finish(struct samples *s)
{
    for (size_t i = 0; i < s->n_lines; i++)
        for (unsigned kind = 0; kind < SAMPLE_LISTS; kind++)
            if (!is_sorted(&s->lines[i].of[kind]))
                TRY(sort(&s->lines[i].of[kind]));
    return 0;
}

/* --- reading ---------------------------------------------------------------------------------- */

const struct run *samples_of(const struct samples *s, enum sample_kind kind, uint32_t thread)
{
    static const struct run none;
    return thread < s->n_lines ? &s->lines[thread].of[kind] : &none;
}

uint32_t samples_before(const struct run *r, uint64_t time)
{
    uint32_t i = 0;
    BISECT(i, r->n, sample_at(r, i)->time < time);
    return i;
}
