/* lock_set.h - the objects that threads wait for, grouped by class.
 *
 * Classes of one name (of several loaders) are one group.  An object of which only the hash is
 * known, as in text formats, is a separate group, while there are not too many of them; group 0
 * holds the others of unknown class.  A condition by which a queue or barrier of
 * java.util.concurrent lets threads wait has the class of that queue or barrier: its own says
 * nothing. */
#ifndef ORCA_ANALYZE_LOCK_SET_H
#define ORCA_ANALYZE_LOCK_SET_H

#include "analyze/context.h"
#include "base/arena.h"
#include "base/err.h"
#include "format/trace.h"

struct lock_group {
    const char *signature; /* "?" in group 0; "@7852E922": an object by its hash */
    class_id id;           /* of one of its classes */
};

struct lock_set {
    struct lock_group *groups;
    size_t n_groups;
    uint32_t *group; /* [n_objects], by lock id; 0: unknown */
    size_t n_objects;
};

enum { LOCK_SET_OBJECTS = 1000 /* groups of one object at most */ };

static inline bool lock_group_is_object(const struct lock_group *g)
{
    return g->signature[0] == '@';
}

/* Memory is the arena's, which must outlive it. */
int lock_set_init(struct lock_set *l, const struct trace *t, struct arena *a, struct err *err);

/* Name the conditions by the stacks that wait for them.  -ENOMEM. */
int lock_set_name_conditions(struct lock_set *l, const struct trace *t, const struct contexts *c);

/* Whether it is a condition of a lock of the JDK. */
bool lock_is_condition(const struct trace *t, lock_id lock);

static inline uint32_t lock_set_group(const struct lock_set *l, lock_id id)
{
    return l->group[id.v < l->n_objects ? id.v : 0];
}

#endif
