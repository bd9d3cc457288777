#include "agent/heap_walk.h"

#include "agent/heap.h"
#include "agent/objects.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/util.h"

#include <string.h>

int heap_walk_begin(struct heap_walk *w, JNIEnv *jni, struct err *err)
{
    memset(w, 0, sizeof *w);
    w->sees_all = heap_walk_sees_all(jni);
    return heap_environment(jni, &w->jvmti, err);
}

static int result(jvmtiError e, const char *what, struct err *err)
{
    return e == JVMTI_ERROR_NONE ? 0
                                 : err_set(err, e == JVMTI_ERROR_OUT_OF_MEMORY ? -ENOMEM : -ENOTSUP,
                                           "the JVM does not %s: %s", what, jvmti_error_name(e));
}

/* There may be no recording, and nothing known of the JVM. */
static bool uses_zgc(JNIEnv *jni)
{
    JavaVM *vm;
    struct vmstructs *vs = NULL;
    struct err ignored;
    const void *inside;
    if ((*jni)->GetJavaVM(jni, &vm) != JNI_OK)
        return true;
    memcpy(&inside, &(*vm)->GetEnv, sizeof inside);
    if (vmstructs_open(&vs, inside, &ignored) < 0)
        return true;
    bool uses = vmstructs_flag(vs, "UseZGC", false);
    vmstructs_close(vs);
    return uses;
}

bool heap_walk_sees_all(JNIEnv *jni)
{
    enum { OF_21 = 0x00150000 };
    return (*jni)->GetVersion(jni) >= OF_21 || !uses_zgc(jni);
}

/* --- references ------------------------------------------------------------------------------- */

struct following {
    heap_visitor visit;
    void *ctx;
};

/* NOLINTNEXTLINE(readability-function-size): the parameters are JVMTI's */
static jint JNICALL on_reference(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info,
                                 jlong class_tag, jlong referrer_class_tag, jlong size, jlong *tag,
                                 jlong *referrer_tag, jint length, void *data)
{
    const struct following *f = data;
    const struct heap_edge e = {kind,           info,   class_tag, referrer_class_tag,
                                (uint64_t)size, length, tag,       referrer_tag};
    return f->visit(f->ctx, &e);
}

int heap_walk_follow(struct heap_walk *w, jobject from, heap_visitor visit, void *ctx,
                     struct err *err)
{
    struct following f = {visit, ctx};
    jvmtiHeapCallbacks c;
    memset(&c, 0, sizeof c);
    c.heap_reference_callback = on_reference;
    w->tagged = true;
    uint64_t began = clock_mono_ns();
    jvmtiError e = (*w->jvmti)->FollowReferences(w->jvmti, 0, NULL, from, &c, &f);
    w->stopped_ns += clock_mono_ns() - began;
    return result(e, "follow references", err);
}

/* --- objects ---------------------------------------------------------------------------------- */

struct sum {
    uint64_t count, bytes;
};

static jint JNICALL add(jlong class_tag, jlong size, jlong *tag, jint length, void *data)
{
    struct sum *s = data;
    UNUSED(class_tag), UNUSED(tag), UNUSED(length);
    s->count++;
    s->bytes += (uint64_t)size;
    return JVMTI_VISIT_OBJECTS;
}

int heap_walk_count(struct heap_walk *w, jclass class_, uint64_t *count, uint64_t *bytes,
                    struct err *err)
{
    struct sum s = {0, 0};
    jvmtiHeapCallbacks c;
    memset(&c, 0, sizeof c);
    c.heap_iteration_callback = add;
    if (!w->sees_all)
        return -ENOTSUP;
    uint64_t began = clock_mono_ns();
    jvmtiError e = (*w->jvmti)->IterateThroughHeap(w->jvmti, 0, class_, &c, &s);
    w->stopped_ns += clock_mono_ns() - began;
    *count = s.count;
    *bytes = s.bytes;
    return result(e, "go through its heap", err);
}

int heap_walk_find(struct heap_walk *w, const jlong *tags, jint n, struct heap_found *found,
                   struct err *err)
{
    memset(found, 0, sizeof *found);
    if (n == 0)
        return 0;
    jvmtiError e = (*w->jvmti)->GetObjectsWithTags(w->jvmti, n, tags, &found->n, &found->objects,
                                                   &found->tags);
    return result(e, "find objects by their tags", err);
}

void heap_walk_free(struct heap_walk *w, struct heap_found *found)
{
    if (found->objects)
        (*w->jvmti)->Deallocate(w->jvmti, (unsigned char *)found->objects);
    if (found->tags)
        (*w->jvmti)->Deallocate(w->jvmti, (unsigned char *)found->tags);
    memset(found, 0, sizeof *found);
}

/* --- the end ---------------------------------------------------------------------------------- */

static jint JNICALL untag(jlong class_tag, jlong size, jlong *tag, jint length, void *data)
{
    uint64_t number;
    UNUSED(class_tag), UNUSED(size), UNUSED(length), UNUSED(data);
    if (objects_is_walk_tag(*tag, &number))
        *tag = 0;
    return JVMTI_VISIT_OBJECTS;
}

/* The same of what is reachable; the others' tags go with them. */
/* NOLINTNEXTLINE(readability-function-size): the parameters are JVMTI's */
static jint JNICALL untag_reached(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info,
                                  jlong class_tag, jlong referrer_class_tag, jlong size, jlong *tag,
                                  jlong *referrer_tag, jint length, void *data)
{
    UNUSED(kind), UNUSED(info), UNUSED(class_tag), UNUSED(referrer_class_tag), UNUSED(size);
    UNUSED(referrer_tag), UNUSED(length), UNUSED(data);
    uint64_t number;
    if (objects_is_walk_tag(*tag, &number))
        *tag = 0;
    return JVMTI_VISIT_OBJECTS;
}

static jvmtiError untag_all(struct heap_walk *w)
{
    jvmtiHeapCallbacks c;
    memset(&c, 0, sizeof c);
    c.heap_iteration_callback = untag;
    c.heap_reference_callback = untag_reached;
    return w->sees_all ? (*w->jvmti)->IterateThroughHeap(w->jvmti, JVMTI_HEAP_FILTER_UNTAGGED, NULL,
                                                         &c, NULL)
                       : (*w->jvmti)->FollowReferences(w->jvmti, 0, NULL, NULL, &c, NULL);
}

void heap_walk_end(struct heap_walk *w)
{
    if (!w->tagged)
        return;
    uint64_t began = clock_mono_ns();
    jvmtiError e = untag_all(w);
    w->stopped_ns += clock_mono_ns() - began;
    w->tagged = e != JVMTI_ERROR_NONE;
    if (w->tagged)
        log_line("the tags of a heap walk stay in this JVM: %s", jvmti_error_name(e));
}
