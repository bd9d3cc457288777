#include "cli/input.h"

#include "analyze/sites.h"
#include "base/log.h"
#include "base/util.h"
#include "cli/cmd.h"
#include "import/import.h"
#include "record/recover.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Nothing is missing from such a file, so only an empty one is worth a line. */
static void say_closed(const struct trace *t)
{
    if (t->n_events == 0)
        log_line("%s: the JVM was killed as this file was about to begin: it is empty, the events "
                 "are in %s",
                 t->path, trace_info(t, "orca.previous", "the file before"));
}

/* The text files that it was to become are made when a JVM ends, which this one did not live to
 * do. */
static void say_completed(const struct trace *t)
{
    const char *texts = trace_info(t, "orca.texts", "");
    struct buf how = {0};
    for (const char *at = texts; *at; at += strcspn(at, "+"), at += *at == '+')
        buf_printf(&how, "%sorca export %s --to %.*s",
                   how.len ? ", " : "; its text files: ", t->path, (int)strcspn(at, "+"), at);
    log_line("%s: the JVM was killed; completed from its rings%s", t->path, buf_str(&how));
    buf_fini(&how);
}

static int open_trace(struct trace **out, const char *path, struct err *err)
{
    struct err why;
    int rc = recover_trace(path, &why);
    if (rc < 0)
        log_line("%s; reading it as it is", why.msg);
    TRY(trace_open(out, path, err));
    if (rc == RECOVER_DONE)
        say_completed(*out);
    if (rc == RECOVER_CLOSED)
        say_closed(*out);
    return 0;
}

/* A user who asks for text files that a killed JVM has not made may have its trace. */
static int missing(const char *path, int rc, struct err *err)
{
    struct buf trace = {0};
    struct err why = *err;
    if (access(path, F_OK) == 0)
        return rc;
    input_stem(&trace, path);
    buf_puts(&trace, ".otrace");
    if (strcmp(buf_str(&trace), path) != 0 && access(buf_str(&trace), F_OK) == 0)
        err_set(err, rc, "%s; but %s is there, and orca export %s --to orca makes text files of it",
                why.msg, buf_str(&trace), buf_str(&trace));
    buf_fini(&trace);
    return rc;
}

static void say_unusable(const char *path, const struct symbols_summary *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->modules[i].worth_a_line)
            log_line("%s: %s", path, s->modules[i].why);
}

int input_open_named(struct trace **out, const char *path, struct symbols_summary *names,
                     struct err *err)
{
    struct symbols_options o = symbols_options_default();
    if (import_wants(path)) {
        *names = (struct symbols_summary){0};
        int rc = import_file(out, path, NULL, err);
        return rc < 0 ? missing(path, rc, err) : rc;
    }
    int rc = open_trace(out, path, err);
    if (rc < 0)
        return missing(path, rc, err);
    rc = symbols_resolve(*out, &o, names, err);
    if (rc == 0)
        return 0;
    trace_close(*out);
    *out = NULL;
    return rc;
}

int input_open(struct trace **out, const char *path, struct err *err)
{
    struct symbols_summary names;
    TRY(input_open_named(out, path, &names, err));
    say_unusable(path, &names);
    return 0;
}

int input_app(struct trace *t, const char *app, struct err *err)
{
    t->app = app;
    for (size_t i = 1; app && i < t->n_classes; i++)
        if (sites_is_own(t, trace_class(t, (class_id){(uint32_t)i})->signature))
            return 0;
    return app ? err_set(err, -ENOENT,
                         "--app: no class of the recording is '%s'; give packages or classes: "
                         "shop.*,com.acme.Order",
                         app)
               : 0;
}

int input_warn(const struct trace *t)
{
    for (size_t i = 0; i < t->n_problems; i++)
        log_line("%s: %s", t->path, t->problems[i].text);
    if (t->n_damaged > t->n_problems)
        log_line("%s: %zu more problems", t->path, t->n_damaged - t->n_problems);
    return t->n_damaged ? CMD_FAILED : 0;
}

void input_stem(struct buf *b, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    buf_put(b, path, dot && dot > name ? (size_t)(dot - path) : strlen(path));
}

int input_refuse(const char *input, const char *output, struct err *err)
{
    struct stat in, out;
    if (stat(input, &in) < 0 || stat(output, &out) < 0 || in.st_dev != out.st_dev ||
        in.st_ino != out.st_ino)
        return 0;
    return err_set(err, -EEXIST, "%s: this is the input; choose another name with --output",
                   output);
}
