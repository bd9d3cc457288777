/* trcxml_heap.c - objAlloc and objFree: objects, and what is known of one when it ends. */
#include "import/trcxml_parts.h"

#include <string.h>

struct trcxml_id trcxml_object_id(const struct trcxml *x)
{
    struct trcxml_id id = trcxml_id_of(x, ATTR_objId, ATTR_objIdRef);
    return id.key ? id : trcxml_id_of(x, ATTR_transientObjId, ATTR_transientObjIdRef);
}

/* An object whose allocation was not seen: its class is what a trace has a place for. */
int trcxml_obj_def(struct trcxml *x, struct err *err)
{
    struct trcxml_id id = trcxml_object_id(x);
    if (id.key == 0) {
        trcxml_note(&x->notes, NOTE_NO_ID);
        return 0;
    }
    return trcxml_ids_define(
        &x->ids, id, trcxml_class_of(&x->frames, trcxml_id_read(x->a.v[ATTR_classIdRef])), err);
}

/* The thread that allocates; a thread of the JVM has none in the file. */
int trcxml_begin_obj_alloc(struct trcxml *x, struct err *err)
{
    struct trcxml_open *o = &x->open;
    o->object = trcxml_object_id(x);
    o->class_ = trcxml_class_of(&x->frames, trcxml_id_read(x->a.v[ATTR_classIdRef]));
    o->e.object_alloc.size = (uint64_t)trcxml_number(x, ATTR_size, INT64_MAX, 0);
    if (o->object.key == 0)
        trcxml_note(&x->notes, NOTE_NO_OBJECT);
    return trcxml_ids_thread(&x->ids, trcxml_id_of(x, ATTR_threadIdRef, ATTR_threadId),
                             &o->e.thread, err);
}

static struct event as_sample(const struct event *e, uint64_t weight)
{
    struct event s = *e;
    s.kind = EV_object_sample;
    s.object_sample = (struct ev_object_sample){.object = e->object_alloc.object,
                                                .class_ = e->object_alloc.class_,
                                                .size = e->object_alloc.size,
                                                .stack = e->object_alloc.stack,
                                                .weight = weight};
    return s;
}

int trcxml_end_obj_alloc(struct trcxml *x, struct err *err)
{
    const struct trcxml_open *o = &x->open;
    struct event e = o->e;
    struct trcxml_object *object;
    TRY(trcxml_stack_take(&x->frames, &x->open.stack, &e.object_alloc.stack, err));
    TRY(trcxml_ids_alloc(&x->ids, o->object, o->class_, &object, err));
    if (!object || o->drop)
        return 0;
    object->heap.time = e.time;
    object->heap.size = e.object_alloc.size;
    object->heap.weight = o->weight;
    object->heap.stack = e.object_alloc.stack;
    object->heap.by = e.thread;
    object->heap.collections = x->n_gc;
    e.object_alloc.object = object->heap.number;
    e.object_alloc.class_ = o->class_;
    if (o->weight)
        e = as_sample(&e, o->weight);
    return trcxml_put(x, &e, err);
}

int trcxml_begin_obj_free(struct trcxml *x, struct err *err)
{
    (void)err;
    x->open.object = trcxml_object_id(x);
    return 0;
}

/* Of an object without an objAlloc nothing is known; in our own files its id is its number. */
int trcxml_end_obj_free(struct trcxml *x, struct err *err)
{
    struct event e = x->open.e;
    struct trcxml_object o;
    bool known = trcxml_ids_free(&x->ids, x->open.object, &o);
    if (!known)
        trcxml_leave_out(&x->notes, "objFree");
    if (!known || x->open.drop)
        return 0;
    bool told = o.heap.time && o.heap.time <= e.time;
    e.object_free = (struct ev_object_free){.object = o.heap.number,
                                            .class_ = o.class_,
                                            .size = o.heap.size,
                                            .stack = o.heap.stack,
                                            .since = told ? o.heap.time : e.time,
                                            .allocated_by = o.heap.by,
                                            .collections = x->n_gc - o.heap.collections,
                                            .weight = o.heap.weight};
    if (!o.heap.time)
        e.object_free.collections = 0;
    return trcxml_put(x, &e, err);
}
