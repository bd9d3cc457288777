/* model_names.h - what things are called in the exports of the model: threads, classes, frames,
 * waits.  Everything is appended, as valid UTF-8. */
#ifndef ORCA_EXPORT_MODEL_NAMES_H
#define ORCA_EXPORT_MODEL_NAMES_H

#include "analyze/analysis.h"

/* As label_thread has it. */
void names_thread(struct buf *b, const struct analysis *a, uint32_t thread);

/* "shop.Order", of a class group; "unknown class" of group 0. */
void names_class(struct buf *b, const struct analysis *a, uint32_t group);

/* The same of a class. */
void names_class_id(struct buf *b, const struct analysis *a, class_id class_);

/* "blocked on shop.Order", "sleeping", ...; state: enum wait_state. */
void names_wait(struct buf *b, const struct analysis *a, unsigned state, uint32_t group);

/* "input 10.0.0.7:5432", "ready"; what: as in struct still; group: of the other end, 0: unknown. */
void names_halt(struct buf *b, const struct analysis *a, unsigned what, uint32_t group);

/* "shop.Order.submit". */
void names_method(struct buf *b, const struct trace *t, method_id method);

/* The frames of a stack as Java prints them, innermost first, a line each:
 * "shop.Order.submit(Order.java:88)". */
void names_stack(struct buf *b, const struct trace *t, const struct trace_stack *s);

#endif
