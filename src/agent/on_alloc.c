#include "agent/on_alloc.h"

#include "agent/alloc_counts.h"
#include "agent/alloc_rows.h"
#include "agent/alloc_weight.h"
#include "agent/locks.h"
#include "agent/objects.h"
#include "agent/stacks.h"
#include "agent/threads.h"
#include "base/clock.h"
#include "base/util.h"

static struct alloc_mode mode;

void on_alloc_mode(const struct alloc_mode *m)
{
    mode = *m;
}

/* --- one object ------------------------------------------------------------------------------- */

static void put_sample(struct os_thread *self, const struct object_facts *f)
{
    struct event *e = ring_begin(self->ring, EV_object_sample, f->thread, f->allocated);
    if (!e)
        return;
    e->object_sample.object = f->number;
    e->object_sample.class_ = f->class_;
    e->object_sample.size = f->size;
    e->object_sample.stack = f->stack;
    e->object_sample.weight = f->weight;
    ring_commit(self->ring, e);
}

static void put_alloc(struct os_thread *self, const struct object_facts *f)
{
    struct event *e = ring_begin(self->ring, EV_object_alloc, f->thread, f->allocated);
    if (!e)
        return;
    e->object_alloc.object = f->number;
    e->object_alloc.class_ = f->class_;
    e->object_alloc.size = f->size;
    e->object_alloc.stack = f->stack;
    ring_commit(self->ring, e);
}

/* The event first: the end of an object must not be reported before its begin. */
static void follow(struct os_thread *self, jobject object, struct object_facts *f)
{
    f->number = objects_number();
    if (f->weight)
        put_sample(self, f);
    else
        put_alloc(self, f);
    objects_add(object, f);
}

static void count(struct os_thread *self, const struct object_facts *f)
{
    struct alloc_key key = {f->thread, f->class_, f->stack};
    for (int tries = 0; tries < 2; tries++) {
        if (!self->counts && !(self->counts = alloc_counts_new()))
            break;
        if (alloc_counts_add(self->counts, key, f->size))
            return;
        alloc_counts_end(self->counts);
        self->counts = NULL;
    }
    recorder_count_loss(agent.rec, LOSS_object, 1);
}

static void told(struct os_thread *self, JNIEnv *jni, jobject object, class_id class_,
                 uint64_t size)
{
    struct object_facts f = {.size = size, .class_ = class_};
    f.thread = threads_self(jni, self);
    if (mode.stacks)
        f.stack = stacks_of_allocation(jni, class_);
    if (!object) {
        count(self, &f);
        return;
    }
    f.allocated = clock_mono_ns();
    follow(self, object, &f);
}

void alloc_told(JNIEnv *jni, jobject object, class_id class_, uint64_t size)
{
    struct os_thread *self = os_thread_self(jni);
    if (!self || self->in_alloc)
        return;
    self->in_alloc = true;
    told(self, jni, object, class_, size);
    self->in_alloc = false;
}

/* Only a platform thread: on a carrier, Java code finds the virtual thread. */
void alloc_told_by_code(JNIEnv *jni, class_id class_, uint64_t size)
{
    struct os_thread *self = os_thread_self(jni);
    alloc_told(jni, NULL, class_, size);
    if (mode.stacks || !self || self->row_asked || self->in_alloc ||
        threads_self(jni, self).v != self->id.v)
        return;
    self->row_asked = true;
    self->row = alloc_rows_join(self->java_thread, self->id);
}

bool alloc_own_begin(JNIEnv *jni)
{
    struct os_thread *self = os_thread_self(jni);
    if (!self || self->in_alloc)
        return false;
    self->in_alloc = true;
    alloc_row_hide(self->row);
    return true;
}

void alloc_own_end(JNIEnv *jni)
{
    struct os_thread *self = os_thread_self(jni);
    if (!self)
        return;
    self->in_alloc = false;
    alloc_row_show(self->row);
}

/* --- the JVM's callback ----------------------------------------------------------------------- */

