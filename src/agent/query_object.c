#include "agent/query_object.h"

#include "agent/json_text.h"
#include "agent/objects.h"
#include "base/clock.h"
#include "base/util.h"
#include "format/trace.h"

#include <inttypes.h>
#include <string.h>

enum { FIELDS_MOST = 200, ELEMENTS_MOST = 64, TEXT_MOST = 1024, STATIC = 8 };

static void put_type(struct buf *b, const char *signature)
{
    char name[1024];
    trace_class_name(signature, name, sizeof name);
    json_put_text(b, name);
}

void query_object_put_class(jclass class_, struct buf *b)
{
    char *signature = NULL;
    if ((*agent.jvmti)->GetClassSignature(agent.jvmti, class_, &signature, NULL) ==
        JVMTI_ERROR_NONE)
        put_type(b, signature);
    else
        buf_puts(b, "\"?\"");
    jvmti_free(signature);
}

static uint64_t size_of(jobject object)
{
    jlong size = 0;
    (*agent.jvmti)->GetObjectSize(agent.jvmti, object, &size);
    return (uint64_t)size;
}

void query_object_put_short(JNIEnv *jni, jobject object, struct buf *b)
{
    if (!object) {
        buf_puts(b, "null");
        return;
    }
    uint64_t size = size_of(object);
    jclass c = (*jni)->GetObjectClass(jni, object);
    buf_printf(b, "{\"number\":%" PRIu64 ",\"class\":", objects_meet(object, size));
    query_object_put_class(c, b);
    buf_printf(b, ",\"bytes\":%" PRIu64 "}", size);
    (*jni)->DeleteLocalRef(jni, c);
}

static void put_reference(JNIEnv *jni, jobject object, struct buf *b)
{
    query_object_put_short(jni, object, b);
    (*jni)->DeleteLocalRef(jni, object);
}

/* --- fields ----------------------------------------------------------------------------------- */

static void put_value(JNIEnv *jni, jobject o, jfieldID f, char type, struct buf *b)
{
    enum { FLOAT_DIGITS = 9, DOUBLE_DIGITS = 17 };
    jchar c;
    switch (type) {
    case 'Z':
        buf_puts(b, (*jni)->GetBooleanField(jni, o, f) ? "true" : "false");
        break;
    case 'B':
        buf_printf(b, "%d", (*jni)->GetByteField(jni, o, f));
        break;
    case 'C':
        c = (*jni)->GetCharField(jni, o, f);
        json_put_chars(b, &c, 1);
        break;
    case 'S':
        buf_printf(b, "%d", (*jni)->GetShortField(jni, o, f));
        break;
    case 'I':
        buf_printf(b, "%" PRId32, (*jni)->GetIntField(jni, o, f));
        break;
    case 'J':
        buf_printf(b, "%" PRId64, (int64_t)(*jni)->GetLongField(jni, o, f));
        break;
    case 'F':
        json_put_double(b, (double)(*jni)->GetFloatField(jni, o, f), FLOAT_DIGITS);
        break;
    case 'D':
        json_put_double(b, (*jni)->GetDoubleField(jni, o, f), DOUBLE_DIGITS);
        break;
    default:
        put_reference(jni, (*jni)->GetObjectField(jni, o, f), b);
    }
}

/* A field of a class; of an object when there is one. */
struct class_field {
    jfieldID id;
    char *name, *signature;
    jint modifiers;
};

static bool look(jclass class_, struct class_field *f)
{
    jvmtiEnv *ti = agent.jvmti;
    f->name = f->signature = NULL;
    return (*ti)->GetFieldModifiers(ti, class_, f->id, &f->modifiers) == JVMTI_ERROR_NONE &&
           (*ti)->GetFieldName(ti, class_, f->id, &f->name, &f->signature, NULL) ==
               JVMTI_ERROR_NONE;
}

static void release(struct class_field *f)
{
    jvmti_free(f->name);
    jvmti_free(f->signature);
}

static void put_field(JNIEnv *jni, jobject o, jclass class_, const struct class_field *f,
                      struct buf *b)
{
    buf_puts(b, "{\"name\":");
    json_put_text(b, f->name);
    buf_puts(b, ",\"type\":");
    put_type(b, f->signature);
    buf_puts(b, ",\"in\":");
    query_object_put_class(class_, b);
    buf_puts(b, strchr("L[", f->signature[0]) ? ",\"ref\":" : ",\"value\":");
    put_value(jni, o, f->id, f->signature[0], b);
    buf_putc(b, '}');
}

/* The fields of one class of the object's; *n: how many there have been, with those left out. */
static void put_fields_of(JNIEnv *jni, jobject o, jclass class_, uint32_t *n, struct buf *b)
{
    jfieldID *ids = NULL;
    jint count = 0;
    if ((*agent.jvmti)->GetClassFields(agent.jvmti, class_, &count, &ids) != JVMTI_ERROR_NONE)
        return;
    for (jint i = 0; i < count; i++) {
        struct class_field f = {.id = ids[i]};
        if (look(class_, &f) && !(f.modifiers & STATIC) && (*n)++ < FIELDS_MOST) {
            buf_puts(b, *n > 1 ? "," : "");
            put_field(jni, o, class_, &f, b);
        }
        release(&f);
    }
    jvmti_free(ids);
}

static void put_fields(JNIEnv *jni, jobject o, jclass class_, struct buf *b)
{
    uint32_t n = 0;
    buf_puts(b, ",\"fields\":[");
    for (jclass c = (*jni)->NewLocalRef(jni, class_); c;) {
        put_fields_of(jni, o, c, &n, b);
        jclass super = (*jni)->GetSuperclass(jni, c);
        (*jni)->DeleteLocalRef(jni, c);
        c = super;
    }
    buf_printf(b, "],\"fields_left_out\":%u", n > FIELDS_MOST ? n - FIELDS_MOST : 0);
}

