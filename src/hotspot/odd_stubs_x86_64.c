#include "hotspot/odd_stubs_x86_64.h"

#include "base/util.h"

#include <string.h>

#define WORD sizeof(uintptr_t)
enum { RCX = 1, RDX = 2, RDI = 7, R13 = 13 };

/* --- what comes next -------------------------------------------------------------------------- */

static bool is_next(uintptr_t pc, const char *bytes, size_t n)
{
    uint8_t code[8];
    return n <= sizeof code && guarded_bytes(pc, code, n) && memcmp(code, bytes, n) == 0;
}

#define NEXT(pc, bytes) is_next(pc, bytes, sizeof(bytes) - 1)

/* Nothing but words of the JavaThread that are read and cleared, then jmp reg: an exception is on its
 * way to its handler. */
static bool leaves_for_handler(uintptr_t pc)
{
    static const struct {
        const char *bytes;
        uint8_t n, size;
    } moves[] = {
        {"\x4c\x8b\xc0", 3, 3},  /* mov r8, rax */
        {"\x49\x8b\x47", 3, 4},  /* mov rax, [r15+d8] */
        {"\x49\x8b\x87", 3, 7},  /* the same with d32 */
        {"\x49\x8b\x97", 3, 7},  /* mov rdx, [r15+d32] */
        {"\x49\xc7\x47", 3, 8},  /* mov [r15+d8], 0 */
        {"\x49\xc7\x87", 3, 11}, /* the same with d32 */
    };
    for (size_t steps = 0; steps < ARRAY_LEN(moves); steps++) {
        size_t i = 0;
        if (NEXT(pc, "\xff\xe3") || NEXT(pc, "\x41\xff\xe0")) /* jmp rbx, jmp r8 */
            return true;
        while (i < ARRAY_LEN(moves) && !is_next(pc, moves[i].bytes, moves[i].n))
            i++;
        if (i == ARRAY_LEN(moves))
            return false;
        pc += moves[i].size;
    }
    return false;
}

/* --- what may be the caller ------------------------------------------------------------------- */

static bool is_described(const struct run *r, const struct cursor *c, struct odd_caller *caller)
{
    *caller = (struct odd_caller){.at = *c, .match = PC_EXACT};
    return run_believable(r, c);
}

/* In the handler of a method. */
static bool is_handler(const struct run *r, const struct cursor *c, struct odd_caller *caller)
{
    struct blob b;
    struct cursor next;
    *caller = (struct odd_caller){.at = *c, .match = PC_NEAR};
    return codecache_find(r->l, c->pc, &b) && b.kind == BLOB_NMETHOD && !b.native &&
           run_pushed_caller(r, &b, FRAME_WHOLE, c, &next) && run_believable(r, &next);
}

/* The return address is `words` above sp. */
static bool returns_at(const struct run *r, const struct cursor *c, int32_t words,
                       struct cursor *caller)
{
    caller->sp = c->sp + (uintptr_t)(words + 1) * WORD;
    caller->fp = c->fp;
    return stack_slot(&r->s, c->sp, words, &caller->pc);
}

/* --- one kind each ---------------------------------------------------------------------------- */

/* A signature handler fetches the arguments of a native method for the interpreter, whose frame is
 * there already. */
static bool signature_caller(const struct run *r, const struct cursor *c, struct odd_caller *caller)
{
    struct cursor at;
    bool is =
        returns_at(r, c, 0, &at) && in_interpreter(r->l, at.pc) && is_described(r, &at, caller);
    caller->vm = true;
    return is;
}

/* The barrier at the entry of an nmethod calls this stub, also in the wrapper of a native method: it
 * pushes a word of its own, then has a frame.  What it returns to is not described in a wrapper. */
static bool barrier_caller(const struct run *r, const struct cursor *c, struct odd_caller *caller)
{
    static const uintptr_t cookie = UINTPTR_MAX;
    uintptr_t first = 0, second = 0, linked = 0, entry;
    struct cursor at;
    struct blob b;
    stack_slot(&r->s, c->sp, 0, &first);
    stack_slot(&r->s, c->sp, 1, &second);
    stack_slot(&r->s, c->fp, 1, &linked);
    if (linked == cookie && c->fp >= c->sp) {
        at = (struct cursor){.sp = c->fp + 3 * WORD};
        if (!stack_slot(&r->s, c->fp, 0, &at.fp) || !stack_slot(&r->s, c->fp, 2, &at.pc))
            return false;
    } else if (!returns_at(r, c, first == cookie ? 1 : second == cookie ? 2 : 0, &at)) {
        return false;
    }
    if (second == cookie && linked != cookie)
        at.fp = first;
    entry = call_target(at.pc);
    if (!is_next(entry, "\x68\xff\xff\xff\xff", 5) || c->pc < entry ||
        !codecache_find(r->l, at.pc, &b) || b.kind != BLOB_NMETHOD)
        return false;
    *caller = (struct odd_caller){at, b.native ? PC_EXACT : PC_NEAR, b.native, false};
    return !b.native || at.pc - b.code_begin <= (uintptr_t)b.frame_complete;
}

