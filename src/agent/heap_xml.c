#include "agent/heap_xml.h"

#include "agent/heap_classes.h"
#include "agent/heap_walk.h"
#include "agent/jvm_text.h"
#include "agent/objects.h"
#include "agent/threads.h"
#include "base/clock.h"
#include "base/util.h"
#include "base/version.h"
#include "export/out.h"
#include "export/xml.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct thread {
    uint64_t java_tid, id;
};

struct xml {
    JNIEnv *jni;
    struct heap_walk walk;
    struct heap_classes classes;
    struct out out;
    struct thread *threads; /* sorted by java_tid */
    size_t n_threads;
    uint8_t *told; /* a bit for each place (objects.h): the object is in the file */
    uint32_t places;
    uint64_t limit, objects, references, roots;
    uint64_t begun; /* ns since 1970 */
    bool too_many;
};

/* --- elements --------------------------------------------------------------------------------- */

static void put_number(struct xml *x, const char *name, uint64_t v)
{
    out_char(&x->out, ' ');
    out_text(&x->out, name);
    out_text(&x->out, "=\"");
    out_decimal(&x->out, v);
    out_char(&x->out, '"');
}

/* When the dump was begun. */
static void put_time(struct xml *x)
{
    out_text(&x->out, " time=\"");
    out_seconds_9(&x->out, x->begun);
    out_char(&x->out, '"');
}

static void put_word(struct xml *x, const char *name, const char *text)
{
    struct buf b;
    buf_init(&b);
    xml_put(&b, text);
    out_char(&x->out, ' ');
    out_text(&x->out, name);
    out_text(&x->out, "=\"");
    out_bytes(&x->out, b.p, b.len);
    out_char(&x->out, '"');
    buf_fini(&b);
}

/* A word of ours. */
static void put_kind(struct xml *x, const char *kind)
{
    out_text(&x->out, " type=\"");
    out_text(&x->out, kind);
    out_char(&x->out, '"');
}

static void end(struct xml *x)
{
    out_text(&x->out, "/>");
    out_newline(&x->out);
}

/* JVMPI's word for what an object is, by the signature of its class: 0 an object, 2 an array of
 * references, 4 to 11 of boolean, char, float, double, byte, short, int, long. */
static uint64_t array_kind(const char *signature)
{
    static const char primitives[] = "ZCFDBSIJ";
    enum { REFERENCES = 2, FIRST = 4 };
    if (signature[0] != '[')
        return 0;
    const char *at = signature[1] ? strchr(primitives, signature[1]) : NULL;
    return at ? FIRST + (uint64_t)(at - primitives) : REFERENCES;
}

static void put_object(struct xml *x, uint64_t number, uint64_t size, const struct heap_class *c)
{
    out_text(&x->out, "<objDef");
    put_number(x, "objId", number);
    put_number(x, "isArray", c ? array_kind(c->signature) : 0);
    put_number(x, "size", size);
    if (c)
        put_number(x, "classIdRef", c->number);
    end(x);
    x->objects++;
}

/* "Ljava/lang/String;" -> "java/lang/String"; an array stays as it is. */
static void put_class(struct xml *x, const struct heap_class *c)
{
    char name[1024];
    size_t n = strlen(c->signature);
    bool plain = c->signature[0] == 'L' && n > 2;
    snprintf(name, sizeof name, "%.*s", (int)(plain ? n - 2 : n), c->signature + plain);
    out_text(&x->out, "<classDef");
    put_word(x, "name", name);
    put_word(x, "sourceName", ""); /* the JVM is not asked: readers count attributes */
    put_number(x, "classId", c->number);
    put_number(x, "objId", c->number);
    end(x);
}

/* --- written before the walk ------------------------------------------------------------------ */

/* Whether this is the first time that the object of a place is met. */
static bool is_new(struct xml *x, uint32_t place)
{
    uint8_t bit = (uint8_t)(1u << place % 8), *byte = &x->told[place / 8];
    if (place >= x->places || *byte & bit)
        return false;
    *byte |= bit;
    return true;
}

static void put_classes(struct xml *x)
{
    jclass class_class = (*x->jni)->FindClass(x->jni, "java/lang/Class");
    jlong tag = 0, size = 0;
    uint64_t number;
    uint32_t place;
    if (class_class) {
        (*x->walk.jvmti)->GetTag(x->walk.jvmti, class_class, &tag);
        (*x->walk.jvmti)->GetObjectSize(x->walk.jvmti, class_class, &size);
    }
    const struct heap_class *of = heap_classes_find(&x->classes, tag);
    for (size_t i = 0; i < x->classes.n; i++)
        put_class(x, &x->classes.all[i]);
    for (size_t i = 0; i < x->classes.n; i++) {
        if (objects_tag_place(x->classes.all[i].tag, &place, &number))
            is_new(x, place);
        put_object(x, x->classes.all[i].number, (uint64_t)size, of);
    }
    (*x->jni)->DeleteLocalRef(x->jni, class_class);
}

