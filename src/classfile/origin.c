#include "classfile/origin.h"

#include "base/util.h"
#include "classfile/desc.h"
#include "classfile/insn.h"

#include <string.h>

enum {
    OP_AALOAD = 0x32,
    OP_DUP_X1 = 0x5a,
    OP_DUP2_X2 = 0x5e,
    OP_SWAP = 0x5f,
    OP_GETSTATIC = 0xb2,
    OP_PUTFIELD = 0xb5,
    OP_INVOKEDYNAMIC = 0xba,
    OP_CHECKCAST = 0xc0,
};

/* Where a value comes from: a letter of DEF site's, 0: not known. */
struct origin {
    uint8_t kind;
    bool element;   /* of the array that comes from there */
    uint16_t index; /* of a constant; which parameter */
};

enum {
    STACK_MAX = 64,  /* what lies deeper is not known */
    SAVED_DEPTH = 8, /* likewise where ways meet, of as many places at a time: */
    SAVED_MAX = 16,
    LOCALS = 256,
};

struct saved {
    uint32_t pc, depth; /* depth 0: unused */
    struct origin v[SAVED_DEPTH];
};

struct machine {
    const struct origin_method *m;
    uint8_t *targets; /* a bit for each byte of the code: a branch leads there */
    struct origin stack[STACK_MAX];
    uint32_t depth; /* of what is known of the stack, from its top */
    struct {
        struct origin v;
        uint32_t block;  /* in which it was stored */
        uint32_t stores; /* in all of the code */
        bool param;
    } locals[LOCALS];
    uint32_t block; /* from 1 */
    struct saved saved[SAVED_MAX];
    bool full; /* there was no room for one: what others brought counts no more */
};

/* --- the operand stack ------------------------------------------------------------------------ */

static const struct origin unknown;

static struct origin pop(struct machine *x)
{
    return x->depth ? x->stack[--x->depth] : unknown;
}

static void pop_n(struct machine *x, uint32_t n)
{
    x->depth -= min_u32(n, x->depth);
}

static void push(struct machine *x, struct origin v)
{
    if (x->depth == STACK_MAX) {
        memmove(x->stack, x->stack + 1, (STACK_MAX - 1) * sizeof *x->stack);
        x->depth--;
    }
    x->stack[x->depth++] = v;
}

static void push_n(struct machine *x, uint32_t n)
{
    while (n--)
        push(x, unknown);
}

static bool is_same(struct origin a, struct origin b)
{
    return a.kind == b.kind && a.element == b.element && a.index == b.index;
}

/* Two stacks, from their tops down. */
static uint32_t merge(struct origin *a, uint32_t n, const struct origin *b, uint32_t n_b)
{
    uint32_t both = min_u32(n, n_b);
    memmove(a, a + (n - both), both * sizeof *a);
    for (uint32_t i = 0; i < both; i++)
        if (!is_same(a[i], b[n_b - both + i]))
            a[i] = unknown;
    return both;
}

/* --- where ways meet -------------------------------------------------------------------------- */

static struct saved *saved_for(struct machine *x, uint32_t pc)
{
    for (uint32_t i = 0; i < SAVED_MAX; i++)
        if (x->saved[i].depth && x->saved[i].pc == pc)
            return &x->saved[i];
    return NULL;
}

static void save(struct machine *x, uint32_t pc)
{
    struct saved *s = saved_for(x, pc);
    if (s) {
        s->depth = merge(s->v, s->depth, x->stack, x->depth);
        return;
    }
    for (uint32_t i = 0; i < SAVED_MAX && x->depth; i++) {
        s = &x->saved[i];
        if (s->depth)
            continue;
        s->pc = pc;
        s->depth = min_u32(x->depth, SAVED_DEPTH);
        memcpy(s->v, x->stack + (x->depth - s->depth), s->depth * sizeof *s->v);
        return;
    }
    x->full |= x->depth != 0;
}

static bool is_target(const struct machine *x, uint32_t pc)
{
    return x->targets[pc / 8] >> pc % 8 & 1;
}

/* A new stretch of code that is entered at its beginning alone. */
static void enter(struct machine *x, uint32_t pc, bool falls_in)
{
    struct saved *s = saved_for(x, pc);
    x->block++;
    if (!s || x->full) {
        x->depth = 0;
    } else if (falls_in) {
        x->depth = merge(x->stack, x->depth, s->v, s->depth);
    } else {
        memcpy(x->stack, s->v, s->depth * sizeof *s->v);
        x->depth = s->depth;
    }
    if (s)
        s->depth = 0;
}

/* --- variables -------------------------------------------------------------------------------- */

