#include "classfile/emit.h"

#include "classfile/desc.h"

static void count(struct emit *e, int slots)
{
    e->depth += slots;
    if (e->depth > e->peak)
        e->peak = e->depth;
}

void emit_op(struct emit *e, enum op op, int slots)
{
    be_put1(e->out, op);
    count(e, slots);
}

static void ldc(struct emit *e, uint32_t constant)
{
    be_put1(e->out, constant > UINT8_MAX ? OP_LDC_W : OP_LDC);
    if (constant > UINT8_MAX)
        be_put2(e->out, constant);
    else
        be_put1(e->out, constant);
    count(e, 1);
}

void emit_int(struct emit *e, int32_t v)
{
    if (v >= -1 && v <= 5) {
        emit_op(e, (enum op)(OP_ICONST_0 + v), 1);
    } else if (v >= INT8_MIN && v <= INT8_MAX) {
        emit_op(e, OP_BIPUSH, 1);
        be_put1(e->out, (uint32_t)v);
    } else if (v >= INT16_MIN && v <= INT16_MAX) {
        emit_op(e, OP_SIPUSH, 1);
        be_put2(e->out, (uint32_t)v);
    } else {
        ldc(e, cpool_integer(e->pool, v));
    }
}

void emit_long(struct emit *e, const uint8_t value[8])
{
    be_put1(e->out, OP_LDC2_W);
    be_put2(e->out, cpool_long(e->pool, value));
    count(e, 2);
}

void emit_class(struct emit *e, struct cf_text name)
{
    ldc(e, cpool_class(e->pool, name.p, name.len));
}

void emit_zero(struct emit *e, char kind)
{
    enum op op = kind == 'J'   ? OP_LCONST_0
                 : kind == 'F' ? OP_FCONST_0
                 : kind == 'D' ? OP_DCONST_0
                 : kind == 'I' ? OP_ICONST_0
                               : OP_ACONST_NULL;
    emit_op(e, op, (int)desc_kind_slots(kind));
}

/* The order of the types in all families of instructions: int long float double reference. */
static uint32_t order(char kind)
{
    return kind == 'I' ? 0 : kind == 'J' ? 1 : kind == 'F' ? 2 : kind == 'D' ? 3 : 4;
}

static void local(struct emit *e, uint32_t op, uint32_t op_0, uint32_t slot)
{
    if (slot < 4) {
        be_put1(e->out, op_0 + slot);
    } else if (slot <= UINT8_MAX) {
        be_put1(e->out, op);
        be_put1(e->out, slot);
    } else {
        be_put1(e->out, OP_WIDE);
        be_put1(e->out, op);
        be_put2(e->out, slot);
    }
}

void emit_load(struct emit *e, char kind, uint32_t slot)
{
    local(e, OP_ILOAD + order(kind), OP_ILOAD_0 + 4 * order(kind), slot);
    count(e, (int)desc_kind_slots(kind));
}

void emit_store(struct emit *e, char kind, uint32_t slot)
{
    local(e, OP_ISTORE + order(kind), OP_ISTORE_0 + 4 * order(kind), slot);
    count(e, -(int)desc_kind_slots(kind));
}

void emit_dup(struct emit *e, char kind)
{
    bool two = desc_kind_slots(kind) == 2;
    emit_op(e, two ? OP_DUP2 : OP_DUP, two ? 2 : 1);
}

void emit_call(struct emit *e, uint32_t method, int slots)
{
    be_put1(e->out, OP_INVOKESTATIC);
    be_put2(e->out, method);
    count(e, slots);
}
