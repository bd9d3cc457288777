/* xml_write.c - the facts of a heap dump in XML as an HPROF file (xml_dump.h says how it differs
 * from those of a JVM). */
#include "base/fdio.h"
#include "base/util.h"
#include "heap/xml_parts.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SEGMENT = 1 << 20,
    ID = 8,
    LONGEST_ARRAY = 500 * 1000 * 1000, /* a record has a length of four bytes */
    WINDOW = 8192,                     /* elements written at once */
    SMALL_ARRAY = 8192,                /* elements: it is gathered with others */
    STATICS_MOST = UINT16_MAX,
    ROOM_FREE = 256 << 20, /* bytes of bodies that a file of any length may stand for, */
    ROOM_EACH = 64,        /* and this number more for each byte of it */
};

struct writer {
    struct xml_facts *f;
    struct buf seg; /* sub-records */
    struct buf body;
    uint64_t at;   /* bytes in the file */
    uint64_t room; /* bytes of bodies that there may still be */
    int rc;
};

/* --- bytes ------------------------------------------------------------------------------------ */

static void put(struct buf *b, uint64_t v, uint32_t bytes)
{
    uint8_t *p = buf_reserve(b, bytes);
    for (uint32_t i = 0; p && i < bytes; i++)
        p[i] = (uint8_t)(v >> 8 * (bytes - 1 - i));
    b->len += p ? bytes : 0;
}

static void set_id(uint8_t *p, uint64_t id)
{
    for (uint32_t k = 0; k < ID; k++)
        p[k] = (uint8_t)(id >> 8 * (ID - 1 - k));
}

/* n bytes of 0, to be filled in; NULL when memory is out. */
static uint8_t *put_zeros(struct buf *b, size_t n)
{
    uint8_t *p = buf_reserve(b, n + 1);
    if (p)
        memset(p, 0, n);
    b->len += p ? n : 0;
    return p;
}

static void write_at(struct writer *w, const struct buf *b, uint64_t offset)
{
    if (b->oom)
        w->rc = -ENOMEM;
    if (w->rc == 0)
        w->rc = fdio_pwrite_all(w->f->out->fd, b->p, b->len, offset);
}

static void append(struct writer *w, const struct buf *b)
{
    write_at(w, b, w->at);
    w->at += b->len;
}

static void record(struct writer *w, uint8_t tag, const struct buf *body)
{
    struct buf head = {0};
    put(&head, tag, 1);
    put(&head, 0, 4);
    put(&head, body->len, 4);
    append(w, &head);
    if (body->len)
        append(w, body);
    buf_fini(&head);
}

static void flush(struct writer *w)
{
    if (w->seg.len)
        record(w, HPROF_HEAP_DUMP_SEGMENT, &w->seg);
    buf_clear(&w->seg);
}

/* What an object's body takes; false, and an error, when there is more than such a file has. */
static bool take_room(struct writer *w, uint64_t bytes)
{
    if (bytes > w->room && w->rc == 0)
        w->rc = -EFBIG;
    w->room -= min_u64(bytes, w->room);
    return w->rc == 0;
}

/* --- what stands before the heap -------------------------------------------------------------- */

static void put_head(struct writer *w)
{
    struct buf b = {0};
    buf_put(&b, "JAVA PROFILE 1.0.2", 19);
    put(&b, ID, 4);
    put(&b, w->f->time_ms, 8);
    append(w, &b);
    buf_fini(&b);
}

/* A name's id is its number + 1. */
static void put_names(struct writer *w)
{
    struct buf all = {0};
    for (uint32_t i = 0; i < XML_LEN(w->f->names, const char *); i++) {
        const char *name = XML_VEC(w->f->names, const char *)[i];
        put(&all, HPROF_UTF8, 1);
        put(&all, 0, 4);
        put(&all, ID + strlen(name), 4);
        put(&all, (uint64_t)i + 1, ID);
        buf_puts(&all, name);
        if (all.len > SEGMENT) {
            append(w, &all);
            buf_clear(&all);
        }
    }
    append(w, &all);
    buf_fini(&all);
}

static const struct xml_class *class_at(const struct writer *w, uint32_t i)
{
    return &XML_VEC(w->f->classes, struct xml_class)[i];
}

