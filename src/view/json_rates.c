/* json_rates.c - the answer `rates`: bytes that threads allocated, over time. */
#include "base/util.h"
#include "view/json_parts.h"

#include <stdlib.h>

/* Threads that allocated nothing here are left out. */
static bool any(const uint64_t *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (v[i])
            return true;
    return false;
}

static void put_list(struct json_out *o, const char *key, const struct buf *numbers)
{
    const uint64_t *v = (const void *)numbers->p;
    json_key(o, key);
    for (size_t i = 0; i < numbers->len / sizeof *v; i++) {
        buf_putc(o->to, i ? ',' : '[');
        put_number(o, (int64_t)v[i]);
    }
    buf_puts(o->to, numbers->len ? "]" : "[]");
}

int answer_rates(struct ask *a, struct json_out *o, struct err *err)
{
    const struct analysis *x = a->v->a;
    const struct selection s = ask_selection(a);
    uint64_t from = max_u64(s.from, x->window.from), to = min_u64(s.to, x->window.to);
    struct buf threads = {0}, bytes = {0};
    uint64_t *buckets = malloc(a->n * sizeof *buckets);
    for (uint32_t i = 0; buckets && from < to && i < x->allocs.n_lines; i++) {
        if (!selection_has(&s, i))
            continue;
        for (size_t k = 0; k < a->n; k++)
            buckets[k] = 0;
        allocs_rate(&x->allocs, i, from, to, buckets, a->n);
        if (!any(buckets, a->n))
            continue;
        buf_put(&threads, &(uint64_t){i}, sizeof(uint64_t));
        buf_put(&bytes, buckets, a->n * sizeof *buckets);
    }
    bool oom = !buckets || threads.oom || bytes.oom;
    json_out(o, "{");
    json_key(o, "from");
    put_number(o, json_time(a->v, from));
    json_key(o, "to");
    put_number(o, json_time(a->v, max_u64(from, to)));
    json_key(o, "n");
    put_number(o, (int64_t)a->n);
    put_list(o, "threads", &threads);
    put_list(o, "bytes", &bytes);
    json_out(o, "\n}\n");
    free(buckets);
    buf_fini(&threads);
    buf_fini(&bytes);
    return oom ? err_set(err, -ENOMEM, "out of memory") : 0;
}
