#include "agent/stacks.h"

#include "agent/chunks.h"
#include "agent/lacks.h"
#include "agent/locks.h"
#include "agent/methods.h"
#include "agent/natives.h"
#include "agent/origins.h"
#include "agent/stacks_check.h"
#include "agent/threads.h"
#include "agent/trails.h"
#include "agent/walk_proof.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/util.h"
#include "record/way.h"

#include <inttypes.h>

enum { STACKS_MAX = 1 << 20 };

/* by_methods: a stack is its methods' ids and bcis, however it was taken.  by_places: the same as
 * it was found, addresses and all: what is met again is looked up once. */
static struct {
    struct intern by_methods;
    struct way by_places;
} stacks;

static _Atomic uint32_t code_version;

void stacks_code_changed(void)
{
    atomic_fetch_add_explicit(&code_version, 1, memory_order_relaxed);
}

static void forget_counts(void);

int stacks_init(struct err *err)
{
    forget_counts();
    int rc = intern_init(&stacks.by_methods, STACKS_MAX);
    if (rc == 0)
        rc = way_init(&stacks.by_places, STACKS_MAX);
    return rc < 0 ? err_set(err, rc, "out of memory") : 0;
}

void stacks_fini(void)
{
    intern_fini(&stacks.by_methods);
    way_fini(&stacks.by_places);
}

/* --- by methods ------------------------------------------------------------------------------- */

struct job {
    const struct stack_frame *frames;
    const uint8_t *kinds; /* NULL: none */
    uint32_t n;
    bool cut;
};

static bool define(void *arg, uint32_t id)
{
    struct job *job = arg;
    struct buf packed;
    buf_init(&packed);
    for (uint32_t i = 0; i < job->n; i++)
        packed_put_frame(&packed, job->frames[i].method, job->frames[i].bci);
    struct def d = {.kind = DEF_stack,
                    .stack = {.id = {id},
                              .flags = job->cut ? STACK_TRUNCATED : 0,
                              .frames = {packed.p, packed.len, job->n},
                              .kinds = {(const char *)job->kinds, job->kinds ? job->n : 0}}};
    bool ok = !packed.oom && recorder_define(agent.rec, &d);
    buf_fini(&packed);
    return ok;
}

_Static_assert(sizeof(struct stack_frame) == 8, "frames are hashed as they are: no padding");

stack_id stacks_of_methods(const struct stack_frame *frames, uint32_t n, bool cut)
{
    return stacks_of_kinds(frames, NULL, n, cut);
}

stack_id stacks_of_kinds(const struct stack_frame *frames, const uint8_t *kinds, uint32_t n,
                         bool cut)
{
    struct job job = {frames, kinds, n, cut};
    struct hash128 key = hash_bytes128(frames, n * sizeof *frames);
    if (kinds)
        key.lo ^= hash_bytes(kinds, n, 1);
    key.hi ^= cut; /* the same frames, cut and whole, are two stacks */
    stack_id id = {intern_get(&stacks.by_methods, key, define, &job)};
    if (!id.v)
        recorder_count_loss(agent.rec, LOSS_stack, 1);
    return id;
}

/* Where the innermost frame is.  The interpreter has moved on to the next bytecode when a
 * monitorenter blocks, compiled code has not: one place in the source must not look like two. */
static int32_t innermost_bci(uintptr_t method, int32_t bci)
{
    enum { MONITORENTER = 0xc2 };
    if (bci <= 0 || method_bytecode(agent.walker, method, bci - 1) != MONITORENTER ||
        method_bytecode(agent.walker, method, bci) == MONITORENTER)
        return bci;
    return bci - 1;
}

/* The same by JVMTI, without a walker. */
static int32_t innermost_location(const jvmtiFrameInfo *f)
{
    enum { MONITORENTER = 0xc2 };
    jint n = 0;
    unsigned char *code = NULL;
    int32_t bci = (int32_t)f->location;
    uintptr_t method = agent.walker ? natives_method(f->method) : 0;
    if (method)
        return innermost_bci(method, bci);
    if (bci <= 0 ||
        (*agent.jvmti)->GetBytecodes(agent.jvmti, f->method, &n, &code) != JVMTI_ERROR_NONE)
        return bci;
    if (bci < n && code[bci] != MONITORENTER && code[bci - 1] == MONITORENTER)
        bci--;
    jvmti_free(code);
    return bci;
}

