/* sites.h - the places in the program that block and wait.
 *
 * A stack is named by two frames - the innermost one that is not the machinery of waiting
 * (trace_site), and the innermost one of the application when that is inside the JDK.  Contexts on
 * locks of one class whose stacks agree in both, line included, are one site. */
#ifndef ORCA_ANALYZE_SITES_H
#define ORCA_ANALYZE_SITES_H

#include "analyze/context.h"
#include "analyze/lock_set.h"

/* A frame as a reader knows it. */
struct place {
    method_id method; /* 0: unknown */
    int32_t line;     /* -1: unknown or native */
    uint32_t near;    /* 1: that of a place near by (FRAMEKIND_NEAR).  Compared as bytes: no bool */
};

struct site {
    uint32_t group;   /* index into lock_set.groups */
    stack_id stack;   /* one of its stacks */
    struct place top; /* innermost frame that is not machinery */
    struct place app; /* innermost frame of the program, where the reader said what that is; else of
                         written code outside the JDK; top when there is none */
};

struct sites {
    struct site *v;
    uint32_t n;
    uint32_t *of_context; /* [contexts->n]: index into v of the context's stack */
    uint32_t *of_owner;   /* [contexts->n]: of its owner's stack; NO_SITE: it was not asked */
};

enum { NO_SITE = UINT32_MAX };

/* Memory is the arena's.  -ENOMEM. */
int sites_init(struct sites *s, const struct trace *t, const struct lock_set *l,
               const struct contexts *c, struct arena *a);

/* The i-th frame of a stack. */
struct place sites_frame(const struct trace *t, const struct trace_stack *s, uint32_t i);

/* Name a stack. */
void sites_name(const struct trace *t, stack_id stack, struct place *top, struct place *app);

/* The class of the innermost frame that is not the machinery of waiting; "": unknown. */
const char *sites_class(const struct trace *t, stack_id stack);

/* Whether two stacks are in one class there, or in classes nested in it; false: unknown. */
bool sites_one_class(const struct trace *t, stack_id x, stack_id y);

/* Whether two classes are of one library, by the first two names of their packages. */
bool sites_one_library(const char *x, const char *y);

/* Whether a class is a thread pool's worker, by its name. */
bool sites_is_workers(const char *signature);

/* As sites_name, of the frames from `first` on; unknown when there are none. */
void sites_name_from(const struct trace *t, const struct trace_stack *s, uint32_t first,
                     struct place *top, struct place *app);

/* Whether the reader said that a class is the program's (trace.app): "shop.Order", "shop" and
 * "shop.*" are the class, the package with all below it; other * and ? stand for any letters. */
bool sites_is_own(const struct trace *t, const char *signature);

/* Whether a class of this signature belongs to the JDK: java.*, javax.*, jdk.*, sun.*. */
bool sites_is_jdk(const char *signature);

#endif
