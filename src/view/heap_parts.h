/* heap_parts.h - what heap_*.c share, private to them. */
#ifndef ORCA_VIEW_HEAP_PARTS_H
#define ORCA_VIEW_HEAP_PARTS_H

#include "heap/children.h"
#include "heap/collections.h"
#include "heap/diff.h"
#include "heap/referrers.h"
#include "heap/strings.h"
#include "heap/suspects.h"
#include "heap/threads.h"
#include "view/heap_view.h"

#include <jansson.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

enum {
    HEAP_TOP_DEFAULT = 100,
    HEAP_TOP_MAX = 1000,       /* objects in one answer */
    HEAP_CLASSES_MAX = 20000,  /* classes in one answer */
    HEAP_LISTED_MAX = 10000,   /* instances of a class that can be paged through */
    HEAP_FIELDS_MAX = 1000,    /* of one object, and statics of one class */
    HEAP_STRING_MAX = 4096,    /* characters of one String */
    HEAP_PATH_ENDS = 100,      /* objects at each end of a long path */
    HEAP_UP_MAX = 50,          /* dominators above the one that an icicle begins with */
    HEAP_PARTS_DEFAULT = 1500, /* an icicle distinguishes parts of this size */
    HEAP_PARTS_MAX = 4096,
    HEAP_NODES_MAX = 6000, /* of an icicle */
    HEAP_DEPTH_MAX = 60,
    HEAP_FRAMES_DEFAULT = 200, /* of a thread; beyond them those that hold something */
    HEAP_FRAMES_MAX = 1000,
    HEAP_LOCALS_MAX = 20, /* objects of one frame */
};

/* How far the reading is, or what is looked for after it. */
struct heap_progress {
    char phase[64];
    unsigned step, steps; /* step: 1..steps */
    uint64_t done, total;
    uint64_t told; /* when this was last reported, ns */
    bool over;
    char error[512]; /* why it ended before the last stage; "" */
};

/* What is found beside the stages: each by itself, once (heap_found.c). */
enum heap_finding {
    HEAP_FIND_SUSPECTS,
    HEAP_FIND_THREADS,
    HEAP_FIND_DIFF,
    HEAP_FIND_STRINGS,
    HEAP_FIND_COLLECTIONS,
    HEAP_FINDINGS,
    HEAP_FIND_NOTHING = HEAP_FINDINGS /* an answer that needs none of them */
};

enum heap_found { HEAP_NOT_FOUND, HEAP_WANTED, HEAP_FOUND, HEAP_NEVER };

struct heap_find {
    atomic_int found; /* enum heap_found: as stage, below */
    char error[512];  /* of HEAP_NEVER */
};

/* The other dump, of which no more is kept than what `diff` needs. */
struct heap_base {
    char path[PATH_MAX]; /* "": there is none */
    uint64_t made_ms;
    bool partial;
};

struct heap_view {
    char path[PATH_MAX];
    void (*changed)(void *ctx);
    void *ctx;
    pthread_t thread;
    bool started;

    pthread_mutex_t lock; /* of progress, ending, and of what becomes HEAP_WANTED */
    pthread_cond_t wanted;
    struct heap_progress progress;
    bool ending;

    /* What is below belongs to the reader until its stage is there: stored with release, loaded
     * with acquire by readers. */
    atomic_int stage;
    struct dump *d;
    struct retained retained;
    struct children children;
    struct referrers referrers;

    struct heap_find finds[HEAP_FINDINGS]; /* what is below belongs to them, in the same way */
    struct suspects suspects;
    struct threads_seen threads;
    struct heap_base base;
    struct diff diff;
    struct strings_found strings;
    struct collections_found collections;
};

/* --- what is found beside the stages (heap_found.c) ------------------------------------------- */

/* Find it now, in the reader's thread; that this fails is kept as its error. */
void heap_find(struct heap_view *h, enum heap_finding which);

/* Whether it is found only on request. */
bool heap_find_is_asked(enum heap_finding which);

/* The next one that is wanted; HEAP_FINDINGS: none.  With the lock. */
enum heap_finding heap_find_next(const struct heap_view *h);

/* 0: it has been found, and may be read.  -EINPROGRESS: it is wanted from now on; -EAGAIN: it is
 * not known yet; -EIO: it cannot be found; -ENOENT: there is no other dump.  err is not set with
 * -EAGAIN. */
int heap_find_check(struct heap_view *h, enum heap_finding which, struct err *err);

