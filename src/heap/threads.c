#include "heap/threads.h"

#include "base/util.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MOST = 200 }; /* characters */

struct search {
    const struct dump *d;
    const struct retained *r;
    struct object_reader *reader;
    struct threads_seen *out;
};

static bool is_local(uint8_t kind)
{
    return kind == HPROF_ROOT_JAVA_FRAME || kind == HPROF_ROOT_JNI_LOCAL ||
           kind == HPROF_ROOT_NATIVE_STACK || kind == HPROF_ROOT_THREAD_BLOCK;
}

void threads_name(struct object_reader *reader, uint32_t object, struct buf *into)
{
    struct object x;
    const uint8_t *p;
    uint64_t id;
    if (object_read(reader, object, &x, NULL) < 0 ||
        !object_field(reader, &x, "java.lang.Thread", "name", &id))
        return;
    uint32_t name = id ? ids_find(&reader->o->d->ids, id) : IDS_NONE;
    if (name == IDS_NONE || object_string(reader, name, into, NAME_MOST) >= 0 ||
        object_read(reader, name, &x, NULL) < 0 || x.item.type != HPROF_CHAR)
        return;
    int64_t n = object_elements(reader, &x, 0, NAME_MOST, &p); /* up to JDK 7 a char[] */
    if (n > 0)
        object_text(TEXT_CHARS, p, (size_t)n, into);
}

static int put_name(struct search *s, struct thread_seen *t)
{
    struct buf b = {0};
    if (t->thread->name)
        buf_puts(&b, t->thread->name);
    else if (t->object != DUMP_NONE)
        threads_name(s->reader, t->object, &b);
    t->name = arena_strndup(&s->out->arena, buf_str(&b), b.len);
    buf_fini(&b);
    return t->name ? 0 : -ENOMEM;
}

/* Before the list is sorted it is in the order of the dump's. */
static struct thread_seen *thread_of(const struct search *s, uint32_t serial)
{
    const struct dump_thread *t = dump_thread_by_serial(s->d, serial);
    return t ? &s->out->v[t - s->d->threads] : NULL;
}

static uint32_t depth_of(const struct thread_seen *t, const struct dump_root *r)
{
    bool framed = r->kind == HPROF_ROOT_JAVA_FRAME || r->kind == HPROF_ROOT_JNI_LOCAL;
    return framed && t->trace && r->depth < t->trace->n_frames ? r->depth : THREADS_NO_FRAME;
}

static void add_local(struct search *s, struct thread_seen *t, const struct dump_root *r)
{
    struct frame_local l = {.depth = depth_of(t, r), .kind = r->kind};
    l.object = ids_find(&s->d->ids, r->id);
    if (l.object == IDS_NONE)
        return;
    l.retained = s->r ? retained_bytes(s->r, l.object) : 0;
    t->locals[t->n_locals++] = l;
}

static int by_depth(const void *a, const void *b)
{
    const struct frame_local *x = a, *y = b;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    if (x->retained != y->retained)
        return x->retained > y->retained ? -1 : 1;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return x->object < y->object ? -1 : x->object > y->object;
}

/* Each object once in a frame. */
static void order_locals(struct thread_seen *t)
{
    size_t n = 0;
    if (t->n_locals)
        qsort(t->locals, t->n_locals, sizeof *t->locals, by_depth);
    for (size_t i = 0; i < t->n_locals; i++)
        if (n == 0 || t->locals[i].object != t->locals[n - 1].object ||
            t->locals[i].depth != t->locals[n - 1].depth)
            t->locals[n++] = t->locals[i];
    t->n_locals = n;
}

/* The thread that a root belongs to, by its frames; NULL for others. */
static struct thread_seen *owner_of(const struct search *s, const struct dump_root *r)
{
    return is_local(r->kind) ? thread_of(s, r->thread) : NULL;
}

/* Room for the locals of `n` threads, as many as there are. */
static int make_room(struct search *s, struct thread_seen *v, size_t n)
{
    const struct dump *d = s->d;
    for (size_t i = 0; i < d->n_roots; i++) {
        struct thread_seen *t = owner_of(s, &d->roots[i]);
        if (t)
            t->n_locals++;
    }
    for (size_t i = 0; i < n; i++) {
        v[i].locals = arena_alloc(&s->out->arena, (v[i].n_locals + 1) * sizeof *v[i].locals);
        v[i].n_locals = 0;
        if (!v[i].locals)
            return -ENOMEM;
    }
    return 0;
}

