/* alloc_rows.h - what platform threads allocate, counted by java.lang.OrcaHeap itself where no
 * stacks are wanted: the call of a native method would be most of the cost.
 *
 *     directory  JavaThread's address -> row       written here, read by Java code of that thread
 *     row        a count, and for arrays the bytes, of each kind (class)      written by that code
 *
 * A row is written by its thread alone and only grows; the heap thread reads it at the same time,
 * like alloc_counts.h.  Threads without a row (virtual threads, a thread too many) and kinds
 * without a place in it (a class too many) are reported one by one.
 *
 * Java code may have the address of a row for as long as the JVM lives, so this memory is never
 * freed, only cleared.  A thread that a debugger stops in the middle of counting, and resumes in
 * another recording, may count one object there: the only wrong count. */
#ifndef ORCA_AGENT_ALLOC_ROWS_H
#define ORCA_AGENT_ALLOC_ROWS_H

#include "agent/alloc_counts.h"

#include <stdbool.h>

struct alloc_row; /* of a platform thread */

/* For this recording.  Returns the directory's address, the same each time; 0: no memory. */
uintptr_t alloc_rows_open(void);

/* Where in a row a class is counted: bytes from its beginning; -1: nowhere, each object is
 * reported.  size: of an object; 0: an array, whose bytes are counted behind the number.  Any
 * thread. Takes a lock. */
int32_t alloc_rows_place(class_id class_, uint64_t size);

/* A row for the calling platform thread; NULL: there are too many, or alloc_rows_open was not
 * called.  Takes a lock. */
struct alloc_row *alloc_rows_join(uintptr_t java_thread, thread_id thread);

/* Its Java code does not find it from hide to show.  Only its own thread; NULL: nothing is done. */
void alloc_row_hide(struct alloc_row *row);
void alloc_row_show(struct alloc_row *row);

/* Its thread ends: what it has counted is read once more.  Only its own thread; NULL: nothing. */
void alloc_row_leave(struct alloc_row *row);

/* What all rows have counted since the last call.  One thread at a time. */
void alloc_rows_news(void (*visit)(void *ctx, const struct alloc_news *n), void *ctx);

/* The recording is over: no thread finds a row, all are empty. */
void alloc_rows_close(void);

#endif
