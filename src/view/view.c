#include "view/view_parts.h"

#include "base/hash.h"
#include "base/util.h"
#include "view/arrows.h"
#include "view/json_parts.h"

#include <stdlib.h>
#include <string.h>

enum {
    ANSWERS_BYTES = 64 << 20,
    COARSE_WAITS = 32 << 10,
    ANSWERS_PER_WAIT = 4, /* bytes more: what the coarse tiles of all threads need */
};

/* --- sets of threads -------------------------------------------------------------------------- */

typedef void set_name(const struct trace_thread *def, char *out, size_t n);

static void name_pool(const struct trace_thread *def, char *out, size_t n)
{
    pool_name(def->name, out, n);
}

static void name_group(const struct trace_thread *def, char *out, size_t n)
{
    size_t len = strnlen(def->group, n - 1);
    memcpy(out, def->group, len);
    out[len] = '\0';
}

/* 1 + the index of the set of a name, made when it is new; 0: memory is out. */
static uint32_t set_of(struct view *v, struct view_set *s, struct map *known, const char *name)
{
    for (uint64_t key = hash_place(name, strlen(name), 0);; key++) {
        uint64_t *place = map_put(known, key);
        if (!place)
            return 0;
        if (*place && strcmp(s->names[*place - 1], name) == 0)
            return (uint32_t)*place;
        if (*place)
            continue;
        s->names[s->n] = arena_strndup(&v->arena, name, strlen(name));
        *place = s->n + 1;
        return s->names[s->n] ? ++s->n : 0;
    }
}

static int name_sets(struct view *v, struct view_set *s, struct map *known, set_name *name)
{
    const struct thread_set *ts = &v->a->threads;
    for (uint32_t i = 1; i < ts->n; i++) {
        char text[256];
        name(trace_thread(v->a->trace, ts->v[i].id), text, sizeof text);
        uint32_t at = set_of(v, s, known, text);
        if (!at)
            return -ENOMEM;
        s->of[i] = at - 1;
    }
    return 0;
}

static void list_members(struct view_set *s, size_t n_threads)
{
    for (size_t i = 1; i < n_threads; i++)
        s->first[s->of[i] + 1]++;
    for (uint32_t k = 0; k < s->n; k++)
        s->first[k + 1] += s->first[k];
    for (uint32_t i = (uint32_t)n_threads; i-- > 1;) /* leaves each `first` where it belongs */
        s->members[--s->first[s->of[i] + 1]] = i;
    for (uint32_t k = 0; k < s->n; k++)
        s->first[k] = s->first[k + 1];
    s->first[s->n] = n_threads ? (uint32_t)n_threads - 1 : 0;
}

