/* protect.c - handlers for one instruction, and which handlers of the original unlock a monitor.
 *
 * The locals at an instruction are not computed.  But the original verifies, so what is there is
 * assignable to the frame of every handler that covers the instruction; a new handler that rethrows
 * to these handlers needs just what they need.  So its locals are theirs, slot by slot, and where
 * two of them ask for different classes there is no handler. */
#include "classfile/rewrite.h"

#include <string.h>

enum {
    MAX_SLOTS = 1024,   /* keeps the arrays below on the stack */
    MAX_COVERING = 100, /* handlers of one instruction; bounds the work on a class made to hurt */
    LOOK_AHEAD = 8,     /* javac's region starts behind monitorenter, scalac's after some stores */
    LOOK_HANDLER = 24,
    LOOK_EXITS = 8, /* from an exit to its handler's exit, and on */
};

struct vtype protect_class(struct rewrite *w, const char *name)
{
    return (struct vtype){VT_OBJECT, (uint16_t)cpool_class(w->pool, name, strlen(name))};
}

struct added_handler *protect_add(struct rewrite *w)
{
    if (w->n_added == w->cap_added) {
        uint32_t cap = w->cap_added ? 2 * w->cap_added : 8;
        struct added_handler *v = arena_alloc(w->arena, cap * sizeof *v);
        if (!v)
            return NULL;
        if (w->n_added)
            memcpy(v, w->added, w->n_added * sizeof *v);
        w->added = v;
        w->cap_added = cap;
    }
    w->added[w->n_added] = (struct added_handler){.insn = CODE_NONE};
    return &w->added[w->n_added++];
}

/* Join what two handlers ask of one slot; false when that is not possible without the class
 * tree. */
static bool join(struct vtype *have, struct vtype want, struct vtype object)
{
    if (want.tag == VT_TOP || vtype_equal(*have, want))
        return want.tag != VT_UNINIT_THIS;
    if (have->tag == VT_TOP || (vtype_equal(*have, object) && vtype_is_ref(want))) {
        *have = want;
        return want.tag != VT_UNINIT_THIS; /* such a frame is for code before super(...) */
    }
    return vtype_equal(want, object) && vtype_is_ref(*have);
}

static bool join_frame(const struct frame *f, struct vtype *slots, struct vtype object)
{
    struct vtype more[MAX_SLOTS];
    uint32_t n = frame_to_slots(f, more, MAX_SLOTS);
    if (n == CODE_NONE)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!join(&slots[i], more[i], object))
            return false;
    return true;
}

bool protect_frame(struct rewrite *w, uint32_t insn, uint32_t object, struct frame *out)
{
    const struct code *code = &w->code;
    struct vtype slots[MAX_SLOTS];
    uint32_t covering = 0;
    *out = (struct frame){.pc = CODE_NONE};
    if (code->insns[insn].this_state != CODE_THIS_READY)
        return false;
    if (!w->has_frames)
        return true;
    struct vtype top = protect_class(w, "java/lang/Object");
    memset(slots, 0, sizeof slots);
    for (uint32_t i = 0; i < code->n_handlers; i++) {
        const struct code_handler *h = &code->handlers[i];
        if (insn < h->start || insn >= h->end)
            continue;
        if (++covering > MAX_COVERING)
            return false;
        const struct frame *f = frames_find(&w->frames, code->insns[h->handler].pc);
        if (!f || !join_frame(f, slots, top))
            return false;
    }
    if (w->has_exit && !join_frame(&w->exit_frame, slots, top))
        return false;
    if (object != CODE_NONE && object >= MAX_SLOTS)
        return false;
    if (object != CODE_NONE)
        slots[object] = top;
    struct vtype *stack = arena_alloc(w->arena, sizeof *stack);
    if (!stack || frame_from_slots(&w->frames, out, slots, MAX_SLOTS, w->arena) < 0)
        return false;
    *stack = protect_class(w, "java/lang/Throwable");
    out->stack = stack;
    out->n_stack = 1;
    return true;
}

