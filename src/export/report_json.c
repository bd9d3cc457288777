#include "export/report_json.h"

#include "analyze/labels.h"
#include "base/printable.h"
#include "base/util.h"
#include "export/report_json_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *ids(const struct id_list *l)
{
    json_t *a = json_array();
    for (uint32_t i = 0; i < l->n; i++)
        json_array_append_new(a, json_integer(l->v[i]));
    return a;
}

/* --- the recording ---------------------------------------------------------------------------- */

/* Of a recording of several files only. */
static void set_part(json_t *j, const struct trace *t)
{
    const char *number = trace_info(t, "orca.part", "");
    if (!*number)
        return;
    json_set_count(j, "part", strtoull(number, NULL, 10));
    json_set_text(j, "previous", trace_info(t, "orca.previous", ""));
    json_set_text(j, "next", trace_info(t, "orca.next", ""));
}

/* Only where the disk was full. */
static void set_unwritten(json_t *j, const struct report *r)
{
    const struct buf *all = &r->a->decoded.unwritten;
    const struct unwritten *u = (const void *)all->p;
    json_t *list = all->len ? json_array() : NULL;
    for (size_t i = 0; i < all->len / sizeof *u; i++) {
        json_t *one = json_object();
        json_set_time(one, "from", r, u[i].from);
        json_set_time(one, "to", r, u[i].to);
        json_set_count(one, "lost", u[i].lost);
        json_array_append_new(list, one);
    }
    if (list)
        json_object_set_new(j, "unwritten", list);
}

/* Only where short waits were summed. */
static void set_summed(json_t *j, const struct report *r)
{
    const struct summed *s = &r->a->decoded.summed;
    const struct summing *v = (const void *)s->stretches.p;
    size_t n = s->stretches.len / sizeof *v;
    if (!s->waits && !n)
        return;
    json_t *one = json_object(), *list = json_array();
    for (size_t i = 0; i < n; i++) {
        json_t *stretch = json_object();
        json_set_time(stretch, "from", r, v[i].from);
        json_set_time(stretch, "to", r, v[i].to);
        json_object_set_new(stretch, "timed", json_boolean(v[i].timed));
        json_array_append_new(list, stretch);
    }
    json_set_count(one, "waits", s->waits);
    json_set_count(one, "ns", s->ns);
    json_object_set_new(one, "stretches", list);
    json_object_set_new(j, "summed", one);
}

/* What the JVM did not let Orca have, a line each. */
static void put_lacks(json_t *j, const char *at)
{
    json_t *list = json_array();
    char line[512], clean[JSON_TEXT];
    for (; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        printable_utf8(line, clean, sizeof clean);
        json_array_append_new(list, json_string(clean));
    }
    json_object_set_new(j, "lacks", list);
}

void json_put_recording(struct json_out *o)
{
    const struct report *r = o->r;
    const struct trace *t = r->trace;
    const struct analysis *a = r->a;
    json_t *j = json_object();
    json_set_text(j, "program", trace_info(t, "sun.java.command", ""));
    json_set_text(j, "jvm_name", trace_info(t, "java.vm.name", ""));
    json_set_text(j, "jvm_version", trace_info(t, "java.vm.version", ""));
    json_set_text(j, "host", trace_info(t, "host", ""));
    put_lacks(j, trace_info(t, "orca.lacks", ""));
    json_set_count(j, "pid", t->header.pid);
    json_set_text(j, "state", report_ending_name(r->ending));
    json_set_count(j, "start_unix_ns", t->header.start_real);
    json_set_time(j, "from", r, a->window.from);
    json_set_time(j, "to", r, a->window.to);
    json_set_bool(j, "windowed", a->windowed);
    json_object_set_new(j, "stopped_by",
                        a->stop.thread ? json_string(a->stop.signal) : json_null());
    json_set_count(j, "events", a->decoded.events);
    json_set_count(j, "evicted_events", t->header.evicted_events);
    json_set_count(j, "owner_gone", a->decoded.owner_gone);
    json_set_count(j, "damaged", t->n_damaged);
    json_set_count(j, "gc_count", a->gc_count);
    json_set_count(j, "gc_ns", a->gc_ns);
    json_set_count(j, "gc_max_ns", a->gc_max);
    set_part(j, t);
    set_unwritten(j, r);
    set_summed(j, r);
    json_key(o, "recording");
    json_out_value(o, j);
}

