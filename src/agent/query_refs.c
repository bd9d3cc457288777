#include "agent/query_refs.h"

#include "agent/heap_classes.h"
#include "agent/heap_walk.h"
#include "agent/json_text.h"
#include "agent/objects.h"
#include "agent/query_object.h"
#include "agent/threads.h"
#include "base/util.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    FAN = 32,        /* objects remembered of each step */
    STEPS_MOST = 32, /* back to a root */
    NODES = FAN * (STEPS_MOST + 9) + 1,
    EDGES = 512,
};

struct node {
    jlong tag;
    uint32_t step;   /* 0: the object itself */
    uint32_t toward; /* the node that it refers to, on the way to the object; its edge: */
    uint32_t edge;
    uint64_t number; /* 0: it is not shown, or has gone */
    bool shown;
};

struct edge {
    uint32_t from, to; /* nodes */
    jvmtiHeapReferenceKind kind;
    const char *field; /* of the classes' memory */
    jint index;        /* of an element, or of a frame */
    jlong java_tid;    /* of a frame */
    bool weak;         /* a Reference's referent */
};

struct search {
    JNIEnv *jni;
    struct heap_walk walk;
    struct heap_classes classes;
    jlong reference; /* the tag of java.lang.ref.Reference */
    jlong own_tid;   /* the thread that asks: what it refers to does not belong to the program */
    struct node nodes[NODES];
    uint32_t n_nodes;
    struct edge edges[EDGES]; /* those that are shown: back, then on */
    uint32_t n_edges, n_back;
    struct edge ways[NODES];     /* by which each node was found */
    struct edge root;            /* to: NODES when there is none */
    uint32_t depth, step, found; /* found: in this step */
    uint64_t cut_back, cut_on;
    uint32_t walks;
};

/* --- nodes ------------------------------------------------------------------------------------ */

/* Few of the heap's objects have a tag that is sought, so this is not often done. */
static uint32_t find(const struct search *s, jlong tag)
{
    uint32_t i = 0;
    while (i < s->n_nodes && s->nodes[i].tag != tag)
        i++;
    return i;
}

static jlong tag_it(jlong *tag)
{
    uint32_t place;
    uint64_t number;
    if (!objects_tag_place(*tag, &place, &number) && !objects_is_walk_tag(*tag, &number))
        *tag = objects_walk_tag(objects_number());
    return *tag;
}

/* The node of a tag; NODES: it is a new one, and one too many. */
static uint32_t take(struct search *s, jlong *tag)
{
    uint32_t i = *tag ? find(s, *tag) : s->n_nodes;
    if (i < s->n_nodes)
        return i;
    if (s->found == FAN || s->n_nodes == NODES)
        return NODES;
    s->found++;
    s->nodes[s->n_nodes] = (struct node){.tag = tag_it(tag), .step = s->step, .toward = NODES};
    return s->n_nodes++;
}

static bool is_weak(const struct search *s, const struct heap_class *of, const char *field)
{
    while (of && of->tag != s->reference)
        of = of->super;
    return of && field && strcmp(field, "referent") == 0;
}

static struct edge edge_of(const struct search *s, const struct heap_edge *e)
{
    struct edge made = {.kind = e->kind, .index = -1};
    bool is_static = e->from && e->kind == JVMTI_HEAP_REFERENCE_STATIC_FIELD;
    if (is_static || e->kind == JVMTI_HEAP_REFERENCE_FIELD) {
        const struct heap_class *of =
            heap_classes_find(&s->classes, is_static ? *e->from : e->referrer_class_tag);
        made.field = heap_classes_field(&s->classes, of, is_static, e->info->field.index);
        made.weak = !is_static && is_weak(s, of, made.field);
    } else if (e->kind == JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT) {
        made.index = e->info->array.index;
    } else if (e->kind == JVMTI_HEAP_REFERENCE_STACK_LOCAL) {
        made.index = e->info->stack_local.depth;
        made.java_tid = e->info->stack_local.thread_id;
    } else if (e->kind == JVMTI_HEAP_REFERENCE_JNI_LOCAL) {
        made.index = e->info->jni_local.depth;
        made.java_tid = e->info->jni_local.thread_id;
    }
    return made;
}

