/* trace.h - reading a trace: definitions as tables, events as streams.
 *
 * trace_open reads the file's chunk headers and every definition; events stay in the file until an
 * iterator decodes them, so a trace larger than memory can be read.  A file that is still growing,
 * was cut, or is damaged opens all the same: what can be read is there, and `problems` says what is
 * not.
 *
 * Several iterators may be open at the same time, but a trace and its iterators belong to one
 * thread.  Every pointer in it lives until trace_close. */
#ifndef ORCA_FORMAT_TRACE_H
#define ORCA_FORMAT_TRACE_H

#include "base/arena.h"
#include "format/chunk.h"

#include <stdbool.h>

struct trace_thread {
    thread_id id;
    uint32_t flags, hash, os_tid; /* THREAD_* */
    uint64_t java_tid;
    const char *name, *group, *parent_group;
};

struct trace_class {
    class_id id;
    uint32_t hash;
    const char *signature; /* Ljava/lang/Object; */
    const char *source;    /* "" when the class file names none */
};

/* What holds from a place of a method's code on, in the order of these places. */
struct bci_table {
    const struct bci_entry {
        uint32_t bci, value;
    } * v;
    uint32_t n;
};

struct trace_method {
    method_id id;
    class_id class_;
    uint32_t flags; /* METHOD_* */
    const char *name, *signature;
    struct bci_table lines;
    struct bci_table moved; /* see DEF method */
    module_id module;       /* of METHOD_NATIVE_CODE */
    uint64_t address;       /* likewise: of the place; of the function once it has a name */
    const char *source;     /* likewise: its file; NULL: the class's, if any */
};

struct trace_module {
    module_id id;
    const char *path, *build_id; /* "[vdso]", "[kernel]"; hexadecimal or "" */
    uint64_t bias, begin, end;
};

struct trace_gc_name {
    gc_name_id id;
    const char *text; /* "?": not known */
};

struct trace_frame {
    method_id method;
    int32_t bci; /* -1: native method, or not known; in native code its source line, or -1 */
};

struct trace_stack {
    stack_id id;
    uint32_t flags, n_frames;         /* STACK_TRUNCATED */
    const struct trace_frame *frames; /* innermost first */
    const uint8_t *kinds;             /* [n_frames], see FRAMEKIND_UNKNOWN; NULL: not known */
};

struct trace_lock {
    lock_id id;
    class_id class_;
    uint32_t hash;
    uint64_t object; /* its number in the events of the heap profiler; 0: it has none */
};

struct trace_site { /* see DEF site */
    uint32_t id, bci;
    method_id method;
    const char *from;
};

struct trace_call {
    call_id id;
    const char *name; /* "ReentrantLock.lock" */
    const char *class_signature, *method;
    const char *row; /* of its method table (call_table.h); "": an older trace */
};

struct trace_info {
    const char *key, *value;
};

/* Something in the file that could not be read. */
struct trace_problem {
    uint64_t offset;
    bool damage;    /* false: the file is merely unfinished */
    char text[200]; /* "chunk 12 at 0x4f000: bad checksum, 1,234 events lost" */
};

/* Where a block is; blocks of one stream are in time order in `blocks`. */
struct trace_block {
    struct block b;
    uint32_t chunk;    /* index into chunks */
    uint32_t raw_from; /* in the chunk's raw payload */
};

struct trace_chunk {
    uint64_t offset;
    struct chunk_header h;
};

struct trace_stream {
    uint32_t id;           /* as in the file */
    uint32_t first, count; /* its blocks: blocks[first .. first + count) */
};

struct trace {
    const char *path;
    int fd;
    struct file_header header;
    struct arena arena;
    const char *app; /* the program's classes, "shop.*,com.acme" (analyze/sites.h); of the caller;
                      * NULL: not given */

    struct trace_info *infos;
    size_t n_infos;
    uint64_t loss[LOSS_LIMIT]; /* events lost, by cause */

