/* orca_text.c - the format of the 2014 Orca back-end manual: PREFIX.orca, PREFIX.methods,
 * PREFIX.classtable; and PREFIX.calltable when there are calls of a method table, whose event names
 * are not the manual's.
 *
 *   .orca        time,EVENT,thread,...,depth;method;location;...
 *   .methods     time,method,name,signature,class,count;start;line;start;line;...
 *   .classtable  time,class,signature,source
 *
 * Line tables.  The manual's text puts the start location before its line, as format 1.1 does; its
 * one example, 3;00000046;00000000;00000047;00000008;..., can only be read the other way round. Two
 * texts outweigh one example: we write start;line, and the importer accepts both
 * (docs/reference/orca-text.md).  The example settles what the text leaves open: the line also has
 * eight hex digits. */
#include "export/orca_log.h"

enum { LOG, METHODS, CLASSES, CALLS };

#define CALLTABLE ".calltable"
static const char *const suffixes[] = {".orca", ".methods", ".classtable", CALLTABLE, NULL};

static bool has(unsigned kind)
{
    return orca_log_has(ORCA_2, kind);
}

static int begin(struct export *x, struct err *err)
{
    return orca_log_begin(x, ORCA_2, err);
}

static void put_method(struct export *x, uint32_t id)
{
    const struct orca_log *log = x->state;
    const struct trace_method *m = &x->trace->methods[id];
    struct out *o = &x->files[METHODS];
    out_seconds(o, log->methods.time[id]);
    out_char(o, ',');
    out_hex8(o, id);
    out_char(o, ',');
    orca_log_name(o, m->name);
    out_char(o, ',');
    orca_log_signature(o, m);
    out_char(o, ',');
    out_hex8(o, orca_ids_get(&log->classes, m->class_.v));
    out_char(o, ',');
    orca_log_lines(o, m, ';', out_hex8);
    out_newline(o);
}

static void put_class(struct export *x, uint32_t id)
{
    const struct orca_log *log = x->state;
    const struct trace_class *c = &x->trace->classes[id];
    struct out *o = &x->files[CLASSES];
    out_seconds(o, log->named_classes.time[id]);
    out_char(o, ',');
    out_hex8(o, log->classes.number[id]);
    out_char(o, ',');
    orca_log_name(o, c->signature);
    out_char(o, ',');
    orca_log_name(o, c->source);
    out_newline(o);
}

static int put_calls(struct export *x, struct err *err)
{
    const struct orca_log *log = x->state;
    struct buf b;
    buf_init(&b);
    for (size_t i = 0; i < log->call_rows.n; i++) {
        const struct call_row *row = &log->call_rows.rows[i];
        if (!orca_log_has_seen(log, row))
            continue;
        buf_clear(&b);
        call_row_put(&b, row);
        out_text(&x->files[CALLS], buf_str(&b));
        out_newline(&x->files[CALLS]);
    }
    int rc = b.oom ? err_set(err, -ENOMEM, "out of memory") : 0;
    buf_fini(&b);
    return rc;
}

static int end(struct export *x, struct err *err)
{
    const struct orca_log *log = x->state;
    TRY(put_calls(x, err));
    TRY(orca_log_number_classes(x, err));
    for (size_t i = 0; i < log->methods.count; i++)
        put_method(x, log->methods.order[i]);
    for (size_t i = 0; i < log->named_classes.count; i++)
        put_class(x, log->named_classes.order[i]);
    return 0;
}

const struct exporter exporter_orca = {
    .name = "orca",
    .summary = "Orca's text files of 2014: events, methods, classes",
    .suffixes = suffixes,
    .optional = CALLTABLE,
    .leaves_out = orca_log_leaves_out,
    .begin = begin,
    .event = orca_log_event,
    .end = end,
    .fini = orca_log_fini,
    .has = has,
};
