/* classfile_fuzz.c - the class-file rewriter over arbitrary bytes: parsed, put through every edit,
 * and what comes out parsed and taken apart again.
 *
 * Without an edit the class must stay the same byte for byte.  A method that was edited must be
 * valid code, and editing it a second time must work as well. */
#include "../classfile/edits.c"

#include "classfile/frames.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool ok)
{
    if (!ok)
        abort();
}

static void check_methods(const struct buf *out, const uint8_t *data, size_t size)
{
    struct arena a;
    struct cf_class c, before;
    arena_init(&a, 0);
    need(cf_parse(&c, out->p, out->len, &a, NULL) == 0);
    need(cf_parse(&before, data, size, &a, NULL) == 0);
    need(c.n_methods == before.n_methods);
    for (uint32_t i = 0; i < c.n_methods; i++) {
        struct code code;
        if (!c.methods[i].code || !before.methods[i].code ||
            code_parse(&code, &before, &before.methods[i], &a, NULL) < 0)
            continue;
        need(code_parse(&code, &c, &c.methods[i], &a, NULL) == 0);
        if (a.used > 64 << 20)
            break;
    }
    arena_fini(&a);
}

static void apply(const char *name, const uint8_t *data, size_t size, int again)
{
    struct edits edits;
    struct buf out = {0};
    struct cf_result result;
    struct err err = {0};
    edits_init(&edits, name);
    struct cf_plan plan = edits_plan(&edits);
    int rc = cf_edit_class(data, size, &plan, &out, &result, &err);
    need(rc >= 0 ? out.len > 0 : err.msg[0] && out.len == 0);
    if (rc == 0)
        need(out.len == size && memcmp(out.p, data, size) == 0);
    if (rc == 1) {
        check_methods(&out, data, size);
        if (again)
            apply(name, out.p, out.len, again - 1);
    }
    buf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (size_t i = 0; edits_names[i]; i++)
        apply(edits_names[i], data, size, 1);
    return 0;
}
