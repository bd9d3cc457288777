/* method.c - one method from its parsed Code attribute to its new bytes: plan, insert, lay out,
 * relocate.  Any step may find that the method has to stay as it is. */
#include "classfile/rewrite.h"

/* Find the StackMapTable; false: there are two. */
static bool find_stack_map(const struct code *code, struct cf_attr *out)
{
    struct be_reader r = cf_reader(code->c, code->attrs, code->end);
    uint32_t found = 0;
    *out = (struct cf_attr){0};
    for (uint32_t n = be_u2(&r); n > 0; n--) {
        struct cf_attr attr = cf_next_attr(code->c, &r);
        if (cf_text_is(attr.name, "StackMapTable")) {
            *out = attr;
            found++;
        }
    }
    return found < 2;
}

static int parse(struct rewrite *w, struct err *err)
{
    struct cf_attr stack_map;
    bool is_static = w->m->access & CF_ACC_STATIC;
    w->has_frames = w->c->major >= 50;
    w->is_ctor = !is_static && cf_text_is(w->m->name, "<init>") &&
                 !cf_text_is(w->c->name, "java/lang/Object");
    TRY(code_parse(&w->code, w->c, w->m, w->arena, err));
    if (!find_stack_map(&w->code, &stack_map))
        return err_set(err, -EINVAL, "two StackMapTables");
    if (!w->has_frames)
        stack_map = (struct cf_attr){0};
    TRY(frames_decode(&w->frames, &w->code, &stack_map, w->arena, err));
    if (!desc_parse(&w->desc, w->m->desc))
        return err_set(err, -EINVAL, "bad descriptor");
    w->temps = w->max_locals = w->code.max_locals;
    return flow_this(w, err);
}

static void plan_exit(struct rewrite *w)
{
    bool wanted = false;
    for (uint32_t i = 0; i < w->n_edits; i++)
        wanted |= w->edits[i].at == CF_AT_THROW;
    if (wanted && w->unsure)
        w->left[CF_LEFT_CTOR_EDGE]++;
    for (uint32_t i = 0; i < w->code.n_insns && wanted && !w->has_exit; i++)
        w->has_exit = !w->unsure && relocate_in_body(&w->code.insns[i]);
}

static bool changes_anything(const struct rewrite *w)
{
    for (uint32_t i = 0; i < w->n_edits; i++)
        if (w->edits[i].at == CF_TAKE_APART)
            return true;
    return w->sites > 0 || w->numbers > 0;
}

/* The Code attribute; on an error `out` is left with a part of it. */
static int write_code(struct rewrite *w, struct layout *l, struct buf *out, struct err *err)
{
    const struct code *code = &w->code;
    uint32_t stack = code->max_stack + (uint32_t)w->peak_above;
    if ((uint32_t)w->peak_alone > stack)
        stack = (uint32_t)w->peak_alone;
    uint32_t limit = code->old_layout ? UINT8_MAX : UINT16_MAX;
    if (stack > limit || w->max_locals > limit)
        return err_set(err, -E2BIG, "max_stack %u, max_locals %u", stack, w->max_locals);
    buf_put(out, code->c->p + w->m->code, 2);
    size_t at = out->len;
    be_put4(out, 0);
    (code->old_layout ? be_put1 : be_put2)(out, stack);
    (code->old_layout ? be_put1 : be_put2)(out, w->max_locals);
    (code->old_layout ? be_put2 : be_put4)(out, l->end + l->tail);
    layout_write(l, out);
    for (uint32_t i = 0; i < w->n_added; i++)
        buf_put(out, l->inserted + w->added[i].bytes.at, w->added[i].bytes.len);
    struct relocate r = {
        .l = l, .frames = &w->frames, .added = w->added, .n_added = w->n_added, .pool = w->pool};
    TRY(relocate_exceptions(&r, out, w->arena, err));
    TRY(relocate_attributes(&r, out, w->arena, err));
    if (!out->oom)
        be_set4(out->p + at, (uint32_t)(out->len - at - 4));
    return 0;
}

