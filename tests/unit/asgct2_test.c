/* The interface of AsyncGetCallTrace2 as JDK-8284289 lays it out, and a host that is not
 * HotSpot. */
#include "orca/asgct2.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

_Static_assert(sizeof(FrameTypeId) == 1, "a frame's type is a byte");
_Static_assert(sizeof(JavaFrame) == 16 && sizeof(NonJavaFrame) == 16 && sizeof(CallFrame) == 16,
               "a frame is 16 bytes");
_Static_assert(offsetof(JavaFrame, type) == 0 && offsetof(JavaFrame, comp_level) == 1 &&
                   offsetof(JavaFrame, bci) == 2 && offsetof(JavaFrame, method_id) == 8,
               "a Java frame");
_Static_assert(offsetof(NonJavaFrame, type) == 0 && offsetof(NonJavaFrame, pc) == 8,
               "any other frame");
_Static_assert(offsetof(CallTrace, num_frames) == 0 && offsetof(CallTrace, frames) == 8 &&
                   offsetof(CallTrace, frame_info) == 16 && sizeof(CallTrace) == 24,
               "a trace");
_Static_assert(FRAME_JAVA == 1 && FRAME_JAVA_INLINED == 2 && FRAME_NATIVE == 3 && FRAME_STUB == 4 &&
                   FRAME_CPP == 5,
               "the kinds of frames");
_Static_assert(NO_JAVA_FRAME == 0 && NO_CLASS_LOAD == -1 && GC_ACTIVE == -2 &&
                   UNKNOWN_NOT_JAVA == -3 && NOT_WALKABLE_NOT_JAVA == -4 && UNKNOWN_JAVA == -5 &&
                   UNKNOWN_STATE == -7 && THREAD_EXIT == -8 && DEOPT == -9 &&
                   THREAD_NOT_JAVA == -10,
               "the errors");

static jint JNICALL knows_nothing(JavaVM *vm, void **env, jint version)
{
    (void)vm, (void)version;
    *env = NULL;
    return JNI_EVERSION;
}

static void check_not_prepared(void)
{
    CallFrame frames[4];
    CallTrace t = {.num_frames = 77, .frames = frames, .frame_info = frames};
    AsyncGetCallTrace2(NULL, 4, NULL, 0);
    AsyncGetCallTrace2(&t, 4, NULL, 1);
    cr_assert_eq(t.num_frames, NO_CLASS_LOAD);
    cr_assert_null(t.frame_info);
}

Test(asgct2, not_prepared)
{
    check_not_prepared();
    cr_assert_eq(AsyncGetCallTrace2Init(NULL), -EINVAL);
    cr_assert_neq(AsyncGetCallTrace2Error()[0], 0);
    check_not_prepared();
}

Test(asgct2, another_vm)
{
    const struct JNIInvokeInterface_ functions = {.GetEnv = knows_nothing};
    JavaVM vm = &functions;
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(AsyncGetCallTrace2Init(&vm), -ENOTSUP);
        cr_assert(strstr(AsyncGetCallTrace2Error(), "not a HotSpot JVM"), "%s",
                  AsyncGetCallTrace2Error());
        check_not_prepared();
    }
}
