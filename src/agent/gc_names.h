/* gc_names.h - the words about collections, as ids: collectors, kinds, causes.
 *
 * The VM thread meets most of them at a safepoint, where nothing may be waited for: gc_names_id
 * only puts a new word into a table, and gc_names_define writes what is new there into the
 * recording, soon after, on another thread. */
#ifndef ORCA_AGENT_GC_NAMES_H
#define ORCA_AGENT_GC_NAMES_H

#include "format/event.h"

/* A recording begins: no word has an id. */
void gc_names_reset(void);

/* The id of a word, 0 when there are too many.  Any thread, inside the guard; no lock, no
 * allocation, no call of the JVM. */
gc_name_id gc_names_id(const char *text);

/* Define the words that are new.  Any thread but the VM thread and the drain thread, while there is
 * a recording. */
void gc_names_define(void);

#endif
