/* edit.c - one class: each method through method.c, then the class around the edited methods: its
 * old constants and the new ones, and everything else byte for byte. */
#include "classfile/edit.h"

#include "classfile/rewrite.h"

enum { SCRATCH = 4 << 20 }; /* memory of methods is given back when it is more than this */

/* Where the new bytes of an edited method are; len 0: it was not edited. */
struct new_method {
    size_t at, len;
};

struct edit {
    const struct cf_class *c;
    const struct cf_plan *plan;
    struct cf_result *result;
    struct nan_constants nan; /* that go */
    struct cpool pool;
    struct arena scratch;
    struct buf methods; /* the new bytes of all edited methods */
    struct new_method *news;
};

static void leave(struct edit *e, const struct cf_method *m, enum cf_left why,
                  const struct err *reason)
{
    struct cf_result *r = e->result;
    r->left[why]++;
    if (!r->first.msg[0])
        err_set(&r->first, 0, "method %.*s%.*s: %s", (int)m->name.len, m->name.p, (int)m->desc.len,
                m->desc.p, reason->msg);
}

static int edit_method(struct edit *e, uint32_t i, const struct cf_edit *edits, uint32_t n,
                       struct err *err)
{
    const struct cf_method *m = &e->c->methods[i];
    struct rewrite w = {.c = e->c,
                        .m = m,
                        .edits = edits,
                        .n_edits = n,
                        .pool = &e->pool,
                        .arena = &e->scratch,
                        .plan = e->plan,
                        .nan = e->nan.n ? &e->nan : NULL};
    enum cf_left why;
    struct err reason = {0};
    size_t at = e->methods.len;
    int rc = n > CF_MAX_EDITS ? err_set(&reason, -EINVAL, "more than %d edits", CF_MAX_EDITS)
                              : method_rewrite(&w, &e->methods, &why, &reason);
    if (n > CF_MAX_EDITS)
        why = CF_LEFT_BAD_EDIT;
    if (e->scratch.used > SCRATCH) {
        arena_fini(&e->scratch);
        arena_init(&e->scratch, 0);
    }
    if (rc == -ENOMEM)
        return err_set(err, rc, "%s", reason.msg);
    if (rc < 0 && e->nan.n) /* a constant may not go that its code still loads */
        return -EAGAIN;
    e->result->methods += rc != 0;
    if (rc < 0)
        leave(e, m, why, &reason);
    if (rc <= 0)
        return 0;
    e->news[i] = (struct new_method){at, e->methods.len - at};
    e->result->edited++;
    e->result->sites += w.sites;
    e->result->trampolines += w.trampolines;
    for (int k = 0; k < CF_N_LEFT; k++)
        e->result->left[k] += w.left[k];
    return 0;
}

static int edit_methods(struct edit *e, struct err *err)
{
    for (uint32_t i = 0; i < e->c->n_methods; i++) {
        const struct cf_method *m = &e->c->methods[i];
        uint32_t n = 0;
        const struct cf_edit *edits = m->code ? e->plan->edits(e->plan->ctx, e->c, m, &n) : NULL;
        if (m->code && (e->nan.n || (edits && n)))
            TRY(edit_method(e, i, edits, n, err));
    }
    return 0;
}

static void write_class(const struct edit *e, struct buf *out)
{
    const struct cf_class *c = e->c;
    uint32_t at = c->pool_end;
    buf_put(out, c->p, 8);
    be_put2(out, e->pool.n);
    buf_put(out, c->p + 10, c->pool_end - 10);
    buf_put(out, e->pool.out.p, e->pool.out.len);
    for (uint32_t i = 0; i < c->n_methods; i++) {
        if (!e->news[i].len)
            continue;
        buf_put(out, c->p + at, c->methods[i].start - at);
        buf_put(out, e->methods.p + e->news[i].at, e->news[i].len);
        at = c->methods[i].end;
    }
    buf_put(out, c->p + at, c->len - at);
}

/* Everything was tried; too many constants undo all of it. */
static int finish(struct edit *e, struct buf *out, struct err *err)
{
    struct err reason = {0};
    size_t len = out->len;
    int rc = cpool_check(&e->pool, &reason);
    if (rc == -ENOMEM)
        return err_set(err, rc, "%s", reason.msg);
    if (rc < 0 && e->nan.n)
        return -EAGAIN;
    if (rc < 0) {
        e->result->left[CF_LEFT_POOL] += e->result->edited;
        e->result->edited = e->result->sites = e->result->trampolines = 0;
        if (!e->result->first.msg[0])
            e->result->first = reason;
    }
    bool changed = e->result->edited > 0 || e->nan.n > 0;
    if (!changed) {
        for (uint32_t i = 0; i < e->c->n_methods; i++)
            e->news[i].len = 0;
        e->pool.n = e->c->n_pool;
        e->pool.out.len = 0;
    }
    if (changed || e->plan->always)
        write_class(e, out);
    if (out->oom) {
        out->len = len;
        return err_set(err, -ENOMEM, "out of memory");
    }
    nan_clear(&e->nan, e->c, out->p + len);
    return changed;
}

static int edit_parsed(struct edit *e, struct buf *out, struct err *err)
{
    if (!e->news)
        return err_set(err, -ENOMEM, "out of memory");
    TRY(edit_methods(e, err));
    return finish(e, out, err);
}

/* -EAGAIN: not without its constants NaN. */
static int edit_once(const struct cf_class *c, struct arena *arena, const struct cf_plan *plan,
                     bool no_nan, struct buf *out, struct cf_result *result, struct err *err)
{
    struct edit e = {.c = c, .plan = plan, .result = result};
    *result = (struct cf_result){0};
    if (no_nan && nan_find(&e.nan, c, arena) < 0)
        return err_set(err, -ENOMEM, "out of memory");
    cpool_init(&e.pool, c);
    arena_init(&e.scratch, 0);
    e.news = arena_alloc(arena, c->n_methods * sizeof *e.news);
    int rc = edit_parsed(&e, out, err);
    buf_fini(&e.methods);
    arena_fini(&e.scratch);
    cpool_fini(&e.pool);
    return rc;
}

int cf_edit_class(const uint8_t *p, size_t len, const struct cf_plan *plan, struct buf *out,
                  struct cf_result *result, struct err *err)
{
    struct arena arena;
    struct cf_class c;
    *result = (struct cf_result){0};
    arena_init(&arena, 0);
    int rc = cf_parse(&c, p, len, &arena, err);
    if (rc == 0) {
        rc = edit_once(&c, &arena, plan, plan->no_nan, out, result, err);
        if (rc == -EAGAIN)
            rc = edit_once(&c, &arena, plan, false, out, result, err);
    }
    arena_fini(&arena);
    return rc;
}

const char *cf_left_name(enum cf_left left)
{
    static const char *const names[] = {
        [CF_LEFT_BAD_CODE] = "bad-code",   [CF_LEFT_BAD_EDIT] = "bad-edit",
        [CF_LEFT_TOO_LONG] = "too-long",   [CF_LEFT_NO_REACH] = "no-reach",
        [CF_LEFT_POOL] = "pool",           [CF_LEFT_CTOR_EDGE] = "ctor-edge",
        [CF_LEFT_CALL_EDGE] = "call-edge", [CF_LEFT_MONITOR] = "monitor",
        [CF_LEFT_REPLACE] = "replace",     [CF_LEFT_RETRY] = "retry",
    };
    return left < CF_N_LEFT ? names[left] : "?";
}