/* --- by places -------------------------------------------------------------------------------- */

/* A frame as it is hashed.  method_bci: HotSpot's Method has an address of 48 bits, a bci 16. */
struct place {
    uint64_t method_bci, stamp;
};

/* Where frames are put on their way to an id; 16 bytes each, whatever they are just now. */
union scratch {
    struct place place;
    jvmtiFrameInfo theirs;
};

_Static_assert(sizeof(union scratch) == 16, "places and JVMTI's frames are hashed: no padding");

static stack_id known(struct hash128 key)
{
    return (stack_id){way_find(&stacks.by_places, key)};
}

/* A stack of which not every method could be defined is not remembered.  jni: to note where what is
 * waited for comes from; NULL: nothing is. */
static stack_id remember(JNIEnv *jni, struct hash128 key, const struct stack_frame *frames,
                         uint32_t n, bool cut)
{
    bool all = true;
    stack_id id = stacks_of_methods(frames, n, cut);
    for (uint32_t i = 0; i < n && all; i++)
        all = frames[i].method.v != 0;
    if (all && id.v && jni)
        origins_note(jni, frames, n);
    if (all && id.v)
        way_put(&stacks.by_places, key, id.v);
    return id;
}

/* frames: room for n. */
static stack_id new_of_frames(JNIEnv *jni, const jvmtiFrameInfo *theirs, uint32_t n, bool cut,
                              struct hash128 key, struct stack_frame *frames)
{
    for (uint32_t i = 0; i < n; i++) {
        frames[i].method = methods_id(jni, theirs[i].method);
        frames[i].bci = i ? (int32_t)theirs[i].location : innermost_location(&theirs[i]);
    }
    return remember(jni, key, frames, n, cut);
}

static stack_id of_frames(JNIEnv *jni, const jvmtiFrameInfo *theirs, uint32_t n, bool cut,
                          struct stack_frame *frames)
{
    struct hash128 key = hash_bytes128(theirs, n * sizeof *theirs);
    /* The bcis mean another place when a class was rewritten, and its methods then are new ones. */
    key.lo ^= hash_u64(atomic_load_explicit(&code_version, memory_order_relaxed));
    key.hi ^= cut;
    stack_id id = known(key);
    return id.v ? id : new_of_frames(jni, theirs, n, cut, key, frames);
}

stack_id stacks_of_frames(JNIEnv *jni, const jvmtiFrameInfo *theirs, jint n)
{
    struct stack_frame frames[DEPTH_MAX];
    jint depth = (jint)agent.settings.depth;
    if (depth == 0 || n <= 0)
        return (stack_id){0};
    return of_frames(jni, theirs, min_u32((uint32_t)n, (uint32_t)depth), n > depth, frames);
}

/* --- what it costs, and which way they came --------------------------------------------------- */

/* Why JVMTI was asked; the walker's errors beside these (walker.h). */
enum {
    ASK_CLOSED = -32, /* there is no walker */
    ASK_UNTHAWED,     /* a virtual thread's older frames are in the heap */
    ASK_UNCERTAIN,
    ASK_DIFFERS, /* JVMTI has another stack */
};

static const int reasons[] = {
    ASK_CLOSED,          ASK_UNTHAWED,          ASK_UNCERTAIN,
    ASK_DIFFERS,         WALK_UNKNOWN_NOT_JAVA, WALK_NOT_WALKABLE_NOT_JAVA,
    WALK_UNKNOWN_STATE,  WALK_THREAD_EXIT,      WALK_DEOPT,
    WALK_THREAD_NOT_JAVA};

enum { TIMED_OF = 32, STRIPES = 32, LINE = 64 };