static void put_loads(struct writer *w)
{
    struct buf b = {0};
    for (uint32_t i = 0; i < XML_LEN(w->f->classes, struct xml_class); i++) {
        buf_clear(&b);
        put(&b, i + 1, 4);
        put(&b, class_at(w, i)->object, ID);
        put(&b, 0, 4);
        put(&b, (uint64_t)class_at(w, i)->name + 1, ID);
        record(w, HPROF_LOAD_CLASS, &b);
    }
    buf_fini(&b);
}

static void put_threads(struct writer *w)
{
    struct buf b = {0};
    for (uint32_t i = 0; i < XML_LEN(w->f->threads, struct xml_thread); i++) {
        const struct xml_thread *t = &XML_VEC(w->f->threads, struct xml_thread)[i];
        buf_clear(&b);
        put(&b, i + 1, 4);
        put(&b, t->object, ID);
        put(&b, 0, 4);
        put(&b, (uint64_t)t->name + 1, ID);
        put(&b, 0, ID);
        put(&b, 0, ID);
        record(w, HPROF_START_THREAD, &b);
    }
    buf_fini(&b);
}

/* --- objects ---------------------------------------------------------------------------------- */

/* Tag, id, and in place of a stack trace the size. */
static void put_sub(struct writer *w, uint8_t tag, uint64_t id, uint64_t size)
{
    if (w->seg.len >= SEGMENT)
        flush(w);
    put(&w->seg, tag, 1);
    put(&w->seg, id, ID);
    put(&w->seg, (size + 7) / 8, 4);
}

static bool is_static(const struct xml_link *l)
{
    return l->kind != XML_SUPERCLASS && l->kind != XML_CLASS_LOADER && l->kind != XML_SIGNERS &&
           l->kind != XML_PROTECTION_DOMAIN;
}

/* What a Class object refers to beside its super class and so on, as statics. */
static void put_statics(struct writer *w, uint64_t object)
{
    size_t n, count = 0;
    const struct xml_link *l = xml_links(w->f, object, &n);
    for (size_t i = 0; i < n; i++)
        count += is_static(&l[i]);
    if (count > STATICS_MOST)
        xml_problem_at(w->f, 0, 0, "a class refers to %zu objects: only %d of them are read", count,
                       (int)STATICS_MOST);
    count = count < STATICS_MOST ? count : STATICS_MOST;
    put(&w->seg, count, 2);
    for (size_t i = 0; i < n && count > 0; i++) {
        if (!is_static(&l[i]))
            continue;
        put(&w->seg, (uint64_t)l[i].name + 1, ID);
        put(&w->seg, HPROF_OBJECT, 1);
        put(&w->seg, l[i].to, ID);
        count--;
    }
}

static void put_class(struct writer *w, uint32_t number, uint64_t size)
{
    const struct xml_class *c = class_at(w, number);
    put_sub(w, HPROF_CLASS, c->object, size);
    put(&w->seg, c->super == DUMP_NONE ? 0 : class_at(w, c->super)->object, ID);
    put(&w->seg, c->loader, ID);
    put(&w->seg, c->signers, ID);
    put(&w->seg, c->domain, ID);
    put(&w->seg, 0, ID);
    put(&w->seg, 0, ID);
    put(&w->seg, 0, 4);
    put(&w->seg, 0, 2);
    put_statics(w, c->object);
    put(&w->seg, c->n_fields, 2);
    for (uint32_t i = 0; i < c->n_fields; i++) {
        put(&w->seg, (uint64_t)XML_VEC(w->f->fields, uint32_t)[c->first + i] + 1, ID);
        put(&w->seg, HPROF_OBJECT, 1);
    }
}

static void put_instance(struct writer *w, const struct xml_object *o)
{
    uint32_t number = xml_class_of(w->f, o), before = 0;
    uint64_t bytes = ID * xml_body_fields(w->f, number);
    size_t n;
    struct xml_link *l = xml_links(w->f, o->id, &n);
    if (!take_room(w, bytes))
        return;
    put_sub(w, HPROF_INSTANCE, o->id, o->size);
    put(&w->seg, class_at(w, number)->object, ID);
    put(&w->seg, bytes, 4);
    uint8_t *body = put_zeros(&w->seg, bytes);
    for (size_t i = 0; i < n && body; i++) {
        before = i && l[i].name == l[i - 1].name ? before + 1 : 0;
        uint32_t place = xml_field_place(w->f, number, l[i].name, before);
        if (place == DUMP_NONE)
            w->rc = -EFBIG;
        else
            set_id(body + (size_t)place * ID, l[i].to);
    }
}

