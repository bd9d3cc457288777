#include "agent/locks.h"

#include "agent/jvm_text.h"
#include "base/hash.h"
#include "base/map.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a JVMTI tag holds.  The environment, and the tags with it, outlast a recording (onload.c):
 * ids of another recording count as none. */
enum { LOCK_BITS = 28, CLASS_BITS = 20, SESSION_BITS = 15 };

struct tag {
    uint32_t lock;   /* UNWANTED: this object is not recorded */
    uint32_t class_; /* of a Class object */
    bool ended;      /* of a Thread object: it has passed its ThreadEnd, whenever that was */
};

#define UNWANTED (1u << (LOCK_BITS - 1))

static uint64_t low_bits(uint64_t v, unsigned n)
{
    return v & ((UINT64_C(1) << n) - 1);
}

static uint64_t tag_pack(struct tag t)
{
    return (uint64_t)t.ended << 63 |
           low_bits(agent.session, SESSION_BITS) << (LOCK_BITS + CLASS_BITS) |
           (uint64_t)t.class_ << LOCK_BITS | t.lock;
}

static struct tag tag_unpack(uint64_t v)
{
    struct tag t = {.ended = v >> 63};
    if (low_bits(v >> (LOCK_BITS + CLASS_BITS), SESSION_BITS) !=
        low_bits(agent.session, SESSION_BITS))
        return t;
    t.lock = (uint32_t)low_bits(v, LOCK_BITS);
    t.class_ = (uint32_t)low_bits(v >> LOCK_BITS, CLASS_BITS);
    return t;
}

static struct {
    pthread_mutex_t lock;
    uint32_t last_lock, last_class;
    struct map named; /* classes known by name only: hash of the signature -> id */
} ids = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Locks that were reported by hash, and that no thread has met yet.  As long as more may be
 * reported, also those that threads have met, so that no thread gives them a second id.  Under
 * ids.lock. */
enum { TOLD_MAX = 8192, MET_MAX = 4096 };
static struct told {
    uint32_t hash, lock;
    uint64_t class_hash; /* of the signature */
    bool met;
} told[TOLD_MAX];
static size_t n_told, n_met;
static bool telling;

/* What include= and exclude= say of a class, by its id; UNASKED: not looked up yet. */
enum { UNASKED, WANTED, NOT_WANTED };
static _Atomic uint8_t wanted_by_id[1 << CLASS_BITS];

void locks_init(void)
{
    for (uint32_t i = 0; i <= ids.last_class; i++)
        atomic_store_explicit(&wanted_by_id[i], UNASKED, memory_order_relaxed);
    ids.last_lock = ids.last_class = 0;
    map_fini(&ids.named);
    map_init(&ids.named);
    n_told = n_met = 0;
    telling = agent.attached;
}

static struct tag get_tag(jobject o)
{
    jlong tag = 0;
    (*agent.jvmti)->GetTag(agent.jvmti, o, &tag);
    return tag_unpack((uint64_t)tag);
}

static bool set_tag(jobject o, struct tag t)
{
    return (*agent.jvmti)->SetTag(agent.jvmti, o, (jlong)tag_pack(t)) == JVMTI_ERROR_NONE;
}

static uint32_t hash_of(jobject o)
{
    jint hash = 0;
    (*agent.jvmti)->GetObjectHashCode(agent.jvmti, o, &hash);
    return (uint32_t)hash;
}

/* --- classes ---------------------------------------------------------------------------------- */

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
    struct tag tag = get_tag(c);
    uint32_t id = tag.class_, new_id = ids.last_class + 1;
    char *signature = NULL;
    bool filter = agent.settings.include || agent.settings.exclude;
    *wanted = true;
    if ((id && !filter) ||
        (*agent.jvmti)->GetClassSignature(agent.jvmti, c, &signature, NULL) != JVMTI_ERROR_NONE)
        return id;
    *wanted = settings_wants_class(&agent.settings, signature);
    tag.class_ = new_id;
    if (!id && new_id >> CLASS_BITS == 0 && define_class(new_id, c, signature) && set_tag(c, tag))
        id = ids.last_class = new_id;
    jvmti_free(signature);
    return id;
}

class_id classes_id(JNIEnv *jni, jclass class_)
{
    (void)jni;
    bool wanted;
    uint32_t id = get_tag(class_).class_;
    if (!id) {
        pthread_mutex_lock(&ids.lock);
        id = class_under_lock(class_, &wanted);
        pthread_mutex_unlock(&ids.lock);
    }
    return (class_id){id};
}

