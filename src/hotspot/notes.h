/* notes.h - signals of Orca's own to one thread, with a few bits that say what for.
 *
 * The signal is SIGURG: a process that has no handler for it ignores it, so one that comes late, or
 * after the old handler was restored, does no harm.  What is not ours goes to the handler that was
 * there before.  Each kind of note has its own reader, which runs in the handler: on the thread
 * that the note was sent to, at any instruction of it, all signals blocked but SIGSEGV and SIGBUS
 * (guarded loads). */
#ifndef ORCA_HOTSPOT_NOTES_H
#define ORCA_HOTSPOT_NOTES_H

#include "base/err.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

enum { NOTES_SIGNAL = SIGURG };

enum note_kind {
    NOTE_OWNER,  /* owner_walk.c: what do you execute while you own the lock? */
    NOTE_SAMPLE, /* sampled.c: what do you execute? */
    NOTE_KINDS,
};

/* A note that has come.  Async-signal-safe; errno is kept around it. */
typedef void (*note_fn)(uint32_t payload, const siginfo_t *info, const void *ucontext);

/* From now on notes of that kind go to `reader`, for the life of the process; the same one for each
 * call.  Any thread. */
int notes_open(enum note_kind kind, note_fn reader, struct err *err);

/* Signals of a perf event, which carry no value, only its descriptor: whether it is one of ours.
 * Returns false when it is not. */
typedef bool (*note_fd_fn)(const siginfo_t *info, const void *ucontext);
void notes_open_fd(note_fd_fn reader);

/* What a timer's sigev_value has to be. */
union sigval note_value(enum note_kind kind, uint32_t payload);

/* Send one.  0, or a negative errno: -ESRCH, the thread is gone; -EAGAIN, too many are pending. */
int note_send(uint32_t os_tid, enum note_kind kind, uint32_t payload);

#endif
