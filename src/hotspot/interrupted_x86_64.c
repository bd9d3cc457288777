#include "hotspot/methods.h"
#include "hotspot/native_x86_64.h"
#include "hotspot/odd_stubs_x86_64.h"

#define WORD sizeof(uintptr_t)
enum { RAX = 0, RBX = 3, R13 = 13 };

static int interrupted_interpreter(struct run *r, struct cursor *c,
                                   const struct interpreter_registers *regs)
{
    uintptr_t tries[2];
    struct cursor caller = {0};
    struct method_view v;
    enum interpreter_part part = interpreter_part_at(r->in, &r->s, c->pc, regs, &caller, tries);
    if (part == INTERPRETER_FRAME)
        return run_interpreted(r, c, regs) == STEP_FAILED
                   ? WALK_NOT_WALKABLE_JAVA
                   : run_all(r, c, PC_EXACT, false, WALK_NOT_WALKABLE_JAVA);
    if (part == INTERPRETER_UNKNOWN)
        return WALK_UNKNOWN_JAVA;
    if (part == INTERPRETER_EXIT) {
        *c = caller;
        return run_all(r, c, PC_EXACT, false, WALK_UNKNOWN_JAVA);
    }
    if (!method_view(r->l, regs->by_number[RBX], &v))
        return WALK_UNKNOWN_JAVA;
    struct walk_frame f = {.method = v.method, .pc = c->pc, .kind = WALK_INTERPRETED};
    if (v.access & ACC_NATIVE)
        f.kind = WALK_NATIVE, f.bci = -1;
    caller.pc = tries[0];
    if (!run_believable(r, &caller))
        caller.pc = tries[1];
    /* A method handle's linker may have popped one argument below the caller's sp. */
    if (!caller.pc || caller.sp + WORD < r->s.low || run_emit(r, &f) == STEP_END)
        return WALK_UNKNOWN_JAVA;
    *c = caller;
    return run_all(r, c, PC_EXACT, false, WALK_UNKNOWN_JAVA);
}

/* Wrapper code of a native method: checks, fast paths, then push rbp; mov rbp, rsp; sub rsp, and
 * maybe the barrier of its entry.  rbp stays until its leave, and behind that it goes elsewhere by a
 * jump: to the poll's handler, or where exceptions are forwarded. */
static enum frame_part wrapper_part(const struct blob *b, const struct cursor *c)
{
    enum { LINK_WORDS = 2 };
    uintptr_t complete = b->code_begin + (uintptr_t)b->frame_complete;
    if (b->frame_complete <= 0)
        return FRAME_UNKNOWN;
    if (c->pc >= complete) {
        enum frame_part part = jumps_out(b, c->pc) ? FRAME_RETURN : frame_part_at(b, 0, c->pc);
        bool linked = c->fp == c->sp + (uintptr_t)(b->frame_words - LINK_WORDS) * WORD;
        return part == FRAME_WHOLE && !linked ? FRAME_UNKNOWN : part;
    }
    for (uintptr_t at = b->code_begin; at < complete; at++)
        if (frame_setup_makes(at, b->frame_words))
            return c->pc <= at ? FRAME_RETURN : frame_part_at(b, at, c->pc);
    return FRAME_UNKNOWN;
}

static enum frame_part nmethod_part(const struct nmethod *nm, bool linker, const struct cursor *c)
{
    uintptr_t pc = c->pc;
    if (linker)
        return FRAME_RETURN;
    if (nm->blob.native)
        return wrapper_part(&nm->blob, c);
    enum frame_part part = frame_part_at(&nm->blob, nm->verified_entry, pc);
    if (part == FRAME_WHOLE && nm->osr_entry && pc > nm->osr_entry)
        part = frame_part_at(&nm->blob, nm->osr_entry, pc);
    return part;
}

/* Whether a call leads into a stub of its own nmethod: to the interpreter, where it was decided what
 * runs.  A method that the interpreter left for code compiled on the stack (OSR) has such a caller. */
