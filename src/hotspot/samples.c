#include "hotspot/samples.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/util.h"
#include "hotspot/stack_room.h"
#include "hotspot/walker.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    BAGS_MIN = 4,
    BAGS_MAX = 64,
    HALF = 512 * 1024,
    MET_MAX = 64,         /* methods that one record describes */
    TEXT_MAX = 16 * 1024, /* and their names, each */
    SEEN = 1 << 16,
};

struct bag {
    _Atomic bool taken; /* the lock */
    uint8_t filling;    /* which half */
    uint32_t used[2];   /* bytes */
    char *half[2];
} __attribute__((aligned(64)));

static struct bag bags[BAGS_MAX];
static uint32_t n_bags;
static struct samples_setup setup;
static _Atomic uint64_t lost;
static _Atomic bool is_open;
static _Atomic uint32_t session; /* how often it was opened */

/* Hashes of (method, stamp) that were described.  A full slot is overwritten: then one is described
 * again. */
static _Atomic uint64_t *seen;

static bool try_lock(struct bag *b)
{
    /* acquire: pairs with unlock */
    return !atomic_load_explicit(&b->taken, memory_order_relaxed) &&
           !atomic_exchange_explicit(&b->taken, true, memory_order_acquire);
}

static void unlock(struct bag *b)
{
    /* release: what was written is whole */
    atomic_store_explicit(&b->taken, false, memory_order_release);
}

/* --- opening ---------------------------------------------------------------------------------- */

static void *map(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static bool make_bag(struct bag *b)
{
    char *p = map(2 * (size_t)HALF);
    b->half[0] = p;
    b->half[1] = p ? p + HALF : NULL;
    return p != NULL;
}

int samples_open(const struct samples_setup *s)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t wanted = (uint32_t)max_u64(BAGS_MIN, cpus > 0 ? min_u64((uint64_t)cpus, BAGS_MAX) : 0);
    if (!seen)
        seen = map(SEEN * sizeof *seen);
    while (n_bags < wanted && make_bag(&bags[n_bags]))
        n_bags++;
    if (!seen || n_bags < wanted)
        return -ENOMEM;
    for (uint32_t i = 0; i < n_bags; i++)
        if (try_lock(&bags[i])) { /* else a stopped handler's, and of the session before */
            bags[i].used[0] = bags[i].used[1] = 0;
            unlock(&bags[i]);
        }
    memset((void *)seen, 0, SEEN * sizeof *seen);
    setup = *s;
    atomic_fetch_add_explicit(&session, 1, memory_order_relaxed);
    /* release: pairs with samples_take */
    atomic_store_explicit(&is_open, true, memory_order_release);
    return 0;
}

static bool all_free(void)
{
    bool all = true;
    for (uint32_t i = 0; i < n_bags; i++)
        /* acquire: pairs with unlock */
        all &= !atomic_load_explicit(&bags[i].taken, memory_order_acquire);
    return all;
}

void samples_close(void)
{
    enum { PATIENCE_NS = 100000000, PAUSE_NS = 100000 };
    uint64_t until = clock_mono_ns() + PATIENCE_NS;
    atomic_store_explicit(&is_open, false, memory_order_relaxed);
    do
        clock_sleep_ns(PAUSE_NS); /* longer than any store stays unseen */
    while (!all_free() && clock_mono_ns() < until);
}

uint64_t samples_lost(void)
{
    return atomic_load_explicit(&lost, memory_order_relaxed);
}

/* --- on the thread ---------------------------------------------------------------------------- */

static uint64_t seen_key(uintptr_t method, uint64_t stamp)
{
    uint64_t h = hash_u64(stamp ^ method);
    return h ? h : 1;
}

static bool was_seen(uint64_t key)
{
    return atomic_load_explicit(&seen[key % SEEN], memory_order_relaxed) == key;
}

/* When the record is closed, and not before: every reader of the record must find the
 * description. */
static void note_seen(const struct sample *s)
{
    const struct method_met *met = sample_met(s);
    for (uint32_t i = 0; i < s->n_met; i++) {
        uint64_t key = seen_key(met[i].method, met[i].stamp);
        /* release: pairs with nothing but the bags' locks, which order it for the collector */
        atomic_store_explicit(&seen[key % SEEN], key, memory_order_release);
    }
}

static bool has_room(const struct sample_subject *who, const void *ucontext)
{
    uintptr_t low, high;
    if (!who->java_thread || !walker_stack(setup.walker, who->java_thread, &low, &high))
        return true; /* a thread of the JVM's own: it is not near its end */
    return stack_room(low, high, STACK_GUARD_ZONE, ucontext, 0) >= STACK_NEEDED;
}

/* The walker's frames into the record's, in place: these are smaller. */
static void pack(struct sample *s, const struct walk_frame *from)
{
    struct sample_frame *to = (struct sample_frame *)(s + 1);
    _Static_assert(sizeof *to <= sizeof *from, "the place behind is no longer read");
    for (int32_t i = 0; i < s->n; i++) {
        struct walk_frame f = from[i];
        to[i] = (struct sample_frame){.method = f.method,
                                      .stamp = f.method ? f.stamp : f.pc,
                                      .bci = f.bci,
                                      .kind = f.kind,
                                      .level = f.level,
                                      .near = f.near};
    }
}

static bool is_described(const struct sample *s, const struct method_met *met,
                         const struct sample_frame *f)
{
    for (uint32_t i = 0; i < s->n_met; i++)
        if (met[i].method == f->method && met[i].stamp == f->stamp)
            return true;
    return false;
}

