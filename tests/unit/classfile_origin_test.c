/* Where the operands of monitorenter and of calls come from, in code made by hand. */
#include "../classfile/handmade.h"

#include "classfile/code.h"
#include "classfile/origin.h"

#include <criterion/criterion.h>
#include <stdio.h>

enum {
    OP_ALOAD_1 = 0x2b,
    OP_ALOAD_2 = 0x2c,
    OP_ASTORE_1 = 0x4c,
    OP_ASTORE_2 = 0x4d,
    OP_ICONST_1 = 0x04,
    OP_AALOAD = 0x32,
    OP_ARETURN_ = 0xb0,
    OP_GETSTATIC = 0xb2,
    OP_GETFIELD = 0xb4,
    OP_CHECKCAST = 0xc0,
};

static struct class_file file;
static struct method_code m;
static uint32_t site;

static uint32_t field_ref(const char *class_, const char *name, const char *desc)
{
    uint32_t ref = class_method_ref(&file, class_, name, desc);
    /* the constant's tag is five bytes before the end */
    file.pool.p[file.pool.len - 5] = CF_FIELDREF;
    return ref;
}

static void begin(uint32_t locals)
{
    class_init(&file, "shop/Stock", 50, 0);
    code_init(&m, &file, 8, locals);
    site = 0;
}

static void at_site(int op)
{
    site = (uint32_t)m.code.len;
    code_op(&m, op);
}

static void call_lock(void)
{
    uint32_t ref = class_method_ref(&file, "shop/Lock", "lock", "()V");
    site = (uint32_t)m.code.len;
    code_op2(&m, OP_INVOKEVIRTUAL, ref);
}

/* Of the site: its line, "-" when there is none. */
static const char *line(uint32_t access, const char *desc)
{
    static char text[ORIGIN_TEXT_MAX + 1];
    struct buf out = {0};
    struct arena a;
    struct cf_class c;
    struct code code;
    struct err err = {0};
    code_op(&m, OP_RETURN);
    code_finish(&m, access, "reserve", desc);
    struct buf bytes = class_finish(&file);
    arena_init(&a, 0);
    cr_assert_eq(cf_parse(&c, bytes.p, bytes.len, &a, &err), 0, "%s", err.msg);
    cr_assert_eq(code_parse(&code, &c, &c.methods[0], &a, &err), 0, "%s", err.msg);
    struct origin_method o = {&c, code.bytes, code.len, access & CF_ACC_STATIC, c.methods[0].desc};
    bool is = origin_put(&o, site, &a, &out);
    snprintf(text, sizeof text, "%s", is ? buf_str(&out) : "-");
    buf_fini(&out);
    buf_fini(&bytes);
    arena_fini(&a);
    return text;
}

/* --- what javac writes ------------------------------------------------------------------------ */

Test(origin, synchronized_on_a_static_field_goes_through_dup_and_a_variable)
{
    begin(2);
    code_op2(&m, OP_GETSTATIC, field_ref("shop/Stock", "GUARD", "Ljava/lang/Object;"));
    code_op(&m, OP_DUP);
    code_op(&m, OP_ASTORE_1);
    at_site(OP_MONITORENTER);
    cr_assert_str_eq(line(0, "()V"), ";sshop/Stock.GUARD");
}

Test(origin, synchronized_on_this)
{
    begin(2);
    code_op(&m, OP_ALOAD_0);
    code_op(&m, OP_DUP);
    code_op(&m, OP_ASTORE_1);
    at_site(OP_MONITORENTER);
    cr_assert_str_eq(line(0, "()V"), ";p0");
}

Test(origin, a_parameter_is_counted_with_the_receiver_and_without_the_second_half_of_a_long)
{
    begin(5);
    code_op1(&m, OP_ALOAD, 3);
    at_site(OP_MONITORENTER);
    cr_assert_str_eq(line(0, "(JLjava/lang/Object;)V"), ";p2");
}

Test(origin, of_a_static_method_the_first_parameter_is_0)
{
    begin(2);
    code_op(&m, OP_ALOAD_0);
    at_site(OP_MONITORENTER);
    cr_assert_str_eq(line(CF_ACC_STATIC, "(Ljava/lang/Object;)V"), ";p0");
}

Test(origin, synchronized_on_a_class)
{
    begin(2);
    code_op1(&m, OP_LDC, class_ref(&file, "shop/Stock"));
    at_site(OP_MONITORENTER);
    cr_assert_str_eq(line(0, "()V"), ";cshop/Stock");
}

