#include "analyze/sites.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/util.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- naming a stack --------------------------------------------------------------------------- */

bool sites_is_jdk(const char *signature)
{
    static const char *const prefixes[] = {"Ljava/", "Ljavax/", "Ljdk/", "Lsun/"};
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
        if (strncmp(signature, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

/* name: with dots; p: one pattern, n bytes. */
static bool is_in(const char *name, const char *p, size_t n)
{
    char one[256];
    if (n > 2 && memcmp(p + n - 2, ".*", 2) == 0)
        n -= 2;
    if (strncmp(name, p, n) == 0 && strchr(".$", name[n]))
        return true; /* strchr also finds the end of the string: the class itself */
    snprintf(one, sizeof one, "%.*s", (int)n, p);
    return strpbrk(one, "*?") && fnmatch(one, name, 0) == 0;
}

bool sites_is_own(const struct trace *t, const char *signature)
{
    char name[512];
    size_t n = strlen(signature);
    if (!t->app || *signature != 'L' || n < 2)
        return false;
    snprintf(name, sizeof name, "%.*s", (int)n - 2, signature + 1);
    for (char *c = name; *c; c++)
        *c = *c == '/' ? '.' : *c;
    for (const char *p = t->app; *p; p += strspn(p, ",")) {
        n = strcspn(p, ",");
        if (is_in(name, p, n))
            return true;
        p += n;
    }
    return false;
}

struct place sites_frame(const struct trace *t, const struct trace_stack *s, uint32_t i)
{
    return (struct place){.method = s->frames[i].method,
                          .line = trace_line(t, s->frames[i]),
                          .near = s->kinds && s->kinds[i] & FRAMEKIND_NEAR};
}

/* Whether the JVM made this class for a lambda or a method reference.  It has no line and no
 * meaningful name; the next frame is its caller. */
static bool is_made(const char *signature)
{
    return strstr(signature, "$$Lambda") != NULL;
}

void sites_name(const struct trace *t, stack_id stack, struct place *top, struct place *app)
{
    const struct trace_stack *s = trace_stack(t, stack);
    sites_name_from(t, s, trace_site(t, s), top, app);
}

const char *sites_class(const struct trace *t, stack_id stack)
{
    const struct trace_stack *s = trace_stack(t, stack);
    uint32_t site = trace_site(t, s);
    return site < s->n_frames ? trace_method_class(t, s->frames[site].method) : "";
}

bool sites_one_class(const struct trace *t, stack_id x, stack_id y)
{
    const char *a = sites_class(t, x), *b = sites_class(t, y);
    size_t n = strcspn(a, "$;");
    return n && n == strcspn(b, "$;") && memcmp(a, b, n) == 0;
}

bool sites_one_library(const char *x, const char *y)
{
    const char *end = strchr(x, '/');
    end = end && strchr(end + 1, '/') ? strchr(end + 1, '/') : end;
    return end && strncmp(x, y, (size_t)(end + 1 - x)) == 0;
}

bool sites_is_workers(const char *signature)
{
    static const char *const words[] = {"Executor", "Worker", "ThreadPool", "PoolThread"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strstr(signature, words[i]))
            return true;
    return false;
}

void sites_name_from(const struct trace *t, const struct trace_stack *s, uint32_t first,
                     struct place *top, struct place *app)
{
    *top = *app = (struct place){.line = -1};
    if (first >= s->n_frames)
        return;
    *top = *app = sites_frame(t, s, first);
    bool found = false;
    for (uint32_t i = first; i < s->n_frames; i++) {
        const struct trace_method *m = trace_method(t, s->frames[i].method);
        const struct trace_class *c = trace_class(t, m->class_);
        if (!c->id.v || is_made(c->signature))
            continue;
        bool own = sites_is_own(t, c->signature);
        if (own || (!found && !sites_is_jdk(c->signature)))
            *app = sites_frame(t, s, i);
        found |= own || !sites_is_jdk(c->signature);
        if (own || (found && !t->app))
            return;
    }
}

/* --- all of them ------------------------------------------------------------------------------ */

struct maker {
    const struct trace *t;
    struct sites *out;
    uint32_t cap;
    struct map by_stack; /* group, stack -> 1 + index */
    struct map by_name;  /* hash of group and frames -> 1 + index */
};

static bool same(const struct site *a, const struct site *b)
{
    return a->group == b->group && memcmp(&a->top, &b->top, sizeof a->top) == 0 &&
           memcmp(&a->app, &b->app, sizeof a->app) == 0;
}

static uint64_t *append(struct maker *m, const struct site *x, uint64_t *place)
{
    struct sites *s = m->out;
    if (s->n == m->cap) {
        uint32_t cap = m->cap ? m->cap * 2 : 256;
        struct site *v = realloc(s->v, cap * sizeof *v);
        if (!v)
            return NULL;
        s->v = v;
        m->cap = cap;
    }
    s->v[s->n] = *x;
    *place = ++s->n;
    return place;
}

static uint64_t *find_named(struct maker *m, const struct site *x)
{
    const uint32_t id[] = {x->group, x->top.method.v, (uint32_t)x->top.line, x->app.method.v,
                           (uint32_t)x->app.line};
    for (uint64_t key = hash_place(id, sizeof id, 0);; key++) {
        uint64_t *place = map_put(&m->by_name, key);
        if (!place)
            return NULL;
        if (!*place)
            return append(m, x, place);
        if (same(&m->out->v[*place - 1], x))
            return place;
    }
}

/* The site of a stack on locks of a group; NO_SITE: memory is out. */
static uint32_t find(struct maker *m, uint32_t group, stack_id stack)
{
    uint64_t *known = map_put(&m->by_stack, (uint64_t)group << 32 | stack.v);
    if (!known)
        return NO_SITE;
    if (!*known) {
        struct site x = {.group = group, .stack = stack};
        sites_name(m->t, stack, &x.top, &x.app);
        const uint64_t *named = find_named(m, &x);
        if (!named)
            return NO_SITE;
        *known = *named;
    }
    return (uint32_t)(*known - 1);
}

static int make(struct maker *m, const struct lock_set *l, const struct contexts *c)
{
    struct sites *s = m->out;
    for (uint32_t i = 1; i < c->n; i++) {
        const struct context *x = &c->v[i];
        s->of_owner[i] = NO_SITE;
        if (x->what == STATE_UNKNOWN)
            s->of_context[i] = NO_SITE;
        if (x->what >= WAIT_STATES)
            continue;
        uint32_t group = lock_set_group(l, x->lock);
        s->of_context[i] = find(m, group, x->stack);
        if (s->of_context[i] == NO_SITE)
            return -ENOMEM;
        if (!x->owner_stack.v)
            continue;
        s->of_owner[i] = find(m, group, x->owner_stack);
        if (s->of_owner[i] == NO_SITE)
            return -ENOMEM;
    }
    return 0;
}

int sites_init(struct sites *s, const struct trace *t, const struct lock_set *l,
               const struct contexts *c, struct arena *a)
{
    *s = (struct sites){.of_context = arena_alloc(a, c->n * sizeof *s->of_context),
                        .of_owner = arena_alloc(a, c->n * sizeof *s->of_owner)};
    if (!s->of_context || !s->of_owner)
        return -ENOMEM;
    struct maker m = {.t = t, .out = s};
    map_init(&m.by_stack);
    map_init(&m.by_name);
    int rc = make(&m, l, c);
    map_fini(&m.by_stack);
    map_fini(&m.by_name);
    struct site *v = rc == 0 ? arena_alloc(a, (s->n + 1) * sizeof *v) : NULL;
    if (v && s->n)
        memcpy(v, s->v, s->n * sizeof *v);
    free(s->v);
    s->v = v;
    return v ? 0 : -ENOMEM;
}
