#include "analyze/sites.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

/* Counts of one stack on locks of one class; mostly the only one of its stack. */
struct site_cell {
    uint32_t group, stack;
    struct site_stats blocked, waited;
};

int sites_init(struct sites *s, const struct trace *t, const struct lock_set *l, struct arena *a,
               struct err *err)
{
    *s = (struct sites){
        .arena = a, .trace = t, .locks = l, .n_stacks = t->n_stacks ? t->n_stacks : 1};
    s->recent = arena_alloc(a, s->n_stacks * sizeof *s->recent);
    return s->recent ? 0 : err_set(err, -ENOMEM, "out of memory");
}

void sites_fini(struct sites *s)
{
    buf_fini(&s->cells);
    map_fini(&s->places);
}

static size_t n_cells(const struct sites *s)
{
    return s->cells.len / sizeof(struct site_cell);
}

static struct site_cell *find_cell(struct sites *s, uint32_t group, uint32_t stack)
{
    uint64_t *place = map_put(&s->places, (uint64_t)group << 32 | stack);
    if (!place)
        return NULL;
    if (!*place) {
        struct site_cell cell = {.group = group, .stack = stack};
        buf_put(&s->cells, &cell, sizeof cell);
        *place = n_cells(s);
    }
    s->recent[stack] = (uint32_t)*place;
    return s->cells.oom ? NULL : (struct site_cell *)(void *)s->cells.p + *place - 1;
}

static struct site_cell *cell_of(struct sites *s, uint32_t group, uint32_t stack)
{
    struct site_cell *cells = (void *)s->cells.p;
    uint32_t recent = s->recent[stack];
    if (recent && cells[recent - 1].group == group)
        return &cells[recent - 1];
    return find_cell(s, group, stack);
}

static void add(struct site_stats *to, uint64_t count, uint64_t ns, uint64_t max)
{
    to->count += count;
    to->ns += ns;
    to->max = max_u64(to->max, max);
}

int sites_take(void *self, const struct interval *v, size_t n)
{
    struct sites *s = self;
    for (size_t i = 0; i < n; i++) {
        if ((v[i].state != STATE_BLOCKED && v[i].state != STATE_WAITING) ||
            v[i].flags & INTERVAL_REACQUIRED)
            continue;
        uint32_t stack = v[i].stack.v < s->n_stacks ? v[i].stack.v : 0;
        struct site_cell *c = cell_of(s, lock_set_object(s->locks, v[i].lock)->group, stack);
        if (!c)
            return -ENOMEM;
        add(v[i].state == STATE_BLOCKED ? &c->blocked : &c->waited, 1, v[i].ns, v[i].ns);
    }
    return 0;
}

/* --- naming a stack --------------------------------------------------------------------------- */

bool sites_is_jdk(const char *signature)
{
    static const char *const prefixes[] = {"Ljava/", "Ljavax/", "Ljdk/", "Lsun/"};
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
        if (strncmp(signature, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

static struct place place_of(const struct trace *t, struct trace_frame f)
{
    return (struct place){f.method, trace_line(t, f)};
}

static void name_stack(const struct trace *t, struct site *site)
{
    const struct trace_stack *s = trace_stack(t, site->stack);
    site->top = site->app = (struct place){{0}, -1};
    if (s->n_frames == 0)
        return;
    uint32_t first = trace_site(t, s);
    site->top = site->app = place_of(t, s->frames[first]);
    for (uint32_t i = first; i < s->n_frames; i++) {
        const struct trace_method *m = trace_method(t, s->frames[i].method);
        const struct trace_class *c = trace_class(t, m->class_);
        if (c->id.v && !sites_is_jdk(c->signature)) {
            site->app = place_of(t, s->frames[i]);
            return;
        }
    }
}

/* --- adding up -------------------------------------------------------------------------------- */

/* The site of the same group and frames, or the new one behind the list. */
static struct site *find_or_append(struct site *list, size_t *n, const struct site *want,
                                   struct map *known)
{
    const uint32_t id[] = {want->group, want->top.method.v, (uint32_t)want->top.line,
                           want->app.method.v, (uint32_t)want->app.line};
    uint64_t key = hash_bytes(id, sizeof id, 0);
    for (;; key++) {
        uint64_t *place = map_put(known, key);
        if (!place)
            return NULL;
        if (*place == 0) {
            list[*n] = *want;
            *place = ++*n;
            return &list[*n - 1];
        }
        struct site *s = &list[*place - 1];
        if (s->group == want->group && memcmp(&s->top, &want->top, sizeof s->top) == 0 &&
            memcmp(&s->app, &want->app, sizeof s->app) == 0)
            return s;
    }
}

static int by_time(const void *a, const void *b)
{
    const struct site *x = a, *y = b;
    if (x->blocked.ns != y->blocked.ns)
        return x->blocked.ns < y->blocked.ns ? 1 : -1;
    if (x->waited.ns != y->waited.ns)
        return x->waited.ns < y->waited.ns ? 1 : -1;
    return (x->stack.v > y->stack.v) - (x->stack.v < y->stack.v);
}

int sites_list(const struct sites *s, uint32_t group, struct site **out, size_t *n)
{
    const struct site_cell *cells = (const void *)s->cells.p;
    struct map known;
    map_init(&known);
    *n = 0;
    *out = arena_alloc(s->arena, n_cells(s) * sizeof **out);
    int rc = *out ? 0 : -ENOMEM;
    for (size_t i = 0; i < n_cells(s) && rc == 0; i++) {
        const struct site_cell *c = &cells[i];
        if (group != EVERY_CLASS && c->group != group)
            continue;
        struct site want = {.group = c->group, .stack = {c->stack}};
        name_stack(s->trace, &want);
        struct site *site = find_or_append(*out, n, &want, &known);
        if (!site) {
            rc = -ENOMEM;
            break;
        }
        add(&site->blocked, c->blocked.count, c->blocked.ns, c->blocked.max);
        add(&site->waited, c->waited.count, c->waited.ns, c->waited.max);
    }
    map_fini(&known);
    if (rc == 0)
        qsort(*out, *n, sizeof **out, by_time);
    return rc;
}