static void put_primitives(struct writer *w, const struct xml_object *o)
{
    put_sub(w, HPROF_PRIMITIVE_ARRAY, o->id, o->size);
    put(&w->seg, 0, 4);
    put(&w->seg, o->kind, 1);
}

static int by_index(const void *a, const void *b)
{
    const struct xml_link *x = a, *y = b;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Those elements that refer to something, in order; the others are holes in the file. */
static void put_elements(struct writer *w, const struct xml_link *l, size_t n)
{
    for (size_t i = 0; i < n;) {
        uint32_t first = l[i].index;
        size_t end = i;
        while (end < n && l[end].index - first < WINDOW)
            end++;
        buf_clear(&w->body);
        uint8_t *p = put_zeros(&w->body, ((size_t)(l[end - 1].index - first) + 1) * ID);
        for (; i < end; i++)
            if (p)
                set_id(p + (size_t)(l[i].index - first) * ID, l[i].to);
        write_at(w, &w->body, w->at + (uint64_t)first * ID);
    }
}

/* A segment of its own. */
static void put_long_array(struct writer *w, const struct xml_link *l, size_t n, uint64_t length)
{
    struct buf head = {0};
    put(&head, HPROF_HEAP_DUMP_SEGMENT, 1);
    put(&head, 0, 4);
    put(&head, w->seg.len + length * ID, 4);
    append(w, &head);
    append(w, &w->seg);
    buf_fini(&head);
    buf_clear(&w->seg);
    put_elements(w, l, n);
    w->at += length * ID;
}

/* One element more than the last one that refers to something. */
static void put_array(struct writer *w, const struct xml_object *o)
{
    size_t n, own = 0;
    struct xml_link *l = xml_links(w->f, o->id, &n);
    if (n)
        qsort(l, n, sizeof *l, by_index);
    while (own < n && l[own].index != UINT32_MAX)
        own++;
    uint64_t length = own ? (uint64_t)l[own - 1].index + 1 : 0;
    /* What has no index stands behind. */
    for (; own < n; own++)
        l[own].index = (uint32_t)length++;
    if (length > LONGEST_ARRAY)
        w->rc = -EFBIG;
    if (!take_room(w, length * ID))
        return;
    if (length > SMALL_ARRAY)
        flush(w);
    put_sub(w, HPROF_OBJECT_ARRAY, o->id, o->size);
    put(&w->seg, length, 4);
    put(&w->seg, class_at(w, xml_class_of(w->f, o))->object, ID);
    if (length > SMALL_ARRAY) {
        put_long_array(w, l, n, length);
        return;
    }
    uint8_t *p = put_zeros(&w->seg, length * ID);
    for (size_t i = 0; i < n && p; i++)
        set_id(p + (size_t)l[i].index * ID, l[i].to);
}

static void put_object(struct writer *w, const struct xml_object *o)
{
    uint32_t own = xml_own_class(w->f, o->id);
    if (own)
        put_class(w, own - 1, o->size);
    else if (o->kind == HPROF_OBJECT)
        put_array(w, o);
    else if (o->kind)
        put_primitives(w, o);
    else
        put_instance(w, o);
}

/* An object that is defined twice is the first one. */
static int put_objects(struct writer *w)
{
    const struct xml_object *o = w->f->objects.map;
    uint64_t n = w->f->objects.len / sizeof *o;
    uint64_t *seen = calloc((size_t)w->f->ids.n / 64 + 1, sizeof *seen);
    if (!seen)
        return -ENOMEM;
    for (uint64_t i = 0; i < n && w->rc == 0; i++) {
        uint32_t number = ids_find(&w->f->ids, o[i].id), own = xml_own_class(w->f, o[i].id);
        if (seen[number / 64] >> (number % 64) & 1)
            continue;
        seen[number / 64] |= UINT64_C(1) << (number % 64);
        if (own)
            XML_VEC(w->f->classes, struct xml_class)[own - 1].told = true;
        put_object(w, &o[i]);
    }
    free(seen);
    uint32_t classes = XML_LEN(w->f->classes, struct xml_class);
    for (uint32_t i = 0; i < classes && w->rc == 0; i++)
        if (!class_at(w, i)->told && (i + 1 < classes || class_at(w, i)->instances))
            put_class(w, i, 0);
    return w->rc;
}

/* --- roots ------------------------------------------------------------------------------------ */

/* Threads by their ids and by their Thread objects: the serial number. */
struct serials {
    struct map by_id, by_object;
    uint32_t next; /* of a thread that has no threadStart */
};

static int serials_init(struct serials *s, const struct writer *w)
{
    const struct xml_thread *t = XML_VEC(w->f->threads, struct xml_thread);
    uint32_t n = XML_LEN(w->f->threads, struct xml_thread);
    map_init(&s->by_id);
    map_init(&s->by_object);
    s->next = n + 1;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t *id = map_put(&s->by_id, t[i].id), *object = map_put(&s->by_object, t[i].object);
        if (!id || !object)
            return -ENOMEM;
        *id = *object = i + 1;
    }
    return 0;
}

