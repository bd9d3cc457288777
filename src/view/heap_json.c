/* heap_json.c - the answers about a heap dump by name, and the parts that they are made of. */
#include "view/heap_parts.h"

#include "base/printable.h"
#include "base/util.h"
#include "heap/graph.h"
#include "heap/links.h"
#include "heap/missing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEEPERS = 1,
    CONTENTS = 2,
    ONE_OBJECT = HEAP_ASK(OBJECT) | HEAP_ASK(ID),
    PAGED = HEAP_ASK(OFFSET) | HEAP_ASK(TOP),
};

static const struct answer_of {
    const char *name;
    enum heap_stage from;
    enum heap_finding finding; /* and what must have been found */
    unsigned about; /* KEEPERS: what keeps what alive, which only a whole dump shows; CONTENTS,
                       which XML does not have */
    uint32_t takes, needs; /* HEAP_ASK bits; what is needed is taken, too */
    json_t *(*make)(struct heap_ask *a, int *rc, struct err *err);
} answers[] = {
    {"overview", HEAP_READING, HEAP_FIND_NOTHING, 0, 0, 0, heap_answer_overview},
    {"classes", HEAP_COUNTED, HEAP_FIND_NOTHING, 0, HEAP_ASK(TOP) | HEAP_ASK(MATCH), 0,
     heap_answer_classes},
    {"instances", HEAP_SIZED, HEAP_FIND_NOTHING, 0, PAGED, HEAP_ASK(CLASS), heap_answer_instances},
    {"object", HEAP_SIZED, HEAP_FIND_NOTHING, 0, 0, ONE_OBJECT, heap_answer_object},
    {"elements", HEAP_SIZED, HEAP_FIND_NOTHING, 0, PAGED, ONE_OBJECT, heap_answer_elements},
    {"referrers", HEAP_READY, HEAP_FIND_NOTHING, 0, PAGED, ONE_OBJECT, heap_answer_referrers},
    {"path", HEAP_READY, HEAP_FIND_NOTHING, 0, 0, ONE_OBJECT, heap_answer_path},
    {"tree", HEAP_SIZED, HEAP_FIND_NOTHING, KEEPERS, ONE_OBJECT | PAGED, 0, heap_answer_tree},
    {"icicle", HEAP_SIZED, HEAP_FIND_NOTHING, KEEPERS, ONE_OBJECT | HEAP_ASK(PARTS), 0,
     heap_answer_icicle},
    {"suspects", HEAP_SIZED, HEAP_FIND_SUSPECTS, KEEPERS, 0, 0, heap_answer_suspects},
    {"threads", HEAP_SIZED, HEAP_FIND_THREADS, 0, PAGED, 0, heap_answer_threads},
    {"thread", HEAP_SIZED, HEAP_FIND_THREADS, 0, 0, HEAP_ASK(THREAD), heap_answer_thread},
    {"strings", HEAP_COUNTED, HEAP_FIND_STRINGS, CONTENTS, HEAP_ASK(TOP), 0, heap_answer_strings},
    {"collections", HEAP_COUNTED, HEAP_FIND_COLLECTIONS, CONTENTS, HEAP_ASK(TOP), 0,
     heap_answer_collections},
    {"diff", HEAP_COUNTED, HEAP_FIND_DIFF, 0, HEAP_ASK(TOP), 0, heap_answer_diff},
};

static const struct answer_of *find_answer(const char *asked, struct err *err)
{
    struct buf names = {0};
    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        if (strcmp(answers[i].name, asked) == 0) {
            buf_fini(&names);
            return &answers[i];
        }
        buf_printf(&names, "%s%s", i ? ", " : "", answers[i].name);
    }
    err_set(err, -ENOENT, "there is no answer '%.40s'; there are %s", asked, buf_str(&names));
    buf_fini(&names);
    return NULL;
}

/* rc: -EAGAIN, or -EINPROGRESS with a message, which is valid as long as a reader has it. */
static int say_early(struct heap_view *h, int rc, struct err *err)
{
    pthread_mutex_lock(&h->lock);
    const struct heap_progress p = h->progress;
    pthread_mutex_unlock(&h->lock);
    if (rc == -EINPROGRESS && !p.error[0])
        return rc;
    if (p.error[0])
        return err_set(err, -EAGAIN, "unknown: %s", p.error);
    return err_set(err, -EAGAIN, "not known yet: %s; ask again, or wait for /api/live", p.phase);
}

