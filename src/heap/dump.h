/* dump.h - what is in a heap dump: names, classes, objects, roots, threads and their stacks.
 *
 * dump_open reads the file once, with several threads, and keeps of it what does not grow with the
 * heap, and the set of object ids (heap/ids.h).  The objects themselves stay in the file; see
 * heap/objects.h for reading one of them, dump_each for all.
 *
 * Objects have dense numbers, 0..n_objects-1 in the order of their ids; the Class objects are among
 * them.  Classes also have dense numbers, 0..n_classes-1, those of the dump in the order of ids,
 * and then those that the dump names without describing them.
 *
 * A truncated or damaged dump is not an error: what can be read is there, `missing` says what is
 * not, and `problems` what is wrong where.  After dump_open everything is read only, so any number
 * of threads may use it. */
#ifndef ORCA_HEAP_DUMP_H
#define ORCA_HEAP_DUMP_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "heap/hprof.h"
#include "heap/ids.h"
#include "heap/object_size.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DUMP_NONE UINT32_MAX /* no object, no class, no trace */

/* Depth of super classes; deeper ones are ignored. No program has as many, and each is visited for
 * each class below. */
enum { DUMP_DEPTH_MAX = 256 };

struct dump_field {
    const char *name;
    uint8_t type;    /* enum hprof_type */
    uint32_t offset; /* in the body of an instance of exactly this class; of an instance of a
                        subclass: behind what these classes have */
};

struct dump_static {
    const char *name;
    uint8_t type;
    uint64_t value; /* its bits; an object: its id */
};

struct dump_class {
    uint64_t id;                      /* of the Class object; 0: the dump has none */
    uint64_t loader, signers, domain; /* ids of objects, 0: none */
    uint64_t
        offset; /* of the record that describes it: another one of the same id does not count */
    uint32_t number;
    uint32_t super;   /* class number or DUMP_NONE */
    const char *name; /* as in Java: java.lang.String, byte[], shop.Order$Line[][] */
    bool described;   /* by a class dump: its own fields are known */
    bool complete;    /* and those of all its super classes */
    uint8_t element;  /* arrays: enum hprof_type of the elements; else 0 */
    uint32_t n_fields, n_statics;
    const struct dump_field *fields; /* its own, not those of its super classes */
    const struct dump_static *statics;
    uint32_t own_len;      /* bytes of its own fields */
    uint32_t body_len;     /* bytes of an instance's body: own fields, then those of the supers */
    uint32_t size;         /* of an instance in the heap (shallow), arrays: 0 */
    uint32_t mirror_size;  /* of the Class object, with its statics */
    uint64_t count, bytes; /* instances, and what they take in the heap */
};

struct dump_root {
    uint64_t id;
    uint8_t kind; /* enum hprof_sub */
    uint32_t thread, depth;
};

struct dump_frame {
    uint64_t id;
    const char *method, *signature, *source; /* "" when unknown */
    uint32_t class_number;                   /* or DUMP_NONE */
    int32_t line;                            /* > 0; -1 unknown, -2 compiled, -3 native */
};

struct dump_trace {
    uint32_t serial, thread; /* serial numbers */
    uint32_t n_frames;
    const uint32_t *frames; /* numbers in dump.frames, DUMP_NONE for one that is missing; the
                               youngest first */
};

struct dump_thread {
    uint64_t id;      /* of the Thread object */
    uint32_t serial;  /* as roots name it */
    uint32_t trace;   /* number in dump.traces, or DUMP_NONE */
    const char *name; /* NULL: only the object says it */
};

struct dump_problem {
    uint64_t offset;
    char text[256]; /* "offset 0x...: what", with what to do */
};

/* What a dump does not have and a whole one has; heap/missing.h says what that means. */
struct dump_missing {
    bool end;        /* the file, or what of it can be decompressed, stops before the dump does: */
    uint64_t end_at; /* at this offset */
    uint64_t damaged, damaged_at; /* parts that were left out; where the first one begins */
    bool roots;                   /* there is none */
    uint32_t classes;             /* whose fields are not known, as it or a super class is not */
    uint64_t instances;           /* described, and the objects that are of such classes */
    uint64_t names;               /* of classes and fields */
};

/* A part of the file that one thread reads by itself. */
struct dump_piece {
    uint64_t from, to;
    uint64_t segment_end; /* `from` is a sub-record of a heap dump that ends here; 0: a record */
};

enum { DUMP_PROBLEMS = 8 };

/* Calls of long work: bytes done and to be done (0: unknown).  From one thread at a time. */
typedef void (*dump_progress_fn)(void *ctx, uint64_t done, uint64_t total);

struct dump_options {
    unsigned workers; /* threads; 0: workers_default() */
    bool counts_only; /* no set of ids: enough for the histogram */
    dump_progress_fn progress;
    void *progress_ctx;
};