static void show(struct search *s, struct edge e, uint32_t from, uint32_t to, uint64_t *cut)
{
    if (s->n_edges == EDGES) {
        (*cut)++;
        return;
    }
    e.from = from;
    e.to = to;
    s->edges[s->n_edges++] = e;
    s->nodes[from].shown = s->nodes[to].shown = true;
}

/* --- back ------------------------------------------------------------------------------------- */

static jint on_root(struct search *s, const struct heap_edge *e, uint32_t to)
{
    if (edge_of(s, e).java_tid == s->own_tid)
        return HEAP_GO_ON;
    if (s->root.to == NODES) {
        s->root = edge_of(s, e);
        s->root.to = to;
    }
    return s->step > s->depth ? HEAP_END : HEAP_GO_ON;
}

/* A reference to one of the objects that the step before has found. */
static jint back(void *ctx, const struct heap_edge *e)
{
    struct search *s = ctx;
    if (!*e->tag || e->kind == JVMTI_HEAP_REFERENCE_CLASS)
        return HEAP_GO_ON;
    uint32_t to = find(s, *e->tag);
    if (to == s->n_nodes || s->nodes[to].step + 1 != s->step)
        return HEAP_GO_ON;
    if (!e->from)
        return on_root(s, e, to);
    struct edge made = edge_of(s, e);
    bool shown = s->step <= s->depth;
    if (made.weak && !shown)
        return HEAP_GO_ON;
    uint32_t known = s->n_nodes, from = take(s, e->from);
    if (from == NODES) {
        s->cut_back += shown;
        return HEAP_GO_ON;
    }
    if (s->nodes[from].toward == NODES && from != 0 && !made.weak && from >= known) {
        s->nodes[from].toward = to;
        s->ways[from] = made;
    }
    if (shown)
        show(s, made, from, to, &s->cut_back);
    return HEAP_GO_ON;
}

/* An object from which only weak references lead on is not part of a path. */
static int search_back(struct search *s, struct err *err)
{
    s->root.to = NODES;
    for (s->step = 1; s->step <= STEPS_MOST; s->step++) {
        s->found = 0;
        s->walks++;
        TRY(heap_walk_follow(&s->walk, NULL, back, s, err));
        bool done = s->root.to != NODES && s->step >= s->depth;
        if (done || s->found == 0)
            return 0;
    }
    return 0;
}

/* --- on --------------------------------------------------------------------------------------- */

struct on {
    struct search *s;
    uint32_t from;
};

static jint on(void *ctx, const struct heap_edge *e)
{
    const struct on *o = ctx;
    if (!e->from || e->kind == JVMTI_HEAP_REFERENCE_CLASS)
        return HEAP_NOT_BEYOND;
    uint32_t to = take(o->s, e->tag);
    if (to == NODES)
        o->s->cut_on++;
    else
        show(o->s, edge_of(o->s, e), o->from, to, &o->s->cut_on);
    return HEAP_NOT_BEYOND;
}

/* From each object that the step before has found, one walk of one step. */
static int step_on(struct search *s, uint32_t first, uint32_t end, struct err *err)
{
    jlong tags[FAN];
    struct heap_found found;
    for (uint32_t i = first; i < end; i++)
        tags[i - first] = s->nodes[i].tag;
    TRY(heap_walk_find(&s->walk, tags, (jint)(end - first), &found, err));
    int rc = 0;
    for (jint i = 0; i < found.n; i++) {
        struct on o = {s, find(s, found.tags[i])};
        if (rc == 0 && o.from < s->n_nodes)
            rc = heap_walk_follow(&s->walk, found.objects[i], on, &o, err);
        (*s->jni)->DeleteLocalRef(s->jni, found.objects[i]);
    }
    heap_walk_free(&s->walk, &found);
    return rc;
}

