#include "agent/chunks.h"

#include "agent/agent.h"
#include "agent/lacks.h"
#include "base/guarded.h"
#include "hotspot/chunk_x86_64.h"

#include <stdatomic.h>

enum { UNKNOWN, TRYING, KNOWN, GIVEN_UP };
static _Atomic int state;
static struct chunks chunks; /* written by who is TRYING */

static uintptr_t address_of(jobject o)
{
    return o ? *handle_of(o) : 0;
}

static jfieldID field_of(JNIEnv *jni, jobject o, const char *name, const char *signature)
{
    jclass c = (*jni)->GetObjectClass(jni, o);
    jfieldID id = (*jni)->GetFieldID(jni, c, name, signature);
    if (!id)
        (*jni)->ExceptionClear(jni);
    (*jni)->DeleteLocalRef(jni, c);
    return id;
}

/* What the field refers to, and where it is: both ways the same. */
static jobject follow(JNIEnv *jni, jobject from, const char *name, const char *signature,
                      int32_t *offset)
{
    uintptr_t found;
    jfieldID id = field_of(jni, from, name, signature);
    jobject to = id ? (*jni)->GetObjectField(jni, from, id) : NULL;
    *offset = id ? jni_field_offset(id) : -1;
    if (to && *offset > 0 &&
        oops_field(&chunks.oops, address_of(from) + (uintptr_t)*offset, &found) &&
        found == address_of(to))
        return to;
    (*jni)->DeleteLocalRef(jni, to);
    return NULL;
}

static bool read_number(JNIEnv *jni, jobject from, const char *name, int32_t *offset, jint *value)
{
    int32_t found;
    jfieldID id = field_of(jni, from, name, "I");
    *offset = id ? jni_field_offset(id) : -1;
    *value = id ? (*jni)->GetIntField(jni, from, id) : 0;
    return *offset > 0 && guarded_i32(address_of(from) + (uintptr_t)*offset, &found) &&
           found == *value;
}

/* A chunk's words are followed by a bit for each place where a reference could be, and preceded by
 * its fields. */
static bool find_stack(jvmtiEnv *jvmti, jobject chunk, jint words, struct chunk_fields *f)
{
    enum { WORD = sizeof(uintptr_t), BITS = 64, HEADER_MAX = 256 };
    jlong bytes = 0;
    jlong bits = (jlong)words * (chunks.oops.narrow ? 2 : 1);
    if ((*jvmti)->GetObjectSize(jvmti, chunk, &bytes) != JVMTI_ERROR_NONE)
        return false;
    jlong header = bytes - (jlong)words * WORD - (bits + BITS - 1) / BITS * WORD;
    f->stack = (int32_t)header;
    return header >= WORD && header < HEADER_MAX;
}

static bool find_fields(const struct chunks_of *of, jthread thread, struct chunk_fields *f)
{
    enum { LINK_WORDS = 2 };
    JNIEnv *jni = of->jni;
    jint size, sp, bottom;
    jobject cont = follow(jni, thread, "cont", "Ljdk/internal/vm/Continuation;", &f->cont);
    jobject chunk =
        cont ? follow(jni, cont, "tail", "Ljdk/internal/vm/StackChunk;", &f->tail) : NULL;
    if (!chunk)
        return false;
    jfieldID parent = field_of(jni, chunk, "parent", "Ljdk/internal/vm/StackChunk;");
    f->parent = parent ? jni_field_offset(parent) : -1;
    bool known = f->parent > 0 && read_number(jni, chunk, "size", &f->size, &size) &&
                 read_number(jni, chunk, "sp", &f->sp, &sp) &&
                 read_number(jni, chunk, "bottom", &f->bottom, &bottom);
    return known && sp >= LINK_WORDS && sp <= size && bottom >= 0 && bottom <= size &&
           find_stack(of->jvmti, chunk, size, f);
}

/* Of no use where the thread is one of its own, or nothing of it is frozen just now. */
static bool learn(const struct chunks_of *of)
{
    jthread thread;
    uintptr_t found;
    return (*of->jvmti)->GetCurrentThread(of->jvmti, &thread) == JVMTI_ERROR_NONE &&
           chunks_thread(&chunks, of->java_thread, &found) && found == address_of(thread) &&
           find_fields(of, thread, &chunks.fields);
}

void chunks_learn(const struct chunks_of *of)
{
    enum { REFERENCES = 16, TRIES = 16 };
    static int tries; /* by who is TRYING */
    int expected = UNKNOWN;
    JNIEnv *jni = of->jni;
    /* relaxed: on a JVM where it was given up each such stack comes by here */
    if (atomic_load_explicit(&state, memory_order_relaxed) != UNKNOWN ||
        (*jni)->ExceptionCheck(jni) ||
        /* acquire: what the last one tried */
        !atomic_compare_exchange_strong_explicit(&state, &expected, TRYING, memory_order_acquire,
                                                 memory_order_relaxed))
        return;
    int next = ++tries < TRIES ? UNKNOWN : GIVEN_UP;
    if (!chunks_open(&chunks, of->vs)) {
        next = GIVEN_UP;
    } else if ((*jni)->PushLocalFrame(jni, REFERENCES) == 0) {
        if (learn(of)) {
            walker_use_chunks(of->walker, &chunks);
            next = KNOWN;
        }
        (*jni)->PopLocalFrame(jni, NULL);
    }
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
    /* release: pairs with the next one's acquire */
    atomic_store_explicit(&state, next, memory_order_release);
}

void chunks_give_up(struct walker *walker)
{
    /* relaxed: walks may find them once more, and are compared */
    if (atomic_exchange_explicit(&state, GIVEN_UP, memory_order_relaxed) != KNOWN)
        return;
    walker_use_chunks(walker, NULL);
    lacks_note("this JVM keeps frames of virtual threads in the heap in an unknown layout: their "
               "stacks are taken through JVMTI, which is slower");
}
