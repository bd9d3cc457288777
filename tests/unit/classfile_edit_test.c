/* The class-file rewriter on classes made by hand.  That edited classes verify and run is shown by
 * tests/classfile/run; here the structure of the result is looked at, and what is refused. */
#include "../classfile/edits.c"
#include "../classfile/handmade.c"

#include "cases.h"
#include "classfile/frames.h"

#include <criterion/criterion.h>

struct edited {
    struct buf in, out;
    struct cf_result result;
    struct arena arena;
    struct cf_class c;
    int rc;
};

static const struct cf_method *method_named(const struct cf_class *c, const char *name)
{
    for (uint32_t i = 0; i < c->n_methods; i++)
        if (cf_text_is(c->methods[i].name, name))
            return &c->methods[i];
    cr_assert(false, "no method %s", name);
    return NULL;
}

static void apply(struct edited *e, struct buf in, const char *edit)
{
    static struct edits edits;
    struct err err = {0};
    *e = (struct edited){.in = in};
    arena_init(&e->arena, 0);
    cr_assert(edits_init(&edits, edit));
    struct cf_plan plan = edits_plan(&edits);
    e->rc = cf_edit_class(in.p, in.len, &plan, &e->out, &e->result, &err);
    cr_assert_geq(e->rc, 0, "%s", err.msg);
    cr_assert_eq(cf_parse(&e->c, e->out.p, e->out.len, &e->arena, &err), 0, "%s", err.msg);
}

static void drop(struct edited *e)
{
    buf_fini(&e->in);
    buf_fini(&e->out);
    arena_fini(&e->arena);
}

static struct buf made(const char *name)
{
    for (size_t i = 0; i < n_handmade; i++)
        if (strcmp(handmade[i].name, name) == 0)
            return handmade[i].make();
    cr_assert(false, "no class %s", name);
    return (struct buf){0};
}

static struct code code_of(struct edited *e, const char *method)
{
    struct code code;
    struct err err = {0};
    cr_assert_eq(code_parse(&code, &e->c, method_named(&e->c, method), &e->arena, &err), 0, "%s",
                 err.msg);
    return code;
}

Test(classfile, no_edit_changes_no_byte)
{
    static const char *const names[] = {"none", "apart"};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < n_handmade; i++) {
            struct edited e;
            apply(&e, handmade[i].make(), names[k]);
            if (k == 0) {
                cr_assert_eq(e.out.len, e.in.len);
                cr_assert_eq(memcmp(e.out.p, e.in.p, e.in.len), 0);
            }
            drop(&e);
        }
}

Test(classfile, every_edit_gives_a_class_that_parses)
{
    for (size_t k = 0; edits_names[k]; k++)
        for (size_t i = 0; i < n_handmade; i++) {
            struct edited e;
            apply(&e, handmade[i].make(), edits_names[k]);
            for (uint32_t m_ = 0; m_ < e.c.n_methods; m_++) {
                struct code code;
                struct err err = {0};
                cr_assert_eq(code_parse(&code, &e.c, &e.c.methods[m_], &e.arena, &err), 0,
                             "%s %s: %s", edits_names[k], handmade[i].name, err.msg);
            }
            drop(&e);
        }
}

/* --- where instructions stood before ---------------------------------------------------------- */

struct told {
    struct cf_text name, desc;
    uint32_t code_len;
    struct buf moves; /* struct cf_move [] */
};

static struct told told[64];
static size_t n_told;

static void tell(void *ctx, const struct cf_class *c, const struct cf_method *method,
                 uint32_t code_len, const struct cf_move *v, size_t n)
{
    (void)ctx, (void)c;
    cr_assert_lt(n_told, 64);
    told[n_told] = (struct told){.name = method->name, .desc = method->desc, .code_len = code_len};
    buf_put(&told[n_told++].moves, v, n * sizeof *v);
}

static struct cf_move move_at(const struct told *t, uint32_t at)
{
    const struct cf_move *v = (const void *)t->moves.p;
    size_t n = t->moves.len / sizeof *v, i = 0;
    cr_assert(n > 0 && v[0].at == 0);
    while (i + 1 < n && v[i + 1].at <= at) {
        cr_assert_lt(v[i].at, v[i + 1].at);
        i++;
    }
    return (struct cf_move){at, v[i].stays ? v[i].from : v[i].from + (at - v[i].at), v[i].stays};
}

