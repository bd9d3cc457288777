/* place.h - where a new trace goes, when something is already there. */
#ifndef ORCA_RECORD_PLACE_H
#define ORCA_RECORD_PLACE_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

/* Make room for a trace at `path` (absolute, n bytes of buffer), or change it to a free name beside
 * it: nothing there, or a trace that ended in good order (it is removed): path stays a trace that
 * is being recorded, or one of a killed JVM that is not completed yet, or, with keep != 0, any
 * trace: "name-PID.otrace" 0; 1: path was changed and err says why; -EEXIST: something there is not
 * an Orca trace. */
int place_trace(char *path, size_t n, int keep, struct err *err);

/* For a trace that is only on the way to text files, and gone when they are made: one that is there
 * at `path` and is not being recorded becomes "name-PID.otrace", with the process id of its JVM. 1:
 * err says so, and how to make its files of this format; 0: nothing was there, or it stays. */
int place_aside(const char *path, const char *format, struct err *err);

/* As place_trace, for file `part` of a recording, whose first file is at `path`: "app.otrace" ->
 * "app.002.otrace".  What is there stays, unless it is a complete trace that ended before `since`
 * (CLOCK_REALTIME ns), when the recording began. */
int place_next(char *path, size_t n, uint32_t part, uint64_t since, struct err *err);

#endif
