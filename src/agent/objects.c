#include "agent/objects.h"

#include "base/clock.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_BITS = 12, BLOCK = 1 << BLOCK_BITS, BLOCKS = 1 << 16, INDEX_BITS = 32 };

/* A place for an object.  Who adds an object owns its place from taking it to setting the tag; from
 * then on the JVM does until it says that the object has ended; then the heap thread. */
struct place {
    struct object_facts facts;
    _Atomic uint64_t number; /* 0: nothing here; behind the facts */
    _Atomic uint32_t next;   /* on the list it is on: place + 1 */
    uint32_t born;           /* pauses when it was allocated */
};

/* Lists are heads of places; `free_head` also counts, so that a place which went and came back in
 * between is not taken for the old head. */
static struct {
    jvmtiEnv *jvmti;
    struct place *_Atomic blocks[BLOCKS];
    _Atomic uint32_t used; /* places, ever */
    _Atomic uint64_t free_head;
    _Atomic uint32_t ended_head;
    _Atomic uint64_t last_number;
    _Atomic uint32_t pauses;
    _Atomic uint32_t met;
} objects;

static const uint64_t WALK = UINT64_C(1) << 63; /* no recording has such a high number */

/* A tag has the place's index + 1 and the recording: the environment outlasts it. */
static jlong tag_of(uint32_t index)
{
    return (jlong)((uint64_t)agent.session << INDEX_BITS | (index + UINT64_C(1)));
}

static bool index_of(jlong tag, uint32_t *index)
{
    *index = (uint32_t)tag - 1;
    return tag && (uint64_t)tag >> INDEX_BITS == agent.session;
}

int objects_init(jvmtiEnv *jvmti, struct err *err)
{
    UNUSED(err);
    objects.jvmti = jvmti;
    atomic_store_explicit(&objects.used, 0, memory_order_relaxed);
    atomic_store_explicit(&objects.free_head, 0, memory_order_relaxed);
    atomic_store_explicit(&objects.ended_head, 0, memory_order_relaxed);
    atomic_store_explicit(&objects.last_number, 0, memory_order_relaxed);
    atomic_store_explicit(&objects.pauses, 0, memory_order_relaxed);
    atomic_store_explicit(&objects.met, 0, memory_order_relaxed);
    return 0;
}

void objects_fini(void)
{
    for (size_t i = 0; i < BLOCKS; i++)
        free(atomic_exchange_explicit(&objects.blocks[i], NULL, memory_order_relaxed));
    objects.jvmti = NULL;
    atomic_store_explicit(&objects.used, 0, memory_order_relaxed);
}

/* --- places ----------------------------------------------------------------------------------- */

static struct place *place_at(uint32_t index)
{
    /* acquire: pairs with block_of; the block is zeroed */
    struct place *block =
        atomic_load_explicit(&objects.blocks[index >> BLOCK_BITS], memory_order_acquire);
    return block ? &block[index & (BLOCK - 1)] : NULL;
}

/* The block a place is in, made when it is the first there. */
static struct place *block_of(uint32_t index)
{
    struct place *_Atomic *at = &objects.blocks[index >> BLOCK_BITS];
    struct place *block = atomic_load_explicit(at, memory_order_acquire), *other = NULL;
    if (block)
        return block;
    block = calloc(BLOCK, sizeof *block);
    /* release: pairs with place_at */
    if (block && !atomic_compare_exchange_strong_explicit(at, &other, block, memory_order_acq_rel,
                                                          memory_order_acquire)) {
        free(block);
        block = other;
    }
    return block;
}

static bool take_free(uint32_t *index)
{
    uint64_t head = atomic_load_explicit(&objects.free_head, memory_order_acquire);
    while ((uint32_t)head) {
        *index = (uint32_t)head - 1;
        uint64_t next = (head >> INDEX_BITS) + 1;
        next = next << INDEX_BITS |
               atomic_load_explicit(&place_at(*index)->next, memory_order_relaxed);
        if (atomic_compare_exchange_weak_explicit(&objects.free_head, &head, next,
                                                  memory_order_acq_rel, memory_order_acquire))
            return true;
    }
    return false;
}