/* An instruction, as it is or wider; one that was replaced, or that jumps by a trampoline. */
static bool is_alike(uint8_t was, uint8_t is)
{
    return was == is || (was == OP_GOTO && is == OP_GOTO_W) || (was == OP_JSR && is == OP_JSR_W);
}

static void check_moves(const struct told *t, const struct code *old, const struct code *new)
{
    cr_assert_eq(new->len, t->code_len);
    for (uint32_t i = 0; i < new->n_insns; i++) {
        struct cf_move at = move_at(t, new->insns[i].pc);
        cr_assert_lt(at.from, old->len);
        cr_assert_neq(old->at[at.from], CODE_NONE, "%u is inside of an instruction", at.from);
        if (!at.stays)
            cr_assert(is_alike(old->insns[old->at[at.from]].op, new->insns[i].op));
    }
    for (uint32_t i = 0, k = 0; i < old->n_insns; i++) {
        while (k < new->n_insns && move_at(t, new->insns[k].pc).from != old->insns[i].pc)
            k++;
        cr_assert_lt(k, new->n_insns, "nothing is of instruction %u", old->insns[i].pc);
    }
}

static void check_told(const struct told *t, const struct cf_class *was, const struct cf_class *is,
                       struct arena *a)
{
    struct code old, new;
    struct err err = {0};
    for (uint32_t i = 0; i < was->n_methods; i++) {
        const struct cf_method *o = &was->methods[i];
        if (o->name.p != t->name.p || o->desc.p != t->desc.p)
            continue;
        cr_assert_eq(code_parse(&old, was, o, a, &err), 0);
        cr_assert_eq(code_parse(&new, is, &is->methods[i], a, &err), 0);
        check_moves(t, &old, &new);
    }
}

Test(classfile, each_instruction_is_found_where_it_stood)
{
    size_t all = 0;
    for (size_t k = 0; edits_names[k]; k++)
        for (size_t i = 0; i < n_handmade; i++) {
            static struct edits edits;
            struct edited e = {.in = handmade[i].make()};
            struct cf_class was;
            struct err err = {0};
            arena_init(&e.arena, 0);
            cr_assert(edits_init(&edits, edits_names[k]));
            struct cf_plan plan = edits_plan(&edits);
            plan.moved = tell;
            n_told = 0;
            cr_assert_geq(cf_edit_class(e.in.p, e.in.len, &plan, &e.out, &e.result, &err), 0);
            cr_assert_eq(cf_parse(&was, e.in.p, e.in.len, &e.arena, &err), 0);
            cr_assert_eq(cf_parse(&e.c, e.out.p, e.out.len, &e.arena, &err), 0);
            bool undone = e.result.left[CF_LEFT_POOL] > 0; /* too many constants */
            cr_assert(undone || n_told == e.result.edited);
            for (size_t j = 0; j < n_told; j++) {
                if (!undone && (j + i) % (size_t)cases_step() == 0)
                    check_told(&told[j], &was, &e.c, &e.arena);
                buf_fini(&told[j].moves);
            }
            all += n_told;
            drop(&e);
        }
    cr_assert_gt(all, 100);
}

Test(classfile, the_entry_is_called_once_although_a_loop_leads_to_the_first_instruction)
{
    struct class_file c;
    struct edited e;
    class_init(&c, "Loop", 52, 0);
    code_init(&m, &c, 1, 0);
    code_label(&m, 0);
    code_frame(&m, "", "");
    push(1);
    code_branch(&m, OP_IFEQ, 0);
    code_op(&m, OP_RETURN);
    code_finish(&m, STATIC, "loop", "()V");
    apply(&e, class_finish(&c), "entry");
    struct code code = code_of(&e, "loop");
    const struct code_insn *back = &code.insns[code.n_insns - 2];
    cr_assert_eq(back->op, OP_IFEQ);
    cr_assert_eq(code.insns[back->target].op, OP_SIPUSH, "the branch skips the probe");
    cr_assert_gt(back->target, 0);
    cr_assert_eq(code.max_stack, 2);
    drop(&e);
}

Test(classfile, the_exit_handler_covers_neither_probes_nor_returns)
{
    struct edited e;
    apply(&e, made("Wide"), "exit");
    struct code code = code_of(&e, "f");
    cr_assert_eq(code.n_handlers, 1);
    const struct code_handler *h = &code.handlers[0];
    cr_assert_eq(code.insns[h->handler - 1].op, OP_IRETURN);
    cr_assert_eq(code.insns[h->handler].op, OP_DUP);
    cr_assert_leq(h->end, h->handler);
    uint32_t calls = 0;
    for (uint32_t i = h->start; i < h->end; i++)
        calls += code.insns[i].op == OP_INVOKESTATIC || code.insns[i].kind == INSN_RETURN;
    cr_assert_eq(calls, 0);
    drop(&e);
}

