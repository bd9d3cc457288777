#include "model_files.h"
#include "conclude/resource.h"

#include "export/waits.h"
#include "orca_files.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

struct model_options model_options(void)
{
    return (struct model_options){.selection = selection_all(), .unit = MODEL_US};
}

static struct buf read_file(const char *path)
{
    struct buf b = {0};
    char part[4096];
    FILE *f = fopen(path, "r");
    cr_assert_not_null(f, "%s is not there", path);
    for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;)
        buf_put(&b, part, n);
    fclose(f);
    return b;
}

struct buf model_file(const char *format, struct trace *t, const struct model_options *o,
                      struct model_job *job)
{
    struct err err = {""};
    struct analysis *a;
    char *folder = folder_make(), prefix[300], path[320];
    const struct model_exporter *m = model_exporter_find(format);
    cr_assert_not_null(m);
    cr_assert_eq(conclude_run(&a, t, &err), 0, "%s", err.msg);
    snprintf(prefix, sizeof prefix, "%s/app", folder);
    snprintf(path, sizeof path, "%s%s", prefix, m->suffix);
    struct model_job own = {0};
    job = job ? job : &own;
    job->a = a;
    job->prefix = prefix;
    job->options = *o;
    cr_assert_eq(model_export_run(m, job, &err), 0, "%s", err.msg);
    struct buf b = read_file(path);
    cr_assert_eq(folder_count(folder), 1, "something else was left behind");
    folder_remove(folder);
    analysis_free(a);
    return b;
}

void model_text_is(const char *format, struct trace *t, const struct model_options *o,
                   const char *expected)
{
    struct buf b = model_file(format, t, o, NULL);
    cr_assert_str_eq(buf_str(&b), expected, "\ngot\n%s\nexpected\n%s", buf_str(&b), expected);
    buf_fini(&b);
    trace_close(t);
}

struct buf inflated(const void *p, size_t n)
{
    enum { ANY_HEADER = 32 + MAX_WBITS, PIECE = 65536 };
    struct buf b = {0};
    z_stream z = {.next_in = (Bytef *)(uintptr_t)p, .avail_in = (uInt)n};
    int rc;
    cr_assert_eq(inflateInit2(&z, ANY_HEADER), Z_OK);
    do {
        uint8_t *to = buf_reserve(&b, PIECE);
        cr_assert_not_null(to);
        z.next_out = to;
        z.avail_out = PIECE;
        rc = inflate(&z, Z_NO_FLUSH);
        b.len += PIECE - z.avail_out;
    } while (rc == Z_OK);
    cr_assert_eq(rc, Z_STREAM_END);
    cr_assert_eq(z.avail_in, 0, "bytes behind the end");
    inflateEnd(&z);
    return b;
}

/* --- protocol buffers ------------------------------------------------------------------------- */

struct fields fields_of(const void *p, size_t n)
{
    return (struct fields){p, (const uint8_t *)p + n};
}

uint64_t fields_varint(struct fields *f)
{
    uint64_t v = 0;
    for (unsigned shift = 0;; shift += 7) {
        cr_assert(f->p < f->end && shift < 64, "a number is cut off");
        v |= (uint64_t)(*f->p & 0x7f) << shift;
        if (*f->p++ < 0x80)
            return v;
    }
}

bool fields_next(struct fields *f, struct field_of *out)
{
    if (f->p == f->end)
        return false;
    uint64_t tag = fields_varint(f);
    *out = (struct field_of){.number = (uint32_t)(tag >> 3)};
    if ((tag & 7) == 0) {
        out->value = fields_varint(f);
        return true;
    }
    cr_assert((tag & 7) == 1 || (tag & 7) == 2, "type %d", (int)(tag & 7));
    out->n = (tag & 7) == 1 ? 8 : fields_varint(f);
    out->p = f->p;
    cr_assert_leq(out->n, (size_t)(f->end - f->p), "field %u is cut off", out->number);
    f->p += out->n;
    if ((tag & 7) == 1) {
        memcpy(&out->value, out->p, 8);
        out->p = NULL;
    }
    return true;
}

bool fields_find(struct fields f, uint32_t number, struct field_of *out)
{
    while (fields_next(&f, out))
        if (out->number == number)
            return true;
    *out = (struct field_of){0};
    return false;
}
