/* jvm_threads.h - the JVM's own threads, in files that say neither "daemon" nor thread groups.
 *
 * Known by their names, which have hardly changed since JDK 6, and by that no thread of the program
 * started them. */
#ifndef ORCA_IMPORT_JVM_THREADS_H
#define ORCA_IMPORT_JVM_THREADS_H

#include "import/scan.h"

#include <stdbool.h>

/* The thread group that a thread of this name has in HotSpot, NULL: it is none of the JVM's.
 * called: the file has a Thread.start of it. */
const char *jvm_threads_group(struct text name, bool called);

#endif
