/* same_files.h - modules of a trace that are one file, whatever they call it.
 *
 * A trace may spell one library in thousands of ways, and name all libraries of a machine: reading
 * each one's symbols would take minutes for a trace of some kB.  So a file is known by its device
 * and inode, and how much is read has a limit. */
#ifndef ORCA_SYMBOLS_SAME_FILES_H
#define ORCA_SYMBOLS_SAME_FILES_H

#include "symbols/natives.h"
#include "symbols/symbols.h"

/* What may be read for a trace, counted in symbols: enough for all libraries of a large program,
 * and one more for each byte of the trace.  To look for a file counts as a thousand. */
#define SYMBOLS_ANY_TRACE UINT64_C(4000000)
#define SYMBOLS_FILE UINT64_C(1000)

/* Join the groups of places that are of one file.  *budget: less what it took; with 0 left the
 * others stay apart.  -ENOMEM. */
int same_files_join(struct natives *v, const struct symbols_options *o, uint64_t *budget);

#endif