/* Where exceptions of what Java called are sent to its handlers: entered by a jump, the return
 * address is on top, below what aligns the stack for a call, then in rdx. */
static bool forwarding_caller(const struct run *r, const struct cursor *c,
                              const struct interpreter_registers *regs, struct odd_caller *caller)
{
    struct cursor at = {regs->by_number[RDX], c->sp, c->fp};
    if (leaves_for_handler(c->pc))
        return is_described(r, &at, caller);
    bool aligned = NEXT(c->pc, "\x48\x83\xc4\x08") ||                            /* add rsp, 8 */
                   (NEXT(c->pc, "\xe8") && NEXT(c->pc - 4, "\x48\x83\xec\x08")); /* sub, call */
    return aligned && returns_at(r, c, 1, &at) && is_described(r, &at, caller);
}

/* C2's stub for exceptions: a jump leads there, with the place of the exception in rdx, which it
 * pushes as its return address. */
static bool exception_caller(const struct run *r, const struct blob *b, const struct cursor *c,
                             const struct interpreter_registers *regs, struct odd_caller *caller)
{
    enum { PUSH_BYTES = 1 };
    struct cursor at = {regs->by_number[RDX], c->sp, c->fp};
    if (!NEXT(b->code_begin, "\x52\x48\x83\xec")) /* push rdx; sub rsp */
        return false;
    if (c->pc == b->code_begin || leaves_for_handler(c->pc))
        return is_described(r, &at, caller);
    bool bare = c->pc == b->code_begin + PUSH_BYTES || NEXT(c->pc, "\x5a"); /* pop rdx */
    return returns_at(r, c, bare ? 0 : 1, &at) && is_described(r, &at, caller);
}

/* Behind the leave of a stub that sends an exception to a handler: its address has replaced the
 * return address. */
static bool leaving_caller(const struct run *r, const struct cursor *c,
                           const struct interpreter_registers *regs, struct odd_caller *caller)
{
    struct cursor at = {regs->by_number[RCX], c->sp, c->fp};
    if (!NEXT(c->pc, "\xff\xe1") && !returns_at(r, c, 0, &at)) /* jmp rcx */
        return false;
    return is_handler(r, &at, caller);
}

static bool is_leaving(uintptr_t pc)
{
    return NEXT(pc, "\xc3") || NEXT(pc, "\x59\xff\xe1") || NEXT(pc, "\xff\xe1");
}

/* Stubs of the runtime that save and restore registers step by step, and the one of C1 that goes on
 * in the frame that another has made (it begins with the look for the exception): rbp is the
 * frame's. */
static bool linked_caller(const struct run *r, const struct blob *b, const struct cursor *c,
                          struct odd_caller *caller)
{
    struct cursor at = {.sp = c->fp + 2 * WORD};
    uint32_t setup = frame_setup_bytes(b->code_begin);
    bool made = setup ? c->pc >= b->code_begin + setup
                      : NEXT(b->code_begin, "\x49\x8b\x47") || NEXT(b->code_begin, "\x49\x8b\x87");
    return made && c->fp >= c->sp && c->fp - c->sp < (uintptr_t)b->frame_words * WORD &&
           stack_slot(&r->s, c->fp, 0, &at.fp) && stack_slot(&r->s, c->fp, 1, &at.pc) &&
           (is_described(r, &at, caller) || is_handler(r, &at, caller));
}

/* Behind push rbp, when its link is not made yet. */
static bool pushed_caller(const struct run *r, const struct blob *b, const struct cursor *c,
                          struct odd_caller *caller)
{
    enum { PUSH_BYTES = 1 };
    struct cursor at;
    uint32_t setup = frame_setup_bytes(b->code_begin);
    if (!setup || c->pc != b->code_begin + PUSH_BYTES || !returns_at(r, c, 1, &at) ||
        !stack_word(&r->s, c->sp, &at.fp))
        return false;
    return is_described(r, &at, caller) || is_handler(r, &at, caller);
}

/* A function of java.lang.Math that the interpreter enters without a frame calls its stub.  Its own
 * return address is below the stub's; the sp of its caller is in r13. */
