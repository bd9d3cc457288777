/* keep.c - parameters that a probe needs after the entry.
 *
 * A parameter whose slot is never written and has the declared type in every frame is used where it
 * is.  Any other is copied at entry to a new local behind the method's own, and every frame says
 * so. In handlers and copies a reference is a java/lang/Object: every reference is assignable to it
 * without a look at its class. */
#include "classfile/rewrite.h"

static struct vtype type_of_kind(struct rewrite *w, char kind)
{
    enum vtype_tag tag = kind == 'I'   ? VT_INTEGER
                         : kind == 'J' ? VT_LONG
                         : kind == 'F' ? VT_FLOAT
                         : kind == 'D' ? VT_DOUBLE
                                       : VT_OBJECT;
    if (tag == VT_OBJECT)
        return protect_class(w, "java/lang/Object");
    return (struct vtype){(uint8_t)tag, 0};
}

uint32_t keep_slot(const struct rewrite *w, uint32_t slot)
{
    return slot < 256 && w->copy[slot] ? w->copy[slot] : slot;
}

static bool is_stored(const struct rewrite *w, uint32_t slot, char kind)
{
    uint32_t end = slot + desc_kind_slots(kind);
    for (uint32_t i = 0; i < w->code.n_insns; i++) {
        uint32_t at, n = insn_stores(w->code.bytes, w->code.insns[i].pc, &at);
        if (n && at < end && slot < at + n)
            return true;
    }
    return false;
}

static bool has_type(const struct rewrite *w, const struct frame *f, uint32_t slot, char kind)
{
    struct vtype x = frame_slot(f, slot);
    uint8_t state = w->code.insns[w->code.at[f->pc]].this_state;
    if (w->is_ctor && slot == 0 && state != CODE_THIS_READY)
        return state != CODE_THIS_UNINIT || x.tag == VT_UNINIT_THIS;
    switch (kind) {
    case 'I':
        return x.tag == VT_INTEGER;
    case 'J':
        return x.tag == VT_LONG;
    case 'F':
        return x.tag == VT_FLOAT;
    case 'D':
        return x.tag == VT_DOUBLE;
    default:
        return vtype_is_ref(x);
    }
}

static void need(struct rewrite *w, uint32_t slot, char kind)
{
    if (w->copy[slot])
        return;
    bool safe = !is_stored(w, slot, kind);
    for (uint32_t i = 0; i < w->frames.n && safe; i++)
        safe = has_type(w, &w->frames.v[i], slot, kind);
    if (safe)
        return;
    w->copy[slot] = (uint16_t)w->temps;
    w->temps += desc_kind_slots(kind);
}

/* The slot and kind of the parameter that an argument names; false: it names none. */
static bool param_of(const struct rewrite *w, const struct cf_arg *arg, uint32_t *slot, char *kind)
{
    bool is_static = w->m->access & CF_ACC_STATIC;
    *slot = 0;
    *kind = 'A';
    if (arg->source == CF_ARG_THIS || arg->source == CF_ARG_LOCK)
        return !is_static;
    if (arg->source != CF_ARG_PARAM)
        return false;
    *slot = w->desc.slot[arg->value] + !is_static;
    *kind = w->desc.kind[arg->value];
    return true;
}

/* The kind of the parameter that starts at the slot. */
static char kind_at(const struct rewrite *w, uint32_t slot)
{
    uint32_t first = w->m->access & CF_ACC_STATIC ? 0 : 1;
    for (uint32_t i = 0; i < w->desc.n; i++)
        if (first + w->desc.slot[i] == slot)
            return w->desc.kind[i];
    return 'A';
}

