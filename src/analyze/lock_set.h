/* lock_set.h - the objects that threads wait for, grouped by class.
 *
 * Classes of one name (of several loaders) are one group.  Group 0 holds the locks whose class is
 * not known. */
#ifndef ORCA_ANALYZE_LOCK_SET_H
#define ORCA_ANALYZE_LOCK_SET_H

#include "base/arena.h"
#include "base/err.h"
#include "format/trace.h"

struct lock_group {
    const char *signature; /* "?" in group 0 */
    class_id id;           /* of one of its classes */
};

struct lock_set {
    struct lock_group *groups;
    size_t n_groups;
    uint32_t *group; /* [n_objects], by lock id; 0: unknown */
    size_t n_objects;
};

/* Memory is the arena's, which must outlive it. */
int lock_set_init(struct lock_set *l, const struct trace *t, struct arena *a, struct err *err);

static inline uint32_t lock_set_group(const struct lock_set *l, lock_id id)
{
    return l->group[id.v < l->n_objects ? id.v : 0];
}

#endif