static int write_method(struct rewrite *w, struct layout *l, struct buf *out, struct err *err)
{
    const struct cf_method *m = w->m;
    struct be_reader r = cf_reader(w->c, m->start, m->end);
    be_skip(&r, 6);
    uint32_t n = be_u2(&r);
    buf_put(out, w->c->p + m->start, 8);
    for (uint32_t i = 0; i < n; i++) {
        struct cf_attr attr = cf_next_attr(w->c, &r);
        if (attr.start == m->code)
            TRY(write_code(w, l, out, err));
        else if (cf_text_is(attr.name, "Code"))
            return err_set(err, -EINVAL, "two Code attributes");
        else
            buf_put(out, w->c->p + attr.start, attr.end - attr.start);
    }
    return 0;
}

/* An entry, unless the one before says the same. */
static void put_move(struct buf *b, uint32_t at, uint32_t from, bool stays)
{
    const struct cf_move m = {.at = at, .from = from, .stays = stays};
    size_t n = b->len / sizeof m;
    const struct cf_move *last = n ? (const struct cf_move *)(const void *)b->p + n - 1 : NULL;
    bool same = last && last->stays == m.stays &&
                (m.stays ? last->from == m.from : last->from + (at - last->at) == m.from);
    if (!same)
        buf_put(b, &m, sizeof m);
}

/* As for lines (relocate_line): code put before or after an instruction belongs to that
 * instruction. The handlers behind the code belong to the last instruction. */
static int tell_moves(const struct rewrite *w, const struct layout *l, struct err *err)
{
    const struct code *code = &w->code;
    struct buf b;
    buf_init(&b);
    for (uint32_t i = 0; i < code->n_insns; i++) {
        const struct code_insn *in = &code->insns[i];
        if (in->off < in->off_before)
            put_move(&b, in->off, i ? code->insns[i - 1].pc : 0, true);
        if (in->off_before < in->off_insn)
            put_move(&b, in->off_before, in->pc, true);
        put_move(&b, in->off_insn, in->pc, in->replaced.len != 0);
    }
    if (l->tail && code->n_insns)
        put_move(&b, l->end, code->insns[code->n_insns - 1].pc, true);
    int rc = b.oom ? err_set(err, -ENOMEM, "out of memory") : 0;
    if (rc == 0)
        w->plan->moved(w->plan->ctx, w->c, w->m, l->end + l->tail, (const void *)b.p,
                       b.len / sizeof(struct cf_move));
    buf_fini(&b);
    return rc;
}

/* The steps from the parsed method on; *why is the reason if one fails. */
static int build(struct rewrite *w, struct buf *out, enum cf_left *why, struct err *err)
{
    *why = CF_LEFT_BAD_EDIT;
    for (uint32_t i = 0; i < w->n_edits; i++)
        TRY(probe_check(w, i, err));
    plan_exit(w);
    *why = CF_LEFT_TOO_LONG;
    if ((uint64_t)w->code.n_insns * w->code.n_handlers > REWRITE_MAX_WORK)
        return err_set(err, -E2BIG, "%u handlers of %u instructions", w->code.n_handlers,
                       w->code.n_insns);
    TRY(keep_plan(w, err));
    TRY(insert_all(w, err));
    if (!changes_anything(w))
        return 0;
    struct layout l = {.code = &w->code, .inserted = w->inserted.p};
    for (uint32_t i = 0; i < w->n_added; i++)
        l.tail += w->added[i].bytes.len;
    int rc = layout_run(&l, w->arena, err);
    if (rc == -ENOSPC)
        *why = CF_LEFT_NO_REACH;
    TRY(rc);
    w->trampolines = l.n_trampolines;
    uint32_t off = l.end;
    for (uint32_t i = 0; i < w->n_added; i++) {
        w->added[i].off = off;
        off += w->added[i].bytes.len;
    }
    TRY(write_method(w, &l, out, err));
    if (w->plan->moved)
        TRY(tell_moves(w, &l, err));
    return 1;
}

int method_rewrite(struct rewrite *w, struct buf *out, enum cf_left *why, struct err *err)
{
    size_t len = out->len;
    *why = CF_LEFT_BAD_CODE;
    w->emit = (struct emit){.out = &w->inserted, .pool = w->pool};
    int rc = parse(w, err);
    if (rc == 0)
        rc = build(w, out, why, err);
    if (rc == -EINVAL && *why != CF_LEFT_BAD_EDIT)
        *why = CF_LEFT_BAD_CODE;
    if (w->inserted.oom || out->oom)
        rc = err_set(err, -ENOMEM, "out of memory");
    buf_fini(&w->inserted);
    if (rc <= 0)
        out->len = len;
    return rc;
}
