#include "unwind/unwind_x86_64.h"

#include "base/guarded.h"
#include "base/util.h"
#include "unwind/rules.h"

#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#if !defined(__x86_64__)
#error "the registers are those of x86-64"
#endif

#define WORD sizeof(uintptr_t)

struct unwinder {
    struct libraries *libraries;
    struct rules *rules;
};

int unwinder_new(struct unwinder **out, struct err *err)
{
    struct unwinder *u = calloc(1, sizeof *u);
    *out = NULL;
    if (!u || rules_new(&u->rules) < 0) {
        unwinder_free(u);
        return err_set(err, -ENOMEM, "out of memory");
    }
    int rc = libraries_new(&u->libraries, err);
    if (rc == 0)
        rc = libraries_refresh(u->libraries, err);
    if (rc < 0) {
        unwinder_free(u);
        return rc;
    }
    *out = u;
    return 0;
}

void unwinder_free(struct unwinder *u)
{
    if (!u)
        return;
    libraries_free(u->libraries);
    rules_free(u->rules);
    free(u);
}

struct libraries *unwinder_libraries(const struct unwinder *u)
{
    return u->libraries;
}

/* --- where to begin --------------------------------------------------------------------------- */

void unwind_context(const void *ucontext, struct unwind_frame *f)
{
    static const int order[CFI_REGISTERS] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                             REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                             REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
    const greg_t *g = ((const ucontext_t *)ucontext)->uc_mcontext.gregs;
    for (int i = 0; i < CFI_REGISTERS; i++)
        f->registers.value[i] = (uintptr_t)g[order[i]];
    f->registers.known = (1u << CFI_REGISTERS) - 1;
    f->interrupted = true;
    f->by_link = false;
}

void unwind_start(struct unwind_frame *f, uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
    *f = (struct unwind_frame){.registers.known =
                                   1u << UNWIND_PC | 1u << UNWIND_RSP | 1u << UNWIND_RBP};
    f->registers.value[UNWIND_PC] = pc;
    f->registers.value[UNWIND_RSP] = sp;
    f->registers.value[UNWIND_RBP] = fp;
}

/* --- a step ----------------------------------------------------------------------------------- */

/* A word of the stack; a function may keep some in the red zone below its rsp. */
static bool stack_load(const struct unwind_frame *f, uintptr_t high, uintptr_t at, uintptr_t *v)
{
    enum { RED_ZONE = 128 };
    uintptr_t low = f->registers.value[UNWIND_RSP] - RED_ZONE;
    return at >= low && at < high && high - at >= WORD && guarded_word(at, v);
}

/* The caller's registers instead of the frame's, all of whose rules are known. */
static enum unwind_result arrive(struct unwind_frame *f, const struct cfi_values *caller,
                                 bool interrupted, bool by_link)
{
    uintptr_t sp = caller->value[UNWIND_RSP];
    if (caller->value[UNWIND_PC] == 0)
        return UNWIND_END;
    if (sp <= f->registers.value[UNWIND_RSP] || sp % WORD != 0)
        return UNWIND_LOST;
    f->registers = *caller;
    f->interrupted = interrupted;
    f->by_link = by_link;
    return UNWIND_CALLER;
}

/* Whether an address stands behind a call of the function that `pc` is in. */
enum called { CALLED_NOT, CALLED_MAYBE, CALLED_HERE };

static enum called called_from(uintptr_t back, uintptr_t pc)
{
    enum { DIRECT = 0xe8, DIRECT_BYTES = 5, INDIRECT = 0xff, NEAR_BYTES = 4096 };
    enum { LONGEST = 7, REGISTER_FORM = 0x10, FORM = 0x38 };
    uint8_t code[LONGEST];
    if (!guarded_bytes(back - LONGEST, code, sizeof code))
        return CALLED_NOT;
    if (code[LONGEST - DIRECT_BYTES] == DIRECT) {
        int32_t distance;
        memcpy(&distance, code + LONGEST - sizeof distance, sizeof distance);
        uintptr_t target = back + (uintptr_t)(intptr_t)distance;
        return target <= pc && pc - target < NEAR_BYTES ? CALLED_HERE : CALLED_MAYBE;
    }
    for (int i = LONGEST - 2; i >= 0; i--) /* call *operand: its second byte says so */
        if (code[i] == INDIRECT && (code[i + 1] & FORM) == REGISTER_FORM)
            return CALLED_MAYBE;
    return CALLED_NOT;
}

/* No table knows the place.  A function that keeps rbp as its link has the caller's behind it; an
 * interrupted one may have no frame, as what is written in assembler often has not. */
