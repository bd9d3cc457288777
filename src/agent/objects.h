/* objects.h - the objects that the heap profiler records, by number: what is known of each during
 * its life, and which have ended.
 *
 * A number is in a JVMTI tag of the heap profiler's own environment (heap.h), so it survives the
 * collector, and the JVM reports when the object is gone.  It does so on any thread, while it holds
 * its own locks: the callback only puts the object on a list for the heap thread.
 *
 * Memory: a record each, in blocks that are reused, and not freed during the recording.  The
 * functions that record take no lock of ours. */
#ifndef ORCA_AGENT_OBJECTS_H
#define ORCA_AGENT_OBJECTS_H

#include "agent/agent.h"

/* What is known of an object from its allocation on. */
struct object_facts {
    uint64_t number;    /* from 1, never used again in a recording */
    uint64_t size;      /* bytes in the heap */
    uint64_t weight;    /* as object_sample's; 0: it was not sampled */
    uint64_t allocated; /* when */
    uint64_t ended;     /* when that was reported; 0: it is alive */
    class_id class_;
    stack_id stack;
    thread_id thread;
    uint32_t pauses; /* of the collector, that it has outlived */
    bool met;        /* it got its number from a question (objects_meet): how and when it was
                        allocated is unknown, and no event reports its end */
};

/* A recording of objects begins, and ends: no thread may be inside. */
int objects_init(jvmtiEnv *jvmti, struct err *err);
void objects_fini(void);

/* The next number, 0 is none. */
uint64_t objects_number(void);

/* Keep an object that was just allocated; all of `facts` but `ended` and `pauses` is given.  False:
 * out of memory, or the JVM does not tag it; the object is then not followed. */
bool objects_add(jobject object, const struct object_facts *facts);

/* JVMTI: the object with this tag was freed.  Any thread, whatever it holds; makes no call. */
void objects_ended(jlong tag);

/* A pause of the collector is over.  Any thread, also at a safepoint. */
void objects_pause_over(void);

/* The objects that have ended since the last call; `visit` makes no call of the JVM.  One
 * thread. */
void objects_take_ended(void (*visit)(void *ctx, const struct object_facts *f), void *ctx);

/* What is known of an object; false: it is not one of those.  On a Java thread. */
bool objects_known(jobject object, struct object_facts *f);

/* The object of a number: a local reference, NULL when there is none, or it is gone. */
jobject objects_find(uint64_t number, struct object_facts *f);

/* Remove the tags: each one left costs the JVM a few dozen bytes until its object dies. Does
 * nothing for a very large number of tags, which would take the JVM too long. On a Java thread,
 * once no object is added any longer. */
void objects_forget(JNIEnv *jni);

/* The number of any object; one that is not recorded gets one for as long as it lives.  0: nothing
 * is followed, or there are OBJECTS_MET of the kind.  On a Java thread. */
enum { OBJECTS_MET = 1 << 20 };
uint64_t objects_meet(jobject object, uint64_t size);

/* --- walks of the heap (heap_walk.h), whose callbacks may call nothing of the JVM
 * -----------------
 *
 * Objects have their places' tags there; one without a place gets a walk's own tag until the walk's
 * end, with a number of its own, which no other object gets.  A tag of an earlier recording, or
 * none, is neither. */

/* Of a place: which one, of how many there are at most while the walk lasts. */
bool objects_tag_place(jlong tag, uint32_t *place, uint64_t *number);
uint32_t objects_places(void);

jlong objects_walk_tag(uint64_t number);
bool objects_is_walk_tag(jlong tag, uint64_t *number);

/* Each object that lives, as far as the JVM has reported; `visit` makes no call of the JVM. Any
 * thread; objects come and go during the walk. */
void objects_each(void (*visit)(void *ctx, const struct object_facts *f), void *ctx);

#endif