static bool is_own_stub(const struct run *r, uintptr_t return_pc, uintptr_t at,
                        const struct nmethod *own)
{
    struct nmethod nm = *own;
    return return_pc >= nm.blob.code_begin && return_pc < nm.blob.code_end &&
           at != nm.blob.code_begin && nmethod_read_entries(r->l, &nm) && at != nm.verified_entry;
}

/* Whether the call behind a return address may have called this method: a direct call of another
 * one says that a frame was passed over. */
static bool may_have_called(const struct run *r, uintptr_t return_pc, const struct nmethod *callee)
{
    struct blob b;
    struct nmethod target;
    uintptr_t at = call_target(return_pc);
    if (!at || in_interpreter(r->l, return_pc) || !codecache_find(r->l, at, &b) ||
        b.kind != BLOB_NMETHOD || !nmethod_read(r->l, &b, &target))
        return true;
    return target.method == callee->method || (b.native && method_is_linker(r->l, target.method)) ||
           is_own_stub(r, return_pc, at, &target);
}

static int interrupted_nmethod(struct run *r, const struct blob *b, struct cursor *c)
{
    struct nmethod nm;
    if (run_enters_continuation(r, b) || !nmethod_read(r->l, b, &nm) ||
        !nmethod_read_entries(r->l, &nm))
        return WALK_UNKNOWN_JAVA;
    uintptr_t pc = c->pc, complete = b->code_begin + (uintptr_t)b->frame_complete;
    bool linker = b->native && method_is_linker(r->l, nm.method), early = pc < complete;
    enum frame_part part = nmethod_part(&nm, linker, c);
    struct cursor caller;
    if ((nm.deopt && pc >= nm.deopt) || !run_pushed_caller(r, b, part, c, &caller) ||
        (!linker && !may_have_called(r, caller.pc, &nm)))
        return WALK_UNKNOWN_JAVA;
    enum step s = STEP_MORE;
    if (linker || pc < nm.verified_entry)
        ; /* no frame of this method yet, and maybe never */
    else if (early && part != FRAME_WHOLE)
        s = run_emit_method(r, &nm, pc, b->native ? -1 : 0);
    else
        s = run_emit_scopes(r, &nm, pc, PC_INTERRUPTED);
    *c = caller;
    if (s != STEP_MORE)
        return s == STEP_END ? r->n : WALK_NOT_WALKABLE_JAVA;
    return run_all(r, c, PC_EXACT, false, WALK_NOT_WALKABLE_JAVA);
}

/* Called by a direct call into the same blob? */
static bool called_here(const struct blob *b, const struct cursor *caller, uintptr_t *entry)
{
    *entry = call_target(caller->pc);
    return *entry >= b->code_begin && *entry < b->code_end;
}

/* A leaf stub: either its return address is on top of the stack, or it set up a frame with rbp. The
 * call before a return address, and the code it calls, show which of the two. */
static bool leaf_caller(const struct run *r, const struct blob *b, const struct cursor *c,
                        struct cursor *caller)
{
    const uintptr_t cookie = UINTPTR_MAX;
    uintptr_t entry;
    *caller = (struct cursor){.sp = c->sp + WORD, .fp = c->fp};
    if (stack_word(&r->s, c->sp, &caller->pc) && called_here(b, caller, &entry)) {
        uint32_t setup = frame_setup_bytes(entry);
        if (!setup || (c->pc >= entry && c->pc <= entry + setup - 4) ||
            frame_part_at(b, 0, c->pc) == FRAME_RETURN)
            return true;
    }
    *caller = (struct cursor){.sp = c->fp + 2 * WORD};
    if (c->fp < c->sp || !stack_slot(&r->s, c->fp, 0, &caller->fp) ||
        !stack_slot(&r->s, c->fp, 1, &caller->pc))
        return false;
    /* The stub that an nmethod's entry barrier calls has pushed a word of its own before. */
    if (caller->pc == cookie) {
        caller->sp += WORD;
        return stack_slot(&r->s, c->fp, 2, &caller->pc) && called_here(b, caller, &entry);
    }
    return called_here(b, caller, &entry) && frame_setup_bytes(entry) &&
           !(c->pc >= entry && c->pc < entry + frame_setup_bytes(entry));
}

