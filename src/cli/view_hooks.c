#include "cli/view_hooks.h"

#include "base/log.h"
#include "base/util.h"
#include "cli/target.h"
#include "cli/view_file.h"
#include "cli/view_heap.h"
#include "cli/view_recent.h"
#include "cli/view_save.h"
#include "view/heap_view.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int view_hooks_init(struct view_hooks *h, enum view_kind kind, struct err *err)
{
    h->kind = kind;
    h->start = kind == VIEW_START;
    int rc = view_jvms_init(&h->jvms);
    if (rc == 0)
        rc = view_traces_init(&h->traces);
    h->ready = rc == 0;
    return rc ? err_set(err, rc, "no lock can be made: %s", strerror(-rc)) : 0;
}

void view_hooks_fini(struct view_hooks *h)
{
    if (!h->ready)
        return;
    top_own_end(&h->own);
    view_jvms_fini(&h->jvms);
    view_traces_fini(&h->traces);
}

/* --- what the server asks --------------------------------------------------------------------- */

static int start(void *ctx, struct buf *out, struct err *err)
{
    struct view_hooks *h = ctx;
    buf_puts(out, "{\"jvms\":");
    TRY(view_jvms_put(out, err));
    buf_puts(out, ",\"recent\":");
    view_traces_put(&h->traces, out);
    buf_putc(out, ',');
    view_jvms_put_choices(out);
    buf_puts(out, "}\n");
    return 0;
}

static uint64_t stamp(void *ctx)
{
    struct view_hooks *h = ctx;
    return view_jvms_stamp(&h->jvms);
}

static int attach(void *ctx, const struct serve_attach *a, struct serve_source **out,
                  struct serve_why *why)
{
    struct view_hooks *h = ctx;
    return view_jvms_attach(&h->jvms, a, h->app, out, why);
}

static int stop(void *ctx, uint32_t pid, struct buf *file, struct serve_why *why)
{
    struct view_hooks *h = ctx;
    if (h->kind == VIEW_JVM && pid != (uint32_t)h->jvm.pid) {
        why->field = "pid";
        return err_set(&why->err, -EINVAL, "%u is not the JVM that is viewed: orca detach ends it",
                       (unsigned)pid);
    }
    return view_jvms_stop(&h->jvms, pid, file, why);
}

/* A JVM that records into this very file is to make the copy. */
static int save(void *ctx, const char *path, uint32_t live_pid, const char *to, struct buf *file,
                struct serve_why *why)
{
    struct jvm jvm;
    char now[PATH_MAX], real[PATH_MAX];
    UNUSED(ctx);
    bool records = live_pid && jvm_find((pid_t)live_pid, &jvm, NULL) == 0 &&
                   view_jvms_recording(&jvm, TARGET_TIMEOUT_NS / 10, now, NULL) == 1 &&
                   realpath(now, real) && strcmp(real, path) == 0;
    TRY(view_save(path, records ? &jvm : NULL, to, file, why));
    recent_note(buf_str(file));
    return 0;
}

static int open_recent(void *ctx, uint32_t id, struct serve_opened *out, struct serve_why *why)
{
    struct view_hooks *h = ctx;
    char path[PATH_MAX];
    why->field = "id";
    if (!view_traces_path(&h->traces, id, path, sizeof path))
        return err_set(&why->err, -ENOENT, "id: no file of the list has this number");
    return view_hooks_open_file(h, path, NULL, out, &why->err);
}

void view_hooks_fill(struct view_hooks *h, struct serve_hooks *out)
{
    *out = (struct serve_hooks){.ctx = h, .save = save};
    if (h->kind == VIEW_FILE)
        return;
    out->stop = stop;
    if (h->kind == VIEW_JVM)
        return;
    out->start = start;
    out->stamp = stamp;
    out->attach = attach;
    out->open = open_recent;
}

/* --- what it is begun with -------------------------------------------------------------------- */

int view_hooks_open_file(const struct view_hooks *h, const char *path, const char *earlier,
                         struct serve_opened *out, struct err *err)
{
    if (view_heap_is(path)) {
        TRY(heap_view_new(&out->heap, path, earlier, err));
        recent_note(heap_view_path(out->heap));
        return 0;
    }
    TRY(view_file_open(&out->source, path, NULL, NULL, h->app, err));
    recent_note(out->source->path);
    return 0;
}

int view_hooks_open_jvm(struct view_hooks *h, const struct jvm *jvm, struct serve_source **out,
                        struct err *err)
{
    char path[PATH_MAX], name[300];
    h->jvm = *jvm;
    TRY(view_jvms_check(jvm, err));
    int rc = view_jvms_recording(jvm, TARGET_TIMEOUT_NS, path, err);
    TRY(rc);
    if (rc) {
        h->jvm.asker = (struct jvm_asker){0}; /* from here on a page asks */
        log_line("JVM %d (%s) is being recorded into %s: joined", (int)jvm->pid, jvm->name, path);
        return view_file_open(out, path, &h->jvm, NULL, h->app, err);
    }
    TRY(top_own_begin(&h->own, &h->jvm, err));
    h->jvm.asker = (struct jvm_asker){0};
    target_path(jvm, h->own.path, path, sizeof path);
    snprintf(name, sizeof name, "%d (%s)", (int)jvm->pid, jvm->name);
    return view_file_open(out, path, &h->jvm, name, h->app, err);
}