static struct {
    /* of a thread's own stripe, so that threads do not wait for each other's cache lines */
    struct {
        _Alignas(LINE) _Atomic uint64_t n, from_heap;
    } walked[STRIPES];
    _Atomic uint64_t asked[ARRAY_LEN(reasons) + 1]; /* the last one: another reason */
    _Atomic uint64_t cost_ns, new_ones, new_from_heap;
    _Atomic uint64_t cut, left_out; /* for want of room on the thread's stack */
} counts;

static __thread uint32_t captures __attribute__((tls_model("initial-exec")));

static void forget_counts(void)
{
    for (size_t i = 0; i < STRIPES; i++)
        atomic_store_explicit(&counts.walked[i].n, 0, memory_order_relaxed),
            atomic_store_explicit(&counts.walked[i].from_heap, 0, memory_order_relaxed);
    for (size_t i = 0; i < ARRAY_LEN(counts.asked); i++)
        atomic_store_explicit(&counts.asked[i], 0, memory_order_relaxed);
    atomic_store_explicit(&counts.new_ones, 0, memory_order_relaxed);
    atomic_store_explicit(&counts.new_from_heap, 0, memory_order_relaxed);
    atomic_store_explicit(&counts.cut, 0, memory_order_relaxed);
    atomic_store_explicit(&counts.left_out, 0, memory_order_relaxed);
}

static void count_walked(bool from_heap)
{
    enum { THREAD_SHIFT = 12 }; /* thread-local data of two threads are pages apart */
    size_t i = ((uintptr_t)&captures >> THREAD_SHIFT) % STRIPES;
    atomic_fetch_add_explicit(&counts.walked[i].n, 1, memory_order_relaxed);
    if (from_heap)
        atomic_fetch_add_explicit(&counts.walked[i].from_heap, 1, memory_order_relaxed);
}

static void count_asked(int reason)
{
    size_t i = 0;
    while (i < ARRAY_LEN(reasons) && reasons[i] != reason)
        i++;
    atomic_fetch_add_explicit(&counts.asked[i], 1, memory_order_relaxed);
}

/* Looked at where the thread's own stack was nearly used up: not as deep as depth= says, or not at
 * all. */
static void count_short(_Atomic uint64_t *n)
{
    atomic_fetch_add_explicit(n, 1, memory_order_relaxed);
}

static void put_some(struct buf *b, const char *what, uint64_t v)
{
    if (v)
        buf_printf(b, ", %s %" PRIu64, what, v);
}

static const char *reason_text(size_t i)
{
    if (i >= ARRAY_LEN(reasons))
        return "for another reason";
    switch (reasons[i]) {
    case ASK_CLOSED:
        return "no walker";
    case ASK_UNTHAWED:
        return "partly in the heap";
    case ASK_UNCERTAIN:
        return "not certain";
    case ASK_DIFFERS:
        return "JVMTI's differ";
    default:
        return walk_error_text(reasons[i]);
    }
}

void stacks_put_counts(struct buf *b)
{
    uint64_t walked = 0, from_heap = 0, asked = 0;
    for (size_t i = 0; i < STRIPES; i++) {
        walked += atomic_load_explicit(&counts.walked[i].n, memory_order_relaxed);
        from_heap += atomic_load_explicit(&counts.walked[i].from_heap, memory_order_relaxed);
    }
    for (size_t i = 0; i < ARRAY_LEN(counts.asked); i++)
        asked += atomic_load_explicit(&counts.asked[i], memory_order_relaxed);
    buf_printf(b, "walked %" PRIu64 ", by JVMTI %" PRIu64, walked, asked);
    for (size_t i = 0; i < ARRAY_LEN(counts.asked); i++) {
        uint64_t n = atomic_load_explicit(&counts.asked[i], memory_order_relaxed);
        if (n)
            buf_printf(b, ", %s %" PRIu64, reason_text(i), n);
    }
    put_some(b, "cut near the end of the thread's stack",
             atomic_load_explicit(&counts.cut, memory_order_relaxed));
    put_some(b, "unknown at the end of the thread's stack",
             atomic_load_explicit(&counts.left_out, memory_order_relaxed));
    put_some(b, "found in the heap", from_heap);
}

