#include "hotspot/run.h"

#include "hotspot/chunk_x86_64.h"
#include "hotspot/methods.h"
#include "hotspot/native_x86_64.h"
#include "hotspot/poll_x86_64.h"

#include <stdatomic.h>

#define WORD sizeof(uintptr_t)

/* --- what a frame may be ---------------------------------------------------------------------- */

/* Continuation.enterSpecial's code, below every virtual thread's frames: 0 until a walk has met it.
 * The JVM never frees it. */
static _Atomic uintptr_t entry_begin, entry_end;

bool run_enters_continuation(const struct run *r, const struct blob *b)
{
    uintptr_t method;
    if (b->kind != BLOB_NMETHOD || !b->native ||
        !guarded_word(b->at + (uintptr_t)r->l->nm_method, &method) ||
        !method_enters_continuation(r->l, method))
        return false;
    atomic_store_explicit(&entry_begin, b->code_begin, memory_order_relaxed);
    /* release: who sees the end sees the begin */
    atomic_store_explicit(&entry_end, b->code_end, memory_order_release);
    return true;
}

/* By where it was met before. */
static bool in_continuation_entry(uintptr_t pc)
{
    /* acquire: pairs with run_enters_continuation */
    return pc < atomic_load_explicit(&entry_end, memory_order_acquire) &&
           pc >= atomic_load_explicit(&entry_begin, memory_order_relaxed);
}

bool run_believable(const struct run *r, const struct cursor *c)
{
    struct blob b;
    struct nmethod nm;
    struct walk_frame f;
    if (in_interpreter(r->l, c->pc))
        return interpreted_frame(&(struct interpreted_in){r->l, &r->s, r->methods}, c, NULL, &f);
    if (c->pc == r->l->call_stub_return)
        return c->fp > c->sp && stack_has(&r->s, c->fp);
    if (!codecache_find(r->l, c->pc, &b))
        return false;
    if (b.kind != BLOB_NMETHOD)
        return b.kind == BLOB_CONTINUATION;
    if (b.native) /* the wrapper of a native method calls C only */
        return run_enters_continuation(r, &b);
    return nmethod_read(r->l, &b, &nm) &&
           (c->pc == nm.deopt || c->pc == nm.deopt_mh || nmethod_scope(r->l, &nm, c->pc) >= 0);
}

bool run_pushed_caller(const struct run *r, const struct blob *b, enum frame_part part,
                       const struct cursor *c, struct cursor *caller)
{
    enum { PUSHES = 4 };
    if (!frame_caller(&r->s, b, part, c, caller))
        return false;
    if (part != FRAME_WHOLE || run_believable(r, caller))
        return true;
    int found = 0;
    for (uintptr_t i = 1; i <= PUSHES; i++) {
        struct cursor from = *c, to;
        from.sp += i * WORD;
        if (!frame_caller(&r->s, b, part, &from, &to) || !run_believable(r, &to))
            continue;
        *caller = to;
        found++;
    }
    return found == 1;
}

/* --- frames ----------------------------------------------------------------------------------- */

/* All frames so far to the taker. False: none, or it wants no more. */
static bool give_away(struct run *r)
{
    struct walk *w = r->out;
    if (!w->take || r->n == 0)
        return false;
    run_stamp(r, 0);
    int32_t n = r->n;
    r->taken += n;
    r->n = 0;
    return w->take(w, n);
}

/* Room for what one step may give; false: no further frames are wanted. */
static bool make_room(struct run *r)
{
    if (!r->out->take || r->out->max - r->n >= WALK_ROOM || give_away(r))
        return true;
    r->out->flags |= WALK_CUT_DEPTH;
    return false;
}

/* STEP_END: no room. */
enum step run_emit(struct run *r, const struct walk_frame *f)
{
    if (r->n >= r->out->max && !give_away(r)) {
        r->out->flags |= WALK_CUT_DEPTH;
        return STEP_END;
    }
    r->out->frames[r->n++] = *f;
    return STEP_MORE;
}

enum step run_emit_stub(struct run *r, uintptr_t pc)
{
    struct walk_frame f = {.pc = pc, .bci = -1, .kind = WALK_STUB};
    return r->out->options & WALK_WITH_STUBS ? run_emit(r, &f) : STEP_MORE;
}

