/* libraries.h - the ELF files that are mapped in this process, [vdso] too: which one an address is
 * in, and where its unwind tables are.
 *
 * A record is made when a library is first seen and never changed or freed until libraries_free: so
 * it can be read at any time.  The table of what is mapped now has two halves; a refresh writes the
 * unused one, then switches to it:
 *     changes & 1 == the half in use            (changes only grows)
 * Lookups take no lock, do not wait, and are async-signal-safe.  A library may be unmapped at any
 * time: what its record points to is read by guarded loads only. */
#ifndef ORCA_UNWIND_LIBRARIES_H
#define ORCA_UNWIND_LIBRARIES_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LIBRARY_BUILD_ID = 32 };

struct library {
    uint32_t id;                        /* dense, from 1, in the order of libraries_next */
    uintptr_t begin, end;               /* from the first mapped byte to behind the last */
    uintptr_t bias;                     /* address in the process - address in the file */
    uintptr_t frame_hdr, frame_hdr_end; /* .eh_frame_hdr; both 0: it has none */
    uint32_t build_id_bytes;            /* 0: it has none */
    uint8_t build_id[LIBRARY_BUILD_ID];
    struct library *_Atomic next;
    char path[]; /* absolute where that could be found out; "[vdso]" */
};

struct libraries;

/* Empty until the first refresh. */
int libraries_new(struct libraries **out, struct err *err);

/* No thread may look up any longer. */
void libraries_free(struct libraries *l);

/* Take note of what was loaded and unloaded.  Returns 1 when there was something, 0 when not (then
 * it costs a call of dl_iterate_phdr that stops at once), or a negative errno: then the table is as
 * before.  Any thread; takes the loader's lock and allocates, so not in a signal handler. */
int libraries_refresh(struct libraries *l, struct err *err);

/* The library that holds an address, as of the last refresh; NULL: none.  Signals: safe. */
const struct library *libraries_find(const struct libraries *l, uintptr_t address);

/* How often the table has changed: what was concluded from it holds as long as this does.
 * Signals: safe. */
uint64_t libraries_changes(const struct libraries *l);

/* All that were ever seen, also those that are gone: the one after `last`, NULL being before the
 * first; NULL: no more yet.  Signals: safe. */
const struct library *libraries_next(const struct libraries *l, const struct library *last);

/* A hint that a refresh is due: an address of code was met that is in no library.  Asking takes it
 * back.  Signals: safe, both. */
void libraries_note_missing(struct libraries *l);
bool libraries_missing(struct libraries *l);

#endif
