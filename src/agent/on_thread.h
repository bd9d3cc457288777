/* on_thread.h - what threads' callbacks need in addition to being registered. */
#ifndef ORCA_AGENT_ON_THREAD_H
#define ORCA_AGENT_ON_THREAD_H

#include <stdbool.h>

/* Ask for mount and unmount of virtual threads, or no longer, in VMInit or later.  Where the JVM
 * has no such events: one line on stderr. */
void mounts_switch(bool on);

#endif
