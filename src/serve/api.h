/* api.h - the answers about the traces that are open (docs/reference/view-protocol.md, "HTTP").
 *
 * Those of a generation come from view/view.h and never change; state and meta say how things
 * stand. */
#ifndef ORCA_SERVE_API_H
#define ORCA_SERVE_API_H

#include "serve/routes.h"

void api_state(struct core *c, const struct route_hit *hit, struct answer *a);
void api_meta(struct core *c, const struct route_hit *hit, struct answer *a);
void api_tile(struct core *c, const struct route_hit *hit, struct answer *a);
void api_arrows(struct core *c, const struct route_hit *hit, struct answer *a);
void api_path(struct core *c, const struct route_hit *hit, struct answer *a);

/* The answer of view_json that the route's word names. */
void api_json(struct core *c, const struct route_hit *hit, struct answer *a);

#endif
