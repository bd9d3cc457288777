#include "agent/locks.h"

#include "agent/jvm_text.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* In the lower half of a tag: this object is not recorded. */
#define UNWANTED 0x80000000u

static struct {
    pthread_mutex_t lock;
    uint32_t last_lock, last_class;
} ids = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint64_t get_tag(jobject o)
{
    jlong tag = 0;
    (*agent.jvmti)->GetTag(agent.jvmti, o, &tag);
    return (uint64_t)tag;
}

static bool set_tag(jobject o, uint64_t tag)
{
    return (*agent.jvmti)->SetTag(agent.jvmti, o, (jlong)tag) == JVMTI_ERROR_NONE;
}

static uint32_t hash_of(jobject o)
{
    jint hash = 0;
    (*agent.jvmti)->GetObjectHashCode(agent.jvmti, o, &hash);
    return (uint32_t)hash;
}

/* --- classes ------------------------------------------------------------------------------------
 */

static bool define_class(uint32_t id, jclass c, char *signature)
{
    char *source = NULL;
    (*agent.jvmti)->GetSourceFileName(agent.jvmti, c, &source); /* absent for many: "" */
    size_t sig_len = mutf8_to_utf8(signature), source_len = source ? mutf8_to_utf8(source) : 0;
    struct def d = {.kind = DEF_class,
                    .class = {.id = {id},
                              .hash = hash_of(c),
                              .signature = {signature, sig_len},
                              .source = {source ? source : "", source_len}}};
    bool ok = recorder_define(agent.rec, &d);
    jvmti_free(source);
    return ok;
}

/* Under ids.lock.  *wanted: whether include/exclude let locks of this class be recorded. */
static uint32_t class_under_lock(jclass c, bool *wanted)
{
    uint64_t tag = get_tag(c);
    uint32_t id = (uint32_t)(tag >> 32);
    char *signature = NULL;
    bool filter = agent.settings.include || agent.settings.exclude;
    *wanted = true;
    if ((id && !filter) ||
        (*agent.jvmti)->GetClassSignature(agent.jvmti, c, &signature, NULL) != JVMTI_ERROR_NONE)
        return id;
    *wanted = settings_wants_class(&agent.settings, signature);
    if (!id && define_class(ids.last_class + 1, c, signature) &&
        set_tag(c, (uint64_t)(ids.last_class + 1) << 32 | (uint32_t)tag))
        id = ++ids.last_class;
    jvmti_free(signature);
    return id;
}

class_id classes_id(JNIEnv *jni, jclass class_)
{
    (void)jni;
    bool wanted;
    uint32_t id = (uint32_t)(get_tag(class_) >> 32);
    if (!id) {
        pthread_mutex_lock(&ids.lock);
        id = class_under_lock(class_, &wanted);
        pthread_mutex_unlock(&ids.lock);
    }
    return (class_id){id};
}

/* --- locks --------------------------------------------------------------------------------------
 */

/* Under ids.lock: the first sight of an object.  Returns the lower half of its tag. */
static uint32_t new_lock(jobject object, jclass c)
{
    uint64_t tag = get_tag(object);
    if ((uint32_t)tag)
        return (uint32_t)tag; /* another thread was first */
    bool wanted;
    uint32_t class_ = class_under_lock(c, &wanted);
    uint32_t low = wanted ? ids.last_lock + 1 : UNWANTED;
    struct def d = {.kind = DEF_lock,
                    .lock = {.id = {low}, .class_ = {class_}, .hash = hash_of(object)}};
    if (wanted && !recorder_define(agent.rec, &d)) {
        recorder_count_loss(agent.rec, LOSS_lock, 1);
        return 0;
    }
    tag = get_tag(
        object); /* class_under_lock may have tagged it: the object may be its own class's */
    if (!set_tag(object, (tag & ~(uint64_t)UINT32_MAX) | low))
        return 0;
    ids.last_lock += wanted;
    return low;
}

lock_id locks_id(JNIEnv *jni, jobject object, bool *wanted)
{
    uint32_t low = (uint32_t)get_tag(object);
    if (!low) {
        /* The event may come while an exception is on its way; GetObjectClass wants none. */
        jthrowable pending = (*jni)->ExceptionOccurred(jni);
        if (pending)
            (*jni)->ExceptionClear(jni);
        jclass c = (*jni)->GetObjectClass(jni, object);
        pthread_mutex_lock(&ids.lock);
        low = c ? new_lock(object, c) : 0;
        pthread_mutex_unlock(&ids.lock);
        (*jni)->DeleteLocalRef(jni, c);
        if (pending) {
            (*jni)->Throw(jni, pending);
            (*jni)->DeleteLocalRef(jni, pending);
        }
    }
    *wanted = low != UNWANTED;
    return (lock_id){low == UNWANTED ? 0 : low};
}
