/* tptp_objects.c - which lock is which thread's object.
 *
 * Eclipse takes a wait on an object for a join when the object is the objIdRef of a threadStart, so
 * a Thread that is waited on or locked must go by one id.  A trace has threads and locks apart, and
 * what they share is the identity hash, which has 31 bits: of a hundred thousand objects several
 * pairs have the same by chance.  So hashes alone prove nothing; they do
 *
 *   - for a lock of one of the JDK's own thread classes, when no other such lock and no other
 *     thread has that hash, and
 *   - for any lock on which a thread waits inside its join of a thread with that hash.
 *
 * The trace does not say of other classes whether they extend Thread.  In an import of this format
 * the hashes are the object ids of the file, which said so: there they prove it for every lock. */
#include "base/map.h"
#include "base/util.h"
#include "export/tptp_parts.h"
#include "format/tptp_ids.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define AMBIGUOUS UINT64_MAX

/* --- ids -------------------------------------------------------------------------------------- */

/* Above those of all locks and threads.  An import of a file of ours keeps the file's. */
static uint64_t base_of(const struct trace *t)
{
    uint64_t told = strtoull(trace_info(t, TPTP_BASE_OPTION, "0"), NULL, 10);
    return tptp_is_import(t) && told ? told : 2 * max_u64(t->n_threads, t->n_locks) + 2;
}

uint64_t tptp_thread_object(const struct export *x, thread_id id)
{
    const struct trace_thread *t = trace_thread(x->trace, id);
    bool none = id.v == 0 || ((t->flags & THREAD_NATIVE) && t->hash == 0);
    return none ? 0 : 2 * (uint64_t)id.v + 1;
}

uint64_t tptp_lock_object(const struct export *x, lock_id id)
{
    const struct tptp *p = x->state;
    if (id.v < x->trace->n_locks && p->thread_of[id.v])
        return tptp_thread_object(x, (thread_id){p->thread_of[id.v]});
    uint64_t object = trace_lock(x->trace, id)->object;
    if (id.v >= x->trace->n_locks)
        return 0;
    return object ? tptp_heap_object(x, object) : 2 * (uint64_t)id.v;
}

uint64_t tptp_heap_object(const struct export *x, uint64_t number)
{
    const struct tptp *p = x->state;
    const uint64_t *thread = number < TPTP_IMPORTED_ID ? map_find(&p->threads_of, number) : NULL;
    if (thread)
        return tptp_thread_object(x, (thread_id){(uint32_t)*thread});
    return number < TPTP_IMPORTED_ID ? p->base + number : number - TPTP_IMPORTED_ID;
}

/* --- definitions ------------------------------------------------------------------------------ */

/* Ids beyond these, of which there are too many for a table, count as defined. */
static const uint64_t ids_kept = UINT64_C(1) << 33;

bool tptp_is_defined(const struct export *x, uint64_t object)
{
    const struct tptp *p = x->state;
    if (object >= ids_kept)
        return true;
    return object / 8 < p->defined.len && p->defined.p[object / 8] >> object % 8 & 1;
}

void tptp_note_object(struct export *x, uint64_t object, bool defined)
{
    struct tptp *p = x->state;
    size_t at = (size_t)(object / 8), have = p->defined.len;
    if (object >= ids_kept || (!defined && at >= have))
        return;
    if (at >= have) {
        size_t more = 2 * at + 64 - have;
        uint8_t *room = buf_reserve(&p->defined, more);
        if (!room)
            return; /* written at the end */
        memset(room, 0, more);
        p->defined.len += more;
    }
    uint8_t bit = (uint8_t)(1u << object % 8);
    p->defined.p[at] = (uint8_t)(defined ? p->defined.p[at] | bit : p->defined.p[at] & ~bit);
}

void tptp_define(struct export *x, uint64_t object, class_id class_)
{
    if (object == 0 || tptp_is_defined(x, object))
        return;
    tptp_note_object(x, object, true);
    tptp_obj_def(x, object, class_);
}

void tptp_define_lock(struct export *x, uint64_t object, lock_id lock)
{
    tptp_define(x, object, trace_lock(x->trace, lock)->class_);
}