static struct origin load(const struct machine *x, uint32_t local)
{
    if (local >= LOCALS)
        return unknown;
    uint32_t once = x->locals[local].param ? 0 : 1;
    bool certain = x->locals[local].stores <= once || x->locals[local].block == x->block;
    return certain ? x->locals[local].v : unknown;
}

static void store(struct machine *x, uint32_t local, struct origin v)
{
    if (local >= LOCALS)
        return;
    x->locals[local].v = v;
    x->locals[local].block = x->block;
}

static void set_parameters(struct machine *x, const struct desc *d)
{
    uint32_t n = 0;
    if (!x->m->is_static) {
        x->locals[0].v = (struct origin){'p', false, 0};
        n = 1;
    }
    for (uint32_t i = 0; i < d->n; i++) {
        uint32_t slot = n + d->slot[i];
        if (d->kind[i] == 'A' && slot < LOCALS)
            x->locals[slot].v = (struct origin){'p', false, (uint16_t)(n + i)};
    }
    for (uint32_t i = 0; i < n + d->slots && i < LOCALS; i++) {
        x->locals[i].param = true;
        x->locals[i].block = 1;
    }
}

/* --- instructions ----------------------------------------------------------------------------- */

/* How many places of the stack an instruction takes and gives, 2 for a long or double; what is not
 * here has a function of its own. */
static const struct effect {
    uint8_t takes, gives;
} effects[256] = {
    [0x01 ... 0x08] = {0, 1}, [0x09 ... 0x0a] = {0, 2}, /* constants */
    [0x0b ... 0x0d] = {0, 1}, [0x0e ... 0x0f] = {0, 2}, [0x10 ... 0x13] = {0, 1},
    [0x14] = {0, 2},                           /* bipush .. ldc2_w */
    [0x15] = {0, 1},          [0x16] = {0, 2}, /* iload .. dload */
    [0x17] = {0, 1},          [0x18] = {0, 2},          [0x1a ... 0x1d] = {0, 1},
    [0x1e ... 0x21] = {0, 2}, /* iload_0 .. dload_3 */
    [0x22 ... 0x25] = {0, 1}, [0x26 ... 0x29] = {0, 2}, [0x2e] = {2, 1},
    [0x2f] = {2, 2}, /* of arrays */
    [0x30] = {2, 1},          [0x31] = {2, 2},          [0x33 ... 0x35] = {2, 1},
    [0x36] = {1, 0}, /* stores */
    [0x37] = {2, 0},          [0x38] = {1, 0},          [0x39] = {2, 0},
    [0x3b ... 0x3e] = {1, 0}, [0x3f ... 0x42] = {2, 0}, [0x43 ... 0x46] = {1, 0},
    [0x47 ... 0x4a] = {2, 0}, [0x4f] = {3, 0}, /* into arrays */
    [0x50] = {4, 0},          [0x51] = {3, 0},          [0x52] = {4, 0},
    [0x53 ... 0x56] = {3, 0}, [0x57] = {1, 0},          [0x58] = {2, 0}, /* pop, pop2 */
    [0x60] = {2, 1},          [0x61] = {4, 2},                           /* iadd .. drem */
    [0x62] = {2, 1},          [0x63] = {4, 2},          [0x64] = {2, 1},
    [0x65] = {4, 2},          [0x66] = {2, 1},          [0x67] = {4, 2},
    [0x68] = {2, 1},          [0x69] = {4, 2},          [0x6a] = {2, 1},
    [0x6b] = {4, 2},          [0x6c] = {2, 1},          [0x6d] = {4, 2},
    [0x6e] = {2, 1},          [0x6f] = {4, 2},          [0x70] = {2, 1},
    [0x71] = {4, 2},          [0x72] = {2, 1},          [0x73] = {4, 2},
    [0x74] = {1, 1},          [0x75] = {2, 2}, /* ineg .. dneg */
    [0x76] = {1, 1},          [0x77] = {2, 2},          [0x78] = {2, 1},
    [0x79] = {3, 2}, /* shifts */
    [0x7a] = {2, 1},          [0x7b] = {3, 2},          [0x7c] = {2, 1},
    [0x7d] = {3, 2},          [0x7e] = {2, 1},          [0x7f] = {4, 2}, /* iand .. lxor */
    [0x80] = {2, 1},          [0x81] = {4, 2},          [0x82] = {2, 1},
    [0x83] = {4, 2},          [0x85] = {1, 2},          [0x86] = {1, 1}, /* i2l .. i2s */
    [0x87] = {1, 2},          [0x88 ... 0x89] = {2, 1}, [0x8a] = {2, 2},
    [0x8b] = {1, 1},          [0x8c ... 0x8d] = {1, 2}, [0x8e] = {2, 1},
    [0x8f] = {2, 2},          [0x90] = {2, 1},          [0x91 ... 0x93] = {1, 1},
    [0x94] = {4, 1}, /* comparisons */
    [0x95 ... 0x96] = {2, 1}, [0x97 ... 0x98] = {4, 1}, [0x99 ... 0x9e] = {1, 0},
    [0x9f ... 0xa6] = {2, 0},                  /* branches */
    [0xaa ... 0xac] = {1, 0}, [0xad] = {2, 0}, /* switches, returns */
    [0xae] = {1, 0},          [0xaf] = {2, 0},          [0xb0] = {1, 0},
    [0xbb] = {0, 1},                                    /* new */
    [0xbc ... 0xbe] = {1, 1}, [0xbf] = {1, 0},          /* newarray .. athrow */
    [0xc1] = {1, 1},          [0xc2 ... 0xc3] = {1, 0}, /* instanceof, monitors */
    [0xc6 ... 0xc7] = {1, 0},
};

