#include "agent/alloc_probes.h"

#include "agent/alloc_rows.h"
#include "agent/heap.h"
#include "agent/kept.h"
#include "agent/locks.h"
#include "agent/natives.h"
#include "agent/on_alloc.h"
#include "agent/retransform.h"
#include "base/embed.h"
#include "base/log.h"
#include "base/util.h"

#include <string.h>

EMBED(java_lang_OrcaHeap);
EMBED(java_lang_OrcaKind);

#define HEAP "java/lang/OrcaHeap"
#define OBJECT "Ljava/lang/Object;"
#define CLASS "Ljava/lang/Class;"

/* --- which code ------------------------------------------------------------------------------- */

/* Calls whose result is a new object that no other edit has seen.  `in`: only in this class.
 * `instead`: a method of OrcaHeap that does the same in plain code, called in its place. */
static const struct maker {
    const char *in, *class, *name, *desc;
    const char *instead;
} makers[] = {
    {NULL, "java/lang/Object", "clone", "()" OBJECT, NULL},
    {NULL, CF_ANY_ARRAY, "clone", "()" OBJECT, NULL},
    {NULL, "jdk/internal/misc/Unsafe", "allocateInstance", "(" CLASS ")" OBJECT, NULL},
    {"jdk/internal/misc/Unsafe", "jdk/internal/misc/Unsafe", "allocateUninitializedArray0",
     "(" CLASS "I)" OBJECT, NULL},
    {"java/lang/reflect/Array", "java/lang/reflect/Array", "newArray", "(" CLASS "I)" OBJECT, NULL},
    {"java/lang/reflect/Array", "java/lang/reflect/Array", "multiNewArray", "(" CLASS "[I)" OBJECT,
     NULL},
    {NULL, "java/util/Arrays", "copyOf", "([" OBJECT "I" CLASS ")[" OBJECT, "copyOf"},
    {NULL, "java/util/Arrays", "copyOfRange", "([" OBJECT "II" CLASS ")[" OBJECT, "copyOfRange"},
};

/* The code that OrcaHeap itself uses must not call it.  A method handle's constructor call makes
 * its object by allocateInstance, and Object's constructor reports it. */
static const char *const never[] = {
    "java/lang/OrcaHeap", "java/lang/OrcaKind", "java/lang/OrcaHolds", "java/lang/OrcaProbe",
    "orca/probe/Natives", "orca/probe/Query",   "orca/probe/QueryLock"};

bool alloc_wants_class(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(never); i++)
        if (strcmp(name, never[i]) == 0)
            return false;
    return true;
}

/* --- the edits -------------------------------------------------------------------------------- */

static struct cf_edit edit(enum cf_point at, const char *name, enum cf_source what)
{
    struct cf_edit e = {
        .at = at,
        .probe = {
            .cls = HEAP, .name = name, .desc = "(" OBJECT ")V", .n_args = 1, .args = {{what, 0}}}};
    return e;
}

static struct cf_edit maker_edit(const struct maker *m)
{
    struct cf_edit e = edit(m->instead ? CF_REPLACE_CALL : CF_AFTER_CALL,
                            m->instead ? m->instead : "object", CF_ARG_RESULT);
    if (m->instead)
        e.probe.desc = m->desc;
    /* multiNewArray makes the inner arrays, too */
    if (strcmp(m->name, "multiNewArray") == 0)
        e.probe.name = "array";
    e.call_class = m->class;
    e.call_name = m->name;
    e.call_desc = m->desc;
    return e;
}

static bool is_maker_in(const struct maker *m, const char *class)
{
    static const char method_handle[] = "java/lang/invoke/DirectMethodHandle";
    bool instance = strcmp(m->name, "allocateInstance") == 0;
    return (!m->in || strcmp(m->in, class) == 0) &&
           !(instance && strncmp(class, method_handle, sizeof method_handle - 1) == 0);
}

/* The compilers replace its code by their own: its callers report. */
static bool is_replaced(const char *class, const struct cf_method *m)
{
    return strcmp(class, "jdk/internal/misc/Unsafe") == 0 &&
           cf_text_is(m->name, "allocateUninitializedArray0");
}

