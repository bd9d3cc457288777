/* natives.h - the places in native code that a trace's stacks name, and the stacks with functions
 * in their stead.
 *
 * A place is a method of the trace without a name.  The place of a frame that made a call is a byte
 * of the call: the address behind it may be another function's. */
#ifndef ORCA_SYMBOLS_NATIVES_H
#define ORCA_SYMBOLS_NATIVES_H

#include "base/buf.h"
#include "format/trace.h"

struct native_place {
    uint32_t group; /* the first module of this file; 0: none */
    uint32_t method;
    uint64_t address;
};

/* What stands for a place: frames[first .. first + n). */
struct native_frames {
    uint32_t first, n;
};

struct natives {
    struct trace *t;
    struct native_place *places; /* [n], by group, then by address */
    size_t n;
    struct native_frames *of_place; /* [n_methods] */
    struct buf frames;              /* struct trace_frame [] */
    struct buf added;               /* struct trace_method [], ids from t->n_methods on */
    uint8_t *given;                 /* [n_methods]: 1: it is a function now */
};

/* Find the places.  n == 0: there are none.  -ENOMEM. */
int natives_init(struct natives *v, struct trace *t);
void natives_fini(struct natives *v);

/* Order the places anew, whose groups have changed. */
void natives_sort(struct natives *v);

/* A method for a function that was met at a place: the place's own, or a new one.  *m is what it
 * shall be but for its id.  Id 0: memory is out. */
method_id natives_function(struct natives *v, const struct native_place *p, struct trace_method m);

/* What stands for a place: the frames put since `first` (natives_frames). */
uint32_t natives_frames(const struct natives *v);
void natives_put(struct natives *v, method_id method, uint32_t line);
void natives_end(struct natives *v, const struct native_place *p, uint32_t first);

/* Put the functions into the trace: its methods, its stacks.  After -ENOMEM it is of no use. */
int natives_apply(struct natives *v);

#endif