/* Whether a word of the stack can be the return address of the call that led to where the thread
 * is: into the blob `b`, or (NULL) out of the code cache. */
static bool leads_here(const struct run *r, const struct blob *b, uintptr_t word)
{
    uintptr_t target;
    if (!codecache_contains(r->l, word) || !(target = call_target(word)))
        return false;
    return b ? target >= b->code_begin && target < b->code_end : !codecache_contains(r->l, target);
}

/* When registers and instructions do not tell where the return address is: look for it.  The real
 * one is among those found.  Others may have been left over from calls before: so an answer counts
 * only when it is the only one, and that of a compiled method (of others the size is not known). */
static bool search_caller(const struct run *r, const struct blob *b, const struct cursor *c,
                          struct cursor *caller)
{
    enum { STUB_WORDS = 64, NATIVE_WORDS = 2048 };
    uintptr_t at = c->sp, end = c->sp + (b ? STUB_WORDS : NATIVE_WORDS) * WORD;
    int found = 0;
    for (; at < end && at < r->s.high && found < 2; at += WORD) {
        struct cursor from = {.sp = at + WORD}, next;
        struct blob method;
        if (!stack_word(&r->s, at, &from.pc) || !leads_here(r, b, from.pc))
            continue;
        if (!codecache_find(r->l, from.pc, &method) || method.kind != BLOB_NMETHOD || method.native)
            return false;
        if (!run_pushed_caller(r, &method, FRAME_WHOLE, &from, &next) || !run_believable(r, &next))
            continue;
        *caller = from;
        found++;
    }
    return found == 1;
}

/* Some stubs are jumped to when a method has left its frame, as if its caller had called them. */
static bool jumped_caller(const struct run *r, const struct blob *b, const struct cursor *c,
                          struct cursor *caller)
{
    return (b->kind == BLOB_OTHER || b->kind == BLOB_STUBS || b->kind == BLOB_CONTINUATION) &&
           frame_caller(&r->s, b, FRAME_RETURN, c, caller) &&
           !interpreter_has_no_frame(r->in, caller->pc) && run_believable(r, caller);
}

static int interrupted_leaf(struct run *r, const struct blob *b, struct cursor *c)
{
    struct cursor caller;
    struct blob from;
    uintptr_t pc = c->pc;
    bool leaf = leaf_caller(r, b, c, &caller) && codecache_find(r->l, caller.pc, &from) &&
                from.kind == BLOB_NMETHOD && !from.native;
    /* A stub of the runtime may have replaced its return address: then there is nothing to find. */
    if (!leaf && !jumped_caller(r, b, c, &caller) &&
        (b->kind == BLOB_RUNTIME || !search_caller(r, b, c, &caller)))
        return WALK_UNKNOWN_JAVA;
    enum pc_match match = run_believable(r, &caller) ? PC_EXACT : PC_NEAR;
    *c = caller;
    return run_emit_stub(r, pc) == STEP_END ? r->n : run_all(r, c, match, false, WALK_UNKNOWN_JAVA);
}

/* The place in generated code after a call of a C function outside of it? */
static bool called_out(const struct run *r, uintptr_t return_pc, uintptr_t *function)
{
    struct blob b;
    if (!in_interpreter(r->l, return_pc) &&
        (!codecache_find(r->l, return_pc, &b) || b.kind == BLOB_ADAPTER || b.native))
        return false;
    *function = call_target(return_pc);
    return *function && !codecache_contains(r->l, *function);
}

/* Follow frames that C links by rbp, from the one at `fp`, to the place in generated code that
 * called the first of them.  That this one is the function that was called, the call behind the
 * place tells. */