void stacks_report(void)
{
    struct buf b;
    buf_init(&b);
    stacks_put_counts(&b);
    recorder_put_info(agent.rec, "orca.stacks", buf_str(&b));
    buf_fini(&b);
    stacks_check_report();
}

static uint64_t cost_begin(void)
{
    return ++captures % TIMED_OF == 0 ? clock_mono_ns() : 0;
}

static void cost_end(uint64_t began)
{
    if (began)
        atomic_fetch_add_explicit(&counts.cost_ns, (clock_mono_ns() - began) * TIMED_OF,
                                  memory_order_relaxed);
}

uint64_t stacks_cost(void)
{
    return atomic_load_explicit(&counts.cost_ns, memory_order_relaxed);
}

/* --- the walker ------------------------------------------------------------------------------- */

/* Whether events' stacks are walked.  Set while no event comes, or by a thread that finds it
 * wrong. */
static _Atomic bool walking;

static struct err closed = {"this JVM's stacks are laid out in an unknown way"};

/* Opened once, and stays for the JVM's life. */
static void open_walker(void)
{
    static bool tried;
    struct err err;
    if (tried)
        return;
    tried = true;
    if (walker_open(&agent.walker, agent.vmstructs, &err) < 0) {
        agent.walker = NULL;
        closed = err;
    }
}

static bool proved;

/* Called by Natives.run through Natives.replace. */
static void prove(JNIEnv *jni)
{
    const struct os_thread *self = os_thread_self(jni);
    const struct walk_proof p = {agent.jvmti, agent.walker, self ? self->java_thread : 0,
                                 natives_method};
    proved = p.java_thread && walk_proof_holds(&p);
}

static bool proves(JNIEnv *jni)
{
    proved = false;
    return natives_from_java(jni, prove) == 0 && proved;
}

void stacks_start(JNIEnv *jni)
{
    if (agent.settings.depth == 0)
        return;
    /* It would print that another handler stands before the JVM's own. */
    bool checked = vmstructs_flag(agent.vmstructs, "CheckJNICalls", false);
    if (checked)
        err_set(&closed, -ENOTSUP, "-Xcheck:jni");
    else
        open_walker();
    if (!agent.walker && !checked) /* a flag is its user's wish */
        lacks_note("stacks are taken through JVMTI, which takes longer, and there are no samples: "
                   "%s",
                   closed.msg);
    bool learnt = agent.walker && natives_learn(jni);
    if (learnt && !proves(jni)) {
        lacks_note("stack walks do not agree with JVMTI's on this JVM: stacks are taken through "
                   "JVMTI, which takes longer, and there are no samples");
        closed = (struct err){"stack walks do not agree with JVMTI's"};
        agent.walker = NULL; /* and stays: its handler for faults is others', too */
    } else if (agent.walker && !learnt)
        lacks_note("method ids are not as Orca knows them on this JVM: stacks are taken through "
                   "JVMTI, which takes longer");
    atomic_store_explicit(&walking, agent.walker && learnt, memory_order_relaxed);
    stacks_check_start();
}

const char *stacks_not_walked(void)
{
    return closed.msg;
}

/* It has been wrong too often: it may not work on this JVM. */
static void note_difference(void)
{
    enum { PATIENCE = 100 };
    static _Atomic uint32_t differences;
    if (atomic_fetch_add_explicit(&differences, 1, memory_order_relaxed) + 1 < PATIENCE ||
        !atomic_exchange_explicit(&walking, false, memory_order_relaxed))
        return;
    lacks_note("stack walks do not agree with JVMTI's on this JVM: stacks are taken through JVMTI, "
               "which takes longer");
}

/* --- taking them ------------------------------------------------------------------------------ */

enum { SKIP_MAX = 8 };

/* The stack of the calling thread.  room: for depth + skip frames walked, depth + 1 in scratch (one
 * more than asked for distinguishes a stack that was cut from one that ends there), and depth in
 * frames. */