/* Nothing else has looked at it: where scopes are, they name the method, too. */
enum step run_emit_method(struct run *r, const struct nmethod *nm, uintptr_t pc, int32_t bci)
{
    struct method_view v;
    if (!method_view(r->l, nm->method, &v))
        return STEP_FAILED;
    struct walk_frame f = {.method = nm->method,
                           .pc = pc,
                           .bci = bci,
                           .kind = nm->blob.native ? WALK_NATIVE : WALK_COMPILED,
                           .level = nm->level};
    return run_emit(r, &f);
}

static enum step emit_all(struct run *r, const struct walk_frame *f, int32_t n, uintptr_t pc,
                          bool near)
{
    enum step step = STEP_MORE;
    for (int32_t i = 0; i < n && step == STEP_MORE; i++) {
        struct walk_frame one = f[i];
        one.pc = pc;
        one.near = near && i == 0;
        step = run_emit(r, &one);
    }
    return step;
}

/* Where no description is: the innermost of them is somewhere near its bci. */
static enum step emit_all_near(struct run *r, const struct walk_frame *f, int32_t n, uintptr_t pc)
{
    r->out->flags |= WALK_NEAR;
    return emit_all(r, f, n, pc, true);
}

/* A place that no description is for: C2's code between two calls, or after the call of a leaf.  Of
 * what is inlined there, that is believed in which the neighbours agree; in a loop, what its poll
 * says; of an instruction in code that is described everywhere, the place that comes next.  Calls
 * of the JVM's own (of a monitor's slow path) may be of no bytecode, even there. */
static enum step emit_near(struct run *r, const struct nmethod *nm, uintptr_t pc,
                           enum pc_match match)
{
    enum { DEEP = 48 };
    struct walk_frame before[DEEP], after[DEEP];
    bool certain = r->out->options & WALK_ONLY_CERTAIN;
    struct nmethod_near near = nmethod_near(r->l, nm, pc);
    int32_t b = near.before > 0 ? nmethod_frames(r->l, nm, near.before, before, DEEP) : 0;
    int32_t a = near.after > 0 ? nmethod_frames(r->l, nm, near.after, after, DEEP) : 0;
    b = b <= DEEP ? b : 0;
    a = a <= DEEP ? a : 0;
    if (near.all && match == PC_INTERRUPTED && a > 0 && !certain)
        return emit_all(r, after, a, pc, false);
    if (a <= 0 && b <= 0) {
        r->out->flags |= WALK_NEAR;
        return run_emit_method(r, nm, pc, -1);
    }
    if (a > 0 && (r->out->options & WALK_GUESS_INLINED ||
                  (!certain && near.after_pc && poll_loop_has(&nm->blob, near.after_pc, pc))))
        return emit_all_near(r, after, a, pc);
    /* The outermost is the compiled method itself, whichever describes it. */
    if (a <= 0 || b <= 0 || certain)
        return emit_all_near(r, a > 0 ? after + a - 1 : before + b - 1, 1, pc);
    /* From the outermost on: the same method, called from the same place. */
    int32_t same = 1;
    while (same < a && same < b && after[a - same].bci == before[b - same].bci &&
           after[a - same - 1].method == before[b - same - 1].method)
        same++;
    return emit_all_near(r, after + a - same, same, pc);
}

enum step run_emit_scopes(struct run *r, const struct nmethod *nm, uintptr_t pc,
                          enum pc_match match)
{
    if (nm->blob.native)
        return run_emit_method(r, nm, pc, -1);
    if (match != PC_EXACT)
        return emit_near(r, nm, pc, match);
    int32_t scope = nmethod_scope(r->l, nm, pc);
    if (scope < 0)
        return STEP_FAILED;
    if (scope == 0)
        return run_emit_method(r, nm, pc, -1);
    struct walk_frame *to = r->out->frames + r->n;
    int32_t room = r->out->max - r->n;
    int32_t n = nmethod_frames(r->l, nm, scope, to, room);
    if (n < 0)
        return STEP_FAILED;
    for (int32_t i = 0; i < n && i < room; i++)
        to[i].pc = pc;
    r->n += n < room ? n : room;
    if (n <= room)
        return STEP_MORE;
    r->out->flags |= WALK_CUT_DEPTH;
    return STEP_END;
}

