/* threads.h - the threads of a dump: their stacks, and the objects that each frame holds.
 *
 * A frame holds what is a root of the dump because of it: its local variables as the JVM saw them,
 * and the JNI local references of native methods.  What belongs to a thread but to no frame stands
 * at THREADS_NO_FRAME.  The order of threads is that of the dump's serial numbers. */
#ifndef ORCA_HEAP_THREADS_H
#define ORCA_HEAP_THREADS_H

#include "heap/retained.h"

#define THREADS_NO_FRAME UINT32_MAX

struct frame_local {
    uint32_t depth;    /* of the frame, the youngest is 0; or THREADS_NO_FRAME */
    uint32_t object;   /* its number */
    uint8_t kind;      /* enum hprof_sub: a Java frame, a JNI local, ... */
    uint64_t size;     /* shallow */
    uint64_t retained; /* 0 without a dominator tree */
};

struct thread_seen {
    const struct dump_thread *thread;
    uint32_t object;  /* number of the Thread object, DUMP_NONE when the dump does not have it */
    const char *name; /* "" when it cannot be read */
    const struct dump_trace *trace; /* NULL: the dump has none */
    uint64_t retained;              /* by the Thread object, with its locals */
    struct frame_local *locals;     /* by depth, then the most retained (or the largest) first;
                                        each object once in a frame */
    size_t n_locals;
};

struct threads_seen {
    struct thread_seen *v; /* most retained first; as in the dump without a dominator tree */
    size_t n;
    struct arena arena;
};

/* Append the name of a Thread object; nothing when it cannot be read. */
void threads_name(struct object_reader *reader, uint32_t object, struct buf *into);

/* Append "shop.Main.run (Main.java:12)"; depth is less than trace->n_frames. */
void threads_put_frame(const struct dump *d, const struct dump_trace *trace, uint32_t depth,
                       struct buf *into);

/* r: NULL without a dominator tree; `reader` is one of its objects, or of the dump's.  -ENOMEM. */
int threads_find(struct threads_seen *out, const struct dump *d, const struct retained *r,
                 struct object_reader *reader, struct err *err);
void threads_fini(struct threads_seen *t);

#endif
