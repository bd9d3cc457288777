/* heap_parts.h - what heap_*.c share, private to them. */
#ifndef ORCA_VIEW_HEAP_PARTS_H
#define ORCA_VIEW_HEAP_PARTS_H

#include "heap/children.h"
#include "heap/referrers.h"
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
    HEAP_PARTS_DEFAULT = 1500, /* an icicle tells apart what is such a part of it */
    HEAP_PARTS_MAX = 4096,
    HEAP_NODES_MAX = 6000, /* of an icicle */
    HEAP_DEPTH_MAX = 60,
    HEAP_STEPS = 6,
};

/* How far the reading is. */
struct heap_progress {
    char phase[64];
    unsigned step; /* 1..HEAP_STEPS */
    uint64_t done, total;
    uint64_t told; /* when this was told last, ns */
    bool over;
    char error[512]; /* why it ended before the last stage; "" */
};

struct heap_view {
    char path[PATH_MAX];
    void (*changed)(void *ctx);
    void *ctx;
    pthread_t thread;
    bool started;

    pthread_mutex_t lock; /* of progress */
    struct heap_progress progress;

    /* What is below belongs to the reader until its stage is there: stored with release, loaded
     * with acquire by whoever asks. */
    atomic_int stage;
    struct dump *d;
    struct retained retained;
    struct children children;
    struct referrers referrers;
};

/* --- a question -------------------------------------------------------------------------------
 */

enum heap_param {
    HEAP_OBJECT,
    HEAP_ID,
    HEAP_CLASS,
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

/* --- the answers: NULL with err set and *rc, or an object -------------------------------------
 */

json_t *heap_answer_overview(struct heap_ask *a, int *rc, struct err *err);
json_t *heap_answer_classes(struct heap_ask *a, int *rc, struct err *err);
json_t *heap_answer_instances(struct heap_ask *a, int *rc, struct err *err);
json_t *heap_answer_object(struct heap_ask *a, int *rc, struct err *err);
json_t *heap_answer_elements(struct heap_ask *a, int *rc, struct err *err);
json_t *heap_answer_referrers(struct heap_ask *a, int *rc, struct err *err);
json_t *heap_answer_path(struct heap_ask *a, int *rc, struct err *err);
json_t *heap_answer_tree(struct heap_ask *a, int *rc, struct err *err);
json_t *heap_answer_icicle(struct heap_ask *a, int *rc, struct err *err);

/* --- parts of them ----------------------------------------------------------------------------
 */

json_t *heap_json_count(uint64_t v);

/* A text of n bytes, or up to its NUL; bytes that are not UTF-8 are replaced. */
json_t *heap_json_text_n(const char *text, size_t n);
json_t *heap_json_text(const char *text);

/* "0x7ff2a310" */
json_t *heap_json_id(uint64_t id);

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
