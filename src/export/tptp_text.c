/* tptp_text.c - elements, attributes, annotations of TPTP's XML as text: names, times, frames. */
#include "base/util.h"
#include "export/tptp_parts.h"
#include "export/xml.h"

#include <stdio.h>
#include <string.h>

/* --- attributes ------------------------------------------------------------------------------- */

static void begin_attr(struct out *o, const char *name)
{
    out_char(o, ' ');
    out_text(o, name);
    out_text(o, "=\"");
}

static const char *escaped(struct tptp *p, const char *s)
{
    buf_clear(&p->scratch);
    xml_put(&p->scratch, s);
    return buf_str(&p->scratch);
}

void tptp_attr(struct export *x, const char *name, const char *value)
{
    struct out *o = &x->files[0];
    begin_attr(o, name);
    out_text(o, escaped(x->state, value));
    out_char(o, '"');
}

void tptp_attr_number(struct export *x, const char *name, uint64_t value)
{
    struct out *o = &x->files[0];
    begin_attr(o, name);
    out_decimal(o, value);
    out_char(o, '"');
}

/* The trace of an imported text has no date: its times stay what they are. */
static uint64_t date(const struct file_header *h, uint64_t time)
{
    if (h->start_real == 0)
        return time;
    if (time >= h->start_mono)
        return h->start_real + (time - h->start_mono);
    uint64_t before = h->start_mono - time;
    return before < h->start_real ? h->start_real - before : 0;
}

void tptp_attr_time(struct export *x, uint64_t time)
{
    tptp_attr_at(x, "time", time);
}

void tptp_attr_at(struct export *x, const char *name, uint64_t time)
{
    struct out *o = &x->files[0];
    begin_attr(o, name);
    out_seconds_9(o, date(&x->trace->header, time));
    out_char(o, '"');
}

/* --- annotations ------------------------------------------------------------------------------ */

void tptp_annotation(struct export *x, const char *name, const char *value)
{
    struct out *o = &x->files[0];
    out_text(o, "<annotation");
    tptp_attr(x, "name", name);
    tptp_attr(x, "value", value);
    out_text(o, "/>");
}

/* demo/Lock of Ldemo/Lock; - an array's signature is its name. */
static void put_class(struct buf *b, const char *signature)
{
    size_t n = strlen(signature);
    char name[1024];
    if (n >= 2 && n < sizeof name && signature[0] == 'L' && signature[n - 1] == ';') {
        memcpy(name, signature + 1, n - 2);
        name[n - 2] = 0;
        signature = name;
    }
    xml_put(b, signature);
}

const char *tptp_class(struct export *x, class_id id)
{
    struct tptp *p = x->state;
    buf_clear(&p->scratch);
    put_class(&p->scratch, trace_class(x->trace, id)->signature);
    return buf_str(&p->scratch);
}

/* TPTP writes <init> as -init-, so that no name needs escaping for it. */
static void put_method(struct buf *b, const char *name)
{
    if (strcmp(name, "<init>") == 0)
        buf_puts(b, "-init-");
    else if (strcmp(name, "<clinit>") == 0)
        buf_puts(b, "-clinit-");
    else
        xml_put(b, name);
}

static void put_frame(struct buf *b, const struct trace *t, struct trace_frame f)
{
    const struct trace_method *m = trace_method(t, f.method);
    const struct trace_class *c = trace_class(t, m->class_);
    int32_t line = trace_line(t, f);
    buf_puts(b, "<annotation name=\"orca.frame\" value=\"");
    put_class(b, c->signature);
    buf_putc(b, '.');
    put_method(b, m->name);
    buf_putc(b, '(');
    if (trace_frame_is_native(t, f))
        buf_puts(b, "native");
    else
        xml_put(b, *c->source ? c->source : "?");
    if (line >= 0)
        buf_printf(b, ":%d", line);
    buf_puts(b, ")\"/>");
}

/* A stack is written many times and takes long to make: the arena keeps as many as it may. */
const char *tptp_frames(struct export *x, stack_id id)
{
    struct tptp *p = x->state;
    const struct trace_stack *s = trace_stack(x->trace, id);
    if (!s->id.v)
        return "";
    if (p->frames[s->id.v])
        return p->frames[s->id.v];
    buf_clear(&p->scratch);
    for (uint32_t i = 0; i < s->n_frames; i++)
        if (trace_method_is_java(trace_method(x->trace, s->frames[i].method)))
            put_frame(&p->scratch, x->trace, s->frames[i]);
    if (s->flags & STACK_TRUNCATED)
        buf_puts(&p->scratch, "<annotation name=\"orca.truncated\" value=\"1\"/>");
    const char *made = buf_str(&p->scratch);
    p->frames[s->id.v] = arena_strndup(&p->arena, made, p->scratch.len);
    return made;
}

/* --- elements --------------------------------------------------------------------------------- */

struct tptp_thread *tptp_thread_state(const struct export *x, thread_id id)
{
    const struct tptp *p = x->state;
    return id.v && id.v < x->trace->n_threads ? &p->threads[id.v] : NULL;
}

void tptp_attr_thread(struct export *x, const char *name, thread_id id)
{
    if (tptp_thread_state(x, id))
        tptp_attr_number(x, name, id.v);
}

void tptp_attr_object(struct export *x, const char *name, uint64_t object)
{
    if (object)
        tptp_attr_number(x, name, object);
}

void tptp_begin(struct export *x, const char *name, const char *id, const struct event *e)
{
    out_char(&x->files[0], '<');
    out_text(&x->files[0], name);
    tptp_attr_thread(x, id, e->thread);
    tptp_attr_time(x, e->time);
}

void tptp_hide(struct export *x)
{
    struct tptp *p = x->state;
    p->hidden = true;
    out_text(&x->files[0], "<?orca ");
}

/* No value has a '>' that is not escaped, so the instruction does not end before. */
void tptp_end_line(struct export *x)
{
    struct tptp *p = x->state;
    if (p->hidden)
        out_text(&x->files[0], "?>");
    p->hidden = false;
    out_newline(&x->files[0]);
}

void tptp_end_empty(struct export *x)
{
    out_text(&x->files[0], "/>");
    tptp_end_line(x);
}

void tptp_end(struct export *x, const char *name, lock_id lock, stack_id stack)
{
    tptp_end_noted(x, name, lock, stack, NULL, NULL);
}

void tptp_end_noted(struct export *x, const char *name, lock_id lock, stack_id stack,
                    const char *note, const char *value)
{
    struct out *o = &x->files[0];
    class_id class_ = trace_lock(x->trace, lock)->class_;
    bool has_class = trace_class(x->trace, class_)->id.v != 0;
    if (!note && !has_class && trace_java_frames(x->trace, trace_stack(x->trace, stack)) == 0) {
        tptp_end_empty(x);
        return;
    }
    out_char(o, '>');
    if (note)
        tptp_annotation(x, note, value);
    if (has_class) {
        out_text(o, "<annotation name=\"orca.class\" value=\"");
        out_text(o, tptp_class(x, class_));
        out_text(o, "\"/>");
    }
    out_text(o, tptp_frames(x, stack));
    out_text(o, "</");
    out_text(o, name);
    out_char(o, '>');
    tptp_end_line(x);
}
