/* Allocations as JSON: what was allocated, freed and found live, by class, place and thread. */
#include "analyze/labels.h"
#include "base/util.h"
#include "export/report_json_parts.h"

static json_t *amount(const struct alloc_amount *x, enum alloc_source source)
{
    json_t *j = json_object();
    json_set_count(j, "bytes", x->bytes);
    json_set_count(j, "objects", alloc_objects(x));
    if (source == ALLOC_SAMPLED) {
        json_set_count(j, "samples", x->records);
        json_set_count(j, "error_permille", alloc_error(x));
    }
    return j;
}

/* Objects by powers of two of the value, as far as there are any. */
static json_t *log2_counts(const struct alloc_spread *s)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < s->log2_from; i++)
        json_array_append_new(list, json_integer(0));
    for (unsigned i = 0; i < s->log2_n; i++)
        json_array_append_new(list, json_integer((json_int_t)((s->log2[i] + 500) / 1000)));
    return list;
}

static json_t *spread(const struct alloc_spread *s)
{
    if (!s->thousandths)
        return json_null();
    json_t *j = json_object();
    json_set_count(j, "p50", s->p50);
    json_set_count(j, "p90", s->p90);
    json_set_count(j, "p99", s->p99);
    json_set_count(j, "max", s->max);
    json_object_set_new(j, "log2", log2_counts(s));
    return j;
}

/* What every row has. */
static void set_amounts(json_t *j, const struct alloc_tables *x, const struct alloc_row *r)
{
    static const char *const names[ALLOC_WHATS] = {
        "allocated",        "freed",         "freed_earlier", "not_freed",
        "not_freed_before", "not_freed_old", "live"};
    for (unsigned i = 0; i < ALLOC_WHATS; i++)
        if (i == ALLOC_LIVE && !x->whole)
            json_object_set_new(j, names[i], json_null());
        else if (i == ALLOC_ALLOCATED || x->has_ends)
            json_object_set_new(j, names[i],
                                amount(&r->of[i], i == ALLOC_ALLOCATED ? x->source : x->ends));
    if (!x->has_ends)
        return;
    json_object_set_new(j, "grown_bytes", json_integer(alloc_grown(r->of)));
    json_object_set_new(j, "ages", spread(&r->ages));
    json_object_set_new(j, "lifetimes_ns", spread(&r->lives));
    json_t *survivors = json_array();
    for (size_t i = 0; r->survivors && i < x->points.n; i++)
        json_array_append_new(survivors, json_integer((json_int_t)r->survivors[i]));
    json_object_set_new(j, "survivors_bytes", survivors);
}

static void set_row(json_t *j, const struct report *r, enum alloc_table table,
                    const struct alloc_row *row)
{
    char name[LABEL_MAX];
    if (table == ALLOC_BY_THREAD) {
        json_set_thread(j, "thread", "name", r, row->thread);
        return;
    }
    trace_class_name(trace_class(r->trace, row->class_)->signature, name, sizeof name);
    if (row->class_.v)
        json_set_text(j, "class", name);
    else
        json_object_set_new(j, "class", json_null());
    if (table != ALLOC_BY_PLACE)
        return;
    json_object_set_new(j, "at", json_place(r, row->app));
    json_object_set_new(j, "innermost", json_place(r, row->top));
    json_set_count(j, "stack", row->stack.v);
}

static json_t *rows(const struct report *r, enum alloc_table table)
{
    const struct alloc_list *l = &r->allocs.of[table];
    json_t *list = json_array();
    for (size_t i = 0; i < report_rows(r, l->n); i++) {
        json_t *j = json_object();
        set_row(j, r, table, &l->v[i]);
        set_amounts(j, &r->allocs, &l->v[i]);
        json_array_append_new(list, j);
    }
    return list;
}

static json_t *points(const struct report *r)
{
    const struct alloc_points *p = &r->allocs.points;
    json_t *list = json_array();
    for (size_t i = 0; i < p->n; i++) {
        json_t *j = json_object();
        json_set_count(j, "pause", p->pause[i]);
        json_set_time(j, "ended", r, p->end[i]);
        json_array_append_new(list, j);
    }
    return list;
}

void json_put_allocations(struct json_out *o)
{
    static const char *const sources[ALLOC_SOURCES] = {"exact", "sampled"};
    const struct report *r = o->r;
    const struct alloc_tables *x = &r->allocs;
    json_t *j = json_object();
    json_key(o, "allocations");
    if (!allocs_any(&r->a->allocs)) {
        json_decref(j);
        json_out_value(o, json_null());
        return;
    }
    json_set_text(j, "source", sources[x->source]);
    json_object_set_new(j, "ends_source",
                        x->has_ends ? json_string(sources[x->ends]) : json_null());
    set_amounts(j, x, &x->all);
    if (x->whole)
        json_set_time(j, "found_live_before", r, x->whole);
    else
        json_object_set_new(j, "found_live_before", json_null());
    json_set_count(j, "unmatched", x->unmatched);
    json_set_count(j, "pauses", x->pauses);
    json_object_set_new(j, "points", points(r));
    json_object_set_new(j, "classes", rows(r, ALLOC_BY_CLASS));
    json_object_set_new(j, "places", rows(r, ALLOC_BY_PLACE));
    json_object_set_new(j, "threads", rows(r, ALLOC_BY_THREAD));
    json_out_value(o, j);
}
