/* throw_agent.c - an agent that throws an exception at the n-th instruction that a thread runs in
 * some classes, as an exception from outside of the thread could come at each, and one more behind
 * it: what Thrown.java arms.
 *
 * The classes are the program's own and those that it was given as options, joined by '+', in
 * internal form. */
#include <jvmti.h>

#include <stdio.h>
#include <string.h>

static jvmtiEnv *jvmti;
static char classes[8][128];
static int n_classes;
static _Thread_local long left, then; /* instructions; 0: not armed */
static _Thread_local char where[256];

static int is_wanted(jmethodID method)
{
    jclass c = NULL;
    char *signature = NULL;
    int yes = 0;
    if ((*jvmti)->GetMethodDeclaringClass(jvmti, method, &c) != JVMTI_ERROR_NONE ||
        (*jvmti)->GetClassSignature(jvmti, c, &signature, NULL) != JVMTI_ERROR_NONE)
        return 0;
    for (int i = 0; i < n_classes && !yes; i++)
        yes = strncmp(signature + 1, classes[i], strlen(classes[i])) == 0 &&
              signature[1 + strlen(classes[i])] == ';';
    (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
    return yes;
}

static void JNICALL on_step(jvmtiEnv *env, JNIEnv *jni, jthread thread, jmethodID method,
                            jlocation at)
{
    (void)env;
    (void)thread;
    if (!left)
        return;
    if (!is_wanted(method) || --left)
        return;
    left = then;
    then = 0;
    char *name = NULL;
    (*jvmti)->GetMethodName(jvmti, method, &name, NULL, NULL);
    snprintf(where, sizeof where, "%s:%ld", name, (long)at);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)name);
    jclass c = (*jni)->FindClass(jni, "java/lang/InternalError");
    if (c)
        (*jni)->ThrowNew(jni, c, where);
}

/* boolean ThrownRounds.arm(int first, int second): at the first instruction of this number from now
 * on, and so many later once more; 0, 0: no more.  Whether what was armed has been thrown. */
JNIEXPORT jboolean JNICALL Java_ThrownRounds_arm(JNIEnv *jni, jclass c, jint first, jint second)
{
    jboolean thrown = !left;
    (void)jni;
    (void)c;
    left = first;
    then = second;
    (*jvmti)->SetEventNotificationMode(jvmti, first ? JVMTI_ENABLE : JVMTI_DISABLE,
                                       JVMTI_EVENT_SINGLE_STEP, NULL);
    return thrown;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    (void)reserved;
    jvmtiCapabilities wanted = {.can_generate_single_step_events = 1};
    jvmtiEventCallbacks callbacks = {.SingleStep = on_step};
    if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_11) != JNI_OK ||
        (*jvmti)->AddCapabilities(jvmti, &wanted) != JVMTI_ERROR_NONE ||
        (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks) != JVMTI_ERROR_NONE)
        return JNI_ERR;
    for (char *p = strtok(options, "+"); p && n_classes < 8; p = strtok(NULL, "+"))
        snprintf(classes[n_classes++], sizeof classes[0], "%s", p);
    return JNI_OK;
}
