#include "agent/stacks.h"

#include "agent/methods.h"
#include "record/intern.h"

enum { STACKS_MAX = 1 << 20 };

static struct intern stacks;

_Static_assert(sizeof(jvmtiFrameInfo) == 16, "frames are hashed as they are: no padding");

int stacks_init(struct err *err)
{
    int rc = intern_init(&stacks, STACKS_MAX);
    return rc < 0 ? err_set(err, rc, "out of memory") : 0;
}

struct job {
    JNIEnv *jni;
    const jvmtiFrameInfo *frames;
    jint n;
    bool cut;
};

/* Where the innermost frame is.  The interpreter has moved on to the next bytecode when a
 * monitorenter blocks, compiled code has not: one place in the source must not look like two. */
static int32_t innermost_bci(const jvmtiFrameInfo *f)
{
    enum { MONITORENTER = 0xc2 };
    jint n = 0;
    unsigned char *code = NULL;
    int32_t bci = (int32_t)f->location;
    if (bci <= 0 ||
        (*agent.jvmti)->GetBytecodes(agent.jvmti, f->method, &n, &code) != JVMTI_ERROR_NONE)
        return bci;
    if (bci < n && code[bci] != MONITORENTER && code[bci - 1] == MONITORENTER)
        bci--;
    jvmti_free(code);
    return bci;
}

static bool define(void *arg, uint32_t id)
{
    struct job *job = arg;
    struct buf packed;
    buf_init(&packed);
    for (jint i = 0; i < job->n; i++)
        packed_put_frame(&packed, methods_id(job->jni, job->frames[i].method),
                         i ? (int32_t)job->frames[i].location : innermost_bci(&job->frames[0]));
    struct def d = {.kind = DEF_stack,
                    .stack = {.id = {id},
                              .flags = job->cut ? STACK_TRUNCATED : 0,
                              .frames = {packed.p, packed.len, (uint32_t)job->n}}};
    bool ok = !packed.oom && recorder_define(agent.rec, &d);
    buf_fini(&packed);
    return ok;
}

static stack_id capture(JNIEnv *jni, jint skip)
{
    jvmtiFrameInfo
        frames[DEPTH_MAX + 1]; /* 16 KiB: a native frame has the JVM's shadow pages, 80 KiB */
    jint n = 0;
    jint depth = (jint)agent.settings.depth;
    /* One more than asked for tells a stack that was cut from one that ends there. */
    if (depth == 0 ||
        (*agent.jvmti)->GetStackTrace(agent.jvmti, NULL, skip, depth + 1, frames, &n) !=
            JVMTI_ERROR_NONE ||
        n <= 0)
        return (stack_id){0};
    bool cut = n > depth;
    n -= cut;
    struct job job = {jni, frames, n, cut};
    /* The same frames, cut and whole, are two stacks: the frame beyond tells them apart. */
    struct hash128 key = hash_bytes128(frames, (size_t)n * sizeof frames[0]);
    key.hi ^= cut;
    stack_id id = {intern_get(&stacks, key, define, &job)};
    if (!id.v)
        recorder_count_loss(agent.rec, LOSS_stack, 1);
    return id;
}

stack_id stacks_current(JNIEnv *jni)
{
    return capture(jni, 0);
}

stack_id stacks_of_caller(JNIEnv *jni)
{
    return capture(jni, 1);
}
