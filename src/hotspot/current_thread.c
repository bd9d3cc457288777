#include "hotspot/current_thread.h"

#include "base/guarded.h"

#include <limits.h>

struct shape {
    uintptr_t size, stack_base, stack_size; /* of a JavaThread; offsets of its fields */
};

static int read_shape(struct shape *s, const struct vmstructs *vs, struct err *err)
{
    long size = vmstructs_sizeof(vs, "JavaThread");
    long base = vmstructs_offset(vs, "JavaThread", "_stack_base", NULL);
    long stack = vmstructs_offset(vs, "JavaThread", "_stack_size", NULL);
    if (size <= 0 || base < 0 || stack < 0)
        return err_set(err, -ENOTSUP, "this JVM does not describe JavaThread::_stack_base");
    *s = (struct shape){(uintptr_t)size, (uintptr_t)base, (uintptr_t)stack};
    return 0;
}

/* The JNIEnv is inside of the JavaThread, and `here` on the stack that it speaks of. */
static bool is_mine(const struct shape *s, uintptr_t thread, uintptr_t env, uintptr_t here)
{
    uintptr_t base, size;
    return thread && thread < env && env - thread < s->size &&
           guarded_word(thread + s->stack_base, &base) &&
           guarded_word(thread + s->stack_size, &size) && here < base && base - here < size;
}

/* The JVM's key is older than every other that may hold a JavaThread: so the first one. */
int current_thread_open(struct current_thread *out, const struct vmstructs *vs, const void *env,
                        struct err *err)
{
    struct shape s = {0};
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    TRY(read_shape(&s, vs, err));
    for (pthread_key_t key = 0; key < PTHREAD_KEYS_MAX; key++) {
        uintptr_t thread = (uintptr_t)pthread_getspecific(key);
        if (!is_mine(&s, thread, (uintptr_t)env, here))
            continue;
        *out = (struct current_thread){.key = key, .env_offset = (uintptr_t)env - thread};
        if (guarded_word((uintptr_t)env, &out->env_functions))
            return 0;
    }
    return err_set(err, -ENOTSUP, "no pthread key of this JVM names the current thread");
}

uintptr_t current_thread(const struct current_thread *t)
{
    uintptr_t functions, thread = (uintptr_t)pthread_getspecific(t->key);
    bool is_java =
        thread && guarded_word(thread + t->env_offset, &functions) && functions == t->env_functions;
    return is_java ? thread : 0;
}
