/* report_json_out.c - what JSON is written with: values of a report, and the output, object by
 * object. */
#include "export/report_json_parts.h"

#include "analyze/labels.h"
#include "base/printable.h"

/* --- values ----------------------------------------------------------------------------------- */

void json_set_count(json_t *o, const char *key, uint64_t v)
{
    json_object_set_new(o, key, json_integer((json_int_t)v));
}

/* Names may hold any byte, JSON takes UTF-8 only. */
void json_set_text(json_t *o, const char *key, const char *text)
{
    char clean[JSON_TEXT];
    if (text)
        printable_utf8(text, clean, sizeof clean);
    json_object_set_new(o, key, text ? json_string(clean) : json_null());
}

void json_set_bool(json_t *o, const char *key, bool v)
{
    json_object_set_new(o, key, json_boolean(v));
}

/* A moment: ns after the recording began, negative before it. */
void json_set_time(json_t *o, const char *key, const struct report *r, uint64_t time)
{
    json_object_set_new(o, key, json_integer((json_int_t)(time - r->trace->header.start_mono)));
}

void json_set_thread(json_t *o, const char *key, const char *name_key, const struct report *r,
                     uint32_t thread)
{
    if (!thread) {
        json_object_set_new(o, key, json_null());
        json_object_set_new(o, name_key, json_null());
        return;
    }
    json_set_count(o, key, r->a->threads.v[thread].id.v);
    json_set_text(o, name_key, trace_thread(r->trace, r->a->threads.v[thread].id)->name);
}

void json_set_peer(json_t *o, const struct report *r, lock_id peer)
{
    char name[LABEL_MAX];
    json_object_set_new(o, "peer", json_null());
    if (!peer.v)
        return;
    peer_name(r->trace, peer, name, sizeof name);
    json_set_text(o, "peer", name);
}

/* A class's Java name; null when it is not known. */
void json_set_class(json_t *o, const struct report *r, uint32_t group)
{
    char name[LABEL_MAX];
    const char *signature = r->a->locks.groups[group].signature;
    if (group == 0) {
        json_object_set_new(o, "class", json_null());
        return;
    }
    trace_class_name(signature, name, sizeof name);
    json_set_text(o, "class", name);
}

/* --- output ----------------------------------------------------------------------------------- */

enum { FLUSH_BYTES = 1 << 16 };

static void flush(struct json_out *o)
{
    o->ok = o->ok && fwrite(o->to->p, 1, o->to->len, o->file) == o->to->len;
    buf_clear(o->to);
}

static int append(const char *text, size_t n, void *to)
{
    buf_put(to, text, n);
    return 0;
}

void json_out(struct json_out *o, const char *text)
{
    buf_puts(o->to, text);
    if (o->file && o->to->len >= FLUSH_BYTES)
        flush(o);
}

void json_out_value(struct json_out *o, json_t *j)
{
    o->ok = o->ok && j && json_dump_callback(j, append, o->to, JSON_ENCODE_ANY) == 0;
    json_decref(j);
    json_out(o, "");
}

int json_finish(struct json_out *o)
{
    if (o->to->oom)
        return -ENOMEM;
    if (o->file)
        flush(o);
    return o->ok && (!o->file || fflush(o->file) == 0) ? 0 : o->file ? -EIO : -ENOMEM;
}

void json_key(struct json_out *o, const char *name)
{
    buf_printf(o->to, "%s\n \"%s\": ", o->first_key ? "" : ",", name);
    o->first_key = false;
}

void json_begin_list(struct json_out *o, const char *name)
{
    json_key(o, name);
    json_out(o, "[");
    o->first_entry = true;
}

void json_entry(struct json_out *o, json_t *j)
{
    json_out(o, o->first_entry ? "\n  " : ",\n  ");
    o->first_entry = false;
    json_out_value(o, j);
}

void json_end_list(struct json_out *o)
{
    json_out(o, o->first_entry ? "]" : "\n ]");
}

json_t *json_place(const struct report *r, struct place p)
{
    const struct trace_method *m = trace_method(r->trace, p.method);
    char name[LABEL_MAX], method[LABEL_MAX];
    if (!m->id.v)
        return json_null();
    json_t *j = json_object();
    label_method_parts(r->trace, p.method, name, method);
    json_set_text(j, "class", name);
    json_set_text(j, "method", method);
    json_set_text(j, "signature", m->signature);
    json_set_text(j, "file", trace_method_source(r->trace, p.method));
    json_object_set_new(j, "line", p.line >= 0 ? json_integer(p.line) : json_null());
    if (p.near)
        json_object_set_new(j, "approximate", json_true());
    return j;
}

json_t *json_stack(const struct report *r, stack_id id)
{
    const struct trace_stack *s = trace_stack(r->trace, id);
    json_t *list = json_array();
    for (uint32_t i = 0; i < s->n_frames; i++)
        json_array_append_new(list, json_place(r, sites_frame(r->trace, s, i)));
    return list;
}
