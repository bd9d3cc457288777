/* left_behind.h - what recordings that are over left on this machine: rings, sockets, folders.
 *
 * orca status names it, orca clean removes it.  Only this user's, also as root. */
#ifndef ORCA_CLI_LEFT_BEHIND_H
#define ORCA_CLI_LEFT_BEHIND_H

#include "base/buf.h"
#include "base/err.h"
#include "record/leftover.h"

#include <stdbool.h>

struct left_item {
    struct leftover rings;
    bool is_rings; /* else a socket or a folder: only its path */
};

struct left_behind {
    struct left_item *v; /* [n] */
    size_t n;
    bool oom;
};

/* In /dev/shm, and in those folders, where traces are looked for, too. */
int left_behind_find(struct left_behind *l, const struct leftover_search *s, struct err *err);
int left_behind_add(struct left_behind *l, const struct leftover *rings);
void left_behind_fini(struct left_behind *l);

/* Why it is there, and what to do: "its trace app.otrace was deleted". */
void left_behind_words(const struct left_item *i, struct buf *b);

/* Whether orca clean removes it without being given its name. */
bool left_behind_goes(const struct left_item *i);

#endif
