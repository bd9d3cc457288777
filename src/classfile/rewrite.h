/* rewrite.h - one method under edit: what the files of the rewriter share.
 *
 *   method.c   the order of the steps, and the method's new bytes
 *   flow.c     where in a constructor `this` is initialized
 *   keep.c     parameters that probes need late: safe where they are, or copied at entry
 *   protect.c  the frame of a handler at one instruction; structured locking
 *   probe.c    the call of one probe
 *   insert.c   which probes go where */
#ifndef ORCA_CLASSFILE_REWRITE_H
#define ORCA_CLASSFILE_REWRITE_H

#include "classfile/edit.h"
#include "classfile/emit.h"
#include "classfile/nan.h"
#include "classfile/relocate.h"

/* Instructions of a method times its handlers, beyond which it is left as it is: where each is held
 * against each (HotSpot's verifier does that, too) there must be an end. */
enum { REWRITE_MAX_WORK = 50 * 1000 * 1000 };

/* What is worked out once per edit and method. */
struct probe_call {
    uint32_t ref; /* Methodref, made at the first use */
    int slots;    /* of its parameters */
    char kind[CF_MAX_ARGS];
};

struct rewrite {
    const struct cf_class *c;
    const struct cf_method *m;
    const struct cf_edit *edits;
    uint32_t n_edits;
    struct probe_call calls[CF_MAX_EDITS];
    struct cpool *pool;
    struct arena *arena;

    struct code code;
    struct frames frames;
    struct desc desc;
    bool has_frames; /* version 50 on */
    bool is_ctor;    /* not of java/lang/Object, whose `this` is ready from the start */
    bool unsure;     /* constructor: this_state is not known */

    struct buf inserted;
    struct emit emit;
    int peak_above, peak_alone; /* operand stack of inserted code: above what is there; alone */
    uint16_t copy[256];         /* slot of a parameter -> its copy; 0: none */
    uint32_t temps;             /* first local for a site's own use */
    uint32_t max_locals;
    struct added_handler *added;
    uint32_t n_added, cap_added;
    struct frame exit_frame; /* of the AT_THROW handler, when has_exit */
    bool has_exit;

    const struct cf_plan *plan;
    const struct nan_constants *nan;
    uint32_t sites, trampolines, numbers; /* numbers: instructions that loaded a NaN */
    uint32_t left[CF_N_LEFT];             /* parts */
};

/* What a probe's arguments can be at one place. */
struct site {
    uint32_t insn;        /* CODE_NONE: entry, exit by exception */
    enum cf_source top;   /* the source that lies on the operand stack, of kind top_kind */
    char top_kind;        /* 0: nothing */
    uint32_t object;      /* local with the OBJECT; CODE_NONE: none */
    uint32_t temp;        /* next free local */
    bool at_entry, ready; /* ready: `this` may be used */
};

/* flow.c.  -ENOMEM. */
int flow_this(struct rewrite *w, struct err *err);

/* keep.c: decide about copies and extend the frames; then emit the copying. */
int keep_plan(struct rewrite *w, struct err *err);
void keep_emit(struct rewrite *w);
/* The slot that holds, all over the method, what the parameter's slot had at entry. */
uint32_t keep_slot(const struct rewrite *w, uint32_t slot);

/* protect.c: frame of a handler for `insn` in which the local `object` (CODE_NONE: none) holds a
 * reference.  False when the types are not known there. */
bool protect_frame(struct rewrite *w, uint32_t insn, uint32_t object, struct frame *out);
/* The boundary behind monitorenter `insn` from which on an exception unlocks it, or CODE_NONE. */
uint32_t protect_region(const struct rewrite *w, uint32_t insn);
/* Where an exception at monitorexit `insn` leads to: to no exit of the same monitor; to one that is
 * not this one; to this one again, as in javac's handlers, which cover themselves.  *catcher: the
 * handler that it comes to first, or CODE_NONE. */
enum cf_unlock { CF_UNLOCKS_NOWHERE, CF_UNLOCKS_THERE, CF_UNLOCKS_HERE };
enum cf_unlock protect_unlocks(const struct rewrite *w, uint32_t insn, uint32_t *catcher);
/* Whether the instruction is part of a handler that covers it: an exception of a probe there would
 * have the probe run again, and for ever where it cannot run. */
bool protect_retries(const struct rewrite *w, uint32_t insn);
struct vtype protect_class(struct rewrite *w, const char *name);
struct added_handler *protect_add(struct rewrite *w);

/* probe.c.  probe_check: -EINVAL when edit i does not fit the method. */
int probe_check(struct rewrite *w, uint32_t i, struct err *err);
void probe_emit(struct rewrite *w, uint32_t i, struct site *s);
bool probe_uses(const struct cf_edit *e, enum cf_source source);

/* insert.c: all inserted code.  -ENOMEM, -E2BIG. */
int insert_all(struct rewrite *w, struct err *err);

/* method.c: the method's new bytes: 1; nothing found a place: 0; negative: left alone, *why is
 * set. */
int method_rewrite(struct rewrite *w, struct buf *out, enum cf_left *why, struct err *err);

#endif