Test(classfile, overwritten_parameters_are_copied)
{
    struct edited e;
    apply(&e, made("Wide"), "args");
    struct code code = code_of(&e, "f");
    /* The reference in 2 and the int in 3 are overwritten, the long in 0 is not. */
    cr_assert_eq(code.max_locals, 400 + 2 + 1, "two copies, and the result beside the arguments");
    cr_assert_eq(code.insns[0].op, 0x2c); /* aload_2 */
    cr_assert_eq(code.bytes[1], OP_WIDE);
    drop(&e);
}

Test(classfile, branches_out_of_reach_go_by_trampolines)
{
    struct edited e;
    apply(&e, made("Far"), "array");
    cr_assert_eq(e.result.edited, 1);
    cr_assert_geq(e.result.trampolines, 2);
    struct code code = code_of(&e, "run");
    cr_assert_gt(code.len, 50000);
    uint32_t wide = 0;
    for (uint32_t i = 0; i < code.n_insns; i++)
        wide += code.insns[i].op == OP_GOTO_W;
    cr_assert_eq(wide, e.result.trampolines + 1, "and the goto back is a goto_w");
    drop(&e);
}

static void expect_left(const char *name, const char *edit, enum cf_left why)
{
    struct edited e;
    apply(&e, made(name), edit);
    cr_assert_eq(e.rc, 0, "%s %s", name, edit);
    cr_assert_eq(e.result.edited, 0);
    cr_assert_eq(e.result.left[why], 1, "%s: %s", name, e.result.first.msg);
    cr_assert_eq(e.out.len, e.in.len);
    cr_assert_eq(memcmp(e.out.p, e.in.p, e.in.len), 0);
    cr_assert(e.result.first.msg[0]);
    drop(&e);
}

Test(classfile, what_cannot_be_edited_is_left_alone_and_counted)
{
    expect_left("FarLost", "array", CF_LEFT_NO_REACH);
    expect_left("NearLimit", "exit", CF_LEFT_TOO_LONG);
    expect_left("FullPool", "all", CF_LEFT_POOL);
}

Test(classfile, jsr_and_ret_survive)
{
    struct edited e;
    apply(&e, made("Jsr"), "all");
    cr_assert_eq(e.result.edited, 1);
    struct code code = code_of(&e, "run");
    uint32_t jsr = 0;
    for (uint32_t i = 0; i < code.n_insns; i++)
        jsr += code.insns[i].op == OP_JSR || code.insns[i].op == OP_JSR_W;
    cr_assert_eq(jsr, 3);
    drop(&e);
}

Test(classfile, a_monitor_without_handler_gets_one)
{
    struct edited e;
    apply(&e, made("Monitors"), "monitor");
    struct code covered = code_of(&e, "covered"), bare = code_of(&e, "bare");
    cr_assert_eq(e.result.left[CF_LEFT_MONITOR], 0);
    /* javac covers the handler's own monitorexit, too; this one does not.  What is added covers
     * itself. */
    cr_assert_eq(covered.n_handlers, 3, "%u", covered.n_handlers);
    cr_assert_eq(bare.n_handlers, 6, "%u", bare.n_handlers);
    drop(&e);
}

Test(classfile, the_old_code_layout)
{
    struct edited e;
    apply(&e, made("Old"), "all");
    cr_assert_eq(e.result.edited, 1);
    struct code code = code_of(&e, "run");
    cr_assert(code.old_layout);
    cr_assert_gt(code.len, 40);
    drop(&e);
}

/* --- tables ----------------------------------------------------------------------------------- */

static uint32_t attr_of(const struct code *code, const char *name, struct be_reader *r)
{
    struct be_reader all = cf_reader(code->c, code->attrs, code->end);
    for (uint32_t n = be_u2(&all); n > 0; n--) {
        struct cf_attr a = cf_next_attr(code->c, &all);
        if (cf_text_is(a.name, name)) {
            *r = cf_reader(code->c, a.data, a.end);
            return a.end - a.data;
        }
    }
    return 0;
}