struct taking {
    JNIEnv *jni;
    jint skip, depth;
    struct walk_frame *walked;
    union scratch *scratch;
    struct stack_frame *frames;
    uint32_t n;
    bool cut;
    bool from_heap; /* some of it */
    enum mounted_frames whose;
    bool is_short;   /* depth is less than was asked for: the thread's stack is nearly used up */
    class_id object; /* it is being allocated: see allocation_frames; 0: none is */
    struct trail *trail; /* to be made; NULL: not wanted */
};

/* Of n frames, those that belong to the allocation: OrcaHeap's with what it calls, and the
 * constructors up to that of the object's own class; several of that are taken for one that calls
 * this(...).  Native code that makes an object has no frame: then the outermost constructor
 * stays. */
static uint32_t allocation_frames(const struct stack_frame *frames, uint32_t n, class_id object)
{
    uint32_t told = 0, first;
    for (uint32_t i = 0; i < n && i < SKIP_MAX; i++)
        if (methods_part(frames[i].method).tells)
            told = i + 1;
    first = told;
    for (bool own = false; first < n; first++) {
        class_id class_ = methods_part(frames[first].method).class_;
        if (!class_.v || (own && class_.v != object.v))
            break;
        own |= class_.v == object.v;
    }
    return first == n && first > told ? first - 1 : first;
}

/* -1: JVMTI is not to be asked. */
static jint ask(const struct taking *t)
{
    jint n = 0;
    jthread myself;
    if (!threads_myself(t->jni, t->whose, &myself))
        return -1;
    jvmtiError e =
        (*agent.jvmti)
            ->GetStackTrace(agent.jvmti, myself, t->skip, t->depth + 1, &t->scratch->theirs, &n);
    return e == JVMTI_ERROR_NONE ? n : 0;
}

/* The same of what JVMTI has answered. */
static jint asked_allocation_frames(const struct taking *t, jint n)
{
    struct stack_frame frames[2 * SKIP_MAX];
    uint32_t some = min_u32((uint32_t)n, ARRAY_LEN(frames));
    for (uint32_t i = 0; i < some; i++)
        frames[i].method = methods_id(t->jni, t->scratch[i].theirs.method);
    return (jint)allocation_frames(frames, some, t->object);
}

/* The walker's assumptions do not hold, as far as one can see. */
static void note_failures(void)
{
    uint64_t walked = 0, failed = 0;
    enum { MANY = 64 };
    for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
        if (reasons[i] > ASK_DIFFERS)
            failed += atomic_load_explicit(&counts.asked[i], memory_order_relaxed);
    for (size_t i = 0; i < STRIPES && failed >= MANY; i++)
        walked += atomic_load_explicit(&counts.walked[i].n, memory_order_relaxed);
    if (failed >= MANY && failed > walked)
        lacks_note("most stacks cannot be walked on this JVM: they are taken through JVMTI, which "
                   "takes longer");
}

static stack_id ask_because(const struct taking *t, int reason)
{
    count_asked(reason);
    if (reason > ASK_DIFFERS)
        note_failures();
    jint n = ask(t), own = t->object.v ? asked_allocation_frames(t, n) : 0;
    uint32_t left = n > own ? (uint32_t)(n - own) : 0;
    uint32_t most = min_u32((uint32_t)(n > t->depth ? t->depth - own : n - own),
                            (uint32_t)agent.settings.depth);
    if (left == 0 || most == 0)
        return (stack_id){0};
    if (t->is_short && left > most)
        count_short(&counts.cut);
    return of_frames(t->jni, &t->scratch[own].theirs, most, left > most, t->frames);
}

/* The frames of the calling thread, or why JVMTI is to be asked. */
static int walk_certain(JNIEnv *jni, struct walk *w)
{
    const struct os_thread *self = os_thread_self(jni);
    if (!self || !self->java_thread || !atomic_load_explicit(&walking, memory_order_relaxed))
        return ASK_CLOSED;
    int n = walk(agent.walker, self->java_thread, NULL, w);
    if (n < 0)
        return n;
    if (w->flags & WALK_CUT_UNTHAWED) {
        const struct chunks_of of = {agent.jvmti, jni, agent.walker, agent.vmstructs,
                                     self->java_thread};
        chunks_learn(&of);
        return ASK_UNTHAWED;
    }
    return w->flags & WALK_NEAR ? ASK_UNCERTAIN : n;
}