Test(origin, a_call_has_its_receiver_and_its_arguments)
{
    begin(3);
    uint32_t give = class_method_ref(&file, "shop/Pool", "give", "(JLjava/lang/Object;I)V");
    code_op(&m, OP_ALOAD_0);
    code_op2(&m, OP_GETFIELD, field_ref("shop/Stock", "pool", "Lshop/Pool;"));
    code_op(&m, OP_LCONST_0);
    code_op(&m, OP_ALOAD_1);
    code_op(&m, OP_ICONST_0);
    site = (uint32_t)m.code.len;
    code_op2(&m, OP_INVOKEVIRTUAL, give);
    cr_assert_str_eq(line(0, "(Ljava/lang/Object;)V"), "give;fshop/Stock.pool;;p1;");
}

Test(origin, a_getter_names_the_call)
{
    begin(2);
    code_op(&m, OP_ALOAD_0);
    code_op2(&m, OP_INVOKEVIRTUAL, class_method_ref(&file, "shop/Stock", "lock", "()Lshop/Lock;"));
    call_lock();
    cr_assert_str_eq(line(0, "()V"), "lock;mshop/Stock.lock");
}

/* this.rw.readLock().lock(): one lock, whichever of its two views. */
Test(origin, a_view_of_a_lock_is_that_lock)
{
    begin(1);
    code_op(&m, OP_ALOAD_0);
    code_op2(&m, OP_GETFIELD,
             field_ref("shop/Stock", "rw", "Ljava/util/concurrent/locks/ReadWriteLock;"));
    code_op2(&m, OP_INVOKEVIRTUAL,
             class_method_ref(&file, "java/util/concurrent/locks/ReadWriteLock", "readLock",
                              "()Ljava/util/concurrent/locks/Lock;"));
    call_lock();
    cr_assert_str_eq(line(0, "()V"), "lock;fshop/Stock.rw");
}

Test(origin, an_element_of_an_array_through_checkcast)
{
    begin(2);
    uint32_t type = class_ref(&file, "shop/Lock");
    code_op(&m, OP_ALOAD_0);
    code_op2(&m, OP_GETFIELD, field_ref("shop/Stock", "stripes", "[Ljava/lang/Object;"));
    code_op(&m, OP_ICONST_0);
    code_op(&m, OP_AALOAD);
    code_op2(&m, OP_CHECKCAST, type);
    call_lock();
    cr_assert_str_eq(line(0, "()V"), "lock;fshop/Stock.stripes[]");
}

/* --- variables and branches ------------------------------------------------------------------- */

static void lock_field_into(int astore, const char *name)
{
    uint32_t ref = field_ref("shop/Stock", name, "Lshop/Lock;");
    code_op(&m, OP_ALOAD_0);
    code_op2(&m, OP_GETFIELD, ref);
    code_op(&m, astore);
}

Test(origin, a_variable_stored_once_is_known_behind_branches)
{
    begin(3);
    lock_field_into(OP_ASTORE_1, "guard");
    code_op(&m, OP_ICONST_0);
    code_branch(&m, OP_IFEQ, 1);
    code_op(&m, OP_NOP);
    code_label(&m, 1);
    code_op(&m, OP_ALOAD_1);
    call_lock();
    cr_assert_str_eq(line(0, "()V"), "lock;fshop/Stock.guard");
}

Test(origin, a_variable_stored_twice_is_not_known_where_ways_meet)
{
    begin(3);
    lock_field_into(OP_ASTORE_1, "first");
    code_op(&m, OP_ICONST_0);
    code_branch(&m, OP_IFEQ, 1);
    lock_field_into(OP_ASTORE_1, "second");
    code_label(&m, 1);
    code_op(&m, OP_ALOAD_1);
    call_lock();
    cr_assert_str_eq(line(0, "()V"), "-");
}

Test(origin, a_variable_stored_twice_is_known_in_the_stretch_of_its_store)
{
    begin(3);
    lock_field_into(OP_ASTORE_1, "first");
    lock_field_into(OP_ASTORE_1, "second");
    code_op(&m, OP_ALOAD_1);
    call_lock();
    cr_assert_str_eq(line(0, "()V"), "lock;fshop/Stock.second");
}

