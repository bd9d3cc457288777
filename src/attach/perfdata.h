/* perfdata.h - HotSpot's performance counters: the file /tmp/hsperfdata_USER/PID, by which jps and
 * jcmd know a JVM (perfMemory.hpp: PerfDataPrologue, PerfDataEntry).
 *
 * The parser takes a copy of the file, which the JVM may have been writing: every offset is
 * checked. */
#ifndef ORCA_ATTACH_PERFDATA_H
#define ORCA_ATTACH_PERFDATA_H

#include <stddef.h>
#include <stdint.h>

/* Whether the JVM is past its start: HotSpot sets the flag when JVMTI's live phase begins
 * (Threads::create_vm).  1, 0, or -EINVAL when the file is not of this kind. */
int perfdata_accessible(const uint8_t *p, size_t n);

/* A string counter: its length, cut to the room there is; -ENOENT when the file lacks it, -EINVAL
 * when the file is not of this kind. */
int perfdata_find_string(const uint8_t *p, size_t n, const char *name, char *out, size_t room);

#endif