static void give_free(uint32_t index)
{
    struct place *p = place_at(index);
    uint64_t head = atomic_load_explicit(&objects.free_head, memory_order_relaxed), next;
    do {
        atomic_store_explicit(&p->next, (uint32_t)head, memory_order_relaxed);
        next = ((head >> INDEX_BITS) + 1) << INDEX_BITS | (index + UINT64_C(1));
    } while (!atomic_compare_exchange_weak_explicit(&objects.free_head, &head, next,
                                                    memory_order_acq_rel, memory_order_relaxed));
}

static bool take_place(uint32_t *index)
{
    if (take_free(index))
        return true;
    *index = atomic_load_explicit(&objects.used, memory_order_relaxed);
    while (*index < (uint32_t)BLOCKS << BLOCK_BITS)
        if (atomic_compare_exchange_weak_explicit(&objects.used, index, *index + 1,
                                                  memory_order_relaxed, memory_order_relaxed))
            return block_of(*index) != NULL;
    return false;
}

/* --- objects come and go ---------------------------------------------------------------------- */

uint64_t objects_number(void)
{
    return atomic_fetch_add_explicit(&objects.last_number, 1, memory_order_relaxed) + 1;
}

bool objects_add(jobject object, const struct object_facts *facts)
{
    uint32_t index;
    if (!take_place(&index))
        return false;
    struct place *p = place_at(index);
    p->facts = *facts;
    p->facts.ended = 0;
    p->born = atomic_load_explicit(&objects.pauses, memory_order_relaxed);
    /* release: who sees the number sees the facts */
    atomic_store_explicit(&p->number, facts->number, memory_order_release);
    if ((*objects.jvmti)->SetTag(objects.jvmti, object, tag_of(index)) == JVMTI_ERROR_NONE)
        return true;
    atomic_store_explicit(&p->number, 0, memory_order_relaxed);
    give_free(index);
    return false;
}

void objects_ended(jlong tag)
{
    uint32_t index;
    struct place *p = index_of(tag, &index) ? place_at(index) : NULL;
    if (!p)
        return;
    p->facts.ended = clock_mono_ns();
    p->facts.pauses = atomic_load_explicit(&objects.pauses, memory_order_relaxed) - p->born;
    uint32_t head = atomic_load_explicit(&objects.ended_head, memory_order_relaxed);
    do
        atomic_store_explicit(&p->next, head, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&objects.ended_head, &head, index + 1,
                                                  memory_order_release, memory_order_relaxed));
}

void objects_pause_over(void)
{
    atomic_fetch_add_explicit(&objects.pauses, 1, memory_order_relaxed);
}

void objects_take_ended(void (*visit)(void *ctx, const struct object_facts *f), void *ctx)
{
    /* acquire: pairs with objects_ended */
    uint32_t at = atomic_exchange_explicit(&objects.ended_head, 0, memory_order_acquire);
    while (at) {
        uint32_t index = at - 1;
        struct place *p = place_at(index);
        at = atomic_load_explicit(&p->next, memory_order_relaxed);
        if (!p->facts.met)
            visit(ctx, &p->facts);
        else
            atomic_fetch_sub_explicit(&objects.met, 1, memory_order_relaxed);
        atomic_store_explicit(&p->number, 0, memory_order_relaxed);
        give_free(index);
    }
}

/* --- questions -------------------------------------------------------------------------------- */

/* A copy, of one object: its slot may be given to another object at any time. */
static bool copy_facts(struct place *p, struct object_facts *f)
{
    uint64_t number = atomic_load_explicit(&p->number, memory_order_acquire);
    if (!number)
        return false;
    memcpy(f, &p->facts, sizeof *f);
    atomic_thread_fence(memory_order_acquire);
    f->pauses = atomic_load_explicit(&objects.pauses, memory_order_relaxed) - p->born;
    return atomic_load_explicit(&p->number, memory_order_relaxed) == number &&
           f->number == number && !f->ended;
}

bool objects_known(jobject object, struct object_facts *f)
{
    jlong tag = 0;
    uint32_t index;
    if (!objects.jvmti || (*objects.jvmti)->GetTag(objects.jvmti, object, &tag) != JVMTI_ERROR_NONE)
        return false;
    struct place *p = index_of(tag, &index) ? place_at(index) : NULL;
    return p && copy_facts(p, f);
}

