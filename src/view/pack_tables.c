/* What the waits of a pack refer to: contexts, locks, sites, stacks, names. */
#include "analyze/labels.h"
#include "base/util.h"
#include "view/json_parts.h"
#include "view/pack_parts.h"

/* --- contexts --------------------------------------------------------------------------------- */

/* The context of number k; those of acts and holds are empty. */
static const struct context *wait_context(const struct analysis *a, uint32_t k)
{
    static const struct context none;
    const struct context *x = timeline_context(&a->timeline, k);
    return k && x->what < STATE_LIMIT ? x : &none;
}

static uint32_t site_of(const struct analysis *a, const uint32_t *sites, uint32_t k)
{
    uint32_t site = wait_context(a, k)->what == timeline_context(&a->timeline, k)->what && k
                        ? sites[k]
                        : NO_SITE;
    return site < a->sites.n ? site : NO_SITE;
}

int pack_contexts(const struct packer *p, struct buf *out)
{
    const struct analysis *a = p->v->a;
    size_t begin = out->len, stacks = a->trace->n_stacks;
    uint32_t n = a->timeline.contexts.n;
    pack_head(n, out);
    PUT_COLUMN(out, begin, uint32_t, n, pack_known(wait_context(a, k)->lock.v, a->locks.n_objects));
    PUT_COLUMN(out, begin, uint32_t, n, pack_known(wait_context(a, k)->other, a->threads.n));
    PUT_COLUMN(out, begin, uint32_t, n, pack_known(wait_context(a, k)->stack.v, stacks));
    PUT_COLUMN(out, begin, uint32_t, n, pack_known(wait_context(a, k)->owner_stack.v, stacks));
    PUT_COLUMN(out, begin, uint32_t, n, site_of(a, a->sites.of_context, k));
    PUT_COLUMN(out, begin, uint32_t, n, site_of(a, a->sites.of_owner, k));
    PUT_COLUMN(out, begin, uint8_t, n, wait_context(a, k)->what);
    PUT_COLUMN(out, begin, uint8_t, n, wait_context(a, k)->flags);
    PUT_COLUMN(out, begin, uint8_t, n, p->v->occupancy.column[k] == COLUMN_HELD_UP);
    return 0;
}

/* --- locks, sites ----------------------------------------------------------------------------- */

int pack_locks(const struct packer *p, struct buf *out)
{
    const struct analysis *a = p->v->a;
    size_t begin = out->len;
    uint32_t n = (uint32_t)a->locks.n_objects;
    pack_head(n, out);
    PUT_COLUMN(out, begin, uint32_t, n, lock_set_group(&a->locks, (lock_id){k}));
    PUT_COLUMN(out, begin, uint32_t, n, trace_lock(a->trace, (lock_id){k})->hash);
    return 0;
}

int pack_sites(const struct packer *p, struct buf *out)
{
    const struct analysis *a = p->v->a;
    const struct site *v = a->sites.v;
    size_t begin = out->len, stacks = a->trace->n_stacks, methods = a->trace->n_methods;
    uint32_t n = a->sites.n;
    pack_head(n, out);
    PUT_COLUMN(out, begin, uint32_t, n, v[k].group);
    PUT_COLUMN(out, begin, uint32_t, n, pack_known(v[k].stack.v, stacks));
    PUT_COLUMN(out, begin, uint32_t, n, pack_known(v[k].top.method.v, methods));
    PUT_COLUMN(out, begin, int32_t, n, v[k].top.line);
    PUT_COLUMN(out, begin, uint32_t, n, pack_known(v[k].app.method.v, methods));
    PUT_COLUMN(out, begin, int32_t, n, v[k].app.line);
    return 0;
}

/* --- stacks ----------------------------------------------------------------------------------- */

#define FRAMES(stack) trace_stack(t, (stack_id){stack})->frames[i]
#define PUT_FRAMES(out, begin, type, value)                                                        \
    do {                                                                                           \
        column_pad(out, begin);                                                                    \
        for (uint32_t k = 0; k < n; k++)                                                           \
            for (uint32_t i = 0; i < trace_stack(t, (stack_id){k})->n_frames; i++)                 \
                buf_put(out, &(type){value}, sizeof(type));                                        \
    } while (0)