static int append(const char *text, size_t n, void *to)
{
    struct buf *b = to;
    buf_put(b, text, n);
    return b->oom ? -1 : 0;
}

static int write_answer(const struct answer_of *of, struct heap_ask *a, struct buf *out,
                        struct err *err)
{
    int rc = 0;
    size_t before = out->len;
    json_t *j = of->make(a, &rc, err);
    if (rc == 0 && (!j || json_dump_callback(j, append, out, JSON_COMPACT) < 0))
        rc = err_set(err, -ENOMEM, "out of memory: ask for less at a time");
    json_decref(j);
    if (rc < 0)
        out->len = before;
    else
        buf_putc(out, '\n');
    return rc;
}

/* In place of the answer: why there is none. */
static int say_not_known(const char *why, struct buf *out, struct err *err)
{
    buf_printf(out, "{\"not_known\":\"%s\"}\n", why);
    return out->oom ? err_set(err, -ENOMEM, "out of memory") : 0;
}

/* NULL: it is known.  From the answer's stage on. */
static const char *why_not_known(const struct heap_view *h, const struct answer_of *of)
{
    return of->about & KEEPERS && !h->retained.known               ? missing_why
           : of->about & CONTENTS && !missing_knows_contents(h->d) ? missing_contents
                                                                   : NULL;
}

int heap_view_json(struct heap_view *h, const char *answer, const struct view_question *q,
                   struct buf *out, struct err *err)
{
    /* acquire: what the stages up to this one have found; see reach. */
    struct heap_ask a = {
        .h = h, .stage = (enum heap_stage)atomic_load_explicit(&h->stage, memory_order_acquire)};
    const struct answer_of *of = find_answer(answer, err);
    if (!of)
        return -ENOENT;
    int found = of->finding == HEAP_FIND_NOTHING ? 0 : heap_find_check(h, of->finding, err);
    if (found < 0 && found != -EAGAIN && found != -EINPROGRESS)
        return found;
    if (found < 0 || a.stage < of->from)
        return say_early(h, found < 0 ? found : -EAGAIN, err);
    int rc = heap_ask_init(&a, q, of->takes | of->needs, of->needs, err);
    const char *unknown = rc == 0 ? why_not_known(h, of) : NULL;
    if (unknown)
        rc = say_not_known(unknown, out, err);
    else if (rc == 0)
        rc = write_answer(of, &a, out, err);
    heap_ask_fini(&a);
    return rc;
}

/* --- values ----------------------------------------------------------------------------------- */

json_t *heap_json_count(uint64_t v)
{
    return json_integer((json_int_t)v);
}

json_t *heap_json_text_n(const char *text, size_t n)
{
    json_t *j = json_stringn(n ? text : "", n);
    if (j)
        return j;
    size_t room = 3 * n + 1;
    char *from = malloc(n + 1), *clean = malloc(room);
    if (from && clean) {
        memcpy(from, text, n);
        from[n] = 0;
        printable_utf8(from, clean, room);
        j = json_string(clean);
    }
    free(from);
    free(clean);
    return j;
}

json_t *heap_json_text(const char *text)
{
    return heap_json_text_n(text, strlen(text));
}

json_t *heap_json_id(uint64_t id)
{
    char hex[32];
    snprintf(hex, sizeof hex, "0x%" PRIx64, id);
    return json_string(hex);
}

json_t *heap_json_frame(const struct dump *d, const struct dump_trace *trace, uint32_t depth)
{
    struct buf b = {0};
    threads_put_frame(d, trace, depth, &b);
    json_t *j = heap_json_text_n((const char *)b.p, b.len);
    buf_fini(&b);
    return j;
}

/* --- objects ---------------------------------------------------------------------------------- */

void heap_put_class(const struct heap_view *h, uint32_t object, struct buf *into)
{
    uint32_t c = objects_class(&h->retained.objects, object);
    const struct dump_class *own =
        c == h->d->class_class ? dump_class_by_id(h->d, ids_at(&h->d->ids, object)) : NULL;
    if (own)
        buf_printf(into, "class %s", own->name);
    else
        buf_puts(into, c == DUMP_NONE ? "(unknown class)" : h->d->classes[c].name);
}

