/* intake.h - the trace that an importer makes: definitions and events in, an open trace out.
 *
 * Everything is written through format/writer.h into a file without a name, so that every command
 * handles an import like a recording.  Ids are given in the order of first sight, or are those of
 * the file where it has some (id_space.h); methods' the importer chooses.
 *
 * Events may come in any order of time: each goes to the first stream that has not passed its time
 * yet, so that a file in order is one stream, and events of the same time stay in the order of the
 * file. */
#ifndef ORCA_IMPORT_INTAKE_H
#define ORCA_IMPORT_INTAKE_H

#include "base/arena.h"
#include "base/map.h"
#include "format/trace.h"
#include "format/writer.h"
#include "import/digest.h"
#include "import/id_space.h"
#include "import/scan.h"

enum {
    /* How often the time may go back before an earlier step back was made up for. */
    INTAKE_STREAMS = 256,
    INTAKE_PROBLEMS = 100,
};

struct intake_thread {
    bool used;      /* else this id is free */
    bool undefined; /* nothing is known of it, so that no definition is put */
    bool called;    /* some thread has called its start */
    uint64_t first; /* its first event; 0: none, */
    uint64_t ended; /* and its end; 0: none */
    uint64_t acted; /* when it first started a thread, or ended; 0: never */
    uint32_t hash, flags;
    struct text name, group, parent_group; /* in the arena */
};

struct intake_stream;

struct intake {
    const char *name; /* of the import, for messages */
    int fd;
    struct writer writer;
    struct buf defs, packed;
    uint32_t n_defs;
    struct map threads_by_hash, locks_by_hash; /* -> ids */
    struct id_space thread_ids, lock_ids;
    struct intake_thread *threads; /* [n_threads], by id */
    size_t n_threads, cap_threads;
    struct digest stacks;
    struct arena names;
    struct intake_stream *streams; /* [INTAKE_STREAMS] */
    size_t n_streams;
    size_t waiting; /* bytes in the streams */
    uint64_t n_events, first, last;
    uint64_t start, end; /* of the recording, where the file says; 0: its first, last event */
    bool dated;          /* times are ns since 1970 */
    bool daemons_unsaid; /* the file does not say which threads are daemons */
    enum trace_state state;
    struct trace_problem *problems; /* [INTAKE_PROBLEMS] */
    size_t n_problems, n_damaged;
};

/* A failed init needs no fini. */
int intake_init(struct intake *in, const char *name, struct err *err);

/* Releases what intake_open has not taken. */
void intake_fini(struct intake *in);

/* The thread or object of a hash; 0, which stands for "unknown", has id 0.  -ENOMEM as err. */
int intake_thread(struct intake *in, uint32_t hash, thread_id *id, struct err *err);
int intake_lock(struct intake *in, uint32_t hash, lock_id *id, struct err *err);

/* A thread or an object of its own, with the id `want` where that can be; 0: any.  The thread's
 * fields are the caller's to set (intake_get_thread), and so is the object's definition to put. */
int intake_new_thread(struct intake *in, uint64_t want, thread_id *id, struct err *err);
int intake_new_lock(struct intake *in, uint64_t want, lock_id *id, struct err *err);

/* The thread that has this id, until the next new one; NULL: there is none. */
struct intake_thread *intake_get_thread(struct intake *in, thread_id id);

/* A copy of a text that lives as long as the intake. */
int intake_keep(struct intake *in, struct text text, struct text *kept, struct err *err);

/* The thread's name from now on, and before. */
int intake_name_thread(struct intake *in, thread_id id, struct text name, struct err *err);

/* The stack of these frames, packed (packed_put_frame); no frames have id 0.  flags: STACK_*. */
int intake_stack(struct intake *in, const struct packed *frames, uint32_t flags, stack_id *id,
                 struct err *err);

/* Any definition but the above. */
int intake_def(struct intake *in, const struct def *d, struct err *err);

int intake_event(struct intake *in, const struct event *e, struct err *err);

/* Something could not be read; offset and damage as in struct trace_problem. */
void intake_note(struct intake *in, uint64_t offset, bool damage, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Write what is left and open it. */
int intake_open(struct intake *in, struct trace **out, struct err *err);

#endif