static int ascending(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* How many of a set's threads lived at once, at most; times: room for two of each. */
static uint32_t peak_of(const struct view *v, const struct view_set *s, uint32_t k, uint64_t *times)
{
    size_t n = view_set_size(s, k);
    uint64_t *from = times, *to = times + n;
    uint32_t now = 0, peak = 1;
    for (size_t i = 0; i < n; i++) {
        from[i] = v->a->threads.v[s->members[s->first[k] + i]].from;
        to[i] = v->a->threads.v[s->members[s->first[k] + i]].to;
    }
    qsort(from, n, sizeof *from, ascending);
    qsort(to, n, sizeof *to, ascending);
    for (size_t i = 0, ended = 0; i < n; i++) {
        now++;
        while (ended < n && to[ended] <= from[i]) {
            ended++;
            now--;
        }
        peak = peak > now ? peak : now;
    }
    return peak;
}

static int make_sets(struct view *v, struct view_set *s, set_name *name)
{
    size_t n = v->a->threads.n;
    struct map known;
    s->names = arena_alloc(&v->arena, (n + 1) * sizeof *s->names);
    s->of = arena_alloc(&v->arena, (n + 1) * sizeof *s->of);
    s->members = arena_alloc(&v->arena, (n + 1) * sizeof *s->members);
    s->first = arena_alloc(&v->arena, (n + 2) * sizeof *s->first);
    s->peak = arena_alloc(&v->arena, (n + 1) * sizeof *s->peak);
    uint64_t *times = malloc((n + 1) * 2 * sizeof *times);
    if (!s->names || !s->of || !s->members || !s->first || !s->peak || !times) {
        free(times);
        return -ENOMEM;
    }
    map_init(&known);
    int rc = name_sets(v, s, &known, name);
    map_fini(&known);
    if (rc == 0)
        list_members(s, n);
    for (uint32_t k = 0; rc == 0 && k < s->n; k++)
        s->peak[k] = peak_of(v, s, k, times);
    free(times);
    return rc;
}

const struct view_set *view_pools(const struct view *v)
{
    return &v->pools;
}

const struct view_set *view_groups(const struct view *v)
{
    return &v->groups;
}

/* --- rows ------------------------------------------------------------------------------------- */

/* "t12" -> a row; the place behind it, NULL: that is none. */
static const char *parse_row(const char *p, struct view_row *row)
{
    uint64_t n = 0;
    row->kind = *p;
    if (!*p || !strchr("tpgl", *p) || p[1] < '0' || p[1] > '9')
        return NULL;
    for (p++; *p >= '0' && *p <= '9'; p++) {
        n = n * 10 + (uint64_t)(*p - '0');
        if (n > UINT32_MAX)
            return NULL;
    }
    row->number = (uint32_t)n;
    return *p == '\0' || *p == ',' ? p : NULL;
}

int view_parse_rows(const char *text, struct view_row *rows, struct err *err)
{
    int n = 0;
    for (const char *p = text, *end; *p; p = end) {
        p += n && *p == ',';
        if (n == VIEW_ROWS_MAX)
            return err_set(err, -EINVAL, "rows: more than %d: ask again for the rest",
                           VIEW_ROWS_MAX);
        end = parse_row(p, &rows[n]);
        if (!end)
            return err_set(err, -EINVAL,
                           "rows: \"%.20s\" is not a row: write t, p, g or l and a number, as in "
                           "t1,p0,l77",
                           p);
        n++;
    }
    return n ? n : err_set(err, -EINVAL, "rows: none: write them as in rows=t1,p0,l77");
}

/* --- a view's life ---------------------------------------------------------------------------- */

static const char *copy(struct view *v, const char *text)
{
    text = text ? text : "";
    return arena_strndup(&v->arena, text, strlen(text));
}

static int init(struct view *v, struct analysis *a, const struct view_about *about)
{
    v->a = a;
    v->base = a->trace->header.start_mono;
    v->about = *about;
    v->about.name = copy(v, about->name);
    v->about.path = copy(v, about->path);
    v->about.ending = copy(v, about->ending);
    if (!v->about.name || !v->about.path || !v->about.ending)
        return -ENOMEM;
    TRY(make_sets(v, &v->pools, name_pool));
    TRY(make_sets(v, &v->groups, name_group));
    return occupancy_init(&v->occupancy, a);
}

int view_new(struct view **out, struct analysis *a, const struct view_about *about, struct err *err)
{
    struct view *v = *out = calloc(1, sizeof *v);
    if (!v)
        return err_set(err, -ENOMEM, "%s: out of memory", about->name);
    arena_init(&v->arena, 0);
    cache_init(&v->answers, ANSWERS_BYTES + a->timeline.n_spans * ANSWERS_PER_WAIT);
    path_cache_init(&v->paths);
    v->coarse_waits = COARSE_WAITS;
    pthread_mutex_init(&v->json.lock, NULL);
    lock_lines_init(&v->locks);
    int rc = init(v, a, about);
    if (rc < 0) {
        v->a = NULL;
        view_free(v);
        *out = NULL;
        return err_set(err, rc, "%s: out of memory", about->name);
    }
    return 0;
}

void view_free(struct view *v)
{
    if (!v)
        return;
    struct trace *t = v->a ? v->a->trace : NULL;
    occupancy_fini(&v->occupancy);
    cache_fini(&v->answers);
    path_cache_fini(&v->paths);
    pthread_mutex_destroy(&v->json.lock);
    lock_lines_fini(&v->locks);
    marks_fini(&v->marks);
    arena_fini(&v->arena);
    analysis_free(v->a);
    trace_close(t);
    free(v);
}

int view_prepare(struct view *v, void (*made)(void *ctx), void *ctx, struct err *err)
{
    if (!v->about.later)
        return 0;
    TRY(findings_make(v, err));
    made(ctx);
    arrows_prepare(v);
    return 0;
}

uint32_t view_gen(const struct view *v)
{
    return v->about.gen;
}
