/* report_json.c - `orca report --json`; docs/report-json.md is its description.
 *
 * Objects are made with jansson one at a time and written at once, a line each, so that a million
 * threads do not fill the memory. */
#include "cli/report.h"

#include "analyze/labels.h"
#include "cli/printable.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 4 * FINDING_TEXT };

/* --- values ----------------------------------------------------------------------------------- */

static void set_count(json_t *o, const char *key, uint64_t v)
{
    json_object_set_new(o, key, json_integer((json_int_t)v));
}

/* Names may hold any byte, JSON takes UTF-8 only. */
static void set_text(json_t *o, const char *key, const char *text)
{
    char clean[TEXT_MAX];
    printable_utf8(text, clean, sizeof clean);
    json_object_set_new(o, key, json_string(clean));
}

static void set_bool(json_t *o, const char *key, bool v)
{
    json_object_set_new(o, key, json_boolean(v));
}

/* A moment: ns after the recording began, negative before it. */
static void set_time(json_t *o, const char *key, const struct report *r, uint64_t time)
{
    json_object_set_new(o, key, json_integer((json_int_t)(time - r->trace->header.start_mono)));
}

static void set_thread(json_t *o, const char *key, const char *name_key, const struct report *r,
                       uint32_t thread)
{
    if (!thread) {
        json_object_set_new(o, key, json_null());
        json_object_set_new(o, name_key, json_null());
        return;
    }
    set_count(o, key, r->a->threads.v[thread].id.v);
    set_text(o, name_key, trace_thread(r->trace, r->a->threads.v[thread].id)->name);
}

/* A class's Java name; null when it is not known. */
static void set_class(json_t *o, const struct report *r, uint32_t group)
{
    char name[LABEL_MAX];
    const char *signature = r->a->locks.classes[group].signature;
    if (group == 0) {
        json_object_set_new(o, "class", json_null());
        return;
    }
    trace_class_name(signature, name, sizeof name);
    set_text(o, "class", name);
}

static json_t *ids(const struct id_list *l)
{
    json_t *a = json_array();
    for (uint32_t i = 0; i < l->n; i++)
        json_array_append_new(a, json_integer(l->v[i]));
    return a;
}

/* --- output ----------------------------------------------------------------------------------- */

struct out {
    const struct report *r;
    bool ok, first_key, first_entry;
};

static void put(struct out *o, const char *text)
{
    o->ok = o->ok && fputs(text, stdout) >= 0;
}

static void put_json(struct out *o, json_t *j)
{
    o->ok = o->ok && j && json_dumpf(j, stdout, JSON_ENCODE_ANY) == 0;
    json_decref(j);
}

static void key(struct out *o, const char *name)
{
    o->ok = o->ok && printf("%s\n \"%s\": ", o->first_key ? "" : ",", name) > 0;
    o->first_key = false;
}

static void begin_list(struct out *o, const char *name)
{
    key(o, name);
    put(o, "[");
    o->first_entry = true;
}

static void entry(struct out *o, json_t *j)
{
    put(o, o->first_entry ? "\n  " : ",\n  ");
    o->first_entry = false;
    put_json(o, j);
}

static void end_list(struct out *o)
{
    put(o, o->first_entry ? "]" : "\n ]");
}

/* --- the recording ---------------------------------------------------------------------------- */

