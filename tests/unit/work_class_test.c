/* What class files cost that are made to cost much: put through every edit of tests/classfile.
 * Within a method some of it grows with the square, as HotSpot's own verifier does; a method has
 * 65,535 bytes at most. */
#include "work.h"

#ifdef ORCA_COUNT_WORK

#include "../classfile/edits.h"
#include "../classfile/handmade.h"
#include "base/util.h"
#include "classfile/edit.h"
#include "classfile/insn.h"

#include <criterion/criterion.h>
#include <stdio.h>

enum { STATIC = 9, SYNCHRONIZED = 0x29, JAVA_6 = 50, JAVA_17 = 61 };

/* --- methods that are bad --------------------------------------------------------------------- */

static struct method_code m; /* large */
static struct class_file made;

static void begin(uint32_t stack, uint32_t locals)
{
    class_init(&made, "A", JAVA_17, 0);
    code_init(&m, &made, stack, locals);
}

static void end(struct buf *file, uint32_t access)
{
    code_finish(&m, access, "run", "()V");
    struct buf b = class_finish(&made);
    buf_put(file, b.p, b.len);
    buf_fini(&b);
}

static void array(void)
{
    code_op(&m, OP_ICONST_0);
    code_op1(&m, OP_NEWARRAY, 10);
}

/* Each instruction is covered by all handlers. */
static void handlers(struct buf *file, uint32_t n)
{
    begin(2, 1);
    code_label(&m, 0);
    for (uint32_t i = 0; i < n; i++) {
        array();
        code_op(&m, OP_POP);
    }
    code_label(&m, 1);
    code_op(&m, OP_RETURN);
    code_label(&m, 2);
    code_frame(&m, "", "X");
    code_op(&m, OP_POP);
    code_op(&m, OP_RETURN);
    for (uint32_t i = 0; i < n; i++)
        code_exception(&m, 0, 1, 2);
    end(file, SYNCHRONIZED);
}

/* Each covers one instruction, and is itself a return of its own. */
static void own_handlers(struct buf *file, uint32_t n)
{
    begin(2, 1);
    for (uint32_t i = 0; i < n; i++) {
        code_label(&m, 0);
        array();
        code_op(&m, OP_POP);
        code_label(&m, 1);
        code_op(&m, OP_RETURN);
        code_frame(&m, "", "X");
        code_label(&m, 2);
        code_op(&m, OP_POP);
        code_op(&m, OP_RETURN);
        code_exception(&m, 0, 1, 2);
        code_frame(&m, "", "");
    }
    code_op(&m, OP_RETURN);
    end(file, SYNCHRONIZED);
}

/* Frames that add a local each, and as many that say "the same". */
static void growing_frames(struct buf *file, uint32_t n)
{
    struct buf frames = {0};
    begin(2, n);
    be_put2(&frames, 2 * n);
    for (uint32_t i = 0; i < 2 * n; i++) {
        array();
        code_op(&m, OP_POP);
        if (i < n) {
            be_put1(&frames, 252);
            be_put2(&frames, i ? 3 : 4);
            be_put1(&frames, 1);
        } else {
            be_put1(&frames, 3);
        }
    }
    code_op(&m, OP_RETURN);
    code_attr(&m, "StackMapTable", frames.p, frames.len);
    buf_fini(&frames);
    end(file, STATIC);
}

static void deep_stack(struct buf *file, uint32_t n)
{
    begin(n + 2, 1);
    for (uint32_t i = 0; i < n; i++)
        array();
    for (uint32_t i = 0; i < n; i++)
        code_op(&m, OP_MONITORENTER);
    for (uint32_t i = 0; i < n; i++) {
        code_op(&m, OP_ACONST_NULL);
        code_op(&m, OP_MONITOREXIT);
    }
    code_op(&m, OP_RETURN);
    end(file, SYNCHRONIZED);
}

/* All back to the beginning, and all to the end. */
static void branches(struct buf *file, uint32_t n)
{
    begin(2, 1);
    code_label(&m, 0);
    code_frame(&m, "", "");
    for (uint32_t i = 0; i < n; i++) {
        code_op(&m, OP_ICONST_0);
        code_branch(&m, OP_IFEQ, i % 2);
    }
    code_label(&m, 1);
    code_frame(&m, "", "");
    array();
    code_op(&m, OP_POP);
    code_op(&m, OP_RETURN);
    end(file, SYNCHRONIZED);
}

