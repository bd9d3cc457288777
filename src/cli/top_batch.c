#include "cli/top_batch.h"

#include "analyze/labels.h"
#include "base/printable.h"
#include "base/util.h"
#include "cli/screen.h"
#include "export/report_json.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static int flushed(struct err *err)
{
    return fflush(stdout) == 0 && !ferror(stdout) ? 0
                                                  : err_set(err, -EIO, "cannot write to stdout");
}

int top_batch_text(const struct top_view *v, struct err *err)
{
    top_print(v, TOP_PICTURE, 0, stdout, screen_width(), 0, false);
    printf("\n");
    return flushed(err);
}

static void set_number(json_t *o, const char *key, uint64_t n)
{
    json_object_set_new(o, key, json_integer((json_int_t)n));
}

/* What each thread is in now, where a report has no place for it. */
static json_t *now_json(const struct top_source *s)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->n_now; i++) {
        const struct thread_now *x = &s->now[i];
        uint64_t now = s->report.a->window.to;
        char raw[LABEL_MAX], name[4 * LABEL_MAX];
        json_t *o = json_object();
        label_thread(&s->report.a->threads, s->report.trace, x->thread, raw, sizeof raw);
        printable_utf8(raw, name, sizeof name);
        json_object_set_new(o, "name", json_string(name));
        set_number(o, "id", s->report.a->threads.v[x->thread].id.v);
        json_object_set_new(o, "state", json_string(now_names[x->now]));
        if (x->since)
            set_number(o, "since_ns", now - min_u64(x->since, now));
        set_number(o, "life_ns", x->life);
        for (unsigned t = 0; t < THREAD_TIMES; t++) {
            char key[32];
            snprintf(key, sizeof key, "%s_ns", t == TIME_CARRIER ? "no_carrier" : now_names[t]);
            set_number(o, key, x->ns[t]);
        }
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *picture_json(const struct top_view *v)
{
    static const char *const states[] = {"recording", "unwritten", "silent", "ended", "gone"};
    const struct top_source *s = v->source;
    char name[sizeof s->jvm.name];
    json_t *o = json_object();
    printable_utf8(s->jvm.name, name, sizeof name);
    json_object_set_new(o, "schema", json_string("orca-top-2"));
    set_number(o, "pid", (uint64_t)s->jvm.pid);
    json_object_set_new(o, "program", json_string(name));
    json_object_set_new(o, "state", json_string(states[s->state]));
    set_number(o, "span_ns", top_source_span(s));
    set_number(o, "lost", s->lost);
    json_object_set_new(o, "events_per_second", json_real(s->rate));
    json_object_set_new(o, "cpu", json_real(s->cpu));
    json_object_set_new(o, "recording_cpu", json_real(s->recording));
    json_object_set_new(o, "writing_cpu", json_real(s->writing));
    json_object_set_new(o, "now", now_json(s));
    return o;
}

int top_batch_json(const struct top_view *v, struct err *err)
{
    struct report r = v->source->report;
    struct buf text = {0};
    r.sections = REPORT_FINDINGS | REPORT_THREADS | REPORT_QUEUES | REPORT_DEADLOCKS;
    r.top = v->rows;
    int rc = report_json_buf(&r, &text, err);
    json_t *o = rc == 0 ? picture_json(v) : NULL;
    json_t *report = rc == 0 ? json_loads(buf_str(&text), 0, NULL) : NULL;
    buf_fini(&text);
    if (rc == 0 && (!report || json_object_set_new(o, "report", report) < 0))
        rc = err_set(err, -ENOMEM, "out of memory");
    if (rc == 0) {
        json_dumpf(o, stdout, JSON_COMPACT | JSON_REAL_PRECISION(6));
        printf("\n");
    }
    json_decref(o);
    return rc < 0 ? rc : flushed(err);
}
