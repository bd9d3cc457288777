#include "classfile/relocate.h"

#include <stdlib.h>

static const struct code_insn *insn_of(const struct layout *l, uint32_t pc)
{
    while (pc < l->code->len && l->code->at[pc] == CODE_NONE)
        pc--;
    return &l->code->insns[l->code->at[pc]];
}

uint32_t relocate_scope(const struct layout *l, uint32_t pc)
{
    if (pc > l->code->len)
        return CODE_NONE;
    return pc ? insn_of(l, pc)->off_after : 0;
}

uint32_t relocate_line(const struct layout *l, uint32_t pc)
{
    if (pc >= l->code->len)
        return CODE_NONE;
    return pc ? insn_of(l, pc)->off_before : 0;
}

uint32_t relocate_insn(const struct layout *l, uint32_t pc)
{
    return pc < l->code->len ? insn_of(l, pc)->off_insn : CODE_NONE;
}

static void write_entry(struct relocate *r, uint32_t range[2], uint32_t handler, uint32_t type,
                        struct buf *out)
{
    if (range[0] >= range[1] || r->n_entries > UINT16_MAX) /* then the method stays as it is */
        return;
    be_put2(out, range[0]);
    be_put2(out, range[1]);
    be_put2(out, handler);
    be_put2(out, type);
    r->n_entries++;
}

/* A trampoline has the frame of a place that the range may not cover, so ranges leave it out. */
static void write_range(struct relocate *r, const uint32_t range[2], uint32_t handler,
                        uint32_t type, struct buf *out)
{
    const struct layout *l = r->l;
    uint32_t part[2] = {range[0], range[1]};
    for (uint32_t i = 0; i < l->n_spots && l->n_trampolines; i++) {
        const struct code_insn *in = &l->code->insns[l->spots[i]];
        if (!l->at_spot[l->spots[i]] || in->off_after <= part[0] || in->off >= range[1])
            continue;
        part[1] = in->off;
        write_entry(r, part, handler, type, out);
        part[0] = in->off_after;
        part[1] = range[1];
    }
    write_entry(r, part, handler, type, out);
}

static void write_site(struct relocate *r, const struct added_handler *h, struct buf *out)
{
    const struct code_insn *in = &r->l->code->insns[h->insn];
    uint32_t range[2] = {in->off_insn, in[1].off};
    if (h->part == ADDED_BEFORE) {
        range[0] = in->off_before;
        range[1] = in->off_insn;
    } else if (h->part == ADDED_AFTER) {
        range[0] = in[1].off_after;
        range[1] = in[1].off_before;
    }
    range[0] += h->skip;
    write_entry(r, range, h->off, 0, out);
}

static void write_original(struct relocate *r, uint32_t index, struct buf *out)
{
    const struct code *code = r->l->code;
    const struct code_handler *h = &code->handlers[index];
    const struct code_insn *start = &code->insns[h->start], *end = &code->insns[h->end];
    uint32_t range[2] = {
        start->side == CODE_WITH_NEXT ? start->off_after : start->off_before,
        end->side == CODE_WITH_PREVIOUS ? end->off_before : end->off_after,
    };
    r->entry[index] = r->n_entries;
    write_range(r, range, code->insns[h->handler].off_before, h->type, out);
}

/* A handler that covers the site of an added handler also covers the handler's code. */
static void write_around(struct relocate *r, const struct added_handler *h, struct buf *out)
{
    const struct code *code = r->l->code;
    uint32_t range[2] = {h->off, h->off + h->bytes.len};
    uint32_t again[2] = {h->off, h->off + h->again};
    write_entry(r, again, h->off, 0, out);
    for (uint32_t i = h->around; i < code->n_handlers; i++) {
        const struct code_handler *x = &code->handlers[i];
        if (x->start <= h->insn && h->insn < x->end)
            write_entry(r, range, code->insns[x->handler].off_before, x->type, out);
    }
}

static void write_body(struct relocate *r, const struct added_handler *exit, struct buf *out)
{
    const struct code *code = r->l->code;
    for (uint32_t i = 0; i < code->n_insns; i++) {
        if (!relocate_in_body(&code->insns[i]))
            continue;
        uint32_t range[2] = {code->insns[i].off_before, 0};
        while (i < code->n_insns && relocate_in_body(&code->insns[i]))
            i++;
        range[1] = code->insns[i].off_before;
        write_range(r, range, exit->off, 0, out);
    }
    for (uint32_t i = 0; i < r->n_added; i++) {
        const struct added_handler *h = &r->added[i];
        uint32_t range[2] = {h->off, h->off + h->bytes.len};
        if (h->part != ADDED_BODY && relocate_in_body(&code->insns[h->insn]))
            write_entry(r, range, exit->off, 0, out);
    }
}

int relocate_exceptions(struct relocate *r, struct buf *out, struct arena *a, struct err *err)
{
    const struct code *code = r->l->code;
    size_t at = out->len;
    r->entry = arena_alloc(a, code->n_handlers * sizeof *r->entry);
    if (!r->entry)
        return err_set(err, -ENOMEM, "out of memory");
    be_put2(out, 0);
    for (uint32_t i = 0; i < r->n_added; i++)
        if (r->added[i].part != ADDED_BODY)
            write_site(r, &r->added[i], out);
    for (uint32_t i = 0; i < code->n_handlers; i++)
        write_original(r, i, out);
    for (uint32_t i = 0; i < r->n_added; i++)
        if (r->added[i].part != ADDED_BODY)
            write_around(r, &r->added[i], out);
    for (uint32_t i = 0; i < r->n_added; i++)
        if (r->added[i].part == ADDED_BODY)
            write_body(r, &r->added[i], out);
    if (r->n_entries > UINT16_MAX)
        return err_set(err, -ENOSPC, "%u exception table entries", r->n_entries);
    if (!out->oom)
        be_set2(out->p + at, r->n_entries);
    return 0;
}

