#include "analyze/weigh.h"

#include "base/util.h"

void weigh_add(struct weigh *w, uint32_t key, uint64_t ns)
{
    unsigned i = WEIGH_LEAST - 1;
    w->n++;
    w->ns += ns;
    if (ns <= w->longest[i].ns)
        return;
    for (; i && w->longest[i - 1].ns < ns; i--)
        w->longest[i] = w->longest[i - 1];
    w->longest[i] = (struct weighed){ns, key};
}

/* The largest weight of a wait; 0: all waits weigh the same. */
static uint64_t bound(const struct weigh *w)
{
    uint64_t rest = w->ns;
    for (unsigned k = 0; k < WEIGH_LEAST; k++) {
        if (w->longest[k].ns <= rest / (WEIGH_LEAST - k))
            return rest / (WEIGH_LEAST - k);
        rest -= w->longest[k].ns;
    }
    return 0;
}

/* The time of a key's waits that is above the largest weight, and so does not count. */
static uint64_t excess(const struct weigh *w, uint64_t most, uint32_t key)
{
    uint64_t ns = 0;
    for (unsigned k = 0; k < WEIGH_LEAST && w->longest[k].ns > most; k++)
        ns += w->longest[k].key == key ? w->longest[k].ns - most : 0;
    return ns;
}

static uint64_t excess_of_all(const struct weigh *w, uint64_t most)
{
    uint64_t ns = 0;
    for (unsigned k = 0; k < WEIGH_LEAST && w->longest[k].ns > most; k++)
        ns += w->longest[k].ns - most;
    return ns;
}

uint64_t weigh_of(const struct weigh *w, uint32_t key, uint64_t count, uint64_t ns)
{
    uint64_t most = bound(w);
    if (most)
        return ns - min_u64(ns, excess(w, most, key));
    return w->n ? count * max_u64(w->ns / w->n, 1) : 0;
}

unsigned weigh_permille(const struct weigh *w, uint32_t key, uint64_t count, uint64_t ns)
{
    uint64_t most = bound(w);
    double all = most ? (double)(w->ns - excess_of_all(w, most)) : (double)w->n;
    double part = most ? (double)weigh_of(w, key, count, ns) : (double)count;
    return all > 0 ? (unsigned)(1000 * part / all) : 0;
}
