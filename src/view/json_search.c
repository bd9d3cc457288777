/* json_search.c - the answer `search`: threads, classes of locks and methods whose names have a
 * text in them, without regard to the case of ASCII letters. */
#include "base/map.h"
#include "base/util.h"
#include "view/json_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { FOUND_MAX = 50, LOCKS_MAX = 5, NAME_MAX_BYTES = 4096 };

/* --- threads ---------------------------------------------------------------------------------- */

static void put_threads(struct json_out *o, const struct ask *a)
{
    const struct analysis *an = a->v->a;
    json_t *list = json_array();
    for (uint32_t i = 1; i < an->threads.n && json_array_size(list) < FOUND_MAX; i++)
        if (strcasestr(trace_thread(an->trace, an->threads.v[i].id)->name, a->q))
            json_array_append_new(list, json_integer(i));
    json_key(o, "threads");
    json_out_value(o, list);
}

/* --- classes ---------------------------------------------------------------------------------- */

struct found_class {
    uint32_t group, objects, n_locks;
    bool called; /* the very text, not only with it in its name, as files and packages are */
    uint64_t held_up_ns;
    uint32_t locks[LOCKS_MAX]; /* those with most time blocked, in no order */
};

static uint64_t held_up(const struct analysis *a, uint32_t lock)
{
    return a->stats.locks[lock].state[HELD_UP].ns;
}

static void add_lock(const struct analysis *a, struct found_class *f, uint32_t lock)
{
    uint32_t least = 0;
    f->objects++;
    if (f->n_locks < LOCKS_MAX) {
        f->locks[f->n_locks++] = lock;
        return;
    }
    for (uint32_t i = 1; i < LOCKS_MAX; i++)
        if (held_up(a, f->locks[i]) < held_up(a, f->locks[least]))
            least = i;
    if (held_up(a, lock) > held_up(a, f->locks[least]))
        f->locks[least] = lock;
}

static json_t *class_entry(const struct json_out *o, const struct found_class *f)
{
    json_t *j = json_object(), *locks = json_array();
    json_set_class(j, o->r, f->group);
    json_set_count(j, "objects", f->objects);
    json_set_count(j, "held_up_ns", f->held_up_ns);
    for (uint32_t i = 0; i < f->n_locks; i++)
        json_array_append_new(locks, json_integer(f->locks[i]));
    json_object_set_new(j, "locks", locks);
    return j;
}

/* Those that are called so come first, then those with most time. */
static int by_name_and_time(const void *a, const void *b)
{
    const struct found_class *x = a, *y = b;
    if (x->called != y->called)
        return y->called - x->called;
    return (x->held_up_ns < y->held_up_ns) - (x->held_up_ns > y->held_up_ns);
}

static void put_classes(struct json_out *o, const struct ask *a)
{
    const struct analysis *an = a->v->a;
    struct found_class found[FOUND_MAX];
    char name[NAME_MAX_BYTES];
    uint32_t n = 0;
    for (int called = 1; called >= 0; called--) /* those are there, however many there are */
        for (uint32_t i = 1; i < an->locks.n_groups && n < FOUND_MAX; i++) {
            trace_class_name(an->locks.groups[i].signature, name, sizeof name);
            if (strcasestr(name, a->q) && (strcasecmp(name, a->q) == 0) == called)
                found[n++] =
                    (struct found_class){.group = i,
                                         .called = called,
                                         .held_up_ns = an->stats.classes[i].state[HELD_UP].ns};
        }
    qsort(found, n, sizeof *found, by_name_and_time);
    for (uint32_t i = 1; i < an->locks.n_objects; i++)
        for (uint32_t k = 0; k < n; k++)
            if (an->locks.group[i] == found[k].group)
                add_lock(an, &found[k], i);
    json_begin_list(o, "classes");
    for (uint32_t i = 0; i < n; i++)
        json_entry(o, class_entry(o, &found[i]));
    json_end_list(o);
}

/* --- methods ---------------------------------------------------------------------------------- */

struct found_method {
    method_id method;
    uint64_t sites, ns;
    uint32_t thread, index; /* a wait there; thread 0: none yet */
};

struct methods {
    const struct ask *a;
    struct found_method v[FOUND_MAX];
    uint32_t n, n_waits;
    uint8_t *of_site; /* [sites.n]: 1 + index; 0: it is of none */
};

static bool matches(const struct ask *a, method_id id)
{
    char name[NAME_MAX_BYTES];
    if (!trace_method(a->v->a->trace, id)->id.v)
        return false;
    trace_method_text(a->v->a->trace, id, name, sizeof name);
    return strcasestr(name, a->q) != NULL;
}

static struct found_method *method(struct methods *m, method_id id)
{
    for (uint32_t i = 0; i < m->n; i++)
        if (m->v[i].method.v == id.v)
            return &m->v[i];
    if (m->n == FOUND_MAX || !matches(m->a, id))
        return NULL;
    m->v[m->n] = (struct found_method){.method = id};
    return &m->v[m->n++];
}

/* A site is its innermost application frame's; where that does not match, its innermost one's. */
static void find_methods(struct methods *m)
{
    const struct analysis *a = m->a->v->a;
    for (uint32_t i = 0; i < a->sites.n; i++) {
        struct found_method *f = method(m, a->sites.v[i].app.method);
        f = f ? f : method(m, a->sites.v[i].top.method);
        if (!f)
            continue;
        f->sites++;
        f->ns += a->stats.sites[i].state[HELD_UP].ns;
        m->of_site[i] = (uint8_t)(f - m->v + 1);
    }
}

/* The first wait at one of their sites, of each. */
static void find_waits(struct methods *m)
{
    const struct analysis *a = m->a->v->a;
    const struct timeline *t = &a->timeline;
    for (uint32_t i = 1; i < t->n_lines; i++)
        for (uint32_t k = 0; k < t->lines[i].spans.n && m->n_waits < m->n; k++) {
            uint32_t site = a->sites.of_context[line_span(&t->lines[i], k)->context];
            uint8_t of = site == NO_SITE ? 0 : m->of_site[site];
            if (!of || m->v[of - 1].thread)
                continue;
            m->v[of - 1].thread = i;
            m->v[of - 1].index = k;
            m->n_waits++;
        }
}

static json_t *method_entry(const struct json_out *o, const struct view *v,
                            const struct found_method *f)
{
    json_t *place = json_place(o->r, (struct place){.method = f->method, .line = -1}),
           *j = json_object();
    json_object_set(j, "class", json_object_get(place, "class"));
    json_object_set(j, "method", json_object_get(place, "method"));
    json_decref(place);
    json_set_count(j, "sites", f->sites);
    json_set_count(j, "held_up_ns", f->ns);
    json_object_set_new(j, "wait",
                        f->thread ? json_wait_name(v, f->thread, f->index) : json_null());
    return j;
}

static int put_methods(struct json_out *o, const struct ask *a)
{
    struct methods m = {.a = a};
    m.of_site = calloc(a->v->a->sites.n + 1, 1);
    if (!m.of_site)
        return -ENOMEM;
    find_methods(&m);
    find_waits(&m);
    json_begin_list(o, "methods");
    for (uint32_t i = 0; i < m.n; i++)
        json_entry(o, method_entry(o, a->v, &m.v[i]));
    json_end_list(o);
    free(m.of_site);
    return 0;
}

int answer_search(struct ask *a, struct json_out *o, struct err *err)
{
    json_out(o, "{");
    put_threads(o, a);
    put_classes(o, a);
    if (put_methods(o, a) < 0)
        return err_set(err, -ENOMEM, "out of memory");
    json_out(o, "\n}\n");
    return 0;
}