/* dup .. dup2_x2: the top `n` once more, below `under` others. */
static void duplicate(struct machine *x, unsigned op)
{
    uint32_t n = op >= OP_DUP2 ? 2 : 1, under = (op - OP_DUP) % 3;
    struct origin top[2], below[2];
    for (uint32_t i = 0; i < n; i++)
        top[i] = pop(x);
    for (uint32_t i = 0; i < under; i++)
        below[i] = pop(x);
    for (uint32_t i = n; i--;)
        push(x, top[i]);
    for (uint32_t i = under; i--;)
        push(x, below[i]);
    for (uint32_t i = n; i--;)
        push(x, top[i]);
}

static void swap(struct machine *x)
{
    struct origin a = pop(x), b = pop(x);
    push(x, a);
    push(x, b);
}

static void field(struct machine *x, unsigned op, uint32_t index)
{
    struct cf_ref ref;
    uint32_t slots =
        cf_ref_at(x->m->c, index, &ref) && ref.desc.len ? desc_kind_slots(ref.desc.p[0]) : 1;
    bool is_put = (op - OP_GETSTATIC) & 1, is_static = op < OP_GETSTATIC + 2;
    pop_n(x, (is_put ? slots : 0) + !is_static);
    if (is_put)
        return;
    if (slots == 1)
        push(x, (struct origin){is_static ? 's' : 'f', false, (uint16_t)index});
    else
        push_n(x, slots);
}

/* Its name and descriptor. */
static bool call_at(const struct origin_method *m, uint32_t pc, struct cf_text *name,
                    struct desc *d)
{
    uint32_t index = be_get2(m->code + pc + 1);
    struct cf_ref ref;
    const uint8_t *dynamic = cf_constant(m->c, index, CF_INVOKE_DYNAMIC);
    if (dynamic) {
        const uint8_t *nt = cf_constant(m->c, be_get2(dynamic + 2), CF_NAME_AND_TYPE);
        ref.name = nt ? cf_utf8(m->c, be_get2(nt)) : (struct cf_text){0};
        ref.desc = nt ? cf_utf8(m->c, be_get2(nt + 2)) : (struct cf_text){0};
    } else if (!cf_ref_at(m->c, index, &ref)) {
        return false;
    }
    *name = ref.name;
    return ref.name.p && desc_parse(d, ref.desc);
}

static bool has_receiver(unsigned op)
{
    return op != OP_INVOKESTATIC && op != OP_INVOKEDYNAMIC;
}

/* A read-write lock's readLock() or writeLock() is that lock, as the program would call it. */
static bool is_view_of_lock(const struct origin_method *m, uint32_t pc, struct cf_text name)
{
    static const char locks[] = "java/util/concurrent/locks/", view[] = "Lock";
    struct cf_ref ref;
    return cf_ref_at(m->c, be_get2(m->code + pc + 1), &ref) && ref.cls.p &&
           ref.cls.len > sizeof locks - 1 && memcmp(ref.cls.p, locks, sizeof locks - 1) == 0 &&
           name.len > sizeof view - 1 &&
           memcmp(name.p + name.len - (sizeof view - 1), view, sizeof view - 1) == 0;
}

static bool call(struct machine *x, uint32_t pc)
{
    struct cf_text name;
    struct desc d;
    unsigned op = x->m->code[pc];
    if (!call_at(x->m, pc, &name, &d))
        return false;
    struct origin of = x->depth ? x->stack[x->depth - 1] : unknown;
    bool view = has_receiver(op) && !d.n && of.kind && is_view_of_lock(x->m, pc, name);
    pop_n(x, d.slots + has_receiver(op));
    if (view)
        push(x, of);
    else if (d.result == 'A' && op != OP_INVOKEDYNAMIC)
        push(x, (struct origin){'m', false, (uint16_t)be_get2(x->m->code + pc + 1)});
    else
        push_n(x, desc_kind_slots(d.result));
    return true;
}

