#include "symbols/natives.h"

#include "base/hash.h"
#include "base/map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_place(const struct trace_method *m)
{
    return m->id.v && (m->flags & METHOD_NATIVE_CODE) && !*m->name;
}

/* The place of a frame, as a method's id; 0: it is none. */
static uint32_t place_of(const struct trace *t, const struct trace_stack *s, uint32_t i)
{
    const struct trace_method *m = trace_method(t, s->frames[i].method);
    return is_place(m) ? m->id.v : 0;
}

/* --- which places there are ------------------------------------------------------------------- */

static int by_place(const void *x, const void *y)
{
    const struct native_place *a = x, *b = y;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return (a->method > b->method) - (a->method < b->method);
}

/* Mark the places that stacks name; returns how many. */
static size_t mark(struct natives *v, uint8_t *seen)
{
    const struct trace *t = v->t;
    size_t n = 0;
    for (size_t k = 0; k < t->n_stacks; k++) {
        const struct trace_stack *s = &t->stacks[k];
        for (uint32_t i = 0; i < s->n_frames; i++) {
            uint32_t place = place_of(t, s, i);
            n += place && !seen[place];
            seen[place] = 1;
        }
    }
    return n;
}

/* A library that was loaded twice is one file: [module] -> the first one of its file. */
static int find_groups(const struct trace *t, uint32_t *group)
{
    struct map files;
    int rc = 0;
    map_init(&files);
    for (size_t i = 1; i < t->n_modules && rc == 0; i++) {
        const struct trace_module *m = trace_module(t, (module_id){(uint32_t)i});
        uint64_t key =
            hash_place(m->build_id, strlen(m->build_id), hash_place(m->path, strlen(m->path), 0));
        uint64_t *first = m->id.v ? map_put(&files, key) : NULL;
        if (m->id.v && !first)
            rc = -ENOMEM;
        else if (first)
            group[i] = (uint32_t)(*first = *first ? *first : i);
    }
    map_fini(&files);
    return rc;
}

static void list(struct natives *v, const uint8_t *seen, const uint32_t *group)
{
    size_t n = 0;
    for (uint32_t i = 1; n < v->n; i++) {
        const struct trace_method *m = &v->t->methods[i];
        if (seen[i])
            v->places[n++] =
                (struct native_place){.group = group[trace_module(v->t, m->module)->id.v],
                                      .method = i,
                                      .address = m->address};
    }
    natives_sort(v);
}

void natives_sort(struct natives *v)
{
    if (v->n)
        qsort(v->places, v->n, sizeof *v->places, by_place);
}

static bool any_place(const struct trace *t)
{
    for (size_t i = 0; i < t->n_methods; i++)
        if (is_place(&t->methods[i]))
            return true;
    return false;
}

int natives_init(struct natives *v, struct trace *t)
{
    *v = (struct natives){.t = t};
    if (!any_place(t))
        return 0;
    uint8_t *seen = calloc(t->n_methods, 1);
    uint32_t *group = calloc(t->n_modules + 1, sizeof *group);
    v->of_place = calloc(t->n_methods, sizeof *v->of_place);
    v->given = calloc(t->n_methods, 1);
    int rc = seen && group && v->of_place && v->given ? find_groups(t, group) : -ENOMEM;
    if (rc == 0) {
        v->n = mark(v, seen);
        v->places = calloc(v->n + 1, sizeof *v->places);
        rc = v->places ? 0 : -ENOMEM;
    }
    if (rc == 0)
        list(v, seen, group);
    free(seen);
    free(group);
    return rc;
}

void natives_fini(struct natives *v)
{
    free(v->places);
    free(v->of_place);
    free(v->given);
    buf_fini(&v->frames);
    buf_fini(&v->added);
    memset(v, 0, sizeof *v);
}

/* --- what stands for them --------------------------------------------------------------------- */

