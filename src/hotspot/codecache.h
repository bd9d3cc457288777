/* codecache.h - which piece of HotSpot's code cache an address is in.
 *
 * The cache is a few heaps that only grow; a byte map for each says where the block of a
 * segment begins.  A block that a live frame executes stays where it is; for other addresses
 * the answer may be out of date, so it is checked here as far as possible, and again by the
 * caller. */
#ifndef ORCA_HOTSPOT_CODECACHE_H
#define ORCA_HOTSPOT_CODECACHE_H

#include "hotspot/layout.h"

enum blob_kind {
    BLOB_OTHER, /* stubs without a frame size, the deoptimization blob ... */
    BLOB_NMETHOD,
    BLOB_ADAPTER,
    BLOB_VTABLE,
    BLOB_METHOD_HANDLES, /* the interpreter's method-handle intrinsics */
    BLOB_STUBS,          /* StubRoutines */
    BLOB_CONTINUATION, /* those of continuations: of them only the return barrier is returned to */
    BLOB_RUNTIME,      /* has a frame size: runtime stubs, safepoint blobs */
    BLOB_DEOPT,        /* replaces frames: the deoptimization and uncommon-trap blobs */
    BLOB_UPCALL,
    BLOB_SIGNATURES, /* fetch the arguments of native methods for the interpreter */
};

struct blob {
    uintptr_t at;
    uintptr_t code_begin, code_end;
    uint32_t size;
    int32_t frame_words;    /* with the return address; 0: none */
    int32_t frame_complete; /* offset in the code; -1: never */
    enum blob_kind kind;
    bool native; /* an nmethod: the wrapper of a native method */
};

/* False: no code there.  `pc` is inside of the blob's code. */
bool codecache_find(const struct layout *l, uintptr_t pc, struct blob *b);

/* Whether it is in one of the heaps at all. */
bool codecache_contains(const struct layout *l, uintptr_t pc);

static inline bool in_interpreter(const struct layout *l, uintptr_t pc)
{
    return pc >= l->interpreter_begin && pc < l->interpreter_end;
}

#endif
