/* arrows.h - who let whom go on: the interactions of a view, by the time of their effect.
 *
 * An arrow leads from an act of one thread to the end of a wait, the start, or the run of a task of
 * another one: the interactions that bindings.sums counts, each once. */
#ifndef ORCA_VIEW_ARROWS_H
#define ORCA_VIEW_ARROWS_H

#include "view/view_parts.h"

struct arrow {
    uint64_t from_time, to_time;
    uint64_t wait_ns; /* of the wait that it ended; else from its act to its effect */
    uint32_t from, to;
    uint32_t index; /* of the wait that it ended, in `to`; NO_WAIT: none */
    uint8_t how;    /* enum interaction */
};

#define NO_WAIT UINT32_MAX

/* Negative: stop, and return it. */
typedef int arrow_visitor(void *self, const struct arrow *x);

/* Every arrow with its effect from `from` to before `to`, thread by thread, each one's in the order
 * of time; then the starts of threads; then the tasks. */
int arrows_visit(const struct view *v, uint64_t from, uint64_t to, arrow_visitor *visit,
                 void *self);

/* Keep the answers of all tiles with too many waits to bundle quickly. Without memory they are made
 * when they are asked for. */
void arrows_prepare(struct view *v);

#endif