static uint8_t ask_wanted(jclass c)
{
    char *signature = NULL;
    if ((*agent.jvmti)->GetClassSignature(agent.jvmti, c, &signature, NULL) != JVMTI_ERROR_NONE)
        return UNASKED;
    bool wanted = settings_wants_class(&agent.settings, signature);
    jvmti_free(signature);
    return wanted ? WANTED : NOT_WANTED;
}

class_id classes_wanted(JNIEnv *jni, jclass class_, bool *wanted)
{
    class_id id = classes_id(jni, class_);
    *wanted = true;
    if (!agent.settings.include && !agent.settings.exclude)
        return id;
    /* relaxed: every lookup finds the same */
    uint8_t said = atomic_load_explicit(&wanted_by_id[id.v], memory_order_relaxed);
    if (said == UNASKED || !id.v) {
        said = ask_wanted(class_);
        atomic_store_explicit(&wanted_by_id[id.v], said, memory_order_relaxed);
    }
    *wanted = said != NOT_WANTED;
    return id;
}

static void signature_of_name(const char *name, char *out, size_t n)
{
    snprintf(out, n, *name == '[' ? "%s" : "L%s;", name);
    for (char *p = out; (p = strchr(p, '.')) != NULL; p++)
        *p = '/';
}

static uint64_t signature_hash(const char *signature)
{
    struct hash128 h = hash_bytes128(signature, strlen(signature));
    return h.lo;
}

/* Under ids.lock. */
static uint32_t class_by_name(const char *signature, struct str source)
{
    uint64_t hash = signature_hash(signature);
    const uint64_t *known = map_find(&ids.named, hash);
    uint32_t id = ids.last_class + 1;
    struct def d = {
        .kind = DEF_class,
        .class = {.id = {id}, .signature = {signature, strlen(signature)}, .source = source}};
    if (known)
        return (uint32_t)*known;
    if (id >> CLASS_BITS || !recorder_define(agent.rec, &d))
        return 0;
    uint64_t *at = map_put(&ids.named, hash);
    if (at)
        *at = id;
    return ids.last_class = id;
}

class_id classes_id_of_name(const char *name, struct str source)
{
    char signature[1024];
    signature_of_name(name, signature, sizeof signature);
    pthread_mutex_lock(&ids.lock);
    uint32_t id = class_by_name(signature, source);
    pthread_mutex_unlock(&ids.lock);
    return (class_id){id};
}

/* --- locks ------------------------------------------------------------------------------------ */

static bool define_lock(uint32_t id, uint32_t class_, uint32_t hash)
{
    struct def d = {.kind = DEF_lock, .lock = {.id = {id}, .class_ = {class_}, .hash = hash}};
    bool ok = id < UNWANTED && recorder_define(agent.rec, &d); /* 134 million locks */
    if (!ok)
        recorder_count_loss(agent.rec, LOSS_lock, 1);
    return ok;
}

static uint64_t class_hash_of(jclass c)
{
    char *signature = NULL;
    if ((*agent.jvmti)->GetClassSignature(agent.jvmti, c, &signature, NULL) != JVMTI_ERROR_NONE)
        return 0;
    uint64_t hash = signature_hash(signature);
    jvmti_free(signature);
    return hash;
}

/* met: one that threads have come by will do, too. */
static struct told *find_told(uint64_t class_hash, uint32_t hash, bool met)
{
    for (size_t i = 0; i < n_told; i++)
        if (told[i].hash == hash && told[i].class_hash == class_hash && (met || !told[i].met))
            return &told[i];
    return NULL;
}

static void forget_told(struct told *t)
{
    *t = told[--n_told];
}

/* The id under which this object was reported; 0: it was not.  Asked for once. */
static uint32_t take_told(jclass c, uint32_t hash)
{
    bool any = false;
    for (size_t i = 0; i < n_told && !any; i++)
        any = told[i].hash == hash && !told[i].met;
    struct told *t = any ? find_told(class_hash_of(c), hash, false) : NULL;
    if (!t)
        return 0;
    uint32_t id = t->lock;
    if (telling)
        t->met = true;
    else
        forget_told(t);
    return id;
}

/* A thread has come by this object before it was told of. */
static void keep_met(jclass c, uint32_t hash, uint32_t lock)
{
    bool room = n_met < MET_MAX && n_told < TOLD_MAX;
    uint64_t class_hash = room ? class_hash_of(c) : 0;
    if (!class_hash)
        return;
    told[n_told++] = (struct told){hash, lock, class_hash, true};
    n_met++;
}

void locks_told_all(void)
{
    pthread_mutex_lock(&ids.lock);
    telling = false;
    for (size_t i = n_told; i-- > 0;)
        if (told[i].met)
            forget_told(&told[i]);
    pthread_mutex_unlock(&ids.lock);
}

