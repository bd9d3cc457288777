#include "classfile/layout.h"

enum {
    ROUNDS = 100,
    REACH = INT16_MAX,
    NEAR = 30000, /* where a new trampoline may lie; later rounds may move it away */
};

static uint32_t size_at(const struct code_insn *in, uint32_t off)
{
    uint32_t size = in[1].pc - in->pc;
    if (in->kind == INSN_SWITCH)
        return size - insn_switch_padding(in->pc) + insn_switch_padding(off);
    if (in->replaced.len)
        return in->replaced.len;
    return size + (in->form == CODE_WIDE ? 2 : 0);
}

static int place(struct layout *l, struct err *err)
{
    uint32_t off = 0;
    for (uint32_t i = 0; i <= l->code->n_insns; i++) {
        struct code_insn *in = &l->code->insns[i];
        in->off = off;
        in->off_after = off += l->at_spot[i] * LAYOUT_TRAMPOLINE;
        in->off_before = off += in->after.len;
        in->off_insn = off += in->before.len;
        if (i < l->code->n_insns)
            off += size_at(in, off);
    }
    l->end = off;
    if (l->end + l->tail > LAYOUT_MAX_CODE)
        return err_set(err, -E2BIG, "%u bytes of code", l->end + l->tail);
    return 0;
}

static bool within(uint32_t x, uint32_t y, uint32_t reach)
{
    return x > y ? x - y <= reach : y - x <= reach;
}

uint32_t layout_trampoline_off(const struct layout *l, const struct trampoline *t)
{
    return l->code->insns[t->spot].off + t->order * LAYOUT_TRAMPOLINE;
}

/* The spot nearest to the instruction, if any is near enough. */
static uint32_t nearest_spot(const struct layout *l, uint32_t off)
{
    uint32_t best = CODE_NONE, best_far = NEAR + 1;
    for (uint32_t i = 0; i < l->n_spots; i++) {
        uint32_t at = l->code->insns[l->spots[i]].off;
        uint32_t far = at > off ? at - off : off - at;
        if (far < best_far) {
            best_far = far;
            best = l->spots[i];
        } else if (at > off && far > NEAR) {
            break;
        }
    }
    return best;
}

static int add_trampoline(struct layout *l, struct code_insn *in, struct arena *a, struct err *err)
{
    for (uint32_t i = 0; i < l->n_trampolines; i++)
        if (l->trampolines[i].target == in->target &&
            within(layout_trampoline_off(l, &l->trampolines[i]), in->off_insn, NEAR)) {
            in->form = CODE_VIA;
            in->via = i;
            return 0;
        }
    /* JVMS 4.10.1: the trampoline needs the frame of its target, which a branch target has. */
    if (l->code->c->major >= 50 && !l->code->insns[in->target].has_frame)
        return err_set(err, -ENOSPC, "pc %u: the branch's target has no frame", in->pc);
    uint32_t spot = nearest_spot(l, in->off_insn);
    if (spot == CODE_NONE)
        return err_set(err, -ENOSPC, "pc %u: no place from which the branch reaches", in->pc);
    if (l->n_trampolines == l->cap) {
        uint32_t cap = l->cap ? 2 * l->cap : 16;
        struct trampoline *t = arena_alloc(a, cap * sizeof *t);
        if (!t)
            return err_set(err, -ENOMEM, "out of memory");
        for (uint32_t i = 0; i < l->n_trampolines; i++)
            t[i] = l->trampolines[i];
        l->trampolines = t;
        l->cap = cap;
    }
    in->form = CODE_VIA;
    in->via = l->n_trampolines++;
    l->trampolines[in->via] = (struct trampoline){spot, l->at_spot[spot]++, in->target};
    return 0;
}

static uint32_t goal(const struct layout *l, const struct code_insn *in)
{
    return in->form == CODE_VIA ? layout_trampoline_off(l, &l->trampolines[in->via])
                                : l->code->insns[in->target].off_before;
}

