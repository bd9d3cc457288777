/* hprof_writer.h - heap dumps made by hand, for tests and benchmarks.
 *
 *     struct hprof_writer w;
 *     hw_begin(&w, file, 8);
 *     hw_class(&w, 0x100, "java/lang/Object", 0, "");
 *     hw_class(&w, 0x108, "Node", 0x100, "next:L value:I");
 *     hw_instance(&w, 0x200, 0x108, (uint64_t[]){0x208, 7});
 *     hw_root(&w, HPROF_ROOT_JNI_GLOBAL, 0x200, 0, 0);
 *     hw_end(&w);
 *
 * Fields are "name:type" with the JVM's letters (L for all references); an instance has a value for
 * each, its own first, then those of its super class.  Sub-records are gathered into segments of a
 * megabyte.  What goes wrong is a mistake of the test: it aborts. */
#ifndef ORCA_TESTS_HPROF_WRITER_H
#define ORCA_TESTS_HPROF_WRITER_H

#include "base/buf.h"
#include "heap/hprof.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HW_CLASSES = 256, HW_SEGMENT = 1 << 20 };

struct hw_class {
    uint64_t id, super;
    char types[64]; /* own fields */
};

struct hprof_writer {
    FILE *f;
    uint32_t id_size;
    uint8_t heap_tag; /* HPROF_HEAP_DUMP_SEGMENT; change it for the older form */
    struct buf out, heap;
    uint64_t strings; /* the last string's id */
    uint32_t serial;
    struct hw_class classes[HW_CLASSES];
    size_t n_classes;
};

static inline void hw_number(struct buf *b, uint64_t v, uint32_t bytes)
{
    uint8_t *p = buf_reserve(b, bytes);
    if (!p)
        abort();
    for (uint32_t i = 0; i < bytes; i++)
        p[i] = (uint8_t)(v >> 8 * (bytes - 1 - i));
    b->len += bytes;
}

static inline void hw_write(struct hprof_writer *w)
{
    if (w->out.oom || fwrite(w->out.p, 1, w->out.len, w->f) != w->out.len)
        abort();
    buf_clear(&w->out);
}

static inline void hw_record(struct hprof_writer *w, uint8_t tag, size_t len)
{
    hw_number(&w->out, tag, 1);
    hw_number(&w->out, 0, 4);
    hw_number(&w->out, len, 4);
}

static inline void hw_flush(struct hprof_writer *w)
{
    if (w->heap.len == 0)
        return;
    hw_record(w, w->heap_tag, w->heap.len);
    buf_put(&w->out, w->heap.p, w->heap.len);
    buf_clear(&w->heap);
    hw_write(w);
}

static inline void hw_begin(struct hprof_writer *w, FILE *f, uint32_t id_size)
{
    memset(w, 0, sizeof *w);
    w->f = f;
    w->id_size = id_size;
    w->heap_tag = HPROF_HEAP_DUMP_SEGMENT;
    buf_put(&w->out, "JAVA PROFILE 1.0.2", 19);
    hw_number(&w->out, id_size, 4);
    hw_number(&w->out, UINT64_C(1700000000000), 8);
}

static inline void hw_end(struct hprof_writer *w)
{
    hw_flush(w);
    hw_record(w, HPROF_HEAP_DUMP_END, 0);
    hw_write(w);
    fflush(w->f);
    buf_fini(&w->out);
    buf_fini(&w->heap);
}

static inline uint64_t hw_string(struct hprof_writer *w, const char *text, size_t len)
{
    hw_record(w, HPROF_UTF8, w->id_size + len);
    hw_number(&w->out, ++w->strings, w->id_size);
    buf_put(&w->out, text, len);
    return w->strings;
}

static inline uint8_t hw_type(char letter)
{
    static const char letters[] = "L?ZCFDBSIJ";
    return (uint8_t)(HPROF_OBJECT + (strchr(letters, letter) - letters));
}

/* A sub-record begins with its tag and id. */
static inline void hw_sub(struct hprof_writer *w, uint8_t sub, uint64_t id)
{
    if (w->heap.len >= HW_SEGMENT)
        hw_flush(w);
    hw_number(&w->heap, sub, 1);
    hw_number(&w->heap, id, w->id_size);
}

