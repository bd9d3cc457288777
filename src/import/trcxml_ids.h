/* trcxml_ids.h - which thread and which lock of the trace an id of the file means.
 *
 * A file has one space of object ids, which includes threads, and one of thread ids; an id is a
 * number or any text, and may be used again after its threadEnd or objFree.  So an id means what
 * was defined last; an object is a thread once a threadStart, callStart or callInterrupt says so,
 * and a lock as well once it is locked or waited on.
 *
 * Ids that `orca export` wrote are not used again, and come back as they were in its trace: threads
 * n, locks 2n, Thread objects 2n + 1, other objects of the heap above (format/tptp_ids.h); threads
 * whose name it did not know have no definition again. */
#ifndef ORCA_IMPORT_TRCXML_IDS_H
#define ORCA_IMPORT_TRCXML_IDS_H

#include "base/map.h"
#include "import/intake.h"

enum { TRCXML_TEXT_MAX = 65535 }; /* bytes of an attribute: a definition has to fit into a trace */

/* An id of the file. */
struct trcxml_id {
    uint64_t key;    /* 0: none */
    uint64_t number; /* 0: it is a text, or "0" */
    uint32_t hash;   /* what stands for the identity hash: the number, where it fits */
};

/* NULL, "" and "-1" are none. */
struct trcxml_id trcxml_id_read(const char *text);

/* What a thread is in the middle of. */
struct trcxml_thread {
    uint64_t since;     /* when the wait that is open began */
    uint64_t object;    /* its key */
    int64_t timeout_ms; /* -1: not known */
    uint8_t open;       /* what began it: wait_enter, join_enter, sleep_enter; 0: none is open */
    bool started, ended;
    bool acted; /* it also has events of its own */
};

/* What an objAlloc said, for the object's end. */
struct trcxml_heap {
    uint64_t number; /* in the trace; 0: without an objAlloc */
    uint64_t time, size, weight;
    stack_id stack;
    thread_id by;
    uint32_t collections; /* that had finished */
};

struct trcxml_object {
    lock_id lock;
    thread_id thread;
    class_id class_;
    struct trcxml_heap heap;
};

struct trcxml_ids {
    struct intake *in;           /* borrowed */
    bool own;                    /* `orca export` wrote the file */
    uint64_t base;               /* of it: ids above are of the heap profiler's objects */
    struct map threads, objects; /* key -> thread id; -> index into v, plus 1 */
    struct buf states;           /* struct trcxml_thread [], by id */
    struct trcxml_object *v;     /* [cap] */
    size_t n, cap, n_free;
    uint32_t *free;     /* [cap]: those of v that were forgotten */
    uint64_t n_heap;    /* objAllocs so far: numbers of other writers' objects */
    uint64_t unstarted; /* threads that no threadStart has defined */
};

void trcxml_ids_init(struct trcxml_ids *ids, struct intake *in);
void trcxml_ids_fini(struct trcxml_ids *ids);

/* The file is one of `orca export`; to be called before the first object. */
void trcxml_ids_own(struct trcxml_ids *ids);

/* The thread of a thread id; no id, and an undefined "0", is thread 0. */
int trcxml_ids_thread(struct trcxml_ids *ids, struct trcxml_id id, thread_id *t, struct err *err);

/* The thread that a threadStart defines; *twice: the id's last one has not ended. */
int trcxml_ids_start(struct trcxml_ids *ids, struct trcxml_id id, struct trcxml_id object,
                     thread_id *t, bool *twice, struct err *err);

/* The thread that an object is, made when it is none yet. */
int trcxml_ids_thread_object(struct trcxml_ids *ids, struct trcxml_id object, thread_id *t,
                             struct err *err);

/* The thread that an object is known to be; 0: none. */
int trcxml_ids_known_thread(struct trcxml_ids *ids, struct trcxml_id object, thread_id *t,
                            struct err *err);

/* The lock that an object is; class 0: not known here. */
int trcxml_ids_lock(struct trcxml_ids *ids, struct trcxml_id object, class_id class_, lock_id *lock,
                    struct err *err);

/* What class an object is of, whose allocation was not seen; 0: not known. */
int trcxml_ids_define(struct trcxml_ids *ids, struct trcxml_id object, class_id class_,
                      struct err *err);

/* From here on the file is of another process: no id means what it did. */
void trcxml_ids_forget(struct trcxml_ids *ids);

/* An object was allocated, with a number in `heap` now; *o (NULL: it has no id) lives until the
 * next object. */
int trcxml_ids_alloc(struct trcxml_ids *ids, struct trcxml_id object, class_id class_,
                     struct trcxml_object **o, struct err *err);

/* An object is freed, and its id may mean another one: what was known of it.  False: its objAlloc
 * is missing, and, in a file of another writer, so is its number. */
bool trcxml_ids_free(struct trcxml_ids *ids, struct trcxml_id object, struct trcxml_object *out);

/* Lives until the next thread is made; of thread 0 and others that are not there, NULL. */
struct trcxml_thread *trcxml_ids_state(const struct trcxml_ids *ids, thread_id t);

#endif