uint64_t objects_meet(jobject object, uint64_t size)
{
    struct object_facts f;
    if (!objects.jvmti)
        return 0;
    if (objects_known(object, &f))
        return f.number;
    f = (struct object_facts){.number = 0, .size = size, .met = true};
    if (atomic_fetch_add_explicit(&objects.met, 1, memory_order_relaxed) < (uint32_t)OBJECTS_MET) {
        f.number = objects_number();
        if (objects_add(object, &f))
            return f.number;
    }
    atomic_fetch_sub_explicit(&objects.met, 1, memory_order_relaxed);
    return 0;
}

static bool find_place(uint64_t number, uint32_t *index, struct object_facts *f)
{
    uint32_t used = atomic_load_explicit(&objects.used, memory_order_acquire);
    for (*index = 0; *index < used; (*index)++) {
        struct place *p = place_at(*index);
        if (p && copy_facts(p, f) && f->number == number)
            return true;
    }
    return false;
}

jobject objects_find(uint64_t number, struct object_facts *f)
{
    uint32_t index;
    jint n = 0;
    jobject *found = NULL, o = NULL;
    if (!number || !find_place(number, &index, f))
        return NULL;
    jlong tag = tag_of(index);
    if ((*objects.jvmti)->GetObjectsWithTags(objects.jvmti, 1, &tag, &n, &found, NULL) ==
            JVMTI_ERROR_NONE &&
        n > 0)
        o = found[0];
    if (found)
        (*objects.jvmti)->Deallocate(objects.jvmti, (unsigned char *)found);
    /* The place may have been given to another object in between. */
    return o && objects_known(o, f) && f->number == number ? o : NULL;
}

/* The objects of these tags.  The JVM looks through all its tags for them. */
static void clear_tags(JNIEnv *jni, const jlong *tags, jint n)
{
    jint found = 0;
    jobject *all = NULL;
    if ((*jni)->PushLocalFrame(jni, n) < 0) {
        (*jni)->ExceptionClear(jni);
        return;
    }
    if ((*objects.jvmti)->GetObjectsWithTags(objects.jvmti, n, tags, &found, &all, NULL) ==
        JVMTI_ERROR_NONE) {
        for (jint i = 0; i < found; i++)
            (*objects.jvmti)->SetTag(objects.jvmti, all[i], 0);
        (*objects.jvmti)->Deallocate(objects.jvmti, (unsigned char *)all);
    }
    (*jni)->PopLocalFrame(jni, NULL);
}

void objects_forget(JNIEnv *jni)
{
    enum { BATCH = 1024, MOST = 1 << 16 };
    jlong tags[BATCH];
    jint n = 0;
    uint32_t used = atomic_load_explicit(&objects.used, memory_order_acquire);
    for (uint32_t i = 0; used <= MOST && i < used; i++) {
        struct place *p = place_at(i);
        if (p && atomic_load_explicit(&p->number, memory_order_acquire))
            tags[n++] = tag_of(i);
        if (n == BATCH || (n && i + 1 == used)) {
            clear_tags(jni, tags, n);
            n = 0;
        }
    }
}

void objects_each(void (*visit)(void *ctx, const struct object_facts *f), void *ctx)
{
    struct object_facts f;
    uint32_t used = atomic_load_explicit(&objects.used, memory_order_acquire);
    for (uint32_t i = 0; i < used; i++) {
        struct place *p = place_at(i);
        if (p && copy_facts(p, &f))
            visit(ctx, &f);
    }
}

/* --- walks ------------------------------------------------------------------------------------ */

bool objects_tag_place(jlong tag, uint32_t *place, uint64_t *number)
{
    struct place *p = index_of(tag, place) ? place_at(*place) : NULL;
    *number = p ? atomic_load_explicit(&p->number, memory_order_acquire) : 0;
    return *number != 0;
}

uint32_t objects_places(void)
{
    return atomic_load_explicit(&objects.used, memory_order_acquire);
}

jlong objects_walk_tag(uint64_t number)
{
    return (jlong)(WALK | number);
}

bool objects_is_walk_tag(jlong tag, uint64_t *number)
{
    *number = (uint64_t)tag & ~WALK;
    return ((uint64_t)tag & WALK) != 0;
}
