/* nmethod.h - a compiled method's own description: which methods and bytecodes stand behind a place
 * in its code (PcDesc and the compressed scopes), and where its frames can be unwound.
 *
 * What is executed by a live frame does not move or go away; nothing else is read. */
#ifndef ORCA_HOTSPOT_NMETHOD_H
#define ORCA_HOTSPOT_NMETHOD_H

#include "base/guarded.h"
#include "hotspot/codecache.h"
#include "hotspot/walker.h"

struct nmethod {
    struct blob blob;
    uintptr_t method;
    int32_t compile_id;
    uint8_t level;
    uintptr_t pcs_begin, pcs_end;        /* PcDesc[] */
    uintptr_t scopes_begin, scopes_end;  /* compressed scopes */
    uintptr_t meta_begin, meta_end;      /* Metadata*[] */
    uintptr_t verified_entry, osr_entry; /* osr_entry 0: is none */
    uintptr_t deopt, deopt_mh;           /* 0: none */
    int32_t orig_pc;                     /* slot of the pc that a deoptimized frame had */
};

/* False: not the description of an installed nmethod. */
bool nmethod_read(const struct layout *l, const struct blob *b, struct nmethod *nm);

/* Its entries, too, which nmethod_read leaves 0. */
bool nmethod_read_entries(const struct layout *l, struct nmethod *nm);

/* Whether that nmethod is still the one at its place.  What was freed keeps its words until they
 * are overwritten, and new code is put at the end of a free block: but a block that is not in use
 * says so. */
static inline bool nmethod_is(const struct layout *l, uintptr_t blob, uintptr_t method,
                              uint32_t compile_id)
{
    uint8_t used;
    uint32_t id_now;
    uintptr_t method_now;
    return guarded_u8(blob - (uintptr_t)l->block_size + (uintptr_t)l->block_used, &used) &&
           used == 1 && guarded_u32(blob + (uintptr_t)l->nm_compile_id, &id_now) &&
           id_now == compile_id && guarded_word(blob + (uintptr_t)l->nm_method, &method_now) &&
           method_now == method;
}

/* How the place in a compiled frame is described. */
enum pc_match {
    PC_EXACT,       /* a return address: by itself */
    PC_NEAR,        /* the return address of a leaf: not itself; its neighbours are */
    PC_INTERRUPTED, /* as near, and no call: the instruction there is the next one */
};

/* Where the scope of a return address begins in the compressed scopes; 0: no scope; -1: the place
 * is not described. */
int32_t nmethod_scope(const struct layout *l, const struct nmethod *nm, uintptr_t pc);

/* The scopes of the nearest places that are described, before and after `pc`; 0 or -1 as above. */
struct nmethod_near {
    int32_t before, after;
    uintptr_t after_pc; /* 0: there is none */
    bool all; /* the compiler described all of its code: what is before a place, up to the one
               * before that, is as the place */
};

struct nmethod_near nmethod_near(const struct layout *l, const struct nmethod *nm, uintptr_t pc);

/* The frames of a scope, innermost first.  Returns how many there are (at most `max` are stored);
 * -1: not decodable. */
int32_t nmethod_frames(const struct layout *l, const struct nmethod *nm, int32_t scope,
                       struct walk_frame *out, int32_t max);

#endif