static bool follow_links(const struct run *r, uintptr_t fp, struct cursor *caller)
{
    enum { DEEP = 64 };
    uintptr_t function;
    for (int i = 0; i < DEEP; i++) {
        *caller = (struct cursor){.sp = fp + 2 * WORD};
        if (!stack_slot(&r->s, fp, 0, &caller->fp) || !stack_slot(&r->s, fp, 1, &caller->pc))
            return false;
        if (codecache_contains(r->l, caller->pc))
            return called_out(r, caller->pc, &function) && frame_setup_in_c(function);
        if (caller->fp <= fp)
            return false;
        fp = caller->fp;
    }
    return false;
}

/* In C, called without leaving Java: the function may have no frame (not yet, or no longer), or it
 * and those it called are linked by rbp; what they called in turn may lack one. */
static bool native_caller(const struct run *r, const struct cursor *c, struct cursor *caller)
{
    enum { RET = 0xc3, FRAMELESS_BYTES = 1024 };
    uintptr_t function;
    uint8_t op = 0;
    *caller = (struct cursor){.sp = c->sp + WORD, .fp = c->fp};
    if (stack_word(&r->s, c->sp, &caller->pc) && called_out(r, caller->pc, &function) &&
        (c->pc == function || (guarded_u8(c->pc, &op) && op == RET) ||
         (c->pc > function && c->pc - function < FRAMELESS_BYTES && !frame_setup_in_c(function))))
        return true;
    return c->fp >= c->sp && follow_links(r, c->fp, caller);
}

/* Functions of libc use rbp for something else, and have saved it: one of the words from sp on is
 * the link of the youngest frame that has one.  Words left over from calls before may be links,
 * too: so all that lead to generated code must lead to the same place. */
static bool saved_link_caller(const struct run *r, const struct cursor *c, struct cursor *caller)
{
    enum { WORDS = 512 };
    struct cursor found = {0};
    uintptr_t end = c->sp + WORDS * WORD;
    for (uintptr_t at = c->sp; at < end && at < r->s.high; at += WORD) {
        uintptr_t link;
        if (!stack_word(&r->s, at, &link) || link <= at || !stack_has(&r->s, link) ||
            !follow_links(r, link, caller))
            continue;
        if (found.sp && found.sp != caller->sp)
            return false;
        found = *caller;
        end = found.sp - 2 * WORD; /* the links of its callees are below */
    }
    *caller = found;
    return found.sp != 0;
}

static int called_by_interpreter(struct run *r, struct cursor *c,
                                 const struct interpreter_registers *regs)
{
    enum step s = run_interpreted(r, c, regs);
    return s == STEP_END      ? r->n
           : s == STEP_FAILED ? WALK_UNKNOWN_JAVA
                              : run_all(r, c, PC_EXACT, false, WALK_UNKNOWN_JAVA);
}

/* The wrapper of a native method aligns its stack for some calls: its frame hangs on rbp. */
static bool wrapper_frame(const struct blob *b, struct cursor *c)
{
    enum { LINK_WORDS = 2, ALIGNED_WORDS = 4 };
    uintptr_t sp = c->fp - (uintptr_t)(b->frame_words - LINK_WORDS) * WORD;
    if (sp < c->sp || sp - c->sp > ALIGNED_WORDS * WORD)
        return false;
    c->sp = sp;
    return true;
}

/* A stub that a method has jumped to when its own frame was gone (C1's for exceptions that it does
 * not catch): the return address is on top, below what aligned the stack for the call. */
static int jumped_and_called(struct run *r, const struct blob *b, struct cursor *c)
{
    enum { ALIGNED_WORDS = 2 };
    struct cursor caller = {0}, next;
    int found = 0;
    for (uintptr_t i = 0; i < ALIGNED_WORDS; i++) {
        struct cursor from = *c;
        from.sp += i * WORD;
        if (!frame_caller(&r->s, b, FRAME_RETURN, &from, &next) || !run_believable(r, &next))
            continue;
        caller = next;
        found++;
    }
    if (found != 1)
        return WALK_UNKNOWN_JAVA;
    uintptr_t pc = c->pc;
    *c = caller;
    return run_emit_stub(r, pc) == STEP_END ? r->n
                                            : run_all(r, c, PC_EXACT, false, WALK_UNKNOWN_JAVA);
}

