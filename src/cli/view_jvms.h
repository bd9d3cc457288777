/* view_jvms.h - JVMs from the start page: which there are, attach, stop.
 *
 * What was attached to here is detached from at the end.  Any thread; attaching, one at a time. */
#ifndef ORCA_CLI_VIEW_JVMS_H
#define ORCA_CLI_VIEW_JVMS_H

#include "attach/jvm.h"
#include "serve/hooks.h"

#include <limits.h>
#include <pthread.h>

enum { VIEW_ATTACHED_MAX = 32 };

struct view_jvms {
    pthread_mutex_t lock;
    struct {
        struct jvm jvm;
        char path[PATH_MAX]; /* as the JVM knows it */
    } attached[VIEW_ATTACHED_MAX];
    size_t n;
    _Atomic uint64_t changes;
};

int view_jvms_init(struct view_jvms *j);

/* Detaches. */
void view_jvms_fini(struct view_jvms *j);

/* Append the list as JSON. */
int view_jvms_put(struct buf *out, struct err *err);

/* The event groups, and the ones taken by default. */
void view_jvms_put_choices(struct buf *out);

/* As in serve_hooks. */
uint64_t view_jvms_stamp(struct view_jvms *j);
int view_jvms_attach(struct view_jvms *j, const struct serve_attach *a, const char *app,
                     struct serve_source **out, struct serve_why *why);
int view_jvms_stop(struct view_jvms *j, uint32_t pid, struct buf *file, struct serve_why *why);

/* -EBUSY: the JVM is stopped, and would not answer. */
int view_jvms_check(const struct jvm *jvm, struct err *err);

/* The file that a JVM is recorded into, as it is from here (PATH_MAX).  False: it is not recorded,
 * or does not answer within this time. */
int view_jvms_recording(const struct jvm *jvm, uint64_t timeout_ns, char *path, struct err *err);

#endif