int32_t stacks_walk(JNIEnv *jni, struct walk_frame *frames, int32_t max)
{
    struct walk w = {.frames = frames, .max = max, .options = WALK_WITH_STAMPS};
    return walk_certain(jni, &w);
}

/* 0, or why JVMTI is to be asked. */
static int walk_own(struct taking *t)
{
    struct walk w = {.frames = t->walked,
                     .max = t->depth + t->skip,
                     .options = WALK_WITH_STAMPS,
                     .trail = t->trail};
    int n = walk_certain(t->jni, &w);
    if (w.flags & WALK_VIRTUAL)
        t->whose = FRAMES_VIRTUAL;
    else if (n > 0 && !(w.flags & WALK_CUT_DEPTH))
        t->whose = FRAMES_PLATFORM;
    if (n < 0)
        return n;
    t->n = n > t->skip ? (uint32_t)(n - t->skip) : 0;
    t->walked += t->skip;
    t->cut = w.flags & WALK_CUT_DEPTH;
    t->from_heap = w.flags & WALK_FROM_HEAP;
    stacks_check_spoil(t->walked, t->n);
    return 0;
}

/* False: not every frame's method could be identified by its stamp. */
static bool key_of_walk(const struct taking *t, struct hash128 *key)
{
    enum { BCI_BITS = 16 };
    static const uint64_t walks = 0x77616c6b; /* not to be taken for the hash of JVMTI's frames */
    bool all = true;
    for (uint32_t i = 0; i < t->n; i++) {
        const struct walk_frame *f = &t->walked[i];
        t->scratch[i].place.method_bci = f->method << BCI_BITS | (uint16_t)f->bci;
        t->scratch[i].place.stamp = f->stamp;
        all = all && f->stamp;
    }
    *key = hash_bytes128(t->scratch, t->n * sizeof *t->scratch);
    key->lo ^= walks;
    key->hi ^= t->cut;
    return all;
}

static bool key_of_taking(const struct taking *t, struct hash128 *key)
{
    bool all = key_of_walk(t, key);
    key->hi ^= t->object.v ? hash_u64(t->object.v) : 0;
    return all;
}

static bool is_of_first(_Atomic uint64_t *n)
{
    enum { FIRST = 256 };
    return atomic_load_explicit(n, memory_order_relaxed) < FIRST &&
           atomic_fetch_add_explicit(n, 1, memory_order_relaxed) < FIRST;
}

/* The first stacks of a recording are compared with JVMTI's, and the first ones of which a part is
 * in the heap. */
static bool on_probation(const struct taking *t)
{
    bool first = is_of_first(&counts.new_ones);
    return (t->from_heap && is_of_first(&counts.new_from_heap)) || first;
}

static bool is_as_jvmti_says(const struct taking *t, jint n)
{
    bool same = n == (jint)t->n + t->cut;
    for (uint32_t i = 0; i < t->n && same; i++)
        same = t->walked[i].bci == (int32_t)t->scratch[i].theirs.location &&
               methods_is_version(t->scratch[i].theirs.method, t->walked[i].method);
    return same;
}

/* JVMTI says the same of this stack, and which class each method is of.  Each has a jmethodID then,
 * and so another stamp, under which it is known.  While a class is being redefined its methods
 * cannot be compared: who asks again waits for the end of that. */