uint32_t alloc_edits(const char *class, const struct cf_method *m, struct cf_edit *e)
{
    uint32_t n = 0;
    if (strcmp(class, "java/lang/Object") == 0 && cf_text_is(m->name, "<init>"))
        e[n++] = edit(CF_AT_RETURN, "object", CF_ARG_THIS);
    if (is_replaced(class, m))
        return n;
    e[n++] = edit(CF_AFTER_NEW_ARRAY, "array", CF_ARG_OBJECT);
    for (size_t i = 0; i < ARRAY_LEN(makers); i++)
        if (is_maker_in(&makers[i], class))
            e[n++] = maker_edit(&makers[i]);
    return n;
}

/* --- what OrcaHeap calls ---------------------------------------------------------------------- */

enum { UNWANTED_BIT = INT32_MIN };

static jint JNICALL define(JNIEnv *jni, jclass self, jclass class_)
{
    jint id = 0;
    bool wanted = true;
    UNUSED(self);
    RECORDING(id = (jint)classes_wanted(jni, class_, &wanted).v);
    return wanted ? id : id | UNWANTED_BIT;
}

static jlong JNICALL size_of(JNIEnv *jni, jclass self, jobject o)
{
    jlong size = 0;
    UNUSED(jni), UNUSED(self);
    RECORDING((*agent.jvmti)->GetObjectSize(agent.jvmti, o, &size));
    return size;
}

static jboolean JNICALL enter(JNIEnv *jni, jclass self)
{
    bool first = false;
    UNUSED(self);
    RECORDING(first = alloc_own_begin(jni));
    return first;
}

static void JNICALL leave(JNIEnv *jni, jclass self)
{
    UNUSED(self);
    RECORDING(alloc_own_end(jni));
}

static jmethodID described; /* heap_class' */

static jobject JNICALL in_place(JNIEnv *jni, jclass self, jclass class_, jobject o)
{
    return (*jni)->CallStaticObjectMethod(jni, self, described, class_, o);
}

static jint JNICALL base_of(JNIEnv *jni, jclass self, jclass array)
{
    UNUSED(self);
    jclass c = (*jni)->FindClass(jni, "jdk/internal/misc/Unsafe");
    jmethodID get =
        c ? (*jni)->GetStaticMethodID(jni, c, "getUnsafe", "()Ljdk/internal/misc/Unsafe;") : NULL;
    jobject unsafe = get ? (*jni)->CallStaticObjectMethod(jni, c, get) : NULL;
    if (!unsafe || (*jni)->ExceptionCheck(jni))
        return 0;
    jmethodID base = (*jni)->GetMethodID(jni, c, "arrayBaseOffset", "(" CLASS ")J");
    if (base)
        return (jint)(*jni)->CallLongMethod(jni, unsafe, base, array);
    (*jni)->ExceptionClear(jni);
    base = (*jni)->GetMethodID(jni, c, "arrayBaseOffset", "(" CLASS ")I");
    return base ? (*jni)->CallIntMethod(jni, unsafe, base, array) : 0;
}

static jint JNICALL place(JNIEnv *jni, jclass self, jint kind, jlong size)
{
    jint at = -1;
    UNUSED(jni), UNUSED(self);
    RECORDING(at = alloc_rows_place((class_id){(uint32_t)kind}, (uint64_t)size));
    return at;
}

static void JNICALL counted(JNIEnv *jni, jclass self, jint kind, jlong size)
{
    UNUSED(self);
    RECORDING(alloc_told_by_code(jni, (class_id){(uint32_t)kind}, (uint64_t)size));
}

static void JNICALL followed(JNIEnv *jni, jclass self, jobject o, jint kind, jlong size)
{
    UNUSED(self);
    RECORDING(alloc_told(jni, o, (class_id){(uint32_t)kind}, (uint64_t)size));
}

/* --- the class -------------------------------------------------------------------------------- */

static jclass heap_class; /* a global reference, for as long as the JVM lives */