static enum unwind_result follow_link(struct unwind_frame *f, uintptr_t high)
{
    struct cfi_values caller = f->registers;
    uintptr_t link = f->registers.value[UNWIND_RBP], sp = f->registers.value[UNWIND_RSP];
    uintptr_t pc = f->registers.value[UNWIND_PC];
    if (f->interrupted && stack_load(f, high, sp, &caller.value[UNWIND_PC]) &&
        called_from(caller.value[UNWIND_PC], pc) == CALLED_HERE) {
        caller.value[UNWIND_RSP] = sp + WORD;
        caller.known &= UNWIND_KEPT;
        return arrive(f, &caller, false, false);
    }
    if (!(f->registers.known >> UNWIND_RBP & 1) || link < sp || link % WORD != 0 ||
        !stack_load(f, high, link, &caller.value[UNWIND_RBP]) ||
        !stack_load(f, high, link + WORD, &caller.value[UNWIND_PC]))
        return UNWIND_LOST;
    enum called called = called_from(caller.value[UNWIND_PC], pc);
    if (called == CALLED_NOT)
        return UNWIND_LOST;
    caller.value[UNWIND_RSP] = link + 2 * WORD;
    caller.known = 1u << UNWIND_PC | 1u << UNWIND_RSP | 1u << UNWIND_RBP;
    return arrive(f, &caller, false, called != CALLED_HERE);
}

static const uint8_t saved_registers[RULE_SAVED] = {UNWIND_RBX, UNWIND_RBP, UNWIND_R12,
                                                    UNWIND_R13, UNWIND_R14, UNWIND_R15};

/* The many; so nothing is copied that stays. */
static enum unwind_result apply_cfa(const struct rule *rule, uintptr_t high, struct unwind_frame *f)
{
    struct cfi_values *v = &f->registers;
    uintptr_t saved[RULE_SAVED], pc;
    if (!(v->known >> rule->cfa_register & 1))
        return UNWIND_LOST;
    uintptr_t cfa = v->value[rule->cfa_register] + (uintptr_t)(intptr_t)rule->cfa_offset;
    for (int i = 0; i < RULE_SAVED; i++)
        if (rule->saved[i] &&
            !stack_load(f, high, cfa + (uintptr_t)(intptr_t)rule->saved[i] * WORD, &saved[i]))
            return UNWIND_LOST;
    if (cfa <= v->value[UNWIND_RSP] || cfa % WORD != 0 || !stack_load(f, high, cfa - WORD, &pc))
        return UNWIND_LOST;
    if (pc == 0)
        return UNWIND_END;
    v->known &= UNWIND_KEPT;
    for (int i = 0; i < RULE_SAVED; i++)
        if (rule->saved[i]) {
            v->value[saved_registers[i]] = saved[i];
            v->known |= 1u << saved_registers[i];
        }
    v->value[UNWIND_RSP] = cfa;
    v->value[UNWIND_PC] = pc;
    f->interrupted = f->by_link = false;
    return UNWIND_CALLER;
}

static enum unwind_result apply_rule(const struct rule *rule, uintptr_t high,
                                     struct unwind_frame *f)
{
    switch (rule->kind) {
    case RULE_CFA:
        return apply_cfa(rule, high, f);
    case RULE_END:
        return UNWIND_END;
    default:
        return follow_link(f, high);
    }
}

/* A row in its packed form; false: it does not fit. */
static bool pack(const struct cfi_row *row, struct rule *rule)
{
    *rule = (struct rule){.kind = RULE_END};
    const struct cfi_rule *back = &row->registers[CFI_RETURN];
    if (back->how == CFI_UNDEFINED)
        return true;
    if (row->signal || row->cfa.how != CFI_IN_REGISTER || back->how != CFI_AT_CFA ||
        back->n != -(int64_t)WORD || row->cfa_offset != (int32_t)row->cfa_offset)
        return false;
    rule->kind = RULE_CFA;
    rule->cfa_register = (uint8_t)row->cfa.n;
    rule->cfa_offset = (int32_t)row->cfa_offset;
    uint32_t packed = 0;
    for (int i = 0; i < RULE_SAVED; i++) {
        const struct cfi_rule *r = &row->registers[saved_registers[i]];
        int64_t words = r->n / (int64_t)WORD;
        packed |= 1u << saved_registers[i];
        if (r->how == CFI_SAME)
            continue;
        if (r->how != CFI_AT_CFA || r->n % (int64_t)WORD != 0 || words == 0 ||
            words != (int16_t)words)
            return false;
        rule->saved[i] = (int16_t)words;
    }
    for (uint32_t i = 0; i < CFI_RETURN; i++)
        if (!(packed >> i & 1) && row->registers[i].how != CFI_SAME)
            return false;
    return true;
}

/* A row at work: what an expression of it may need. */
struct applied {
    const struct library *lib;
    const struct cfi_row *row;
    const struct unwind_frame *frame;
    uintptr_t cfa, high;
};

