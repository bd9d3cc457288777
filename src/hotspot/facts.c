#include "hotspot/facts.h"

#include "base/guarded.h"
#include "base/util.h"

#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What is looked at: the fact's offset (of a static field its address), and the rest. */
struct proof {
    const struct vmstructs *vs;
    const struct fact_self *self;
    long at;
};

typedef bool (*proof_fn)(const struct proof *p);

static bool own_word(const struct proof *p, long at, uintptr_t *value)
{
    return guarded_word(p->self->java_thread + (uintptr_t)at, value);
}

static bool own_u32(const struct proof *p, long at, uint32_t *value)
{
    return guarded_u32(p->self->java_thread + (uintptr_t)at, value);
}

static long offset(const struct proof *p, const char *type, const char *field)
{
    return vmstructs_offset(p->vs, type, field, NULL);
}

/* --- proofs ----------------------------------------------------------------------------------- */

/* As the C library has it.  The first thread's grows, and HotSpot has an end of its own for it. */
static bool own_stack(uintptr_t *low, uintptr_t *high)
{
    pthread_attr_t attr;
    void *at = NULL;
    size_t size = 0;
    if (getpid() == (pid_t)syscall(SYS_gettid) || pthread_getattr_np(pthread_self(), &attr) != 0)
        return false;
    bool known = pthread_attr_getstack(&attr, &at, &size) == 0;
    pthread_attr_destroy(&attr);
    *low = (uintptr_t)at;
    *high = *low + size;
    return known;
}

static bool is_stack_base(const struct proof *p)
{
    enum { PAGE = 4096 };
    uintptr_t low, high, base, here = (uintptr_t)__builtin_frame_address(0);
    if (!own_word(p, p->at, &base))
        return false;
    return own_stack(&low, &high) ? base == high : base > here && base % PAGE == 0;
}

/* The C library counts its guard pages in, HotSpot does not. */
static bool is_stack_size(const struct proof *p)
{
    enum { GUARD_MAX = 1 << 21, PAGE = 4096 };
    uintptr_t low, high, base, size, here = (uintptr_t)__builtin_frame_address(0);
    long base_at = offset(p, "JavaThread", "_stack_base");
    if (base_at < 0 || !own_word(p, base_at, &base) || !own_word(p, p->at, &size) || size > base)
        return false;
    if (!own_stack(&low, &high))
        return size && size % PAGE == 0 && base - size < here;
    return base - size >= low && base - size - low < GUARD_MAX && base - size < here;
}

static bool is_in_native(const struct proof *p)
{
    uint32_t state;
    int32_t in_native;
    return own_u32(p, p->at, &state) &&
           (!vmstructs_constant(p->vs, "_thread_in_native", &in_native) ||
            state == (uint32_t)in_native);
}

static bool is_alive(const struct proof *p)
{
    uint32_t is;
    int32_t alive;
    return own_u32(p, p->at, &is) &&
           (!vmstructs_constant(p->vs, "JavaThread::_not_terminated", &alive) ||
            is == (uint32_t)alive);
}

/* Of both, the pointer and what it points to. */
static bool is_os_thread(const struct proof *p)
{
    uintptr_t os;
    uint32_t tid = 0;
    long at = offset(p, "JavaThread", "_osthread"), id = offset(p, "OSThread", "_thread_id");
    if (at < 0)
        at = offset(p, "Thread", "_osthread");
    return !p->self->guarded || at < 0 || id < 0 ||
           (own_word(p, at, &os) && guarded_u32(os + (uintptr_t)id, &tid) &&
            tid == (uint32_t)syscall(SYS_gettid));
}

/* A local reference has the object's address as it is, also under ZGC; a handle of the JVM's own
 * also has bits of the collector (oops.h). While a collector works, it may be unknown for a
 * while. */
static bool refers_to_itself(const struct proof *p, bool none)
{
    enum { TRIES = 1000 };
    struct oops oops;
    uint64_t before, after;
    uintptr_t handle, word, found, object;
    if (!p->self->guarded)
        return true;
    oops_open(&oops, p->vs);
    for (int i = 0; i < TRIES && oops.known; i++) {
        if (!oops_count(&oops, true, &before))
            continue;
        if (!own_word(p, p->at, &handle) || (handle && !guarded_word(handle, &word)))
            return false;
        bool read =
            oops_handle(&oops, handle, &found) && guarded_word((uintptr_t)p->self->itself, &object);
        if (read && oops_count(&oops, false, &after) && before == after)
            return found == object || (none && !found);
    }
    return true;
}

static bool is_itself(const struct proof *p)
{
    return refers_to_itself(p, false);
}

/* JVMTI has it only once there were virtual threads. */
static bool is_itself_or_none(const struct proof *p)
{
    return refers_to_itself(p, true);
}

static bool is_own_number(const struct proof *p)
{
    uintptr_t number;
    return own_word(p, p->at, &number) && number == p->self->java_tid;
}

