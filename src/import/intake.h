/* intake.h - the trace that an importer makes: definitions and events in, an open trace out.
 *
 * Everything is written through format/writer.h into a file without a name, so that every command
 * handles an import like a recording.  Ids are dense and given in the order of first sight, except
 * methods', which the importer chooses.
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
#include "import/scan.h"

enum {
    /* How often the time may go back before an earlier step back was made up for. */
    INTAKE_STREAMS = 256,
    INTAKE_PROBLEMS = 100,
};

struct intake_thread {
    uint32_t hash;
    struct text name; /* in the arena */
};

struct intake_stream;

struct intake {
    const char *name; /* of the import, for messages */
    int fd;
    struct writer writer;
    struct buf defs, packed;
    uint32_t n_defs;
    struct map thread_ids, lock_ids; /* by hash */
    struct intake_thread *threads;   /* [n_threads], by id - 1 */
    size_t n_threads, cap_threads;
    struct digest stacks;
    struct arena names;
    struct intake_stream *streams; /* [INTAKE_STREAMS] */
    size_t n_streams;
    uint64_t n_events, first, last;
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

/* The thread's name from now on, and before. */
int intake_name_thread(struct intake *in, thread_id id, struct text name, struct err *err);

/* The stack of these frames, packed (packed_put_frame); no frames have id 0. */
int intake_stack(struct intake *in, const struct packed *frames, stack_id *id, struct err *err);

/* Any definition but the above. */
int intake_def(struct intake *in, const struct def *d, struct err *err);

int intake_event(struct intake *in, const struct event *e, struct err *err);

/* Something could not be read; offset and damage as in struct trace_problem. */
void intake_note(struct intake *in, uint64_t offset, bool damage, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Write what is left and open it. */
int intake_open(struct intake *in, struct trace **out, struct err *err);

#endif