static void put_recording(struct out *o)
{
    const struct report *r = o->r;
    const struct trace *t = r->trace;
    const struct analysis *a = r->a;
    json_t *j = json_object();
    set_text(j, "program", trace_info(t, "sun.java.command", ""));
    set_text(j, "jvm_name", trace_info(t, "java.vm.name", ""));
    set_text(j, "jvm_version", trace_info(t, "java.vm.version", ""));
    set_text(j, "host", trace_info(t, "host", ""));
    set_count(j, "pid", t->header.pid);
    set_text(j, "state", report_ending_name(r->ending));
    set_count(j, "start_unix_ns", t->header.start_real);
    set_time(j, "from", r, a->window.from);
    set_time(j, "to", r, a->window.to);
    set_bool(j, "windowed", a->windowed);
    set_count(j, "events", a->decoded.events);
    set_count(j, "evicted_events", t->header.evicted_events);
    set_count(j, "owner_gone", a->decoded.owner_gone);
    set_count(j, "damaged", t->n_damaged);
    set_count(j, "gc_count", a->gc_count);
    set_count(j, "gc_ns", a->gc_ns);
    set_count(j, "gc_max_ns", a->gc_max);
    key(o, "recording");
    put_json(o, j);
}

static void put_losses(struct out *o)
{
    begin_list(o, "losses");
    for (size_t i = 0; i < o->r->a->n_losses; i++) {
        const struct loss *l = &o->r->a->losses[i];
        json_t *j = json_object();
        set_text(j, "cause", loss_causes[l->cause].name);
        set_count(j, "count", l->count);
        set_text(j, "meaning", loss_causes[l->cause].doc);
        entry(o, j);
    }
    end_list(o);
}

static void put_problems(struct out *o)
{
    begin_list(o, "problems");
    for (size_t i = 0; i < o->r->trace->n_problems; i++) {
        const struct trace_problem *p = &o->r->trace->problems[i];
        json_t *j = json_object();
        set_count(j, "offset", p->offset);
        set_bool(j, "damage", p->damage);
        set_text(j, "text", p->text);
        entry(o, j);
    }
    end_list(o);
}

static void put_findings(struct out *o)
{
    begin_list(o, "findings");
    for (size_t i = 0; i < o->r->n_findings; i++) {
        const struct rule_finding *f = &o->r->findings[i];
        json_t *j = json_object();
        set_text(j, "rule", f->rule);
        set_text(j, "severity", severity_name(f->severity));
        set_text(j, "text", f->text);
        set_time(j, "from", o->r, f->from);
        set_time(j, "to", o->r, f->to);
        json_object_set_new(j, "threads", ids(&f->threads));
        json_object_set_new(j, "locks", ids(&f->locks));
        json_object_set_new(j, "stacks", ids(&f->stacks));
        entry(o, j);
    }
    end_list(o);
}

/* --- threads ---------------------------------------------------------------------------------- */

static void set_life(json_t *j, const struct report *r, const struct thread_stats *s)
{
    json_object_set_new(j, "started", json_null());
    json_object_set_new(j, "ended", json_null());
    if (s->has_started)
        set_time(j, "started", r, s->started);
    if (s->has_ended)
        set_time(j, "ended", r, s->ended);
    set_count(j, "life_ns", thread_life(s));
}

static json_t *thread_entry(const struct report *r, uint32_t index)
{
    static const char *const states[STATE_LIMIT][2] = {{"blocked_count", "blocked_ns"},
                                                       {"waited_count", "waited_ns"},
                                                       {"parked_count", "parked_ns"},
                                                       {"joined_count", "joined_ns"},
                                                       {"slept_count", "slept_ns"}};
    const struct thread_stats *s = &r->a->threads.v[index];
    const struct trace_thread *def = trace_thread(r->trace, s->id);
    json_t *j = json_object();
    set_count(j, "id", s->id.v);
    set_text(j, "name", def->name);
    set_text(j, "group", def->group);
    set_count(j, "java_tid", def->java_tid);
    set_bool(j, "daemon", def->flags & THREAD_DAEMON);
    set_bool(j, "virtual", def->flags & THREAD_VIRTUAL);
    set_bool(j, "native", def->flags & THREAD_NATIVE);
    set_life(j, r, s);
    for (int i = 0; i < STATE_LIMIT; i++) {
        set_count(j, states[i][0], s->state[i].count);
        set_count(j, states[i][1], s->state[i].ns);
    }
    set_count(j, "running_ns", thread_running(s));
    set_count(j, "open", s->open);
    set_count(j, "unknown", s->unknown);
    set_count(j, "reacquired", s->reacquired);
    set_count(j, "lost_events", s->lost);
    set_bool(j, "incomplete", s->incomplete);
    return j;
}

