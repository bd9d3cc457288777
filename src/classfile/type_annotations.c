/* type_annotations.c - type annotations inside a Code attribute (JVMS 4.7.20): the targets that
 * name a place in the code or an entry of the exception table.
 *
 * Annotations nest; the walk keeps its own stack of limited depth, and gives up beyond. */
#include "classfile/relocate.h"

enum {
    LOCAL_VARIABLE = 0x40,
    RESOURCE_VARIABLE = 0x41,
    CATCH = 0x42,
    FIRST_OFFSET = 0x43,   /* instanceof, new, constructor and method reference */
    FIRST_TYPE_ARG = 0x47, /* cast and type arguments: an offset and an index */
    LAST = 0x4b,
    MAX_DEPTH = 64,
};

/* Values that are still to be read at one depth, and whether each has a name before it. */
struct level {
    uint32_t left;
    bool named;
};

/* An element_value without what is nested in it; the nested values become *inner. */
static void read_value(struct be_reader *r, struct level *inner)
{
    uint32_t tag = be_u1(r);
    *inner = (struct level){0};
    if (tag == 'e') {
        be_skip(r, 4);
    } else if (tag == '@') {
        be_skip(r, 2);
        *inner = (struct level){be_u2(r), true};
    } else if (tag == '[') {
        *inner = (struct level){be_u2(r), false};
    } else {
        be_skip(r, 2);
    }
}

static void skip_annotation(struct be_reader *r)
{
    struct level stack[MAX_DEPTH];
    uint32_t depth = 1;
    be_skip(r, 2);
    stack[0] = (struct level){be_u2(r), true};
    while (depth > 0 && !r->bad) {
        struct level *top = &stack[depth - 1];
        if (top->left == 0) {
            depth--;
            continue;
        }
        top->left--;
        if (top->named)
            be_skip(r, 2);
        struct level inner;
        read_value(r, &inner);
        if (inner.left && depth == MAX_DEPTH)
            r->bad = true;
        else if (inner.left)
            stack[depth++] = inner;
    }
}

static void set_offset(struct be_reader *r, uint8_t *p, uint32_t off)
{
    if (off == CODE_NONE)
        r->bad = true;
    else
        be_set2(p + r->pos - 2, off);
}

static void relocate_table(const struct relocate *to, struct be_reader *r, uint8_t *p)
{
    for (uint32_t n = be_u2(r); n > 0 && !r->bad; n--) {
        uint32_t pc = be_u2(r);
        uint32_t start = relocate_scope(to->l, pc);
        set_offset(r, p, start);
        uint32_t end = relocate_scope(to->l, pc + be_u2(r));
        set_offset(r, p, end == CODE_NONE ? CODE_NONE : end - start);
        be_skip(r, 2);
    }
}

static void relocate_target(const struct relocate *to, struct be_reader *r, uint8_t *p)
{
    uint32_t type = be_u1(r);
    if (type == LOCAL_VARIABLE || type == RESOURCE_VARIABLE) {
        relocate_table(to, r, p);
    } else if (type == CATCH) {
        uint32_t i = be_u2(r);
        set_offset(r, p, i < to->l->code->n_handlers ? to->entry[i] : CODE_NONE);
    } else if (type >= FIRST_OFFSET && type <= LAST) {
        uint32_t pc = be_u2(r);
        set_offset(r, p, relocate_insn(to->l, pc));
        be_skip(r, type >= FIRST_TYPE_ARG ? 1 : 0);
    } else {
        r->bad = true; /* the other targets do not occur in a Code attribute */
    }
}

int type_annotations_relocate(const struct relocate *to, uint8_t *p, size_t len, struct err *err)
{
    struct be_reader r = {.p = p, .end = len};
    for (uint32_t n = be_u2(&r); n > 0 && !r.bad; n--) {
        relocate_target(to, &r, p);
        be_skip(&r, 2 * (size_t)be_u1(&r)); /* type_path */
        skip_annotation(&r);
    }
    if (r.bad || r.pos != r.end)
        return err_set(err, -EINVAL, "type annotations are damaged");
    return 0;
}