bool alloc_define(JNIEnv *jni)
{
    static const JNINativeMethod methods[] = {
        {(char *)"define", (char *)"(" CLASS ")I", (void *)define},
        {(char *)"sizeOf", (char *)"(" OBJECT ")J", (void *)size_of},
        {(char *)"enter", (char *)"()Z", (void *)enter},
        {(char *)"leave", (char *)"()V", (void *)leave},
        {(char *)"inPlace", (char *)"(" CLASS OBJECT ")Ljava/lang/OrcaKind;", (void *)in_place},
        {(char *)"baseOf", (char *)"(" CLASS ")I", (void *)base_of},
        {(char *)"place", (char *)"(IJ)I", (void *)place},
        {(char *)"counted", (char *)"(IJ)V", (void *)counted},
        {(char *)"followed", (char *)"(" OBJECT "IJ)V", (void *)followed}};
    if (heap_class)
        return true;
    jclass kind = natives_define(jni, "java/lang/OrcaKind", embed_java_lang_OrcaKind,
                                 EMBED_BYTES(java_lang_OrcaKind));
    jclass c =
        kind ? natives_define(jni, HEAP, embed_java_lang_OrcaHeap, EMBED_BYTES(java_lang_OrcaHeap))
             : NULL;
    described =
        c ? (*jni)->GetStaticMethodID(jni, c, "described", "(" CLASS OBJECT ")Ljava/lang/OrcaKind;")
          : NULL;
    if (described && (*jni)->RegisterNatives(jni, c, methods, ARRAY_LEN(methods)) == JNI_OK)
        heap_class = (*jni)->NewGlobalRef(jni, c);
    (*jni)->DeleteLocalRef(jni, kind);
    (*jni)->DeleteLocalRef(jni, c);
    return heap_class != NULL;
}

bool alloc_start(JNIEnv *jni)
{
    on_alloc_init(jni);
    jmethodID start = (*jni)->GetStaticMethodID(jni, heap_class, "start", "(IZIJ)V");
    jint alignment = (jint)vmstructs_number(agent.vmstructs, "ObjectAlignmentInBytes", 8);
    jlong rows = heap_wants_stacks() ? 0 : (jlong)alloc_rows_open();
    if (start)
        (*jni)->CallStaticVoidMethod(jni, heap_class, start, (jint)agent.session,
                                     (jboolean)agent.settings.groups[GROUP_frees], alignment, rows);
    bool ok = start && !(*jni)->ExceptionCheck(jni);
    if (!ok)
        (*jni)->ExceptionClear(jni);
    return ok;
}

void alloc_stop(JNIEnv *jni)
{
    jmethodID stop = (*jni)->GetStaticMethodID(jni, heap_class, "stop", "()V");
    if (stop)
        (*jni)->CallStaticVoidMethod(jni, heap_class, stop);
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
}

/* --- classes that are there ------------------------------------------------------------------- */

/* An operand may look like one, and calls are not looked up: then a class is rewritten in vain. */
static bool may_allocate(jint access, const unsigned char *code, size_t n)
{
    enum { NEWARRAY = 0xbc, ANEWARRAY, MULTIANEWARRAY = 0xc5 };
    UNUSED(access);
    return n && (memchr(code, NEWARRAY, n) || memchr(code, ANEWARRAY, n) ||
                 memchr(code, MULTIANEWARRAY, n));
}

/* Whether its constants name a maker. */
static bool calls_maker(jclass c)
{
    jint n = 0, len = 0;
    unsigned char *pool = NULL;
    bool found = false;
    if ((*agent.jvmti)->GetConstantPool(agent.jvmti, c, &n, &len, &pool) != JVMTI_ERROR_NONE)
        return true;
    for (size_t i = 0; i < ARRAY_LEN(makers) && !found; i++)
        found = memmem(pool, (size_t)len, makers[i].name, strlen(makers[i].name)) != NULL;
    jvmti_free(pool);
    return found;
}

static bool is_affected(const struct loaded_class *c)
{
    return alloc_wants_class(c->name) &&
           ((c->boot && strcmp(c->name, "java/lang/Object") == 0) ||
            class_has_method(c->class_, may_allocate) || calls_maker(c->class_));
}

void alloc_rewrite_loaded(JNIEnv *jni)
{
    jvmtiError failed = retransform_those(jni, is_affected, KEPT_ALLOC);
    if (failed != JVMTI_ERROR_NONE)
        log_line("this JVM does not let Orca rewrite some classes (%s): not all arrays are counted",
                 jvmti_error_name(failed));
}
