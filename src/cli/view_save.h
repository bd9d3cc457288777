/* view_save.h - a trace that is viewed, copied to where it stays. */
#ifndef ORCA_CLI_VIEW_SAVE_H
#define ORCA_CLI_VIEW_SAVE_H

#include "attach/jvm.h"
#include "serve/hooks.h"

/* As serve_hooks.save.  jvm: who records it, or NULL. */
int view_save(const char *path, const struct jvm *jvm, const char *to, struct buf *file,
              struct serve_why *why);

#endif