struct placed {
    uint32_t place;
    struct frame_local *local;
};

static int by_place(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* In the order of the file: in a compressed one, to go back is to unpack again. */
static int read_sizes(struct search *s, struct thread_seen *v, size_t n)
{
    size_t all = 0;
    struct object x = {0};
    for (size_t i = 0; i < n; i++)
        all += v[i].n_locals;
    struct placed *list = malloc((all + 1) * sizeof *list);
    if (!list)
        return -ENOMEM;
    all = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < v[i].n_locals; k++)
            list[all++] =
                (struct placed){s->reader->o->places[v[i].locals[k].object], &v[i].locals[k]};
    qsort(list, all, sizeof *list, by_place);
    for (size_t i = 0; i < all; i++) {
        bool again = i > 0 && list[i].local->object == list[i - 1].local->object;
        if (!again && object_read(s->reader, list[i].local->object, &x, NULL) < 0)
            x.size = 0;
        list[i].local->size = x.size;
    }
    free(list);
    return 0;
}

static int find_locals(struct search *s, struct thread_seen *v, size_t n)
{
    const struct dump *d = s->d;
    for (size_t i = 0; i < d->n_roots; i++) {
        struct thread_seen *t = owner_of(s, &d->roots[i]);
        if (t)
            add_local(s, t, &d->roots[i]);
    }
    TRY(read_sizes(s, v, n));
    for (size_t i = 0; i < n; i++)
        order_locals(&v[i]);
    return 0;
}

static int by_retained(const void *a, const void *b)
{
    const struct thread_seen *x = a, *y = b;
    if (x->retained != y->retained)
        return x->retained > y->retained ? -1 : 1;
    return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static int find_all(struct search *s)
{
    const struct dump *d = s->d;
    struct thread_seen *v = arena_alloc(&s->out->arena, (d->n_threads + 1) * sizeof *v);
    if (!v)
        return -ENOMEM;
    s->out->v = v;
    s->out->n = d->n_threads;
    for (size_t i = 0; i < d->n_threads; i++) {
        struct thread_seen *t = &v[i];
        t->thread = &d->threads[i];
        t->object = ids_find(&d->ids, t->thread->id);
        t->trace = t->thread->trace == DUMP_NONE ? NULL : &d->traces[t->thread->trace];
        t->retained = s->r && t->object != DUMP_NONE ? retained_bytes(s->r, t->object) : 0;
        TRY(put_name(s, t));
    }
    TRY(make_room(s, v, d->n_threads));
    TRY(find_locals(s, v, d->n_threads));
    qsort(v, d->n_threads, sizeof *v, by_retained);
    return 0;
}

void threads_put_frame(const struct dump *d, const struct dump_trace *trace, uint32_t depth,
                       struct buf *into)
{
    uint32_t at = trace->frames[depth];
    if (at == DUMP_NONE) {
        buf_puts(into, "(the dump has no record of this frame)");
        return;
    }
    const struct dump_frame *f = &d->frames[at];
    buf_printf(into, "%s.%s (",
               f->class_number == DUMP_NONE ? "?" : d->classes[f->class_number].name, f->method);
    if (f->line > 0)
        buf_printf(into, "%s:%" PRId32 ")", *f->source ? f->source : "line", f->line);
    else
        buf_printf(into, "%s)", f->line == -3 ? "native" : *f->source ? f->source : "?");
}

int threads_find(struct threads_seen *out, const struct dump *d, const struct retained *r,
                 struct object_reader *reader, struct err *err)
{
    struct search s = {.d = d, .r = r, .reader = reader, .out = out};
    *out = (struct threads_seen){0};
    arena_init(&out->arena, 0);
    int rc = find_all(&s);
    if (rc < 0) {
        threads_fini(out);
        return err_set(err, rc, "%s: out of memory", d->path);
    }
    return 0;
}

void threads_fini(struct threads_seen *t)
{
    arena_fini(&t->arena);
    *t = (struct threads_seen){0};
}