/* 1: some branch got another form; 0: all reach. */
static int widen(struct layout *l, struct arena *a, struct err *err)
{
    int changed = 0;
    for (uint32_t i = 0; i < l->code->n_insns; i++) {
        struct code_insn *in = &l->code->insns[i];
        bool is_short = in->kind == INSN_COND || in->kind == INSN_GOTO || in->kind == INSN_JSR;
        if (!is_short || in->form == CODE_WIDE || within(goal(l, in), in->off_insn, REACH))
            continue;
        changed = 1;
        if (in->kind == INSN_COND)
            TRY(add_trampoline(l, in, a, err));
        else
            in->form = CODE_WIDE;
    }
    return changed;
}

static int find_spots(struct layout *l, struct arena *a, struct err *err)
{
    uint32_t n = l->code->n_insns;
    l->spots = arena_alloc(a, (n + 1) * sizeof *l->spots);
    l->at_spot = arena_alloc(a, (n + 1) * sizeof *l->at_spot);
    if (!l->spots || !l->at_spot)
        return err_set(err, -ENOMEM, "out of memory");
    for (uint32_t i = 1; i <= n; i++)
        if (!insn_falls_through(l->code->insns[i - 1].kind))
            l->spots[l->n_spots++] = i;
    return 0;
}

int layout_run(struct layout *l, struct arena *a, struct err *err)
{
    TRY(find_spots(l, a, err));
    for (int round = 0; round < ROUNDS; round++) {
        TRY(place(l, err));
        int changed = widen(l, a, err);
        if (changed <= 0)
            return changed;
    }
    return err_set(err, -ENOSPC, "branches do not settle");
}

static void write_branch(const struct layout *l, const struct code_insn *in, struct buf *out)
{
    uint32_t delta = goal(l, in) - in->off_insn;
    bool wide = in->form == CODE_WIDE || in->kind == INSN_GOTO_W || in->kind == INSN_JSR_W;
    uint32_t op = in->op;
    if (in->form == CODE_WIDE)
        op = in->kind == INSN_GOTO ? OP_GOTO_W : OP_JSR_W;
    be_put1(out, op);
    if (wide)
        be_put4(out, delta);
    else
        be_put2(out, delta);
}

static void write_switch(const struct layout *l, const struct code_insn *in, struct buf *out)
{
    const struct code *code = l->code;
    struct insn_switch s = insn_switch_at(code->bytes, in->pc);
    be_put1(out, in->op);
    for (uint32_t i = 0; i < insn_switch_padding(in->off_insn); i++)
        be_put1(out, 0);
    size_t moved = out->len - s.def; /* original position -> place in `out`, modulo 2^64 */
    buf_put(out, code->bytes + s.def, in[1].pc - s.def);
    if (out->oom)
        return;
    for (uint32_t i = 0; i <= s.n; i++) {
        uint32_t at = i ? s.first + (i - 1) * s.stride : s.def;
        uint32_t target = code->at[in->pc + be_get4(code->bytes + at)];
        be_set4(out->p + (moved + at), code->insns[target].off_before - in->off_insn);
    }
}

static void write_trampolines(const struct layout *l, uint32_t spot, struct buf *out)
{
    /* In order of `order`: they were numbered as they were added. */
    for (uint32_t i = 0; i < l->n_trampolines; i++) {
        const struct trampoline *t = &l->trampolines[i];
        if (t->spot != spot)
            continue;
        be_put1(out, OP_GOTO_W);
        be_put4(out, l->code->insns[t->target].off_before - layout_trampoline_off(l, t));
    }
}

static void write_piece(const struct layout *l, struct code_piece piece, struct buf *out)
{
    if (piece.len)
        buf_put(out, l->inserted + piece.at, piece.len);
}

void layout_write(const struct layout *l, struct buf *out)
{
    const struct code *code = l->code;
    for (uint32_t i = 0; i <= code->n_insns; i++) {
        const struct code_insn *in = &code->insns[i];
        if (l->at_spot[i])
            write_trampolines(l, i, out);
        write_piece(l, in->after, out);
        write_piece(l, in->before, out);
        if (i == code->n_insns)
            break;
        if (in->replaced.len)
            write_piece(l, in->replaced, out);
        else if (in->kind == INSN_SWITCH)
            write_switch(l, in, out);
        else if (insn_is_branch(in->kind))
            write_branch(l, in, out);
        else
            buf_put(out, code->bytes + in->pc, in[1].pc - in->pc);
    }
}
