/* edit.h - the rewriter's interface: a class file in, the same class with calls of static probe
 * methods in chosen methods out.
 *
 * Methods that cannot be edited soundly are left unchanged and counted by reason; the result always
 * verifies when the original does.  Methods without an edit, and unknown attributes, are copied
 * byte for byte.  Original instructions keep their lines; code put before an instruction has its
 * line, and so has code put after it. Reentrant: no globals, no recursion, less than 16 KiB of
 * stack.  Threads: any. */
#ifndef ORCA_CLASSFILE_EDIT_H
#define ORCA_CLASSFILE_EDIT_H

#include "classfile/cf.h"

enum { CF_MAX_ARGS = 8, CF_MAX_EDITS = 32 };

/* Where a probe is called, and what its arguments may be beside constants, THIS, PARAM, LOCK and
 * PC. */
enum cf_point {
    CF_AT_ENTRY,    /* once, also when a loop leads back to the first instruction.  In a constructor
                       THIS is null */
    CF_AT_RETURN,   /* before each return instruction.  RESULT */
    CF_AT_THROW,    /* when an exception leaves the method; in a constructor only behind super(...).
                       THROWN.  Never for an exception of an exit probe */
    CF_BEFORE_CALL, /* of the method call_*.  OBJECT: the receiver; null for static methods,
                     * <init> */
    CF_AFTER_CALL,  /* when it returned.  OBJECT, RESULT */
    CF_CALL_THREW,  /* when an exception left it.  OBJECT, THROWN */
    CF_REPLACE_CALL, /* the probe is called instead.  Its parameters are the receiver and the call's
                        parameters, its result the call's; args and n_args are not used.
                        invokevirtual, invokeinterface (and invokestatic, without receiver) */
    CF_BEFORE_ENTER, /* monitorenter.  OBJECT */
    CF_AFTER_ENTER,
    CF_BEFORE_LEAVE, /* monitorexit.  OBJECT */
    CF_AFTER_LEAVE,
    CF_AFTER_NEW_ARRAY, /* newarray, anewarray, multianewarray.  OBJECT */
    CF_TAKE_APART,      /* no probe: the code is only taken apart and put together again (tests) */
    CF_N_POINTS
};

enum cf_source {
    CF_ARG_INT, /* value */
    CF_ARG_NULL,
    CF_ARG_THIS,  /* null in static methods, and before super(...) in constructors */
    CF_ARG_PARAM, /* parameter number `value`, from 0, `this` not counted, as it was at entry */
    CF_ARG_LOCK,  /* of a synchronized method: this, or the class; null before version 49 then */
    CF_ARG_PC,    /* of the instruction in the original code; -1 at entry and throw */
    CF_ARG_OBJECT,
    CF_ARG_RESULT, /* 0 or null where there is none */
    CF_ARG_THROWN,
    CF_N_SOURCES
};

struct cf_arg {
    enum cf_source source;
    int32_t value;
};

/* A static method returning void.  Its parameters are int, long, float, double and, for
 * references, java/lang/Object. */
struct cf_probe {
    const char *cls, *name, *desc; /* cls in internal form: java/lang/OrcaProbe */
    uint32_t n_args;
    struct cf_arg args[CF_MAX_ARGS];
};

/* call_class of a method that arrays have. */
#define CF_ANY_ARRAY "["

struct cf_edit {
    enum cf_point at;
    struct cf_probe probe;
    const char *call_class, *call_name, *call_desc; /* for the points at calls */
};

/* Why a method (or, the last ones, a part of its edit) was left as it was. */
enum cf_left {
    CF_LEFT_BAD_CODE,  /* damaged: the message of the first is kept */
    CF_LEFT_BAD_EDIT,  /* the probe does not fit this method */
    CF_LEFT_TOO_LONG,  /* more than 65535 bytes, another limit of the format, or of our time */
    CF_LEFT_NO_REACH,  /* a branch would not reach, and no place for a trampoline */
    CF_LEFT_POOL,      /* the class has too many constants: no method was edited */
    CF_LEFT_CTOR_EDGE, /* where super(...) is called is not clear: no AT_THROW */
    CF_LEFT_CALL_EDGE, /* no CALL_THREW at a call: the types there are not known */
    CF_LEFT_MONITOR,   /* a probe whose failure would leave the monitor locked */
    CF_LEFT_REPLACE,   /* a call by invokespecial is not replaced */
    CF_LEFT_RETRY,     /* in a handler that covers itself: a probe that fails would run for ever */
    CF_N_LEFT
};

struct cf_result {
    uint32_t methods; /* with edits that found a place */
    uint32_t edited;  /* of them */
    uint32_t sites;   /* places at which a probe is called */
    uint32_t trampolines;
    uint32_t left[CF_N_LEFT];
    struct err first; /* what the first reason was about; empty: none */
};

/* From `at` of a method's new code on it is as from `from` of the original one on; or, up to the
 * next entry, all of it belongs to the instruction there. */
struct cf_move {
    uint32_t at;
    uint32_t from : 31, stays : 1;
};

struct cf_plan {
    /* The edits of a method, at most CF_MAX_EDITS; NULL or *n = 0: none.  Valid until the next
     * call. */
    const struct cf_edit *(*edits)(void *ctx, const struct cf_class *c, const struct cf_method *m,
                                   uint32_t *n);
    /* Called for each edited method, with the length of its new code; NULL: not wanted. */
    void (*moved)(void *ctx, const struct cf_class *c, const struct cf_method *m, uint32_t code_len,
                  const struct cf_move *v, size_t n);
    void *ctx;
    bool always; /* write the class although nothing changed */
    bool no_nan; /* it is to be redefined: without constants NaN, where that can be (nan.h) */
};

/* Append the edited class to `out`: 1; nothing to change, and without `always` nothing written: 0;
 * or -EINVAL (no class file), -ENOMEM, and `out` is as it was. */
int cf_edit_class(const uint8_t *p, size_t len, const struct cf_plan *plan, struct buf *out,
                  struct cf_result *result, struct err *err);

/* A word for a reason: "bad-code". */
const char *cf_left_name(enum cf_left left);

#endif
