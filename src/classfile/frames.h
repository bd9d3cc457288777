/* frames.h - StackMapTable (JVMS 4.7.4): read into full frames, changed, written in the shortest
 * forms.
 *
 * Frames share their type lists where one repeats the other's, so lists are never changed in place.
 * A declared parameter type that no constant of the class may name yet is kept as its place in the
 * descriptor (VT_PARAM) and gets its constant when it has to be written. */
#ifndef ORCA_CLASSFILE_FRAMES_H
#define ORCA_CLASSFILE_FRAMES_H

#include "classfile/code.h"
#include "classfile/cpool.h"
#include "classfile/desc.h"

/* verification_type_info; the last ones are our own and never written. */
enum vtype_tag {
    VT_TOP,
    VT_INTEGER,
    VT_FLOAT,
    VT_DOUBLE,
    VT_LONG,
    VT_NULL,
    VT_UNINIT_THIS,
    VT_OBJECT, /* data: constant of the class */
    VT_UNINIT, /* data: pc of the `new` in the original code */
    VT_PARAM,  /* data: place of its type in the method's descriptor */
    VT_SELF,   /* the class itself */
    VT_SECOND, /* second slot of a long or double, in lists of slots only */
};

struct vtype {
    uint8_t tag;
    uint16_t data;
};

struct frame {
    uint32_t pc;  /* in the original code; CODE_NONE: a frame of added code */
    uint32_t off; /* in the new code */
    uint32_t n_locals, n_stack;
    const struct vtype *locals, *stack; /* a long or double is one element */
};

struct frames {
    const struct code *code;
    struct frame initial; /* the one of the descriptor, JVMS 4.10.1.6 */
    struct frame *v;
    uint32_t n;
    size_t types_left; /* a table may describe far more than it has bytes */
};

/* The frames of the code, by ascending pc; `attr` may have p NULL: no StackMapTable, no frames.
 * Sets has_frame of the instructions.  -EINVAL, -ENOMEM. */
int frames_decode(struct frames *f, struct code *code, const struct cf_attr *attr, struct arena *a,
                  struct err *err);

/* The frame of the instruction at pc, or NULL. */
const struct frame *frames_find(const struct frames *f, uint32_t pc);

/* The type of a local variable's slot; VT_TOP behind the list. */
struct vtype frame_slot(const struct frame *f, uint32_t slot);

/* The locals as slots (long, double: two elements) into out[0 .. max); the number used, or
 * CODE_NONE when they are more. */
uint32_t frame_to_slots(const struct frame *f, struct vtype *out, uint32_t max);
/* The opposite: locals = slots[0 .. n) without trailing Tops.  -ENOMEM. */
int frame_from_slots(struct frames *fs, struct frame *f, const struct vtype *slots, uint32_t n,
                     struct arena *a);

bool vtype_equal(struct vtype x, struct vtype y);
bool vtype_is_ref(struct vtype x);

/* Write the table's content (number_of_entries and entries) for frames sorted by `off`.
 * -ENOSPC: more than 65535 frames. */
int frames_encode(const struct frames *f, const struct frame *v, uint32_t n, struct cpool *pool,
                  struct buf *out);

#endif
