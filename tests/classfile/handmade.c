#include "handmade.h"

#include "classfile/insn.h"

#include <stdlib.h>
#include <string.h>

/* --- classes ---------------------------------------------------------------------------------- */

void class_init(struct class_file *c, const char *name, uint16_t major, uint16_t minor)
{
    *c = (struct class_file){.n_pool = 1, .major = major, .minor = minor, .name = name};
}

uint32_t class_utf8(struct class_file *c, const char *s)
{
    be_put1(&c->pool, 1);
    be_put2(&c->pool, (uint32_t)strlen(s));
    buf_puts(&c->pool, s);
    return c->n_pool++;
}

uint32_t class_ref(struct class_file *c, const char *name)
{
    uint32_t utf8 = class_utf8(c, name);
    be_put1(&c->pool, 7);
    be_put2(&c->pool, utf8);
    return c->n_pool++;
}

uint32_t class_method_ref(struct class_file *c, const char *cls, const char *name, const char *desc)
{
    uint32_t owner = class_ref(c, cls), n = class_utf8(c, name), d = class_utf8(c, desc);
    be_put1(&c->pool, 12);
    be_put2(&c->pool, n);
    be_put2(&c->pool, d);
    be_put1(&c->pool, 10);
    be_put2(&c->pool, owner);
    be_put2(&c->pool, c->n_pool);
    c->n_pool += 2;
    return c->n_pool - 1;
}

struct buf class_finish(struct class_file *c)
{
    struct buf out = {0};
    uint32_t self = class_ref(c, c->name), super = class_ref(c, "java/lang/Object");
    be_put4(&out, 0xCAFEBABE);
    be_put2(&out, c->minor);
    be_put2(&out, c->major);
    be_put2(&out, c->n_pool);
    buf_put(&out, c->pool.p, c->pool.len);
    be_put2(&out, 0x21);
    be_put2(&out, self);
    be_put2(&out, super);
    be_put2(&out, 0);
    be_put2(&out, 0);
    be_put2(&out, c->n_methods);
    buf_put(&out, c->methods.p, c->methods.len);
    be_put2(&out, 0);
    buf_fini(&c->pool);
    buf_fini(&c->methods);
    return out;
}

/* --- methods ---------------------------------------------------------------------------------- */

void code_init(struct method_code *m, struct class_file *c, uint32_t max_stack, uint32_t max_locals)
{
    memset(m, 0, sizeof *m);
    m->c = c;
    m->max_stack = max_stack;
    m->max_locals = max_locals;
    m->last_frame = UINT32_MAX;
}

void code_op(struct method_code *m, int op)
{
    be_put1(&m->code, (uint32_t)op);
}

void code_op1(struct method_code *m, int op, uint32_t u1)
{
    code_op(m, op);
    be_put1(&m->code, u1);
}

void code_op2(struct method_code *m, int op, uint32_t u2)
{
    code_op(m, op);
    be_put2(&m->code, u2);
}

static void fix(struct method_code *m, uint32_t insn, uint32_t label, bool wide)
{
    if (m->n_fixes == MAX_FIXES)
        abort();
    m->fixes[m->n_fixes].insn = insn;
    m->fixes[m->n_fixes].at = (uint32_t)m->code.len;
    m->fixes[m->n_fixes].label = label;
    m->fixes[m->n_fixes++].wide = wide;
    if (wide)
        be_put4(&m->code, 0);
    else
        be_put2(&m->code, 0);
}

void code_branch(struct method_code *m, int op, uint32_t label)
{
    uint32_t insn = (uint32_t)m->code.len;
    code_op(m, op);
    fix(m, insn, label, op == OP_GOTO_W || op == OP_JSR_W);
}

void code_switch_offset(struct method_code *m, uint32_t insn, uint32_t label)
{
    fix(m, insn, label, true);
}

void code_label(struct method_code *m, uint32_t label)
{
    m->label[label] = (uint32_t)m->code.len;
}