static void constant(struct machine *x, uint32_t index)
{
    bool is_class = cf_constant(x->m->c, index, CF_CLASS) != NULL;
    push(x, is_class ? (struct origin){'c', false, (uint16_t)index} : unknown);
}

/* The variable of a load or store of a reference; -1: it is none. */
static int32_t reference_of(const uint8_t *code, unsigned op, unsigned long_form,
                            unsigned short_form)
{
    if (op == OP_WIDE && code[1] == long_form)
        return (int32_t)be_get2(code + 2);
    if (op == long_form)
        return code[1];
    return op >= short_form && op <= short_form + 3 ? (int32_t)(op - short_form) : -1;
}

static bool plain(struct machine *x, const uint8_t *at)
{
    unsigned op = at[0] == OP_WIDE ? at[1] : at[0];
    if (op == OP_RET || op == OP_JSR || op == OP_JSR_W)
        return false;
    uint32_t local, stored = insn_stores(at, 0, &local);
    pop_n(x, effects[op].takes);
    push_n(x, effects[op].gives);
    for (uint32_t i = 0; i < stored; i++)
        store(x, local + i, unknown);
    return true;
}

/* False: what it does is not understood. */
static bool run(struct machine *x, uint32_t pc)
{
    const uint8_t *at = x->m->code + pc;
    unsigned op = *at;
    int32_t loaded = reference_of(at, op, OP_ALOAD, OP_ALOAD_0);
    int32_t stored = reference_of(at, op, OP_ASTORE, OP_ASTORE_3 - 3);
    if (loaded >= 0)
        push(x, load(x, (uint32_t)loaded));
    else if (stored >= 0)
        store(x, (uint32_t)stored, pop(x));
    else if (op >= OP_DUP && op <= OP_DUP2_X2)
        duplicate(x, op);
    else if (op == OP_SWAP)
        swap(x);
    else if (op >= OP_GETSTATIC && op <= OP_PUTFIELD)
        field(x, op, be_get2(at + 1));
    else if (op >= OP_INVOKEVIRTUAL && op <= OP_INVOKEDYNAMIC)
        return call(x, pc);
    else if (op == OP_LDC || op == OP_LDC_W)
        constant(x, op == OP_LDC ? at[1] : be_get2(at + 1));
    else if (op == OP_AALOAD) {
        pop(x);
        struct origin array = pop(x);
        array.element = array.kind != 0;
        push(x, array);
    } else if (op == OP_MULTIANEWARRAY) {
        pop_n(x, at[3]);
        push_n(x, 1);
    } else if (op != OP_CHECKCAST) {
        return plain(x, at);
    }
    return true;
}

/* --- all of the code -------------------------------------------------------------------------- */

static bool mark(struct machine *x, int64_t target)
{
    if (target < 0 || target >= x->m->len)
        return false;
    x->targets[target / 8] |= (uint8_t)(1u << target % 8);
    return true;
}

/* Each target of the instruction; false: one is outside. */
static bool each_target(struct machine *x, uint32_t pc, bool saving)
{
    const uint8_t *code = x->m->code;
    enum insn_kind kind = insn_ops[code[pc]].kind;
    struct insn_switch s = {0};
    if (kind == INSN_SWITCH)
        s = insn_switch_at(code, pc);
    bool is_switch = kind == INSN_SWITCH, ok = true;
    for (uint32_t i = 0; i < (is_switch ? s.n + 1 : insn_is_branch(kind)) && ok; i++) {
        uint32_t at = i ? s.first + (i - 1) * s.stride : s.def;
        int64_t to = is_switch ? (int64_t)pc + (int32_t)be_get4(code + at) : insn_target(code, pc);
        if (!saving)
            ok = mark(x, to);
        else if (to > pc)
            save(x, (uint32_t)to);
    }
    return ok;
}

/* Where branches lead, how often variables are stored. */
static bool look_through(struct machine *x)
{
    const struct origin_method *m = x->m;
    for (uint32_t pc = 0, n; pc < m->len; pc += n) {
        uint32_t local, stored;
        n = insn_len(m->code, m->len, pc);
        if (!n || insn_ops[m->code[pc]].kind == INSN_BAD || !each_target(x, pc, false))
            return false;
        stored = insn_stores(m->code, pc, &local);
        for (uint32_t i = 0; i < stored && local + i < LOCALS; i++)
            x->locals[local + i].stores++;
    }
    return true;
}

