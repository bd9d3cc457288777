/* Collections and safepoints as JSON. */
#include "base/util.h"
#include "export/report_json_parts.h"

#include <string.h>

/* null where it is not known */
static void set_word(json_t *j, const char *key, const char *word)
{
    if (strcmp(word, "?") == 0)
        json_object_set_new(j, key, json_null());
    else
        json_set_text(j, key, word);
}

static void set_bytes(json_t *j, const char *key, uint64_t bytes)
{
    if (bytes)
        json_set_count(j, key, bytes);
    else
        json_object_set_new(j, key, json_null());
}

static void set_pauses(json_t *j, uint64_t count, uint64_t ns, uint64_t max)
{
    json_set_count(j, "pauses", count);
    json_set_count(j, "pause_ns", ns);
    json_set_count(j, "pause_max_ns", max);
}

static json_t *sum(const struct collection_sum *s)
{
    json_t *j = json_object();
    json_set_text(j, "kind", collection_kind_names[s->kind]);
    set_word(j, "collector", s->collector);
    set_word(j, "cause", s->cause);
    json_set_count(j, "count", s->count);
    json_set_count(j, "cycle_ns", s->ns);
    set_pauses(j, s->pauses, s->pause_ns, s->pause_max);
    json_object_set_new(j, "freed_bytes",
                        s->sized ? json_integer((json_int_t)s->freed) : json_null());
    return j;
}

static json_t *collection(const struct report *r, const struct collection *c)
{
    json_t *j = json_object();
    json_set_text(j, "kind", collection_kind_names[c->kind]);
    set_word(j, "collector", trace_gc_name(r->trace, c->gc.collector)->text);
    set_word(j, "cause", trace_gc_name(r->trace, c->gc.cause)->text);
    json_set_time(j, "from", r, c->start);
    json_set_time(j, "to", r, c->end);
    set_pauses(j, c->pauses, c->pause_ns, c->pause_max);
    set_bytes(j, "used_before", c->gc.before);
    set_bytes(j, "used", c->gc.used);
    set_bytes(j, "committed", c->gc.committed);
    return j;
}

static json_t *safepoint_sum(const struct safepoint_sum *s)
{
    json_t *j = json_object();
    set_word(j, "operation", s->operation);
    json_object_set_new(j, "collection", json_boolean(s->collects));
    json_set_count(j, "count", s->count);
    json_set_count(j, "stopped_ns", s->ns);
    json_set_count(j, "stopped_max_ns", s->ns_max);
    json_set_count(j, "reaching_ns", s->reach);
    json_set_count(j, "reaching_max_ns", s->reach_max);
    return j;
}

static json_t *safepoint(const struct report *r, const struct safepoint *s)
{
    json_t *j = json_object();
    set_word(j, "operation", trace_gc_name(r->trace, s->operation)->text);
    json_object_set_new(j, "collection", json_boolean(s->collects));
    json_set_time(j, "from", r, s->from);
    json_set_time(j, "reached", r, s->reached);
    json_set_time(j, "to", r, s->to);
    return j;
}

static void put_safepoints(struct json_out *o)
{
    const struct safepoints *all = &o->r->a->safepoints;
    json_begin_list(o, "safepoint_operations");
    for (size_t i = 0; i < report_rows(o->r, all->n_sums); i++)
        json_entry(o, safepoint_sum(&all->sum[i]));
    json_end_list(o);
    json_begin_list(o, "safepoints");
    for (size_t i = 0; i < report_rows(o->r, all->n); i++)
        json_entry(o, safepoint(o->r, &all->v[i]));
    json_end_list(o);
}

void json_put_collections(struct json_out *o)
{
    const struct collections *c = &o->r->a->collections;
    json_t *j = json_object();
    set_bytes(j, "allocated_bytes", c->allocated);
    json_set_count(j, "allocated_in_ns", c->allocated_ns);
    set_bytes(j, "allocated_bytes_per_s", collections_rate(c));
    json_key(o, "allocation_rate");
    json_out_value(o, j);
    json_begin_list(o, "collection_causes");
    for (size_t i = 0; i < report_rows(o->r, c->n_sums); i++)
        json_entry(o, sum(&c->sum[i]));
    json_end_list(o);
    json_begin_list(o, "collections");
    for (size_t i = 0; i < report_rows(o->r, c->n); i++)
        json_entry(o, collection(o->r, &c->v[i]));
    json_end_list(o);
    put_safepoints(o);
}
