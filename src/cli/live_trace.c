#include "cli/live_trace.h"

#include "attach/client.h"
#include "cli/target.h"

#include <limits.h>
#include <stdio.h>

int live_trace_open(struct trace **t, const struct jvm *jvm, struct err *err)
{
    char path[PATH_MAX], here[PATH_MAX];
    struct buf reply;
    buf_init(&reply);
    int rc = client_ask(jvm, "status", TARGET_TIMEOUT_NS, &reply, err); /* it flushes */
    target_text(buf_str(&reply), "path", path, sizeof path);
    buf_fini(&reply);
    TRY(rc);
    target_path(jvm, path, here, sizeof here);
    return trace_open(t, here, err);
}

void live_trace_class(const struct trace *t, uint32_t class_, char *out, size_t n)
{
    const struct trace_class *c = trace_class(t, (class_id){class_});
    if (c->id.v)
        trace_class_name(c->signature, out, n);
    else
        snprintf(out, n, "?");
}

void live_trace_frame(const struct trace *t, struct trace_frame f, char *out, size_t n)
{
    char method[768];
    trace_method_text(t, f.method, method, sizeof method);
    int32_t line = trace_line(t, f);
    const char *source = trace_method_source(t, f.method);
    if (line >= 0)
        snprintf(out, n, "%s(%s:%d)", method, source, (int)line);
    else
        snprintf(out, n, "%s(%s)", method, source[0] ? source : "?");
}

void live_trace_site(const struct trace *t, uint32_t stack, char *out, size_t n)
{
    const struct trace_stack *s = trace_stack(t, (stack_id){stack});
    if (s->id.v && s->n_frames)
        live_trace_frame(t, s->frames[0], out, n);
    else
        snprintf(out, n, "?");
}