/* With statics "name:type=value", all numbers decimal. */
static inline void hw_class_full(struct hprof_writer *w, uint64_t id, const char *name,
                                 uint64_t super, const char *fields, const char *statics,
                                 uint64_t loader)
{
    struct hw_class *c = &w->classes[w->n_classes++];
    struct buf own = {0}, shared = {0};
    uint32_t n_own = 0, n_shared = 0;
    *c = (struct hw_class){.id = id, .super = super};
    hw_record(w, HPROF_LOAD_CLASS, 8 + 2 * (size_t)w->id_size);
    size_t at = w->out.len;
    hw_number(&w->out, ++w->serial, 4);
    hw_number(&w->out, id, w->id_size);
    hw_number(&w->out, 0, 4);
    size_t name_at = w->out.len;
    hw_number(&w->out, 0, w->id_size);
    (void)at;
    uint64_t name_id = hw_string(w, name, strlen(name));
    for (uint32_t i = 0; i < w->id_size; i++)
        w->out.p[name_at + i] = (uint8_t)(name_id >> 8 * (w->id_size - 1 - i));
    for (const char *p = fields; *p; p += *p == ' ') {
        size_t len = strcspn(p, ":");
        hw_number(&own, hw_string(w, p, len), w->id_size);
        hw_number(&own, hw_type(p[len + 1]), 1);
        c->types[n_own++] = p[len + 1];
        p += len + 2;
    }
    for (const char *p = statics; *p; p += *p == ' ') {
        size_t len = strcspn(p, ":");
        uint8_t type = hw_type(p[len + 1]);
        char *end;
        hw_number(&shared, hw_string(w, p, len), w->id_size);
        hw_number(&shared, type, 1);
        hw_number(&shared, strtoull(p + len + 3, &end, 10), hprof_type_size(type, w->id_size));
        n_shared++;
        p = end;
    }
    hw_sub(w, HPROF_CLASS, id);
    hw_number(&w->heap, 0, 4);
    hw_number(&w->heap, super, w->id_size);
    hw_number(&w->heap, loader, w->id_size);
    for (int i = 0; i < 4; i++)
        hw_number(&w->heap, 0, w->id_size);
    hw_number(&w->heap, 0, 4);
    hw_number(&w->heap, 0, 2);
    hw_number(&w->heap, n_shared, 2);
    buf_put(&w->heap, shared.p, shared.len);
    hw_number(&w->heap, n_own, 2);
    buf_put(&w->heap, own.p, own.len);
    buf_fini(&own);
    buf_fini(&shared);
}

static inline void hw_class(struct hprof_writer *w, uint64_t id, const char *name, uint64_t super,
                            const char *fields)
{
    hw_class_full(w, id, name, super, fields, "", 0);
}

static inline const struct hw_class *hw_find(const struct hprof_writer *w, uint64_t id)
{
    for (size_t i = 0; i < w->n_classes; i++)
        if (w->classes[i].id == id)
            return &w->classes[i];
    return NULL;
}

static inline void hw_instance(struct hprof_writer *w, uint64_t id, uint64_t class_id,
                               const uint64_t *values)
{
    hw_sub(w, HPROF_INSTANCE, id);
    hw_number(&w->heap, 0, 4);
    hw_number(&w->heap, class_id, w->id_size);
    size_t at = w->heap.len;
    hw_number(&w->heap, 0, 4);
    for (const struct hw_class *c = hw_find(w, class_id); c; c = hw_find(w, c->super))
        for (const char *t = c->types; *t; t++)
            hw_number(&w->heap, *values++, hprof_type_size(hw_type(*t), w->id_size));
    uint32_t len = (uint32_t)(w->heap.len - at - 4);
    for (int i = 0; i < 4; i++)
        w->heap.p[at + (size_t)i] = (uint8_t)(len >> 8 * (3 - i));
}

static inline void hw_objects(struct hprof_writer *w, uint64_t id, uint64_t class_id,
                              const uint64_t *ids, uint32_t n)
{
    hw_sub(w, HPROF_OBJECT_ARRAY, id);
    hw_number(&w->heap, 0, 4);
    hw_number(&w->heap, n, 4);
    hw_number(&w->heap, class_id, w->id_size);
    for (uint32_t i = 0; i < n; i++)
        hw_number(&w->heap, ids[i], w->id_size);
}

/* bytes: the elements, big-endian. */
static inline void hw_primitives(struct hprof_writer *w, uint64_t id, char type, const void *bytes,
                                 uint32_t n)
{
    hw_sub(w, HPROF_PRIMITIVE_ARRAY, id);
    hw_number(&w->heap, 0, 4);
    hw_number(&w->heap, n, 4);
    hw_number(&w->heap, hw_type(type), 1);
    buf_put(&w->heap, bytes, (size_t)n * hprof_type_size(hw_type(type), w->id_size));
}

static inline void hw_root(struct hprof_writer *w, uint8_t kind, uint64_t id, uint32_t thread,
                           uint32_t depth)
{
    hw_sub(w, kind, id);
    if (kind == HPROF_ROOT_JNI_GLOBAL)
        hw_number(&w->heap, 0, w->id_size);
    if (kind == HPROF_ROOT_JNI_LOCAL || kind == HPROF_ROOT_JAVA_FRAME ||
        kind == HPROF_ROOT_THREAD_OBJ || kind == HPROF_ROOT_NATIVE_STACK ||
        kind == HPROF_ROOT_THREAD_BLOCK)
        hw_number(&w->heap, thread, 4);
    if (kind == HPROF_ROOT_JNI_LOCAL || kind == HPROF_ROOT_JAVA_FRAME ||
        kind == HPROF_ROOT_THREAD_OBJ)
        hw_number(&w->heap, depth, 4);
}

#endif
