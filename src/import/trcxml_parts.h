/* trcxml_parts.h - what the files of the TPTP importer share (docs/reference/tptp.md).
 *
 *   trcxml.c         which element becomes which event
 *   trcxml_waits.c   monWait and monWaited: Object.wait, Thread.sleep, Thread.join
 *   trcxml_head.c    the elements around the events
 *   trcxml_heap.c    objAlloc and objFree
 *   trcxml_threads.c what files do not say of threads
 *   trcxml_ids.h     threads and objects
 *   trcxml_frames.h  classes, methods, stacks
 *   trcxml_notes.h   what could not be taken over
 *   trcxml_words.h   names of elements and attributes
 *
 * An element is begun with its attributes, gets its annotations, and becomes events at its end. */
#ifndef ORCA_IMPORT_TRCXML_PARTS_H
#define ORCA_IMPORT_TRCXML_PARTS_H

#include "import/intake.h"
#include "import/trcxml_frames.h"
#include "import/trcxml_ids.h"
#include "import/trcxml_notes.h"
#include "import/trcxml_words.h"
#include "import/unzip.h"
#include "import/xml_reader.h"

struct trcxml;

/* An element that a trace has a place for. */
struct trcxml_element {
    const char *name;
    int (*begin)(struct trcxml *x, struct err *err); /* NULL: it says nothing by itself */
    int (*end)(struct trcxml *x, struct err *err);   /* NULL: `begin` does everything */
    uint8_t kind; /* of the event that it is, as far as the name tells; 0: none */
};

/* The element that is open, from begin to end. */
struct trcxml_open {
    const struct trcxml_element *element; /* NULL: none is */
    uint32_t depth;                       /* elements inside it that are open */
    struct event e;
    bool drop;               /* it has no time, so no place */
    struct trcxml_id object; /* of its objIdRef */
    bool is_sleep;           /* its objIdRef is that of a sleep */
    int64_t timeout_ms;      /* -1: not known */
    int timed_out;           /* -1: not known */
    int found;               /* kind of event that began it, long before; 0: it begins here */
    int in;                  /* kind of event that a thread is in, 0: none; -1: it is not said */
    class_id class_;         /* of the object, as an annotation or objAlloc tells */
    uint64_t weight;         /* of a sampled object; 0: it is none */
    struct trcxml_stack stack, owner_stack;
};

enum trcxml_call { CALL_ENTRY, CALL_EXIT, CALL_LIMIT };

/* What the elements around the events said. */
struct trcxml_head {
    struct text host;                     /* of the node; "" none */
    struct text ids[4];                   /* of node, process, agent, trace */
    bool has_host_info;                   /* as an option */
    struct text groups, include, exclude; /* of the recording that was exported, as it says */
    bool joins_have_waits;
    uint64_t trace;    /* key of the latest traceId; 0: none yet */
    uint64_t n_traces; /* recordings in the file, one behind the other */
    uint64_t n_calls[CALL_LIMIT];
};

struct trcxml {
    struct intake in;
    struct unzip *zip; /* NULL: the file is none */
    struct xml_reader reader;
    struct trcxml_ids ids;
    struct trcxml_frames frames;
    struct trcxml_notes notes;
    struct trcxml_head head;
    struct words elements, attrs;
    const char *names[WORDS_MAX]; /* of elements */
    struct trcxml_attrs a;        /* of the element that begins */
    struct trcxml_open open;
    struct buf cut;   /* attributes of this element that were too long */
    uint64_t n_known; /* elements of TPTP's */
    uint32_t n_gc;    /* collections that have finished */
};

/* --- trcxml.c --------------------------------------------------------------------------------- */

/* An attribute, or "". */
static inline const char *trcxml_text(const struct trcxml *x, enum trcxml_attr a)
{
    return x->a.v[a] ? x->a.v[a] : "";
}

/* A copy of it that stays. */
int trcxml_keep(struct trcxml *x, enum trcxml_attr a, struct text *kept, struct err *err);

/* The id of an object that the element is about; other writers' objAlloc and objDef call it
 * objIdRef. */
struct trcxml_id trcxml_object_id(const struct trcxml *x);

/* The id in the first of two attributes that is there. */
struct trcxml_id trcxml_id_of(const struct trcxml *x, enum trcxml_attr a, enum trcxml_attr b);

/* A time in ns; false, and noted, when it is none or not there. */
bool trcxml_time(struct trcxml *x, uint64_t *time);
bool trcxml_time_of(struct trcxml *x, enum trcxml_attr a, uint64_t *time);

/* What nearly all events begin with: thread and object. */
int trcxml_begin_event(struct trcxml *x, struct err *err);

/* A number of at most `max`; `otherwise`, when it is not there, or, and noted, no number. */
int64_t trcxml_number(struct trcxml *x, enum trcxml_attr a, int64_t max, int64_t otherwise);

/* Hand over x->open.e, or another event of its time and thread. */
int trcxml_put(struct trcxml *x, const struct event *e, struct err *err);

/* --- trcxml_threads.c ------------------------------------------------------------------------- */

/* When everything has been read: what the files of other writers do not say of threads. */
void trcxml_tell_threads(struct trcxml *x);

/* --- trcxml_waits.c --------------------------------------------------------------------------- */

int trcxml_begin_wait(struct trcxml *x, struct err *err);
/* It was under way when the recording began. */
int trcxml_end_found(struct trcxml *x, thread_id owner, struct err *err);
int trcxml_begin_wait_open(struct trcxml *x, struct err *err);
int trcxml_end_wait_open(struct trcxml *x, struct err *err);
int trcxml_end_wait(struct trcxml *x, struct err *err);
int trcxml_begin_waited(struct trcxml *x, struct err *err);
int trcxml_end_waited(struct trcxml *x, struct err *err);

/* The event that began the wait which a thread is in, as far as the file tells; 0: in none. */
unsigned trcxml_wait_of(const struct trcxml *x, thread_id t);

/* --- trcxml_heap.c ---------------------------------------------------------------------------- */

int trcxml_obj_def(struct trcxml *x, struct err *err);
int trcxml_begin_obj_alloc(struct trcxml *x, struct err *err);
int trcxml_end_obj_alloc(struct trcxml *x, struct err *err);
int trcxml_begin_obj_free(struct trcxml *x, struct err *err);
int trcxml_end_obj_free(struct trcxml *x, struct err *err);

/* --- trcxml_head.c ---------------------------------------------------------------------------- */

int trcxml_node(struct trcxml *x, struct err *err);
int trcxml_process(struct trcxml *x, struct err *err);
int trcxml_agent(struct trcxml *x, struct err *err);
int trcxml_option(struct trcxml *x, struct err *err);
int trcxml_trace_start(struct trcxml *x, struct err *err);
int trcxml_method_entry(struct trcxml *x, struct err *err);
int trcxml_method_exit(struct trcxml *x, struct err *err);
int trcxml_trace_end(struct trcxml *x, struct err *err);

/* The infos that are known only now. */
int trcxml_head_finish(struct trcxml *x, struct err *err);

#endif
