#include "agent/probes.h"

#include "agent/tracked.h"
#include "base/embed.h"
#include "base/log.h"
#include "base/util.h"
#include "classfile/edit.h"

#include <string.h>

EMBED(orca_probe_Probe);

#define PROBE "orca/probe/Probe"
enum { CLASSES_MAX = 64, REFERENCES = 4096 };

static _Atomic bool hooking; /* the probe's natives are there */

void probes_want(jvmtiCapabilities *want)
{
    want->can_retransform_classes = 1;
    want->can_retransform_any_class = 1;
}

/* Whether methods of this class are tracked; `len`: of the name in internal form. */
static bool is_tracked_class(const char *name, size_t len)
{
    for (size_t i = 0; i < n_tracked; i++)
        if (strncmp(tracked[i].class, name, len) == 0 && !tracked[i].class[len] &&
            tracked_applies(&tracked[i]))
            return true;
    return false;
}

/* --- one class ----------------------------------------------------------------------------------
 */

struct rewrite {
    const char *class;
    struct cf_edit edits[CF_MAX_EDITS];
};

static struct cf_probe probe(size_t row, const char *name, const char *signature)
{
    const struct tracked *t = &tracked[row];
    struct cf_probe p = {.cls = PROBE, .name = name, .desc = signature, .n_args = 2};
    p.args[0] = (struct cf_arg){CF_ARG_INT, (int32_t)row};
    p.args[1] = t->object == OBJECT_NONE   ? (struct cf_arg){CF_ARG_NULL, 0}
                : t->object == OBJECT_THIS ? (struct cf_arg){CF_ARG_THIS, 0}
                                           : (struct cf_arg){CF_ARG_PARAM, t->object};
    return p;
}

static uint32_t blocking_edits(size_t row, struct cf_edit *e)
{
    const struct tracked *t = &tracked[row];
    e[0] =
        (struct cf_edit){.at = CF_AT_ENTRY, .probe = probe(row, "enter", "(ILjava/lang/Object;)V")};
    if (t->time >= 0) {
        e[0].probe.desc = "(ILjava/lang/Object;J)V";
        e[0].probe.args[e[0].probe.n_args++] = (struct cf_arg){CF_ARG_PARAM, t->time};
    }
    e[1] =
        (struct cf_edit){.at = CF_AT_RETURN, .probe = probe(row, "exit", "(ILjava/lang/Object;)V")};
    if (t->result) {
        e[1].probe.desc = "(ILjava/lang/Object;I)V";
        e[1].probe.args[e[1].probe.n_args++] = (struct cf_arg){CF_ARG_RESULT, 0};
    }
    e[2] =
        (struct cf_edit){.at = CF_AT_THROW, .probe = probe(row, "threw", "(ILjava/lang/Object;)V")};
    return 3;
}

static const struct cf_edit *edits_of(void *ctx, const struct cf_class *c,
                                      const struct cf_method *m, uint32_t *n)
{
    struct rewrite *r = ctx;
    (void)c;
    *n = 0;
    for (size_t i = 0; i < n_tracked && *n + 3 <= CF_MAX_EDITS; i++) {
        const struct tracked *t = &tracked[i];
        if (!tracked_applies(t) || strcmp(t->class, r->class) != 0 ||
            !cf_text_is(m->name, t->name) || (t->signature && !cf_text_is(m->desc, t->signature)))
            continue;
        if (t->call)
            r->edits[(*n)++] = (struct cf_edit){
                .at = CF_AT_ENTRY, .probe = probe(i, "call", "(ILjava/lang/Object;)V")};
        else
            *n += blocking_edits(i, r->edits + *n);
    }
    return r->edits;
}

static void rewrite(const char *name, const unsigned char *bytes, jint len, jint *new_len,
                    unsigned char **new_bytes)
{
    struct rewrite r = {.class = name};
    struct cf_plan plan = {.edits = edits_of, .ctx = &r};
    struct cf_result result;
    struct buf out;
    struct err err = {""};
    buf_init(&out);
    int rc = cf_edit_class(bytes, (size_t)len, &plan, &out, &result, &err);
    if (rc < 0)
        log_line("%s: %s: its methods are not tracked", name, err.msg);
    else if (result.first.msg[0])
        log_line("%s: %s: not tracked", name, result.first.msg);
    unsigned char *copy = NULL;
    if (rc > 0 &&
        (*agent.jvmti)->Allocate(agent.jvmti, (jlong)out.len, &copy) == JVMTI_ERROR_NONE) {
        memcpy(copy, out.p, out.len);
        *new_bytes = copy;
        *new_len = (jint)out.len;
    }
    buf_fini(&out);
}

