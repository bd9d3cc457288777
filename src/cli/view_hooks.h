/* view_hooks.h - what the server of orca view may ask of the command, and what it is begun with.
 *
 * Beside a file it may save only; beside a JVM end the recording, too; the start page may
 * everything. */
#ifndef ORCA_CLI_VIEW_HOOKS_H
#define ORCA_CLI_VIEW_HOOKS_H

#include "cli/top_own.h"
#include "cli/view_jvms.h"
#include "cli/view_traces.h"
#include "serve/hooks.h"

enum view_kind { VIEW_FILE, VIEW_JVM, VIEW_START };

struct view_hooks {
    enum view_kind kind;
    const char *app; /* as trace.app */
    bool start, ready;
    struct jvm jvm;     /* VIEW_JVM */
    struct top_own own; /* its recording, when it is ours */
    struct view_jvms jvms;
    struct view_traces traces;
};

int view_hooks_init(struct view_hooks *h, enum view_kind kind, struct err *err);

/* Ends what was begun, and takes it away.  Nothing on one that was not initialised. */
void view_hooks_fini(struct view_hooks *h);

void view_hooks_fill(struct view_hooks *h, struct serve_hooks *out);

/* What to begin with.  A file: a trace or a heap dump; earlier: a heap dump to compare it with, or
 * NULL.  Or a JVM's recording, which is joined or begun. */
int view_hooks_open_file(const struct view_hooks *h, const char *path, const char *earlier,
                         struct serve_opened *out, struct err *err);
int view_hooks_open_jvm(struct view_hooks *h, const struct jvm *jvm, struct serve_source **out,
                        struct err *err);

#endif
