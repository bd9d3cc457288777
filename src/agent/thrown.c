#include "agent/thrown.h"

#include "agent/stacks.h"
#include "agent/threads.h"
#include "base/hash.h"
#include "base/util.h"
#include "classfile/insn.h"
#include "hotspot/method_text.h"

#include <string.h>

/* What becomes of a reference on top of the operand stack. */
enum thrown_fate { THROWN_NOT, THROWN_NOW, THROWN_RETURNED };

/* OrcaProbe.call, and keptCall that calls it. */
enum { PROBE_FRAMES = 2 };

enum { FRAMES = 17, OP_CHECKCAST = 0xc0, OP_ASTORE_0 = 0x4b, OP_INVOKEDYNAMIC = 0xba };

/* --- code ------------------------------------------------------------------------------------- */

struct place {
    const unsigned char *code;
    uint32_t len, pc;
};

static unsigned op(const struct place *p)
{
    return p->pc < p->len ? p->code[p->pc] : OP_NOP;
}

/* To the next instruction; false: there is none. */
static bool step(struct place *p)
{
    uint32_t n = insn_len(p->code, p->len, p->pc);
    p->pc += n;
    return n && p->pc < p->len;
}

/* The variable that the instruction stores a reference into, or that it loads; -1: none. */
static int variable_of(const struct place *p, unsigned long_form, unsigned first_short)
{
    unsigned o = op(p);
    if (o == long_form && p->pc + 1 < p->len)
        return p->code[p->pc + 1];
    return o >= first_short && o <= first_short + 3 ? (int)(o - first_short) : -1;
}

static enum thrown_fate fate_of_top(const struct place *p)
{
    return op(p) == OP_ATHROW ? THROWN_NOW : op(p) == OP_ARETURN ? THROWN_RETURNED : THROWN_NOT;
}

/* It is in a variable: what the code does that leads to its next throw or return. */
static enum thrown_fate fate_in_variable(struct place p, int variable)
{
    while (step(&p)) {
        if (variable_of(&p, OP_ALOAD, OP_ALOAD_0) == variable) {
            struct place next = p;
            enum thrown_fate fate = step(&next) ? fate_of_top(&next) : THROWN_NOT;
            if (fate != THROWN_NOT)
                return fate;
        }
        uint8_t kind = insn_ops[op(&p)].kind;
        if (kind != INSN_PLAIN &&
            (kind != INSN_STORE || variable_of(&p, OP_ASTORE, OP_ASTORE_0) == variable))
            return THROWN_NOT;
    }
    return THROWN_NOT;
}

/* initCause(x), with a variable or null for x, hands it back. */
static bool skip_cause(struct place *p)
{
    struct place q = *p;
    if (variable_of(&q, OP_ALOAD, OP_ALOAD_0) < 0 && op(&q) != OP_ACONST_NULL)
        return false;
    if (!step(&q) || op(&q) != OP_INVOKEVIRTUAL || !step(&q) || op(&q) != OP_CHECKCAST)
        return false;
    *p = q;
    return true;
}

static enum thrown_fate fate_behind(struct place p)
{
    skip_cause(&p);
    while (op(&p) == OP_CHECKCAST)
        if (!step(&p))
            return THROWN_NOT;
    struct place stored = p;
    if (op(&stored) == OP_DUP && step(&stored) &&
        variable_of(&stored, OP_ASTORE, OP_ASTORE_0) >= 0 && step(&stored))
        return fate_of_top(&stored);
    int variable = variable_of(&p, OP_ASTORE, OP_ASTORE_0);
    return variable >= 0 ? fate_in_variable(p, variable) : fate_of_top(&p);
}

/* --- frames ----------------------------------------------------------------------------------- */

/* Behind the call that a frame is in; false: it is in none. */
static bool behind_call(struct place *p)
{
    unsigned o = op(p);
    return o >= OP_INVOKEVIRTUAL && o <= OP_INVOKEDYNAMIC && step(p);
}

static enum thrown_fate fate_in_frame(const jvmtiFrameInfo *f)
{
    jint n = 0;
    unsigned char *code = NULL;
    enum thrown_fate fate = THROWN_NOT;
    if (f->location < 0 ||
        (*agent.jvmti)->GetBytecodes(agent.jvmti, f->method, &n, &code) != JVMTI_ERROR_NONE)
        return THROWN_NOT;
    struct place p = {code, (uint32_t)n, (uint32_t)f->location};
    if (behind_call(&p))
        fate = fate_behind(p);
    jvmti_free(code);
    return fate;
}