static void put_types(struct method_code *m, const char *types)
{
    be_put2(&m->frames, (uint32_t)strlen(types));
    for (const char *t = types; *t; t++) {
        static const char tags[] = "TIFDJNUO";
        be_put1(&m->frames, *t == 'X' ? 7 : (uint32_t)(strchr(tags, *t) - tags));
        if (*t == 'O' || *t == 'X')
            be_put2(&m->frames,
                    class_ref(m->c, *t == 'O' ? "java/lang/Object" : "java/lang/Throwable"));
    }
}

void code_frame(struct method_code *m, const char *locals, const char *stack)
{
    if (m->c->major < 50)
        return;
    be_put1(&m->frames, 255);
    be_put2(&m->frames, (uint32_t)m->code.len - m->last_frame - 1);
    put_types(m, locals);
    put_types(m, stack);
    m->last_frame = (uint32_t)m->code.len;
    m->n_frames++;
}

void code_exception(struct method_code *m, uint32_t start, uint32_t end, uint32_t handler)
{
    be_put2(&m->exceptions, m->label[start]);
    be_put2(&m->exceptions, m->label[end]);
    be_put2(&m->exceptions, m->label[handler]);
    be_put2(&m->exceptions, 0);
    m->n_exceptions++;
}

void code_attr(struct method_code *m, const char *name, const void *p, size_t n)
{
    be_put2(&m->attrs, class_utf8(m->c, name));
    be_put4(&m->attrs, (uint32_t)n);
    buf_put(&m->attrs, p, n);
    m->n_attrs++;
}

static void add_frames(struct method_code *m)
{
    if (!m->n_frames)
        return;
    struct buf table = {0};
    be_put2(&table, m->n_frames);
    buf_put(&table, m->frames.p, m->frames.len);
    code_attr(m, "StackMapTable", table.p, table.len);
    buf_fini(&table);
}

void code_finish(struct method_code *m, uint32_t access, const char *name, const char *desc)
{
    struct buf *out = &m->c->methods;
    bool old = m->c->major == 45 && m->c->minor < 3;
    for (uint32_t i = 0; i < m->n_fixes; i++) {
        uint32_t delta = m->label[m->fixes[i].label] - m->fixes[i].insn;
        if (m->fixes[i].wide)
            be_set4(m->code.p + m->fixes[i].at, delta);
        else
            be_set2(m->code.p + m->fixes[i].at, delta);
    }
    add_frames(m);
    be_put2(out, access);
    be_put2(out, class_utf8(m->c, name));
    be_put2(out, class_utf8(m->c, desc));
    be_put2(out, 1);
    be_put2(out, class_utf8(m->c, "Code"));
    size_t len = (old ? 4 : 8) + m->code.len + 4 + m->exceptions.len + m->attrs.len;
    be_put4(out, (uint32_t)len);
    (old ? be_put1 : be_put2)(out, m->max_stack);
    (old ? be_put1 : be_put2)(out, m->max_locals);
    (old ? be_put2 : be_put4)(out, (uint32_t)m->code.len);
    buf_put(out, m->code.p, m->code.len);
    be_put2(out, m->n_exceptions);
    buf_put(out, m->exceptions.p, m->exceptions.len);
    be_put2(out, m->n_attrs);
    buf_put(out, m->attrs.p, m->attrs.len);
    m->c->n_methods++;
    buf_fini(&m->code);
    buf_fini(&m->exceptions);
    buf_fini(&m->attrs);
    buf_fini(&m->frames);
}

/* --- the classes ------------------------------------------------------------------------------ */

enum { STATIC = 0x09 };
enum { ICONST_0 = 3, ALOAD_0 = 0x2a, ISTORE_0 = 0x3b, ASTORE_0 = 0x4b, IADD = 0x60, POP = 0x57 };

static struct method_code m; /* large: its fixes */

static void push(int32_t v)
{
    code_op2(&m, OP_SIPUSH, (uint32_t)v);
}