/* Which methods of it are new: entries without their texts, which come behind all of them. */
static void list_new(struct sample *s, struct method_met *met, uint32_t room)
{
    const struct sample_frame *f = sample_frames(s);
    for (int32_t i = 0; i < s->n && s->n_met < room; i++)
        if (f[i].method && f[i].stamp && !was_seen(seen_key(f[i].method, f[i].stamp)) &&
            !is_described(s, met, &f[i]))
            met[s->n_met++] = (struct method_met){.method = f[i].method, .stamp = f[i].stamp};
}

/* Returns the record's end. */
static char *describe_new(struct sample *s, char *end)
{
    struct method_met *met = (struct method_met *)sample_met(s);
    size_t room = (size_t)(end - (char *)met) / sizeof *met;
    list_new(s, met, (uint32_t)min_u64(room, MET_MAX));
    char *text = (char *)(met + s->n_met);
    for (uint32_t i = 0; i < s->n_met; i++) {
        size_t left = (size_t)min_u64((uint64_t)(end - text), TEXT_MAX);
        if (method_describe(setup.walker, met[i].method, text, left, &met[i].text) < 0) {
            s->n_met = (uint16_t)i; /* another time */
            break;
        }
        text += met[i].text.size;
    }
    return text;
}

/* Frames of the kernel, before all others.  Returns how many. */
static int32_t put_kernel(struct walk_frame *frames, int32_t depth, const struct sample_moment *m)
{
    int32_t n = 0;
    for (; n < (int32_t)m->n_kernel && n < depth - 1; n++)
        frames[n] = (struct walk_frame){.pc = m->kernel[n], .bci = -1, .kind = SAMPLE_KERNEL};
    return n;
}

/* From `at` on in the bag, up to `end`; false: the thread ran during that. */
static bool fill(struct sample *s, char *end, int32_t depth, const struct sample_subject *who,
                 const struct sample_moment *m, const void *ucontext)
{
    struct walk_frame *frames = (struct walk_frame *)(s + 1);
    int32_t kernel = put_kernel(frames, depth, m);
    struct walk w = {.frames = frames + kernel,
                     .max = depth - kernel,
                     .options = WALK_WITH_STAMPS | WALK_WITH_STUBS | WALK_WITH_NATIVE};
    *s = (struct sample){.session = atomic_load_explicit(&session, memory_order_relaxed),
                         .group = (uint8_t)m->group,
                         .still = m->stands_still != NULL,
                         .subject = *who,
                         .time = clock_mono_ns(),
                         .weight = m->weight};
    if (ucontext && !has_room(who, ucontext))
        s->n = WALK_UNKNOWN_STATE;
    else if (who->java_thread)
        s->n = walk(setup.walker, who->java_thread, ucontext, &w);
    else
        s->n = setup.walker && ucontext ? walk_native(setup.walker, ucontext, &w)
                                        : WALK_THREAD_NOT_JAVA;
    s->flags = w.flags;
    if (w.flags & WALK_VIRTUAL)
        s->java_tid = mounted_tid(&setup.layout, who->java_thread);
    if (s->n > 0) {
        s->n += kernel;
        pack(s, frames);
    }
    char *at = s->n > 0 ? describe_new(s, end) : (char *)(s + 1);
    s->size = (uint32_t)ALIGN_UP((uintptr_t)(at - (char *)s), sizeof(uint64_t));
    /* In Java only the thread itself knows where it is. */
    return !m->stands_still ||
           (!(w.flags & WALK_RUNS_JAVA) && m->stands_still(who, m->ctx, &s->ready));
}

/* False: there is no room.  *kept: the thread did not run. */
static bool put_into(struct bag *b, const struct sample_subject *who, const struct sample_moment *m,
                     const void *ucontext, bool *kept)
{
    uint32_t *used = &b->used[b->filling];
    char *at = b->half[b->filling] + *used, *end = b->half[b->filling] + HALF;
    uint32_t depth = setup.depth; /* once: a stopped handler may go on in another session */
    size_t need = sizeof(struct sample) + (size_t)depth * sizeof(struct walk_frame);
    if ((size_t)(end - at) < need)
        return false;
    struct sample *s = (struct sample *)at;
    *kept = fill(s, end, (int32_t)depth, who, m, ucontext);
    if (*kept) {
        *used += s->size;
        note_seen(s);
    }
    return true;
}

bool samples_take(const struct sample_subject *who, const struct sample_moment *m,
                  const void *ucontext)
{
    /* acquire: pairs with samples_open */
    if (!atomic_load_explicit(&is_open, memory_order_acquire))
        return false;
    uint32_t n = n_bags;
    for (uint32_t i = 0; i < n; i++) {
        struct bag *b = &bags[(who->os_tid + i) % n];
        bool kept = false;
        if (!try_lock(b))
            continue;
        bool put = put_into(b, who, m, ucontext, &kept);
        unlock(b);
        if (put)
            return kept;
    }
    atomic_fetch_add_explicit(&lost, 1, memory_order_relaxed);
    return false;
}

/* --- on the collector ------------------------------------------------------------------------- */

static void read_half(const struct bag *b, int half, void (*visit)(void *, const struct sample *),
                      void *ctx)
{
    const char *at = b->half[half], *end = at + b->used[half];
    uint32_t now = atomic_load_explicit(&session, memory_order_relaxed);
    while (at < end) {
        const struct sample *s = (const struct sample *)at;
        if (s->session == now)
            visit(ctx, s);
        at += s->size;
    }
}

void samples_collect(void (*visit)(void *ctx, const struct sample *s), void *ctx)
{
    for (uint32_t i = 0; i < n_bags; i++) {
        struct bag *b = &bags[i];
        if (!try_lock(b))
            continue;
        uint8_t full = b->filling;
        b->filling ^= 1;
        b->used[b->filling] = 0;
        unlock(b);
        read_half(b, full, visit, ctx);
    }
}