/* A constructor of the class, or of one that extends it. */
static bool makes(JNIEnv *jni, jmethodID method, jclass class)
{
    char *name = NULL;
    jclass declaring = NULL;
    bool is =
        (*agent.jvmti)->GetMethodName(agent.jvmti, method, &name, NULL, NULL) == JVMTI_ERROR_NONE &&
        strcmp(name, "<init>") == 0 &&
        (*agent.jvmti)->GetMethodDeclaringClass(agent.jvmti, method, &declaring) ==
            JVMTI_ERROR_NONE &&
        (*jni)->IsAssignableFrom(jni, declaring, class);
    (*jni)->DeleteLocalRef(jni, declaring);
    jvmti_free(name);
    return is;
}

/* Native code makes exceptions to throw them, but for reflection. */
static bool is_throwing_native(JNIEnv *jni, jmethodID method)
{
    jboolean native = JNI_FALSE;
    jclass declaring = NULL;
    char *signature = NULL;
    if ((*agent.jvmti)->IsMethodNative(agent.jvmti, method, &native) != JVMTI_ERROR_NONE ||
        !native ||
        (*agent.jvmti)->GetMethodDeclaringClass(agent.jvmti, method, &declaring) !=
            JVMTI_ERROR_NONE)
        return false;
    bool is = (*agent.jvmti)->GetClassSignature(agent.jvmti, declaring, &signature, NULL) ==
                  JVMTI_ERROR_NONE &&
              strncmp(signature, "Ljdk/internal/reflect/", 22) != 0 &&
              strncmp(signature, "Ljava/lang/invoke/", 18) != 0;
    (*jni)->DeleteLocalRef(jni, declaring);
    jvmti_free(signature);
    return is;
}

static bool thrown_in(JNIEnv *jni, const jvmtiFrameInfo *frames, jint n, jclass class)
{
    jint i = PROBE_FRAMES;
    while (i < n && makes(jni, frames[i].method, class))
        i++;
    if (i < n && is_throwing_native(jni, frames[i].method))
        return true;
    enum thrown_fate fate = THROWN_RETURNED;
    for (; i < n && fate == THROWN_RETURNED; i++)
        fate = fate_in_frame(&frames[i]);
    return fate == THROWN_NOW;
}

static bool look(JNIEnv *jni, const char *class)
{
    jvmtiFrameInfo frames[FRAMES];
    jint n = 0;
    jthread myself;
    if (!threads_myself(jni, FRAMES_UNKNOWN, &myself) ||
        (*agent.jvmti)->GetStackTrace(agent.jvmti, myself, 0, FRAMES, frames, &n) !=
            JVMTI_ERROR_NONE)
        return false;
    jclass c = (*jni)->FindClass(jni, class);
    bool thrown = c && thrown_in(jni, frames, n, c);
    if ((*jni)->ExceptionCheck(jni))
        (*jni)->ExceptionClear(jni);
    (*jni)->DeleteLocalRef(jni, c);
    return thrown;
}

/* --- verdicts ------------------------------------------------------------------------------------
 * To look takes the JVM 2 us.  The same frames lead to the same verdict, and a program has few
 * places that make such exceptions; so the walker looks first. */

/* By their hash, of which the lowest bit is the verdict; 0: none.  A word each, so that no lock is
 * needed: another thread's is as good, and one that is lost is found again. */
enum { VERDICTS = 1024 };
static _Atomic uint64_t verdicts[VERDICTS];

/* The frames that are looked at, of methods that have their jmethodID: another version of the code
 * is another method to HotSpot, and has another stamp.  0: they are not all such. */
static uint64_t key_of_frames(JNIEnv *jni, const char *class)
{
    struct walk_frame frames[FRAMES];
    uint64_t key = hash_u64((uintptr_t) class);
    int32_t n = stacks_walk(jni, frames, FRAMES);
    for (int32_t i = PROBE_FRAMES; i < n; i++) {
        if (!(frames[i].stamp & METHOD_STAMP_LASTS))
            return 0;
        key = hash_u64(key ^ frames[i].stamp) + (uint32_t)frames[i].bci;
    }
    return n > PROBE_FRAMES ? hash_u64(key) | 1 : 0;
}

bool thrown_when_made(JNIEnv *jni, const char *class)
{
    uint64_t key = key_of_frames(jni, class);
    _Atomic uint64_t *at = &verdicts[key >> 32 & (VERDICTS - 1)];
    /* relaxed: a word says all there is */
    uint64_t known = key ? atomic_load_explicit(at, memory_order_relaxed) : 0;
    if (key && (known | 1) == key)
        return known & 1;
    bool thrown = look(jni, class);
    if (key)
        atomic_store_explicit(at, thrown ? key : key & ~UINT64_C(1), memory_order_relaxed);
    return thrown;
}
