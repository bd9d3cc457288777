/* program.h - whose code a class is: the JDK's, a library's, or the program's own.
 *
 * A reader can change the program; so a conclusion names a line of it.  The program's classes are
 * those that share the package of its main class (the first two names of it; all of a library whose
 * main it is), which stands at the outer end of the main thread's stacks, or in sun.java.command;
 * or what the reader says (trace.app).
 * Without a main class of its own (a server that loads programs) they are whatever neither the JDK
 * nor a known library has (libraries.def). */
#ifndef ORCA_CONCLUDE_PROGRAM_H
#define ORCA_CONCLUDE_PROGRAM_H

#include "analyze/sites.h"
#include "base/arena.h"

#include <stdatomic.h>

enum code {
    CODE_JDK,     /* also what the JVM makes: proxies, hidden classes of lambdas */
    CODE_LIBRARY, /* of a known library */
    CODE_OTHER,   /* of unknown origin: the program's, if nothing else is */
    CODE_PROGRAM,
};

struct program {
    const struct trace *trace;
    uint8_t *of_class;         /* [n_classes]: enum code */
    bool known;                /* some are the program's for certain */
    bool *workers;             /* [n_stacks]: program_is_workers */
    _Atomic uint8_t *for_work; /* [n_stacks]: program_waits_for_work: 0: not asked yet, 1: no */
};

/* Memory is the arena's.  -ENOMEM. */
int program_make(struct program *p, const struct trace *t, struct arena *a);

enum code program_code(const struct program *p, method_id method);

/* Whether a class, "com/zaxxer/hikari/HikariPool", is of a known library. */
bool program_is_librarys(const char *name);

/* The innermost frame of the program, else of unknown origin; method 0: none. */
struct place program_place(const struct program *p, stack_id at);

/* Of the frames around it, the innermost of the program in another class; method 0: none. */
struct place program_caller(const struct program *p, stack_id at);

/* The innermost frame outside the JDK, and the outermost; method 0: none. */
struct place program_library(const struct program *p, stack_id at);
struct place program_outermost(const struct program *p, stack_id at);

/* Whether a stack has a frame of the program or of unknown origin. */
static inline bool program_is_in(const struct program *p, stack_id at)
{
    return program_place(p, at).method.v != 0;
}

/* Whether the frames around all that is not the JDK's are those of a pool's worker: one that had no
 * task to wait for while it was recorded is known by them alone. */
static inline bool program_is_workers(const struct program *p, stack_id at)
{
    return at.v < p->trace->n_stacks && p->workers[at.v];
}

/* Whether two methods are of one library, by the first two names of their packages. */
bool program_one_library(const struct program *p, method_id x, method_id y);

/* io_waits_for_work, which is asked for each call of input and output.  Thread-safe. */
bool program_waits_for_work(const struct program *p, stack_id at);

#endif
