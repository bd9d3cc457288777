#include "heap/diff.h"

#include "heap/missing.h"

#include <stdlib.h>
#include <string.h>

void diff_init(struct diff *diff)
{
    *diff = (struct diff){0};
    arena_init(&diff->arena, 0);
}

void diff_fini(struct diff *diff)
{
    free(diff->v);
    arena_fini(&diff->arena);
    *diff = (struct diff){0};
}

/* Bytes of the name without the address of a hidden class: "Main$$Lambda/0x00007f0c01001200". */
static size_t name_length(const char *name)
{
    const char *address = strstr(name, "/0x");
    return address ? (size_t)(address - name) : strlen(name);
}

static int by_name(const void *a, const void *b)
{
    const struct class_change *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static void add(struct class_totals *to, const struct class_totals *t)
{
    to->count += t->count;
    to->bytes += t->bytes;
    to->retained += t->retained;
}

/* Sort by name, and add up those of one name. */
static void join(struct diff *diff)
{
    size_t n = 0;
    if (diff->n)
        qsort(diff->v, diff->n, sizeof *diff->v, by_name);
    for (size_t i = 0; i < diff->n; i++) {
        if (n > 0 && strcmp(diff->v[n - 1].name, diff->v[i].name) == 0) {
            add(&diff->v[n - 1].then, &diff->v[i].then);
            add(&diff->v[n - 1].now, &diff->v[i].now);
            if (diff->v[i].class_number < diff->v[n - 1].class_number)
                diff->v[n - 1].class_number = diff->v[i].class_number;
        } else {
            diff->v[n++] = diff->v[i];
        }
    }
    diff->n = n;
}

int diff_add(struct diff *diff, const struct dump *d, const uint64_t *retained, bool now,
             struct err *err)
{
    struct class_change *more = realloc(diff->v, (diff->n + d->n_classes + 1) * sizeof *diff->v);
    if (!more)
        return err_set(err, -ENOMEM, "%s: out of memory", d->path);
    diff->v = more;
    *(now ? &diff->whole_now : &diff->whole_then) = missing_knows_keepers(d);
    *(now ? &diff->named_now : &diff->named_then) = d->missing.names == 0;
    for (uint32_t i = 0; i < d->n_classes; i++) {
        const struct dump_class *c = &d->classes[i];
        const struct class_totals t = {c->count, c->bytes, retained ? retained[i] : 0};
        if (c->count == 0 && t.retained == 0)
            continue;
        struct class_change *to = &diff->v[diff->n++];
        *to = (struct class_change){
            .name = arena_strndup(&diff->arena, c->name, name_length(c->name)),
            .class_number = now ? i : DUMP_NONE,
        };
        if (!to->name) {
            diff->n--;
            return err_set(err, -ENOMEM, "%s: out of memory", d->path);
        }
        *(now ? &to->now : &to->then) = t;
        const struct class_totals all = {c->count, c->bytes, 0};
        add(now ? &diff->now : &diff->then, &all);
    }
    join(diff);
    return 0;
}

static int by_growth(const void *a, const void *b)
{
    const struct class_change *x = a, *y = b;
    int64_t v = diff_bytes(x), w = diff_bytes(y);
    if (v != w)
        return v > w ? -1 : 1;
    if (x->now.bytes != y->now.bytes)
        return x->now.bytes > y->now.bytes ? -1 : 1;
    return strcmp(x->name, y->name);
}

void diff_order(struct diff *diff)
{
    if (diff->n)
        qsort(diff->v, diff->n, sizeof *diff->v, by_growth);
    diff->known_grown = diff->whole_then && diff->named_now;
    diff->known_shrunk = diff->whole_now && diff->named_then;
    for (size_t i = 0; i < diff->n; i++) {
        diff->grown += diff_bytes(&diff->v[i]) > 0;
        diff->shrunk += diff_bytes(&diff->v[i]) < 0;
    }
}