static void sampled_by(struct os_thread *self, JNIEnv *jni, jthread thread, jobject object,
                       jclass class_, uint64_t size)
{
    struct object_facts f = {.size = size, .allocated = clock_mono_ns()};
    bool wanted;
    f.class_ = classes_wanted(jni, class_, &wanted);
    if (!wanted)
        return;
    f.thread = threads_current(jni, thread, self);
    if (!mode.each || mode.stacks)
        f.stack = stacks_current(jni);
    if (!mode.each)
        f.weight = alloc_weight(size, mode.bytes);
    if (!mode.each || mode.numbered)
        follow(self, object, &f);
    else
        count(self, &f);
}

static void sampled(JNIEnv *jni, jthread thread, jobject object, jclass class_, uint64_t size)
{
    struct os_thread *self = os_thread_self(jni);
    if (!self || self->in_alloc)
        return;
    self->in_alloc = true;
    sampled_by(self, jni, thread, object, class_, size);
    self->in_alloc = false;
}

void JNICALL on_alloc_sampled(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object,
                              jclass class_, jlong size)
{
    UNUSED(jvmti);
    RECORDING(sampled(jni, thread, object, class_, (uint64_t)size));
}

/* --- what the JVM allocates itself ------------------------------------------------------------ */

/* Native methods that allocate, whose objects are reported by their callers or by the
 * constructor. */
static const struct native {
    const char *class, *name, *signature;
    bool is_static;
} natives[] = {
    {"java/lang/Object", "clone", "()Ljava/lang/Object;", false},
    {"java/lang/reflect/Array", "newArray", "(Ljava/lang/Class;I)Ljava/lang/Object;", true},
    {"java/lang/reflect/Array", "multiNewArray", "(Ljava/lang/Class;[I)Ljava/lang/Object;", true},
    {"jdk/internal/misc/Unsafe", "allocateInstance", "(Ljava/lang/Class;)Ljava/lang/Object;",
     false},
    {"jdk/internal/reflect/NativeConstructorAccessorImpl", "newInstance0",
     "(Ljava/lang/reflect/Constructor;[Ljava/lang/Object;)Ljava/lang/Object;", true},
    {"jdk/internal/reflect/DirectConstructorHandleAccessor$NativeAccessor", "newInstance0",
     "(Ljava/lang/reflect/Constructor;[Ljava/lang/Object;)Ljava/lang/Object;", true},
};
static jmethodID native_ids[ARRAY_LEN(natives)]; /* NULL: this JVM has none of the kind */

void on_alloc_init(JNIEnv *jni)
{
    for (size_t i = 0; i < ARRAY_LEN(natives); i++) {
        const struct native *n = &natives[i];
        jclass c = (*jni)->FindClass(jni, n->class);
        native_ids[i] = !c             ? NULL
                        : n->is_static ? (*jni)->GetStaticMethodID(jni, c, n->name, n->signature)
                                       : (*jni)->GetMethodID(jni, c, n->name, n->signature);
        if ((*jni)->ExceptionCheck(jni))
            (*jni)->ExceptionClear(jni);
        (*jni)->DeleteLocalRef(jni, c);
    }
}

static bool probes_tell(JNIEnv *jni)
{
    jmethodID m = NULL;
    jlocation at;
    jthread myself;
    if (!threads_myself(jni, FRAMES_UNKNOWN, &myself) ||
        (*agent.jvmti)->GetFrameLocation(agent.jvmti, myself, 0, &m, &at) != JVMTI_ERROR_NONE)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(native_ids); i++)
        if (native_ids[i] == m && m)
            return true;
    return false;
}

static void by_vm(JNIEnv *jni, jobject object, jclass class_, uint64_t size)
{
    bool wanted;
    if (probes_tell(jni))
        return;
    class_id id = classes_wanted(jni, class_, &wanted);
    if (wanted)
        alloc_told(jni, mode.numbered ? object : NULL, id, size);
}

void JNICALL on_alloc_by_vm(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object,
                            jclass class_, jlong size)
{
    UNUSED(jvmti), UNUSED(thread);
    RECORDING(by_vm(jni, object, class_, (uint64_t)size));
}