/* Of all three: its top, an offset from the JavaThread, is where its first slot is. */
static bool is_empty_lock_stack(const struct proof *p)
{
    uint32_t top;
    long at = offset(p, "JavaThread", "_lock_stack"), base = offset(p, "LockStack", "_base[0]"),
         top_at = offset(p, "LockStack", "_top");
    return at < 0 || base < 0 || top_at < 0 ||
           (own_u32(p, at + top_at, &top) && top == (uint32_t)(at + base));
}

static bool is_none(const struct proof *p)
{
    uintptr_t value;
    return own_word(p, p->at, &value) && value == 0;
}

/* Since JDK 8 HotSpot keeps what owners write apart from what readers need: a cache line begins
 * there (objectMonitor.hpp).  Since 28 the owner follows the object, with nothing between.  That
 * refutes a place that is wrong by a field or two; another line's beginning it does not. */
static bool begins_a_line(const struct proof *p)
{
    enum { LINE = 64 };
    long object = offset(p, "ObjectMonitor", "_object");
    return p->at > 0 &&
           (p->at % LINE == 0 || (object >= 0 && p->at == object + (long)sizeof(uintptr_t)));
}

static bool is_version(const struct proof *p)
{
    int32_t major;
    return guarded_i32((uintptr_t)p->at, &major) && major == p->self->version;
}

/* --- the list --------------------------------------------------------------------------------- */

/* Verified elsewhere, and when: */
enum {
    /* against JVMTI, by a walk at the start and the first 256 of a recording, and wherever a method
     * is new (agent/stacks.c); too many failures are reported (agent/stacks.c, agent/sampling.c) */
    WALKED,
    NAMED,  /* the names and lines of methods of Orca's own, at the start (agent/stacks.c) */
    OPENED, /* what is found makes sense where it is opened (codecache.c, layout.c, vmstructs.c) */
    BOUND,  /* by a native method of Orca's own (agent/natives.c) */
    READ,   /* by fields that JNI reads, too (mounted.c, agent/chunks.c) */
    SHOWN,  /* by a monitor of Orca's own, before its first use (agent/blocked_on.c) */
    HEAP,   /* by what Runtime says of the heap (agent/on_gc.c) */
};
#define HERE(proof) proof
#define LATER(when) NULL

/* What is off. */
#define OWNERS "owners of monitors are unknown"
#define STACKS "stacks are taken through JVMTI, and there are no samples"
#define BLOCKERS "which monitors virtual threads wait for when Orca attaches is unknown"
#define MOUNTS "which virtual thread a carrier runs is unknown"
#define SIGNALS "what owners execute is not recorded, nor when threads ran"
#define COLLECTIONS "causes of collections are not recorded"
#define SIZES "sizes of the heap are not recorded"
#define NUMBERS "parks are not recorded"
#define ALL "nothing is recorded"

static const struct row {
    struct fact fact;
    proof_fn holds; /* NULL: see above */
} rows[] = {
#define THREAD(member, type, field, proof, lost) {{type, field, lost}, proof},
#define WALKER(member, need, type, field, proof, lost) {{type, field, lost}, proof},
#define OTHER(type, field, proof, lost) {{type, field, lost}, proof},
#include "hotspot/facts.def"
#undef THREAD
#undef WALKER
#undef OTHER
};

static bool may_prove(const struct fact *f, const struct proof *p)
{
    /* within the JavaThread: then it can be read, whatever it is */
    return strcmp(f->type, "JavaThread") != 0 ||
           p->at + (long)sizeof(uintptr_t) <= vmstructs_sizeof(p->vs, "JavaThread");
}

/* Two fields of one type are not at the same place. */
static bool is_alone(const struct vmstructs *vs, const struct fact *f, long at)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct fact *other = &rows[i].fact;
        if (strcmp(other->type, f->type) == 0 && strcmp(other->field, f->field) != 0 &&
            vmstructs_offset(vs, other->type, other->field, NULL) == at)
            return false;
    }
    return true;
}

void facts_prove(struct vmstructs *vs, const struct fact_self *self,
                 void (*refuted)(const struct fact *f))
{
    bool wrong[ARRAY_LEN(rows)] = {false};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct fact *f = &rows[i].fact;
        struct proof p = {vs, self, vmstructs_offset(vs, f->type, f->field, NULL)};
        wrong[i] = p.at != -1 && rows[i].holds &&
                   (!may_prove(f, &p) || !is_alone(vs, f, p.at) || !rows[i].holds(&p));
    }
    /* Then, because a proof may stand on several of them. */
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (wrong[i] && vmstructs_offset(vs, rows[i].fact.type, rows[i].fact.field, NULL) != -1) {
            vmstructs_refute(vs, rows[i].fact.type, rows[i].fact.field);
            refuted(&rows[i].fact);
        }
}
