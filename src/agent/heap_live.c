#include "agent/heap_live.h"

#include "agent/heap.h"
#include "agent/objects.h"

#include <inttypes.h>
#include <stdlib.h>

enum { GROUPS_BITS = 17, SLOTS = 1 << GROUPS_BITS, GROUPS_MOST = SLOTS / 2 };

struct group {
    uint32_t class_, stack, age;
    uint64_t count, bytes;               /* followed because all are */
    uint64_t samples;                    /* followed because they were sampled */
    double sampled_count, sampled_bytes; /* what these stand for */
};

struct live {
    struct group *slots; /* by a hash, count and samples 0: free */
    uint32_t n;
    uint64_t left_out;
};

/* 0 to 3 as they are, then 4, 8, 16, ... */
static uint32_t age_of(uint32_t pauses)
{
    enum { EXACT = 4 };
    uint32_t age = EXACT;
    if (pauses < EXACT)
        return pauses;
    while (age <= pauses / 2)
        age *= 2;
    return age;
}

static bool is_free(const struct group *g)
{
    return g->count == 0 && g->samples == 0;
}

static struct group *group_of(struct live *l, uint32_t class_, uint32_t stack, uint32_t age)
{
    uint64_t h =
        (class_ * UINT64_C(0x9E3779B97F4A7C15) ^ stack) * UINT64_C(0xC2B2AE3D27D4EB4F) + age;
    for (uint32_t i = (uint32_t)(h >> 40);; i++) {
        struct group *g = &l->slots[i % SLOTS];
        if (!is_free(g) && g->class_ == class_ && g->stack == stack && g->age == age)
            return g;
        if (!is_free(g))
            continue;
        if (l->n == GROUPS_MOST)
            return NULL;
        l->n++;
        *g = (struct group){.class_ = class_, .stack = stack, .age = age};
        return g;
    }
}

static void add(void *ctx, const struct object_facts *f)
{
    struct live *l = ctx;
    if (f->met)
        return;
    struct group *g = group_of(l, f->class_.v, f->stack.v, age_of(f->pauses));
    if (!g) {
        l->left_out++;
    } else if (f->weight) {
        g->samples++;
        g->sampled_count += (double)f->weight / (double)(f->size ? f->size : 1);
        g->sampled_bytes += (double)f->weight;
    } else {
        g->count++;
        g->bytes += f->size;
    }
}

/* HotSpot's service thread reports the ends of objects some time after the collection.  A thread
 * that switches ObjectFree waits until it has, and reports the rest itself
 * (JvmtiTagMap::flush_object_free_events). */
static int collect(JNIEnv *jni, struct err *err)
{
    jvmtiEnv *jvmti;
    TRY(heap_environment(jni, &jvmti, err));
    jvmtiError e = (*jvmti)->ForceGarbageCollection(jvmti);
    if (e == JVMTI_ERROR_NONE)
        e = (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_OBJECT_FREE, NULL);
    if (e != JVMTI_ERROR_NONE)
        return err_set(err, -ENOTSUP, "the JVM does not collect: %s", jvmti_error_name(e));
    return 0;
}

static void put(const struct live *l, struct buf *reply)
{
    for (uint32_t i = 0; i < SLOTS; i++) {
        const struct group *g = &l->slots[i];
        if (!is_free(g))
            buf_printf(reply, "group %u %u %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %.0f %.0f\n",
                       g->class_, g->stack, g->age, g->count, g->bytes, g->samples,
                       g->sampled_count, g->sampled_bytes);
    }
    buf_printf(reply, "left_out %" PRIu64 "\n", l->left_out);
}

static int sum_up(JNIEnv *jni, bool full, struct buf *reply, struct err *err)
{
    struct live l = {.n = 0};
    if (!heap_follows())
        return err_set(err, -ENOMSG, "no objects are recorded");
    if (full)
        TRY(collect(jni, err));
    l.slots = calloc(SLOTS, sizeof *l.slots);
    if (!l.slots)
        return err_set(err, -ENOMEM, "out of memory");
    objects_each(add, &l);
    put(&l, reply);
    free(l.slots);
    return reply->oom ? err_set(err, -ENOMEM, "out of memory") : 0;
}

int heap_live_put(JNIEnv *jni, bool full, struct buf *reply, struct err *err)
{
    int rc = err_set(err, -ENODATA, "nothing is recorded");
    RECORDING(rc = sum_up(jni, full, reply, err));
    return rc;
}