static int by_tid(const void *a, const void *b)
{
    const struct thread *x = a, *y = b;
    return (x->java_tid > y->java_tid) - (x->java_tid < y->java_tid);
}

/* The number of a Thread object, which is written here, so that its locals can name it; 0: it
 * cannot be numbered. */
static uint64_t put_thread_object(struct xml *x, jthread thread)
{
    jvmtiEnv *jvmti = x->walk.jvmti;
    jlong tag = 0, class_tag = 0, size = 0;
    uint64_t number;
    uint32_t place;
    bool numbered = (*jvmti)->GetTag(jvmti, thread, &tag) == JVMTI_ERROR_NONE &&
                    objects_tag_place(tag, &place, &number);
    if (numbered && !is_new(x, place))
        return number;
    if (!numbered) {
        number = objects_number();
        x->walk.tagged = true;
        if ((*jvmti)->SetTag(jvmti, thread, objects_walk_tag(number)) != JVMTI_ERROR_NONE)
            return 0;
    }
    jclass class_ = (*x->jni)->GetObjectClass(x->jni, thread);
    (*jvmti)->GetTag(jvmti, class_, &class_tag);
    (*jvmti)->GetObjectSize(jvmti, thread, &size);
    (*x->jni)->DeleteLocalRef(x->jni, class_);
    put_object(x, number, (uint64_t)size, heap_classes_find(&x->classes, class_tag));
    return number;
}

/* groupName and parentName; "" where the JVM does not tell, of a thread that is ending. */
static void put_group(struct xml *x, jthreadGroup group)
{
    jvmtiEnv *jvmti = x->walk.jvmti;
    jvmtiThreadGroupInfo info = {0}, parent = {0};
    char name[512];
    if (group && (*jvmti)->GetThreadGroupInfo(jvmti, group, &info) == JVMTI_ERROR_NONE &&
        info.parent)
        (*jvmti)->GetThreadGroupInfo(jvmti, info.parent, &parent);
    put_word(x, "groupName", jvm_text(name, sizeof name, info.name));
    put_word(x, "parentName", jvm_text(name, sizeof name, parent.name));
    if (info.name)
        (*jvmti)->Deallocate(jvmti, (unsigned char *)info.name);
    if (parent.name)
        (*jvmti)->Deallocate(jvmti, (unsigned char *)parent.name);
    (*x->jni)->DeleteLocalRef(x->jni, info.parent);
    (*x->jni)->DeleteLocalRef(x->jni, parent.parent);
}

/* Orca's id of a thread of the recording, else the JVM's. */
static void put_thread(struct xml *x, jthread thread, jfieldID tid, struct thread *t)
{
    jvmtiThreadInfo info;
    char name[1024];
    memset(&info, 0, sizeof info);
    t->java_tid = t->id = (uint64_t)(*x->jni)->GetLongField(x->jni, thread, tid);
    RECORDING(t->id = threads_of(x->jni, thread).v);
    (*x->walk.jvmti)->GetThreadInfo(x->walk.jvmti, thread, &info);
    jvm_text(name, sizeof name, info.name);
    uint64_t object = put_thread_object(x, thread);
    out_text(&x->out, "<threadStart");
    put_number(x, "threadId", t->id);
    put_time(x);
    put_group(x, info.thread_group);
    if (object)
        put_number(x, "objIdRef", object);
    put_word(x, "threadName", name);
    end(x);
    if (info.name)
        (*x->walk.jvmti)->Deallocate(x->walk.jvmti, (unsigned char *)info.name);
    (*x->jni)->DeleteLocalRef(x->jni, info.thread_group);
    (*x->jni)->DeleteLocalRef(x->jni, info.context_class_loader);
}