/* Only classes of the boot loader: another class of such a name is none of ours. */
/* NOLINTNEXTLINE(readability-function-size): the parameters are JVMTI's */
void JNICALL on_class_file(jvmtiEnv *jvmti, JNIEnv *jni, jclass redefined, jobject loader,
                           const char *name, jobject domain, jint len, const unsigned char *bytes,
                           jint *new_len, unsigned char **new_bytes)
{
    (void)jvmti, (void)jni, (void)redefined, (void)domain;
    /* acquire: pairs with probes_install; the probe class can be linked to */
    if (loader || !name || !atomic_load_explicit(&hooking, memory_order_acquire))
        return;
    if (is_tracked_class(name, strlen(name)))
        KEEP_ERRNO(rewrite(name, bytes, len, new_len, new_bytes));
}

/* --- all of them --------------------------------------------------------------------------------
 */

static bool define_probe(JNIEnv *jni)
{
    jclass c = (*jni)->DefineClass(jni, PROBE, NULL, (const jbyte *)embed_orca_probe_Probe,
                                   (jsize)EMBED_BYTES(orca_probe_Probe));
    bool ok = c && (*jni)->RegisterNatives(jni, c, tracked_natives, N_TRACKED_NATIVES) == JNI_OK;
    (*jni)->DeleteLocalRef(jni, c);
    return ok;
}

static bool is_tracked(jclass c)
{
    char *signature = NULL;
    jobject loader = NULL;
    bool yes = false;
    if ((*agent.jvmti)->GetClassSignature(agent.jvmti, c, &signature, NULL) != JVMTI_ERROR_NONE)
        return false;
    size_t len = strlen(signature);
    if (signature[0] == 'L' && is_tracked_class(signature + 1, len - 2))
        yes =
            (*agent.jvmti)->GetClassLoader(agent.jvmti, c, &loader) == JVMTI_ERROR_NONE && !loader;
    jvmti_free(signature);
    return yes;
}

/* Rewrite those that are there already; the others come through the hook when they are loaded. None
 * is loaded for our sake: VirtualThread's initializer, for one, starts a thread. */
static jvmtiError rewrite_loaded(JNIEnv *jni)
{
    jint n = 0, found = 0;
    jclass *all = NULL;
    jclass classes[CLASSES_MAX];
    jvmtiError e = (*agent.jvmti)->GetLoadedClasses(agent.jvmti, &n, &all);
    if (e != JVMTI_ERROR_NONE)
        return e;
    for (jint i = 0; i < n; i++)
        if (found < CLASSES_MAX && is_tracked(all[i]))
            classes[found++] = all[i];
        else
            (*jni)->DeleteLocalRef(jni, all[i]);
    jvmti_free(all);
    if (found)
        e = (*agent.jvmti)->RetransformClasses(agent.jvmti, found, classes);
    for (jint i = 0; i < found; i++)
        (*jni)->DeleteLocalRef(jni, classes[i]);
    return e;
}

static bool any_wanted(void)
{
    bool any = false;
    for (size_t i = 0; i < n_tracked; i++)
        any |= tracked_applies(&tracked[i]);
    return any;
}

void probes_install(JNIEnv *jni)
{
    if (!any_wanted())
        return;
    jvmtiError e = JVMTI_ERROR_INTERNAL;
    tracked_define();
    if (define_probe(jni)) {
        /* release: pairs with on_class_file */
        atomic_store_explicit(&hooking, true, memory_order_release);
        e = (*agent.jvmti)
                ->SetEventNotificationMode(agent.jvmti, JVMTI_ENABLE,
                                           JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL);
    }
    /* GetLoadedClasses makes a reference to each of several hundred classes. */
    if (e == JVMTI_ERROR_NONE && (*jni)->PushLocalFrame(jni, REFERENCES) == 0) {
        e = rewrite_loaded(jni);
        (*jni)->PopLocalFrame(jni, NULL);
    }
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
    if (e != JVMTI_ERROR_NONE)
        log_line("this JVM does not let Orca rewrite classes (%s): join, semaphores, "
                 "InterruptedException and parks of virtual threads are not recorded",
                 jvmti_error_name(e));
}