/* Branches that each edit pushes a little farther, so that one after the other is out of reach. */
static void far_branches(struct buf *file, uint32_t n)
{
    struct buf b = handmade_far("A", JAVA_6 - 1, n, 3);
    buf_put(file, b.p, b.len);
    buf_fini(&b);
}

static void switches(struct buf *file, uint32_t n)
{
    begin(2, 1);
    code_op(&m, OP_ICONST_0);
    uint32_t insn = (uint32_t)m.code.len;
    code_op(&m, OP_TABLESWITCH);
    while (m.code.len % 4)
        be_put1(&m.code, 0);
    code_switch_offset(&m, insn, 0);
    be_put4(&m.code, 0);
    be_put4(&m.code, n - 1);
    for (uint32_t i = 0; i < n; i++)
        code_switch_offset(&m, insn, 0);
    code_label(&m, 0);
    code_frame(&m, "", "");
    array();
    code_op(&m, OP_POP);
    code_op(&m, OP_RETURN);
    end(file, SYNCHRONIZED);
}

/* Tables of lines and of local variables, n of each, with n entries in all. */
static void tables(struct buf *file, uint32_t n)
{
    begin(2, 1);
    for (uint32_t i = 0; i < n; i++) {
        array();
        code_op(&m, OP_POP);
    }
    code_op(&m, OP_RETURN);
    for (uint32_t i = 0; i < n; i++) {
        struct buf b = {0};
        be_put2(&b, 1);
        be_put2(&b, 4 * (n - 1 - i));
        be_put2(&b, i);
        code_attr(&m, "LineNumberTable", b.p, b.len);
        buf_clear(&b);
        be_put2(&b, 1);
        be_put2(&b, 4 * (n - 1 - i));
        be_put2(&b, 4);
        be_put4(&b, 1 << 16 | 1);
        be_put2(&b, 0);
        code_attr(&m, "LocalVariableTable", b.p, b.len);
        buf_fini(&b);
    }
    end(file, STATIC);
}

static void methods(struct buf *file, uint32_t n)
{
    class_init(&made, "A", JAVA_17, 0);
    for (uint32_t i = 0; i < n; i++) {
        char name[16];
        snprintf(name, sizeof name, "m%u", i);
        code_init(&m, &made, 2, 1);
        array();
        code_op(&m, OP_POP);
        code_op(&m, OP_RETURN);
        code_finish(&m, SYNCHRONIZED, name, "()V");
    }
    struct buf b = class_finish(&made);
    buf_put(file, b.p, b.len);
    buf_fini(&b);
}

/* --- what edits them -------------------------------------------------------------------------- */

static uint64_t edit(const struct buf *file)
{
    for (size_t i = 0; edits_names[i]; i++) {
        static struct edits edits;
        struct buf out = {0};
        struct cf_result result;
        struct err err = {""};
        edits_init(&edits, edits_names[i]);
        struct cf_plan plan = edits_plan(&edits);
        int rc = cf_edit_class(file->p, file->len, &plan, &out, &result, &err);
        cr_assert(rc >= 0 || err.msg[0]);
        buf_fini(&out);
    }
    return file->len;
}

Test(work, of_classes, .timeout = 600)
{
    static const struct work_shape shapes[] = {
        {"a deep stack", deep_stack, 800},
        {"branches", branches, 3000},
        {"far branches", far_branches, 5000},
        {"switches", switches, 3000},
        {"tables", tables, 1000},
        {"methods", methods, 1000},
    };
    static const struct work_shape squares[] = {
        {"handlers of all", handlers, 500},
        {"more handlers of all", handlers, 4000},
        {"handlers of one", own_handlers, 500},
        {"growing frames", growing_frames, 500},
    };
    work_check("classfile", edit, shapes, ARRAY_LEN(shapes));
    work_check_limit("classfile", edit, squares, ARRAY_LEN(squares));
}

#endif
