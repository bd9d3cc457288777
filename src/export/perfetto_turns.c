#include "export/perfetto_turns.h"

static struct turn *entries(const struct buf *v)
{
    return (struct turn *)(void *)v->p;
}

static size_t count(const struct buf *v)
{
    return v->len / sizeof(struct turn);
}

static void swap(struct turn *a, struct turn *b)
{
    struct turn t = *a;
    *a = *b;
    *b = t;
}

void turns_push(struct buf *v, struct turn t)
{
    buf_put(v, &t, sizeof t);
    if (v->oom)
        return;
    struct turn *e = entries(v);
    for (size_t i = count(v) - 1; i && e[(i - 1) / 2].time > e[i].time; i = (i - 1) / 2)
        swap(&e[i], &e[(i - 1) / 2]);
}

bool turns_pop(struct buf *v, uint64_t until, struct turn *out)
{
    struct turn *e = entries(v);
    size_t n = count(v);
    if (!n || e[0].time > until)
        return false;
    *out = e[0];
    e[0] = e[--n];
    v->len -= sizeof *e;
    for (size_t i = 0, k; (k = 2 * i + 1) < n; i = k) {
        k += k + 1 < n && e[k + 1].time < e[k].time;
        if (e[i].time <= e[k].time)
            break;
        swap(&e[i], &e[k]);
    }
    return true;
}
