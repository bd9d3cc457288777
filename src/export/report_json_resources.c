/* report_json_resources.c - the facts of a finding about a resource: docs/reference/json.md. */
#include "analyze/labels.h"
#include "conclude/doings.h"
#include "conclude/resource_names.h"
#include "export/report_json_parts.h"

static void set_name(json_t *j, const struct report *r, const struct resource *of)
{
    char name[LABEL_MAX];
    resource_name(of, r->a, name, sizeof name);
    json_set_text(j, "role", resource_role(of, r->a));
    json_set_text(j, "name", name);
    json_set_class(j, r, of->group);
    json_object_set_new(j, "field", json_null());
    if (resource_field(of, name, sizeof name))
        json_set_text(j, "field", name);
}

/* Those whose holders wait for it. */
static json_t *behind_json(const struct report *r, const struct rule_finding *f)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < f->resource->n_behind; i++) {
        const struct resource *x = &f->resources->v[f->resource->behind[i] - 1];
        json_t *j = json_object();
        set_name(j, r, x);
        json_set_count(j, "threads", x->n_threads);
        json_set_count(j, "count", x->count);
        json_set_count(j, "ns", x->ns);
        json_array_append_new(list, j);
    }
    return list;
}

/* null: not known, or none. */
static void set_known(json_t *j, const char *key, uint64_t n)
{
    json_object_set_new(j, key, n ? json_integer((json_int_t)n) : json_null());
}

static json_t *resource_json(const struct report *r, const struct rule_finding *f)
{
    json_t *j = json_object();
    const struct resource *of = f->resource;
    set_name(j, r, of);
    set_known(j, "at_once", of->at_once);
    json_object_set_new(j, "at_once_share", of->full ? json_real(of->full / 1000.0) : json_null());
    json_set_count(j, "queued_ns", of->queued_ns);
    json_set_count(j, "due_ns", of->timed_ns + of->due_ns);
    set_known(j, "pool_threads", of->n_pool);
    json_set_count(j, "none_free_ns", of->none_free);
    json_set_thread(j, "alone", "alone_name", r, of->alone_ns ? of->alone : 0);
    json_set_count(j, "alone_ns", of->alone_ns);
    json_set_count(j, "alike", of->n_alike);
    json_set_count(j, "alike_count", of->alike_count);
    json_set_count(j, "alike_ns", of->alike_ns);
    json_object_set_new(j, "behind", behind_json(r, f));
    return j;
}

static json_t *waiters_json(const struct report *r, const struct resource *x)
{
    json_t *j = json_object();
    char pool[LABEL_MAX];
    resource_pool_name(r->a, x, pool, sizeof pool);
    json_set_count(j, "threads", x->n_threads);
    json_object_set_new(j, "pool", json_null());
    if (*pool)
        json_set_text(j, "pool", pool);
    json_set_count(j, "count", x->count);
    json_set_count(j, "ns", x->ns);
    json_set_count(j, "max_ns", x->max);
    json_set_count(j, "base_ns", x->base);
    json_set_count(j, "open", x->open);
    json_set_count(j, "timed_out", x->timed_out);
    json_object_set_new(j, "at", json_place(r, x->wait_at));
    json_set_count(j, "at_ns", x->wait_at_ns);
    return j;
}

static json_t *activity_json(const struct report *r, const struct rule_finding *f,
                             const struct activity *a)
{
    json_t *j = json_object();
    json_set_text(j, "does", doings[a->does].name);
    json_set_count(j, "ns", a->ns);
    json_object_set_new(j, "share", json_real((double)a->ns / (double)f->resource->held));
    json_set_text(j, "from", a->samples ? "samples" : "recorded");
    json_set_count(j, "samples", a->samples);
    json_set_count(j, "syncs", a->does == DOES_SYNC ? a->calls : 0);
    json_set_count(j, "sync_ns", a->does == DOES_SYNC ? a->took : 0);
    const struct resource *of = a->other ? &f->resources->v[a->other - 1] : NULL;
    json_set_peer(j, r, of && of->remote ? of->source.peer : activity_peer(a));
    json_object_set_new(j, "at", json_place(r, a->at));
    json_object_set_new(j, "line_from", a->other_line ? json_string("other samples") : json_null());
    json_object_set_new(j, "innermost", json_place(r, a->leaf));
    json_object_set_new(j, "resource", json_null());
    if (a->other) {
        json_t *other = json_object();
        set_name(other, r, &f->resources->v[a->other - 1]);
        json_object_set_new(j, "resource", other);
    }
    return j;
}

static json_t *holders_json(const struct report *r, const struct rule_finding *f)
{
    json_t *list = json_array();
    for (size_t i = 0; i < f->resource->n_doing && f->resource->held; i++)
        json_array_append_new(list, activity_json(r, f, &f->resource->doing[i]));
    return list;
}

void json_set_resource(json_t *j, const struct report *r, const struct rule_finding *f)
{
    static const char *const keys[] = {"resource",    "share",        "waiters", "held_ns",
                                       "handed_ns",   "handed_count", "late_ns", "holder",
                                       "holder_name", "holders"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        json_object_set_new(j, keys[i], json_null());
    if (!f->resource)
        return;
    json_object_set_new(j, "resource", resource_json(r, f));
    json_object_set_new(j, "share", json_real(resource_permille(f->resource) / 1000.0));
    json_object_set_new(j, "waiters", waiters_json(r, f->resource));
    json_set_count(j, "held_ns", f->resource->held);
    json_set_count(j, "handed_ns", f->resource->handed);
    json_set_count(j, "handed_count", f->resource->n_handed);
    json_set_count(j, "late_ns", f->resource->late);
    json_set_thread(j, "holder", "holder_name", r, f->resource->holder);
    json_object_set_new(j, "holders", holders_json(r, f));
}
