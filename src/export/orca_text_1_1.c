/* orca_text_1_1.c - "Spec of Orca files", version 1.1: PREFIX.orca, PREFIX.meta.
 *
 *   .orca  time,EVENT,thread,...,depth,method,location,...
 *   .meta  signature,source                                       first the classes,
 *          method,name,signature,class signature,count,start,line,...    then the methods
 *
 * Semaphores came with version 2.  A class is known by its signature alone, so that of classes with
 * the same name from several loaders the first one named stands for all.  Of a method's numbers the
 * text calls its id and the start locations hexadecimal and the count decimal; it says nothing of
 * the line: decimal. */
#include "export/orca_log.h"

#include "base/hash.h"
#include "base/map.h"

#include <string.h>

enum { LOG, META };

static const char *const suffixes[] = {".orca", ".meta", NULL};

static bool has(unsigned kind)
{
    return orca_log_has(ORCA_1_1, kind);
}

static int begin(struct export *x, struct err *err)
{
    return orca_log_begin(x, ORCA_1_1, err);
}

static void put_decimal(struct out *o, uint32_t v)
{
    out_decimal(o, v);
}

static void put_method(struct export *x, uint32_t id)
{
    const struct trace_method *m = &x->trace->methods[id];
    const struct trace_class *c = trace_class(x->trace, m->class_);
    struct out *o = &x->files[META];
    out_hex8(o, id);
    out_char(o, ',');
    orca_log_name(o, m->name);
    out_char(o, ',');
    orca_log_signature(o, m);
    out_char(o, ',');
    orca_log_name(o, c->id.v ? c->signature : "");
    out_char(o, ',');
    orca_log_lines(o, m, ',', put_decimal);
    out_newline(o);
}

/* Write a class unless one of the same signature was.  Two signatures with one 64-bit hash would
 * cost a source file name. */
static int put_class(struct export *x, struct map *written, uint32_t id)
{
    const struct trace_class *c = &x->trace->classes[id];
    struct out *o = &x->files[META];
    size_t len = written->len;
    if (!map_put(written, hash_bytes(c->signature, strlen(c->signature), 0)))
        return -ENOMEM;
    if (written->len == len)
        return 0;
    orca_log_name(o, c->signature);
    out_char(o, ',');
    orca_log_name(o, c->source);
    out_newline(o);
    return 0;
}

static int end(struct export *x, struct err *err)
{
    const struct orca_log *log = x->state;
    struct map written;
    map_init(&written);
    int rc = 0;
    for (size_t i = 0; i < log->named_classes.count && rc == 0; i++)
        rc = put_class(x, &written, log->named_classes.order[i]);
    map_fini(&written);
    if (rc < 0)
        return err_set(err, rc, "%s: out of memory", x->trace->path);
    for (size_t i = 0; i < log->methods.count; i++)
        put_method(x, log->methods.order[i]);
    return 0;
}

const struct exporter exporter_orca_1_1 = {
    .name = "orca-1.1",
    .summary = "their older form: one file for classes and methods, no semaphores",
    .suffixes = suffixes,
    .leaves_out = orca_log_leaves_out,
    .begin = begin,
    .event = orca_log_event,
    .end = end,
    .fini = orca_log_fini,
    .has = has,
};
