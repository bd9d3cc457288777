#include "agent/methods.h"

#include "agent/jvm_text.h"
#include "agent/locks.h"
#include "record/intern.h"

#include <string.h>

enum { METHODS_MAX = 1 << 24 };

static struct intern methods;

int methods_init(struct err *err)
{
    int rc = intern_init(&methods, METHODS_MAX);
    return rc < 0 ? err_set(err, rc, "out of memory") : 0;
}

/* The line table, packed; its bytes are in `b`. */
static struct packed line_table(jmethodID method, struct buf *b)
{
    jint n = 0;
    jvmtiLineNumberEntry *lines = NULL;
    if ((*agent.jvmti)->GetLineNumberTable(agent.jvmti, method, &n, &lines) != JVMTI_ERROR_NONE)
        return (struct packed){0};
    uint32_t bci = 0, line = 0;
    for (jint i = 0; i < n; i++) {
        uint32_t at = (uint32_t)lines[i].start_location, number = (uint32_t)lines[i].line_number;
        packed_put_line(b, at, number, bci, line);
        bci = at;
        line = number;
    }
    jvmti_free(lines);
    return b->oom ? (struct packed){0} : (struct packed){b->p, b->len, (uint32_t)n};
}

struct job {
    JNIEnv *jni;
    jmethodID method;
};

static bool define(void *arg, uint32_t id)
{
    struct job *job = arg;
    jvmtiEnv *ti = agent.jvmti;
    jclass c = NULL;
    char *name = NULL, *signature = NULL;
    jint flags = 0;
    struct buf lines;
    bool ok = false;
    buf_init(&lines);
    if ((*ti)->GetMethodName(ti, job->method, &name, &signature, NULL) == JVMTI_ERROR_NONE &&
        (*ti)->GetMethodDeclaringClass(ti, job->method, &c) == JVMTI_ERROR_NONE) {
        (*ti)->GetMethodModifiers(ti, job->method, &flags);
        struct def d = {.kind = DEF_method,
                        .method = {.id = {id},
                                   .class_ = classes_id(job->jni, c),
                                   .name = {name, mutf8_to_utf8(name)},
                                   .signature = {signature, mutf8_to_utf8(signature)},
                                   .flags = (uint32_t)flags & 0xffff,
                                   .lines = line_table(job->method, &lines)}};
        ok = recorder_define(agent.rec, &d);
        (*job->jni)->DeleteLocalRef(job->jni, c);
    }
    buf_fini(&lines);
    jvmti_free(name);
    jvmti_free(signature);
    return ok;
}

method_id methods_id(JNIEnv *jni, jmethodID method)
{
    struct job job = {jni, method};
    struct hash128 key = {hash_u64((uint64_t)(uintptr_t)method), (uint64_t)(uintptr_t)method};
    return (method_id){intern_get(&methods, key, define, &job)};
}
