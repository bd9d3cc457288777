/* tptp_heap.c - objAlloc and objFree, and the classes that they name.
 *
 * A class is defined in front of the first object of it, and numbered then: classes of one name and
 * source are one, as an import of the file sees them.
 *
 * Objects have ids of their own, above those of locks and threads (tptp_objects.c). */
#include "base/hash.h"
#include "export/tptp_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether a recording of these groups, joined by '+', has a group. */
static bool has_group(const char *groups, const char *group)
{
    size_t n = strlen(group);
    for (const char *p = groups; *p; p += *p == '+') {
        size_t len = strcspn(p, "+");
        if (len == n && memcmp(p, group, n) == 0)
            return true;
        p += len;
    }
    return false;
}

int tptp_heap_init(struct export *x)
{
    struct tptp *p = x->state;
    const char *groups = trace_info(x->trace, "orca.events", "");
    map_init(&p->class_names);
    p->class_number = calloc(x->trace->n_classes + 1, sizeof *p->class_number);
    p->has_each = has_group(groups, "alloc") && has_group(groups, "frees");
    return p->class_number ? 0 : -ENOMEM;
}

void tptp_heap_fini(struct tptp *p)
{
    free(p->class_number);
    map_fini(&p->class_names);
}

/* --- classes ---------------------------------------------------------------------------------- */

static bool same_class(const struct trace_class *a, const struct trace_class *b)
{
    return strcmp(a->signature, b->signature) == 0 && strcmp(a->source, b->source) == 0;
}

/* The first class that is called as this one is; 0: memory is out. */
static uint32_t namesake(struct export *x, uint32_t id)
{
    struct tptp *p = x->state;
    const struct trace_class *c = &x->trace->classes[id];
    uint64_t hash =
        hash_bytes(c->source, strlen(c->source), hash_bytes(c->signature, strlen(c->signature), 0));
    for (;; hash++) {
        uint64_t *first = map_put(&p->class_names, hash);
        if (!first)
            return 0;
        if (!*first)
            *first = id;
        if (same_class(&x->trace->classes[*first], c))
            return (uint32_t)*first;
    }
}

static void define_class(struct export *x, class_id class_, uint32_t number)
{
    struct out *o = &x->files[0];
    const struct trace_class *c = trace_class(x->trace, class_);
    out_text(o, "<classDef name=\"");
    out_text(o, tptp_class(x, class_));
    out_char(o, '"');
    tptp_attr(x, "sourceName", c->source);
    tptp_attr_number(x, "classId", number);
    out_text(o, "/>\n");
}

/* Its number in the file, defined if it was not; 0: it is not known. */
static uint32_t class_of(struct export *x, class_id class_)
{
    struct tptp *p = x->state;
    uint32_t id = trace_class(x->trace, class_)->id.v;
    if (!id || !*x->trace->classes[id].signature || p->class_number[id])
        return p->class_number[id];
    uint32_t first = namesake(x, id);
    if (!p->class_number[first]) {
        p->class_number[first] = ++p->n_classes;
        define_class(x, (class_id){id}, p->class_number[first]);
    }
    return p->class_number[id] = p->class_number[first];
}

/* As JVMPI numbers them. */
static unsigned array_code(const char *signature)
{
    static const char types[] = "ZCFDBSIJ"; /* from 4 on */
    if (signature[0] != '[')
        return 0;
    const char *at = signature[1] ? strchr(types, signature[1]) : NULL;
    return at ? 4 + (unsigned)(at - types) : 2;
}

void tptp_obj_def(struct export *x, uint64_t object, class_id class_)
{
    uint32_t number = class_of(x, class_);
    out_text(&x->files[0], "<objDef");
    tptp_attr_number(x, "objId", object);
    tptp_attr_number(x, "isArray", array_code(trace_class(x->trace, class_)->signature));
    if (number)
        tptp_attr_number(x, "classIdRef", number);
    out_text(&x->files[0], "/>\n");
}

/* --- objects ---------------------------------------------------------------------------------- */

/* The content of an object_alloc or an object_sample; weight 0: not a sample. */
struct object {
    uint64_t number, size, weight;
    class_id class_;
    stack_id stack;
};

static void put_weight(struct export *x, uint64_t weight)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, weight);
    if (weight)
        tptp_annotation(x, "orca.weight", text);
}

static void obj_alloc(struct export *x, const struct event *e, const struct object *of)
{
    struct out *o = &x->files[0];
    uint32_t class_ = class_of(x, of->class_);
    if (!of->number) {
        x->suppressed++;
        return;
    }
    uint64_t id = tptp_heap_object(x, of->number);
    tptp_note_object(x, id, true);
    out_text(o, "<objAlloc");
    tptp_attr_number(x, "objId", id);
    if (class_)
        tptp_attr_number(x, "isArray", array_code(trace_class(x->trace, of->class_)->signature));
    tptp_attr_number(x, "size", of->size);
    if (class_)
        tptp_attr_number(x, "classIdRef", class_);
    tptp_attr_thread(x, "threadIdRef", e->thread);
    tptp_attr_time(x, e->time);
    const struct trace_stack *s = trace_stack(x->trace, of->stack);
    if (!of->weight && trace_java_frames(x->trace, s) == 0) {
        tptp_end_empty(x);
        return;
    }
    out_char(o, '>');
    put_weight(x, of->weight);
    if (trace_java_frames(x->trace, s))
        out_text(o, tptp_frames(x, of->stack));
    out_text(o, "</objAlloc>");
    out_newline(o);
}

void tptp_object_alloc(struct export *x, struct tptp_thread *t, const struct event *e)
{
    const struct ev_object_alloc *a = &e->object_alloc;
    (void)t;
    obj_alloc(x, e,
              &(struct object){
                  .number = a->object, .size = a->size, .class_ = a->class_, .stack = a->stack});
}

/* Where each object is recorded, a sample is one of them. */
void tptp_object_sample(struct export *x, struct tptp_thread *t, const struct event *e)
{
    const struct tptp *p = x->state;
    const struct ev_object_sample *a = &e->object_sample;
    (void)t;
    if (p->has_each) {
        x->suppressed++;
        return;
    }
    obj_alloc(x, e,
              &(struct object){.number = a->object,
                               .size = a->size,
                               .weight = a->weight,
                               .class_ = a->class_,
                               .stack = a->stack});
}

/* The thread that finds out is not named: no thread of the program did it. */
void tptp_object_free(struct export *x, struct tptp_thread *t, const struct event *e)
{
    const struct trace *trace = x->trace;
    uint64_t begin = trace->header.evicted_events ? trace->first : trace->header.start_mono;
    (void)t;
    uint64_t id = tptp_heap_object(x, e->object_free.object);
    if (!e->object_free.object || e->object_free.since < begin || !tptp_is_defined(x, id)) {
        x->suppressed++; /* its objAlloc is in an earlier file, or lost */
        return;
    }
    tptp_note_object(x, id, false);
    out_text(&x->files[0], "<objFree");
    tptp_attr_number(x, "objIdRef", id);
    tptp_attr_time(x, e->time);
    tptp_end_empty(x);
}
