/* resource_field.h - the field that holds what is waited for, by the code around the wait (DEF
 * site): "IndexWriter.commitLock", "Scanner.pool".
 *
 * Of a lock the receiver in the innermost frame that is not the JDK's.  Of a pool or a limit the
 * receiver of the program's call: inside the library the field is the library's own, the same in
 * all pools.  A parameter is what the caller passed, `this` is the object of its call; so callers
 * are followed, as long as one frame is the callee that the next one's code names. */
#ifndef ORCA_CONCLUDE_RESOURCE_FIELD_H
#define ORCA_CONCLUDE_RESOURCE_FIELD_H

#include "base/map.h"
#include "conclude/program.h"

/* Where the code of a trace gets things from, by place. */
struct field_sites {
    const struct program *program;
    struct map at; /* method, bci -> index of the site */
};

/* -ENOMEM; to be finished in any case. */
int field_sites_init(struct field_sites *f, const struct program *p);
void field_sites_fini(struct field_sites *f);

/* How the code calls what a stack waits for: an operand of DEF site, which ends with ';' or a NUL;
 * NULL: not known. */
const char *field_of_lock(const struct field_sites *f, stack_id stack);
const char *field_of_pool(const struct field_sites *f, stack_id stack);

/* The same of an object that the JDK is called on, whatever it locks inside. */
const char *field_of_called(const struct field_sites *f, stack_id stack);

/* Whether a stack's innermost method is synchronized: what it entered says nothing of a monitor that
 * code inside of it gives back. */
bool field_in_synchronized(const struct trace *t, stack_id stack);

/* The JDK's method that takes a lock far from the caller of the JDK, whose receiver then is not the
 * lock: of a logger's handler, of the jar file that a resource is read from; or alone: of the queue
 * of an executor's tasks.  0: the caller of the JDK takes it, as a Hashtable's, or no method of the
 * JDK does. */
method_id lock_taken_inside(const struct trace *t, stack_id stack);

/* Whether a method takes a lock for its caller, by its name: lock, tryUseLock, acquireWriteLock. */
bool lock_is_called_so(const char *method);

/* "org.apache.lucene.index.IndexWriter.commitLock", "shop.Stock.lock()", "shop.Stock.class",
 * "shop.Stock.stripes[]"; simple: without packages.  At most n bytes with the NUL. */
void field_text(const char *field, bool simple, char *out, size_t n);

#endif