/* for (;;) { p.lock(); p = this.next; } */
Test(origin, a_loop_at_the_very_beginning_may_have_changed_a_parameter)
{
    begin(3);
    code_label(&m, 1);
    code_op(&m, OP_ALOAD_1);
    call_lock();
    lock_field_into(OP_ASTORE_1, "next");
    code_branch(&m, OP_GOTO, 1);
    cr_assert_str_eq(line(0, "(Lshop/Lock;)V"), "-");
}

/* this.pool.give(0, x ? a : b, 1): the receiver lies below while the ways part. */
Test(origin, what_lies_below_a_choice_stays_known)
{
    begin(3);
    uint32_t give = class_method_ref(&file, "shop/Pool", "give", "(Ljava/lang/Object;)V");
    code_op(&m, OP_ALOAD_0);
    code_op2(&m, OP_GETFIELD, field_ref("shop/Stock", "pool", "Lshop/Pool;"));
    code_op(&m, OP_ICONST_0);
    code_branch(&m, OP_IFEQ, 1);
    code_op(&m, OP_ALOAD_1);
    code_branch(&m, OP_GOTO, 2);
    code_label(&m, 1);
    code_op(&m, OP_ALOAD_2);
    code_label(&m, 2);
    site = (uint32_t)m.code.len;
    code_op2(&m, OP_INVOKEVIRTUAL, give);
    cr_assert_str_eq(line(0, "(Ljava/lang/Object;Ljava/lang/Object;)V"), "give;fshop/Stock.pool;");
}

Test(origin, a_handler_knows_nothing_of_what_it_did_not_put_there)
{
    begin(3);
    code_label(&m, 3);
    lock_field_into(OP_ASTORE_1, "first");
    lock_field_into(OP_ASTORE_1, "second");
    code_branch(&m, OP_GOTO, 1);
    code_label(&m, 2); /* the exception lies on the stack */
    code_op(&m, OP_POP);
    code_op(&m, OP_ALOAD_1);
    call_lock();
    code_label(&m, 1);
    code_exception(&m, 3, 2, 2);
    cr_assert_str_eq(line(0, "()V"), "-");
}

/* --- constants alone -------------------------------------------------------------------------- */

/* As JVMTI has them: the first one is where the bytes begin. */
Test(origin, the_first_of_constants_alone_counts)
{
    static const uint8_t constants[] = {CF_CLASS, 0, 2, CF_UTF8, 0, 4, 'S', 'h', 'o', 'p'};
    struct arena a;
    struct cf_class c;
    arena_init(&a, 0);
    cr_assert_eq(cf_parse_constants(&c, constants, sizeof constants, 3, &a, NULL), 0);
    cr_assert(cf_text_is(cf_class_at(&c, 1), "Shop"));
    cr_assert_lt(cf_parse_constants(&c, constants, sizeof constants - 1, 3, &a, NULL), 0);
    cr_assert_lt(cf_parse_constants(&c, constants, sizeof constants, 4, &a, NULL), 0);
    arena_fini(&a);
}

/* --- what says nothing ------------------------------------------------------------------------ */

Test(origin, names_that_the_compiler_made_are_none)
{
    begin(2);
    code_op(&m, OP_ALOAD_0);
    code_op2(&m, OP_GETFIELD, field_ref("shop/Stock$1", "this$0", "Lshop/Stock;"));
    at_site(OP_MONITORENTER);
    cr_assert_str_eq(line(0, "()V"), "-");
}

Test(origin, another_instruction_has_no_line)
{
    begin(2);
    code_op(&m, OP_ALOAD_0);
    at_site(OP_POP);
    cr_assert_str_eq(line(0, "()V"), "-");
}

Test(origin, a_place_inside_of_an_instruction_has_no_line)
{
    begin(2);
    code_op(&m, OP_ALOAD_0);
    code_op2(&m, OP_GETFIELD, field_ref("shop/Stock", "guard", "Lshop/Lock;"));
    call_lock();
    site++;
    cr_assert_str_eq(line(0, "()V"), "-");
}

Test(origin, code_of_jsr_is_left_alone)
{
    begin(3);
    code_branch(&m, OP_JSR, 1);
    code_op(&m, OP_RETURN);
    code_label(&m, 1);
    code_op(&m, OP_ASTORE_2);
    code_op(&m, OP_ALOAD_0);
    at_site(OP_MONITORENTER);
    code_op(&m, OP_ALOAD_0);
    code_op(&m, OP_MONITOREXIT);
    code_op1(&m, OP_RET, 2);
    cr_assert_str_eq(line(0, "()V"), "-");
}
