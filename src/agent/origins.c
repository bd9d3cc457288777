#include "agent/origins.h"

#include "base/mutf8.h"
#include "base/util.h"
#include "classfile/origin.h"
#include "record/intern.h"

#include <pthread.h>
#include <string.h>

enum {
    SITES_MAX = 1 << 18,
    FRAMES = 48, /* of a stack, from the innermost on */
    JOBS = 4096,
};

struct job {
    jweak class_;
    jmethodID method;
    uintptr_t version; /* HotSpot's Method at the time */
    method_id id;
    int32_t bci;
};

static struct {
    struct origins_jvm jvm;
    struct intern known; /* (method, bci) */
    pthread_mutex_t lock;
    struct job jobs[JOBS];
    uint32_t n; /* under the lock */
    _Atomic bool any;
    uint32_t defined; /* the last id; by the defining thread, one at a time */
} origins = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void give_back(void *p)
{
    if (p)
        (*origins.jvm.ti)->Deallocate(origins.jvm.ti, p);
}

int origins_init(const struct origins_jvm *jvm, struct err *err)
{
    origins.jvm = *jvm;
    origins.defined = 0;
    return intern_init(&origins.known, SITES_MAX) < 0 ? err_set(err, -ENOMEM, "out of memory") : 0;
}

void origins_fini(JNIEnv *jni)
{
    for (uint32_t i = 0; i < origins.n; i++)
        (*jni)->DeleteWeakGlobalRef(jni, origins.jobs[i].class_);
    origins.n = 0;
    atomic_store_explicit(&origins.any, false, memory_order_relaxed); /* no other thread is there */
    intern_fini(&origins.known);
}

/* --- noting ----------------------------------------------------------------------------------- */

struct noting {
    JNIEnv *jni;
    const struct stack_frame *frame;
};

static bool put(const struct job *job)
{
    pthread_mutex_lock(&origins.lock);
    bool room = origins.n < JOBS;
    if (room)
        origins.jobs[origins.n++] = *job;
    pthread_mutex_unlock(&origins.lock);
    if (room) /* relaxed: who looks too early looks again */
        atomic_store_explicit(&origins.any, true, memory_order_relaxed);
    return room;
}

static bool is_jdks(JNIEnv *jni, jclass c)
{
    jobject loader = NULL;
    jvmtiError e = (*origins.jvm.ti)->GetClassLoader(origins.jvm.ti, c, &loader);
    bool is = e != JVMTI_ERROR_NONE || !loader;
    (*jni)->DeleteLocalRef(jni, loader);
    return is;
}

/* JNI's NewWeakGlobalRef wants no exception on its way, and throws when memory is out. */
static jweak reference_to(JNIEnv *jni, jclass c)
{
    jthrowable pending = (*jni)->ExceptionOccurred(jni);
    if (pending)
        (*jni)->ExceptionClear(jni);
    jweak weak = (*jni)->NewWeakGlobalRef(jni, c);
    if (!weak)
        (*jni)->ExceptionClear(jni);
    if (pending) {
        (*jni)->Throw(jni, pending);
        (*jni)->DeleteLocalRef(jni, pending);
    }
    return weak;
}

/* False: it may be noted another time. */
static bool note(void *arg, uint32_t number)
{
    const struct noting *x = arg;
    const struct stack_frame *f = x->frame;
    struct job job = {.id = f->method, .bci = f->bci};
    jclass c = NULL;
    bool ok = true;
    UNUSED(number);
    if (!origins.jvm.newest(x->jni, f->method, &job.method, &job.version) ||
        (*origins.jvm.ti)->GetMethodDeclaringClass(origins.jvm.ti, job.method, &c) !=
            JVMTI_ERROR_NONE)
        return true;
    if (!is_jdks(x->jni, c)) {
        job.class_ = reference_to(x->jni, c);
        ok = job.class_ && put(&job);
        if (job.class_ && !ok)
            (*x->jni)->DeleteWeakGlobalRef(x->jni, job.class_);
    }
    (*x->jni)->DeleteLocalRef(x->jni, c);
    return ok;
}

static struct hash128 key_of(const struct stack_frame *f)
{
    return (struct hash128){hash_u64((uint64_t)f->method.v << 32 | (uint32_t)f->bci), f->method.v};
}

void origins_note(JNIEnv *jni, const struct stack_frame *frames, uint32_t n)
{
    for (uint32_t i = 0; i < n && i < FRAMES; i++) {
        struct noting x = {jni, &frames[i]};
        if (frames[i].bci >= 0 && !intern_find(&origins.known, key_of(&frames[i])))
            intern_get(&origins.known, key_of(&frames[i]), note, &x);
    }
}

