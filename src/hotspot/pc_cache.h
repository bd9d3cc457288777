/* pc_cache.h - the frames behind return addresses in compiled code, so that they are decoded once.
 *
 * A fixed table, filled by any thread that decodes, read by all threads and signal handlers at any
 * time: each entry has a sequence number, odd while it is written; a reader that sees it change has
 * read nothing, a writer that finds it odd does not write.  No thread waits.
 *
 * An entry belongs to one nmethod, identified by place, compilation number and method; all three
 * are compared with what is at the place now.  An nmethod that is on a stack stays, so what matches
 * is alive. */
#ifndef ORCA_HOTSPOT_PC_CACHE_H
#define ORCA_HOTSPOT_PC_CACHE_H

#include "hotspot/nmethod.h"
#include "hotspot/stack.h"
#include "hotspot/trail.h"

enum { PC_CACHE_FRAMES = 10 }; /* deeper inlining is decoded each time */

struct pc_cache;

struct pc_cache_room {
    struct walk_frame *frames;
    int32_t n;
    bool stamps;         /* only what is remembered with stamps */
    struct trail *trail; /* NULL: not wanted */
};

int pc_cache_new(struct pc_cache **out);
void pc_cache_free(struct pc_cache *c);

/* Go on from *at, which called something, over all frames that are remembered, as long as there is
 * room for what is behind them; *at becomes the first one that is not.  vm:
 * *at called the VM or C.  Returns how many frames are in `out`; *vm is false if there are any. */
int32_t pc_cache_walk(const struct pc_cache *c, const struct layout *l, const struct stack *s,
                      struct cursor *at, const struct pc_cache_room *room, bool *vm);

void pc_cache_put(struct pc_cache *c, const struct nmethod *nm, uintptr_t pc,
                  const struct walk_frame *frames, int32_t n);

#endif