/* A finally by jsr (short and wide) and ret (short and wide): locals 0 result, 1 address. */
static struct buf make_jsr(void)
{
    struct class_file c;
    enum { SUB, WIDE_SUB };
    class_init(&c, "Jsr", 49, 0);
    code_init(&m, &c, 2, 300);
    push(5);
    code_op(&m, ISTORE_0);
    code_branch(&m, OP_JSR, SUB);
    code_branch(&m, OP_JSR_W, WIDE_SUB);
    code_branch(&m, OP_JSR, SUB);
    code_op1(&m, OP_ILOAD, 0);
    code_op(&m, OP_IRETURN);
    code_label(&m, SUB);
    code_op1(&m, OP_ASTORE, 1);
    code_op1(&m, OP_IINC, 0);
    be_put1(&m.code, 3);
    code_op1(&m, OP_RET, 1);
    code_label(&m, WIDE_SUB);
    code_op1(&m, OP_WIDE, OP_ASTORE);
    be_put2(&m.code, 299);
    code_op1(&m, OP_WIDE, OP_IINC);
    be_put2(&m.code, 0);
    be_put2(&m.code, 1000);
    code_op1(&m, OP_WIDE, OP_RET);
    be_put2(&m.code, 299);
    code_finish(&m, STATIC, "run", "()I");
    return class_finish(&c);
}

/* The Code attribute of before 45.3, with a loop and an array. */
static struct buf make_old(void)
{
    struct class_file c;
    class_init(&c, "Old", 45, 0);
    code_init(&m, &c, 2, 1);
    push(10);
    code_op(&m, ISTORE_0);
    code_label(&m, 0);
    push(4);
    code_op1(&m, OP_NEWARRAY, 10);
    code_op(&m, POP);
    code_op1(&m, OP_IINC, 0);
    be_put1(&m.code, (uint32_t)-1);
    code_op1(&m, OP_ILOAD, 0);
    code_branch(&m, 0x9d, 0); /* ifgt */
    code_op1(&m, OP_ILOAD, 0);
    code_op(&m, OP_IRETURN);
    code_finish(&m, STATIC, "run", "()I");
    return class_finish(&c);
}

static void put_switch(bool table, uint32_t nops)
{
    for (uint32_t i = 0; i < nops; i++)
        code_op(&m, OP_NOP);
    code_op1(&m, OP_ILOAD, 0);
    uint32_t insn = (uint32_t)m.code.len;
    code_op(&m, table ? OP_TABLESWITCH : OP_LOOKUPSWITCH);
    while (m.code.len % 4)
        be_put1(&m.code, 0);
    code_switch_offset(&m, insn, 2);
    be_put4(&m.code, table ? 5 : 2);
    if (table)
        be_put4(&m.code, 6);
    for (uint32_t i = 0; i < 2; i++) {
        if (!table)
            be_put4(&m.code, i ? 1000 : (uint32_t)-3);
        code_switch_offset(&m, insn, i);
    }
    for (uint32_t i = 0; i < 3; i++) {
        code_label(&m, i);
        code_frame(&m, "I", "");
        code_op1(&m, OP_IINC, 0);
        be_put1(&m.code, i + 1);
    }
    code_op1(&m, OP_ILOAD, 0);
    code_op(&m, OP_IRETURN);
}

/* Both switches with every padding. */
static struct buf make_switches(void)
{
    struct class_file c;
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    uint32_t refs[8];
    class_init(&c, "Switches", 52, 0);
    for (uint32_t i = 0; i < 8; i++) {
        code_init(&m, &c, 2, 1);
        put_switch(i % 2 == 0, i / 2);
        code_finish(&m, STATIC, names[i], "(I)I");
        refs[i] = class_method_ref(&c, "Switches", names[i], "(I)I");
    }
    code_init(&m, &c, 3, 0);
    code_op(&m, ICONST_0);
    for (uint32_t i = 0; i < 32; i++) {
        static const int32_t values[] = {5, 6, -3, 1000};
        push(values[i / 8]);
        code_op2(&m, OP_INVOKESTATIC, refs[i % 8]);
        code_op(&m, IADD);
    }
    code_op(&m, OP_IRETURN);
    code_finish(&m, STATIC, "run", "()I");
    return class_finish(&c);
}

