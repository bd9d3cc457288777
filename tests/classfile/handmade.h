/* handmade.h - classes that no compiler makes, assembled here: jsr and ret, the old Code layout,
 * wide instructions, branches that an edit pushes out of reach, monitors without a handler, tables
 * near their limits.  Each has `public static int run()`, whose result an edit must not change. */
#ifndef ORCA_TESTS_CLASSFILE_HANDMADE_H
#define ORCA_TESTS_CLASSFILE_HANDMADE_H

#include "classfile/be.h"

/* --- a class under construction --------------------------------------------------------------- */

struct class_file {
    struct buf pool, methods;
    uint32_t n_pool, n_methods;
    uint16_t minor, major;
    const char *name;
};

void class_init(struct class_file *c, const char *name, uint16_t major, uint16_t minor);
uint32_t class_utf8(struct class_file *c, const char *s);
uint32_t class_ref(struct class_file *c, const char *name);
uint32_t class_method_ref(struct class_file *c, const char *cls, const char *name,
                          const char *desc);
/* The finished class; c is empty then. */
struct buf class_finish(struct class_file *c);

/* --- a method under construction -------------------------------------------------------------- */

enum { MAX_LABELS = 64, MAX_FIXES = 20000, MAX_FRAMES = 20000 };

struct method_code {
    struct class_file *c;
    struct buf code, exceptions, attrs;
    uint32_t n_exceptions, n_attrs;
    uint32_t max_stack, max_locals;
    uint32_t label[MAX_LABELS];
    struct {
        uint32_t insn, at, label;
        bool wide;
    } fixes[MAX_FIXES];
    uint32_t n_fixes;
    struct buf frames;
    uint32_t n_frames, last_frame;
};

void code_init(struct method_code *m, struct class_file *c, uint32_t max_stack,
               uint32_t max_locals);
void code_op(struct method_code *m, int op);
void code_op1(struct method_code *m, int op, uint32_t u1);
void code_op2(struct method_code *m, int op, uint32_t u2);
void code_branch(struct method_code *m, int op, uint32_t label);
void code_label(struct method_code *m, uint32_t label);
/* 4 bytes of a switch whose opcode is at `insn`. */
void code_switch_offset(struct method_code *m, uint32_t insn, uint32_t label);
/* A full frame here: I J F D, O java/lang/Object, X java/lang/Throwable, T top, N null. */
void code_frame(struct method_code *m, const char *locals, const char *stack);
void code_exception(struct method_code *m, uint32_t start, uint32_t end, uint32_t handler);
/* An attribute of the Code attribute. */
void code_attr(struct method_code *m, const char *name, const void *p, size_t n);
void code_finish(struct method_code *m, uint32_t access, const char *name, const char *desc);

/* --- the classes ------------------------------------------------------------------------------ */

struct handmade {
    const char *name;
    struct buf (*make)(void);
};
extern const struct handmade handmade[];
extern const size_t n_handmade;

/* Conditional branches and gotos over `bytes` of array allocations, with a spot for trampolines
 * every `every` allocations; 0: none. */
struct buf handmade_far(const char *name, uint16_t major, uint32_t bytes, uint32_t every);

#endif