static bool math_caller(const struct run *r, const struct cursor *c,
                        const struct interpreter_registers *regs, struct odd_caller *caller)
{
    enum { ARGUMENT_WORDS = 64 };
    uintptr_t entry, at = c->sp, fp = c->fp;
    struct cursor from = {.sp = regs->by_number[R13]};
    if (!stack_word(&r->s, at, &entry) || !interpreter_has_no_frame(r->in, entry)) {
        at = c->fp + WORD;
        if (c->fp < c->sp || !stack_word(&r->s, at, &entry) ||
            !interpreter_has_no_frame(r->in, entry) || !stack_word(&r->s, c->fp, &fp))
            return false;
    }
    from.fp = fp;
    if (!stack_word(&r->s, at + WORD, &from.pc))
        return false;
    at += 2 * WORD;
    if (!in_interpreter(r->l, from.pc))
        return from.sp >= at && from.sp - at < ARGUMENT_WORDS * WORD &&
               is_handler(r, &from, caller) && is_described(r, &from, caller);
    from.sp = at;
    return is_described(r, &from, caller);
}

/* The stub by which C calls Java: where it begins, and behind the place where it has kept its
 * wrapper. */
static bool find_call_stub(const struct layout *l, uintptr_t *begin, uintptr_t *kept)
{
    enum { BEFORE = 256 };
    static const char enter[] = "\x55\x48\x8b\xec\x48\x83\xec", keep[] = "\x48\x89\x7d\xd0";
    uint8_t code[BEFORE];
    uintptr_t from = l->call_stub_return - BEFORE;
    if (!guarded_bytes(from, code, BEFORE))
        return false;
    const uint8_t *at = code + BEFORE - sizeof enter;
    while (at > code && memcmp(at, enter, sizeof enter - 1) != 0)
        at--;
    const uint8_t *store = memmem(at, (size_t)(code + BEFORE - at), keep, sizeof keep - 1);
    *begin = from + (uintptr_t)(at - code);
    *kept = store ? from + (uintptr_t)(store - code) + sizeof keep - 1 : 0;
    return at > code && store;
}

/* Before Java is called, and behind its return: the frames below are those of the Java code that had
 * called C, if any. */
static bool call_stub(const struct run *r, const struct cursor *c,
                      const struct interpreter_registers *regs, struct odd_caller *caller)
{
    enum { BEHIND = 160 };
    uintptr_t begin, kept, to, anchor = regs->by_number[RDI] + (uintptr_t)r->l->wrapper_anchor;
    const struct layout *l = r->l;
    if (c->pc >= l->call_stub_return + BEHIND || !find_call_stub(l, &begin, &kept) || c->pc < begin)
        return false;
    *caller = (struct odd_caller){.match = PC_EXACT, .vm = true, .cut = true};
    struct cursor *at = &caller->at;
    if (c->pc < kept) /* the wrapper is in rdi */
        return stack_word(&r->s, anchor + (uintptr_t)l->last_sp, &at->sp) && at->sp > c->sp &&
               stack_word(&r->s, anchor + (uintptr_t)l->last_pc, &at->pc) &&
               stack_word(&r->s, anchor + (uintptr_t)l->last_fp, &at->fp) &&
               (at->pc || stack_slot(&r->s, at->sp, -1, &at->pc));
    /* Its frame stays where it was, also when it is left: no other code writes the 128 bytes below
     * sp in the meantime. */
    uintptr_t fp = NEXT(c->pc, "\xc3") ? c->sp - WORD : c->fp;
    *caller = (struct odd_caller){.match = PC_EXACT};
    *at = (struct cursor){l->call_stub_return, fp + ENTRY_WRAPPER * (intptr_t)WORD, fp};
    if (c->sp < at->sp)
        at->sp = c->sp;
    return fp + WORD >= c->sp && stack_slot(&r->s, fp, 1, &to) && !codecache_contains(l, to);
}

bool odd_stub_caller(const struct run *r, const struct blob *b, const struct cursor *c,
                     const struct interpreter_registers *regs, struct odd_caller *caller)
{
    switch (b->kind) {
    case BLOB_SIGNATURES:
        return signature_caller(r, c, caller);
    case BLOB_STUBS:
        return forwarding_caller(r, c, regs, caller) || barrier_caller(r, c, caller) ||
               math_caller(r, c, regs, caller) || call_stub(r, c, regs, caller);
    case BLOB_RUNTIME:
        if (is_leaving(c->pc))
            return leaving_caller(r, c, regs, caller);
        return exception_caller(r, b, c, regs, caller) || pushed_caller(r, b, c, caller) ||
               linked_caller(r, b, c, caller);
    default:
        return false;
    }
}
