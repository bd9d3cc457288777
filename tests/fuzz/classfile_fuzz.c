/* classfile_fuzz.c - the class-file rewriter over arbitrary bytes: parsed, put through every edit,
 * and what comes out parsed and taken apart again; and where the operands of its calls come from.
 *
 * Without an edit the class must stay the same byte for byte.  A method that was edited must be
 * valid code, and editing it a second time must work as well. */
#include "../classfile/edits.c"

#include "classfile/frames.h"
#include "classfile/origin.h"

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

/* Where the operands of calls come from, of valid code and of any bytes. */
static void describe(const uint8_t *data, size_t size)
{
    enum { METHODS = 16, SITES = 64, MEMORY = 16 << 20 };
    struct arena a;
    struct cf_class c;
    arena_init(&a, MEMORY);
    bool parsed = cf_parse(&c, data, size, &a, NULL) == 0;
    for (uint32_t i = 0; parsed && i < c.n_methods && i < METHODS; i++) {
        const struct cf_method *m = &c.methods[i];
        struct code code;
        struct buf out = {0};
        bool valid = m->code && code_parse(&code, &c, m, &a, NULL) == 0;
        struct origin_method o = {&c, valid ? code.bytes : data,
                                  valid ? code.len : (uint32_t)(size & 0xffff),
                                  m->access & CF_ACC_STATIC, m->desc};
        for (uint32_t k = 0; k < SITES; k++) {
            uint32_t at = valid ? k < code.n_insns ? code.insns[k].pc : code.len : k * 7;
            size_t before = out.len;
            bool is = origin_put(&o, at, &a, &out);
            need(is ? out.len > before && out.len - before <= ORIGIN_TEXT_MAX : out.len == before);
        }
        buf_fini(&out);
    }
    arena_fini(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    describe(data, size);
    for (size_t i = 0; edits_names[i]; i++)
        apply(edits_names[i], data, size, 1);
    return 0;
}