    /* Indexed by id; [0] and ids without a definition are the "unknown" entry.  n_*: table
     * lengths. */
    struct trace_thread *threads;
    struct trace_class *classes;
    struct trace_method *methods;
    struct trace_stack *stacks;
    struct trace_lock *locks;
    struct trace_call *calls;
    struct trace_module *modules;
    struct trace_gc_name *gc_names;
    struct trace_site *sites;
    size_t n_threads, n_classes, n_methods, n_stacks, n_locks, n_calls, n_modules, n_gc_names,
        n_sites;

    struct trace_chunk *chunks; /* in the order of seq */
    size_t n_chunks;
    struct trace_block *blocks; /* by stream, then by position */
    size_t n_blocks;
    struct trace_stream *streams;
    size_t n_streams;

    uint64_t n_put;       /* events ever written to the file, overwritten ones included */
    uint64_t n_events;    /* in readable chunk headers */
    uint64_t first, last; /* times of the earliest and latest event; both 0 when there is none */
    uint64_t since;       /* events before are passed over (trace_keep_part); 0: none */
    uint64_t until;       /* events from here on are passed over; 0: none */
    bool complete;        /* closed, recovered or stopped: nothing more will be appended */
    bool overtaken;       /* chunks were overwritten by the recording while they were read */

    struct trace_problem *problems;
    size_t n_problems; /* kept: at most 100 */
    size_t n_damaged;  /* of all problems, those that are damage */
};

/* Open a .otrace.  On failure *out is NULL and err names the file.  Errors: -ENOENT and other
 * open(2) errors, -EINVAL (not a trace), -ENOTSUP (other version), -ENOMEM. */
int trace_open(struct trace **out, const char *path, struct err *err);

/* The same from an open descriptor, which trace_close closes; `name` is used in messages. */
int trace_open_fd(struct trace **out, int fd, const char *name, struct err *err);

void trace_close(struct trace *t);

/* For a first look at a large trace: forget what comes after a moment, as if the recording had come
 * only so far.  The moment is the latest one for which at most `events` need to be read; nothing of
 * what was before it is missing, in whatever order the chunks stand.  The definitions stay.  False:
 * nothing was changed, since the beginning would be all, or next to nothing.  Before anything was
 * read; not of a flight recorder's file, whose chunks are a circle. */
bool trace_keep_beginning(struct trace *t, uint64_t events);

/* Forget what comes before a moment, 0: nothing, and from another one on, as if that part had been
 * recorded alone: for looks at a recording that goes on.  Nothing of the part may be missing in the
 * file.  The definitions stay.  Before anything was read. */
void trace_keep_part(struct trace *t, uint64_t since, uint64_t until);

/* The earliest moment from which on the trace has at most about that number of events; 0: all of
 * it. */
uint64_t trace_tail(const struct trace *t, uint64_t events);

