#include "agent/query.h"

#include "agent/blocked_on.h"
#include "agent/heap.h"
#include "agent/heap_walk.h"
#include "agent/locks.h"
#include "agent/natives.h"
#include "agent/objects.h"
#include "agent/open_waits.h"
#include "agent/query_files.h"
#include "agent/query_object.h"
#include "agent/query_refs.h"
#include "agent/request.h"
#include "agent/threads.h"
#include "base/embed.h"
#include "base/util.h"

#include <pthread.h>
#include <string.h>

EMBED(orca_probe_Query);
EMBED(orca_probe_QueryLock);
EMBED(orca_probe_QueryThread);
EMBED(orca_probe_QueryVirtual);

#define OBJECT "Ljava/lang/Object;"
#define THREAD "Ljava/lang/Thread;"
#define STRING "Ljava/lang/String;"
#define VIRTUAL "orca/probe/QueryVirtual"

/* --- the class -------------------------------------------------------------------------------- */

static jlong JNICALL waiting_for(JNIEnv *jni, jclass c, jlong tid)
{
    jlong ns = -1;
    (void)jni, (void)c;
    RECORDING(ns = threads_waiting_for((uint64_t)tid));
    return ns;
}

static jint JNICALL id_of(JNIEnv *jni, jclass c, jobject o)
{
    jint id = 0;
    (void)jni, (void)c;
    RECORDING(id = (jint)locks_known(o));
    return id;
}

static void JNICALL found_wait(JNIEnv *jni, jclass c, jthread t, jint how, jobject o, jlong owner)
{
    (void)c;
    if (open_waits_are_over())
        open_waits_virtual(jni, t, how, o, owner);
    else
        RECORDING(open_waits_virtual(jni, t, how, o, owner));
}

static void JNICALL found_owner(JNIEnv *jni, jclass c, jlong tid, jlong owner)
{
    (void)jni, (void)c;
    RECORDING(open_waits_owner((uint64_t)tid, (uint64_t)owner));
}

/* False: it is not there, or does not fit. */
static bool text_of(JNIEnv *jni, jstring s, char *out, size_t n)
{
    jsize len = s ? (*jni)->GetStringUTFLength(jni, s) : 0;
    if (len <= 0 || (size_t)len >= n)
        return false;
    (*jni)->GetStringUTFRegion(jni, s, 0, (*jni)->GetStringLength(jni, s), out);
    out[len] = 0;
    return !(*jni)->ExceptionCheck(jni);
}

/* So that no other code in the JVM can use it for calls that are not allowed. */
static bool is_allowed(const char *type)
{
    static const char *const types[] = {
        "jdk/internal/vm/ThreadContainers", "jdk/internal/vm/ThreadContainer",
        "jdk/internal/vm/ThreadSnapshot", "java/util/concurrent/locks/AbstractOwnableSynchronizer"};
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (strcmp(types[i], type) == 0)
            return true;
    return false;
}

/* A method, static when there is no `self`, that returns an object; with one parameter or none. An
 * exception, or a missing method, is left pending for Java. */
/* NOLINTNEXTLINE(readability-function-size): the parameters are the Java method's */
static jobject JNICALL call(JNIEnv *jni, jclass c, jstring type, jobject self, jstring name,
                            jstring signature, jobject arg, jint number)
{
    char t[256], n[256], s[256];
    (void)c;
    if (!text_of(jni, type, t, sizeof t) || !text_of(jni, name, n, sizeof n) ||
        !text_of(jni, signature, s, sizeof s))
        return NULL;
    jclass class_ = is_allowed(t) ? (*jni)->FindClass(jni, t) : NULL;
    if (!class_)
        return NULL;
    jmethodID m = self ? (*jni)->GetMethodID(jni, class_, n, s)
                       : (*jni)->GetStaticMethodID(jni, class_, n, s);
    jvalue v = {.l = arg};
    if (s[1] == 'I')
        v.i = number;
    jobject result = NULL;
    if (m)
        result = self ? (*jni)->CallObjectMethodA(jni, self, m, &v)
                      : (*jni)->CallStaticObjectMethodA(jni, class_, m, &v);
    (*jni)->DeleteLocalRef(jni, class_);
    return (*jni)->ExceptionCheck(jni) ? NULL : result;
}