/* A stub that called C, with the frame that is described, or as one of the others. */
static int called_by_stub(struct run *r, const struct blob *b, struct cursor *c)
{
    struct cursor next, leaf = *c;
    int32_t n = r->n;
    if (b->kind == BLOB_RUNTIME && frame_caller(&r->s, b, FRAME_WHOLE, c, &next) &&
        run_believable(r, &next))
        return run_all(r, c, PC_EXACT, true, WALK_UNKNOWN_JAVA);
    int rc = interrupted_leaf(r, b, &leaf);
    if (rc >= 0)
        return rc;
    r->n = n;
    return jumped_and_called(r, b, c);
}

/* Generated code has called C, of which all frames are known: *c is exact. */
static int called_exactly(struct run *r, struct cursor *c, const struct interpreter_registers *regs)
{
    struct blob b;
    if (in_interpreter(r->l, c->pc))
        return called_by_interpreter(r, c, regs);
    if (!codecache_find(r->l, c->pc, &b))
        return WALK_UNKNOWN_JAVA;
    switch (b.kind) {
    case BLOB_NMETHOD:
        if (!b.native)
            return run_all(r, c, PC_NEAR, false, WALK_UNKNOWN_JAVA);
        return wrapper_frame(&b, c) ? run_all(r, c, PC_EXACT, true, WALK_UNKNOWN_JAVA)
                                    : WALK_UNKNOWN_JAVA;
    case BLOB_DEOPT:
        return run_all(r, c, PC_EXACT, true, WALK_UNKNOWN_JAVA);
    case BLOB_UPCALL:
        return WALK_UNKNOWN_JAVA;
    default:
        return called_by_stub(r, &b, c);
    }
}

/* By what is known of C's frames.  False: they cannot be unwound; nothing was added. */
static bool unwound_native(struct run *r, const struct cursor *c,
                           const struct interpreter_registers *regs, int *rc)
{
    struct unwind_frame f;
    struct interpreter_registers then;
    struct cursor caller;
    int32_t n = r->n;
    if (!r->unwinder)
        return false;
    native_from_registers(regs, c->pc, &f);
    switch (native_frames(r, &f, r->s.high)) {
    case NATIVE_GENERATED:
        native_to_registers(&f, &then, &caller);
        *rc = f.interrupted ? run_interrupted(r, &caller, &then, true)
                            : called_exactly(r, &caller, &then);
        return true;
    case NATIVE_BOTTOM: /* about to call Java for the first time */
    case NATIVE_FULL:
        *rc = r->n;
        return true;
    case NATIVE_LOST:
        break;
    }
    r->n = n;
    if (r->out->options & WALK_WITH_NATIVE)
        r->out->flags |= WALK_CUT_NATIVE;
    return false;
}

static int interrupted_native(struct run *r, struct cursor *c,
                              const struct interpreter_registers *regs)
{
    struct cursor caller;
    struct blob b;
    int rc;
    if (unwound_native(r, c, regs, &rc))
        return rc;
    if (!native_caller(r, c, &caller) && !saved_link_caller(r, c, &caller) &&
        !search_caller(r, NULL, c, &caller))
        return WALK_UNKNOWN_JAVA;
    *c = caller;
    if (in_interpreter(r->l, c->pc))
        return called_by_interpreter(r, c, regs);
    if (!codecache_find(r->l, c->pc, &b))
        return WALK_UNKNOWN_JAVA;
    return b.kind == BLOB_NMETHOD ? run_all(r, c, PC_NEAR, false, WALK_UNKNOWN_JAVA)
                                  : interrupted_leaf(r, &b, c);
}

/* An adapter between the calling conventions keeps the return address in rax while it moves the
 * arguments.  The caller is interpreted (then rbp is its frame), or compiled (then r13 is its
 * sp). */
static bool adapter_caller(const struct run *r, const struct cursor *c,
                           const struct interpreter_registers *regs, struct cursor *caller)
{
    *caller = (struct cursor){regs->by_number[RAX], c->sp, c->fp};
    if (in_interpreter(r->l, caller->pc))
        return run_believable(r, caller);
    caller->sp = regs->by_number[R13];
    return caller->sp >= c->sp && stack_has(&r->s, caller->sp) && run_believable(r, caller);
}

