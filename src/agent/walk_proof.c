#include "agent/walk_proof.h"

#include "base/util.h"
#include "hotspot/method_text.h"

#include <string.h>

enum { DEPTH = 32, OWN = 2 /* methods: Natives.replace, called by Natives.run */ };

/* "Lorca/probe/Natives;" is of the class orca/probe/Natives. */
static bool is_class(const char *signature, const char *name, size_t n)
{
    return strlen(signature) == n + 2 && memcmp(signature + 1, name, n) == 0;
}

static bool is_text(const char *theirs, const char *ours, size_t n)
{
    return strlen(theirs) == n && memcmp(theirs, ours, n) == 0;
}

static void release(const struct walk_proof *p, void *text)
{
    (*p->jvmti)->Deallocate(p->jvmti, text);
}

static bool has_names(const struct walk_proof *p, jmethodID method, const struct method_text *t)
{
    jvmtiEnv *ti = p->jvmti;
    char *name = NULL, *signature = NULL, *of = NULL, *source = NULL;
    jclass c = NULL;
    bool same =
        (*ti)->GetMethodName(ti, method, &name, &signature, NULL) == JVMTI_ERROR_NONE &&
        (*ti)->GetMethodDeclaringClass(ti, method, &c) == JVMTI_ERROR_NONE &&
        (*ti)->GetClassSignature(ti, c, &of, NULL) == JVMTI_ERROR_NONE &&
        (*ti)->GetSourceFileName(ti, c, &source) == JVMTI_ERROR_NONE &&
        is_text(name, t->name, t->name_len) && is_text(signature, t->signature, t->signature_len) &&
        is_class(of, t->class_name, t->class_name_len) && is_text(source, t->source, t->source_len);
    release(p, name), release(p, signature), release(p, of), release(p, source);
    return same;
}

static bool has_lines(const struct walk_proof *p, jmethodID method, const struct method_text *t)
{
    jint n = 0;
    jvmtiLineNumberEntry *lines = NULL;
    struct method_lines at = {0};
    bool same = (*p->jvmti)->GetLineNumberTable(p->jvmti, method, &n, &lines) == JVMTI_ERROR_NONE;
    for (jint i = 0; i < n && same; i++)
        same = method_lines_next(p->walker, t, &at) && at.bci == lines[i].start_location &&
               at.line == lines[i].line_number;
    release(p, lines);
    return same && !method_lines_next(p->walker, t, &at);
}

static bool is_described(const struct walk_proof *p, jmethodID method, const struct walk_frame *f)
{
    char text[1024];
    struct method_text t;
    jboolean native = JNI_FALSE;
    (*p->jvmti)->IsMethodNative(p->jvmti, method, &native);
    return p->method(method) == f->method &&
           method_describe(p->walker, f->method, text, sizeof text, &t) == 0 &&
           has_names(p, method, &t) && (native ? t.lines_len == 0 : has_lines(p, method, &t));
}

/* The frames below may be anything's. */
bool walk_proof_holds(const struct walk_proof *p)
{
    struct walk_frame frames[DEPTH];
    jvmtiFrameInfo theirs[DEPTH];
    jint n = 0;
    struct walk w = {.frames = frames, .max = DEPTH, .options = WALK_WITH_STAMPS};
    int walked = walk(p->walker, p->java_thread, NULL, &w);
    bool same =
        (*p->jvmti)->GetStackTrace(p->jvmti, NULL, 0, DEPTH, theirs, &n) == JVMTI_ERROR_NONE &&
        walked == n && n >= OWN;
    for (jint i = 0; i < n && same; i++)
        same = frames[i].bci == (int32_t)theirs[i].location &&
               p->method(theirs[i].method) == frames[i].method;
    return same && is_described(p, theirs[0].method, &frames[0]) &&
           is_described(p, theirs[1].method, &frames[1]);
}