static int search_on(struct search *s, jobject object, struct err *err)
{
    struct on o = {s, 0};
    uint32_t first = s->n_nodes;
    s->n_back = s->n_edges;
    s->found = 0;
    TRY(heap_walk_follow(&s->walk, object, on, &o, err));
    for (uint32_t step = 1; step < s->depth && first < s->n_nodes; step++) {
        uint32_t end = s->n_nodes;
        s->found = 0;
        TRY(step_on(s, first, end, err));
        first = end;
    }
    return 0;
}

/* --- the answer ------------------------------------------------------------------------------- */

static const char *kind_name(const struct edge *e)
{
    static const char *const names[] = {
        [JVMTI_HEAP_REFERENCE_FIELD] = "field",
        [JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT] = "element",
        [JVMTI_HEAP_REFERENCE_CLASS_LOADER] = "class loader",
        [JVMTI_HEAP_REFERENCE_SIGNERS] = "signers",
        [JVMTI_HEAP_REFERENCE_PROTECTION_DOMAIN] = "protection domain",
        [JVMTI_HEAP_REFERENCE_INTERFACE] = "interface",
        [JVMTI_HEAP_REFERENCE_STATIC_FIELD] = "static field",
        [JVMTI_HEAP_REFERENCE_CONSTANT_POOL] = "constant pool",
        [JVMTI_HEAP_REFERENCE_SUPERCLASS] = "superclass",
        [JVMTI_HEAP_REFERENCE_JNI_GLOBAL] = "JNI global reference",
        [JVMTI_HEAP_REFERENCE_SYSTEM_CLASS] = "system class",
        [JVMTI_HEAP_REFERENCE_MONITOR] = "monitor in use",
        [JVMTI_HEAP_REFERENCE_STACK_LOCAL] = "local variable",
        [JVMTI_HEAP_REFERENCE_JNI_LOCAL] = "JNI local reference",
        [JVMTI_HEAP_REFERENCE_THREAD] = "thread",
    };
    const char *name = (size_t)e->kind < ARRAY_LEN(names) ? names[e->kind] : NULL;
    return name ? name : "root inside the JVM";
}

static void put_how(const struct edge *e, struct buf *b)
{
    buf_printf(b, "\"how\":\"%s\"", kind_name(e));
    if (e->field) {
        buf_puts(b, ",\"field\":");
        json_put_text(b, e->field);
    }
    if (e->index >= 0)
        buf_printf(b, ",\"%s\":%" PRId32, e->java_tid ? "frame" : "index", e->index);
    if (e->java_tid)
        buf_printf(b, ",\"java_thread\":%" PRId64, (int64_t)e->java_tid);
    if (e->weak)
        buf_puts(b, ",\"weak\":true");
}

/* Numbers for what is shown; a number is a tag, which takes the place of the walk's. */
static int put_objects(struct search *s, struct buf *b, struct err *err)
{
    jlong tags[NODES];
    jint n = 0;
    struct heap_found found;
    for (uint32_t i = 0; i < s->n_nodes; i++)
        if (s->nodes[i].shown)
            tags[n++] = s->nodes[i].tag;
    TRY(heap_walk_find(&s->walk, tags, n, &found, err));
    buf_puts(b, "\"objects\":[");
    for (jint i = 0; i < found.n; i++) {
        uint32_t at = find(s, found.tags[i]);
        struct object_facts f;
        buf_puts(b, i ? "," : "");
        query_object_put_short(s->jni, found.objects[i], b);
        if (at < s->n_nodes && objects_known(found.objects[i], &f))
            s->nodes[at].number = f.number;
        (*s->jni)->DeleteLocalRef(s->jni, found.objects[i]);
    }
    buf_putc(b, ']');
    heap_walk_free(&s->walk, &found);
    return 0;
}