/* A stub of the runtime.  Those that begin with push rbp; mov rbp, rsp save registers step by step
 * and restore them so: only rbp tells whether the frame is whole. */
static bool runtime_caller(const struct run *r, const struct blob *b, const struct cursor *c,
                           struct cursor *caller)
{
    enum { LINK_WORDS = 2 };
    enum frame_part part = frame_part_at(b, b->code_begin, c->pc);
    if (part == FRAME_WHOLE && frame_setup_bytes(b->code_begin) &&
        c->fp != c->sp + (uintptr_t)(b->frame_words - LINK_WORDS) * WORD)
        return false;
    return frame_caller(&r->s, b, part, c, caller) && run_believable(r, caller);
}

/* Stubs that are entered with a return address to a place that is described. */
static int interrupted_stub(struct run *r, const struct blob *b, struct cursor *c,
                            const struct interpreter_registers *regs)
{
    struct cursor caller;
    uintptr_t pc = c->pc;
    bool found;
    if (b->kind == BLOB_RUNTIME)
        found = runtime_caller(r, b, c, &caller);
    else
        found = frame_caller(&r->s, b, FRAME_RETURN, c, &caller) && run_believable(r, &caller);
    if (!found && b->kind == BLOB_ADAPTER)
        found = adapter_caller(r, c, regs, &caller);
    if (!found)
        return interrupted_leaf(r, b, c);
    *c = caller;
    return run_emit_stub(r, pc) == STEP_END ? r->n
                                            : run_all(r, c, PC_EXACT, false, WALK_UNKNOWN_JAVA);
}

/* What a stub's rules have not found: nothing of it has been added. */
static int interrupted_odd(struct run *r, const struct blob *b, struct cursor *c,
                           const struct interpreter_registers *regs)
{
    struct odd_caller caller;
    uintptr_t pc = c->pc;
    if (!odd_stub_caller(r, b, c, regs, &caller))
        return WALK_UNKNOWN_JAVA;
    *c = caller.at;
    if (c->sp < r->s.low) /* a frame that is being left: see there */
        r->s.low = c->sp;
    if (caller.cut && r->out->options & WALK_WITH_NATIVE)
        r->out->flags |= WALK_CUT_NATIVE;
    return run_emit_stub(r, pc) == STEP_END
               ? r->n
               : run_all(r, c, caller.match, caller.vm, WALK_UNKNOWN_JAVA);
}

static int interrupted_blob(struct run *r, const struct blob *b, struct cursor *c,
                            const struct interpreter_registers *regs)
{
    switch (b->kind) {
    case BLOB_NMETHOD:
        return interrupted_nmethod(r, b, c);
    case BLOB_DEOPT:
        return WALK_DEOPT;
    case BLOB_UPCALL:
    case BLOB_SIGNATURES:
        return WALK_UNKNOWN_JAVA;
    case BLOB_STUBS:
    case BLOB_CONTINUATION:
    case BLOB_OTHER:
        return interrupted_leaf(r, b, c);
    default:
        return interrupted_stub(r, b, c, regs);
    }
}

int run_interrupted(struct run *r, struct cursor *c, const struct interpreter_registers *regs,
                    bool generated)
{
    struct blob b;
    if (!generated)
        return interrupted_native(r, c, regs);
    if (in_interpreter(r->l, c->pc))
        return interrupted_interpreter(r, c, regs);
    if (!codecache_find(r->l, c->pc, &b))
        return WALK_UNKNOWN_JAVA;
    struct cursor at = *c;
    int32_t n = r->n, taken = r->taken;
    uint32_t flags = r->out->flags;
    int rc = interrupted_blob(r, &b, c, regs);
    if (rc != WALK_UNKNOWN_JAVA || r->taken != taken)
        return rc;
    r->n = n;
    r->out->flags = flags;
    *c = at;
    return interrupted_odd(r, &b, c, regs);
}
