#include "analyze/path_shutdown.h"
#include "base/util.h"
#include "view/view_parts.h"

#include <stdlib.h>
#include <string.h>

/* --- paths that are kept ---------------------------------------------------------------------- */

void path_cache_init(struct path_cache *c)
{
    memset(c, 0, sizeof *c);
    pthread_mutex_init(&c->guard, NULL);
}

static void free_path(struct kept_path *p)
{
    path_fini(&p->path);
    free(p);
}

void path_cache_fini(struct path_cache *c)
{
    for (int i = 0; i < PATHS_KEPT; i++)
        if (c->v[i])
            free_path(c->v[i]);
    pthread_mutex_destroy(&c->guard);
}

/* Put a path at the front, which is at place i. */
static void to_front(struct path_cache *c, int i, struct kept_path *p)
{
    memmove(&c->v[1], &c->v[0], (size_t)i * sizeof *c->v);
    c->v[0] = p;
}

static struct kept_path *find(struct path_cache *c, uint32_t thread, uint64_t to)
{
    struct kept_path *p = NULL;
    pthread_mutex_lock(&c->guard);
    for (int i = 0; i < PATHS_KEPT && c->v[i] && !p; i++) {
        if (c->v[i]->thread != thread || c->v[i]->to != to)
            continue;
        p = c->v[i];
        p->users++;
        to_front(c, i, p);
    }
    pthread_mutex_unlock(&c->guard);
    return p;
}

static void add(struct path_cache *c, struct kept_path *p)
{
    pthread_mutex_lock(&c->guard);
    struct kept_path *last = c->v[PATHS_KEPT - 1];
    to_front(c, PATHS_KEPT - 1, p);
    bool over = last && last->users == 0;
    if (last)
        last->kept = false;
    pthread_mutex_unlock(&c->guard);
    if (over)
        free_path(last);
}

int path_cache_get(struct path_cache *c, const struct analysis *a, uint32_t thread, uint64_t to,
                   struct kept_path **out)
{
    const struct path_source src = {&a->timeline,
                                    &a->threads,
                                    &a->purposes,
                                    &a->halts,
                                    &a->processors,
                                    (const void *)a->decoded.pauses.p,
                                    a->decoded.pauses.len / sizeof(struct pause)};
    *out = find(c, thread, to);
    if (*out)
        return 0;
    struct kept_path *p = malloc(sizeof *p);
    if (!p)
        return -ENOMEM;
    *p = (struct kept_path){.thread = thread, .to = to, .users = 1, .kept = true};
    int rc = path_walk_over_shutdown(&p->path, &src, a->trace, thread, to, a->window.from);
    if (rc < 0) {
        free(p);
        return rc;
    }
    add(c, p);
    *out = p;
    return 0;
}

void path_cache_release(struct path_cache *c, struct kept_path *p)
{
    pthread_mutex_lock(&c->guard);
    bool over = --p->users == 0 && !p->kept;
    pthread_mutex_unlock(&c->guard);
    if (over)
        free_path(p);
}

/* --- segments --------------------------------------------------------------------------------- */

/* The segments that touch a stretch. */
struct stretch {
    const struct path_segment *v;
    size_t n;
};

static struct stretch touching(const struct path *p, uint64_t from, uint64_t to)
{
    size_t first = 0;
    BISECT(first, p->n, p->v[first].to <= from);
    size_t end = first;
    BISECT(end, p->n, p->v[end].from < to);
    return (struct stretch){p->n ? p->v + first : NULL, end - first};
}

static void put_segments(const struct view *v, const struct stretch *s, size_t begin,
                         struct buf *out)
{
    uint32_t n = (uint32_t)s->n;
    PUT_COLUMN(out, begin, double, n, view_time(v, s->v[k].from));
    PUT_COLUMN(out, begin, double, n, view_time(v, s->v[k].to));
    PUT_COLUMN(out, begin, uint32_t, n, s->v[k].thread);
    PUT_COLUMN(out, begin, uint32_t, n, s->v[k].lock.v);
    PUT_COLUMN(out, begin, uint32_t, n, s->v[k].stack.v);
    PUT_COLUMN(out, begin, uint8_t, n, s->v[k].kind);
    PUT_COLUMN(out, begin, uint8_t, n, s->v[k].state);
}

/* --- buckets ---------------------------------------------------------------------------------- */

struct buckets {
    uint32_t thread[VIEW_BUCKETS];
    uint8_t kind[VIEW_BUCKETS], share[VIEW_BUCKETS];
};

static uint64_t part_in(const struct path_segment *g, uint64_t from, uint64_t to)
{
    uint64_t start = max_u64(g->from, from), end = min_u64(g->to, to);
    return start < end ? end - start : 0;
}