/* What the copy of the parameter at `slot` is in frame f. */
static struct vtype copy_type(struct rewrite *w, const struct frame *f, uint32_t slot)
{
    uint8_t state = w->code.insns[w->code.at[f->pc]].this_state;
    if (!w->is_ctor || slot != 0 || state == CODE_THIS_READY)
        return type_of_kind(w, kind_at(w, slot));
    if (state == CODE_THIS_MIXED)
        return (struct vtype){VT_TOP, 0};
    for (uint32_t i = 0; i < f->n_locals; i++)
        if (f->locals[i].tag == VT_UNINIT_THIS)
            state = CODE_THIS_UNINIT;
    return state == CODE_THIS_UNINIT ? (struct vtype){VT_UNINIT_THIS, 0} : type_of_kind(w, 'A');
}

static void put_slot(struct vtype *slots, uint32_t at, struct vtype x)
{
    slots[at] = x;
    if (x.tag == VT_LONG || x.tag == VT_DOUBLE)
        slots[at + 1] = (struct vtype){VT_SECOND, 0};
}

static int extend_frames(struct rewrite *w, struct err *err)
{
    struct vtype *slots = arena_alloc(w->arena, w->temps * sizeof *slots);
    if (!slots)
        return err_set(err, -ENOMEM, "out of memory");
    for (uint32_t i = 0; i < w->frames.n; i++) {
        struct frame *f = &w->frames.v[i];
        uint32_t n = frame_to_slots(f, slots, w->code.max_locals);
        if (n == CODE_NONE)
            return err_set(err, -EINVAL, "pc %u: the frame has too many locals", f->pc);
        for (; n < w->temps; n++)
            slots[n] = (struct vtype){VT_TOP, 0};
        for (uint32_t slot = 0; slot < 256; slot++)
            if (w->copy[slot])
                put_slot(slots, w->copy[slot], copy_type(w, f, slot));
        if (frame_from_slots(&w->frames, f, slots, n, w->arena) < 0)
            return err_set(err, -E2BIG, "the frames have too many types");
    }
    return 0;
}

/* What the handler of AT_THROW finds in its locals: only what its probes use. */
static int make_exit_frame(struct rewrite *w, struct err *err)
{
    struct vtype *slots = arena_alloc(w->arena, (w->temps + 1) * sizeof *slots);
    if (!slots)
        return err_set(err, -ENOMEM, "out of memory");
    for (uint32_t i = 0; i < w->n_edits; i++)
        for (uint32_t k = 0; k < w->edits[i].probe.n_args; k++) {
            uint32_t slot;
            char kind;
            if (w->edits[i].at == CF_AT_THROW &&
                param_of(w, &w->edits[i].probe.args[k], &slot, &kind))
                put_slot(slots, keep_slot(w, slot), type_of_kind(w, kind));
        }
    struct vtype *stack = arena_alloc(w->arena, sizeof *stack);
    if (!stack || frame_from_slots(&w->frames, &w->exit_frame, slots, w->temps, w->arena) < 0)
        return err_set(err, -ENOMEM, "out of memory");
    *stack = protect_class(w, "java/lang/Throwable");
    w->exit_frame.pc = CODE_NONE;
    w->exit_frame.stack = stack;
    w->exit_frame.n_stack = 1;
    return 0;
}

int keep_plan(struct rewrite *w, struct err *err)
{
    uint32_t first = w->temps;
    for (uint32_t i = 0; i < w->n_edits; i++)
        for (uint32_t k = 0; k < w->edits[i].probe.n_args; k++) {
            uint32_t slot;
            char kind;
            if (w->edits[i].at != CF_AT_ENTRY && w->edits[i].at != CF_REPLACE_CALL &&
                param_of(w, &w->edits[i].probe.args[k], &slot, &kind))
                need(w, slot, kind);
        }
    if (w->temps != first && w->temps <= UINT16_MAX)
        TRY(extend_frames(w, err));
    if (w->temps > w->max_locals)
        w->max_locals = w->temps;
    return w->has_exit && w->has_frames ? make_exit_frame(w, err) : 0;
}

void keep_emit(struct rewrite *w)
{
    for (uint32_t slot = 0; slot < 256; slot++)
        if (w->copy[slot]) {
            emit_load(&w->emit, kind_at(w, slot), slot);
            emit_store(&w->emit, kind_at(w, slot), w->copy[slot]);
        }
}