/* Up to the instruction at `end`, not through it. */
static bool go(struct machine *x, uint32_t end)
{
    const uint8_t *code = x->m->code;
    bool falls_in = true;
    uint32_t pc = 0;
    for (;;) {
        if (is_target(x, pc) || !falls_in)
            enter(x, pc, falls_in);
        if (pc >= end)
            return pc == end;
        if (!run(x, pc))
            return false;
        each_target(x, pc, true);
        falls_in = insn_falls_through(insn_ops[code[pc]].kind);
        pc += insn_len(code, x->m->len, pc);
        if (pc >= x->m->len)
            return false;
    }
}

/* --- as text ---------------------------------------------------------------------------------- */

static void put_text(struct buf *out, struct cf_text t)
{
    buf_put(out, t.p, t.len);
}

/* Names that are made up say nothing: the object around an inner class's (this$0: whose class says
 * it), the accessor of a private field, what a lambda has caught. */
static bool is_made_up(struct cf_text name)
{
    static const char *const made_up[] = {"this$", "access$", "arg$"};
    bool is = false;
    for (size_t i = 0; i < ARRAY_LEN(made_up); i++) {
        size_t n = strlen(made_up[i]);
        is |= name.len > n && memcmp(name.p, made_up[i], n) == 0;
    }
    return is;
}

static bool is_plain_class(struct cf_text c)
{
    return c.p && c.len && c.p[0] != '[' && !memchr(c.p, 0, c.len);
}

static bool put_operand(const struct origin_method *m, struct origin v, struct buf *out)
{
    struct cf_ref ref = {0};
    size_t before = out->len;
    buf_putc(out, ';');
    if (v.kind == 'p') {
        buf_printf(out, "p%u", v.index);
    } else if (v.kind == 'c') {
        ref.cls = cf_class_at(m->c, v.index);
        if (is_plain_class(ref.cls)) {
            buf_putc(out, 'c');
            put_text(out, ref.cls);
        }
    } else if (v.kind && cf_ref_at(m->c, v.index, &ref) && is_plain_class(ref.cls) &&
               !is_made_up(ref.name)) {
        buf_putc(out, (char)v.kind);
        put_text(out, ref.cls);
        buf_putc(out, '.');
        put_text(out, ref.name);
    }
    if (out->len - before > 1 && v.element)
        buf_puts(out, "[]");
    return out->len - before > 1;
}

/* The operands in the order in which they were put on the stack: `n`, the first one `first` places
 * below the top. */
static bool put_operands(const struct machine *x, const struct desc *d, bool receiver,
                         struct buf *out)
{
    uint32_t n = d->n + receiver, slots = d->slots + receiver;
    bool any = false;
    for (uint32_t i = 0; i < n && i < ORIGIN_OPERANDS; i++) {
        uint32_t slot = receiver && i == 0 ? 0 : receiver + d->slot[i - receiver];
        uint32_t below = slots - slot; /* 1: the top */
        bool is_object = (receiver && i == 0) || d->kind[i - receiver] == 'A';
        struct origin v = is_object && below <= x->depth ? x->stack[x->depth - below] : unknown;
        any |= put_operand(x->m, v, out);
    }
    return any;
}

static bool put_line(const struct machine *x, uint32_t pc, struct buf *out)
{
    unsigned op = x->m->code[pc];
    struct desc d = {.n = 1, .slots = 1, .kind = "A"};
    struct cf_text name;
    if (op == OP_MONITORENTER)
        return put_operands(x, &d, false, out);
    if (op < OP_INVOKEVIRTUAL || op >= OP_INVOKEDYNAMIC || !call_at(x->m, pc, &name, &d) ||
        memchr(name.p, 0, name.len))
        return false;
    put_text(out, name);
    return put_operands(x, &d, has_receiver(op), out);
}

bool origin_put(const struct origin_method *m, uint32_t pc, struct arena *a, struct buf *out)
{
    size_t before = out->len;
    struct desc d;
    struct machine *x = arena_alloc(a, sizeof *x);
    if (!x || pc >= m->len || !desc_parse(&d, m->desc))
        return false;
    x->m = m;
    x->block = 1;
    x->targets = arena_alloc(a, m->len / 8 + 1);
    if (!x->targets)
        return false;
    set_parameters(x, &d);
    bool ok = look_through(x) && go(x, pc) && put_line(x, pc, out) && !out->oom &&
              out->len - before <= ORIGIN_TEXT_MAX;
    if (!ok)
        out->len = before;
    return ok;
}
