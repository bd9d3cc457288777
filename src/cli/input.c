#include "cli/input.h"

#include "base/log.h"
#include "cli/cmd.h"
#include "import/orca_text.h"
#include "record/recover.h"

static int open_trace(struct trace **out, const char *path, struct err *err)
{
    struct err why;
    int rc = recover_trace(path, &why);
    if (rc < 0)
        log_line("%s; reading it as it is", why.msg);
    else if (rc == RECOVER_DONE)
        log_line("%s: the JVM was killed; completed from what its rings held", path);
    return trace_open(out, path, err);
}

int input_open(struct trace **out, const char *path, struct err *err)
{
    return import_orca_wants(path) ? import_orca(out, path, err) : open_trace(out, path, err);
}

int input_warn(const struct trace *t)
{
    for (size_t i = 0; i < t->n_problems; i++)
        log_line("%s: %s", t->path, t->problems[i].text);
    if (t->n_damaged > t->n_problems)
        log_line("%s: %zu more problems", t->path, t->n_damaged - t->n_problems);
    return t->n_damaged ? CMD_FAILED : 0;
}