static void put_edges(const struct search *s, const char *name, uint32_t first, uint32_t end,
                      struct buf *b)
{
    const char *comma = "";
    buf_printf(b, ",\"%s\":[", name);
    for (uint32_t i = first; i < end; i++) {
        const struct edge *e = &s->edges[i];
        uint64_t from = s->nodes[e->from].number, to = s->nodes[e->to].number;
        if (!from || !to) /* it has gone since */
            continue;
        buf_printf(b, "%s{\"from\":%" PRIu64 ",\"to\":%" PRIu64 ",", comma, from, to);
        put_how(e, b);
        buf_putc(b, '}');
        comma = ",";
    }
    buf_putc(b, ']');
}

/* From the root to the object: each with how it is referred to. */
static void put_path(const struct search *s, struct buf *b)
{
    const struct edge *how = &s->root;
    buf_puts(b, ",\"path\":[");
    for (uint32_t i = s->root.to; i < NODES; i = s->nodes[i].toward) {
        buf_printf(b, "%s{\"number\":%" PRIu64 ",", how == &s->root ? "" : ",", s->nodes[i].number);
        put_how(how, b);
        buf_putc(b, '}');
        how = &s->ways[i];
    }
    buf_putc(b, ']');
}

static int answer(struct search *s, struct buf *b, struct err *err)
{
    for (uint32_t i = s->root.to; i < NODES; i = s->nodes[i].toward)
        s->nodes[i].shown = true;
    s->nodes[0].shown = true;
    buf_putc(b, '{');
    TRY(put_objects(s, b, err));
    buf_printf(b, ",\"number\":%" PRIu64 ",\"depth\":%u", s->nodes[0].number, s->depth);
    put_path(s, b);
    put_edges(s, "referrers", 0, s->n_back, b);
    put_edges(s, "refers_to", s->n_back, s->n_edges, b);
    buf_printf(b,
               ",\"referrers_left_out\":%" PRIu64 ",\"refers_to_left_out\":%" PRIu64
               ",\"walks\":%u,\"stopped_ns\":%" PRIu64 "}\n",
               s->cut_back, s->cut_on, s->walks, s->walk.stopped_ns);
    return 0;
}

/* ---------------------------------------------------------------------------------------------- */

static int begin(struct search *s, jobject object, struct err *err)
{
    jlong tag = 0;
    jthread self = NULL;
    if ((*agent.jvmti)->GetCurrentThread(agent.jvmti, &self) == JVMTI_ERROR_NONE)
        s->own_tid = (jlong)threads_java_tid(s->jni, self);
    TRY(heap_walk_begin(&s->walk, s->jni, err));
    TRY(heap_classes_open(&s->classes, s->jni, &s->walk, err));
    jclass reference = (*s->jni)->FindClass(s->jni, "java/lang/ref/Reference");
    if (reference)
        (*s->walk.jvmti)->GetTag(s->walk.jvmti, reference, &s->reference);
    jvmtiError e = (*s->walk.jvmti)->GetTag(s->walk.jvmti, object, &tag);
    if (e != JVMTI_ERROR_NONE || !tag)
        return err_set(err, -ENOENT, "no live object has this number");
    s->n_nodes = 1;
    s->nodes[0] = (struct node){.tag = tag, .toward = NODES};
    return 0;
}

int query_refs_put(JNIEnv *jni, jobject object, uint32_t depth, struct buf *b, struct err *err)
{
    struct search *s = calloc(1, sizeof *s);
    if (!s)
        return err_set(err, -ENOMEM, "out of memory");
    s->jni = jni;
    s->depth = depth;
    s->root.to = NODES;
    int rc = begin(s, object, err);
    if (rc == 0)
        rc = search_back(s, err);
    if (rc == 0)
        rc = search_on(s, object, err);
    if (rc == 0)
        rc = answer(s, b, err);
    heap_walk_end(&s->walk);
    heap_classes_close(&s->classes);
    free(s);
    return rc;
}