Test(classfile, lines_variables_and_type_annotations_move)
{
    static const uint8_t lines[] = {0, 2, 0, 0, 0, 10, 0, 5, 0, 11};
    static const uint8_t vars[] = {0, 1, 0, 5, 0, 2, 0, 1, 0, 1, 0, 0};
    /* new at 5, catch 0, a variable, and values that nest: @A(x = {@A, 'c'}) */
    static const uint8_t notes[] = {0, 3, 0x44, 0,    5,   0, 0, 1,   0, 0, 0x42, 0, 0,   0, 0,
                                    1, 0, 0,    0x40, 0,   1, 0, 5,   0, 2, 0,    0, 0,   0, 1,
                                    0, 1, 0,    1,    '[', 0, 2, '@', 0, 1, 0,    0, 'C', 0, 1};
    struct class_file c;
    struct edited e;
    class_init(&c, "Tables", 52, 0);
    code_init(&m, &c, 1, 1);
    code_label(&m, 0);
    push(1);
    code_op1(&m, OP_NEWARRAY, 10);
    code_label(&m, 1);
    code_op(&m, POP);
    code_label(&m, 2);
    code_op(&m, OP_RETURN);
    code_label(&m, 3);
    code_frame(&m, "", "X");
    code_op(&m, OP_ATHROW);
    code_exception(&m, 0, 1, 3);
    code_attr(&m, "LineNumberTable", lines, sizeof lines);
    code_attr(&m, "LocalVariableTable", vars, sizeof vars);
    code_attr(&m, "RuntimeVisibleTypeAnnotations", notes, sizeof notes);
    code_attr(&m, "Unknown", lines, sizeof lines);
    code_finish(&m, STATIC, "t", "()V");
    apply(&e, class_finish(&c), "all");
    cr_assert_eq(e.result.edited, 1, "%s", e.result.first.msg);
    struct code code = code_of(&e, "t");
    struct be_reader r;
    uint32_t pop = 0;
    while (code.insns[pop].op != OP_POP)
        pop++;
    cr_assert_eq(attr_of(&code, "LineNumberTable", &r), sizeof lines);
    be_skip(&r, 2);
    cr_assert_eq(be_u2(&r), 0);
    be_skip(&r, 2);
    cr_assert_eq(be_u2(&r), code.insns[pop].pc);
    cr_assert_eq(attr_of(&code, "LocalVariableTable", &r), sizeof vars);
    be_skip(&r, 2);
    uint32_t start = be_u2(&r), len = be_u2(&r);
    cr_assert_leq(start, code.insns[pop].pc);
    cr_assert_gt(start + len, code.insns[pop].pc);
    cr_assert_eq(attr_of(&code, "RuntimeVisibleTypeAnnotations", &r), sizeof notes);
    be_skip(&r, 3);
    cr_assert_eq(be_u2(&r), code.insns[pop].pc);
    be_skip(&r, 6);
    cr_assert_eq(be_u2(&r), 0);
    be_skip(&r, 5);
    cr_assert_eq(be_u1(&r), 0x40);
    cr_assert_eq(attr_of(&code, "Unknown", &r), sizeof lines);
    cr_assert_eq(memcmp(r.p + r.pos, lines, sizeof lines), 0);
    drop(&e);
}

/* Every form of a frame, JVMS 4.7.4, over a code of nops. */
Test(classfile, every_kind_of_frame_is_read_and_written_the_same)
{
    static const uint8_t table[] = {
        0,   12,                                    /* frames */
        252, 0,  3,   1,                            /* append Integer */
        253, 0,  1,   4, 3,                         /* append Long, Double */
        3,                                          /* same */
        64,  1,                                     /* same, stack Integer */
        247, 0,  100, 5,                            /* same extended, stack Null */
        251, 0,  100,                               /* same extended */
        250, 0,  3,                                 /* chop 1 */
        249, 0,  3,                                 /* chop 2 */
        254, 0,  3,   1, 2, 0,                      /* append Integer, Float, Top */
        248, 0,  3,                                 /* chop 3 */
        255, 0,  3,   0, 2, 1, 5, 0, 2, 4, 8, 0, 0, /* full: stack has uninitialized(0) */
        251, 1,  0,                                 /* behind the full one its locals go on */
    };
    struct class_file c;
    struct edited e;
    class_init(&c, "Frames", 52, 0);
    code_init(&m, &c, 8, 8);
    code_op2(&m, OP_NEW, 1);
    while (m.code.len < 600)
        code_op(&m, OP_NOP);
    code_op(&m, OP_RETURN);
    code_attr(&m, "StackMapTable", table, sizeof table);
    code_finish(&m, STATIC, "f", "()V");
    apply(&e, class_finish(&c), "apart");
    cr_assert_eq(e.result.edited, 1, "%s", e.result.first.msg);
    struct code code = code_of(&e, "f");
    struct be_reader r;
    cr_assert_eq(attr_of(&code, "StackMapTable", &r), sizeof table);
    cr_assert_eq(memcmp(r.p + r.pos, table, sizeof table), 0);
    drop(&e);
}