/* --- threads ---------------------------------------------------------------------------------- */

static bool is_thread_class(const char *signature)
{
    static const char *const classes[] = {
        "Ljava/lang/Thread;",
        "Ljava/lang/VirtualThread;",
        "Ljava/lang/ThreadBuilders$BoundVirtualThread;",
        "Ljava/lang/ref/Finalizer$FinalizerThread;",
        "Ljava/lang/ref/Reference$ReferenceHandler;",
        "Ljava/util/concurrent/ForkJoinWorkerThread;",
        "Ljava/util/concurrent/ForkJoinWorkerThread$InnocuousForkJoinWorkerThread;",
        "Ljdk/internal/misc/CarrierThread;",
        "Ljdk/internal/misc/InnocuousThread;",
    };
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (strcmp(signature, classes[i]) == 0)
            return true;
    return false;
}

static bool is_thread(const struct trace *t, const struct trace_lock *l)
{
    return l->id.v && l->hash &&
           (tptp_is_import(t) || is_thread_class(trace_class(t, l->class_)->signature));
}

/* hash -> id of the one that has it, or AMBIGUOUS. */
static int note(struct map *of, uint32_t hash, uint32_t id)
{
    uint64_t *v = map_put(of, hash);
    if (v)
        *v = *v ? AMBIGUOUS : id;
    return v ? 0 : -ENOMEM;
}

static int match(const struct trace *t, struct map *locks, struct map *threads, uint32_t *thread_of)
{
    int rc = 0;
    for (size_t i = 0; i < t->n_locks && rc == 0; i++)
        if (is_thread(t, &t->locks[i]))
            rc = note(locks, t->locks[i].hash, t->locks[i].id.v);
    if (locks->len == 0) /* a million threads need no map then */
        return rc;
    for (size_t i = 0; i < t->n_threads && rc == 0; i++)
        if (t->threads[i].id.v && map_find(locks, t->threads[i].hash))
            rc = note(threads, t->threads[i].hash, t->threads[i].id.v);
    for (size_t i = 0; i < threads->cap && rc == 0; i++) {
        const struct map_slot *s = &threads->slots[i];
        uint64_t lock = s->used ? *map_find(locks, s->key) : AMBIGUOUS;
        if (lock != AMBIGUOUS && s->value != AMBIGUOUS)
            thread_of[lock] = (uint32_t)s->value;
    }
    return rc;
}

/* Objects that are locks and threads, by their numbers. */
static int note_objects(struct export *x)
{
    struct tptp *p = x->state;
    for (size_t i = 0; i < x->trace->n_locks; i++) {
        uint64_t object = x->trace->locks[i].object;
        uint64_t *of = object && p->thread_of[i] ? map_put(&p->threads_of, object) : NULL;
        if (of)
            *of = p->thread_of[i];
        else if (object && p->thread_of[i])
            return -ENOMEM;
    }
    return 0;
}

int tptp_find_threads(struct export *x)
{
    struct tptp *p = x->state;
    p->base = base_of(x->trace);
    struct map locks, threads;
    p->thread_of = calloc(x->trace->n_locks + 1, sizeof *p->thread_of);
    if (!p->thread_of)
        return -ENOMEM;
    map_init(&locks);
    map_init(&threads);
    int rc = match(x->trace, &locks, &threads, p->thread_of);
    map_fini(&locks);
    map_fini(&threads);
    return rc ? rc : note_objects(x);
}

uint64_t tptp_joined_object(struct export *x, lock_id lock, thread_id target)
{
    struct tptp *p = x->state;
    const struct trace_lock *l = trace_lock(x->trace, lock);
    const struct trace_thread *t = trace_thread(x->trace, target);
    if (!l->id.v && t->id.v) /* the definition was lost; a join waits on nothing else */
        return tptp_thread_object(x, target);
    if (l->id.v && t->id.v && l->hash && l->hash == t->hash && !p->thread_of[l->id.v])
        p->thread_of[l->id.v] = t->id.v;
    return tptp_lock_object(x, lock);
}