static int put_threads(struct xml *x, struct err *err)
{
    jthread *threads = NULL;
    jint n = 0;
    jclass class_ = (*x->jni)->FindClass(x->jni, "java/lang/Thread");
    jfieldID tid = class_ ? (*x->jni)->GetFieldID(x->jni, class_, "tid", "J") : NULL;
    (*x->jni)->DeleteLocalRef(x->jni, class_);
    if (!tid) {
        (*x->jni)->ExceptionClear(x->jni);
        return 0; /* roots are written without their threads */
    }
    jvmtiError e = (*x->walk.jvmti)->GetAllThreads(x->walk.jvmti, &n, &threads);
    if (e != JVMTI_ERROR_NONE)
        return err_set(err, -ENOTSUP, "the JVM does not list its threads: %s", jvmti_error_name(e));
    refs_may_be_many(x->jni);
    x->threads = calloc((size_t)n + 1, sizeof *x->threads);
    for (jint i = 0; i < n; i++) {
        if (x->threads)
            put_thread(x, threads[i], tid, &x->threads[x->n_threads++]);
        (*x->jni)->DeleteLocalRef(x->jni, threads[i]);
    }
    (*x->walk.jvmti)->Deallocate(x->walk.jvmti, (unsigned char *)threads);
    if (!x->threads)
        return err_set(err, -ENOMEM, "out of memory");
    qsort(x->threads, x->n_threads, sizeof *x->threads, by_tid);
    return 0;
}