/* While something is recorded: then Orca knows the carriers. */
static jobject JNICALL monitor_of(JNIEnv *jni, jclass c, jlong tid, jlongArray owner)
{
    jobject o = NULL;
    jlong id = -1;
    (void)c;
    RECORDING(if (!vmstructs_flag(agent.vmstructs, "CheckJNICalls", false)) o =
                  blocked_on(jni, &agent.layout, agent.table, (uint64_t)tid, &id));
    (*jni)->SetLongArrayRegion(jni, owner, 0, 1, &id);
    return o;
}

/* One of the classes that Query needs. */
static bool define_part(JNIEnv *jni, const char *name, const unsigned char *bytes, size_t len)
{
    static const JNINativeMethod natives[] = {
        {(char *)"call", (char *)"(" STRING OBJECT STRING STRING OBJECT "I)" OBJECT, (void *)call},
        {(char *)"monitorOf", (char *)"(J[J)" OBJECT, (void *)monitor_of}};
    jclass c = natives_define(jni, name, bytes, len);
    bool ok = c && (strcmp(name, VIRTUAL) != 0 ||
                    (*jni)->RegisterNatives(jni, c, natives, ARRAY_LEN(natives)) == JNI_OK);
    (*jni)->DeleteLocalRef(jni, c);
    return ok;
}

static bool define_parts(JNIEnv *jni)
{
    return define_part(jni, "orca/probe/QueryThread", embed_orca_probe_QueryThread,
                       EMBED_BYTES(orca_probe_QueryThread)) &&
           define_part(jni, "orca/probe/QueryLock", embed_orca_probe_QueryLock,
                       EMBED_BYTES(orca_probe_QueryLock)) &&
           define_part(jni, VIRTUAL, embed_orca_probe_QueryVirtual,
                       EMBED_BYTES(orca_probe_QueryVirtual));
}

static jobjectArray JNICALL files_of(JNIEnv *jni, jclass c, jthread thread)
{
    (void)c;
    return query_files_of(jni, agent.jvmti, thread);
}

/* A global reference, kept as long as the JVM lives. */
static jclass query_class(JNIEnv *jni)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static const JNINativeMethod natives[] = {
        {(char *)"waitingFor", (char *)"(J)J", (void *)waiting_for},
        {(char *)"idOf", (char *)"(" OBJECT ")I", (void *)id_of},
        {(char *)"found", (char *)"(" THREAD "I" OBJECT "J)V", (void *)found_wait},
        {(char *)"owned", (char *)"(JJ)V", (void *)found_owner},
        {(char *)"filesOf", (char *)"(" THREAD ")[" STRING, (void *)files_of}};
    static jclass known;
    pthread_mutex_lock(&lock);
    if (known) {
        pthread_mutex_unlock(&lock);
        return known;
    }
    jclass c = define_parts(jni) ? natives_define(jni, "orca/probe/Query", embed_orca_probe_Query,
                                                  EMBED_BYTES(orca_probe_Query))
                                 : NULL;
    if (c && (*jni)->RegisterNatives(jni, c, natives, ARRAY_LEN(natives)) == JNI_OK)
        known = (*jni)->NewGlobalRef(jni, c);
    (*jni)->DeleteLocalRef(jni, c);
    pthread_mutex_unlock(&lock);
    return known;
}

/* The reason why the program's management gave no answer, in its own words. */
static int say_thrown(JNIEnv *jni, struct err *err)
{
    jthrowable thrown = (*jni)->ExceptionOccurred(jni);
    char *name = NULL;
    (*jni)->ExceptionClear(jni);
    jclass c = thrown ? (*jni)->GetObjectClass(jni, thrown) : NULL;
    if (c && agent.jvmti)
        (*agent.jvmti)->GetClassSignature(agent.jvmti, c, &name, NULL);
    err_set(err, -ENOTSUP, "the JVM's management does not answer (%s): is java.management there?",
            name ? name : "an exception");
    jvmti_free(name);
    (*jni)->DeleteLocalRef(jni, c);
    (*jni)->DeleteLocalRef(jni, thrown);
    return -ENOTSUP;
}