/* Add to t->problems, for readers of formats that are turned into a trace. */
void trace_note(struct trace *t, uint64_t offset, bool damage, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Ids are dense by contract, but may have holes: a reader takes none from here on where there are
 * `defs` definitions of a kind. */
static inline size_t trace_id_limit(size_t defs)
{
    return defs * 4 + 65536;
}

/* The definition of an id; for 0 and for ids without one, an entry with id 0 and the name "?".
 * Never NULL. */
const struct trace_thread *trace_thread(const struct trace *t, thread_id id);
const struct trace_class *trace_class(const struct trace *t, class_id id);
const struct trace_method *trace_method(const struct trace *t, method_id id);
const struct trace_stack *trace_stack(const struct trace *t, stack_id id);
const struct trace_lock *trace_lock(const struct trace *t, lock_id id);
const struct trace_call *trace_call(const struct trace *t, call_id id);
const struct trace_module *trace_module(const struct trace *t, module_id id);
const struct trace_gc_name *trace_gc_name(const struct trace *t, gc_name_id id);

/* A method's name: "shop.Order.submit"; native code: "libjvm.so!JVM_Sleep", without a name
 * "libjvm.so+0x1a2b", in no file "0x7f0012345678"; code that the JVM made: "[Interpreter]";
 * "unknown" for an id without a definition.  At most n bytes with the NUL. */
void trace_method_text(const struct trace *t, method_id id, char *out, size_t n);

/* Whether it is a method of Java, and how many frames of a stack are: the text formats know no
 * others. */
bool trace_method_is_java(const struct trace_method *m);
uint32_t trace_java_frames(const struct trace *t, const struct trace_stack *s);

/* The signature of the class that declares it. */
const char *trace_method_class(const struct trace *t, method_id id);

/* The source file of a method, "" when it is not known. */
const char *trace_method_source(const struct trace *t, method_id id);

/* The value of a DEF info, or `otherwise`. */
const char *trace_info(const struct trace *t, const char *key, const char *otherwise);

/* Stretches in which the file could not be written, because its disk was full: how often, how long
 * in all.  Also the one that went on until the end. */
#define TRACE_UNWRITTEN_INFO "orca.unwritten" /* TIMES NS */
struct trace_unwritten {
    uint64_t times, ns;
};
struct trace_unwritten trace_unwritten(const struct trace *t);

/* Whether the events stand in the order in which the JVM did what they tell, so that wait sets can
 * be followed: it was recorded here, or imported from a text of ours that says so by this info. */
#define TRACE_ORDER_INFO "orca.order"
#define TRACE_ORDER_RECORDED "recorded"
#define TRACE_ORDER_BARE "bare" /* the same, of a text that has no time-outs and no interrupts */
bool trace_is_in_order(const struct trace *t);
bool trace_order_is_bare(const struct trace *t);

/* Events lost, by all causes; and events that are there without their stack or lock. */
uint64_t trace_lost(const struct trace *t);
uint64_t trace_lost_details(const struct trace *t);

/* A place in a method's code as its class file has it, where the recorder had rewritten that. */
uint32_t trace_class_file_bci(const struct trace_method *m, uint32_t bci);

/* Source line of a frame, or -1 when it is not known. */
int32_t trace_line(const struct trace *t, struct trace_frame f);

/* The innermost frame that is not the machinery of waiting itself (Object.wait, Unsafe.park and
 * what lies between it and its caller, java.util.concurrent.locks); index into s->frames, 0 when
 * there is no other. */
uint32_t trace_site(const struct trace *t, const struct trace_stack *s);

/* The "class" of what is at the other end of input or output: its name behind the sign. */
static inline bool trace_is_peer(const char *signature)
{
    return signature[0] == '=';
}

/* "Ljava/util/Map$Entry;" -> "java.util.Map$Entry", "[I" -> "int[]"; at most n bytes with the
 * NUL. */
void trace_class_name(const char *signature, char *out, size_t n);

/* Seconds since the recording began; negative before it. */
/* Whether it is in a native method of Java.  A method of which the place is not known is none. */
bool trace_frame_is_native(const struct trace *t, struct trace_frame f);

/* The last moment that it covers: its end, or, while it is being recorded, the moment up to which
 * everything is in the file. */
uint64_t trace_end(const struct trace *t);

double trace_seconds(const struct trace *t, uint64_t time);

/* --- events ----------------------------------------------------------------------------------- */

struct trace_iter;

/* Every event of the trace in time order (equal times: by stream).  Problems met on the way (a
 * chunk with a bad checksum) are appended to t->problems and skipped. */
int trace_iter_open(struct trace_iter **out, struct trace *t, struct err *err);

/* The events of one stream (an OS thread; index into t->streams), in order; cheaper than the
 * merge. */
int trace_iter_open_stream(struct trace_iter **out, struct trace *t, size_t stream,
                           struct err *err);

/* Every event, block by block: the events of each stream in order, the streams in turns of a block.
 * The cheapest way through a trace, because each chunk is unpacked once (a chunk in which a stream
 * runs ahead of an earlier part of itself, a second time). */
int trace_iter_open_blocks(struct trace_iter **out, struct trace *t, struct err *err);

/* 1 and *e, 0 at the end, or a negative errno.  *stream (may be NULL): index into t->streams. */
int trace_iter_next(struct trace_iter *it, struct event *e, size_t *stream, struct err *err);

void trace_iter_close(struct trace_iter *it);

#endif