static bool get_cfa(struct applied *a)
{
    const struct cfi_values *from = &a->frame->registers;
    const struct cfi_rule *rule = &a->row->cfa;
    if (rule->how == CFI_IS_EXPRESSION)
        return cfi_evaluate(a->lib, (uintptr_t)rule->n, from, NULL, &a->cfa);
    a->cfa = from->value[rule->n] + (uintptr_t)a->row->cfa_offset;
    return from->known >> rule->n & 1;
}

/* GCC (12, for functions that align their stack) goes on saying that rbp is saved where rbp points,
 * when rbp has been restored already: then it points out of the frame, and is the caller's. */
static bool load_by_expression(const struct applied *a, const struct cfi_rule *rule, uintptr_t *v)
{
    uintptr_t at, low = a->frame->registers.value[UNWIND_RSP];
    if (!cfi_evaluate(a->lib, (uintptr_t)rule->n, &a->frame->registers, &a->cfa, &at))
        return false;
    if (!a->row->signal && (at < low || at >= a->cfa))
        return true;
    return stack_load(a->frame, a->high, at, v);
}

/* One register of the caller; *v is the frame's.  False: it cannot be read. */
static bool get_register(const struct applied *a, uint32_t number, uintptr_t *v, bool *known)
{
    static const struct cfi_rule is_cfa = {.how = CFI_IS_CFA};
    const struct cfi_values *from = &a->frame->registers;
    const struct cfi_rule *rule = &a->row->registers[number];
    if (number == UNWIND_RSP && rule->how == CFI_SAME)
        rule = &is_cfa;
    uintptr_t at = a->cfa + (uintptr_t)rule->n;
    *known = true;
    switch (rule->how) {
    case CFI_SAME:
        *known = from->known >> number & 1 && UNWIND_KEPT >> number & 1;
        return true;
    case CFI_UNDEFINED:
        *known = false;
        return true;
    case CFI_AT_CFA:
        return stack_load(a->frame, a->high, at, v);
    case CFI_IS_CFA:
        *v = at;
        return true;
    case CFI_IN_REGISTER:
        *v = from->value[rule->n];
        *known = from->known >> rule->n & 1;
        return true;
    case CFI_AT_EXPRESSION:
        return load_by_expression(a, rule, v);
    case CFI_IS_EXPRESSION:
        return cfi_evaluate(a->lib, (uintptr_t)rule->n, from, &a->cfa, v);
    }
    return false;
}

/* What does not pack: frames of signals, expressions. */
static enum unwind_result apply_row(const struct library *lib, const struct cfi_row *row,
                                    uintptr_t high, struct unwind_frame *f)
{
    struct applied a = {.lib = lib, .row = row, .frame = f, .high = high};
    struct cfi_values caller = f->registers;
    if (row->registers[CFI_RETURN].how == CFI_SAME || !get_cfa(&a))
        return UNWIND_LOST;
    caller.known = 0;
    for (uint32_t i = 0; i < CFI_REGISTERS; i++) {
        bool known;
        if (!get_register(&a, i, &caller.value[i], &known))
            return UNWIND_LOST;
        caller.known |= (uint32_t)known << i;
    }
    if (!(caller.known >> UNWIND_PC & 1) || !(caller.known >> UNWIND_RSP & 1))
        return UNWIND_LOST;
    return arrive(f, &caller, row->signal, false);
}

/* The address by which a frame's rules are looked up: see cfi_find. */
static uintptr_t place_of(const struct unwind_frame *f)
{
    return f->registers.value[UNWIND_PC] - !f->interrupted;
}

/* *rule: what can be remembered; kind 0: nothing can. */
static enum unwind_result by_library(const struct library *lib, uintptr_t high,
                                     struct unwind_frame *f, struct rule *rule)
{
    struct cfi_row row;
    *rule = (struct rule){.kind = RULE_LINK};
    enum cfi_result found = lib ? cfi_find(lib, place_of(f), &row) : CFI_NONE;
    if (found == CFI_NONE || (found == CFI_FOUND && pack(&row, rule)))
        return apply_rule(rule, high, f);
    rule->kind = 0;
    return found == CFI_FOUND ? apply_row(lib, &row, high, f) : UNWIND_LOST;
}

enum unwind_result unwind_by_library(const struct library *lib, uintptr_t high,
                                     struct unwind_frame *f)
{
    struct rule rule;
    return by_library(lib, high, f, &rule);
}

enum unwind_result unwind_step(struct unwinder *u, uintptr_t high, bool uncached,
                               struct unwind_frame *f)
{
    uintptr_t place = place_of(f);
    uint64_t changes = libraries_changes(u->libraries);
    struct rule rule;
    if (!uncached && rules_find(u->rules, place, changes, &rule))
        return apply_rule(&rule, high, f);
    const struct library *lib = libraries_find(u->libraries, place);
    if (!lib)
        libraries_note_missing(u->libraries);
    enum unwind_result result = by_library(lib, high, f, &rule);
    if (lib && rule.kind && !uncached)
        rules_put(u->rules, place, changes, &rule);
    return result;
}
