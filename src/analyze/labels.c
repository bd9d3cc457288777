#include "analyze/labels.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/util.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The number that distinguishes a thread from others of its name; files of other formats may have
 * only its id. */
static uint64_t number_of(const struct trace_thread *t, uint32_t otherwise)
{
    return t->java_tid ? t->java_tid : t->os_tid ? t->os_tid : otherwise;
}

const char *label_end(const struct trace *t)
{
    if (t->header.state == TRACE_RECORDING)
        return "at the end of what is recorded so far";
    return *trace_info(t, "orca.next", "") ? "when the file ended" : "when the recording ended";
}

void label_thread(const struct thread_set *ts, const struct trace *t, uint32_t thread, char *out,
                  size_t n)
{
    const struct thread_stats *s = &ts->v[thread];
    const struct trace_thread *def = trace_thread(t, s->id);
    if (thread == 0)
        snprintf(out, n, "unknown");
    else if (!s->defined)
        snprintf(out, n, "unnamed thread %" PRIu32, s->id.v);
    else if (!*def->name)
        snprintf(out, n, "#%" PRIu64, number_of(def, s->number));
    else if (s->shares_name)
        snprintf(out, n, "%s#%" PRIu64, def->name, number_of(def, s->id.v));
    else
        snprintf(out, n, "%s", def->name);
}

void label_class(const char *signature, char *out, size_t n)
{
    if (strcmp(signature, "?") == 0)
        snprintf(out, n, "unknown class");
    else
        trace_class_name(signature, out, n);
}

void label_lock_number(const struct trace *t, lock_id lock, char *out, size_t n)
{
    const struct trace_lock *l = trace_lock(t, lock);
    if (l->hash && trace_class(t, l->class_)->id.v == 0)
        snprintf(out, n, "%08" PRIX32, l->hash);
    else
        snprintf(out, n, "%" PRIu32, lock.v);
}

const char *label_simple(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot ? dot + 1 : name;
}

void label_method(const struct trace *t, method_id method, char *out, size_t n)
{
    trace_method_text(t, method, out, n);
}

void label_method_parts(const struct trace *t, method_id method, char class_[LABEL_MAX],
                        char name[LABEL_MAX])
{
    const struct trace_method *m = trace_method(t, method);
    class_[0] = 0;
    if (!trace_method_is_java(m)) {
        trace_method_text(t, method, name, LABEL_MAX);
        return;
    }
    trace_class_name(trace_class(t, m->class_)->signature, class_, LABEL_MAX);
    snprintf(name, LABEL_MAX, "%s", m->name);
}

void label_line(const struct trace *t, struct place p, char *out, size_t n)
{
    const struct trace_method *m = trace_method(t, p.method);
    const char *source = trace_method_source(t, p.method);
    const char *near = p.near ? "near " : "";
    if (p.line >= 0 && *source)
        snprintf(out, n, "%s%s:%" PRId32, near, source, p.line);
    else if (p.line >= 0)
        snprintf(out, n, "%sline %" PRId32, near, p.line);
    else
        snprintf(out, n, "%s", m->flags & METHOD_NATIVE ? "native" : source);
}

int label_shared_names(struct thread_set *ts, const struct trace *t)
{
    struct map seen; /* hash of a name -> index of the first thread that has it */
    uint32_t nameless = 0;
    int rc = 0;
    map_init(&seen);
    for (uint32_t i = 1; i < ts->n && rc == 0; i++) {
        const char *name = trace_thread(t, ts->v[i].id)->name;
        if (ts->v[i].defined && !*name)
            ts->v[i].number = ++nameless;
        if (!ts->v[i].defined || !*name)
            continue;
        uint64_t *first = map_put(&seen, hash_place(name, strlen(name), 0));
        if (!first)
            rc = -ENOMEM;
        else if (*first)
            ts->v[*first].shares_name = ts->v[i].shares_name = true;
        else
            *first = i;
    }
    map_fini(&seen);
    return rc;
}
