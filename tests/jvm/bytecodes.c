/* bytecodes.c - of a class as it is now: Attachable.code, a checksum of its methods' byte code;
 * Reattached.constants, how many constants it has. */
#include <jvmti.h>
#include <string.h>

JNIEXPORT jlong JNICALL Java_Attachable_code(JNIEnv *jni, jclass self, jclass of);
JNIEXPORT jint JNICALL Java_Reattached_constants(JNIEnv *jni, jclass self, jclass of);

static jlong add(jvmtiEnv *ti, jmethodID method, jlong sum)
{
    jint n = 0;
    unsigned char *code = NULL;
    if ((*ti)->GetBytecodes(ti, method, &n, &code) != JVMTI_ERROR_NONE) /* native or abstract */
        return sum;
    for (jint i = 0; i < n; i++)
        sum = (jlong)((unsigned long long)sum * 1099511628211ull ^ code[i]);
    (*ti)->Deallocate(ti, code);
    return sum;
}

JNIEXPORT jlong JNICALL Java_Attachable_code(JNIEnv *jni, jclass self, jclass of)
{
    JavaVM *vm;
    jvmtiEnv *ti;
    jvmtiCapabilities want;
    jmethodID *methods = NULL;
    jint n = 0;
    jlong sum = 0;
    (void)self;
    memset(&want, 0, sizeof want);
    want.can_get_bytecodes = 1;
    if ((*jni)->GetJavaVM(jni, &vm) != JNI_OK ||
        (*vm)->GetEnv(vm, (void **)&ti, JVMTI_VERSION_11) != JNI_OK)
        return -1;
    if ((*ti)->AddCapabilities(ti, &want) == JVMTI_ERROR_NONE &&
        (*ti)->GetClassMethods(ti, of, &n, &methods) == JVMTI_ERROR_NONE)
        for (jint i = 0; i < n; i++)
            sum = add(ti, methods[i], sum);
    (*ti)->Deallocate(ti, (unsigned char *)methods);
    (*ti)->DisposeEnvironment(ti);
    return sum;
}

JNIEXPORT jint JNICALL Java_Reattached_constants(JNIEnv *jni, jclass self, jclass of)
{
    JavaVM *vm;
    jvmtiEnv *ti;
    jvmtiCapabilities want;
    unsigned char *pool = NULL;
    jint n = -1, bytes = 0;
    (void)self;
    memset(&want, 0, sizeof want);
    want.can_get_constant_pool = 1;
    if ((*jni)->GetJavaVM(jni, &vm) != JNI_OK ||
        (*vm)->GetEnv(vm, (void **)&ti, JVMTI_VERSION_11) != JNI_OK)
        return -1;
    if ((*ti)->AddCapabilities(ti, &want) == JVMTI_ERROR_NONE)
        (*ti)->GetConstantPool(ti, of, &n, &bytes, &pool);
    (*ti)->Deallocate(ti, pool);
    (*ti)->DisposeEnvironment(ti);
    return n;
}