static int take(JNIEnv *jni, jstring text, struct buf *reply, struct err *err)
{
    if (!text || (*jni)->ExceptionCheck(jni))
        return say_thrown(jni, err);
    const char *p = (*jni)->GetStringUTFChars(jni, text, NULL);
    if (!p)
        return say_thrown(jni, err);
    buf_puts(reply, p);
    buf_putc(reply, '\n');
    (*jni)->ReleaseStringUTFChars(jni, text, p);
    return reply->oom ? err_set(err, -ENOMEM, "out of memory") : 0;
}

static jmethodID method(JNIEnv *jni, jclass *c, const char *name, const char *signature)
{
    *c = query_class(jni);
    return *c ? (*jni)->GetStaticMethodID(jni, *c, name, signature) : NULL;
}

/* --- questions -------------------------------------------------------------------------------- */

static int ask_locks(JNIEnv *jni, const struct request_question *q, struct buf *reply,
                     struct err *err)
{
    jclass c;
    jmethodID m = method(jni, &c, "locks", "(Z)" STRING);
    jstring s = m ? (*jni)->CallStaticObjectMethod(jni, c, m, (jboolean)q->held) : NULL;
    return take(jni, s, reply, err);
}

static int ask_thread(JNIEnv *jni, const struct request_question *q, struct buf *reply,
                      struct err *err)
{
    jclass c;
    jmethodID m = method(jni, &c, "thread", "(" STRING ")" STRING);
    jstring name = m ? (*jni)->NewStringUTF(jni, q->what) : NULL;
    jstring s = name ? (*jni)->CallStaticObjectMethod(jni, c, m, name) : NULL;
    return take(jni, s, reply, err);
}

static int find_object(JNIEnv *jni, const struct request_question *q, jobject *o, struct err *err)
{
    *o = locks_find(jni, q->id);
    return *o ? 0 : err_set(err, -ENOENT, "no lock has the id %u, or the lock is gone", q->id);
}

static jobjectArray array_of(JNIEnv *jni, const jthread *threads, jint n)
{
    jclass c = (*jni)->FindClass(jni, "java/lang/Thread");
    jobjectArray a = c ? (*jni)->NewObjectArray(jni, n, c, NULL) : NULL;
    for (jint i = 0; a && i < n; i++)
        (*jni)->SetObjectArrayElement(jni, a, i, threads[i]);
    return a;
}

/* Up to JDK 22 those that wait to be notified stand behind those that wait to enter, too. */
static jint entering(JNIEnv *jni, const jvmtiMonitorUsage *u)
{
    jint n = u->waiter_count - u->notify_waiter_count;
    for (jint i = 0; n >= 0 && i < u->notify_waiter_count; i++)
        if (!(*jni)->IsSameObject(jni, u->waiters[n + i], u->notify_waiters[i]))
            return u->waiter_count;
    return n >= 0 ? n : u->waiter_count;
}

static int ask_monitor(JNIEnv *jni, const struct request_question *q, struct buf *reply,
                       struct err *err)
{
    jclass c;
    jobject o;
    jvmtiMonitorUsage u;
    TRY(find_object(jni, q, &o, err));
    jmethodID m = method(jni, &c, "monitor", "(" OBJECT THREAD "I[" THREAD "[" THREAD ")" STRING);
    jvmtiError e = (*agent.jvmti)->GetObjectMonitorUsage(agent.jvmti, o, &u);
    if (e != JVMTI_ERROR_NONE)
        return err_set(err, -ENOTSUP, "the JVM does not report its monitors: %s",
                       jvmti_error_name(e));
    jobjectArray enter = array_of(jni, u.waiters, entering(jni, &u));
    jobjectArray wait = array_of(jni, u.notify_waiters, u.notify_waiter_count);
    jstring s = m && enter && wait ? (*jni)->CallStaticObjectMethod(jni, c, m, o, u.owner,
                                                                    u.entry_count, enter, wait)
                                   : NULL;
    jvmti_free(u.waiters);
    jvmti_free(u.notify_waiters);
    return take(jni, s, reply, err);
}

/* A recorded object, or else a lock: their numbers are different ones. */
static int find_numbered(JNIEnv *jni, const struct request_question *q, jobject *o, struct err *err)
{
    struct object_facts f;
    *o = q->lock ? NULL : objects_find(q->number, &f);
    if (!*o && q->has_id)
        *o = locks_find(jni, q->id);
    if (*o)
        return 0;
    if (q->lock)
        return err_set(err, -ENOENT, "no lock has the id %u, or the lock is gone", q->id);
    return err_set(
        err, -ENOENT, "no live object has the number %llu, and no live lock has this id%s",
        (unsigned long long)q->number,
        heap_follows() ? "" : "; no objects are recorded (group sampled-alloc or frees)");
}

