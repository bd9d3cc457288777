/* path_tile.h - critical paths that were asked for, kept while they may be asked for again. */
#ifndef ORCA_VIEW_PATH_TILE_H
#define ORCA_VIEW_PATH_TILE_H

#include "analyze/analysis.h"

#include <pthread.h>

enum { PATHS_KEPT = 4 };

struct kept_path {
    struct path path;
    uint32_t thread;
    uint64_t to;
    unsigned users;
    bool kept; /* else the last user frees it */
};

struct path_cache {
    pthread_mutex_t guard;
    struct kept_path *v[PATHS_KEPT]; /* asked for last first; NULL behind them */
};

void path_cache_init(struct path_cache *c);
void path_cache_fini(struct path_cache *c);

/* The path to a thread at a time; to be given back with path_cache_release.  -ENOMEM. */
int path_cache_get(struct path_cache *c, const struct analysis *a, uint32_t thread, uint64_t to,
                   struct kept_path **out);
void path_cache_release(struct path_cache *c, struct kept_path *p);

#endif
