/* moves.h - where the instructions of rewritten methods stood before: for locations as the class
 * file on disk has them.
 *
 * A version of a method is known by its class's and its own name and signature, and by the length
 * of its code, which inserted code makes longer.  Classes of one name (of several loaders) whose
 * versions have that length, too, but were rewritten otherwise, are not told apart: then nothing is
 * said of them. */
#ifndef ORCA_AGENT_MOVES_H
#define ORCA_AGENT_MOVES_H

#include "classfile/edit.h"
#include "format/codec.h"

/* cf_plan.moved: remember a method's.  Any thread. */
void moves_note(void *ctx, const struct cf_class *c, const struct cf_method *m, uint32_t code_len,
                const struct cf_move *v, size_t n);

/* Those of a version, packed as DEF method's `moved`; its bytes are in `b`.  Nothing: it was not
 * rewritten, or is not known.  class_name: in internal form. */
struct packed moves_of(struct str class_name, struct str method, struct str signature,
                       uint32_t code_len, struct buf *b);

void moves_fini(void);

#endif
