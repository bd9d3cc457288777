/* sites.h - the places in the program that block and wait.
 *
 * While events come in, counts are kept per (class group, stack).  sites_list then names each stack
 * by two frames - the innermost one that is not the machinery of waiting (trace_site), and the
 * innermost one of the application when that is inside the JDK - and adds up the stacks that agree
 * in both, line included. */
#ifndef ORCA_ANALYZE_SITES_H
#define ORCA_ANALYZE_SITES_H

#include "analyze/lock_set.h"
#include "base/map.h"

struct site_stats {
    uint64_t count, ns, max;
};

/* A frame as a reader knows it. */
struct place {
    method_id method; /* 0: unknown */
    int32_t line;     /* -1: unknown or native */
};

struct site {
    uint32_t group;   /* index into locks.classes; UINT32_MAX: of every class */
    stack_id stack;   /* one of its stacks */
    struct place top; /* innermost frame that is not machinery */
    struct place app; /* innermost frame outside the JDK; the same as top when there is none */
    struct site_stats blocked, waited;
};

struct site_cell;

struct sites {
    struct arena *arena;
    const struct trace *trace;
    const struct lock_set *locks;
    struct buf cells;  /* struct site_cell [] */
    struct map places; /* stack, group -> 1 + index of the cell */
    uint32_t *recent;  /* [n_stacks], by stack id: 1 + index of the cell used last */
    size_t n_stacks;
};

enum { EVERY_CLASS = UINT32_MAX };

int sites_init(struct sites *s, const struct trace *t, const struct lock_set *l, struct arena *a,
               struct err *err);
void sites_fini(struct sites *s);

/* The sink; self is a struct sites. */
int sites_take(void *self, const struct interval *v, size_t n);

/* The sites of one class group or of EVERY_CLASS, most blocked time first, then most waited time.
 * *out is the arena's. */
int sites_list(const struct sites *s, uint32_t group, struct site **out, size_t *n);

/* Whether a class of this signature belongs to the JDK: java.*, javax.*, jdk.*, sun.*. */
bool sites_is_jdk(const char *signature);

#endif