static void put_arrays(uint32_t bytes, uint32_t every)
{
    for (uint32_t i = 1; m.code.len < bytes; i++) {
        for (int k = 0; k < 6; k++)
            code_op(&m, OP_NOP);
        code_op(&m, ICONST_0);
        code_op1(&m, OP_NEWARRAY, 10);
        code_op(&m, POP);
        if (every && i % every == 0) { /* a goto to the next instruction: a spot behind it */
            code_op2(&m, OP_GOTO, 3);
            code_frame(&m, "IO", "");
        }
    }
}

struct buf handmade_far(const char *name, uint16_t major, uint32_t bytes, uint32_t every)
{
    struct class_file c;
    enum { BACK, END, TURN };
    class_init(&c, name, major, 0);
    code_init(&m, &c, 2, 2);
    code_op(&m, ICONST_0);
    code_op(&m, ISTORE_0);
    code_op(&m, OP_ACONST_NULL);
    code_op(&m, ASTORE_0 + 1);
    code_label(&m, BACK);
    code_frame(&m, "IO", "");
    code_op1(&m, OP_IINC, 0);
    be_put1(&m.code, 1);
    code_op1(&m, OP_ILOAD, 0);
    push(2);
    code_branch(&m, 0xa2, END); /* if_icmpge: forward over everything */
    put_arrays(bytes, every);
    code_op1(&m, OP_ALOAD, 1);
    code_branch(&m, OP_IFNULL, BACK); /* backward over everything */
    code_label(&m, TURN);
    code_branch(&m, OP_GOTO, BACK);
    code_label(&m, END);
    code_frame(&m, "IO", "");
    if (every) {
        code_op1(&m, OP_ILOAD, 0);
        push(3);
        code_branch(&m, 0xa1, BACK); /* if_icmplt */
    }
    code_op1(&m, OP_ILOAD, 0);
    code_op(&m, OP_IRETURN);
    code_finish(&m, STATIC, "run", "()I");
    return class_finish(&c);
}

static struct buf make_far(void)
{
    return handmade_far("Far", 52, 31000, 50);
}

static struct buf make_far_old(void)
{
    return handmade_far("FarOld", 48, 31000, 50);
}

/* The branch back at the end can reach a trampoline, the one over everything cannot: no goto
 * between. */
static struct buf make_far_lost(void)
{
    return handmade_far("FarLost", 52, 31000, 0);
}

static struct buf make_near_limit(void)
{
    struct class_file c;
    class_init(&c, "NearLimit", 52, 0);
    code_init(&m, &c, 2, 0);
    put_arrays(65520, 0);
    push(7);
    code_op(&m, OP_IRETURN);
    code_finish(&m, STATIC, "run", "()I");
    return class_finish(&c);
}

/* All but a few constants are used up. */
static struct buf make_full_pool(void)
{
    struct class_file c;
    class_init(&c, "FullPool", 52, 0);
    while (c.n_pool < 65520)
        class_utf8(&c, "x");
    code_init(&m, &c, 1, 0);
    push(7);
    code_op(&m, OP_IRETURN);
    code_finish(&m, STATIC, "run", "()I");
    return class_finish(&c);
}

