#include "hotspot/interpreter_x86_64.h"

#include "base/util.h"
#include "hotspot/methods.h"
#include "hotspot/trail.h"

#include <string.h>

/* Slots in words from rbp: frame_x86.hpp of JDK 17 and 25. */
enum {
    SLOT_RETURN = 1,
    SLOT_LINK = 0,
    SLOT_SENDER_SP = -1,
    SLOT_METHOD = -3,
    SLOT_CACHE = -6,
    SLOT_BCP = -8,
    SLOT_BOTTOM = -9, /* of the expression stack */
};

enum { RAX = 0, RBX = 3, RSP = 4, RBP = 5, R11 = 11, R13 = 13 };
enum { WORD = sizeof(uintptr_t) };

/* --- the codelets ----------------------------------------------------------------------------- */

enum { CODELET_MAX = 16384, PREFIX = 24 };

struct codelet {
    uintptr_t begin, end;
    char description[PREFIX];
};

/* An InterpreterCodelet: char *description; int size; Bytecode; then its code. */
static bool read_codelet(uintptr_t at, struct codelet *c)
{
    enum { SIZE = 8, HEADER = 16 };
    uintptr_t text;
    int32_t size;
    if (!guarded_word(at, &text) || !guarded_i32(at + SIZE, &size) || size < HEADER ||
        size > CODELET_MAX || !guarded_bytes(text, c->description, 6))
        return false;
    size_t n = 0;
    while (n < PREFIX - 1 && guarded_u8(text + n, (uint8_t *)&c->description[n]) &&
           c->description[n])
        n++;
    c->description[n] = '\0';
    c->begin = at + HEADER;
    c->end = at + (uintptr_t)size;
    return true;
}

static void note_entry(struct interpreter *in, const struct codelet *c, const uint8_t *code)
{
    static const uint8_t enter[] = {0x55, 0x48, 0x8b, 0xec}; /* push rbp; mov rbp, rsp */
    if (in->n_entries == INTERPRETER_ENTRIES)
        return;
    struct interpreter_entry *e = &in->entries[in->n_entries++];
    size_t n = c->end - c->begin;
    *e = (struct interpreter_entry){c->begin, c->end, 0};
    const uint8_t *at = memmem(code, n, enter, sizeof enter);
    if (at)
        e->enter = c->begin + (uintptr_t)(at - code);
}

/* `code` at a leave: soon pop reg; mov rsp, rbx or r11; and soon after that maybe jmp reg.  Places
 * are offsets. */
static bool is_exit(const uint8_t *code, size_t n, struct interpreter_exit *e)
{
    enum { LEAVE = 0xc9, POP = 0x58, REX_B = 0x41, NUMBER = 7, REX_W = 0x48, MOV = 4 };
    enum { BEFORE_POP = 16, BEFORE_JUMP = 48 };
    static const uint8_t mov[] = {0x8b, 0xe3}; /* behind REX.W or REX.WB */
    if (n < BEFORE_POP + MOV || code[0] != LEAVE)
        return false;
    const uint8_t *m = memmem(code, BEFORE_POP + MOV, mov, sizeof mov);
    if (!m || m < code + 3 || (m[-1] | 1) != (REX_W | 1) || (m[-2] & ~NUMBER) != POP)
        return false;
    bool high = m[-3] == REX_B;
    e->reg = (uint8_t)((m[-2] & NUMBER) | (high ? 8 : 0));
    e->sp_reg = m[-1] == REX_W ? RBX : R11;
    e->leave = 0;
    e->pop = (uintptr_t)(m - code) - 2 - high;
    e->sp = (uintptr_t)(m - code) - 1;
    size_t after = e->sp + 3;
    const uint8_t jump[] = {REX_B, 0xff, (uint8_t)(0xe0 + (e->reg & NUMBER))};
    const uint8_t *found =
        memmem(code + after, min_u64(n - after, BEFORE_JUMP), jump + !high, sizeof jump - !high);
    e->end = found ? (uintptr_t)(found - code) : 0;
    return true;
}

