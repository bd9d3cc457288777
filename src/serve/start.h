/* start.h - the answers of the start page: JVMs and recent traces, attach, stop, save, open.
 *
 * Takes the questions' JSON apart; what they ask for the command does (hooks.h). */
#ifndef ORCA_SERVE_START_H
#define ORCA_SERVE_START_H

#include "serve/routes.h"

void start_list(struct core *c, const struct route_hit *hit, struct answer *a);
void start_attach(struct core *c, const struct route_hit *hit, struct answer *a);
void start_stop(struct core *c, const struct route_hit *hit, struct answer *a);
void start_save(struct core *c, const struct route_hit *hit, struct answer *a);
void start_open(struct core *c, const struct route_hit *hit, struct answer *a);

#endif