static bool name_methods(const struct taking *t)
{
    jint n = ask(t);
    if (n < 0)
        return false;
    bool same = is_as_jvmti_says(t, n);
    for (int looks = 1; looks < STACKS_LOOKS && !same; looks++) {
        n = ask(t);
        same = is_as_jvmti_says(t, n);
    }
    for (uint32_t i = 0; i < t->n && same; i++) {
        t->walked[i].stamp = method_stamp(agent.walker, t->walked[i].method);
        methods_id_of_frame(t->jni, t->scratch[i].theirs.method, t->walked[i].method,
                            t->walked[i].stamp);
    }
    if (!same) {
        stacks_check_show(t->walked, t->n, &t->scratch->theirs, n);
        note_difference();
        if (t->from_heap)
            chunks_give_up(agent.walker);
    }
    return same;
}

/* JVMTI is asked when a method is new, too. */
static stack_id new_of_walk(const struct taking *t, struct hash128 key)
{
    struct stack_frame *frames = t->frames;
    bool whole = !on_probation(t);
    for (uint32_t i = 0; i < t->n && whole; i++)
        whole = methods_known_whole(t->walked[i].method, t->walked[i].stamp);
    if (!whole && !name_methods(t))
        return ask_because(t, ASK_DIFFERS);
    if (!whole && !key_of_taking(t, &key))
        return ask_because(t, WALK_NOT_WALKABLE_NOT_JAVA);
    count_walked(t->from_heap);
    for (uint32_t i = 0; i < t->n; i++) {
        const struct walk_frame *f = &t->walked[i];
        frames[i].method.v = methods_known(f->method, f->stamp);
        frames[i].bci = i ? f->bci : innermost_bci(f->method, f->bci);
    }
    uint32_t own = t->object.v ? allocation_frames(frames, t->n, t->object) : 0;
    uint32_t n = min_u32(t->n - own, (uint32_t)agent.settings.depth);
    return remember(t->object.v ? NULL : t->jni, key, frames + own, n, t->cut || own + n < t->n);
}

static stack_id take(struct taking *t)
{
    struct hash128 key;
    int reason = walk_own(t);
    if (reason == 0 && t->n == 0)
        return (stack_id){0};
    if (reason == 0 && !key_of_taking(t, &key))
        reason = WALK_NOT_WALKABLE_NOT_JAVA;
    if (reason != 0) {
        trail_break(t->trail);
        return ask_because(t, reason);
    }
    stack_id id = known(key);
    if (id.v) {
        count_walked(t->from_heap);
    } else {
        trail_break(t->trail); /* what is remembered only is */
        id = new_of_walk(t, key);
    }
    if (t->is_short && t->cut)
        count_short(&counts.cut);
    struct stacks_taken taken = {.skip = t->skip, .walked = t->walked, .n = t->n, .cut = t->cut};
    if (!t->object.v && stacks_checked() && threads_myself(t->jni, t->whose, &taken.myself))
        stacks_check(t->jni, &taken, id);
    return id;
}

/* --- as deep as there is room -------------------------------------------------------------------
 *
 * The frames are put on the stack that is looked at, and HotSpot promises a callback and a native
 * method not more of that than its shadow pages (80 KiB) less what it has taken itself; a fault
 * behind these is a fault on the pages where its handler would run, and ends the process without a
 * word.  So a thread whose stack is nearly used up is looked at less deep. */

/* Bytes of a frame while it is on its way; and what is taken beside the frames, by defining what is
 * new and by GetStackTrace: measured by painting the stack, at most 19 KB (17) and 26 KB (25). */
enum {
    FRAME_BYTES = sizeof(struct walk_frame) + sizeof(union scratch) + sizeof(struct stack_frame),
    TAKING_BYTES = 40 * 1024,
};

/* Each with buffers for that many frames. */
#define TIERS(X) X(16) X(64) X(256) X(512) X(1024)
_Static_assert(DEPTH_MAX == 1024, "the deepest of them");

#define X(n)                                                                                       \
    static __attribute__((noinline)) stack_id take_##n(struct taking t)                            \
    {                                                                                              \
        struct walk_frame walked[(n) + 2 * SKIP_MAX];                                              \
        union scratch scratch[(n) + SKIP_MAX + 1];                                                 \
        struct stack_frame frames[(n) + SKIP_MAX];                                                 \
        t.walked = walked;                                                                         \
        t.scratch = scratch;                                                                       \
        t.frames = frames;                                                                         \
        return take(&t);                                                                           \
    }