void json_put_losses(struct json_out *o)
{
    json_begin_list(o, "losses");
    for (size_t i = 0; i < o->r->a->n_losses; i++) {
        const struct loss *l = &o->r->a->losses[i];
        json_t *j = json_object();
        json_set_text(j, "cause", loss_causes[l->cause].name);
        json_set_count(j, "count", l->count);
        json_set_text(j, "meaning", loss_causes[l->cause].doc);
        json_entry(o, j);
    }
    json_end_list(o);
}

void json_put_problems(struct json_out *o)
{
    json_begin_list(o, "problems");
    for (size_t i = 0; i < o->r->trace->n_problems; i++) {
        const struct trace_problem *p = &o->r->trace->problems[i];
        json_t *j = json_object();
        json_set_count(j, "offset", p->offset);
        json_set_bool(j, "damage", p->damage);
        json_set_text(j, "text", p->text);
        json_entry(o, j);
    }
    json_end_list(o);
}

/* Label null: the line goes on with the one before. */
static json_t *card(const struct rule_finding *f)
{
    char text[FINDING_TEXT];
    json_t *j = json_object(), *lines = json_array();
    finding_line(f, 0, text);
    json_set_text(j, "title", text);
    finding_share(f, text, sizeof text);
    json_set_text(j, "share", text);
    for (uint32_t i = 1; i < f->n_lines; i++) {
        json_t *l = json_object();
        json_object_set_new(l, "label", json_null());
        if (f->lines[i].label != CARD_MORE)
            json_set_text(l, "label", card_labels[f->lines[i].label]);
        finding_line(f, i, text);
        json_set_text(l, "text", text);
        json_array_append_new(lines, l);
    }
    json_object_set_new(j, "lines", lines);
    return j;
}

void json_put_findings(struct json_out *o)
{
    json_begin_list(o, "findings");
    for (size_t i = 0; i < o->r->n_findings; i++) {
        const struct rule_finding *f = &o->r->findings[i];
        json_t *j = json_object();
        json_set_text(j, "rule", f->rule);
        json_set_text(j, "severity", severity_name(f->severity));
        json_set_text(j, "text", f->text);
        json_object_set_new(j, "card", card(f));
        json_set_count(j, "impact_ns", f->impact < UINT64_MAX - 1 ? f->impact : 0);
        json_set_time(j, "from", o->r, f->from);
        json_set_time(j, "to", o->r, f->to);
        json_object_set_new(j, "threads", ids(&f->threads));
        json_object_set_new(j, "locks", ids(&f->locks));
        json_object_set_new(j, "stacks", ids(&f->stacks));
        json_set_resource(j, o->r, f);
        json_entry(o, j);
    }
    json_end_list(o);
}

/* --- threads ---------------------------------------------------------------------------------- */

static void put_open_waits(struct json_out *o)
{
    const struct analysis *a = o->r->a;
    const struct open_wait *w = (const void *)a->decoded.open.p;
    json_begin_list(o, "open_waits");
    for (size_t i = 0; i < a->decoded.open.len / sizeof *w; i++) {
        uint32_t group = lock_set_group(&a->locks, w[i].lock);
        if (o->r->group != EVERY_CLASS && group != o->r->group)
            continue;
        json_t *j = json_object();
        json_set_thread(j, "thread", "name", o->r, w[i].thread);
        json_set_text(j, "state", wait_state_name(w[i].state));
        json_set_class(j, o->r, group);
        json_set_count(j, "lock", w[i].lock.v);
        json_set_count(j, "stack", w[i].stack.v);
        json_set_thread(j, "other", "other_name", o->r, w[i].other);
        json_set_time(j, "since", o->r, w[i].since);
        json_set_count(j, "ns", a->window.to - w[i].since);
        json_entry(o, j);
    }
    json_end_list(o);
}

/* --- locks ------------------------------------------------------------------------------------ */

/* [[from_ns, count], ...]: how many lie from there to twice as much; only those that have any. */
static void set_histogram(json_t *j, const char *what, const struct wait_stats *s)
{
    uint64_t counts[64];
    char name[40];
    json_t *list = json_array();
    percentile_log2(&s->times, counts);
    for (unsigned i = 0; i < 64; i++)
        if (counts[i]) {
            json_t *pair = json_array();
            json_array_append_new(pair, json_integer(i ? (json_int_t)(UINT64_C(1) << i) : 0));
            json_array_append_new(pair, json_integer((json_int_t)counts[i]));
            json_array_append_new(list, pair);
        }
    snprintf(name, sizeof name, "%s_log2", what);
    json_object_set_new(j, name, list);
}