static int by_off(const void *x, const void *y)
{
    uint32_t a = ((const struct frame *)x)->off, b = ((const struct frame *)y)->off;
    return a < b ? -1 : a > b;
}

/* The original frames, those of the trampolines and those of the added handlers. */
static int write_frames(struct relocate *r, struct buf *out, struct arena *a, struct err *err)
{
    const struct layout *l = r->l;
    struct frame *v = arena_alloc(a, (r->frames->n + l->n_trampolines + r->n_added) * sizeof *v);
    uint32_t n = 0;
    if (!v)
        return err_set(err, -ENOMEM, "out of memory");
    for (uint32_t i = 0; i < r->frames->n; i++) {
        v[n] = r->frames->v[i];
        v[n].off = l->code->insns[l->code->at[v[n].pc]].off_before;
        n++;
    }
    for (uint32_t i = 0; i < l->n_trampolines; i++) {
        const struct trampoline *t = &l->trampolines[i];
        v[n] = *frames_find(r->frames, l->code->insns[t->target].pc);
        v[n++].off = layout_trampoline_off(l, t);
    }
    for (uint32_t i = 0; i < r->n_added; i++) {
        v[n] = r->added[i].frame;
        v[n++].off = r->added[i].off;
    }
    qsort(v, n, sizeof *v, by_off);
    if (frames_encode(r->frames, v, n, r->pool, out) < 0)
        return err_set(err, -ENOSPC, "more than 65535 frames");
    return 0;
}

/* The tables of fixed entries.  Columns of places: a line's start, or a variable's start and
 * length. */
static int relocate_lines(const struct relocate *r, uint8_t *p, size_t len, struct err *err)
{
    size_t n = len >= 2 ? be_get2(p) : 0;
    if (len != 2 + 4 * n)
        return err_set(err, -EINVAL, "LineNumberTable has a wrong length");
    for (uint8_t *e = p + 2; n > 0; n--, e += 4) {
        uint32_t off = relocate_line(r->l, be_get2(e));
        if (off == CODE_NONE)
            return err_set(err, -EINVAL, "LineNumberTable leaves the code");
        be_set2(e, off);
    }
    return 0;
}

static int relocate_variables(const struct relocate *r, uint8_t *p, size_t len, struct err *err)
{
    size_t n = len >= 2 ? be_get2(p) : 0;
    if (len != 2 + 10 * n)
        return err_set(err, -EINVAL, "LocalVariableTable has a wrong length");
    for (uint8_t *e = p + 2; n > 0; n--, e += 10) {
        uint32_t pc = be_get2(e);
        uint32_t start = relocate_scope(r->l, pc);
        uint32_t end = relocate_scope(r->l, pc + be_get2(e + 2));
        if (start == CODE_NONE || end == CODE_NONE)
            return err_set(err, -EINVAL, "LocalVariableTable leaves the code");
        be_set2(e, start);
        be_set2(e + 2, end - start);
    }
    return 0;
}

static const struct {
    const char *name;
    int (*relocate)(const struct relocate *r, uint8_t *p, size_t len, struct err *err);
} tables[] = {
    {"LineNumberTable", relocate_lines},
    {"LocalVariableTable", relocate_variables},
    {"LocalVariableTypeTable", relocate_variables},
    {"RuntimeVisibleTypeAnnotations", type_annotations_relocate},
    {"RuntimeInvisibleTypeAnnotations", type_annotations_relocate},
};

/* One attribute of the original, with the same length and corrected places. */
static int copy_attribute(struct relocate *r, const struct cf_attr *attr, struct buf *out,
                          struct err *err)
{
    size_t at = out->len;
    buf_put(out, r->l->code->c->p + attr->start, attr->end - attr->start);
    if (out->oom)
        return 0;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        if (cf_text_is(attr->name, tables[i].name))
            return tables[i].relocate(r, out->p + at + 6, attr->end - attr->data, err);
    return 0;
}

static int write_stack_map(struct relocate *r, struct buf *out, struct arena *a, struct err *err)
{
    size_t at = out->len;
    be_put2(out, cpool_utf8(r->pool, "StackMapTable", 13));
    be_put4(out, 0);
    TRY(write_frames(r, out, a, err));
    if (!out->oom)
        be_set4(out->p + at + 2, (uint32_t)(out->len - at - 6));
    return 0;
}

int relocate_attributes(struct relocate *r, struct buf *out, struct arena *a, struct err *err)
{
    const struct code *code = r->l->code;
    struct be_reader in = cf_reader(code->c, code->attrs, code->end);
    uint32_t n = be_u2(&in), written = 0;
    size_t at = out->len;
    bool has_frames = code->c->major >= 50;
    be_put2(out, 0);
    for (uint32_t i = 0; i < n; i++) {
        struct cf_attr attr = cf_next_attr(code->c, &in);
        if (has_frames && cf_text_is(attr.name, "StackMapTable"))
            continue;
        TRY(copy_attribute(r, &attr, out, err));
        written++;
    }
    if (has_frames && r->frames->n + r->l->n_trampolines + r->n_added > 0) {
        TRY(write_stack_map(r, out, a, err));
        written++;
    }
    if (written > UINT16_MAX)
        return err_set(err, -ENOSPC, "more than 65535 attributes");
    if (!out->oom)
        be_set2(out->p + at, written);
    return 0;
}
