/* jvmti21.h - what JVMTI and JNI gained in JDK 21, for a build against an older JDK's headers.
 *
 * Their binary interface is append-only: a capability is the next bit, an event the next entry of
 * the callback table, a function the next entry of the function table. */
#ifndef ORCA_AGENT_JVMTI21_H
#define ORCA_AGENT_JVMTI21_H

#include <jvmti.h>
#include <stdbool.h>
#include <string.h>

enum {
    EVENT_VIRTUAL_THREAD_START = 87,
    EVENT_VIRTUAL_THREAD_END = 88,
    JNI_IS_VIRTUAL_THREAD = 234, /* index in the JNI function table */
};

/* The callback table, as long as JDK 21's; entry n is event JVMTI_MIN_EVENT_TYPE_VAL + n. */
union callback_table {
    jvmtiEventCallbacks named;
    void (*by_number[EVENT_VIRTUAL_THREAD_END - JVMTI_MIN_EVENT_TYPE_VAL + 1])(void);
};

static inline void callback_set(union callback_table *t, int event, void (*fn)(void))
{
    t->by_number[event - JVMTI_MIN_EVENT_TYPE_VAL] = fn;
}

/* The byte and bit of can_support_virtual_threads: the one behind sampled_object_alloc. */
static inline void virtual_threads_bit(size_t *byte, unsigned char *bit)
{
    jvmtiCapabilities c;
    unsigned char bytes[sizeof c];
    memset(&c, 0, sizeof c);
    c.can_generate_sampled_object_alloc_events = 1;
    memcpy(bytes, &c, sizeof c);
    for (*byte = 0; !bytes[*byte]; ++*byte)
        ;
    *bit = (unsigned char)(bytes[*byte] << 1);
    if (!*bit) {
        ++*byte;
        *bit = 1;
    }
}

static inline bool capability_has_virtual_threads(const jvmtiCapabilities *c)
{
    size_t byte;
    unsigned char bit;
    virtual_threads_bit(&byte, &bit);
    return ((const unsigned char *)c)[byte] & bit;
}

static inline void capability_add_virtual_threads(jvmtiCapabilities *c)
{
    size_t byte;
    unsigned char bit;
    virtual_threads_bit(&byte, &bit);
    ((unsigned char *)c)[byte] |= bit;
}

/* Only on a JVM that has virtual threads. */
static inline bool jni_is_virtual_thread(JNIEnv *jni, jobject thread)
{
    jboolean(JNICALL * fn)(JNIEnv *, jobject);
    const void *const *table = (const void *const *)*jni;
    memcpy(&fn, &table[JNI_IS_VIRTUAL_THREAD], sizeof fn);
    return fn(jni, thread);
}

#endif