void json_set_wait_stats(json_t *j, const char *what, struct wait_stats *s)
{
    const struct {
        const char *suffix;
        uint64_t v;
    } values[] = {{"count", s->count},
                  {"unknown", s->unknown},
                  {"open", s->open},
                  {"objects", s->objects},
                  {"threads", s->threads},
                  {"ns", s->ns},
                  {"min_ns", wait_stats_min(s)},
                  {"avg_ns", wait_stats_avg(s)},
                  {"p50_ns", percentile_get(&s->times, 500)},
                  {"p90_ns", percentile_get(&s->times, 900)},
                  {"p99_ns", percentile_get(&s->times, 990)},
                  {"max_ns", s->max}};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char name[40];
        snprintf(name, sizeof name, "%s_%s", what, values[i].suffix);
        json_set_count(j, name, values[i].v);
    }
    if (s->summed) {
        char name[40];
        snprintf(name, sizeof name, "%s_summed", what);
        json_set_count(j, name, s->summed);
    }
    set_histogram(j, what, s);
}

static void put_locks(struct json_out *o)
{
    const struct report *r = o->r;
    json_begin_list(o, "locks");
    for (size_t i = 0; i < report_rows(r, r->n_classes); i++) {
        uint32_t group = r->classes[i];
        struct class_stats *c = &r->a->stats.classes[group];
        json_t *j = json_object();
        json_set_class(j, r, group);
        json_set_count(j, "objects", c->objects);
        json_set_wait_stats(j, "held_up", &c->state[HELD_UP]);
        json_set_wait_stats(j, "blocked", &c->state[STATE_BLOCKED]);
        json_set_wait_stats(j, "waited", &c->state[STATE_WAITING]);
        json_set_wait_stats(j, "parked", &c->state[STATE_PARKED]);
        json_set_wait_stats(j, "reacquiring", &c->state[STATE_REACQUIRING]);
        json_set_count(j, "timed_out", c->timed_out);
        json_set_count(j, "reacquired", c->reacquired);
        json_entry(o, j);
    }
    json_end_list(o);
}

/* --- sites ------------------------------------------------------------------------------------ */

static void set_site_stats(json_t *j, const char *what, const struct blame_sum *s)
{
    char name[40];
    snprintf(name, sizeof name, "%s_count", what);
    json_set_count(j, name, s->count);
    snprintf(name, sizeof name, "%s_ns", what);
    json_set_count(j, name, s->ns);
    snprintf(name, sizeof name, "%s_max_ns", what);
    json_set_count(j, name, s->max);
}

static json_t *site(const struct report *r, uint32_t index)
{
    const struct site *s = &r->a->sites.v[index];
    json_t *j = json_object();
    json_set_class(j, r, s->group);
    json_object_set_new(j, "at", json_place(r, s->app));
    json_object_set_new(j, "innermost", json_place(r, s->top));
    json_set_count(j, "stack", s->stack.v);
    return j;
}

static void put_sites(struct json_out *o)
{
    json_begin_list(o, "sites");
    for (size_t i = 0; i < report_rows(o->r, o->r->n_sites); i++) {
        struct site_sums *s = &o->r->a->stats.sites[o->r->sites[i]];
        json_t *j = site(o->r, o->r->sites[i]);
        json_set_wait_stats(j, "held_up", &s->state[HELD_UP]);
        json_set_wait_stats(j, "blocked", &s->state[STATE_BLOCKED]);
        json_set_wait_stats(j, "waited", &s->state[STATE_WAITING]);
        json_set_wait_stats(j, "parked", &s->state[STATE_PARKED]);
        json_set_wait_stats(j, "joined", &s->state[STATE_JOINING]);
        json_set_wait_stats(j, "slept", &s->state[STATE_SLEEPING]);
        json_set_wait_stats(j, "reacquiring", &s->state[STATE_REACQUIRING]);
        json_entry(o, j);
    }
    json_end_list(o);
}

