/* broken_agent.c - makes liborca.so's mistakes: calls in it what the compiler's checks call, as
 * they would.
 *
 * "copy=OFFSET": at VMInit, __memcpy_chk, which is at that offset in liborca.so, with more than
 * fits; two times. "stack=OFFSET": at VMDeath, __stack_chk_fail.  Must be loaded before liborca.so,
 * to die before it ends. */
#include <jvmti.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uintptr_t offset;

static int find(struct dl_phdr_info *info, size_t size, void *base)
{
    (void)size;
    const char *slash = strrchr(info->dlpi_name, '/');
    if (!slash || strcmp(slash, "/liborca.so") != 0)
        return 0;
    *(uintptr_t *)base = info->dlpi_addr;
    return 1;
}

static uintptr_t place(void)
{
    uintptr_t base = 0;
    dl_iterate_phdr(find, &base);
    return base + offset;
}

static void JNICALL copy(jvmtiEnv *ti, JNIEnv *jni, jthread thread)
{
    (void)ti, (void)jni, (void)thread;
    void *(*check)(void *, const void *, size_t, size_t) =
        (void *(*)(void *, const void *, size_t, size_t))place();
    char to[16];
    memset(to, 'x', sizeof to);
    for (int i = 0; i < 2; i++)
        check(to, "0123456789", 10, 4);
    printf("broken: %.16s\n", to);
    fflush(stdout);
}

static void JNICALL stack(jvmtiEnv *ti, JNIEnv *jni)
{
    (void)ti, (void)jni;
    ((void (*)(void))place())();
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    (void)reserved;
    jvmtiEnv *ti;
    jvmtiEventCallbacks on = {0};
    if ((*vm)->GetEnv(vm, (void **)&ti, JVMTI_VERSION_1_2) != JNI_OK)
        return JNI_ERR;
    int copies = strncmp(options, "copy=", 5) == 0;
    offset = strtoul(strchr(options, '=') + 1, NULL, 16);
    if (copies)
        on.VMInit = copy;
    else
        on.VMDeath = stack;
    (*ti)->SetEventCallbacks(ti, &on, (jint)sizeof on);
    return (*ti)->SetEventNotificationMode(
        ti, JVMTI_ENABLE, copies ? JVMTI_EVENT_VM_INIT : JVMTI_EVENT_VM_DEATH, NULL);
}