Test(classfile, a_constructor_reports_an_exception_only_behind_super)
{
    struct class_file c;
    struct edited e;
    class_init(&c, "Ctor", 52, 0);
    uint32_t init = class_method_ref(&c, "java/lang/Object", "<init>", "()V");
    uint32_t object = class_ref(&c, "java/lang/Object");
    code_init(&m, &c, 3, 1);
    code_op(&m, ALOAD_0);
    code_op2(&m, OP_NEW, object);
    code_op(&m, OP_DUP);
    code_op2(&m, OP_INVOKESPECIAL, init); /* of the new object */
    code_op(&m, POP);
    code_op2(&m, OP_INVOKESPECIAL, init); /* super() */
    code_op(&m, OP_NOP);
    code_op(&m, OP_RETURN);
    code_finish(&m, 1, "<init>", "()V");
    apply(&e, class_finish(&c), "exit");
    struct code code = code_of(&e, "<init>");
    cr_assert_eq(code.n_handlers, 1);
    cr_assert_eq(code.insns[code.handlers[0].start].op, OP_NOP);
    cr_assert_eq(code.handlers[0].end, code.handlers[0].start + 1);
    drop(&e);
}

/* --- damage ----------------------------------------------------------------------------------- */

Test(classfile, a_class_cut_off_anywhere_is_refused)
{
    struct edits edits;
    struct buf in = made("Monitors");
    struct cf_plan plan;
    edits_init(&edits, "all");
    plan = edits_plan(&edits);
    for (size_t len = 0; len < in.len; len++) {
        struct buf out = {0};
        struct cf_result result;
        struct err err = {0};
        uint8_t *copy = malloc(len ? len : 1);
        memcpy(copy, in.p, len);
        cr_assert_lt(cf_edit_class(copy, len, &plan, &out, &result, &err), 0);
        cr_assert(err.msg[0]);
        cr_assert_eq(out.len, 0);
        free(copy);
        buf_fini(&out);
    }
    buf_fini(&in);
}

Test(classfile, bad_code_is_named_with_its_place)
{
    struct class_file c;
    struct edited e;
    class_init(&c, "Bad", 52, 0);
    code_init(&m, &c, 1, 1);
    code_op(&m, OP_NOP);
    code_op(&m, 0xfe);
    code_finish(&m, STATIC, "foo", "(I)V");
    apply(&e, class_finish(&c), "entry");
    cr_assert_eq(e.rc, 0);
    cr_assert_eq(e.result.left[CF_LEFT_BAD_CODE], 1);
    cr_assert_str_eq(e.result.first.msg, "method foo(I)V: pc 1: bad opcode 0xfe");
    drop(&e);
}

static const struct cf_edit *wrong_edit(void *ctx, const struct cf_class *c,
                                        const struct cf_method *method, uint32_t *n)
{
    (void)c, (void)method;
    *n = 1;
    return ctx;
}

Test(classfile, an_edit_that_does_not_fit_is_refused)
{
    static struct cf_edit wrong[] = {
        {.at = CF_AT_ENTRY, .probe = {"P", "p", "(J)V", 1, {{CF_ARG_INT, 1}}}},
        {.at = CF_AT_ENTRY, .probe = {"P", "p", "(I)V", 1, {{CF_ARG_PARAM, 9}}}},
        {.at = CF_AT_ENTRY, .probe = {.cls = "P", .name = "p", .desc = "()I"}},
        {.at = CF_AT_ENTRY, .probe = {"P", "p", "(Ljava/lang/String;)V", 1, {{CF_ARG_NULL, 0}}}},
        {.at = CF_AFTER_CALL, .probe = {.cls = "P", .name = "p", .desc = "()V"}},
        {.at = CF_N_POINTS, .probe = {.cls = "P", .name = "p", .desc = "()V"}},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct buf in = made("Wide"), out = {0};
        struct cf_result result;
        struct err err = {0};
        struct cf_plan plan = {.edits = wrong_edit, .ctx = &wrong[i]};
        cr_assert_eq(cf_edit_class(in.p, in.len, &plan, &out, &result, &err), 0, "%zu", i);
        cr_assert_eq(result.left[CF_LEFT_BAD_EDIT], 2, "%zu", i);
        cr_assert_eq(out.len, 0);
        buf_fini(&in);
        buf_fini(&out);
    }
}

