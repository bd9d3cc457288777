#include "view/overview.h"

#include "base/util.h"

#include <stdlib.h>
#include <string.h>

static double share(uint64_t ns, uint64_t width)
{
    return width ? (double)ns / (double)width : 0;
}

static int fill_threads(struct view *v, unsigned n, const uint64_t *edges,
                        struct overview_part *out)
{
    struct pile p;
    TRY(pile_init(&p, edges, n));
    int rc = 0;
    for (uint32_t i = 1; i < v->a->threads.n && rc == 0; i++)
        if (v->a->bottles.counted[i])
            rc = pile_add(&p, &v->occupancy, i);
    pile_finish(&p);
    for (unsigned k = 0; k < n && rc == 0; k++) {
        const uint64_t *ns = p.cells[k].ns;
        uint64_t width = edges[k + 1] - edges[k], waiting = 0;
        for (unsigned c = 0; c < COLUMN_LIFE; c++)
            waiting += ns[c];
        out[k].running = share(ns[COLUMN_LIFE] - min_u64(waiting, ns[COLUMN_LIFE]), width);
        out[k].held_up =
            share(ns[STATE_BLOCKED] + ns[STATE_REACQUIRING] + ns[COLUMN_HELD_UP], width);
    }
    pile_fini(&p);
    return rc;
}

/* The segments are in the order of time, as the parts are. */
static void fill_path(const struct path *path, unsigned n, const uint64_t *edges,
                      struct overview_part *out)
{
    unsigned k = 0;
    for (size_t i = 0; i < path->n; i++) {
        const struct path_segment *g = &path->v[i];
        while (k + 1 < n && edges[k + 1] <= g->from)
            k++;
        for (unsigned at = k; at < n && edges[at] < g->to; at++) {
            uint64_t from = max_u64(g->from, edges[at]), to = min_u64(g->to, edges[at + 1]);
            if (from < to)
                out[at].path[g->kind] += share(to - from, edges[at + 1] - edges[at]);
        }
    }
}

int view_overview(struct view *v, unsigned n, struct overview_part *out)
{
    const struct decode_window *w = &v->a->window;
    if (n < 1 || n > VIEW_OVERVIEW_MAX)
        return -EINVAL;
    uint64_t *edges = malloc(((size_t)n + 1) * sizeof *edges);
    if (!edges)
        return -ENOMEM;
    for (unsigned k = 0; k <= n; k++)
        edges[k] = w->from + (uint64_t)((unsigned __int128)(w->to - w->from) * k / n);
    memset(out, 0, n * sizeof *out);
    int rc = fill_threads(v, n, edges, out);
    if (rc == 0)
        fill_path(&v->a->path, n, edges, out);
    free(edges);
    return rc;
}
