/* emit.h - the few instructions that probes are made of, in their shortest form, with a count of
 * the operand stack they need above what is there already.
 *
 * A failed allocation is kept in the buffer's and the pool's own marks. */
#ifndef ORCA_CLASSFILE_EMIT_H
#define ORCA_CLASSFILE_EMIT_H

#include "classfile/cpool.h"
#include "classfile/insn.h"

struct emit {
    struct buf *out;
    struct cpool *pool;
    int depth, peak; /* slots; peak is the highest depth since the caller set it */
};

/* An instruction without operands, and what it does to the stack. */
void emit_op(struct emit *e, enum op op, int slots);
void emit_int(struct emit *e, int32_t v);
void emit_long(struct emit *e, const uint8_t value[8]); /* ldc2_w */
void emit_class(struct emit *e, struct cf_text name);   /* ldc of the class: version 49 on */
void emit_zero(struct emit *e, char kind);              /* null or 0 of a kind of desc.h */
void emit_load(struct emit *e, char kind, uint32_t slot);
void emit_store(struct emit *e, char kind, uint32_t slot);
void emit_dup(struct emit *e, char kind);
/* invokestatic of a Methodref; slots: of its result minus those of its parameters. */
void emit_call(struct emit *e, uint32_t method, int slots);

#endif