static void note_exits(struct interpreter *in, const struct codelet *c, const uint8_t *code)
{
    for (size_t i = 0; c->begin + i < c->end && in->n_exits < INTERPRETER_EXITS; i++) {
        struct interpreter_exit *e = &in->exits[in->n_exits];
        if (!is_exit(code + i, c->end - c->begin - i, e))
            continue;
        uintptr_t at = c->begin + i;
        e->leave += at, e->pop += at, e->sp += at;
        e->end = e->end ? e->end + at : 0;
        in->n_exits++;
    }
}

static bool starts(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

int interpreter_open(struct interpreter *in, const struct layout *l, struct err *err)
{
    memset(in, 0, sizeof *in);
    uintptr_t at = l->interpreter_begin;
    struct codelet c;
    uint8_t code[CODELET_MAX];
    while (at < l->interpreter_end && read_codelet(at, &c) && c.end <= l->interpreter_end &&
           guarded_bytes(c.begin, code, c.end - c.begin)) {
        if (starts(c.description, "method entry point") ||
            starts(c.description, "native method entry poi"))
            note_entry(in, &c, code);
        note_exits(in, &c, code);
        at = c.end;
    }
    if (at != l->interpreter_end || in->n_entries < 4 || !in->entries[0].enter || in->n_exits < 4)
        return err_set(err, -ENOTSUP,
                       "no stack walks: this JVM's interpreter is not built as expected");
    return 0;
}

/* --- frames ----------------------------------------------------------------------------------- */

/* What hangs on the method of a frame whose constant pool's cache that is. */
static bool view_of(const struct layout *l, struct method_cache *known, uintptr_t method,
                    uintptr_t cache, struct method_known *k)
{
    struct method_view v;
    uintptr_t pool_cache;
    if (known && method_cache_find(known, l, method, k) && k->pool_cache == cache)
        return true;
    if (!method_view(l, method, &v) ||
        !guarded_word(v.pool + (uintptr_t)l->pool_cache, &pool_cache) || pool_cache != cache)
        return false;
    if (known)
        method_cache_put(known, l, &v);
    *k = (struct method_known){pool_cache, v.code, v.code_size, v.access, 0};
    return true;
}

static int32_t bci_of(const struct method_known *k, uintptr_t bcp)
{
    return bcp >= k->code && bcp - k->code < k->code_size ? (int32_t)(bcp - k->code) : -1;
}

bool interpreted_frame(const struct interpreted_in *in, const struct cursor *c,
                       const struct interpreter_registers *regs, struct walk_frame *f)
{
    uintptr_t method, cache, bcp = 0;
    struct method_known k;
    const struct stack *s = in->s;
    if (c->fp < c->sp || c->fp - c->sp < (uintptr_t)-SLOT_BOTTOM * WORD ||
        !stack_slot(s, c->fp, SLOT_METHOD, &method) || !stack_slot(s, c->fp, SLOT_CACHE, &cache) ||
        !stack_slot(s, c->fp, SLOT_BCP, &bcp) || !view_of(in->l, in->known, method, cache, &k))
        return false;
    *f = (struct walk_frame){
        .method = method, .pc = c->pc, .stamp = k.stamp, .bci = -1, .kind = WALK_NATIVE};
    if (k.access & ACC_NATIVE)
        return true;
    f->kind = WALK_INTERPRETED;
    if (regs)
        f->bci = bci_of(&k, regs->by_number[R13]);
    if (f->bci < 0)
        f->bci = bci_of(&k, bcp);
    return f->bci >= 0;
}

bool interpreted_caller(const struct stack *s, const struct cursor *c, struct cursor *caller)
{
    uintptr_t sp;
    if (!stack_slot(s, c->fp, SLOT_RETURN, &caller->pc) ||
        !stack_link(s, c->fp, SLOT_LINK, &caller->fp) || !stack_slot(s, c->fp, SLOT_SENDER_SP, &sp))
        return false;
    caller->sp = stack_place(s, c->fp, sp);
    /* The arguments of the outermost frame of a chunk are in the next one, or nowhere. */
    if (s->frozen && caller->sp > s->high)
        caller->sp = s->high;
    /* A method handle's linker may have popped one argument: then the caller's sp is in the
     * frame. */
    return caller->sp > c->fp && caller->sp <= s->high && caller->sp % WORD == 0;
}

void interpreted_trail(struct trail *t, const struct stack *s, const struct cursor *c)
{
    /* The cache is its method's, as long as that is the method it was. */
    static const int8_t slots[] = {SLOT_RETURN, SLOT_LINK, SLOT_SENDER_SP, SLOT_METHOD, SLOT_BCP};
    uintptr_t word;
    for (size_t i = 0; t && i < ARRAY_LEN(slots); i++)
        if (stack_slot(s, c->fp, slots[i], &word))
            trail_put_word(t, c->fp + (uintptr_t)((intptr_t)slots[i] * (intptr_t)WORD), word);
}

/* --- the youngest frame, interrupted anywhere ------------------------------------------------- */

static const struct interpreter_entry *find_entry(const struct interpreter *in, uintptr_t pc)
{
    for (uint32_t i = 0; i < in->n_entries; i++)
        if (pc >= in->entries[i].begin && pc < in->entries[i].end)
            return &in->entries[i];
    return NULL;
}

/* Before the frame: rbx is the method, r13 the caller's sp, the return address on top of the stack,
 * then for a moment in rax only. */
static enum interpreter_part at_entry(const struct interpreter_entry *e, const struct stack *s,
                                      uintptr_t pc, const struct interpreter_registers *regs,
                                      struct cursor *caller, uintptr_t tries[2])
{
    enum { PUSHED = 1, LINKED = 4 };
    const uintptr_t *r = regs->by_number;
    caller->fp = r[RBP];
    caller->sp = r[R13];
    if (!e->enter || pc <= e->enter) {
        stack_word(s, r[RSP], &tries[0]);
        tries[1] = r[RAX];
        return INTERPRETER_ENTRY;
    }
    if (pc < e->enter + LINKED) {
        return stack_slot(s, r[RSP], 0, &caller->fp) && stack_slot(s, r[RSP], 1, &tries[0])
                   ? INTERPRETER_ENTRY
                   : INTERPRETER_UNKNOWN;
    }
    uintptr_t bottom = r[RBP] + (uintptr_t)((intptr_t)SLOT_BOTTOM * WORD);
    if (r[RSP] <= bottom)
        return INTERPRETER_FRAME;
    if (!stack_slot(s, r[RBP], SLOT_LINK, &caller->fp) ||
        !stack_slot(s, r[RBP], SLOT_RETURN, &tries[0]))
        return INTERPRETER_UNKNOWN;
    if (r[RSP] <= r[RBP] - WORD && !stack_slot(s, r[RBP], SLOT_SENDER_SP, &caller->sp))
        return INTERPRETER_UNKNOWN;
    return INTERPRETER_BEGUN;
}

static enum interpreter_part at_exit_of_frame(const struct interpreter_exit *e,
                                              const struct stack *s, uintptr_t pc,
                                              const struct interpreter_registers *regs,
                                              struct cursor *caller)
{
    const uintptr_t *r = regs->by_number;
    caller->fp = r[RBP];
    caller->sp = pc > e->sp ? r[RSP] : r[e->sp_reg];
    caller->pc = r[e->reg];
    if (pc <= e->pop && !stack_word(s, r[RSP], &caller->pc))
        return INTERPRETER_UNKNOWN;
    return INTERPRETER_EXIT;
}

enum interpreter_part interpreter_part_at(const struct interpreter *in, const struct stack *s,
                                          uintptr_t pc, const struct interpreter_registers *regs,
                                          struct cursor *caller, uintptr_t tries[2])
{
    tries[0] = tries[1] = 0;
    for (uint32_t i = 0; i < in->n_exits; i++) {
        const struct interpreter_exit *e = &in->exits[i];
        if (pc > e->leave && (pc <= e->sp || pc <= e->end))
            return at_exit_of_frame(e, s, pc, regs, caller);
        /* After the frame was removed for an exception: calls, with registers in use. */
        if (!e->end && pc > e->sp && pc < e->sp + 64)
            return INTERPRETER_UNKNOWN;
    }
    const struct interpreter_entry *entry = find_entry(in, pc);
    return entry ? at_entry(entry, s, pc, regs, caller, tries) : INTERPRETER_FRAME;
}

bool interpreter_has_no_frame(const struct interpreter *in, uintptr_t pc)
{
    const struct interpreter_entry *e = find_entry(in, pc);
    return e && !e->enter;
}
