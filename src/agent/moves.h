/* moves.h - where the instructions of rewritten methods stood before: for locations as the class
 * file on disk has them.
 *
 * A version of a method is known by its class's and its own name and signature, and by the length
 * of its code, which inserted code makes longer.  Classes of one name (of several loaders) whose
 * versions also have that length, but were rewritten differently, cannot be distinguished: their
 * locations are unknown. */
#ifndef ORCA_AGENT_MOVES_H
#define ORCA_AGENT_MOVES_H

#include "classfile/edit.h"
#include "format/codec.h"

struct moves_new {
    const struct cf_move *v;
    size_t n;
    bool stay; /* behind the end of the recording, as the code does (kept.h) */
};

/* Remember a method's, of that length now.  Any thread. */
void moves_note(const struct cf_class *c, const struct cf_method *m, uint32_t code_len,
                struct moves_new v);

/* Those of a version, packed as DEF method's `moved`; its bytes are in `b`.  Nothing: it was not
 * rewritten, or is not known.  class_name: in internal form. */
struct packed moves_of(struct str class_name, struct str method, struct str signature,
                       uint32_t code_len, struct buf *b);

/* The recording has ended. */
void moves_forget(void);

#endif
