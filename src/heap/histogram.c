#include "heap/histogram.h"

#include "heap/workers.h"

#include <stdlib.h>
#include <string.h>

struct classes_order {
    uint32_t number;
    uint64_t bytes, count;
    const char *name;
};

static int by_bytes(const void *a, const void *b)
{
    const struct classes_order *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    int names = strcmp(x->name, y->name);
    return names ? names : x->number < y->number ? -1 : x->number > y->number;
}

uint32_t *histogram_classes(const struct dump *d, size_t *n)
{
    struct classes_order *order = malloc((d->n_classes + 1) * sizeof *order);
    uint32_t *numbers = malloc((d->n_classes + 1) * sizeof *numbers);
    *n = 0;
    if (!order || !numbers) {
        free(order);
        free(numbers);
        return NULL;
    }
    for (uint32_t i = 0; i < d->n_classes; i++) {
        const struct dump_class *c = &d->classes[i];
        if (c->count)
            order[(*n)++] = (struct classes_order){i, c->bytes, c->count, c->name};
    }
    qsort(order, *n, sizeof *order, by_bytes);
    for (size_t i = 0; i < *n; i++)
        numbers[i] = order[i].number;
    free(order);
    return numbers;
}

/* --- the biggest objects ---------------------------------------------------------------------- */

/* A heap of the biggest seen, the smallest of them at [0]. */
struct biggest {
    struct big_object *v;
    size_t n;
};

struct search {
    const struct dump *d;
    size_t most;
    struct biggest workers[WORKERS_MAX];
};

static bool bigger(const struct big_object *a, const struct big_object *b)
{
    return a->bytes != b->bytes ? a->bytes > b->bytes : a->id < b->id;
}

static void swap(struct big_object *a, struct big_object *b)
{
    struct big_object t = *a;
    *a = *b;
    *b = t;
}

static void sift_down(struct biggest *h)
{
    for (size_t i = 0;;) {
        size_t least = i;
        for (size_t c = 2 * i + 1; c <= 2 * i + 2 && c < h->n; c++)
            if (bigger(&h->v[least], &h->v[c]))
                least = c;
        if (least == i)
            return;
        swap(&h->v[i], &h->v[least]);
        i = least;
    }
}

static void keep(struct biggest *h, size_t most, const struct big_object *o)
{
    if (h->n == most) {
        if (bigger(o, &h->v[0])) {
            h->v[0] = *o;
            sift_down(h);
        }
        return;
    }
    size_t i = h->n++;
    h->v[i] = *o;
    for (; i > 0 && bigger(&h->v[(i - 1) / 2], &h->v[i]); i = (i - 1) / 2)
        swap(&h->v[(i - 1) / 2], &h->v[i]);
}

static int look(void *ctx, unsigned worker, struct hprof *h, const struct hprof_item *it)
{
    struct search *s = ctx;
    struct biggest *b = &s->workers[worker];
    (void)h;
    if (!it->sub || it->tag < HPROF_CLASS || it->tag > HPROF_PRIMITIVE_ARRAY)
        return 0;
    /* Cheap for objects that cannot be big: a body in the dump has at least half of the object's
     * size, without its header. */
    if (b->n == s->most && it->tag != HPROF_CLASS && 2 * it->body_len + 512 < b->v[0].bytes)
        return 0;
    struct big_object o = {.id = it->id,
                           .bytes = dump_item_size(s->d, it),
                           .offset = it->offset,
                           .class_number = dump_item_class(s->d, it),
                           .n = it->n};
    keep(b, s->most, &o);
    return 0;
}

static int by_size(const void *a, const void *b)
{
    return bigger(a, b) ? -1 : bigger(b, a);
}

static size_t collect(struct search *s, struct big_object *all, struct big_object *out)
{
    size_t n = 0;
    for (unsigned i = 0; i < WORKERS_MAX; i++) {
        memcpy(all + n, s->workers[i].v, s->workers[i].n * sizeof *all);
        n += s->workers[i].n;
    }
    qsort(all, n, sizeof *all, by_size);
    size_t kept = n < s->most ? n : s->most;
    memcpy(out, all, kept * sizeof *out);
    return kept;
}

int64_t histogram_biggest(const struct dump *d, struct big_object *out, size_t most,
                          struct err *err)
{
    struct search s = {.d = d, .most = most};
    if (most == 0)
        return 0;
    struct big_object *v = calloc((size_t)2 * WORKERS_MAX * most, sizeof *v);
    if (!v)
        return err_set(err, -ENOMEM, "%s: out of memory", d->path);
    for (unsigned i = 0; i < WORKERS_MAX; i++)
        s.workers[i].v = v + i * most;
    int rc = dump_each(d, look, &s, err);
    int64_t n = rc < 0 ? rc : (int64_t)collect(&s, v + WORKERS_MAX * most, out);
    free(v);
    return n;
}
