#include "export/model_export.h"

#include <string.h>

#define MODEL_EXPORTER(id, name) extern const struct model_exporter model_exporter_##id;
MODEL_EXPORTERS
#undef MODEL_EXPORTER

#define MODEL_EXPORTER(id, name) &model_exporter_##id,
const struct model_exporter *const model_exporters[] = {MODEL_EXPORTERS NULL};
#undef MODEL_EXPORTER

const char *const model_by_names[] = {"waiter",        "owner",     "waker",        "cpu",
                                      "wall",          "owner-cpu", "owner-wall",   "alloc",
                                      "alloc-objects", "live",      "live-objects", NULL};
const char *const model_unit_names[] = {"ns", "us", "ms", "count", NULL};

const struct model_exporter *model_exporter_find(const char *name)
{
    for (size_t i = 0; model_exporters[i]; i++)
        if (strcmp(model_exporters[i]->name, name) == 0)
            return model_exporters[i];
    return NULL;
}

bool model_export_goes_on(struct model_export *x, uint64_t done, uint64_t total)
{
    if (x->progress)
        x->progress(x->ctx, done, total);
    return x->out.rc == 0;
}

static int open_file(struct model_export *x, const struct model_exporter *m, const char *prefix,
                     struct err *err)
{
    return prefix ? out_open(&x->out, prefix, m->suffix, err) : out_open_stdout(&x->out, err);
}

int model_export_run(const struct model_exporter *m, struct model_job *job, struct err *err)
{
    struct model_export x = {
        .a = job->a, .options = job->options, .progress = job->progress, .ctx = job->ctx};
    if (!x.options.states)
        x.options.states = m->states;
    int rc = open_file(&x, m, job->prefix, err);
    if (rc == 0)
        rc = m->write(&x, err);
    if (rc == 0)
        rc = out_finish(&x.out, err);
    if (rc == 0)
        rc = out_publish(&x.out, err);
    out_discard(&x.out);
    job->written = x.written;
    job->left_out = x.left_out;
    job->base = x.base;
    return rc;
}