static int ask_object(JNIEnv *jni, const struct request_question *q, struct buf *reply,
                      struct err *err)
{
    jclass c;
    jobject o;
    jlong size = -1;
    struct buf more;
    TRY(find_numbered(jni, q, &o, err));
    buf_init(&more);
    query_object_put(jni, o, &more);
    jmethodID m = method(jni, &c, "objectOf", "(" OBJECT "J" STRING ")" STRING);
    (*agent.jvmti)->GetObjectSize(agent.jvmti, o, &size);
    jstring text = m ? (*jni)->NewStringUTF(jni, buf_str(&more)) : NULL;
    buf_fini(&more);
    return take(jni, text ? (*jni)->CallStaticObjectMethod(jni, c, m, o, size, text) : NULL, reply,
                err);
}

static int ask_refs(JNIEnv *jni, const struct request_question *q, struct buf *reply,
                    struct err *err)
{
    struct object_facts f;
    jobject o = objects_find(q->number, &f);
    if (o)
        return query_refs_put(jni, o, q->depth, reply, err);
    return err_set(
        err, -ENOENT, "no live object has the number %llu%s", (unsigned long long)q->number,
        heap_follows() ? "" : "; no objects are recorded (group sampled-alloc or frees)");
}

/* Classes of this name (java.lang.String) or id; the others' references are released. */
static jint find_classes(JNIEnv *jni, const struct request_question *q, jclass *found, jint max)
{
    char *signature;
    const char *what = q->what;
    jint n = 0, k = 0;
    jclass *all = NULL;
    if (q->has_id) {
        found[0] = classes_find(jni, q->id);
        return found[0] != NULL;
    }
    if ((*agent.jvmti)->GetLoadedClasses(agent.jvmti, &n, &all) != JVMTI_ERROR_NONE)
        return 0;
    refs_may_be_many(jni);
    for (jint i = 0; i < n; i++) {
        size_t len = strlen(what);
        bool is = false;
        signature = NULL;
        if ((*agent.jvmti)->GetClassSignature(agent.jvmti, all[i], &signature, NULL) ==
            JVMTI_ERROR_NONE) {
            for (char *p = signature; *p; p++)
                *p = (char)(*p == '/' ? '.' : *p);
            is = signature[0] == 'L' && strncmp(signature + 1, what, len) == 0 &&
                 strcmp(signature + 1 + len, ";") == 0;
        }
        jvmti_free(signature);
        if (is && k < max)
            found[k++] = all[i];
        else
            (*jni)->DeleteLocalRef(jni, all[i]);
    }
    jvmti_free(all);
    return k;
}

/* What JVMTI says of a class: its instances, counted in a walk of the heap, and its fields. */
static jstring describe(JNIEnv *jni, struct heap_walk *w, jclass class_)
{
    struct buf b;
    uint64_t count, bytes;
    buf_init(&b);
    if (w->jvmti && heap_walk_count(w, class_, &count, &bytes, NULL) == 0)
        buf_printf(&b, ",\"instances\":%llu,\"instance_bytes\":%llu", (unsigned long long)count,
                   (unsigned long long)bytes);
    buf_puts(&b, ",\"fields\":");
    query_object_put_declared(class_, &b);
    jstring text = (*jni)->NewStringUTF(jni, buf_str(&b));
    buf_fini(&b);
    return text;
}

static jobjectArray describe_all(JNIEnv *jni, const jclass *classes, jint n)
{
    struct heap_walk w;
    if (heap_walk_begin(&w, jni, NULL) < 0)
        w.jvmti = NULL; /* without their instances */
    jclass c = (*jni)->FindClass(jni, "java/lang/String");
    jobjectArray a = c ? (*jni)->NewObjectArray(jni, n, c, NULL) : NULL;
    for (jint i = 0; a && i < n; i++) {
        jstring text = describe(jni, &w, classes[i]);
        if (!text)
            return NULL;
        (*jni)->SetObjectArrayElement(jni, a, i, text);
        (*jni)->DeleteLocalRef(jni, text);
    }
    return a;
}

