/* Samples as JSON: where the time went, and what owners executed while others waited. */
#include "base/util.h"
#include "export/report_json_parts.h"

static json_t *failed(const struct hot *h)
{
    json_t *j = json_object();
    for (unsigned i = 0; i < SAMPLE_ERRORS; i++)
        if (h->failed[i].count)
            json_set_count(j, sample_errors[i].name, h->failed[i].count);
    return j;
}

/* Own time by how it was executed. */
static json_t *executed(const struct hot_method *m)
{
    json_t *j = json_object();
    for (unsigned i = 0; i < EXECUTED_LIMIT; i++)
        if (m->executed_ns[i])
            json_set_count(j, executed_names[i], m->executed_ns[i]);
    return j;
}

static json_t *method(const struct report *r, const struct hot_method *m)
{
    json_t *j = json_place(r, (struct place){.method = m->method, .line = -1});
    if (json_is_null(j))
        j = json_object();
    json_object_del(j, "line");
    json_set_count(j, "self_count", m->self.count);
    json_set_count(j, "self_ns", m->self.ns);
    json_set_count(j, "total_count", m->total.count);
    json_set_count(j, "total_ns", m->total.ns);
    json_object_set_new(j, "executed_ns", executed(m));
    return j;
}

static json_t *methods(const struct report *r, const struct hot_method *v, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < report_rows(r, n); i++)
        json_array_append_new(list, method(r, &v[i]));
    return list;
}

static json_t *threads(const struct report *r, const struct hot *h)
{
    json_t *list = json_array();
    for (size_t i = 0; i < report_rows(r, h->n_threads); i++) {
        json_t *j = json_object();
        json_set_thread(j, "thread", "name", r, h->threads[i].thread);
        json_set_count(j, "count", h->threads[i].sum.count);
        json_set_count(j, "ns", h->threads[i].sum.ns);
        json_set_count(j, "failed", h->threads[i].failed);
        json_array_append_new(list, j);
    }
    return list;
}

static json_t *owners(const struct report *r, const struct hot_owner *v, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < report_rows(r, n); i++) {
        json_t *j = json_object();
        json_set_class(j, r, v[i].group);
        if (v[i].lock.v)
            json_set_count(j, "lock", v[i].lock.v);
        else
            json_set_count(j, "locks", v[i].locks);
        json_set_count(j, "wanted_ns", v[i].waited);
        json_set_count(j, "owner_known_ns", v[i].known);
        json_set_count(j, "count", v[i].sum.count);
        json_set_count(j, "ns", v[i].sum.ns);
        json_object_set_new(j, "methods", methods(r, v[i].methods, v[i].n_methods));
        json_array_append_new(list, j);
    }
    return list;
}

static json_t *samples(const struct report *r, const struct hot *h)
{
    if (!h->sum.count)
        return json_null();
    json_t *j = json_object();
    json_set_count(j, "count", h->sum.count);
    json_set_count(j, "ns", h->sum.ns);
    json_set_count(j, "near_count", h->near);
    json_set_count(j, "idle_count", h->idle.count);
    json_set_count(j, "idle_ns", h->idle.ns);
    json_set_count(j, "failed_count", hot_failed(h).count);
    json_set_count(j, "failed_ns", hot_failed(h).ns);
    json_object_set_new(j, "failed", failed(h));
    json_object_set_new(j, "methods", methods(r, h->methods, h->n_methods));
    json_object_set_new(j, "threads", threads(r, h));
    json_object_set_new(j, "owners", owners(r, h->classes, h->n_classes));
    json_object_set_new(j, "owner_locks", owners(r, h->locks, h->n_locks));
    return j;
}

void json_put_samples(struct json_out *o)
{
    json_t *j = json_object();
    for (unsigned kind = 0; kind < SAMPLE_LISTS; kind++)
        json_object_set_new(j, sample_kind_names[kind], samples(o->r, &o->r->hot[kind]));
    json_key(o, "samples");
    json_out_value(o, j);
}