/* Locals beyond 255, of two slots, and parameters that are overwritten. */
static struct buf make_wide(void)
{
    struct class_file c;
    class_init(&c, "Wide", 52, 0);
    uint32_t ref = class_method_ref(&c, "Wide", "f", "(JLjava/lang/Object;I)I");
    code_init(&m, &c, 4, 400);
    code_op1(&m, OP_WIDE, 0x16); /* lload 0 */
    be_put2(&m.code, 0);
    code_op1(&m, OP_WIDE, 0x37); /* lstore 300 */
    be_put2(&m.code, 300);
    code_op(&m, OP_ACONST_NULL);
    code_op1(&m, OP_ASTORE, 2);
    code_op1(&m, OP_WIDE, OP_IINC);
    be_put2(&m.code, 3);
    be_put2(&m.code, 500);
    code_op1(&m, OP_WIDE, 0x16);
    be_put2(&m.code, 300);
    code_op(&m, 0x88); /* l2i */
    code_op1(&m, OP_ILOAD, 3);
    code_branch(&m, 0xa2, 0);
    code_label(&m, 0);
    code_frame(&m, "JOI", "");
    code_op1(&m, OP_ILOAD, 3);
    code_op(&m, OP_IRETURN);
    code_finish(&m, STATIC, "f", "(JLjava/lang/Object;I)I");
    code_init(&m, &c, 4, 0);
    code_op(&m, 0x0a); /* lconst_1 */
    code_op(&m, OP_ACONST_NULL);
    push(9);
    code_op2(&m, OP_INVOKESTATIC, ref);
    code_op(&m, OP_IRETURN);
    code_finish(&m, STATIC, "run", "()I");
    return class_finish(&c);
}

/* A synchronized statement; covered: with javac's handler, else without any. */
static void put_monitor(struct class_file *c, const char *name, bool covered)
{
    enum { START, STOP, HANDLER, OUT };
    code_init(&m, c, 2, 3);
    code_op1(&m, OP_ALOAD, 0);
    code_op(&m, OP_DUP);
    code_op1(&m, OP_ASTORE, 1);
    code_op(&m, OP_MONITORENTER);
    code_label(&m, START);
    code_op1(&m, OP_ALOAD, 1);
    code_op(&m, OP_MONITOREXIT);
    code_label(&m, STOP);
    code_branch(&m, OP_GOTO, OUT);
    code_label(&m, HANDLER);
    code_frame(&m, "OO", "X");
    code_op1(&m, OP_ASTORE, 2);
    code_op1(&m, OP_ALOAD, 1);
    code_op(&m, OP_MONITOREXIT);
    code_op1(&m, OP_ALOAD, 2);
    code_op(&m, OP_ATHROW);
    code_label(&m, OUT);
    code_frame(&m, "OO", "");
    push(1);
    code_op(&m, OP_IRETURN);
    if (covered)
        code_exception(&m, START, STOP, HANDLER);
    code_finish(&m, STATIC, name, "(Ljava/lang/Object;)I");
}

static struct buf make_monitors(void)
{
    struct class_file c;
    class_init(&c, "Monitors", 52, 0);
    put_monitor(&c, "covered", true);
    put_monitor(&c, "bare", false);
    uint32_t covered = class_method_ref(&c, "Monitors", "covered", "(Ljava/lang/Object;)I");
    uint32_t bare = class_method_ref(&c, "Monitors", "bare", "(Ljava/lang/Object;)I");
    code_init(&m, &c, 3, 0);
    code_op(&m, OP_ICONST_0);
    code_op1(&m, OP_NEWARRAY, 10);
    code_op2(&m, OP_INVOKESTATIC, covered);
    code_op(&m, OP_ICONST_0);
    code_op1(&m, OP_NEWARRAY, 10);
    code_op2(&m, OP_INVOKESTATIC, bare);
    code_op(&m, IADD);
    code_op(&m, OP_IRETURN);
    code_finish(&m, STATIC, "run", "()I");
    return class_finish(&c);
}

const struct handmade handmade[] = {
    {"Jsr", make_jsr},
    {"Old", make_old},
    {"Switches", make_switches},
    {"Far", make_far},
    {"FarOld", make_far_old},
    {"FarLost", make_far_lost},
    {"NearLimit", make_near_limit},
    {"FullPool", make_full_pool},
    {"Wide", make_wide},
    {"Monitors", make_monitors},
};
const size_t n_handmade = sizeof handmade / sizeof handmade[0];