/* {suspects: "found", ...} */
json_t *heap_find_states(const struct heap_view *h);

void heap_find_fini(struct heap_view *h);

/* Say what is being done, as one more step; heap_view.c. */
void heap_tell_phase(void *ctx, const char *what);
void heap_tell_bytes(void *ctx, uint64_t done, uint64_t total);

/* --- a question ------------------------------------------------------------------------------- */

enum heap_param {
    HEAP_OBJECT,
    HEAP_ID,
    HEAP_CLASS,
    HEAP_THREAD,
    HEAP_OFFSET,
    HEAP_TOP,
    HEAP_PARTS,
    HEAP_MATCH,
    HEAP_PARAMS
};

#define HEAP_ASK(p) (UINT32_C(1) << HEAP_##p)

struct heap_ask {
    struct heap_view *h;
    enum heap_stage stage;
    uint32_t given;        /* HEAP_ASK bits */
    uint32_t object;       /* checked; DUMP_NONE: none was named */
    uint32_t class_number; /* the same */
    uint32_t thread;       /* checked, in h->threads */
    uint64_t offset, top, parts;
    const char *match;
    bool has_reader;
    struct object_reader reader; /* from HEAP_SIZED on */
};

/* Read the parameters; an object may be named by `object` or `id`.  Ended with heap_ask_fini, on
 * failure, too.  -EINVAL, -ENOENT, -ENOMEM. */
int heap_ask_init(struct heap_ask *a, const struct view_question *q, uint32_t takes, uint32_t needs,
                  struct err *err);
void heap_ask_fini(struct heap_ask *a);

/* --- the answers: NULL with err set and *rc, or an object ------------------------------------- */

json_t *heap_answer_overview(struct heap_ask *a, int *rc, struct err *err);
json_t *heap_answer_classes(struct heap_ask *a, int *rc, struct err *err);
json_t *heap_answer_instances(struct heap_ask *a, int *rc, struct err *err);
json_t *heap_answer_object(struct heap_ask *a, int *rc, struct err *err);
json_t *heap_answer_elements(struct heap_ask *a, int *rc, struct err *err);
json_t *heap_answer_referrers(struct heap_ask *a, int *rc, struct err *err);
json_t *heap_answer_path(struct heap_ask *a, int *rc, struct err *err);
json_t *heap_answer_tree(struct heap_ask *a, int *rc, struct err *err);
json_t *heap_answer_icicle(struct heap_ask *a, int *rc, struct err *err);
json_t *heap_answer_suspects(struct heap_ask *a, int *rc, struct err *err);
json_t *heap_answer_strings(struct heap_ask *a, int *rc, struct err *err);
json_t *heap_answer_collections(struct heap_ask *a, int *rc, struct err *err);
json_t *heap_answer_threads(struct heap_ask *a, int *rc, struct err *err);
json_t *heap_answer_thread(struct heap_ask *a, int *rc, struct err *err);
json_t *heap_answer_diff(struct heap_ask *a, int *rc, struct err *err);

/* --- parts of them ---------------------------------------------------------------------------- */

json_t *heap_json_count(uint64_t v);

/* A text of n bytes, or up to its NUL; bytes that are not UTF-8 are replaced. */
json_t *heap_json_text_n(const char *text, size_t n);
json_t *heap_json_text(const char *text);

/* What is retained; null of an incomplete dump, where it is unknown. */
json_t *heap_json_retained(const struct heap_view *h, uint64_t bytes);

/* "0x7ff2a310" */
json_t *heap_json_id(uint64_t id);

/* "shop.Order.run (Order.java:88)"; depth is less than trace->n_frames. */
json_t *heap_json_frame(const struct dump *d, const struct dump_trace *trace, uint32_t depth);

/* {class, name} of a class number; both null for DUMP_NONE. */
json_t *heap_json_class(const struct heap_view *h, uint32_t number);

/* The name of the class of an object, without reading it; of a Class object "class " and its own
 * name.  Appended. */
void heap_put_class(const struct heap_view *h, uint32_t object, struct buf *into);

/* {object, id, class, label, shallow, retained}; null for DUMP_NONE. */
json_t *heap_json_brief(struct heap_ask *a, uint32_t object);

/* [{kind, thread, frame}, ...]: as what an object is a root; empty: it is none. */
json_t *heap_json_roots(struct heap_ask *a, uint32_t object);

/* What kind of root a record of the dump makes. */
const char *heap_root_kind(uint8_t kind);

#endif