/* --- defining --------------------------------------------------------------------------------- */

/* The constants of the last class: calls of one stand together. */
struct pool {
    jclass of; /* a local reference; NULL: none */
    struct arena arena;
    struct cf_class c;
    bool ok;
};

static void pool_drop(JNIEnv *jni, struct pool *p)
{
    if (!p->of)
        return;
    arena_fini(&p->arena);
    (*jni)->DeleteLocalRef(jni, p->of);
    *p = (struct pool){.of = NULL};
}

/* Takes the reference. */
static void pool_of(JNIEnv *jni, struct pool *p, jclass c)
{
    jint n = 0, len = 0;
    unsigned char *bytes = NULL;
    if (p->of && (*jni)->IsSameObject(jni, p->of, c)) {
        (*jni)->DeleteLocalRef(jni, c);
        return;
    }
    pool_drop(jni, p);
    p->of = c;
    arena_init(&p->arena, 0);
    p->ok = (*origins.jvm.ti)->GetConstantPool(origins.jvm.ti, c, &n, &len, &bytes) ==
                JVMTI_ERROR_NONE &&
            n > 0 && n <= UINT16_MAX && len >= 0 &&
            cf_parse_constants(&p->c, bytes, (size_t)len, (uint16_t)n, &p->arena, NULL) == 0;
    give_back(bytes);
}

static bool describe(const struct cf_class *c, const struct job *job, struct arena *a,
                     struct buf *out)
{
    jvmtiEnv *ti = origins.jvm.ti;
    jint access = 0, n = 0;
    char *desc = NULL;
    unsigned char *code = NULL;
    bool is = false;
    if ((*ti)->GetMethodName(ti, job->method, NULL, &desc, NULL) == JVMTI_ERROR_NONE &&
        (*ti)->GetMethodModifiers(ti, job->method, &access) == JVMTI_ERROR_NONE &&
        (*ti)->GetBytecodes(ti, job->method, &n, &code) == JVMTI_ERROR_NONE && n > 0) {
        struct origin_method m = {
            c, code, (uint32_t)n, access & CF_ACC_STATIC, {desc, (uint32_t)strlen(desc)}};
        /* the code is this version's when it was so before and after */
        is = origin_put(&m, (uint32_t)job->bci, a, out) &&
             origins.jvm.version(job->method) == job->version;
    }
    give_back(code);
    give_back(desc);
    return is;
}

static void define(JNIEnv *jni, struct recorder *rec, struct pool *pool, const struct job *job)
{
    struct arena a;
    struct buf line;
    jclass c = (*jni)->NewLocalRef(jni, job->class_);
    (*jni)->DeleteWeakGlobalRef(jni, job->class_);
    if (!c)
        return; /* unloaded: its methods' ids must no longer be used */
    pool_of(jni, pool, c);
    arena_init(&a, 0);
    buf_init(&line);
    if (pool->ok && describe(&pool->c, job, &a, &line)) {
        char *text = (char *)(uintptr_t)buf_str(&line);
        struct def d = {.kind = DEF_site,
                        .site = {.id = origins.defined + 1,
                                 .method = job->id,
                                 .bci = (uint32_t)job->bci,
                                 .from = {text, mutf8_to_utf8(text)}}};
        origins.defined += recorder_define(rec, &d);
    }
    buf_fini(&line);
    arena_fini(&a);
}

bool origins_due(void)
{
    return atomic_load_explicit(&origins.any, memory_order_relaxed);
}

void origins_define(JNIEnv *jni, struct recorder *rec)
{
    enum { REFERENCES = 16, BATCH = 64 };
    struct job batch[BATCH];
    struct pool pool = {.of = NULL};
    uint32_t n;
    if ((*jni)->PushLocalFrame(jni, REFERENCES) < 0) {
        (*jni)->ExceptionClear(jni);
        return;
    }
    atomic_store_explicit(&origins.any, false, memory_order_relaxed);
    do {
        pthread_mutex_lock(&origins.lock);
        n = min_u32(origins.n, BATCH);
        memcpy(batch, origins.jobs + (origins.n - n), n * sizeof *batch);
        origins.n -= n;
        pthread_mutex_unlock(&origins.lock);
        for (uint32_t i = 0; i < n; i++)
            define(jni, rec, &pool, &batch[i]);
    } while (n);
    pool_drop(jni, &pool);
    (*jni)->PopLocalFrame(jni, NULL);
}