static int ask_class(JNIEnv *jni, const struct request_question *q, struct buf *reply,
                     struct err *err)
{
    enum { CLASSES_MAX = 100 };
    jclass c, found[CLASSES_MAX];
    jint ids[CLASSES_MAX];
    jint n = find_classes(jni, q, found, CLASSES_MAX);
    if (n == 0)
        return err_set(err, -ENOENT, "no class \"%.200s\" is loaded", q->what);
    jclass class_class = (*jni)->FindClass(jni, "java/lang/Class");
    jobjectArray classes = class_class ? (*jni)->NewObjectArray(jni, n, class_class, NULL) : NULL;
    jintArray numbers = classes ? (*jni)->NewIntArray(jni, n) : NULL;
    for (jint i = 0; numbers && i < n; i++) {
        (*jni)->SetObjectArrayElement(jni, classes, i, found[i]);
        ids[i] = (jint)classes_known(found[i]);
    }
    if (numbers)
        (*jni)->SetIntArrayRegion(jni, numbers, 0, n, ids);
    jobjectArray more = numbers ? describe_all(jni, found, n) : NULL;
    jmethodID m =
        more ? method(jni, &c, "classes", "([Ljava/lang/Class;[I[" STRING ")" STRING) : NULL;
    return take(jni, m ? (*jni)->CallStaticObjectMethod(jni, c, m, classes, numbers, more) : NULL,
                reply, err);
}

/* --- the list --------------------------------------------------------------------------------- */

int query_waits(JNIEnv *jni, const jlong *ids, jint n, struct buf *lines, struct err *err)
{
    enum { REFERENCES = 16 };
    jclass c;
    if ((*jni)->PushLocalFrame(jni, REFERENCES) < 0)
        return say_thrown(jni, err);
    jlongArray array = (*jni)->NewLongArray(jni, n);
    if (array)
        (*jni)->SetLongArrayRegion(jni, array, 0, n, ids);
    jmethodID m = array ? method(jni, &c, "waits", "([J)" STRING) : NULL;
    int rc = take(jni, m ? (*jni)->CallStaticObjectMethod(jni, c, m, array) : NULL, lines, err);
    (*jni)->PopLocalFrame(jni, NULL);
    return rc;
}

int query_virtual_waits(JNIEnv *jni, jint most, struct err *err)
{
    enum { REFERENCES = 16 };
    jclass c;
    if ((*jni)->PushLocalFrame(jni, REFERENCES) < 0)
        return say_thrown(jni, err);
    jmethodID m = method(jni, &c, "virtualWaits", "(I)I");
    int left_out = m ? (*jni)->CallStaticIntMethod(jni, c, m, most) : 0;
    int rc = m && !(*jni)->ExceptionCheck(jni) ? left_out : say_thrown(jni, err);
    (*jni)->PopLocalFrame(jni, NULL);
    return rc;
}

static const struct answer {
    int (*ask)(JNIEnv *jni, const struct request_question *q, struct buf *reply, struct err *err);
    bool by_id; /* of a recording */
} answers[ASK_LIMIT] = {[ASK_locks] = {ask_locks, false},    [ASK_thread] = {ask_thread, false},
                        [ASK_monitor] = {ask_monitor, true}, [ASK_object] = {ask_object, true},
                        [ASK_refs] = {ask_refs, true},       [ASK_class] = {ask_class, true}};

static int ask(JNIEnv *jni, const struct request_question *q, struct buf *reply, struct err *err)
{
    enum { REFERENCES = 256 };
    if ((*jni)->PushLocalFrame(jni, REFERENCES) < 0)
        return say_thrown(jni, err);
    int rc = answers[q->subject].ask(jni, q, reply, err);
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
    (*jni)->PopLocalFrame(jni, NULL);
    return rc;
}

int query_run(JNIEnv *jni, const char *text, struct buf *reply, struct err *err)
{
    struct request_question q;
    TRY(request_question(&q, text, err));
    if (!answers[q.subject].by_id)
        return ask(jni, &q, reply, err);
    int rc = err_set(err, -ENODATA, "only a recording gives ids");
    RECORDING(rc = ask(jni, &q, reply, err));
    return rc;
}
