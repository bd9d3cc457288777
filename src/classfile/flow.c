/* flow.c - where in a constructor `this` is initialized: a walk over all ways through the code with
 * two facts, whether super(...) or this(...) was called and how many objects made by `new` still
 * wait for their own <init>.
 *
 * An <init> belongs to the newest waiting object, or to `this` when none waits.  Each object is
 * initialized once, so after more <init> than `new` the one of `this` was among them, in whatever
 * order they came.  Ways that disagree about the number, and frames that contradict, make the
 * method `unsure`. */
#include "classfile/rewrite.h"

struct flow {
    struct code *code;
    uint16_t *waiting;
    uint32_t *list; /* instructions to go on from */
    bool *listed;
    uint32_t n;
    bool unsure;
};

static void arrive(struct flow *f, uint32_t insn, enum code_this state, uint16_t waiting)
{
    if (insn >= f->code->n_insns)
        return;
    struct code_insn *in = &f->code->insns[insn];
    if (in->this_state != CODE_THIS_UNSEEN && f->waiting[insn] != waiting)
        f->unsure = true;
    enum code_this joined =
        in->this_state == CODE_THIS_UNSEEN || in->this_state == state ? state : CODE_THIS_MIXED;
    if (joined == in->this_state)
        return;
    in->this_state = (uint8_t)joined;
    f->waiting[insn] = waiting;
    if (!f->listed[insn]) {
        f->listed[insn] = true;
        f->list[f->n++] = insn;
    }
}

static void arrive_switch(struct flow *f, const struct code_insn *in, enum code_this state,
                          uint16_t waiting)
{
    const struct code *code = f->code;
    struct insn_switch s = insn_switch_at(code->bytes, in->pc);
    arrive(f, code->at[in->pc + be_get4(code->bytes + s.def)], state, waiting);
    for (uint32_t i = 0; i < s.n; i++) {
        uint32_t offset = be_get4(code->bytes + s.first + (size_t)i * s.stride);
        arrive(f, code->at[in->pc + offset], state, waiting);
    }
}

/* The effect of `new` and of invokespecial <init>. */
static void execute(struct flow *f, const struct code_insn *in, enum code_this *state,
                    uint16_t *waiting)
{
    struct cf_ref ref;
    if (in->op == OP_NEW) {
        ++*waiting;
        return;
    }
    if (in->op != OP_INVOKESPECIAL ||
        !cf_ref_at(f->code->c, be_get2(f->code->bytes + in->pc + 1), &ref) ||
        !cf_text_is(ref.name, "<init>"))
        return;
    if (*waiting > 0)
        --*waiting;
    else if (*state == CODE_THIS_READY)
        f->unsure = true;
    else
        *state = *state == CODE_THIS_UNINIT ? CODE_THIS_READY : CODE_THIS_MIXED;
}

static void step(struct flow *f, uint32_t insn)
{
    struct code *code = f->code;
    const struct code_insn *in = &code->insns[insn];
    enum code_this state = (enum code_this)in->this_state;
    uint16_t waiting = f->waiting[insn];
    for (uint32_t i = 0; i < code->n_handlers; i++)
        if (code->handlers[i].start <= insn && insn < code->handlers[i].end)
            arrive(f, code->handlers[i].handler, state, 0);
    execute(f, in, &state, &waiting);
    if (in->kind == INSN_SWITCH)
        arrive_switch(f, in, state, waiting);
    else if (insn_is_branch(in->kind))
        arrive(f, in->target, state, waiting);
    if (insn_falls_through(in->kind)) /* for jsr: the subroutine does not change the facts */
        arrive(f, insn + 1, state, waiting);
}

static bool contradicts(const struct rewrite *w)
{
    for (uint32_t i = 0; i < w->frames.n; i++) {
        const struct frame *f = &w->frames.v[i];
        uint8_t state = w->code.insns[w->code.at[f->pc]].this_state;
        struct vtype self = frame_slot(f, 0);
        if ((state == CODE_THIS_READY && self.tag == VT_UNINIT_THIS) ||
            (state == CODE_THIS_UNINIT && vtype_is_ref(self)))
            return true;
    }
    return false;
}

static void set_all(struct code *code, enum code_this state)
{
    for (uint32_t i = 0; i < code->n_insns; i++)
        code->insns[i].this_state = (uint8_t)state;
}

int flow_this(struct rewrite *w, struct err *err)
{
    struct code *code = &w->code;
    struct flow f = {.code = code};
    if (!w->is_ctor) {
        set_all(code, CODE_THIS_READY);
        return 0;
    }
    f.waiting = arena_alloc(w->arena, code->n_insns * sizeof *f.waiting);
    f.list = arena_alloc(w->arena, code->n_insns * sizeof *f.list);
    f.listed = arena_alloc(w->arena, code->n_insns * sizeof *f.listed);
    if (!f.waiting || !f.list || !f.listed)
        return err_set(err, -ENOMEM, "out of memory");
    f.unsure = (uint64_t)code->n_insns * code->n_handlers > REWRITE_MAX_WORK;
    arrive(&f, 0, CODE_THIS_UNINIT, 0);
    while (f.n > 0 && !f.unsure) {
        uint32_t insn = f.list[--f.n];
        f.listed[insn] = false;
        step(&f, insn);
    }
    w->unsure = f.unsure || contradicts(w);
    if (w->unsure)
        set_all(code, CODE_THIS_MIXED);
    return 0;
}
