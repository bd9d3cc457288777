/* tptp_parts.h - what the files of the TPTP exporter share (docs/reference/tptp.md).
 *
 *   tptp.c          the exporter: which event becomes which element
 *   tptp_head.c     the elements around the events
 *   tptp_waits.c    monWait and monWaited
 *   tptp_text.c     elements, attributes, annotations
 *   tptp_objects.c  which lock is which thread's object
 *   tptp_heap.c     objAlloc, objFree, classDef
 *
 * Everything is written to files[0].  One element is one line. */
#ifndef ORCA_EXPORT_TPTP_PARTS_H
#define ORCA_EXPORT_TPTP_PARTS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "export/export.h"

/* What a thread is in the middle of.  Kept at 32 bytes: there may be a million virtual threads. */
struct tptp_thread {
    uint64_t since;   /* when the wait that is open began */
    uint64_t object;  /* its objIdRef; 0: not known */
    int64_t sleep_ns; /* its time-out, of a sleep or join; 0: none */
    uint32_t join;    /* the thread that it joins; 0: none */
    uint8_t open; /* what began the wait: wait_enter, sleep_enter, join_enter; 0: none is open */
    bool interrupted;    /* an InterruptedException was made since */
    bool started, ended; /* threadStart, threadEnd were written */
};

struct tptp {
    struct tptp_thread *threads; /* [trace->n_threads], by id */
    uint32_t *thread_of;         /* [trace->n_locks]: the thread whose object the lock is, or 0 */
    uint64_t base;               /* heap object n has the id base + n (format/tptp_ids.h) */
    struct buf defined;          /* a bit for each object id: it is defined in the file */
    struct map threads_of;  /* number of an object that is a thread's and a lock -> the thread */
    uint32_t *class_number; /* [trace->n_classes]: its classId; 0: not defined yet */
    struct map class_names; /* hash of name and source -> the first class called so */
    uint32_t n_classes;     /* defined */
    bool has_each;          /* each object has an object_alloc */
    const char **frames;    /* [trace->n_stacks]: their annotations; NULL: not made yet */
    struct arena arena;     /* of frames; limited */
    struct buf scratch;     /* of one attribute or one stack */
    bool joins_have_waits;  /* the wait inside a platform thread's join is an event of its own */
    bool hidden;            /* the element is inside a processing instruction */
    bool has_no_timeouts;   /* the trace is an import of a text that has none */
    size_t n_damaged;       /* of the trace, when last looked at */
};

/* --- tptp_text.c ------------------------------------------------------------------------------ */

void tptp_attr(struct export *x, const char *name, const char *value);
void tptp_attr_number(struct export *x, const char *name, uint64_t value);

/* time="...": `time` is ns of CLOCK_MONOTONIC, written as the date that it was. */
void tptp_attr_time(struct export *x, uint64_t time);
void tptp_attr_at(struct export *x, const char *name, uint64_t time);

/* name="id" of a thread or an object; nothing when it is not known. */
void tptp_attr_thread(struct export *x, const char *name, thread_id id);
void tptp_attr_object(struct export *x, const char *name, uint64_t object);

void tptp_annotation(struct export *x, const char *name, const char *value);

/* The annotations of a stack, frames innermost first; "" for stack 0. */
const char *tptp_frames(struct export *x, stack_id id);

/* "Ldemo/Lock;" -> demo/Lock, "[I" as it is, into scratch. */
const char *tptp_class(struct export *x, class_id id);

/* `<name`, thread and time; `id` is what this element calls the thread. */
void tptp_begin(struct export *x, const char *name, const char *id, const struct event *e);

/* The element that begins now is for readers who know of it only: <?orca <element .../>?>. */
void tptp_hide(struct export *x);

/* The end of an element's line. */
void tptp_end_line(struct export *x);

/* `/>`, or annotations and `</name>`: the class of the lock, if it is one, and the stack;
 * tptp_end_noted: another one in front of them. */
void tptp_end_empty(struct export *x);
void tptp_end_noted(struct export *x, const char *name, lock_id lock, stack_id stack,
                    const char *note, const char *value);
void tptp_end(struct export *x, const char *name, lock_id lock, stack_id stack);

/* A thread's id is defined by its threadStart: who acts without one (the recording, or what is left
 * of it, began later) gets one in front of that. */
void tptp_introduce(struct export *x, thread_id id, uint64_t time);

/* What is known of a thread; NULL when it has no place in the table, so no id in the file. */
struct tptp_thread *tptp_thread_state(const struct export *x, thread_id id);

/* --- tptp_waits.c ----------------------------------------------------------------------------- */

void tptp_wait_enter(struct export *x, struct tptp_thread *t, const struct event *e);
/* A wait that was under way when the recording began, and one that was when it ended. */
void tptp_wait_found(struct export *x, struct tptp_thread *t, const struct event *e);
void tptp_wait_open(struct export *x, struct tptp_thread *t, const struct event *e);
void tptp_wait_exit(struct export *x, struct tptp_thread *t, const struct event *e);
void tptp_sleep_enter(struct export *x, struct tptp_thread *t, const struct event *e);
void tptp_sleep_exit(struct export *x, struct tptp_thread *t, const struct event *e);
void tptp_join_enter(struct export *x, struct tptp_thread *t, const struct event *e);
void tptp_join_exit(struct export *x, struct tptp_thread *t, const struct event *e);

/* --- tptp_heap.c ------------------------------------------------------------------------------ */

/* -ENOMEM. */
int tptp_heap_init(struct export *x);
void tptp_heap_fini(struct tptp *p);

/* objDef, with the class in front of it. */
void tptp_obj_def(struct export *x, uint64_t object, class_id class_);

void tptp_object_alloc(struct export *x, struct tptp_thread *t, const struct event *e);
void tptp_object_sample(struct export *x, struct tptp_thread *t, const struct event *e);
void tptp_object_free(struct export *x, struct tptp_thread *t, const struct event *e);

/* --- tptp_head.c ------------------------------------------------------------------------------ */

void tptp_head(struct export *x);
void tptp_foot(struct export *x);

/* Whether the trace was imported from this format.  The hashes of its objects are then the object
 * ids that the file had. */
bool tptp_is_import(const struct trace *t);

/* --- tptp_objects.c --------------------------------------------------------------------------- */

/* Threads and locks have one space of object ids: those of locks are even, those of threads odd.
 * A lock that is known to be a thread has the thread's.  0: unknown, or a thread without an
 * object. */
uint64_t tptp_thread_object(const struct export *x, thread_id id);
uint64_t tptp_lock_object(const struct export *x, lock_id id);

/* An object that the heap profiler has recorded, by its number: base + number, unless it is known
 * to be a thread.  A lock that is one goes by the same id.  Numbers from 2^62 on stand for ids of
 * the file that the trace was imported from. */
uint64_t tptp_heap_object(const struct export *x, uint64_t number);

/* An object is defined in front of its first use; class 0: unknown. tptp_note_object: another
 * element defines it, or (false) its id has lost its meaning. */
void tptp_define(struct export *x, uint64_t object, class_id class_);
void tptp_define_lock(struct export *x, uint64_t object, lock_id lock);
void tptp_note_object(struct export *x, uint64_t object, bool defined);
bool tptp_is_defined(const struct export *x, uint64_t object);

/* Find the locks that are Thread objects, as far as their classes tell.  -ENOMEM. */
int tptp_find_threads(struct export *x);

/* The object of a wait inside a join of `target`, which is the target itself; it is noted when the
 * lock's hash proves it.  When it denies it, the lock is another object. */
uint64_t tptp_joined_object(struct export *x, lock_id lock, thread_id target);

#endif