/* With --class: what the thread did on its monitors. */
static json_t *class_thread_entry(const struct report *r, const struct blame *w)
{
    json_t *j = json_object();
    set_thread(j, "id", "name", r, w->waiter);
    set_count(j, "blocked_count", w->blocked.count);
    set_count(j, "blocked_ns", w->blocked.ns);
    set_count(j, "blocked_max_ns", w->blocked.max);
    set_count(j, "waited_count", w->waited.count);
    set_count(j, "waited_ns", w->waited.ns);
    set_count(j, "waited_max_ns", w->waited.max);
    return j;
}

static void put_threads(struct out *o)
{
    const struct report *r = o->r;
    begin_list(o, "threads");
    if (r->group == EVERY_CLASS)
        for (size_t i = 0; i < report_rows(r, r->n_threads); i++)
            entry(o, thread_entry(r, r->threads[i]));
    else
        for (size_t i = 0; i < report_rows(r, r->n_waiters); i++)
            entry(o, class_thread_entry(r, &r->waiters[i]));
    end_list(o);
}

static void put_open_waits(struct out *o)
{
    static const char *const states[STATE_LIMIT] = {"blocked", "waiting", "parked", "joining",
                                                    "sleeping"};
    const struct analysis *a = o->r->a;
    const struct open_wait *w = (const void *)a->decoded.open.p;
    begin_list(o, "open_waits");
    for (size_t i = 0; i < a->decoded.open.len / sizeof *w; i++) {
        uint32_t group = lock_set_object(&a->locks, w[i].lock)->group;
        if (o->r->group != EVERY_CLASS && group != o->r->group)
            continue;
        json_t *j = json_object();
        set_thread(j, "thread", "name", o->r, w[i].thread);
        set_text(j, "state", states[w[i].state]);
        set_class(j, o->r, group);
        set_count(j, "lock", w[i].lock.v);
        set_count(j, "stack", w[i].stack.v);
        set_thread(j, "other", "other_name", o->r, w[i].other);
        set_time(j, "since", o->r, w[i].since);
        set_count(j, "ns", a->window.to - w[i].since);
        entry(o, j);
    }
    end_list(o);
}

/* --- locks ------------------------------------------------------------------------------------ */

static void set_wait_stats(json_t *j, const char *what, struct wait_stats *s)
{
    const struct {
        const char *suffix;
        uint64_t v;
    } values[] = {{"count", s->count},
                  {"unknown", s->unknown},
                  {"open", s->open},
                  {"objects", s->objects},
                  {"ns", s->total},
                  {"min_ns", wait_stats_min(s)},
                  {"avg_ns", wait_stats_avg(s)},
                  {"p99_ns", percentile_get(&s->times, 990)},
                  {"max_ns", s->max}};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char name[40];
        snprintf(name, sizeof name, "%s_%s", what, values[i].suffix);
        set_count(j, name, values[i].v);
    }
}

static void put_locks(struct out *o)
{
    const struct report *r = o->r;
    begin_list(o, "locks");
    for (size_t i = 0; i < report_rows(r, r->n_classes); i++) {
        uint32_t group = r->classes[i];
        struct lock_class *c = &r->a->locks.classes[group];
        json_t *j = json_object();
        set_class(j, r, group);
        set_count(j, "objects", c->objects);
        set_count(j, "blocked_threads", r->class_threads[group].blocked);
        set_wait_stats(j, "blocked", &c->blocked);
        set_count(j, "waited_threads", r->class_threads[group].waited);
        set_wait_stats(j, "waited", &c->waited);
        set_count(j, "timed_out", c->timed_out);
        set_count(j, "reacquired", c->reacquired);
        entry(o, j);
    }
    end_list(o);
}

