/* relocate.h - everything of a Code attribute that names places in the code, after the layout is
 * known: exception table, StackMapTable, line numbers, local variables, type annotations. */
#ifndef ORCA_CLASSFILE_RELOCATE_H
#define ORCA_CLASSFILE_RELOCATE_H

#include "classfile/frames.h"
#include "classfile/layout.h"

/* What an added handler covers. */
enum added_part {
    ADDED_INSN,   /* the instruction */
    ADDED_BEFORE, /* the inserted code before it */
    ADDED_AFTER,  /* the inserted code after it */
    ADDED_BODY,   /* all but the returns and, in constructors, what precedes super(...) */
};

/* A handler behind the method's code.  Those of one instruction rethrow to what covers the
 * instruction, from the original's handler number `around` on. */
struct added_handler {
    uint32_t insn;   /* its number; ADDED_BODY: CODE_NONE */
    uint32_t around; /* those before it release a monitor that this one has released */
    enum added_part part;
    uint32_t skip;  /* bytes at the start of the part that it does not cover */
    uint32_t again; /* number of bytes at its start that it covers itself */
    struct code_piece bytes;
    struct frame frame;
    uint32_t off;
};

struct relocate {
    const struct layout *l;
    const struct frames *frames; /* of the original instructions, extended */
    const struct added_handler *added;
    uint32_t n_added;
    uint32_t *entry; /* old index of an exception table entry -> its (first) new index */
    uint32_t n_entries;
    struct cpool *pool;
};

/* Whether the handler of the whole body covers this instruction. */
static inline bool relocate_in_body(const struct code_insn *in)
{
    return in->kind != INSN_RETURN && in->this_state == CODE_THIS_READY;
}

/* The exception table with its length in front.  -ENOSPC: more than 65535 entries. */
int relocate_exceptions(struct relocate *r, struct buf *out, struct arena *a, struct err *err);

/* attributes_count and the attributes of the Code attribute; after relocate_exceptions. */
int relocate_attributes(struct relocate *r, struct buf *out, struct arena *a, struct err *err);

/* Places of the original code in the new one: where the scope of a variable or a line starts, and
 * the instruction itself.  pc may be inside of an instruction; CODE_NONE: outside of the code. */
uint32_t relocate_scope(const struct layout *l, uint32_t pc);
uint32_t relocate_line(const struct layout *l, uint32_t pc);
uint32_t relocate_insn(const struct layout *l, uint32_t pc);

/* type_annotations.c: correct the content of a Runtime(In)VisibleTypeAnnotations attribute of a
 * Code attribute in place.  -EINVAL: damaged. */
int type_annotations_relocate(const struct relocate *r, uint8_t *p, size_t len, struct err *err);

#endif