/* The pc of a frame that is to be deoptimized is in the frame; its return address is the
 * handler. */
static bool undo_deopt(const struct run *r, const struct nmethod *nm, struct cursor *c)
{
    if (c->pc != nm->deopt && c->pc != nm->deopt_mh)
        return true;
    return nm->orig_pc >= 0 && stack_word(&r->s, c->sp + (uintptr_t)nm->orig_pc, &c->pc) &&
           c->pc >= nm->blob.code_begin && c->pc <= nm->blob.code_end;
}

void run_stamp(struct run *r, int32_t from)
{
    if (!(r->out->options & WALK_WITH_STAMPS))
        return;
    for (int32_t i = from; i < r->n; i++) {
        struct walk_frame *f = &r->out->frames[i];
        if (!f->stamp && f->method)
            f->stamp = method_stamp_at(r->l, f->method);
    }
}

static enum step decoded(struct run *r, const struct blob *b, struct cursor *c, enum pc_match match)
{
    struct nmethod nm;
    struct cursor caller;
    uintptr_t pc = c->pc;
    int32_t first = r->n;
    if (match == PC_NEAR)
        trail_break(r->out->trail);
    if (!nmethod_read(r->l, b, &nm) || !undo_deopt(r, &nm, c) ||
        !(match == PC_NEAR ? run_pushed_caller(r, b, FRAME_WHOLE, c, &caller)
                           : frame_caller(&r->s, b, FRAME_WHOLE, c, &caller)))
        return STEP_FAILED;
    enum step step = run_emit_scopes(r, &nm, c->pc, match);
    run_stamp(r, first);
    if (step == STEP_MORE && match == PC_EXACT && pc == c->pc && r->cache)
        pc_cache_put(r->cache, &nm, pc, r->out->frames + first, r->n - first);
    if (pc != c->pc)
        trail_break(r->out->trail);
    trail_put_code(r->out->trail, nm.blob.at, nm.method, (uint32_t)nm.compile_id);
    trail_put_word(r->out->trail, caller.sp - WORD, caller.pc);
    r->fp_told = false;
    *c = caller;
    return step;
}

/* Over the frames that the cache knows; false: there are none. */
static bool remembered(struct run *r, struct cursor *c, bool called_vm)
{
    const struct pc_cache_room room = {r->out->frames + r->n, r->out->max - r->n,
                                       (r->out->options & WALK_WITH_STAMPS) != 0, r->out->trail};
    int32_t n = r->cache ? pc_cache_walk(r->cache, r->l, &r->s, c, &room, &called_vm) : 0;
    r->n += n;
    r->fp_told = r->fp_told && n == 0;
    return n > 0;
}

/* Of the caller of compiled code and of stubs: where they keep it, as it stands there. */
static void tell_fp(struct run *r, const struct cursor *c)
{
    enum { LINK_WORDS = 2 };
    uintptr_t at = c->sp - LINK_WORDS * WORD, link = c->fp;
    if (!r->fp_told && (!r->s.frozen || stack_word(&r->s, at, &link)))
        trail_put_word(r->out->trail, at, link);
    r->fp_told = true;
}

/* Go on at the frame that a JavaFrameAnchor names. */
static enum step to_anchor(const struct run *r, uintptr_t anchor, struct cursor *c)
{
    const struct layout *l = r->l;
    uintptr_t sp, pc, fp;
    if (!stack_word(&r->s, anchor + (uintptr_t)l->last_sp, &sp) ||
        !stack_word(&r->s, anchor + (uintptr_t)l->last_pc, &pc) ||
        !stack_word(&r->s, anchor + (uintptr_t)l->last_fp, &fp))
        return STEP_FAILED;
    trail_put_word(r->out->trail, anchor + (uintptr_t)l->last_sp, sp);
    trail_put_word(r->out->trail, anchor + (uintptr_t)l->last_pc, pc);
    trail_put_word(r->out->trail, anchor + (uintptr_t)l->last_fp, fp);
    if (sp && !pc)
        trail_break(r->out->trail);
    if (!sp)
        return STEP_END;
    if (sp <= c->sp || sp >= r->s.high || (!pc && !stack_slot(&r->s, sp, -1, &pc)))
        return STEP_FAILED;
    *c = (struct cursor){pc, sp, fp};
    return STEP_MORE;
}