/* --- sites ------------------------------------------------------------------------------------ */

static json_t *place(const struct report *r, struct place p)
{
    const struct trace_method *m = trace_method(r->trace, p.method);
    const struct trace_class *c = trace_class(r->trace, m->class_);
    char name[LABEL_MAX];
    if (!m->id.v)
        return json_null();
    json_t *j = json_object();
    trace_class_name(c->signature, name, sizeof name);
    set_text(j, "class", name);
    set_text(j, "method", m->name);
    set_text(j, "signature", m->signature);
    set_text(j, "file", c->source);
    json_object_set_new(j, "line", p.line >= 0 ? json_integer(p.line) : json_null());
    return j;
}

static void set_site_stats(json_t *j, const char *what, const struct site_stats *s)
{
    char name[40];
    snprintf(name, sizeof name, "%s_count", what);
    set_count(j, name, s->count);
    snprintf(name, sizeof name, "%s_ns", what);
    set_count(j, name, s->ns);
    snprintf(name, sizeof name, "%s_max_ns", what);
    set_count(j, name, s->max);
}

static void put_sites(struct out *o)
{
    begin_list(o, "sites");
    for (size_t i = 0; i < report_rows(o->r, o->r->n_sites); i++) {
        const struct site *s = &o->r->sites[i];
        json_t *j = json_object();
        set_class(j, o->r, s->group);
        json_object_set_new(j, "at", place(o->r, s->app));
        json_object_set_new(j, "innermost", place(o->r, s->top));
        set_count(j, "stack", s->stack.v);
        set_site_stats(j, "blocked", &s->blocked);
        set_site_stats(j, "waited", &s->waited);
        entry(o, j);
    }
    end_list(o);
}

/* --- owners ----------------------------------------------------------------------------------- */

static void put_owners(struct out *o)
{
    const struct report *r = o->r;
    begin_list(o, "owners");
    for (size_t i = 0; i < report_rows(r, r->n_owners); i++) {
        json_t *j = json_object();
        set_class(j, r, r->owners[i].group);
        set_thread(j, "owner", "owner_name", r, r->owners[i].owner);
        set_site_stats(j, "blocked", &r->owners[i].blocked);
        entry(o, j);
    }
    end_list(o);
    begin_list(o, "interactions");
    for (size_t i = 0; i < report_rows(r, r->n_pairs); i++) {
        json_t *j = json_object();
        set_thread(j, "waiter", "waiter_name", r, r->pairs[i].waiter);
        set_thread(j, "owner", "owner_name", r, r->pairs[i].owner);
        set_site_stats(j, "blocked", &r->pairs[i].blocked);
        entry(o, j);
    }
    end_list(o);
}

int report_json(const struct report *r, struct err *err)
{
    struct out o = {.r = r, .ok = true, .first_key = true};
    put(&o, "{");
    key(&o, "schema");
    put(&o, "\"orca-report-1\"");
    key(&o, "file");
    char path[TEXT_MAX];
    printable_utf8(r->path, path, sizeof path);
    put_json(&o, json_string(path));
    put_recording(&o);
    put_losses(&o);
    put_problems(&o);
    if (r->sections & REPORT_FINDINGS)
        put_findings(&o);
    if (r->sections & REPORT_THREADS) {
        put_threads(&o);
        put_open_waits(&o);
    }
    if (r->sections & REPORT_MONITORS)
        put_locks(&o);
    if (r->sections & REPORT_SITES)
        put_sites(&o);
    if (r->sections & REPORT_OWNERS)
        put_owners(&o);
    put(&o, "\n}\n");
    o.ok = o.ok && fflush(stdout) == 0;
    return o.ok ? 0 : err_set(err, -EIO, "cannot write the JSON to stdout");
}