/* 0: the XML does not have it. */
static uint32_t serial_of(struct serials *s, const struct xml_root *r)
{
    bool is_thread = r->kind == HPROF_ROOT_THREAD_OBJ;
    const uint64_t *known =
        map_find(is_thread ? &s->by_object : &s->by_id, is_thread ? r->object : r->thread);
    return known ? (uint32_t)*known : is_thread ? s->next++ : 0;
}

static void put_root(struct writer *w, const struct xml_root *r, uint32_t serial)
{
    bool is_thread = r->kind == HPROF_ROOT_THREAD_OBJ;
    if (w->seg.len >= SEGMENT)
        flush(w);
    put(&w->seg, r->kind, 1);
    put(&w->seg, r->object, ID);
    if (r->kind == HPROF_ROOT_JNI_GLOBAL)
        put(&w->seg, 0, ID);
    if (r->kind == HPROF_ROOT_JNI_LOCAL || r->kind == HPROF_ROOT_JAVA_FRAME || is_thread ||
        r->kind == HPROF_ROOT_NATIVE_STACK || r->kind == HPROF_ROOT_THREAD_BLOCK)
        put(&w->seg, serial, 4);
    if (r->kind == HPROF_ROOT_JNI_LOCAL || r->kind == HPROF_ROOT_JAVA_FRAME || is_thread)
        put(&w->seg, is_thread ? 0 : r->depth, 4);
}

static void put_roots(struct writer *w)
{
    struct serials serials;
    uint64_t lost = 0;
    int rc = serials_init(&serials, w);
    w->rc = w->rc ? w->rc : rc;
    for (uint32_t i = 0; i < XML_LEN(w->f->roots, struct xml_root); i++) {
        const struct xml_root *r = &XML_VEC(w->f->roots, struct xml_root)[i];
        if (ids_find(&w->f->ids, r->object) == IDS_NONE)
            lost++;
        else
            put_root(w, r, serial_of(&serials, r));
    }
    map_fini(&serials.by_id);
    map_fini(&serials.by_object);
    if (lost)
        xml_problem_at(w->f, 0, 0,
                       "%llu roots that are objects which no objDef defines are left out",
                       (unsigned long long)lost);
}

int xml_write(struct xml_facts *f)
{
    struct writer w = {.f = f, .room = ROOM_FREE + ROOM_EACH * f->file_size};
    const struct buf nothing = {0};
    put_head(&w);
    put_names(&w);
    put_loads(&w);
    put_threads(&w);
    int rc = put_objects(&w);
    put_roots(&w);
    flush(&w);
    record(&w, HPROF_HEAP_DUMP_END, &nothing);
    rc = w.seg.oom ? -ENOMEM : rc;
    buf_fini(&w.seg);
    buf_fini(&w.body);
    return rc < 0 ? rc : w.rc;
}
