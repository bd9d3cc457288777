/* heap_walk.h - walks of the heap by JVMTI: from the roots, from an object, through everything.
 *
 * All use the heap profiler's environment (heap.h), for two reasons.  Its tags are the objects'
 * numbers, which a callback must find in the tag: it may call nothing of the JVM.  And HotSpot
 * gives the ends of tagged objects that a walk meets to the environment that walks, whoever tagged
 * them (jvmtiTagMap.cpp: check_hashmaps_for_heapwalk): a walk in another one would swallow the ends
 * that the recording waits for.
 *
 * The program is paused during a walk.  Tags that the walk sets cost the JVM some 100 bytes each
 * until heap_walk_end removes them. */
#ifndef ORCA_AGENT_HEAP_WALK_H
#define ORCA_AGENT_HEAP_WALK_H

#include "agent/agent.h"

struct heap_walk {
    jvmtiEnv *jvmti;
    uint64_t stopped_ns; /* how long the program was paused, as far as that is known */
    bool tagged;         /* tags of walks may be about */
    bool sees_all;       /* heap_walk_sees_all */
};

/* A reference that a walk comes upon.  A visitor may set both tags. */
struct heap_edge {
    jvmtiHeapReferenceKind kind;
    const jvmtiHeapReferenceInfo *info; /* of some kinds only */
    jlong class_tag, referrer_class_tag;
    uint64_t size; /* of what is referred to */
    jint length;   /* of an array, else -1 */
    jlong *tag;    /* of what is referred to */
    jlong *from;   /* of who refers to it; NULL: a root does */
};

/* What a visitor answers. */
enum { HEAP_GO_ON = JVMTI_VISIT_OBJECTS, HEAP_NOT_BEYOND = 0, HEAP_END = JVMTI_VISIT_ABORT };
typedef jint (*heap_visitor)(void *ctx, const struct heap_edge *e);

/* -ENOTSUP with a sentence. */
int heap_walk_begin(struct heap_walk *w, JNIEnv *jni, struct err *err);

/* Every reference that can be come to from the roots, or from one object; each object is gone
 * through once.  The visitor runs while the program is paused and calls nothing of the JVM. */
int heap_walk_follow(struct heap_walk *w, jobject from, heap_visitor visit, void *ctx,
                     struct err *err);

/* Whether this JVM may be asked for all objects, reachable or not.  HotSpot 17 with ZGC comes upon
 * objects of classes that are being unloaded then, and has crashed. */
bool heap_walk_sees_all(JNIEnv *jni);

/* How many objects of exactly this class there are, and their bytes; including unreachable ones
 * that are not collected yet.  -ENOTSUP where heap_walk_sees_all does not hold. */
int heap_walk_count(struct heap_walk *w, jclass class_, uint64_t *count, uint64_t *bytes,
                    struct err *err);

/* The objects of a few tags: local references, which are given back in the order in which they are
 * found.  Release with heap_walk_free. */
struct heap_found {
    jint n;
    jobject *objects;
    jlong *tags;
};
int heap_walk_find(struct heap_walk *w, const jlong *tags, jint n, struct heap_found *found,
                   struct err *err);
void heap_walk_free(struct heap_walk *w, struct heap_found *found);

/* Take the walks' own tags away. */
void heap_walk_end(struct heap_walk *w);

#endif