static void put_head(struct xml *x)
{
    char name[32];
    snprintf(name, sizeof name, "%d", (int)getpid());
    out_text(&x->out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<TRACE>\n<option");
    put_word(x, "key", "orca.version");
    put_word(x, "value", ORCA_VERSION);
    end(x);
    out_text(&x->out, "<heapDumpDef");
    put_number(x, "heapDumpId", 1);
    put_word(x, "name", name);
    put_time(x);
    end(x);
}

/* --- the walk --------------------------------------------------------------------------------- */

static const char *kind_name(jvmtiHeapReferenceKind kind)
{
    static const char *const names[] = {
        [JVMTI_HEAP_REFERENCE_CLASS] = "CLASS",
        [JVMTI_HEAP_REFERENCE_FIELD] = "FIELD",
        [JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT] = "ARRAY_ELEMENT",
        [JVMTI_HEAP_REFERENCE_CLASS_LOADER] = "CLASS_LOADER",
        [JVMTI_HEAP_REFERENCE_SIGNERS] = "SIGNERS",
        [JVMTI_HEAP_REFERENCE_PROTECTION_DOMAIN] = "PROTECTION_DOMAIN",
        [JVMTI_HEAP_REFERENCE_INTERFACE] = "INTERFACE",
        [JVMTI_HEAP_REFERENCE_STATIC_FIELD] = "STATIC_FIELD",
        [JVMTI_HEAP_REFERENCE_CONSTANT_POOL] = "CONSTANT_POOL",
        [JVMTI_HEAP_REFERENCE_SUPERCLASS] = "SUPERCLASS",
        [JVMTI_HEAP_REFERENCE_JNI_GLOBAL] = "JNI_GLOBAL", /* from here on JVMPI's words for roots */
        [JVMTI_HEAP_REFERENCE_SYSTEM_CLASS] = "STICKY_CLASS",
        [JVMTI_HEAP_REFERENCE_MONITOR] = "MONITOR_USED",
        [JVMTI_HEAP_REFERENCE_STACK_LOCAL] = "JAVA_FRAME",
        [JVMTI_HEAP_REFERENCE_JNI_LOCAL] = "JNI_LOCAL",
        [JVMTI_HEAP_REFERENCE_THREAD] = "THREAD_OBJ",
    };
    const char *name = (size_t)kind < ARRAY_LEN(names) ? names[kind] : NULL;
    return name ? name : "UNKNOWN";
}

/* The number of a reference's target, which is written when it is met for the first time. */
static uint64_t meet(struct xml *x, const struct heap_edge *e)
{
    uint32_t place;
    uint64_t number;
    if (objects_is_walk_tag(*e->tag, &number))
        return number;
    if (!objects_tag_place(*e->tag, &place, &number)) {
        number = objects_number();
        *e->tag = objects_walk_tag(number);
    } else if (!is_new(x, place)) {
        return number;
    }
    put_object(x, number, e->size, heap_classes_find(&x->classes, e->class_tag));
    return number;
}

static void put_root_thread(struct xml *x, const struct heap_edge *e)
{
    struct thread key = {0, 0};
    jint depth = -1;
    if (e->kind == JVMTI_HEAP_REFERENCE_STACK_LOCAL) {
        key.java_tid = (uint64_t)e->info->stack_local.thread_id;
        depth = e->info->stack_local.depth;
    } else if (e->kind == JVMTI_HEAP_REFERENCE_JNI_LOCAL) {
        key.java_tid = (uint64_t)e->info->jni_local.thread_id;
        depth = e->info->jni_local.depth;
    } else {
        return;
    }
    const struct thread *t =
        x->n_threads ? bsearch(&key, x->threads, x->n_threads, sizeof key, by_tid) : NULL;
    if (t)
        put_number(x, "threadIdRef", t->id);
    if (depth >= 0)
        put_number(x, "frame", (uint64_t)depth);
}

static void put_root(struct xml *x, const struct heap_edge *e, uint64_t number)
{
    out_text(&x->out, "<gcRoot");
    put_number(x, "heapDumpIdRef", 1);
    put_number(x, "objIdRef", number);
    put_kind(x, kind_name(e->kind));
    put_root_thread(x, e);
    end(x);
    x->roots++;
}

static void put_field(struct xml *x, const struct heap_edge *e)
{
    bool is_static = e->kind == JVMTI_HEAP_REFERENCE_STATIC_FIELD;
    /* Of a static field the referrer is the Class object, whose tag leads to the class itself. */
    const struct heap_class *of =
        heap_classes_find(&x->classes, is_static ? *e->from : e->referrer_class_tag);
    const char *name = heap_classes_field(&x->classes, of, is_static, e->info->field.index);
    if (name)
        put_word(x, "fieldName", name);
}

static void put_reference(struct xml *x, const struct heap_edge *e, uint64_t number)
{
    uint32_t place;
    uint64_t from;
    if (!objects_is_walk_tag(*e->from, &from))
        objects_tag_place(*e->from, &place, &from);
    out_text(&x->out, "<objReference");
    put_number(x, "heapDumpIdRef", 1);
    put_number(x, "srcIdRef", from);
    put_number(x, "targetIdRef", number);
    put_kind(x, kind_name(e->kind));
    if (e->kind == JVMTI_HEAP_REFERENCE_FIELD || e->kind == JVMTI_HEAP_REFERENCE_STATIC_FIELD)
        put_field(x, e);
    else if (e->kind == JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT)
        put_number(x, "index", (uint64_t)e->info->array.index);
    else if (e->kind == JVMTI_HEAP_REFERENCE_CONSTANT_POOL)
        put_number(x, "index", (uint64_t)e->info->constant_pool.index);
    end(x);
    x->references++;
}

/* The class of an object is written with the object. */
static jint visit(void *ctx, const struct heap_edge *e)
{
    struct xml *x = ctx;
    uint64_t number = meet(x, e);
    if (!e->from)
        put_root(x, e, number);
    else if (e->kind != JVMTI_HEAP_REFERENCE_CLASS)
        put_reference(x, e, number);
    x->too_many = x->objects > x->limit;
    return x->too_many || x->out.rc < 0 ? HEAP_END : HEAP_GO_ON;
}

/* ---------------------------------------------------------------------------------------------- */

static int prepare(struct xml *x, struct err *err)
{
    /* Some more than there are: the program goes on until the walk. */
    enum { MORE = 1 << 20 };
    TRY(heap_classes_open(&x->classes, x->jni, &x->walk, err));
    x->places = objects_places() + MORE;
    x->told = calloc(x->places / 8 + 1, 1);
    if (!x->told)
        return err_set(err, -ENOMEM, "out of memory");
    put_head(x);
    put_classes(x);
    return put_threads(x, err);
}

static int write_all(struct xml *x, struct err *err)
{
    TRY(prepare(x, err));
    TRY(heap_walk_follow(&x->walk, NULL, visit, x, err));
    if (x->too_many)
        return err_set(err, -EOVERFLOW,
                       "the heap has more than %" PRIu64
                       " objects: allow more with --objects N (each needs "
                       "100 bytes of the JVM's native memory until the dump "
                       "ends), or dump without --to tptp, which needs none",
                       x->limit);
    out_text(&x->out, "</TRACE>\n");
    return 0;
}

static void put_reply(const struct xml *x, struct buf *reply)
{
    buf_printf(reply,
               "objects %" PRIu64 "\nreferences %" PRIu64 "\nroots %" PRIu64 "\nstopped_ns %" PRIu64
               "\n",
               x->objects, x->references, x->roots, x->walk.stopped_ns);
}

int heap_xml_write(JNIEnv *jni, const char *path, uint64_t limit, struct buf *reply,
                   struct err *err)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    struct xml x = {.jni = jni,
                    .limit = limit,
                    .begun = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec};
    TRY(heap_walk_begin(&x.walk, jni, err));
    TRY(out_create(&x.out, path, err));
    int rc = write_all(&x, err);
    heap_walk_end(&x.walk);
    if (rc == 0)
        rc = out_finish(&x.out, err);
    if (rc == 0)
        rc = out_publish(&x.out, err);
    put_reply(&x, reply);
    out_discard(&x.out);
    heap_classes_close(&x.classes);
    free(x.threads);
    free(x.told);
    return rc;
}