method_id natives_function(struct natives *v, const struct native_place *p, struct trace_method m)
{
    uint32_t own = p->method;
    if (!v->given[own]) {
        v->given[own] = 1;
        m.id.v = own;
        v->t->methods[own] = m;
        return m.id;
    }
    size_t id = v->t->n_methods + v->added.len / sizeof m;
    if (id >= UINT32_MAX / 2)
        return (method_id){0};
    m.id.v = (uint32_t)id;
    buf_put(&v->added, &m, sizeof m);
    return v->added.oom ? (method_id){0} : m.id;
}

uint32_t natives_frames(const struct natives *v)
{
    return (uint32_t)(v->frames.len / sizeof(struct trace_frame));
}

void natives_put(struct natives *v, method_id method, uint32_t line)
{
    struct trace_frame f = {method, line && line <= INT32_MAX ? (int32_t)line : -1};
    buf_put(&v->frames, &f, sizeof f);
}

void natives_end(struct natives *v, const struct native_place *p, uint32_t first)
{
    v->of_place[p->method] = (struct native_frames){first, natives_frames(v) - first};
}

/* --- the trace -------------------------------------------------------------------------------- */

/* NULL: the frame is not a place. */
static const struct native_frames *frames_of(const struct natives *v, const struct trace_stack *s,
                                             uint32_t i)
{
    uint32_t method = s->frames[i].method.v;
    const struct native_frames *f = method < v->t->n_methods ? &v->of_place[method] : NULL;
    return f && f->n ? f : NULL;
}

/* How many frames a stack will have. */
static size_t count(const struct natives *v, const struct trace_stack *s)
{
    size_t n = 0;
    for (uint32_t i = 0; i < s->n_frames; i++) {
        const struct native_frames *f = frames_of(v, s, i);
        n += f ? f->n : 1;
    }
    return n;
}

static bool has_place(const struct natives *v, const struct trace_stack *s)
{
    for (uint32_t i = 0; i < s->n_frames; i++)
        if (frames_of(v, s, i))
            return true;
    return false;
}

static int rewrite(struct natives *v, struct trace_stack *s)
{
    size_t room = count(v, s), n = 0;
    const struct trace_frame *functions = (const void *)v->frames.p;
    if (room > UINT32_MAX)
        return -ENOMEM;
    struct trace_frame *frames = arena_alloc(&v->t->arena, room * sizeof *frames);
    uint8_t *kinds = arena_alloc(&v->t->arena, room);
    if (!frames || !kinds)
        return -ENOMEM;
    for (uint32_t i = 0; i < s->n_frames; i++) {
        const struct native_frames *f = frames_of(v, s, i);
        const struct trace_frame *from = f ? functions + f->first : &s->frames[i];
        for (uint32_t k = 0; k < (f ? f->n : 1); k++) {
            frames[n] = from[k];
            kinds[n++] = s->kinds ? s->kinds[i] : 0;
        }
    }
    s->frames = frames;
    s->kinds = s->kinds ? kinds : NULL;
    s->n_frames = (uint32_t)n;
    return 0;
}

/* The methods that were added behind the others. */
static int grow(struct natives *v)
{
    struct trace *t = v->t;
    size_t more = v->added.len / sizeof *t->methods;
    if (v->added.oom || v->frames.oom)
        return -ENOMEM;
    if (!more)
        return 0;
    struct trace_method *m = arena_alloc(&t->arena, (t->n_methods + more) * sizeof *m);
    if (!m)
        return -ENOMEM;
    memcpy(m, t->methods, t->n_methods * sizeof *m);
    memcpy(m + t->n_methods, v->added.p, v->added.len);
    t->methods = m;
    t->n_methods += more;
    return 0;
}

int natives_apply(struct natives *v)
{
    struct trace *t = v->t;
    size_t before = t->n_methods;
    for (size_t k = 0; k < t->n_stacks; k++)
        if (has_place(v, &t->stacks[k]) && rewrite(v, &t->stacks[k]) < 0)
            return -ENOMEM;
    for (size_t i = 1; i < before; i++)
        if (is_place(&t->methods[i]) && !v->given[i])
            t->methods[i] = (struct trace_method){.name = "?", .signature = ""};
    return grow(v);
}