/* --- constants that are no numbers ------------------------------------------------------------ */

enum { POP2 = 0x58 };
static const uint8_t nan_bits[8] = {0x7f, 0xf8, 0, 0, 0, 0, 0, 1};

static uint32_t nan_constant(struct class_file *c, bool wide)
{
    be_put1(&c->pool, wide ? CF_DOUBLE : CF_FLOAT);
    buf_put(&c->pool, nan_bits, wide ? 8 : 4);
    c->n_pool += wide ? 2 : 1;
    return c->n_pool - (wide ? 2 : 1);
}

/* `times`: a double and a float; attr: an attribute of the code that names the double behind
 * `kind`. */
static struct buf with_nan(uint32_t times, const char *attr, char kind)
{
    struct class_file c;
    class_init(&c, "A", 61, 0);
    uint32_t wide = nan_constant(&c, true), narrow = nan_constant(&c, false);
    code_init(&m, &c, 2, 0);
    for (uint32_t i = 0; i < times; i++) {
        code_op2(&m, OP_LDC2_W, wide);
        code_op(&m, POP2);
        code_op2(&m, OP_LDC_W, narrow);
        code_op(&m, OP_POP);
    }
    code_op(&m, OP_RETURN);
    if (attr) {
        uint8_t named[] = {0, 1, (uint8_t)kind, (uint8_t)(wide >> 8), (uint8_t)wide};
        code_attr(&m, attr, named, sizeof named);
    }
    code_finish(&m, 9, "run", "()V");
    return class_finish(&c);
}

Test(classfile, numbers_that_are_none_go)
{
    struct edited e, again;
    struct cf_ref ref;
    apply(&e, with_nan(2, NULL, 0), "nan");
    cr_assert_eq(e.rc, 1);
    cr_assert_not(cf_has_nan(&e.c));
    struct code code = code_of(&e, "run");
    cr_assert_eq(code.n_insns, 2 * 6 + 1);
    const uint8_t *p = code.bytes + code.insns[6].pc;
    const uint8_t *bits = cf_constant(&e.c, be_get2(p + 1), CF_LONG);
    cr_assert_eq(p[0], OP_LDC2_W);
    cr_assert(bits && memcmp(bits, nan_bits, 8) == 0);
    p = code.bytes + code.insns[7].pc;
    cr_assert(p[0] == OP_INVOKESTATIC && cf_ref_at(&e.c, be_get2(p + 1), &ref));
    cr_assert(cf_text_is(ref.cls, "java/lang/Double") && cf_text_is(ref.name, "longBitsToDouble"));
    cr_assert_eq(code.bytes[code.insns[8].pc], POP2);
    p = code.bytes + code.insns[10].pc;
    cr_assert(p[0] == OP_INVOKESTATIC && cf_ref_at(&e.c, be_get2(p + 1), &ref));
    cr_assert(cf_text_is(ref.cls, "java/lang/Float") && cf_text_is(ref.name, "intBitsToFloat"));
    struct buf copy = {0};
    buf_put(&copy, e.out.p, e.out.len);
    apply(&again, copy, "nan");
    cr_assert_eq(again.rc, 0, "there was one left");
    drop(&again);
    drop(&e);
}

Test(classfile, numbers_that_others_name_stay)
{
    static const struct {
        const char *attr;
        char kind;
        bool stays;
    } named[] = {
        {"AnnotationDefault", 'D', true}, {"AnnotationDefault", 'I', false}, {"Other", 'D', false}};
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        struct edited e;
        apply(&e, with_nan(2, named[i].attr, named[i].kind), "nan");
        cr_expect_eq(cf_has_nan(&e.c), named[i].stays, "%s, %c", named[i].attr, named[i].kind);
        cr_expect_eq(code_of(&e, "run").n_insns, named[i].stays ? 2 * 5 + 1 : 2 * 6 + 1);
        drop(&e);
    }
}

/* No room for more code: all of it stays. */
Test(classfile, numbers_that_must_stay)
{
    struct edited e;
    apply(&e, with_nan(8000, NULL, 0), "nan");
    cr_assert_eq(e.rc, 0);
    cr_assert(cf_has_nan(&e.c));
    cr_assert_eq(e.out.len, e.in.len);
    cr_assert_eq(memcmp(e.out.p, e.in.p, e.in.len), 0);
    drop(&e);
}
