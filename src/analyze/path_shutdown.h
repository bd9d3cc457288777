/* path_shutdown.h - the critical path, continued over the JVM's shutdown.
 *
 * Shutdown hooks are started by the thread DestroyJavaVM, which no thread starts: it runs when the
 * last thread of the program that is not a daemon has ended, and there the path continues. */
#ifndef ORCA_ANALYZE_PATH_SHUTDOWN_H
#define ORCA_ANALYZE_PATH_SHUTDOWN_H

#include "analyze/path.h"

/* What path_walk says, and before its beginning in DestroyJavaVM the path to the end of the thread
 * that DestroyJavaVM waited for.  -ENOMEM. */
int path_walk_over_shutdown(struct path *out, const struct path_source *src, const struct trace *t,
                            uint32_t thread, uint64_t to, uint64_t from);

#endif