/* The kind that most of the thread's part of these segments is of. */
static uint8_t main_kind(const struct stretch *s, uint32_t thread, uint64_t from, uint64_t to)
{
    uint64_t ns[PATH_KINDS] = {0};
    unsigned kind = 0;
    for (size_t i = 0; i < s->n; i++)
        if (s->v[i].thread == thread)
            ns[s->v[i].kind] += part_in(&s->v[i], from, to);
    for (unsigned i = 1; i < PATH_KINDS; i++)
        kind = ns[i] > ns[kind] ? i : kind;
    return (uint8_t)kind;
}

/* sums: [n_threads], zero, and zero again afterwards. */
static void fill_bucket(struct buckets *b, unsigned k, const struct stretch *s, uint64_t from,
                        uint64_t to, uint64_t *sums)
{
    uint32_t most = 0;
    for (size_t i = 0; i < s->n; i++) {
        uint32_t thread = s->v[i].thread;
        sums[thread] += part_in(&s->v[i], from, to);
        if (sums[thread] > sums[most] || (sums[thread] == sums[most] && thread < most))
            most = thread;
    }
    b->thread[k] = most;
    b->share[k] = share_255(sums[most], to - from);
    b->kind[k] = b->share[k] ? main_kind(s, most, from, to) : 0;
    for (size_t i = 0; i < s->n; i++)
        sums[s->v[i].thread] = 0;
}

static int put_buckets(const struct view *v, const struct stretch *all,
                       const struct tile_edges *edges, size_t begin, struct buf *out)
{
    struct buckets b;
    uint64_t *sums = calloc(v->a->threads.n + 1, sizeof *sums);
    size_t first = 0, end = 0;
    if (!sums)
        return -ENOMEM;
    for (unsigned k = 0; k < VIEW_BUCKETS; k++) {
        while (first < all->n && all->v[first].to <= edges->at[k])
            first++;
        end = max_u64(end, first);
        while (end < all->n && all->v[end].from < edges->at[k + 1])
            end++;
        const struct stretch s = {all->v + first, end - first};
        fill_bucket(&b, k, &s, edges->at[k], edges->at[k + 1], sums);
    }
    free(sums);
    column_put(out, begin, b.thread, sizeof b.thread);
    column_put(out, begin, b.kind, sizeof b.kind);
    column_put(out, begin, b.share, sizeof b.share);
    return 0;
}

/* --- the answer ------------------------------------------------------------------------------- */

static int put_path(const struct view *v, const struct path *p, const struct tile_edges *edges,
                    struct buf *out)
{
    size_t begin = out->len;
    const struct stretch s = touching(p, tile_from(edges), tile_to(edges));
    bool many = s.n > VIEW_PATH_MAX;
    const uint32_t head[] = {PATH_MAGIC, many, many ? VIEW_BUCKETS : (uint32_t)s.n, 0};
    buf_put(out, head, sizeof head);
    if (many)
        return put_buckets(v, &s, edges, begin, out);
    put_segments(v, &s, begin, out);
    return 0;
}

/* The path to the program's end, whose buckets are kept. */
static int put_main_path(struct view *v, unsigned level, int64_t i, const struct tile_edges *edges,
                         struct buf *out)
{
    const struct cache_key key = {.what = 'P', .i = i, .level = level};
    size_t begin = out->len;
    if (cache_get(&v->answers, &key, out))
        return 0;
    TRY(put_path(v, &v->a->path, edges, out));
    if (!out->oom && out->p[begin + 4])
        cache_put(&v->answers, &key, out->p + begin, out->len - begin);
    return 0;
}

int view_path(struct view *v, unsigned level, int64_t i, uint32_t thread, int64_t to,
              struct buf *out)
{
    struct tile_edges edges;
    size_t begin = out->len;
    int rc;
    TRY(tile_edges(v, level, i, &edges));
    if (thread >= v->a->threads.n)
        return -EINVAL;
    if (!thread) {
        rc = put_main_path(v, level, i, &edges, out);
    } else {
        const struct thread_stats *s = &v->a->threads.v[thread];
        uint64_t time = min_u64(max_u64(view_moment(v, to), s->from), s->to);
        struct kept_path *p;
        TRY(path_cache_get(&v->paths, v->a, thread, time, &p));
        rc = put_path(v, &p->path, &edges, out);
        path_cache_release(&v->paths, p);
    }
    if (rc == 0)
        return answer_end(out, begin);
    out->len = begin;
    return rc;
}

void view_put_whole_path(const struct view *v, struct buf *out)
{
    const struct path *p = &v->a->path;
    size_t begin = out->len;
    const struct stretch s = {p->v, p->n};
    const uint32_t head[] = {PATH_MAGIC, 0, (uint32_t)p->n, 0};
    buf_put(out, head, sizeof head);
    put_segments(v, &s, begin, out);
    column_pad(out, begin);
}
