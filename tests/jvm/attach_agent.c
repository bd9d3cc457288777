/* attach_agent.c - an agent that can be loaded into a running JVM: says so, with its options and
 * the phase of the JVM, in one line on stdout, and returns the number that the options are. */
#include <jvmti.h>
#include <stdio.h>
#include <stdlib.h>

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved)
{
    (void)reserved;
    jvmtiEnv *jvmti = NULL;
    jvmtiPhase phase = 0;
    if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_2) == JNI_OK)
        (*jvmti)->GetPhase(jvmti, &phase);
    printf("attached options='%s' phase=%d\n", options ? options : "(null)", (int)phase);
    fflush(stdout);
    return options ? (jint)strtol(options, NULL, 10) : 0;
}
