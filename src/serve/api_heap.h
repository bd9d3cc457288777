/* api_heap.h - the answers about the heap dump that is looked at
 * (docs/reference/heap-protocol.md). */
#ifndef ORCA_SERVE_API_HEAP_H
#define ORCA_SERVE_API_HEAP_H

#include "serve/routes.h"

/* The answer of heap_view_json that the route's word names. */
void api_heap(struct core *c, const struct route_hit *hit, struct answer *a);

#endif