static enum step entry_frame(struct run *r, struct cursor *c)
{
    uintptr_t wrapper, fp = c->fp;
    if (fp <= c->sp || !stack_slot(&r->s, fp, ENTRY_WRAPPER, &wrapper) || wrapper <= fp)
        return STEP_FAILED;
    tell_fp(r, c);
    trail_put_word(r->out->trail, fp + (uintptr_t)(ENTRY_WRAPPER * (intptr_t)WORD), wrapper);
    if (run_emit_stub(r, c->pc) == STEP_END)
        return STEP_END;
    enum step step = to_anchor(r, wrapper + (uintptr_t)r->l->wrapper_anchor, c);
    if (step == STEP_FAILED)
        return STEP_FAILED;
    uintptr_t limit = step == STEP_END ? r->s.high : c->sp;
    return native_below_entry(r, fp, limit) == STEP_END ? STEP_END : step;
}

static enum step upcall(struct run *r, const struct blob *b, struct cursor *c)
{
    int32_t data;
    trail_break(r->out->trail);
    if (r->l->upcall_frame_data < 0 || r->l->upcall_anchor < 0 ||
        !guarded_i32(b->at + (uintptr_t)r->l->upcall_frame_data, &data) || data < 0)
        return STEP_FAILED;
    if (run_emit_stub(r, c->pc) == STEP_END)
        return STEP_END;
    /* Where its stub keeps the registers of C is not known. */
    if (r->out->options & WALK_WITH_NATIVE)
        r->out->flags |= WALK_CUT_NATIVE;
    return to_anchor(r, c->sp + (uintptr_t)data + (uintptr_t)r->l->upcall_anchor, c);
}

/* C1 calls the stub that unlocks a monitor as a leaf, without a description of the place. */
static bool is_leaf_call(const struct run *r, const struct blob *stub, uintptr_t return_pc)
{
    struct blob b;
    struct nmethod nm;
    uintptr_t target = call_target(return_pc);
    return target >= stub->code_begin && target < stub->code_end &&
           codecache_find(r->l, return_pc, &b) && b.kind == BLOB_NMETHOD && !b.native &&
           nmethod_read(r->l, &b, &nm) && nmethod_scope(r->l, &nm, return_pc) < 0;
}

static enum step runtime(struct run *r, const struct blob *b, struct cursor *c, enum pc_match *next)
{
    struct cursor caller;
    uintptr_t pc = c->pc;
    if (!frame_caller(&r->s, b, FRAME_WHOLE, c, &caller))
        return STEP_FAILED;
    *c = caller;
    trail_put_word(r->out->trail, caller.sp - WORD, caller.pc);
    r->fp_told = false;
    if (is_leaf_call(r, b, caller.pc))
        *next = PC_NEAR;
    return run_emit_stub(r, pc);
}

/* The youngest frame of a chunk. */
static void tell_chunk(struct run *r, const struct cursor *c)
{
    trail_put_chunk(r->out->trail, c->sp, r->s.high);
    trail_put_word(r->out->trail, c->sp - WORD, c->pc);
    r->fp_told = false;
}

/* The frames of all chunks of the mounted thread.  False: they are not known, none is added. */
static bool chunk_frames(struct run *r)
{
    struct chunk_walk w;
    struct cursor c;
    /* What is taken could not be taken back. */
    if (!r->chunks || r->out->take || !chunks_begin(&w, r->chunks, r->thread)) {
        trail_break(r->out->trail);
        return false;
    }
    struct stack stack = r->s;
    uint32_t flags = r->out->flags;
    int32_t n = r->n;
    int rc = 1;
    while (rc > 0 && !(r->out->flags & WALK_CUT_DEPTH)) {
        rc = chunks_next(&w, &r->s, &c);
        if (rc > 0)
            tell_chunk(r, &c);
        if (rc > 0 && run_all(r, &c, PC_EXACT, false, -1) < 0)
            rc = -1;
    }
    r->s = stack;
    if (r->out->flags & WALK_CUT_DEPTH) /* what made it too deep was not read */
        trail_break(r->out->trail);
    if (rc >= 0 && chunks_end(&w))
        return true;
    trail_break(r->out->trail);
    r->n = n;
    r->out->flags = flags;
    return false;
}