json_t *heap_json_retained(const struct heap_view *h, uint64_t bytes)
{
    return h->retained.known ? heap_json_count(bytes) : json_null();
}

static json_t *retained_of(const struct heap_view *h, uint32_t object)
{
    return h->retained.dominators[object] == DUMP_NONE
               ? json_null()
               : heap_json_count(retained_bytes(&h->retained, object));
}

json_t *heap_json_brief(struct heap_ask *a, uint32_t object)
{
    const struct heap_view *h = a->h;
    struct object x;
    struct buf label = {0};
    if (object == DUMP_NONE)
        return json_null();
    uint32_t c = objects_class(&h->retained.objects, object);
    if (links_describe(&a->reader, object, &label) < 0) {
        buf_clear(&label);
        heap_put_class(h, object, &label);
        buf_puts(&label, " (its record cannot be read)");
    }
    bool read = object_read(&a->reader, object, &x, NULL) == 0;
    json_t *j =
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "object", heap_json_count(object), "id",
                  heap_json_id(ids_at(&h->d->ids, object)), "class",
                  c == DUMP_NONE ? json_null() : heap_json_count(c), "label",
                  heap_json_text_n((const char *)label.p, label.len), "shallow",
                  read ? heap_json_count(x.size) : json_null(), "retained", retained_of(h, object));
    buf_fini(&label);
    return j;
}

json_t *heap_json_class(const struct heap_view *h, uint32_t number)
{
    if (number == DUMP_NONE)
        return json_pack("{s:n, s:n}", "class", "name");
    return json_pack("{s:o, s:o}", "class", heap_json_count(number), "name",
                     heap_json_text(h->d->classes[number].name));
}

/* --- roots ------------------------------------------------------------------------------------ */

const char *heap_root_kind(uint8_t kind)
{
    switch (kind) {
    case HPROF_ROOT_JNI_GLOBAL:
        return "JNI global";
    case HPROF_ROOT_JNI_LOCAL:
        return "JNI local";
    case HPROF_ROOT_JAVA_FRAME:
        return "local variable";
    case HPROF_ROOT_NATIVE_STACK:
        return "native stack";
    case HPROF_ROOT_STICKY_CLASS:
        return "class of the JVM";
    case HPROF_ROOT_THREAD_BLOCK:
        return "thread block";
    case HPROF_ROOT_MONITOR_USED:
        return "monitor in use";
    case HPROF_ROOT_THREAD_OBJ:
        return "thread";
    default:
        return "unknown root";
    }
}

/* "shop.Order.run (Order.java:88)", or null. */
static json_t *frame_of(const struct dump *d, const struct dump_thread *t, uint32_t depth)
{
    const struct dump_trace *trace = t && t->trace < d->n_traces ? &d->traces[t->trace] : NULL;
    return trace && depth < trace->n_frames ? heap_json_frame(d, trace, depth) : json_null();
}

static json_t *root_of(struct heap_ask *a, const struct dump_root *r)
{
    const struct dump *d = a->h->d;
    const struct dump_thread *t =
        r->kind == HPROF_ROOT_THREAD_OBJ ? NULL : dump_thread_by_serial(d, r->thread);
    uint32_t thread = t ? ids_find(&d->ids, t->id) : IDS_NONE;
    return json_pack("{s:s, s:o, s:o}", "kind", heap_root_kind(r->kind), "thread",
                     thread == IDS_NONE ? json_null() : heap_json_brief(a, thread), "frame",
                     frame_of(d, t, r->depth));
}

json_t *heap_json_roots(struct heap_ask *a, uint32_t object)
{
    const struct dump *d = a->h->d;
    uint64_t id = ids_at(&d->ids, object);
    const struct dump_class *c = dump_class_by_id(d, id);
    json_t *list = json_array();
    size_t i = 0;
    BISECT(i, d->n_roots, d->roots[i].id < id);
    for (; i < d->n_roots && d->roots[i].id == id && json_array_size(list) < HEAP_TOP_DEFAULT; i++)
        json_array_append_new(list, root_of(a, &d->roots[i]));
    if (c && c->described && !c->loader && json_array_size(list) == 0)
        json_array_append_new(list, json_pack("{s:s, s:n, s:n}", "kind", "class of the boot loader",
                                              "thread", "frame"));
    return list;
}
