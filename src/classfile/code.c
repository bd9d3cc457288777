#include "classfile/code.h"

static int parse_insns(struct code *code, struct arena *a, struct err *err)
{
    code->at = arena_alloc(a, ((size_t)code->len + 1) * sizeof *code->at);
    if (!code->at)
        return err_set(err, -ENOMEM, "out of memory");
    for (uint32_t pc = 0; pc < code->len;) {
        uint32_t n = insn_len(code->bytes, code->len, pc);
        if (n == 0)
            return err_set(err, -EINVAL, "pc %u: bad opcode 0x%02x", pc, code->bytes[pc]);
        code->at[pc] = code->n_insns++;
        for (uint32_t i = 1; i < n; i++)
            code->at[pc + i] = CODE_NONE;
        pc += n;
    }
    code->at[code->len] = code->n_insns;
    code->insns = arena_alloc(a, ((size_t)code->n_insns + 1) * sizeof *code->insns);
    if (!code->insns)
        return err_set(err, -ENOMEM, "out of memory");
    for (uint32_t pc = 0; pc < code->len; pc++)
        if (code->at[pc] != CODE_NONE) {
            uint8_t op = code->bytes[pc];
            code->insns[code->at[pc]] =
                (struct code_insn){.pc = pc, .op = op, .kind = insn_ops[op].kind};
        }
    code->insns[code->n_insns].pc = code->len;
    return 0;
}

/* The number of the instruction at `target`, which becomes a jump target; CODE_NONE: none there. */
static uint32_t take_target(struct code *code, int64_t target)
{
    if (target < 0 || target >= code->len || code->at[target] == CODE_NONE)
        return CODE_NONE;
    code->insns[code->at[target]].is_target = true;
    return code->at[target];
}

static bool check_switch(struct code *code, uint32_t pc)
{
    struct insn_switch s = insn_switch_at(code->bytes, pc);
    bool ok = take_target(code, (int64_t)pc + (int32_t)be_get4(code->bytes + s.def)) != CODE_NONE;
    for (uint32_t i = 0; i < s.n && ok; i++) {
        int32_t offset = (int32_t)be_get4(code->bytes + s.first + (size_t)i * s.stride);
        ok = take_target(code, (int64_t)pc + offset) != CODE_NONE;
    }
    return ok;
}

static int check_targets(struct code *code, struct err *err)
{
    for (uint32_t i = 0; i < code->n_insns; i++) {
        struct code_insn *in = &code->insns[i];
        bool ok = true;
        if (in->kind == INSN_SWITCH) {
            ok = check_switch(code, in->pc);
        } else if (insn_is_branch(in->kind)) {
            in->target = take_target(code, insn_target(code->bytes, in->pc));
            ok = in->target != CODE_NONE;
        }
        if (!ok)
            return err_set(err, -EINVAL, "pc %u: branch to no instruction", in->pc);
    }
    return 0;
}

static int parse_handlers(struct code *code, struct be_reader *r, struct arena *a, struct err *err)
{
    code->n_handlers = be_u2(r);
    if ((size_t)code->n_handlers * 8 > r->end - r->pos)
        return err_set(err, -EINVAL, "exception table does not fit");
    code->handlers = arena_alloc(a, code->n_handlers * sizeof *code->handlers);
    if (!code->handlers)
        return err_set(err, -ENOMEM, "out of memory");
    for (uint32_t i = 0; i < code->n_handlers; i++) {
        uint32_t start = be_u2(r), end = be_u2(r), handler = be_u2(r), type = be_u2(r);
        bool ok = start < end && end <= code->len && handler < code->len &&
                  code->at[start] != CODE_NONE && code->at[end] != CODE_NONE &&
                  code->at[handler] != CODE_NONE;
        if (!ok)
            return err_set(err, -EINVAL, "exception table entry %u: bad range", i);
        code->handlers[i] =
            (struct code_handler){code->at[start], code->at[end], code->at[handler], type};
        code->insns[code->at[handler]].is_target = true;
    }
    return 0;
}

static int parse_layout(struct code *code, bool old_layout, struct arena *a, struct err *err)
{
    const struct cf_class *c = code->c;
    struct be_reader r = cf_reader(c, code->m->code, code->m->end);
    struct cf_attr attr = cf_next_attr(c, &r);
    r = cf_reader(c, attr.data, attr.end);
    *code = (struct code){.c = c, .m = code->m, .end = attr.end, .old_layout = old_layout};
    code->max_stack = old_layout ? be_u1(&r) : be_u2(&r);
    code->max_locals = old_layout ? be_u1(&r) : be_u2(&r);
    code->len = old_layout ? be_u2(&r) : be_u4(&r);
    code->bytes = c->p + r.pos;
    if (!be_skip(&r, code->len) || code->len == 0 || code->len > UINT16_MAX)
        return err_set(err, -EINVAL, "code_length %u is not possible", code->len);
    TRY(parse_insns(code, a, err));
    TRY(check_targets(code, err));
    TRY(parse_handlers(code, &r, a, err));
    code->attrs = (uint32_t)r.pos;
    uint32_t n = be_u2(&r);
    for (uint32_t i = 0; i < n && !r.bad; i++)
        cf_next_attr(c, &r);
    if (r.bad || r.pos != r.end)
        return err_set(err, -EINVAL, "attributes of the Code attribute do not fit");
    return 0;
}

int code_parse(struct code *code, const struct cf_class *c, const struct cf_method *m,
               struct arena *a, struct err *err)
{
    *code = (struct code){.c = c, .m = m};
    /* Before 45.3 the fields were shorter.  JVMs up to 8 read them so, JDK 17 no longer does; only
     * one of the two fits the attribute's length. */
    if (c->major == 45 && c->minor < 3 && parse_layout(code, true, a, NULL) == 0)
        return 0;
    return parse_layout(code, false, a, err);
}