/* A virtual thread's frames that were not thawed yet return to a stub, the return barrier. */
static enum step barrier(struct run *r)
{
    if (r->s.frozen)
        return STEP_FAILED;
    r->out->flags |= (chunk_frames(r) ? WALK_FROM_HEAP : WALK_CUT_UNTHAWED) | WALK_VIRTUAL;
    return STEP_END;
}

/* Behind the outermost frame of a chunk. */
static bool is_chunk_end(const struct run *r, const struct cursor *c)
{
    enum { LINK_WORDS = 2 };
    return r->s.frozen && c->sp + LINK_WORDS * WORD >= r->s.high;
}

enum step run_interpreted(struct run *r, struct cursor *c, const struct interpreter_registers *regs)
{
    struct walk_frame f;
    struct cursor caller;
    if (!interpreted_frame(&(struct interpreted_in){r->l, &r->s, r->methods}, c, regs, &f) ||
        !interpreted_caller(&r->s, c, &caller))
        return STEP_FAILED;
    if (!(r->out->options & WALK_WITH_STAMPS))
        f.stamp = 0;
    tell_fp(r, c);
    interpreted_trail(r->out->trail, &r->s, c);
    *c = caller;
    enum step step = run_emit(r, &f);
    if (step == STEP_MORE) {
        run_stamp(r, r->n - 1);
        trail_put_method(r->out->trail, f.method, r->out->frames[r->n - 1].stamp);
    }
    return step;
}

/* A native method calls C only, so what Java code returns to is not one. */
static enum step caller_interpreted(struct run *r, struct cursor *c, bool called_vm)
{
    enum step step = run_interpreted(r, c, NULL);
    bool native = step == STEP_MORE && r->out->frames[r->n - 1].kind == WALK_NATIVE;
    return native && !called_vm ? STEP_FAILED : step;
}

static enum step continuation_end(struct run *r)
{
    r->out->flags |= WALK_VIRTUAL;
    return STEP_END;
}

/* The frame at *c, which called something; *c becomes its caller.  *vm: it called the VM or C;
 * *match: how the place is described; both for the caller too. */
static enum step step(struct run *r, struct cursor *c, enum pc_match *match, bool *vm)
{
    enum pc_match now = *match;
    bool called_vm = *vm;
    *vm = false;
    struct blob b;
    *match = PC_EXACT;
    if (is_chunk_end(r, c))
        return STEP_END;
    if (in_interpreter(r->l, c->pc))
        return caller_interpreted(r, c, called_vm);
    if (c->pc == r->l->call_stub_return) {
        *vm = true;
        return entry_frame(r, c);
    }
    if (in_continuation_entry(c->pc))
        return continuation_end(r);
    if (now == PC_EXACT && remembered(r, c, called_vm))
        return STEP_MORE;
    if (!codecache_find(r->l, c->pc, &b))
        return STEP_FAILED;
    switch (b.kind) {
    case BLOB_NMETHOD:
        if (run_enters_continuation(r, &b))
            return continuation_end(r);
        return b.native && !called_vm ? STEP_FAILED : decoded(r, &b, c, now);
    case BLOB_UPCALL:
        return upcall(r, &b, c);
    case BLOB_CONTINUATION:
        return barrier(r);
    case BLOB_RUNTIME:
    case BLOB_DEOPT:
        return called_vm ? runtime(r, &b, c, match) : STEP_FAILED;
    default:
        return STEP_FAILED;
    }
}

int run_all(struct run *r, struct cursor *c, enum pc_match match, bool vm, int failed)
{
    while (make_room(r)) {
        uintptr_t sp = c->sp;
        switch (step(r, c, &match, &vm)) {
        case STEP_END:
            return r->n;
        case STEP_FAILED:
            return failed;
        case STEP_MORE:
            break;
        }
        if (c->sp <= sp)
            return failed;
    }
    return r->n;
}