struct dump {
    const char *path;
    uint32_t id_size, version;
    uint64_t time_ms;            /* when it was made, since 1970 */
    uint64_t disk_size;          /* bytes of the file */
    uint64_t size;               /* and without compression */
    struct object_layout layout; /* zeros where sizes are stated */
    bool stated; /* it was XML (xml_dump.h): sizes are stated, and it has references only */

    struct dump_class *classes;
    uint32_t n_classes;
    uint32_t *class_order;                  /* class numbers, each behind its super class */
    uint32_t class_class, string_class;     /* java.lang.Class, java.lang.String; or DUMP_NONE */
    uint32_t primitive_arrays[HPROF_TYPES]; /* class numbers of byte[] ...; always there */
    uint64_t objects_count, objects_bytes;  /* sums of the classes */

    struct ids ids;
    uint32_t n_objects; /* 0 with counts_only */

    struct dump_root *roots; /* sorted by id; an object may have several */
    size_t n_roots;
    struct dump_thread *threads;
    size_t n_threads;
    struct dump_frame *frames;
    size_t n_frames;
    struct dump_trace *traces;
    size_t n_traces;

    bool partial; /* something is missing: */
    struct dump_missing missing;
    struct dump_problem problems[DUMP_PROBLEMS]; /* in the order of offsets */
    size_t n_problems;                           /* those that are kept */
    uint64_t more_problems;                      /* and those that are not */

    struct dump_options options;
    struct hprof head; /* readers are made from it with hprof_clone */
    struct hprof_file *file;
    struct dump_piece *pieces; /* the file, in order */
    size_t n_pieces;
    bool beyond;         /* the last record is longer than what the file has of it */
    struct arena arena;  /* names and tables */
    struct buf names;    /* const char *: the names of fields, methods and so on, each once */
    struct map name_of;  /* hash of a name -> number in names + 1 */
    struct map field_of; /* class number << 32 | number of a name -> number of the own field + 1 */
};

/* Open a dump.  A file that is not a heap dump, and errors of the system, are errors with the
 * file's name. */
int dump_open(struct dump **out, const char *path, const struct dump_options *options,
              struct err *err);
void dump_close(struct dump *d);

/* Whether the file begins as a heap dump does; errors as of dump_open. */
int dump_check(const char *path, struct err *err);

/* --- classes ---------------------------------------------------------------------------------- */

/* The class whose Class object has this id, or NULL. */
const struct dump_class *dump_class_by_id(const struct dump *d, uint64_t id);

/* The first class of this Java name, or NULL. */
const struct dump_class *dump_class_by_name(const struct dump *d, const char *name);

/* Whether `c` is the class named or one of its subclasses. */
bool dump_class_is(const struct dump *d, const struct dump_class *c, const char *name);

/* The field of this name in class `declaring` as it lies in the body of an instance of `c`: its
 * offset there and in *type its type; -1 when there is none.  declaring NULL: the nearest class of
 * `c` and its supers that has such a field. */
int64_t dump_field_at(const struct dump *d, const struct dump_class *c, const char *declaring,
                      const char *name, uint8_t *type);

/* The class's own field of this name, the first of several; NULL: it has none. */
const struct dump_field *dump_own_field(const struct dump *d, const struct dump_class *c,
                                        const char *name);

/* Visit every field of an instance of `c` in the order of its body: own fields, then the supers'.
 * Begin with {.c = c}; false at the end. */
struct dump_field_walk {
    const struct dump_class *c;
    uint32_t next, offset;
    const struct dump_field *field; /* the current one */
    const struct dump_class *of;    /* who declares it */
    uint32_t at;                    /* its offset in the body */
};
bool dump_field_next(const struct dump *d, struct dump_field_walk *w);

/* The class of an item of the heap (instance, array, class), as a number; DUMP_NONE for none. */
uint32_t dump_item_class(const struct dump *d, const struct hprof_item *it);

/* What the item takes in the heap, in bytes. */
uint64_t dump_item_size(const struct dump *d, const struct hprof_item *it);

/* --- threads ---------------------------------------------------------------------------------- */

/* The thread of a serial number, or NULL. */
const struct dump_thread *dump_thread_by_serial(const struct dump *d, uint32_t serial);

/* --- all objects ------------------------------------------------------------------------------ */

/* Called for each item, in the order of the file within a piece; the reader stands at the item's
 * body.  0, or a negative errno, which ends the pass.  Threads: one worker each. */
typedef int (*dump_item_fn)(void *ctx, unsigned worker, struct hprof *h,
                            const struct hprof_item *it);

/* Read the whole dump again, as many pieces at once as there are workers.  What is damaged is left
 * out, the same as in dump_open. */
int dump_each(const struct dump *d, dump_item_fn fn, void *ctx, struct err *err);

/* The workers that dump_each has. */
unsigned dump_workers(const struct dump *d);

#endif