/* Under ids.lock: the first sight of an object.  Returns its tag's `lock`. */
static uint32_t new_lock(jobject object, jclass c)
{
    struct tag tag = get_tag(object);
    if (tag.lock)
        return tag.lock; /* another thread was first */
    bool wanted;
    uint32_t class_ = class_under_lock(c, &wanted);
    uint32_t hash = hash_of(object), known = wanted && n_told ? take_told(c, hash) : 0;
    uint32_t low = !wanted ? UNWANTED : known ? known : ids.last_lock + 1;
    if (wanted && !define_lock(low, class_, hash))
        return 0;
    /* class_under_lock may have tagged it: the object may be its own class's */
    tag = get_tag(object);
    tag.lock = low;
    if (!set_tag(object, tag))
        return 0;
    ids.last_lock += wanted && !known;
    if (telling && wanted && !known)
        keep_met(c, hash, low);
    return low;
}

/* The class is one without a Class object, until one of the name is met: then the lock gets
 * that. */
static uint32_t told_lock(const char *signature, uint32_t hash)
{
    uint64_t class_hash = signature_hash(signature);
    const struct told *known = find_told(class_hash, hash, true);
    if (known)
        return known->lock;
    uint32_t class_ = class_by_name(signature, (struct str){"", 0}), id = ids.last_lock + 1;
    if (n_told == TOLD_MAX || !class_ || !define_lock(id, class_, hash))
        return 0;
    told[n_told++] = (struct told){hash, id, class_hash, false};
    return ids.last_lock = id;
}

lock_id locks_by_hash(const char *class_name, uint32_t hash)
{
    char signature[1024];
    signature_of_name(class_name, signature, sizeof signature);
    if (!settings_wants_class(&agent.settings, signature))
        return (lock_id){0};
    pthread_mutex_lock(&ids.lock);
    uint32_t id = told_lock(signature, hash);
    pthread_mutex_unlock(&ids.lock);
    return (lock_id){id};
}

lock_id locks_id(JNIEnv *jni, jobject object, bool *wanted)
{
    uint32_t low = get_tag(object).lock;
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

lock_id locks_of_peer(const char *name)
{
    pthread_mutex_lock(&ids.lock);
    uint32_t class_ = class_by_name(name, (struct str){"", 0}), id = ids.last_lock + 1;
    id = class_ && define_lock(id, class_, 0) ? id : 0;
    ids.last_lock = id ? id : ids.last_lock;
    pthread_mutex_unlock(&ids.lock);
    return (lock_id){id};
}

/* --- threads that have ended
 * ---------------------------------------------------------------------- */

void locks_set_ended(jthread thread)
{
    pthread_mutex_lock(&ids.lock);
    struct tag tag = get_tag(thread);
    tag.ended = true;
    set_tag(thread, tag);
    pthread_mutex_unlock(&ids.lock);
}

bool locks_is_ended(jthread thread)
{
    return get_tag(thread).ended;
}

/* --- back from ids ---------------------------------------------------------------------------- */

uint32_t locks_known(jobject object)
{
    uint32_t low = get_tag(object).lock;
    return low == UNWANTED ? 0 : low;
}

uint32_t classes_known(jclass class_)
{
    return get_tag(class_).class_;
}

static jobject find_tag(struct tag tag)
{
    jlong wanted = (jlong)tag_pack(tag);
    jint n = 0;
    jobject *objects = NULL, found = NULL;
    if ((*agent.jvmti)->GetObjectsWithTags(agent.jvmti, 1, &wanted, &n, &objects, NULL) ==
            JVMTI_ERROR_NONE &&
        n > 0)
        found = objects[0];
    jvmti_free(objects);
    return found;
}

/* Nearly every object has one of the two only; a Class that is a lock, too, has both, and is looked
 * for among the classes that have been met. */
static jobject find(JNIEnv *jni, uint32_t lock, uint32_t class_)
{
    jobject o = find_tag((struct tag){.lock = lock, .class_ = class_});
    jint n = 0;
    jclass *all = NULL;
    if (o || (*agent.jvmti)->GetLoadedClasses(agent.jvmti, &n, &all) != JVMTI_ERROR_NONE)
        return o;
    refs_may_be_many(jni);
    for (jint i = 0; i < n; i++) {
        struct tag tag = get_tag(all[i]);
        bool is = lock ? tag.lock == lock : tag.class_ == class_;
        if (is && !o)
            o = all[i];
        else
            (*jni)->DeleteLocalRef(jni, all[i]);
    }
    jvmti_free(all);
    return o;
}

jobject locks_find(JNIEnv *jni, uint32_t lock)
{
    return lock ? find(jni, lock, 0) : NULL;
}

jclass classes_find(JNIEnv *jni, uint32_t class_)
{
    return class_ ? find(jni, 0, class_) : NULL;
}