int pack_stacks(const struct packer *p, struct buf *out)
{
    const struct trace *t = p->v->a->trace;
    size_t begin = out->len;
    uint32_t n = (uint32_t)t->n_stacks, first = 0;
    pack_head(n, out);
    if (!n)
        return 0;
    for (uint32_t k = 0; k < n; k++) {
        buf_put(out, &first, sizeof first);
        first += trace_stack(t, (stack_id){k})->n_frames;
    }
    buf_put(out, &first, sizeof first);
    PUT_COLUMN(out, begin, uint8_t, n,
               (trace_stack(t, (stack_id){k})->flags & STACK_TRUNCATED) != 0);
    PUT_FRAMES(out, begin, uint32_t, pack_known(FRAMES(k).method.v, t->n_methods));
    PUT_FRAMES(out, begin, int32_t, trace_line(t, FRAMES(k)));
    return 0;
}

/* --- names ------------------------------------------------------------------------------------ */

static void put_class_name(struct json_out *o, const char *signature)
{
    char name[LABEL_MAX];
    trace_class_name(signature, name, sizeof name);
    put_text(o, name);
}

static void put_method(struct json_out *o, const struct trace *t, uint32_t id)
{
    const struct trace_method *m = trace_method(t, (method_id){id});
    const struct trace_class *c = trace_class(t, m->class_);
    char in[LABEL_MAX], name[LABEL_MAX];
    label_method_parts(t, (method_id){id}, in, name);
    buf_putc(o->to, '[');
    put_text(o, in);
    buf_putc(o->to, ',');
    put_text(o, name);
    buf_putc(o->to, ',');
    put_text(o, m->signature);
    buf_putc(o->to, ',');
    put_text(o, trace_method_source(t, (method_id){id}));
    buf_puts(o->to, sites_is_jdk(c->signature) ? ",1]" : ",0]");
}

/* Those of allocations: by class id. */
static void put_object_classes(struct json_out *o, const struct packer *p)
{
    const struct trace *t = p->v->a->trace;
    char name[LABEL_MAX];
    for (uint32_t i = 0; allocs_any(&p->v->a->allocs) && i < t->n_classes; i++) {
        buf_puts(o->to, i ? "," : "");
        label_class(trace_class(t, (class_id){i})->signature, name, sizeof name);
        put_text(o, name);
    }
}

/* Tracked methods, by id: class, method, and both without the package. */
static void put_calls(struct json_out *o, const struct trace *t)
{
    char class[LABEL_MAX];
    for (uint32_t i = 0; i < t->n_calls; i++) {
        const struct trace_call *c = trace_call(t, (call_id){i});
        label_class(c->class_signature, class, sizeof class);
        buf_puts(o->to, i ? ",[" : "[");
        put_text(o, class);
        buf_putc(o->to, ',');
        put_text(o, c->method);
        buf_putc(o->to, ',');
        put_text(o, c->name);
        buf_putc(o->to, ']');
    }
}

int pack_names(const struct packer *p, struct buf *out)
{
    const struct analysis *a = p->v->a;
    struct json_out o = {.to = out, .ok = true};
    buf_puts(out, "{\"classes\":[null");
    for (size_t i = 1; i < a->locks.n_groups; i++) {
        buf_putc(out, ',');
        put_class_name(&o, a->locks.groups[i].signature);
    }
    buf_puts(out, "],\"methods\":[");
    for (uint32_t i = 0; i < a->trace->n_methods; i++) {
        if (i)
            buf_putc(out, ',');
        put_method(&o, a->trace, i);
    }
    buf_puts(out, "],\"errors\":[");
    for (unsigned i = 0; i < SAMPLE_ERRORS; i++) {
        buf_puts(out, i ? "," : "");
        put_text(&o, sample_errors[i].doc);
    }
    buf_puts(out, "],\"objects\":[");
    put_object_classes(&o, p);
    buf_puts(out, "],\"calls\":[");
    put_calls(&o, a->trace);
    buf_puts(out, "]}");
    return 0;
}
