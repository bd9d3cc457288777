#include "cli/agent_options.h"

#include "base/options.h"
#include "base/util.h"
#include "format/call_table.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The bit of a group in `events`. */
int agent_options_check(const struct agent_options *o, struct err *err)
{
    struct call_table t;
    if (!o->methods)
        return 0;
    int rc = call_table_open(&t, o->methods, err);
    call_table_fini(&t);
    return rc;
}

/* From the root, because the JVM may stand in another folder.  A '%' in the current folder's name
 * stands for itself, one in `given` for a pattern. */
static int put_file(const char *given, const char *folder, struct buf *b, struct err *err)
{
    struct buf path;
    char cwd[PATH_MAX] = "";
    if (given[0] != '/' && !folder && !getcwd(cwd, sizeof cwd))
        return err_set(err, -errno, "the current folder is gone: %s", strerror(errno));
    buf_init(&path);
    if (given[0] != '/') {
        for (const char *p = folder ? folder : cwd; *p; p++)
            buf_printf(&path, *p == '%' ? "%%%%" : "%c", *p);
        buf_putc(&path, '/');
    }
    buf_puts(&path, given);
    buf_puts(b, "file=");
    opt_escape(b, buf_str(&path));
    buf_fini(&path);
    return 0;
}

static int put_methods(const char *methods, const char *folder, struct buf *b, struct err *err)
{
    struct buf path;
    char real[PATH_MAX] = "";
    bool is_file = !strchr(methods, '#');
    if (is_file && !folder && !realpath(methods, real))
        return err_set(err, -errno, "%s: %s", methods, strerror(errno));
    buf_init(&path);
    if (is_file && folder && methods[0] != '/')
        buf_printf(&path, "%s/", folder);
    buf_puts(&path, real[0] ? real : methods);
    buf_puts(b, ",methods=");
    opt_escape(b, buf_str(&path));
    buf_fini(&path);
    return 0;
}

int agent_options_put(const struct agent_options *o, const char *own, const char *folder,
                      struct buf *b, struct err *err)
{
    TRY(put_file(o->file, folder, b, err));
    if (own)
        buf_printf(b, ",%s", own);
    buf_puts(b, ",quiet");
    if (o->every)
        buf_printf(b, ",every=%" PRIu64 "ms", o->every / 1000000);
    if (o->keep)
        buf_printf(b, ",keep=%" PRIu64, o->keep);
    if (o->cpu)
        buf_printf(b, ",cpu=%" PRIu64 "us", o->cpu / 1000);
    if (o->wall)
        buf_printf(b, ",wall=%" PRIu64 "us", o->wall / 1000);
    if (o->time)
        buf_puts(b, ",time=on");
    if (o->alloc)
        buf_printf(b, ",samplebytes=%" PRIu64, o->alloc);
    const char *divider = ",events=";
    for (size_t i = 0; event_group_names[i]; i++)
        if (o->events >> i & 1) {
            buf_printf(b, "%s%s", divider, event_group_names[i]);
            divider = "+";
        }
    if (o->cost) {
        buf_puts(b, ",cost=");
        opt_escape(b, o->cost);
    }
    if (o->methods)
        TRY(put_methods(o->methods, folder, b, err));
    if (o->more)
        buf_printf(b, ",%s", o->more);
    return 0;
}