TIERS(X)
#undef X

#define X(n) {n, take_##n},
static const struct tier {
    jint depth;
    stack_id (*take)(struct taking t);
} tiers[] = {TIERS(X)};
#undef X

/* The first one that is deep enough, or the deepest for which there is room; NULL: for none. */
static const struct tier *tier_for(jint depth, size_t room)
{
    const struct tier *t = NULL;
    for (size_t i = 0; i < ARRAY_LEN(tiers) && (!t || t->depth < depth); i++) {
        size_t frames = (size_t)tiers[i].depth + 2 * SKIP_MAX;
        if (room < TAKING_BYTES + frames * FRAME_BYTES)
            break;
        t = &tiers[i];
    }
    return t;
}

static stack_id capture(struct taking t)
{
    jint wanted = (jint)agent.settings.depth;
    if (wanted == 0)
        return (stack_id){0};
    const struct tier *tier = tier_for(wanted, os_thread_room(os_thread_self(t.jni)));
    if (!tier) {
        count_short(&counts.left_out);
        recorder_count_loss(agent.rec, LOSS_stack, 1);
        return (stack_id){0};
    }
    t.is_short = tier->depth < wanted;
    t.depth = (t.is_short ? tier->depth : wanted) + (t.object.v ? SKIP_MAX : 0);
    uint64_t began = cost_begin();
    stack_id id = tier->take(t);
    cost_end(began);
    return id;
}

/* --- that were met before --------------------------------------------------------------------- */

static __attribute__((noinline)) stack_id
take_with_trail(struct trails *trails, const struct trail_place *here, struct taking t)
{
    struct trail trail;
    trail.broken = true; /* until a walk begins; the rest of it is large, and its own affair */
    t.trail = &trail;
    stack_id id = capture(t);
    if (id.v)
        trails_put(trails, here, &trail, id);
    return id;
}

/* Without being looked at less deep for it. */
static bool has_room_for_trail(const struct os_thread *self)
{
    jint depth = (jint)agent.settings.depth;
    size_t room = os_thread_room(self), trail = sizeof(struct trail) + 512 /* its frame */;
    return room > trail && tier_for(depth, room - trail) == tier_for(depth, room);
}

static struct trails *trails_of(struct os_thread *self)
{
    if (!self->trails && !self->trails_asked)
        self->trails = trails_new();
    self->trails_asked = true;
    return self->trails;
}

static uint64_t what_of(const struct taking *t)
{
    enum { CLASS_SHIFT = 8 };
    return (uint64_t)t->object.v << CLASS_SHIFT | (uint32_t)t->skip;
}

static stack_id find_or_capture(struct taking t)
{
    struct os_thread *self = os_thread_self(t.jni);
    struct trails *trails = self && agent.settings.depth ? trails_of(self) : NULL;
    struct trail_place here = {.what = what_of(&t), .java_thread = self ? self->java_thread : 0};
    if (!trails || !atomic_load_explicit(&walking, memory_order_relaxed) || !self->java_thread ||
        !trail_here(agent.walker, self->java_thread, &here.from))
        return capture(t);
    stack_id id = trails_find(trails, agent.walker, &here);
    if (id.v) {
        count_walked(here.from_heap);
        if (stacks_checked())
            stacks_check_trail(id, capture(t));
        return id;
    }
    return here.again && has_room_for_trail(self) ? take_with_trail(trails, &here, t) : capture(t);
}

stack_id stacks_current(JNIEnv *jni)
{
    return find_or_capture((struct taking){.jni = jni});
}

stack_id stacks_skipping(JNIEnv *jni, int frames)
{
    return find_or_capture((struct taking){.jni = jni, .skip = frames});
}

stack_id stacks_of_allocation(JNIEnv *jni, class_id object)
{
    /* 0, "none", is not known to be the object's class: then all constructors are left out. */
    return find_or_capture(
        (struct taking){.jni = jni, .object = {object.v ? object.v : UINT32_MAX}});
}