void query_object_put_declared(jclass class_, struct buf *b)
{
    jfieldID *ids = NULL;
    jint count = 0;
    uint32_t n = 0;
    buf_putc(b, '[');
    if ((*agent.jvmti)->GetClassFields(agent.jvmti, class_, &count, &ids) != JVMTI_ERROR_NONE)
        count = 0;
    for (jint i = 0; i < count && n < FIELDS_MOST; i++) {
        struct class_field f = {.id = ids[i]};
        if (look(class_, &f)) {
            buf_puts(b, n++ ? ",{\"name\":" : "{\"name\":");
            json_put_text(b, f.name);
            buf_puts(b, ",\"type\":");
            put_type(b, f.signature);
            buf_printf(b, ",\"static\":%s}", f.modifiers & STATIC ? "true" : "false");
        }
        release(&f);
    }
    buf_putc(b, ']');
    jvmti_free(ids);
}

/* --- arrays and strings ----------------------------------------------------------------------- */

static void put_numbers(JNIEnv *jni, jarray a, char type, jint n, struct buf *b)
{
    enum { FLOAT_DIGITS = 9, DOUBLE_DIGITS = 17 };
    union {
        jboolean z[ELEMENTS_MOST];
        jbyte b[ELEMENTS_MOST];
        jchar c[ELEMENTS_MOST];
        jshort s[ELEMENTS_MOST];
        jint i[ELEMENTS_MOST];
        jlong j[ELEMENTS_MOST];
        jfloat f[ELEMENTS_MOST];
        jdouble d[ELEMENTS_MOST];
    } v;
    memset(&v, 0, sizeof v);
#define TAKE(letter, Name, member, PUT)                                                            \
    case letter:                                                                                   \
        (*jni)->Get##Name##ArrayRegion(jni, a, 0, n, v.member);                                    \
        for (jint i = 0; i < n; i++) {                                                             \
            buf_puts(b, i ? "," : "");                                                             \
            PUT;                                                                                   \
        }                                                                                          \
        break
    switch (type) {
        TAKE('Z', Boolean, z, buf_puts(b, v.z[i] ? "true" : "false"));
        TAKE('B', Byte, b, buf_printf(b, "%d", v.b[i]));
        TAKE('C', Char, c, json_put_chars(b, &v.c[i], 1));
        TAKE('S', Short, s, buf_printf(b, "%d", v.s[i]));
        TAKE('I', Int, i, buf_printf(b, "%" PRId32, v.i[i]));
        TAKE('J', Long, j, buf_printf(b, "%" PRId64, (int64_t)v.j[i]));
        TAKE('F', Float, f, json_put_double(b, (double)v.f[i], FLOAT_DIGITS));
        TAKE('D', Double, d, json_put_double(b, v.d[i], DOUBLE_DIGITS));
    }
#undef TAKE
}

static void put_elements(JNIEnv *jni, jarray a, char type, struct buf *b)
{
    jint length = (*jni)->GetArrayLength(jni, a),
         n = length < ELEMENTS_MOST ? length : ELEMENTS_MOST;
    buf_printf(b, ",\"length\":%" PRId32 ",\"elements\":[", length);
    if (type == 'L' || type == '[')
        for (jint i = 0; i < n; i++) {
            buf_puts(b, i ? "," : "");
            put_reference(jni, (*jni)->GetObjectArrayElement(jni, a, i), b);
        }
    else
        put_numbers(jni, a, type, n, b);
    buf_putc(b, ']');
}

static void put_text(JNIEnv *jni, jstring s, struct buf *b)
{
    jchar chars[TEXT_MOST];
    jint length = (*jni)->GetStringLength(jni, s), n = length < TEXT_MOST ? length : TEXT_MOST;
    memset(chars, 0, sizeof chars);
    (*jni)->GetStringRegion(jni, s, 0, n, chars);
    buf_puts(b, ",\"text\":");
    json_put_chars(b, chars, n);
    buf_printf(b, ",\"text_length\":%" PRId32, length);
}

/* --- the whole -------------------------------------------------------------------------------- */

static void put_recorded(const struct object_facts *f, struct buf *b)
{
    uint64_t now = clock_mono_ns();
    buf_printf(b, ",\"collections\":%u", f->pauses);
    if (f->met)
        return;
    buf_printf(b,
               ",\"allocated\":{\"age_ns\":%" PRIu64 ",\"thread\":%u,\"stack\":%u,\"sampled\":%s}",
               now > f->allocated ? now - f->allocated : 0, f->thread.v, f->stack.v,
               f->weight ? "true" : "false");
}

void query_object_put(JNIEnv *jni, jobject object, struct buf *b)
{
    struct object_facts f;
    char *signature = NULL;
    jclass c = (*jni)->GetObjectClass(jni, object);
    if (objects_known(object, &f)) {
        buf_printf(b, ",\"number\":%" PRIu64, f.number);
        put_recorded(&f, b);
    }
    if ((*agent.jvmti)->GetClassSignature(agent.jvmti, c, &signature, NULL) != JVMTI_ERROR_NONE)
        signature = NULL;
    if (signature && strcmp(signature, "Ljava/lang/String;") == 0)
        put_text(jni, object, b);
    if (signature && signature[0] == '[')
        put_elements(jni, object, signature[1], b);
    else
        put_fields(jni, object, c, b);
    jvmti_free(signature);
    (*jni)->DeleteLocalRef(jni, c);
}