/* The local that the instruction loads a reference from, or CODE_NONE. */
static uint32_t loaded(const struct code *code, uint32_t insn)
{
    const uint8_t *p = code->bytes + code->insns[insn].pc;
    if (p[0] >= OP_ALOAD_0 && p[0] < OP_ALOAD_0 + 4)
        return p[0] - (uint32_t)OP_ALOAD_0;
    if (p[0] == OP_ALOAD)
        return p[1];
    return p[0] == OP_WIDE && p[1] == OP_ALOAD ? be_get2(p + 2) : CODE_NONE;
}

/* Where the straight code from `insn` leaves the monitor in local `lock` (CODE_NONE: any), or
 * CODE_NONE. */
static uint32_t exit_from(const struct code *code, uint32_t insn, uint32_t lock)
{
    for (uint32_t i = insn; i < code->n_insns && i < insn + LOOK_HANDLER; i++) {
        const struct code_insn *in = &code->insns[i];
        uint32_t from = i > insn ? loaded(code, i - 1) : CODE_NONE;
        if (in->op == OP_MONITOREXIT && (lock == CODE_NONE || from == CODE_NONE || from == lock))
            return i;
        if (!insn_falls_through(in->kind) || insn_is_branch(in->kind))
            break;
    }
    return CODE_NONE;
}

/* The first handler for everything that covers the instruction, or CODE_NONE. */
static uint32_t catcher(const struct code *code, uint32_t insn)
{
    for (uint32_t i = 0; i < code->n_handlers; i++) {
        const struct code_handler *h = &code->handlers[i];
        if (h->start <= insn && insn < h->end && h->type == 0)
            return i;
    }
    return CODE_NONE;
}

enum cf_unlock protect_unlocks(const struct rewrite *w, uint32_t insn, uint32_t *catcher_of)
{
    const struct code *code = &w->code;
    uint32_t lock = insn ? loaded(code, insn - 1) : CODE_NONE, at = insn;
    *catcher_of = CODE_NONE;
    for (uint32_t i = 0; i < LOOK_EXITS; i++) {
        uint32_t h = catcher(code, at);
        at = h != CODE_NONE ? exit_from(code, code->handlers[h].handler, lock) : CODE_NONE;
        if (at == CODE_NONE)
            return i ? CF_UNLOCKS_THERE : CF_UNLOCKS_NOWHERE;
        *catcher_of = i ? *catcher_of : h;
        if (at == insn)
            return CF_UNLOCKS_HERE;
    }
    return CF_UNLOCKS_HERE;
}

bool protect_retries(const struct rewrite *w, uint32_t insn)
{
    const struct code *code = &w->code;
    for (uint32_t i = 0; i < code->n_handlers; i++) {
        const struct code_handler *h = &code->handlers[i];
        if (h->start <= h->handler && h->handler <= insn && insn < h->end)
            return true;
    }
    return false;
}

static bool region_starts(const struct code *code, uint32_t insn, uint32_t boundary)
{
    uint32_t i = catcher(code, boundary);
    if (i == CODE_NONE)
        return false;
    const struct code_handler *h = &code->handlers[i];
    return h->start == boundary && !(h->start <= insn && insn < h->end) &&
           exit_from(code, h->handler, CODE_NONE) != CODE_NONE;
}

/* Instructions that cannot throw and have no branch: nop, constants but ldc, loads and stores of
 * locals, pop to swap. */
static bool is_harmless(const struct code_insn *in)
{
    return in->op <= OP_SIPUSH || (in->op >= OP_ILOAD && in->op < 0x2e) ||
           (in->op >= OP_ISTORE && in->op <= OP_ASTORE_3) || (in->op >= OP_POP && in->op <= 0x5f);
}

uint32_t protect_region(const struct rewrite *w, uint32_t insn)
{
    const struct code *code = &w->code;
    for (uint32_t b = insn + 1; b < code->n_insns && b <= insn + LOOK_AHEAD; b++) {
        const struct code_insn *in = &code->insns[b];
        if (region_starts(code, insn, b))
            return b;
        if (in->is_target || in->has_frame || !is_harmless(in))
            break;
    }
    return CODE_NONE;
}