static void put_owner_sites(struct json_out *o)
{
    json_begin_list(o, "owner_sites");
    for (size_t i = 0; i < report_rows(o->r, o->r->n_owner_sites); i++) {
        const struct analysis *a = o->r->a;
        json_t *j = site(o->r, o->r->owner_sites[i]);
        json_set_count(j, "share_permille",
                       stats_owner_permille(&a->stats, &a->sites, o->r->owner_sites[i]));
        json_set_wait_stats(j, "blocked", &o->r->a->stats.owner_sites[o->r->owner_sites[i]]);
        json_entry(o, j);
    }
    json_end_list(o);
}

/* --- owners ----------------------------------------------------------------------------------- */

static void put_owners(struct json_out *o)
{
    const struct report *r = o->r;
    json_begin_list(o, "owners");
    for (size_t i = 0; i < report_rows(r, r->n_owners); i++) {
        json_t *j = json_object();
        json_set_class(j, r, r->owners[i].group);
        json_set_thread(j, "owner", "owner_name", r, r->owners[i].owner);
        json_object_set_new(j, "share_permille",
                            r->owners[i].owner ? json_integer(r->owners[i].permille) : json_null());
        set_site_stats(j, "held_up", &r->owners[i].held_up);
        set_site_stats(j, "blocked", &r->owners[i].blocked);
        set_site_stats(j, "reacquiring", &r->owners[i].reacquired);
        json_entry(o, j);
    }
    json_end_list(o);
    put_owner_sites(o);
    json_begin_list(o, "pairs");
    for (size_t i = 0; i < report_rows(r, r->n_pairs); i++) {
        json_t *j = json_object();
        json_set_thread(j, "waiter", "waiter_name", r, r->pairs[i].waiter);
        json_set_thread(j, "owner", "owner_name", r, r->pairs[i].owner);
        set_site_stats(j, "held_up", &r->pairs[i].held_up);
        set_site_stats(j, "blocked", &r->pairs[i].blocked);
        set_site_stats(j, "reacquiring", &r->pairs[i].reacquired);
        json_entry(o, j);
    }
    json_end_list(o);
}

static void put_tables_of_threads(struct json_out *o)
{
    json_put_threads(o);
    put_open_waits(o);
}

static const struct {
    enum report_section section;
    void (*put)(struct json_out *o);
} sections[] = {
    {REPORT_FINDINGS, json_put_findings},
    {REPORT_THREADS, put_tables_of_threads},
    {REPORT_MONITORS, put_locks},
    {REPORT_SITES, put_sites},
    {REPORT_OWNERS, put_owners},
    {REPORT_INTERACTIONS, json_put_interactions},
    {REPORT_PATH, json_put_path},
    {REPORT_DEADLOCKS, json_put_deadlocks},
    {REPORT_ORDERS, json_put_orders},
    {REPORT_QUEUES, json_put_queues},
    {REPORT_POOLS, json_put_pools},
    {REPORT_BOTTLES, json_put_bottles},
    {REPORT_HOT, json_put_samples},
    {REPORT_GC, json_put_collections},
    {REPORT_ALLOC, json_put_allocations},
    {REPORT_CALLS, json_put_calls},
    {REPORT_IO, json_put_io},
};

static void put_file(struct json_out *o)
{
    char path[JSON_TEXT];
    printable_utf8(o->r->path, path, sizeof path);
    json_key(o, "file");
    json_out_value(o, json_string(path));
}

static int put_all(struct json_out *o)
{
    json_out(o, "{");
    json_key(o, "schema");
    json_out(o, "\"orca-report-1\"");
    put_file(o);
    json_put_recording(o);
    json_put_losses(o);
    json_put_problems(o);
    for (size_t i = 0; i < ARRAY_LEN(sections); i++)
        if (o->r->sections & sections[i].section)
            sections[i].put(o);
    json_out(o, "\n}\n");
    return json_finish(o);
}

int report_json(const struct report *r, FILE *file)
{
    struct buf b = {0};
    struct json_out o = {.r = r, .to = &b, .file = file, .ok = true, .first_key = true};
    int rc = put_all(&o);
    buf_fini(&b);
    return rc;
}

int report_json_buf(const struct report *r, struct buf *out, struct err *err)
{
    struct json_out o = {.r = r, .to = out, .ok = true, .first_key = true};
    return put_all(&o) == 0 ? 0 : err_set(err, -ENOMEM, "out of memory");
}
